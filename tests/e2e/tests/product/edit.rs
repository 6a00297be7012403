//! One change, all the way: from `kubectl` to the remote.

use e2e::stage::{FOLDER, Setting, Stage, TEAM};
use testkit::wait;

const COMMENTED: &str = "apiVersion: v1
kind: ConfigMap
metadata:
  name: app-config
  namespace: team-a
data:
  # How loud the service is; ask the on-call team before raising it.
  logLevel: info
  replicas: \"2\"
";

#[test]
fn an_edit_changes_exactly_its_line_and_keeps_the_comment() {
    let seed = vec![(format!("{FOLDER}/apps/config.yaml"), COMMENTED.to_owned())];
    let mut stage = Stage::start(Setting {
        seed,
        ..Setting::default()
    })
    .unwrap();
    let alice = stage.editor("alice").unwrap();
    alice.apply(COMMENTED).unwrap();
    stage.wait_ready("demo").unwrap();
    let before = stage.repository.commits("main").unwrap();
    assert_eq!(
        before.len(),
        1,
        "adopting a folder that agrees makes no commit: {before:?}"
    );
    let editor = "sed -i 's/logLevel: info/logLevel: debug/'";
    let mut edit = alice.command();
    let edited = edit
        .args(["edit", "configmap", "app-config", "-n", TEAM])
        .env("KUBE_EDITOR", editor)
        .output();
    assert!(edited.unwrap().status.success());
    let text = stage
        .wait_file("apps/config.yaml", |text| text.contains("logLevel: debug"))
        .unwrap();
    assert_eq!(text, COMMENTED.replace("logLevel: info", "logLevel: debug"));
    let clone = stage.git.clone("platform").unwrap();
    let shown = clone
        .git(&["show", "--numstat", "--format=%an|%ae|%cn|%s", "HEAD"])
        .unwrap();
    assert!(
        shown.contains("1\t1\tclusters/demo/apps/config.yaml"),
        "{shown}"
    );
    let line = "GitOps Reverser|noreply@configbutler.ai|GitOps Reverser|chore: sync 1 resource";
    assert!(shown.contains(line), "{shown}");
    clone.fsck().unwrap();
    let events = wait::until("an Event that names the commit", wait::GENEROUS, || {
        let text = stage
            .admin
            .run(&["describe", "gittarget", "demo", "-n", TEAM])
            .ok()?;
        text.contains(&before_short(&clone.head().unwrap()))
            .then_some(text)
    });
    assert!(
        events.unwrap().contains("app-config"),
        "the Event names the object"
    );
    stage.stop_operator().unwrap();
}

fn before_short(commit: &str) -> String {
    commit.trim()[..12].to_owned()
}

#[test]
fn objects_are_placed_edited_and_removed_where_they_belong() {
    let mut stage = Stage::start(Setting::default()).unwrap();
    let bob = stage.editor("bob").unwrap();
    stage.wait_ready("demo").unwrap();
    bob.run(&[
        "create",
        "configmap",
        "new-one",
        "-n",
        TEAM,
        "--from-literal=colour=green",
    ])
    .unwrap();
    let path = "team-a/configmaps/new-one.yaml";
    let text = stage
        .wait_file(path, |text| text.contains("green"))
        .unwrap();
    let expected = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: new-one\n  namespace: team-a\ndata:\n  colour: green\n";
    assert_eq!(text, expected);
    bob.run(&["delete", "configmap", "new-one", "-n", TEAM])
        .unwrap();
    wait::until("the document to be gone", wait::GENEROUS, || {
        stage
            .repository
            .file("main", &format!("{FOLDER}/{path}"))
            .is_err()
            .then_some(())
    })
    .unwrap();
    let files = stage.repository.files("main").unwrap();
    assert!(files.contains(&"README.md".to_owned()), "{files:?}");
    stage.stop_operator().unwrap();
}

#[test]
fn what_existed_before_becomes_one_commit_by_the_operator() {
    let setting = Setting::default();
    let control_plane = setting.control_plane.clone().start().unwrap();
    let mut stage = Stage::prepare(&setting, control_plane).unwrap();
    stage.apply_mirror(&setting).unwrap();
    for name in ["one", "two", "three"] {
        stage
            .admin
            .run(&[
                "create",
                "configmap",
                name,
                "-n",
                TEAM,
                "--from-literal=a=b",
            ])
            .unwrap();
    }
    stage.start_operator().unwrap();
    stage.wait_ready("demo").unwrap();
    let clone = stage.git.clone("platform").unwrap();
    let subjects = clone.log("%s").unwrap();
    assert_eq!(subjects.len(), 2, "{subjects:?}");
    assert!(
        subjects[0].starts_with("chore: reconcile 3 configmaps in team-a"),
        "{subjects:?}"
    );
    stage.stop_operator().unwrap();
    stage.start_operator().unwrap();
    stage.wait_current("demo").unwrap();
    assert_eq!(
        clone.head().unwrap(),
        stage.repository.branch("main").unwrap(),
        "a second start writes nothing"
    );
    stage.stop_operator().unwrap();
}

#[test]
fn a_missing_branch_is_created_from_its_parent_with_the_first_change() {
    let mut stage = Stage::start(Setting::default()).unwrap();
    stage
        .admin
        .apply(&format!(
            r#"
apiVersion: configbutler.ai/v1alpha3
kind: GitBranch
metadata: {{name: edits, namespace: {TEAM}}}
spec: {{gitProviderRef: {{name: platform}}, branch: reverser/edits, parentBranch: main}}
---
apiVersion: configbutler.ai/v1alpha3
kind: GitTarget
metadata: {{name: second, namespace: {TEAM}}}
spec:
  gitBranchRef: {{name: edits}}
  kubeProviderRef: {{name: local, namespace: gitops-reverser}}
  path: second
  commit: {{window: {{idleTimeout: "1s"}}}}
---
apiVersion: configbutler.ai/v1alpha3
kind: WatchRule
metadata: {{name: second, namespace: {TEAM}}}
spec:
  gitTargetRef: {{name: second}}
  rules: [{{apiGroups: [""], resources: [configmaps], objectSelector: {{matchLabels: {{second: "yes"}}}}}}]
"#
        ))
        .unwrap();
    stage.wait_ready("second").unwrap();
    assert_eq!(
        stage.repository.branch("reverser/edits"),
        None,
        "nothing to write, no branch"
    );
    let main = stage.repository.branch("main").unwrap();
    stage
        .admin
        .run(&["create", "configmap", "x", "-n", TEAM, "--from-literal=a=b"])
        .unwrap();
    stage
        .admin
        .run(&["label", "configmap", "x", "-n", TEAM, "second=yes"])
        .unwrap();
    let tip = wait::until("the branch", wait::GENEROUS, || {
        stage.repository.branch("reverser/edits")
    })
    .unwrap();
    let parent = stage
        .repository
        .git(&["rev-parse", &format!("{tip}^")])
        .unwrap();
    let merge_base = stage.repository.git(&["merge-base", &tip, "main"]).unwrap();
    assert_eq!(
        parent.trim(),
        merge_base.trim(),
        "it starts from main ({main})"
    );
    stage.stop_operator().unwrap();
}
