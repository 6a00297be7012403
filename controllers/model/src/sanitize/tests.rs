use serde_json::{Value, json};

use super::*;
use crate::resource::{ServedType, TypeId};

fn live(group: &str, resource: &str, kind: &str, value: Value) -> LiveObject {
    let served = ServedType {
        type_id: TypeId::new(group, resource),
        version: "v1".to_owned(),
        kind: kind.to_owned(),
        namespaced: !matches!(
            kind,
            "Namespace" | "PersistentVolume" | "CustomResourceDefinition"
        ),
        sensitive: false,
    };
    LiveObject {
        served: served.into(),
        value: value.as_object().unwrap().clone(),
    }
}

fn value(live: &LiveObject) -> Value {
    Value::Object(sanitize(live).unwrap().value())
}

fn withheld(live: &LiveObject) -> Vec<String> {
    sanitize(live)
        .unwrap()
        .withheld
        .iter()
        .map(|field| field.path.join("."))
        .collect()
}

#[test]
fn d20_takes_out_what_the_server_owns_and_keeps_every_other_field() {
    let object = live(
        "",
        "configmaps",
        "ConfigMap",
        json!({
            "apiVersion": "v1", "kind": "ConfigMap", "immutable": true, "data": {"a": "1"}, "status": {"x": 1},
            "metadata": {
                "name": "app", "namespace": "team-a", "uid": "u", "resourceVersion": "7", "generation": 2,
                "creationTimestamp": "2026-01-01T00:00:00Z", "managedFields": [], "finalizers": ["x/y"],
                "labels": {"app": "x", "kustomize.toolkit.fluxcd.io/name": "k", "kro.run/owned": "true"},
                "annotations": {
                    "kubectl.kubernetes.io/last-applied-configuration": "{}",
                    "kustomize.toolkit.fluxcd.io/prune": "disabled",
                    "kustomize.toolkit.fluxcd.io/checksum": "abc",
                    "argocd.argoproj.io/sync-wave": "1",
                    "argocd.argoproj.io/tracking-id": "app:/ConfigMap:team-a/app",
                },
            },
        }),
    );
    assert_eq!(
        value(&object),
        json!({
            "apiVersion": "v1", "kind": "ConfigMap", "immutable": true, "data": {"a": "1"},
            "metadata": {
                "name": "app", "namespace": "team-a", "labels": {"app": "x"},
                "annotations": {
                    "kustomize.toolkit.fluxcd.io/prune": "disabled", "argocd.argoproj.io/sync-wave": "1",
                },
            },
        })
    );
    assert_eq!(withheld(&object), ["metadata.finalizers"]);
    let desired = sanitize(&object).unwrap();
    assert_eq!((desired.resource_version(), desired.generation()), ("7", 2));
    assert_eq!(
        desired.applier(),
        Some(&ApplierOwner::Flux {
            namespace: String::new(),
            name: "k".to_owned()
        })
    );
}

#[test]
fn an_item_of_a_list_answer_gets_its_type() {
    let object = live(
        "apps",
        "deployments",
        "Deployment",
        json!({"metadata": {"name": "a", "namespace": "b"}}),
    );
    let value = value(&object);
    assert_eq!(
        (&value["apiVersion"], &value["kind"]),
        (&json!("apps/v1"), &json!("Deployment"))
    );
}

#[test]
fn pj_4_a_map_that_loses_its_last_entry_is_absent() {
    let object = live(
        "",
        "configmaps",
        "ConfigMap",
        json!({"metadata": {"name": "a", "namespace": "b", "labels": {"kro.run/x": "y"},
            "annotations": {"kubectl.kubernetes.io/restartedAt": "now"}}}),
    );
    assert_eq!(
        value(&object),
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "b"}})
    );
}

fn service(spec: &Value, fields: &Value) -> LiveObject {
    live(
        "",
        "services",
        "Service",
        json!({"metadata": {"name": "s", "namespace": "n",
            "managedFields": [{"manager": "kubectl", "fieldsV1": {"f:spec": fields}}]}, "spec": spec}),
    )
}

#[test]
fn d20_allocated_addresses_and_ports_go_and_those_that_a_person_set_stay() {
    let spec = json!({"clusterIP": "10.0.0.7", "clusterIPs": ["10.0.0.7"], "ipFamilies": ["IPv4"],
        "ports": [{"port": 80, "protocol": "TCP", "nodePort": 30001}, {"port": 81, "protocol": "TCP", "nodePort": 30002}]});
    let set = json!({"f:ports": {"k:{\"port\":81,\"protocol\":\"TCP\"}": {"f:nodePort": {}}}});
    let object = service(&spec, &set);
    assert_eq!(
        value(&object)["spec"],
        json!({"ipFamilies": ["IPv4"],
            "ports": [{"port": 80, "protocol": "TCP"}, {"port": 81, "protocol": "TCP", "nodePort": 30002}]})
    );
    assert_eq!(
        withheld(&object),
        ["spec.clusterIP", "spec.clusterIPs", "spec.ports.0.nodePort"]
    );
    let pinned = service(&spec, &json!({"f:clusterIP": {}, "f:clusterIPs": {}}));
    assert_eq!(value(&pinned)["spec"]["clusterIP"], "10.0.0.7");
}

#[test]
fn d20_a_headless_service_stays_headless() {
    let object = service(
        &json!({"clusterIP": "None", "clusterIPs": ["None"]}),
        &json!({}),
    );
    assert_eq!(
        value(&object)["spec"],
        json!({"clusterIP": "None", "clusterIPs": ["None"]})
    );
}

#[test]
fn d20_a_custom_kind_named_service_keeps_its_fields() {
    let object = live(
        "serving.knative.dev",
        "services",
        "Service",
        json!({"metadata": {"name": "s", "namespace": "n"}, "spec": {"clusterIP": "x"}}),
    );
    assert_eq!(value(&object)["spec"]["clusterIP"], "x");
}

#[test]
fn d20_a_bound_volume_goes_and_a_chosen_one_stays() {
    let claim = |manager: &str| {
        live(
            "",
            "persistentvolumeclaims",
            "PersistentVolumeClaim",
            json!({"metadata": {"name": "c", "namespace": "n",
                "managedFields": [{"manager": manager, "fieldsV1": {"f:spec": {"f:volumeName": {}}}}]},
                "spec": {"volumeName": "pv-1", "volumeMode": "Block"}}),
        )
    };
    assert_eq!(
        value(&claim("kube-controller-manager"))["spec"],
        json!({"volumeMode": "Block"})
    );
    assert_eq!(value(&claim("kubectl"))["spec"]["volumeName"], "pv-1");
}

#[test]
fn d20_an_injected_ca_goes_only_where_the_injector_says_so() {
    let hook = |annotations: Value| {
        live(
            "admissionregistration.k8s.io",
            "validatingwebhookconfigurations",
            "ValidatingWebhookConfiguration",
            json!({"metadata": {"name": "w", "namespace": "n", "annotations": annotations},
                "webhooks": [{"name": "a", "clientConfig": {"caBundle": "QQ==", "url": "https://x"}}]}),
        )
    };
    let injected = value(&hook(json!({"cert-manager.io/inject-ca-from": "a/b"})));
    assert_eq!(
        injected["webhooks"][0]["clientConfig"],
        json!({"url": "https://x"})
    );
    assert_eq!(
        value(&hook(json!({"x": "y"})))["webhooks"][0]["clientConfig"]["caBundle"],
        "QQ=="
    );
}

#[test]
fn d20_a_namespace_has_no_spec_of_its_own() {
    let object = live(
        "",
        "namespaces",
        "Namespace",
        json!({"metadata": {"name": "n"}, "spec": {"finalizers": ["kubernetes"]}}),
    );
    assert_eq!(
        value(&object),
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}})
    );
}

#[test]
fn d21_objects_that_nobody_meant_are_left_out() {
    let configmap = |name: &str, extra: Value| {
        let mut metadata = json!({"name": name, "namespace": "n"});
        metadata
            .as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        live("", "configmaps", "ConfigMap", json!({"metadata": metadata}))
    };
    let owned = configmap(
        "x",
        json!({"ownerReferences": [{"kind": "App", "name": "a", "controller": true}]}),
    );
    assert_eq!(
        sanitize(&owned).unwrap_err(),
        LeftOut::ControllerOwned {
            owner: "App/a".to_owned()
        }
    );
    let merely_owned = configmap(
        "x",
        json!({"ownerReferences": [{"kind": "App", "name": "a"}]}),
    );
    assert!(sanitize(&merely_owned).is_ok());
    assert!(
        !sanitize(&configmap("kube-root-ca.crt", json!({})))
            .unwrap_err()
            .protects_document()
    );
    let leader = configmap(
        "l",
        json!({"annotations": {"control-plane.alpha.kubernetes.io/leader": "{}"}}),
    );
    assert!(sanitize(&leader).unwrap_err().protects_document());
    let gone = configmap("x", json!({"deletionTimestamp": "2026-01-01T00:00:00Z"}));
    assert_eq!(sanitize(&gone).unwrap_err(), LeftOut::Terminating);
}

#[test]
fn the_digest_follows_content_and_nothing_else() {
    let at = |version: &str, data: &str| {
        let object = live(
            "",
            "configmaps",
            "ConfigMap",
            json!({"metadata": {"name": "a", "namespace": "b", "resourceVersion": version}, "data": {"k": data}}),
        );
        sanitize(&object).unwrap().digest()
    };
    assert_eq!(at("1", "x"), at("2", "x"));
    assert_ne!(at("1", "x"), at("1", "y"));
}

fn filled(live: &LiveObject) -> Vec<String> {
    sanitize(live)
        .unwrap()
        .filled
        .iter()
        .map(|field| format!("{} by {:?}", field.path.join("."), field.by))
        .collect()
}

fn managed(manager: &str, subresource: &str, fields: Value) -> Value {
    json!({"manager": manager, "operation": "Update", "subresource": subresource, "fieldsV1": fields})
}

#[test]
fn d27a_replicas_that_a_controller_scaled_are_nobodys() {
    let replicas = json!({"f:spec": {"f:replicas": {}}});
    let deployment = |managers: Value| {
        live(
            "apps",
            "deployments",
            "Deployment",
            json!({
                "apiVersion": "apps/v1", "kind": "Deployment", "spec": {"replicas": 4},
                "metadata": {"name": "web", "namespace": "team-a", "managedFields": managers},
            }),
        )
    };
    let person = managed("kubectl", "", json!({"f:spec": {"f:template": {}}}));
    let scaler = managed("kube-controller-manager", "scale", replicas.clone());
    let scaled = deployment(json!([person, scaler]));
    assert_eq!(
        filled(&scaled),
        ["spec.replicas by Autoscaler { manager: \"kube-controller-manager\" }"]
    );
    let by_a_person = deployment(json!([
        person,
        managed("kubectl", "scale", replicas.clone())
    ]));
    assert!(filled(&by_a_person).is_empty());
    let not_scaled = managed("kube-controller-manager", "", replicas.clone());
    assert!(filled(&deployment(json!([person, not_scaled]))).is_empty());
    let shared = deployment(json!([scaler, managed("alice", "", replicas)]));
    assert!(
        filled(&shared).is_empty(),
        "somebody else says the same number"
    );
    let digest = |live: &LiveObject| sanitize(live).unwrap().digest();
    assert_ne!(
        digest(&scaled),
        digest(&by_a_person),
        "a person who takes the number over is heard"
    );
}

#[test]
fn d27_address_families_that_nobody_asked_for_are_filled_in() {
    let service = |fields: Value| {
        live(
            "",
            "services",
            "Service",
            json!({
                "apiVersion": "v1", "kind": "Service",
                "spec": {"ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack"},
                "metadata": {
                    "name": "web", "namespace": "team-a",
                    "managedFields": [managed("kubectl", "", fields)],
                },
            }),
        )
    };
    assert_eq!(
        filled(&service(json!({"f:spec": {"f:ports": {}}}))),
        [
            "spec.ipFamilies by ApiServer",
            "spec.ipFamilyPolicy by ApiServer"
        ]
    );
    let asked = service(json!({"f:spec": {"f:ipFamilies": {}, "f:ipFamilyPolicy": {}}}));
    assert!(filled(&asked).is_empty());
}

#[test]
fn records_hold_objects_as_they_are_and_no_digest_of_what_is_withheld() {
    let mut object = live(
        "",
        "configmaps",
        "ConfigMap",
        json!({"metadata": {"name": "a", "namespace": "b"}, "data": {"k": "v"}}),
    );
    let desired = sanitize(&object).unwrap();
    let record = serde_json::to_value(&desired).unwrap();
    assert_eq!(record["value"]["data"], json!({"k": "v"}));
    assert_eq!(record["digest"].as_str().unwrap().len(), 32);
    let read: crate::DesiredObject = serde_json::from_value(record).unwrap();
    assert!(read == desired);
    let served = std::sync::Arc::make_mut(&mut object.served);
    served.sensitive = true;
    let bare = sanitize(&object).unwrap().without_content();
    let record = serde_json::to_value(&bare).unwrap();
    assert_eq!(
        record["value"],
        json!({"apiVersion": "v1", "kind": "ConfigMap"})
    );
    assert_eq!(
        (&record["digest"], &record["content_digest"]),
        (&json!(""), &json!(""))
    );
}
