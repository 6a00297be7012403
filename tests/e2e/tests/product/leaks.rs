//! Secrets are found nowhere.

use e2e::stage::{GIT_PASSWORD, Setting, Stage, TEAM};
use serde_json::{Value, json};
use testkit::wait;

use crate::needles::Needles;

const SECRET_VALUE: &str = "orchid-value-9d3b-nobody-may-see";
/// The providers with a kubeconfig of their own: one proves itself by a token, one by a key.
const OTHER_PROVIDERS: [&str; 2] = ["by-token", "by-key"];

#[test]
fn no_password_token_key_or_secret_value_is_found_anywhere() {
    let setting = Setting::default();
    let control_plane = setting.control_plane.clone().start().unwrap();
    let mut stage = Stage::prepare(&setting, control_plane).unwrap();
    stage.apply_mirror(&setting).unwrap();
    let record = stage.logs().join("steps.jsonl");
    let talkative = [
        "--zap-log-level=debug".to_owned(),
        format!("--record-steps={}", record.display()),
    ];
    stage.start_operator_with(&talkative).unwrap();
    let needles = needles(&stage);
    stage.wait_current("demo").unwrap();
    for provider in OTHER_PROVIDERS {
        stage.wait_current(provider).unwrap();
    }
    mirror_secrets(&stage);
    break_and_repair(&stage);
    // A wrong credential of a source has a message of its own.
    break_a_provider(&stage);
    for resource in [
        "events",
        "branchstatuses",
        "gitproviders",
        "gitbranches",
        "gittargets",
        "kubeproviders",
        "watchrules",
        "configmaps",
        "leases",
    ] {
        let arguments = ["get", resource, "-A", "-o", "yaml"];
        let text = stage.admin.run(&arguments).unwrap();
        needles.check(&format!("kubectl get {resource}"), text.as_bytes());
    }
    let metrics = std::process::Command::new("curl")
        .args([
            "--silent",
            &format!("http://127.0.0.1:{}/metrics", stage.metrics_port),
        ])
        .output()
        .unwrap();
    assert!(metrics.stdout.len() > 1_000, "metrics are served");
    needles.check("the metrics", &metrics.stdout);
    needles.check_folder(stage.logs());
    stage.stop_operator().unwrap();
    needles.check_folder(stage.logs());
    let stores = needles.check_objects_below(&stage.data_folder());
    assert!(stores > 0, "the operator keeps a store");
    needles.check_objects(stage.repository.path());
    check_record(&std::fs::read_to_string(&record).unwrap());
}

/// Mirrors the cluster once more through two connections of other users, and returns everything that must be
/// found nowhere.
fn needles(stage: &Stage) -> Needles {
    stage
        .admin
        .apply(&format!(
            r#"
apiVersion: v1
kind: ServiceAccount
metadata: {{name: mirror, namespace: {TEAM}}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {{name: mirror, namespace: {TEAM}}}
rules: [{{apiGroups: [""], resources: [configmaps], verbs: [get, list, watch]}}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {{name: mirror, namespace: {TEAM}}}
roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: Role, name: mirror}}
subjects:
  - {{kind: ServiceAccount, name: mirror, namespace: {TEAM}}}
  - {{kind: User, name: mirror, apiGroup: rbac.authorization.k8s.io}}
"#
        ))
        .unwrap();
    let cluster = &stage.control_plane;
    let by_token = cluster.service_account(TEAM, "mirror", None).unwrap();
    let by_key = cluster.certificate_user("mirror", None).unwrap();
    let mut needles = Needles::default();
    needles.add(GIT_PASSWORD);
    needles.add(SECRET_VALUE);
    needles.add_kubeconfig(stage.operator_kubeconfig());
    for (name, kubeconfig) in OTHER_PROVIDERS.iter().zip([by_token, by_key]) {
        needles.add_kubeconfig(&kubeconfig);
        apply_provider(stage, name, &kubeconfig.text().unwrap());
    }
    needles
}

fn apply_provider(stage: &Stage, name: &str, kubeconfig: &str) {
    let kind = |kind: &str, spec: Value| {
        json!({
            "apiVersion": "configbutler.ai/v1alpha3", "kind": kind,
            "metadata": {"name": name, "namespace": TEAM}, "spec": spec,
        })
    };
    let items = json!({"apiVersion": "v1", "kind": "List", "items": [
        {
            "apiVersion": "v1", "kind": "Secret",
            "metadata": {"name": name, "namespace": TEAM},
            "stringData": {"value": kubeconfig},
        },
        kind("KubeProvider", json!({"secretRef": {"name": name}})),
        kind("GitTarget", json!({
            "gitBranchRef": {"name": "main"},
            "kubeProviderRef": {"name": name},
            "path": format!("clusters/{name}"),
            "commit": {"window": {"idleTimeout": "1s"}},
        })),
        kind("WatchRule", json!({
            "gitTargetRef": {"name": name},
            "rules": [{"apiGroups": [""], "resources": ["configmaps"]}],
        })),
    ]});
    stage.admin.apply(&items.to_string()).unwrap();
}

/// Lets a Secret be refused.
fn mirror_secrets(stage: &Stage) {
    stage
        .admin
        .apply(&format!(
            r#"
apiVersion: v1
kind: Secret
metadata: {{name: database, namespace: {TEAM}}}
stringData: {{password: {SECRET_VALUE}}}
---
apiVersion: configbutler.ai/v1alpha3
kind: WatchRule
metadata: {{name: secrets, namespace: {TEAM}}}
spec:
  gitTargetRef: {{name: demo}}
  rules: [{{apiGroups: [""], resources: [secrets]}}]
"#
        ))
        .unwrap();
    wait::until("the refusal to be told", wait::GENEROUS, || {
        let text = stage.admin.run(&["get", "events", "-n", TEAM]).ok()?;
        text.contains("database").then_some(())
    })
    .unwrap();
    // A live change of a Secret takes another way than what was there before.
    let patch = json!({"stringData": {"more": SECRET_VALUE}}).to_string();
    stage
        .admin
        .run(&["patch", "secret", "database", "-n", TEAM, "-p", &patch])
        .unwrap();
}

/// Lets a push fail with the credential in reach.
fn break_and_repair(stage: &Stage) {
    stage.git.stop();
    let create = ["create", "configmap", "waits", "-n", TEAM];
    stage
        .admin
        .run(&[create.as_slice(), &["--from-literal=a=b"]].concat())
        .unwrap();
    wait::until("a failed attempt", wait::GENEROUS, || {
        let arguments = ["get", "branchstatuses", "-A", "-o", "yaml"];
        let text = stage.admin.run(&arguments).ok()?;
        text.contains("Unreachable").then_some(())
    })
    .unwrap();
    stage.git.resume().unwrap();
    let path = "team-a/configmaps/waits.yaml";
    stage.wait_file(path, |text| text.contains("a: b")).unwrap();
    for provider in OTHER_PROVIDERS {
        let path = format!("clusters/{provider}/{path}");
        wait::until(format!("{path} on the branch"), wait::GENEROUS, || {
            stage.repository.file("main", &path).ok()
        })
        .unwrap();
    }
}

/// Takes the rights of the other connections away.
fn break_a_provider(stage: &Stage) {
    stage
        .admin
        .run(&["delete", "serviceaccount", "mirror", "-n", TEAM])
        .unwrap();
    stage
        .admin
        .run(&["delete", "rolebinding", "mirror", "-n", TEAM])
        .unwrap();
    let name = OTHER_PROVIDERS[0];
    let secret = json!({"stringData": {"value": "no kubeconfig"}}).to_string();
    stage
        .admin
        .run(&["patch", "secret", name, "-n", TEAM, "-p", &secret])
        .unwrap();
    wait::until("the trouble to be told", wait::GENEROUS, || {
        let arguments = ["get", "gittarget", name, "-n", TEAM, "-o", "wide"];
        let text = stage.admin.run(&arguments).ok()?;
        text.contains(" False ").then_some(())
    })
    .unwrap();
}

/// The record names the Secrets and holds nothing by which a guess at their content could be proved.
fn check_record(record: &str) {
    let (mut secrets, mut others) = (0, 0);
    for line in record.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        visit(&line, &mut |object| {
            let Some(digest) = object.get("digest").and_then(Value::as_str) else {
                return;
            };
            if object["value"]["kind"] == "Secret" {
                secrets += 1;
                assert_eq!(digest, "", "a digest proves a guess: {}", object["id"]);
                assert_eq!(object["content_digest"], "", "so does one of the value");
            } else if object["value"]["kind"] == "ConfigMap" {
                others += 1;
                assert_ne!(digest, "", "what is not sensitive keeps its digest");
            }
        });
    }
    assert!(secrets > 0 && others > 0, "{secrets} and {others} objects");
}

fn visit(value: &Value, seen: &mut impl FnMut(&Value)) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| visit(item, seen)),
        Value::Object(fields) => {
            seen(value);
            fields.values().for_each(|field| visit(field, seen));
        }
        _ => {}
    }
}
