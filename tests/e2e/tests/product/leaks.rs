//! Secrets are found nowhere.

use std::path::Path;

use e2e::stage::{GIT_PASSWORD, Setting, Stage, TEAM};
use testkit::wait;

const SECRET_VALUE: &str = "orchid-value-9d3b-nobody-may-see";

#[test]
fn no_password_token_key_or_secret_value_is_found_anywhere() {
    let mut stage = Stage::start(Setting::default()).unwrap();
    stage
        .start_operator_with(&["--zap-log-level=debug".to_owned()])
        .unwrap();
    stage.wait_ready("demo").unwrap();
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
    stage.git.stop();
    stage
        .admin
        .run(&[
            "create",
            "configmap",
            "waits",
            "-n",
            TEAM,
            "--from-literal=a=b",
        ])
        .unwrap();
    wait::until(
        "a failure with a credential in reach",
        wait::GENEROUS,
        || {
            let text = stage
                .admin
                .run(&["get", "branchstatuses", "-A", "-o", "yaml"])
                .ok()?;
            text.contains("Unreachable").then_some(())
        },
    )
    .unwrap();
    stage.git.resume().unwrap();
    stage
        .wait_file("team-a/configmaps/waits.yaml", |text| text.contains("a: b"))
        .unwrap();

    let token = token(&stage);
    let base64_password = base64(GIT_PASSWORD);
    let base64_value = base64(SECRET_VALUE);
    let needles = [
        GIT_PASSWORD,
        SECRET_VALUE,
        &token,
        &base64_password,
        &base64_value,
    ];
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
        let text = stage
            .admin
            .run(&["get", resource, "-A", "-o", "yaml"])
            .unwrap();
        check(
            &format!("kubectl get {resource}"),
            text.as_bytes(),
            &needles,
        );
    }
    let clone = stage.git.clone("platform").unwrap();
    let history = clone
        .git(&["log", "--patch", "--all", "--format=fuller"])
        .unwrap();
    check("the history", history.as_bytes(), &needles);
    check_folder(stage.logs(), &needles);
    let metrics = std::process::Command::new("curl")
        .args([
            "--silent",
            &format!("http://127.0.0.1:{}/metrics", stage.metrics_port),
        ])
        .output()
        .unwrap();
    assert!(metrics.stdout.len() > 1_000, "metrics are served");
    check("the metrics", &metrics.stdout, &needles);
    stage.stop_operator().unwrap();
    check_folder(stage.logs(), &needles);
}

fn token(stage: &Stage) -> String {
    let text = stage.operator_kubeconfig().text().unwrap();
    let config: serde_json::Value = serde_yaml::from_str(&text).unwrap();
    config["users"][0]["user"]["token"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn base64(text: &str) -> String {
    let encoded = std::process::Command::new("sh")
        .args(["-c", &format!("printf %s '{text}' | base64 -w0")])
        .output()
        .unwrap();
    String::from_utf8(encoded.stdout).unwrap()
}

/// Searches every file that the operator wrote: logs, data, temporary files.
fn check_folder(folder: &Path, needles: &[&str]) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            check_folder(&path, needles);
        } else {
            check(
                &path.display().to_string(),
                &std::fs::read(&path).unwrap(),
                needles,
            );
        }
    }
}

fn check(place: &str, bytes: &[u8], needles: &[&str]) {
    for needle in needles {
        let found = bytes
            .windows(needle.len())
            .any(|window| window == needle.as_bytes());
        assert!(
            !found,
            "{place} holds a secret that starts with {:?}",
            &needle[..6]
        );
    }
}
