//! What values the chart takes, and what it renders besides the arguments.

use e2e::chart::{folder, render};
use e2e::helm::{Helm, Release};
use serde_json::{Value, json};

fn refusal(values: &Value) -> String {
    let helm = Helm::new().unwrap();
    match render(&helm, &Release::default(), values) {
        Ok(_) => panic!("{values} was accepted"),
        Err(error) => format!("{error:#}"),
    }
}

#[test]
fn the_chart_is_clean() {
    let helm = Helm::new().unwrap();
    let folder = folder();
    helm.run(
        None,
        &["lint".as_ref(), "--strict".as_ref(), folder.as_os_str()],
    )
    .unwrap();
}

#[test]
fn a_feature_that_is_not_built_is_refused_by_name() {
    let cases = [
        (
            json!({"attribution": {"enabled": true}}),
            "attribution.enabled=true",
        ),
        (
            json!({"servers": {"receiver": {"enabled": true}}}),
            "servers.receiver.enabled=true",
        ),
        (
            json!({"servers": {"metrics": {"tls": {"enabled": true}}}}),
            "servers.metrics.tls.enabled=true",
        ),
        (
            json!({"applierAccess": {"flux": true}}),
            "applierAccess.flux=true",
        ),
        (
            json!({"applierAccess": {"argocd": true}}),
            "applierAccess.argocd=true",
        ),
        (json!({"tls": {"mode": "secret"}}), "tls.mode=secret"),
        (json!({"replicaCount": 2}), "replicaCount above 1"),
    ];
    for (values, words) in cases {
        let refusal = refusal(&values);
        let expected = format!("{words} asks for a feature that is not built yet");
        assert!(refusal.contains(&expected), "{refusal}");
    }
}

#[test]
fn values_that_contradict_each_other_are_refused() {
    let cases = [
        (
            json!({"serviceAccount": {"create": false}}),
            "needs serviceAccount.name",
        ),
        (
            json!({"rbac": {"watchTypes": {"mode": "selected"}}}),
            "rbac.watchTypes.selected",
        ),
        (
            json!({"service": {"type": "ExternalName"}}),
            "needs service.externalName",
        ),
        (
            json!({"quickstart": {"enabled": true}}),
            "needs quickstart.gitProvider.url",
        ),
        (
            json!({"quickstart": {"enabled": true}, "kubeProvider": {"create": false}}),
            "needs kubeProvider.create=true",
        ),
    ];
    for (values, words) in cases {
        let refusal = refusal(&values);
        assert!(refusal.contains(words), "{refusal}");
    }
}

#[test]
fn a_misspelt_or_malformed_value_is_refused() {
    let with_verbs = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["delete"]}]);
    let cases = [
        json!({"replicas": 1}),
        json!({"securityContext": {"readonlyRootFilesystem": true}}),
        json!({"servers": {"metrics": {"bindaddress": ":1"}}}),
        json!({"rbac": {"watchTypes": {"mode": "selected", "selected": with_verbs}}}),
        json!({"git": {"callTimeout": "2 minutes"}}),
        json!({"git": {"callTimeout": 120}}),
        json!({"logging": {"level": "warn"}}),
        json!({"kubeProvider": {"allowedGitTargets": "everybody"}}),
        json!({"queue": {"redis": {"addr": "user:word@valkey:6379"}}}),
    ];
    for values in cases {
        let refusal = refusal(&values);
        assert!(
            refusal.contains("values don't meet the specifications"),
            "{refusal}"
        );
    }
}

#[test]
fn every_group_of_the_schema_is_closed() {
    fn check(schema: &Value, path: &str) {
        if let Some(properties) = schema["properties"].as_object() {
            assert_eq!(schema["additionalProperties"], json!(false), "{path}");
            for (name, property) in properties {
                check(property, &format!("{path}.{name}"));
            }
        }
        if schema["items"].is_object() {
            check(&schema["items"], &format!("{path}[]"));
        }
    }
    let text = std::fs::read_to_string(folder().join("values.schema.json")).unwrap();
    let schema: Value = serde_json::from_str(&text).unwrap();
    assert!(
        schema["properties"]
            .as_object()
            .is_some_and(|properties| properties.len() > 30)
    );
    check(&schema, "values");
}

#[test]
fn the_pod_may_write_only_where_it_must_and_has_time_to_drain() {
    let chart = render(&Helm::new().unwrap(), &Release::default(), &json!({})).unwrap();
    let deployment = chart.object("Deployment", "gitops-reverser").unwrap();
    let pod = &deployment["spec"]["template"]["spec"];
    let container = &pod["containers"][0];
    assert_eq!(pod["terminationGracePeriodSeconds"], 330);
    assert_eq!(pod["securityContext"]["runAsUser"], 65532);
    let security = &container["securityContext"];
    assert_eq!(security["readOnlyRootFilesystem"], true);
    assert_eq!(security["allowPrivilegeEscalation"], false);
    assert_eq!(security["capabilities"], json!({"drop": ["ALL"]}));
    let mounts = container["volumeMounts"].as_array().unwrap();
    let mounts: Vec<_> = mounts.iter().map(|mount| &mount["mountPath"]).collect();
    assert_eq!(mounts, ["/var/lib/gitops-reverser", "/tmp"]);
    assert_eq!(container["readinessProbe"]["httpGet"]["path"], "/readyz");
    assert_eq!(container["livenessProbe"]["httpGet"]["path"], "/healthz");
    assert_eq!(chart.env["POD_NAMESPACE"], "gitops-reverser");
}

#[test]
fn a_claim_replaces_the_empty_folder() {
    let helm = Helm::new().unwrap();
    let claim = |persistence: Value| {
        let values = json!({ "persistence": persistence });
        let chart = render(&helm, &Release::default(), &values).unwrap();
        let deployment = chart.object("Deployment", "gitops-reverser").unwrap();
        let volume = &deployment["spec"]["template"]["spec"]["volumes"][0];
        let made = chart
            .object("PersistentVolumeClaim", "gitops-reverser")
            .is_ok();
        (volume["persistentVolumeClaim"]["claimName"].clone(), made)
    };
    assert_eq!(claim(json!({"enabled": false})), (Value::Null, false));
    assert_eq!(
        claim(json!({"enabled": true})),
        (json!("gitops-reverser"), true)
    );
    let existing = json!({"enabled": true, "existingClaim": "mine"});
    assert_eq!(claim(existing), (json!("mine"), false));
}

#[test]
fn nothing_is_listened_for_where_a_server_is_off() {
    let off = json!({"bindAddress": "0"});
    let values = json!({"servers": {"api": off, "metrics": off, "healthProbe": off}});
    let chart = render(&Helm::new().unwrap(), &Release::default(), &values).unwrap();
    assert!(
        !chart
            .manifests
            .iter()
            .any(|object| object["kind"] == "Service")
    );
    let deployment = chart.object("Deployment", "gitops-reverser").unwrap();
    let container = &deployment["spec"]["template"]["spec"]["containers"][0];
    assert!(container["ports"].is_null());
    assert!(container["readinessProbe"].is_null());
}
