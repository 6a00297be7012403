//! What `kubectl get` shows while things go wrong.

use e2e::stage::{Setting, Stage, TEAM};
use testkit::{Person, wait};

#[test]
fn pending_writes_and_the_retry_time_are_shown_while_the_git_host_is_down() {
    let mut stage = Stage::start(Setting::default()).unwrap();
    stage.wait_ready("demo").unwrap();
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
    let row = wait::until("a row that says what is pending", wait::GENEROUS, || {
        let text = stage
            .admin
            .run(&["get", "branchstatuses", "-A", "-o", "wide"])
            .ok()?;
        text.contains("Unreachable").then_some(text)
    })
    .unwrap();
    let header = row.lines().next().unwrap();
    for column in ["READY", "PENDING", "NEXT RETRY", "INTAKE", "MESSAGE"] {
        assert!(header.contains(column), "{header}");
    }
    let view = stage
        .admin
        .json(&["get", "branchstatus", "main", "-n", TEAM])
        .unwrap();
    assert_eq!(view["status"]["pendingObjects"], 1, "{view}");
    assert!(view["status"]["nextRetryAt"].is_string(), "{view}");
    let target = wait::until("a target that says what is wrong", wait::GENEROUS, || {
        let text = stage
            .admin
            .run(&["get", "gittargets", "-n", TEAM, "-o", "wide"])
            .ok()?;
        (text.contains("False") && text.contains("Progressing")).then_some(text)
    })
    .unwrap();
    eprintln!("{row}\n{target}");
    stage.git.resume().unwrap();
    stage
        .wait_file("team-a/configmaps/waits.yaml", |text| text.contains("a: b"))
        .unwrap();
    stage.wait_ready("demo").unwrap();
    let columns = stage.admin.run(&["get", "gittargets", "-n", TEAM]).unwrap();
    let header: Vec<&str> = columns.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(
        header,
        [
            "NAME", "READY", "REASON", "BRANCH", "PATH", "COMMIT", "PENDING", "AGE"
        ]
    );
    stage.stop_operator().unwrap();
}

#[test]
fn rows_are_for_those_who_may_read_them_and_headers_are_not_believed() {
    let mut stage = Stage::start(Setting::default()).unwrap();
    stage.wait_ready("demo").unwrap();
    let person = stage.control_plane.person(&Person::named("carol")).unwrap();
    let carol = stage.control_plane.kubectl(&person).unwrap();
    let refused = carol
        .refused(&["get", "branchstatuses", "-n", TEAM])
        .unwrap();
    assert!(
        refused.contains("Forbidden") || refused.contains("forbidden"),
        "{refused}"
    );
    stage
        .admin
        .apply(&format!(
            r#"
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {{name: viewer, namespace: {TEAM}}}
rules: [{{apiGroups: [views.configbutler.ai], resources: [branchstatuses], verbs: [get, list]}}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {{name: viewer, namespace: {TEAM}}}
roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: Role, name: viewer}}
subjects: [{{kind: User, name: carol, apiGroup: rbac.authorization.k8s.io}}]
"#
        ))
        .unwrap();
    let rows = wait::until_ok("carol's rows", wait::GENEROUS, || {
        carol.run(&["get", "branchstatuses", "-n", TEAM])
    });
    assert!(rows.unwrap().contains("main"));
    let url = format!(
        "https://127.0.0.1:{}/apis/views.configbutler.ai/v1alpha1/namespaces/{TEAM}/branchstatuses",
        stage.api_port
    );
    let forged = std::process::Command::new("curl")
        .args([
            "--silent",
            "--insecure",
            "--output",
            "/dev/stdout",
            "--write-out",
            " %{http_code}",
        ])
        .args([
            "--header",
            "X-Remote-User: admin",
            "--header",
            "X-Remote-Group: system:masters",
            &url,
        ])
        .output()
        .unwrap();
    let answer = String::from_utf8_lossy(&forged.stdout).into_owned();
    assert!(
        answer.ends_with("401") || answer.ends_with("403"),
        "{answer}"
    );
    assert!(!answer.contains("pendingObjects"), "{answer}");
    stage.stop_operator().unwrap();
}
