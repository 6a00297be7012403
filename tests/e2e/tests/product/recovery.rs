//! What is missing, refused or wrong says so, and recovers by itself.

use e2e::stage::{OPERATOR_NAMESPACE, Setting, Stage, TEAM};
use serde_json::Value;
use testkit::wait;

fn wait_reason(stage: &Stage, resource: &str, name: &str, kind: &str, reason: &str) -> String {
    let object = format!("{resource}/{name}");
    let conditions = stage.conditions(TEAM, &object);
    let found = conditions.wait(kind, |found| found.reason == reason);
    found
        .unwrap_or_else(|error| panic!("{reason}: {error:#}"))
        .message
}

/// Waits for a Warning on a GitTarget with that reason and a message that `wanted` accepts.
fn wait_event(stage: &Stage, target: &str, reason: &str, wanted: impl Fn(&str) -> bool) {
    let found = |event: &Value| {
        let about = &event["involvedObject"];
        about["kind"] == "GitTarget"
            && about["name"] == target
            && event["type"] == "Warning"
            && event["reason"] == reason
            && event["message"].as_str().is_some_and(&wanted)
    };
    let seen = wait::until(
        format!("a Warning {reason} on {target}"),
        wait::GENEROUS,
        || {
            let events = stage.admin.json(&["get", "events", "-n", TEAM]).ok()?;
            events["items"]
                .as_array()?
                .iter()
                .find(|event| found(event))
                .cloned()
        },
    );
    seen.unwrap_or_else(|error| {
        let events = stage.admin.run(&["get", "events", "-n", TEAM]);
        panic!("{error}: {events:?}")
    });
}

#[test]
fn a_wrong_credential_says_so_and_recovers() {
    let setting = Setting::default();
    let control_plane = setting.control_plane.clone().start().unwrap();
    let mut stage = Stage::prepare(&setting, control_plane).unwrap();
    stage.apply_mirror(&setting).unwrap();
    let secret = |password: &str| {
        let patch = format!(r#"{{"stringData":{{"password":"{password}"}}}}"#);
        stage
            .admin
            .run(&[
                "patch",
                "secret",
                "git-credential",
                "-n",
                TEAM,
                "-p",
                &patch,
            ])
            .unwrap();
    };
    secret("wrong");
    stage.start_operator().unwrap();
    let message = wait_reason(
        &stage,
        "gitprovider",
        "platform",
        "Ready",
        "ConnectionFailed",
    );
    assert!(!message.contains("wrong"), "{message}");
    wait_reason(
        &stage,
        "gittarget",
        "demo",
        "GitBranchReady",
        "GitBranchNotReady",
    );
    let patch = format!(
        r#"{{"stringData":{{"password":"{}"}}}}"#,
        e2e::stage::GIT_PASSWORD
    );
    stage
        .admin
        .run(&[
            "patch",
            "secret",
            "git-credential",
            "-n",
            TEAM,
            "-p",
            &patch,
        ])
        .unwrap();
    stage.wait_ready("demo").unwrap();
    stage.stop_operator().unwrap();
}

#[test]
fn a_missing_reference_and_a_refused_grant_say_so_and_recover() {
    let mut stage = Stage::start(Setting::default()).unwrap();
    stage.wait_ready("demo").unwrap();
    stage
        .admin
        .apply(&format!(
            r#"
apiVersion: configbutler.ai/v1alpha3
kind: GitTarget
metadata: {{name: later, namespace: {TEAM}}}
spec:
  gitBranchRef: {{name: not-yet}}
  kubeProviderRef: {{name: local, namespace: {OPERATOR_NAMESPACE}}}
  path: later
"#
        ))
        .unwrap();
    wait_reason(
        &stage,
        "gittarget",
        "later",
        "Validated",
        "GitBranchNotFound",
    );
    let branch = |grant: &str| {
        format!(
            r#"
apiVersion: configbutler.ai/v1alpha3
kind: GitBranch
metadata: {{name: not-yet, namespace: {TEAM}}}
spec:
  gitProviderRef: {{name: platform}}
  branch: later
  allowedGitTargets: {grant}
"#
        )
    };
    stage.admin.apply(&branch("[]")).unwrap();
    let message = wait_reason(
        &stage,
        "gittarget",
        "later",
        "Validated",
        "NamespaceNotAuthorized",
    );
    assert!(message.contains("spec.allowedGitTargets"), "{message}");
    stage
        .admin
        .apply(&branch("[{consumerNamespaces: {from: Same}}]"))
        .unwrap();
    wait_reason(&stage, "gittarget", "later", "Validated", "Succeeded");
    wait_reason(&stage, "gittarget", "later", "GitBranchReady", "Succeeded");
    let message = wait_reason(&stage, "gittarget", "later", "Ready", "NoResolvedTypes");
    assert!(message.contains("WatchRule"), "{message}");
    stage.stop_operator().unwrap();
}

#[test]
fn a_folder_that_cannot_be_written_names_file_and_remedy_and_recovers() {
    let seed = vec![(
        "clusters/demo/kustomization.yaml".to_owned(),
        "resources: []\nnamePrefix: x-\n".to_owned(),
    )];
    let mut stage = Stage::start(Setting {
        seed,
        ..Setting::default()
    })
    .unwrap();
    let message = wait_reason(
        &stage,
        "gittarget",
        "demo",
        "GitPathAccepted",
        "UnsupportedContent",
    );
    assert!(
        message.contains("clusters/demo/kustomization.yaml"),
        "{message}"
    );
    wait_event(&stage, "demo", "UnsupportedContent", |message| {
        message.contains("clusters/demo/kustomization.yaml")
    });
    stage
        .admin
        .run(&[
            "create",
            "configmap",
            "kept",
            "-n",
            TEAM,
            "--from-literal=a=b",
        ])
        .unwrap();
    let clone = stage.git.clone("platform").unwrap();
    clone.remove("clusters/demo/kustomization.yaml").unwrap();
    clone.commit("a plain folder").unwrap();
    clone.push().unwrap();
    stage.wait_ready("demo").unwrap();
    stage
        .wait_file("team-a/configmaps/kept.yaml", |text| text.contains("a: b"))
        .unwrap();
    stage.stop_operator().unwrap();
}

#[test]
fn a_refusal_goes_with_the_rule_that_brought_it() {
    let mut stage = Stage::start(Setting::default()).unwrap();
    stage.wait_ready("demo").unwrap();
    let rule = format!(
        r#"
apiVersion: configbutler.ai/v1alpha3
kind: WatchRule
metadata: {{name: secrets, namespace: {TEAM}}}
spec:
  gitTargetRef: {{name: demo}}
  rules: [{{apiGroups: [""], resources: [secrets]}}]
"#
    );
    let ready = |stage: &Stage, wanted: fn(&str) -> bool| {
        let conditions = stage.conditions(TEAM, "gittarget/demo");
        conditions
            .wait("Ready", |found| {
                found.status == "True" && wanted(&found.message)
            })
            .unwrap();
    };
    // Twice, because a collection that comes back starts from nothing.
    for _ in 0..2 {
        stage.admin.apply(&rule).unwrap();
        ready(&stage, |message| message.contains("git-credential"));
        stage
            .admin
            .run(&["delete", "watchrule", "secrets", "-n", TEAM])
            .unwrap();
        ready(&stage, |message| !message.contains("refused"));
    }
    stage.stop_operator().unwrap();
}
