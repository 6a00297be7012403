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
    // Spelled as the view spells them, so that both say the same.
    let since = view["status"]["failingSince"].as_str().unwrap();
    let failed = view["status"]["message"].as_str().unwrap();
    let message = wait::until("a target that says what is wrong", wait::GENEROUS, || {
        let rows = stage
            .admin
            .run(&["get", "gittargets", "-n", TEAM, "-o", "wide"])
            .ok()?;
        let row = rows
            .lines()
            .find(|row| row.starts_with("demo "))?
            .to_owned();
        let says_when = |row: &str| {
            let view = stage
                .admin
                .json(&["get", "branchstatus", "main", "-n", TEAM])
                .ok()?;
            let retry = view["status"]["nextRetryAt"].as_str()?;
            row.contains(retry).then_some(())
        };
        let told = row.contains(" False ") && row.contains("Progressing");
        (told && row.contains(failed) && row.contains(since))
            .then(|| says_when(&row))
            .flatten()?;
        Some(row)
    });
    let message = message.unwrap_or_else(|error| panic!("{error}: {}", stage.explain("demo")));
    eprintln!("{row}\n{message}");
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
fn rows_are_for_those_who_may_read_them() {
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
    stage.stop_operator().unwrap();
}
