//! What the API server makes of a document is no difference to it (D27).
//!
//! `documents.yaml` holds documents as people write them, `live.jsonl` what a real API server returned for them,
//! one object a line. Only Services kept their managed fields there: nothing else is read from those of the others.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of a test fail the test"
)]

use std::collections::BTreeSet;
use std::sync::Arc;

use manifests::{Decision, FileContent, Folder, Intent, Mode, Outcome, Policy, TypeCatalog};
use model::sanitize::sanitize;
use model::{DesiredObject, FilesInMemory, FolderPath, LiveObject, RepoPath, ServedType, TypeId};
use serde_json::{Value, json};

const DOCUMENTS: &str = include_str!("data/defaults/documents.yaml");
const LIVE: &str = include_str!("data/defaults/live.jsonl");
const PATH: &str = "live/all.yaml";

fn live_objects() -> Vec<Value> {
    LIVE.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Returns the live object of that kind and name.
fn live(kind: &str, name: &str) -> Value {
    let is_it = |object: &Value| object["kind"] == kind && object["metadata"]["name"] == name;
    live_objects().into_iter().find(is_it).unwrap()
}

/// Returns the document of that kind and name, to the byte.
fn document(kind: &str, name: &str) -> String {
    let is_it = |text: &&str| {
        let value = manifests::yaml::values(text).unwrap().remove(0);
        value["kind"] == kind && value["metadata"]["name"] == name
    };
    DOCUMENTS.split("---\n").find(is_it).unwrap().to_owned()
}

fn served(object: &Value) -> ServedType {
    let api_version = object["apiVersion"].as_str().unwrap();
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let kind = object["kind"].as_str().unwrap();
    let lower = kind.to_lowercase();
    let plural = match (lower.strip_suffix('y'), lower.ends_with('s')) {
        (Some(stem), _) => format!("{stem}ies"),
        (None, true) => format!("{lower}es"),
        (None, false) => format!("{lower}s"),
    };
    ServedType {
        type_id: TypeId::new(group, plural),
        version: version.to_owned(),
        kind: kind.to_owned(),
        namespaced: object["metadata"].get("namespace").is_some(),
        sensitive: false,
    }
}

fn desired(object: &Value) -> Arc<DesiredObject> {
    let live = LiveObject {
        served: Arc::new(served(object)),
        value: object.as_object().unwrap().clone(),
    };
    Arc::new(sanitize(&live).unwrap())
}

fn files(text: &str) -> FilesInMemory {
    let path = RepoPath::new(PATH).unwrap();
    FilesInMemory::from_iter([(path, text.as_bytes())])
}

fn plan(files: &FilesInMemory, intents: &[Intent], policy: &Policy, mode: Mode) -> Outcome {
    let mut folder = Folder::new(policy.folder.clone());
    manifests::plan(&mut folder, files.tree(), intents, policy, mode, None).unwrap()
}

fn planned(text: &str, objects: &[Value]) -> Outcome {
    let types: Vec<ServedType> = objects.iter().map(served).collect();
    let catalog: TypeCatalog = types.iter().collect();
    let mut policy = Policy::new(FolderPath::new("live").unwrap(), catalog);
    policy
        .defaults
        .add_crd(&live("CustomResourceDefinition", "widgets.example.com"));
    let intents: Vec<Intent> = objects
        .iter()
        .map(|object| Intent::Upsert(desired(object)))
        .collect();
    plan(&files(text), &intents, &policy, Mode::Apply)
}

/// Plans one object on the text and returns the lines that go and come, marked as a diff marks them.
fn changes(text: &str, object: Value) -> Vec<String> {
    let outcome = planned(text, &[object]);
    let Some(edit) = outcome.edits.first() else {
        let decision = &outcome.decisions[0].decision;
        assert_eq!(*decision, Decision::NoChange, "{decision:?}");
        return Vec::new();
    };
    assert_eq!(edit.path.as_str(), PATH);
    let FileContent::Plain(after) = &edit.content else {
        panic!("the file is removed");
    };
    let after = std::str::from_utf8(after).unwrap();
    similar::TextDiff::from_lines(text, after)
        .iter_all_changes()
        .filter(|change| change.tag() != similar::ChangeTag::Equal)
        .map(|change| format!("{}{}", change.tag(), change.value().trim_end()))
        .collect()
}

#[test]
fn d27_what_people_write_and_the_server_returns_is_no_difference() {
    let objects = live_objects();
    let documents = manifests::yaml::values(DOCUMENTS).unwrap();
    assert_eq!(objects.len(), documents.len());
    let outcome = planned(DOCUMENTS, &objects);
    assert!(
        outcome.is_empty(),
        "{}",
        outcome.diff(files(DOCUMENTS).tree()).unwrap()
    );
    let different: Vec<_> = outcome
        .decisions
        .iter()
        .filter(|decided| decided.decision != Decision::NoChange)
        .collect();
    assert!(different.is_empty(), "{different:#?}");
    assert_eq!(outcome.decisions.len(), documents.len());
}

#[test]
fn d27_without_the_defaults_every_one_of_these_objects_would_differ() {
    let bare: BTreeSet<&str> = BTreeSet::from([
        "ServiceAccount",
        "Role",
        "ConfigMap",
        "PodDisruptionBudget",
        "Ingress",
        "ResourceQuota",
    ]);
    for object in live_objects() {
        let kind = object["kind"].as_str().unwrap();
        let text = document(kind, object["metadata"]["name"].as_str().unwrap());
        let mut policy = Policy::new(
            FolderPath::new("live").unwrap(),
            [&served(&object)].into_iter().collect::<TypeCatalog>(),
        );
        policy.defaults = manifests::plan::Defaults::default();
        let intents = [Intent::Upsert(desired(&object))];
        let outcome = plan(&files(&text), &intents, &policy, Mode::Apply);
        assert!(bare.contains(kind) || !outcome.is_empty(), "{kind}");
    }
}

#[test]
fn d27_a_changed_image_is_one_changed_line() {
    let mut object = live("Deployment", "web");
    object["spec"]["template"]["spec"]["containers"][0]["image"] =
        json!("registry.example.com/web:1.26");
    assert_eq!(
        changes(&document("Deployment", "web"), object),
        [
            "-          image: registry.example.com/web:1.25   # bumped by hand",
            "+          image: registry.example.com/web:1.26   # bumped by hand",
        ]
    );
}

#[test]
fn d27_an_added_container_shows_what_a_person_wrote() {
    let mut object = live("Deployment", "worker");
    let containers = object
        .pointer_mut("/spec/template/spec/containers")
        .unwrap();
    let mut added = containers[0].clone();
    added["name"] = json!("proxy");
    added["image"] = json!("proxy:1");
    added["ports"] = json!([{"containerPort": 80, "protocol": "TCP"}]);
    containers.as_array_mut().unwrap().push(added);
    let changed = changes(&document("Deployment", "worker"), object);
    let text = changed.join("\n");
    assert!(
        text.contains("proxy:1") && text.contains("containerPort: 80"),
        "{text}"
    );
    for default in ["terminationMessage", "imagePullPolicy", "TCP", "resources"] {
        assert!(!text.contains(default), "{text}");
    }
}

#[test]
fn d27_what_differs_from_the_default_is_added() {
    let text = document("Service", "edge");
    let mut object = live("Service", "edge");
    object["spec"]["internalTrafficPolicy"] = json!("Local");
    assert_eq!(changes(&text, object), ["+  internalTrafficPolicy: Local"]);
    let text = document("StatefulSet", "db");
    let mut object = live("StatefulSet", "db");
    assert_eq!(object["spec"]["replicas"], 1);
    object["spec"]["replicas"] = json!(3);
    assert_eq!(changes(&text, object), ["+  replicas: 3"]);
}

#[test]
fn d27_a_written_value_gives_way_to_a_live_default() {
    let text = document("Deployment", "worker");
    let mut object = live("Deployment", "worker");
    object["spec"]["replicas"] = json!(1);
    assert_eq!(
        changes(&text, object),
        ["-  replicas: 0", "+  replicas: 1"],
        "a document that writes the field is compared"
    );
    let written = text.replace(
        "  replicas: 0\n",
        "  replicas: 1\n  progressDeadlineSeconds: 600\n",
    );
    let mut object = live("Deployment", "worker");
    object["spec"]["replicas"] = json!(1);
    assert!(
        changes(&written, object).is_empty(),
        "a default may be written out"
    );
}

#[test]
fn d27_a_strategy_that_goes_back_to_the_default_is_written_where_it_was() {
    let mut object = live("Deployment", "worker");
    object["spec"]["strategy"] = json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}});
    assert_eq!(
        changes(&document("Deployment", "worker"), object),
        ["-    type: Recreate", "+    type: RollingUpdate"]
    );
}

#[test]
fn d27_part_of_a_default_that_differs_comes_without_the_rest() {
    let mut object = live("Deployment", "web");
    object["spec"]["strategy"]["rollingUpdate"]["maxSurge"] = json!(1);
    assert_eq!(
        changes(&document("Deployment", "web"), object),
        ["+  strategy:", "+    rollingUpdate:", "+      maxSurge: 1"]
    );
}

#[test]
fn d27_a_pull_policy_that_the_tag_does_not_explain_is_a_difference() {
    let mut object = live("Deployment", "web");
    object["spec"]["template"]["spec"]["containers"][0]["imagePullPolicy"] = json!("Always");
    assert_eq!(
        changes(&document("Deployment", "web"), object),
        ["+          imagePullPolicy: Always"]
    );
}

#[test]
fn d27_a_quantity_keeps_its_spelling_until_its_value_changes() {
    let text = document("PersistentVolumeClaim", "data");
    let mut object = live("PersistentVolumeClaim", "data");
    assert_eq!(object["spec"]["resources"]["requests"]["storage"], "2Gi");
    object["spec"]["resources"]["requests"]["storage"] = json!("3Gi");
    assert_eq!(
        changes(&text, object),
        [
            "-  resources: {requests: {storage: 2048Mi}}",
            "+  resources: {requests: {storage: 3Gi}}"
        ]
    );
    let text = document("ConfigMap", "web");
    let mut object = live("ConfigMap", "web");
    object["data"]["size"] = json!("1Gi");
    assert_eq!(
        changes(&text, object),
        ["-  size: 1024Mi", "+  size: 1Gi"],
        "in a ConfigMap it is text"
    );
}

#[test]
fn d27_an_empty_value_asks_for_the_default() {
    let text = document("Service", "edge").replace(
        "  ports: [{port: 80}]\n",
        "  clusterIP: \"\"\n  ports: [{port: 80, protocol: \"\", nodePort: 0}]\n",
    );
    let mut object = live("Service", "edge");
    assert_eq!(object["spec"]["ports"][0]["protocol"], "TCP");
    assert!(changes(&text, object.clone()).is_empty());
    object["spec"]["ports"][0]["protocol"] = json!("SCTP");
    let changed = changes(&text, object).join("\n");
    assert!(changed.contains("SCTP"), "{changed}");
}

#[test]
fn d27_a_pod_keeps_what_a_person_gave_it_and_admission_adds_nothing() {
    let text = document("Pod", "debug");
    let mut object = live("Pod", "debug");
    let spec = &mut object["spec"];
    spec["nodeName"] = json!("node-1");
    spec["serviceAccountName"] = json!("default");
    spec["serviceAccount"] = json!("default");
    let volume = json!({"name": "kube-api-access-x7k2p", "projected": {"defaultMode": 420}});
    spec["volumes"] = json!([volume]);
    spec["containers"][0]["volumeMounts"] = json!([{"name": "kube-api-access-x7k2p", "mountPath": "/var/run/secrets", "readOnly": true}]);
    assert!(changes(&text, object.clone()).is_empty());
    let tolerations = object["spec"]["tolerations"].as_array_mut().unwrap();
    tolerations.push(json!({"key": "spot", "operator": "Exists"}));
    let changed = changes(&text, object).join("\n");
    assert!(
        changed.contains("spot") && !changed.contains("unreachable"),
        "{changed}"
    );
}

#[test]
fn d27_custom_kinds_have_the_defaults_of_their_schema() {
    let text = document("Widget", "small");
    let mut object = live("Widget", "small");
    assert_eq!(
        object["spec"]["paint"],
        json!({"colour": "green", "coats": 2})
    );
    assert!(changes(&text, object.clone()).is_empty());
    object["spec"]["paint"]["coats"] = json!(3);
    object["spec"]["parts"][0]["weight"] = json!(2);
    let changed = changes(&text, object).join("\n");
    assert!(
        changed.contains("coats: 3") && changed.contains("weight: 2"),
        "{changed}"
    );
    assert!(!changed.contains("size"), "{changed}");
}

#[test]
fn d27a_replicas_that_an_autoscaler_set_are_no_difference() {
    let managed = |manager: &str, subresource: &str| {
        json!([{
            "manager": manager, "operation": "Update", "subresource": subresource,
            "fieldsV1": {"f:spec": {"f:replicas": {}}},
        }])
    };
    let scaled = |name: &str, managers: Value| {
        let mut object = live("Deployment", name);
        object["spec"]["replicas"] = json!(7);
        object["metadata"]["managedFields"] = managers;
        object
    };
    let autoscaler = managed("kube-controller-manager", "scale");
    let written = document("Deployment", "worker");
    assert!(changes(&written, scaled("worker", autoscaler.clone())).is_empty());
    let kept = &planned(&written, &[scaled("worker", autoscaler.clone())]).scaled[0];
    assert_eq!(kept.field, "spec.replicas");
    assert_eq!(kept.manager, "kube-controller-manager");
    assert_eq!((&kept.held, &kept.live), (&json!(0), &json!(7)));
    let absent = document("Deployment", "web");
    let outcome = planned(&absent, &[scaled("web", autoscaler.clone())]);
    assert_eq!(outcome.scaled, []);
    assert!(changes(&absent, scaled("web", autoscaler)).is_empty());
    let person = managed("kubectl", "scale");
    assert_eq!(
        changes(&written, scaled("worker", person)),
        ["-  replicas: 0", "+  replicas: 7"]
    );
}
