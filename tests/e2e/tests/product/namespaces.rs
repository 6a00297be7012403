//! The extension API never holds up the deletion of a namespace, and a branch only for as long as it may.

use e2e::stage::{FOLDER, Setting, Stage, TEAM};
use serde_json::json;
use testkit::{ControlPlane, Controllers, wait};

/// The mirrored namespace, which is not the one that is deleted: its objects stay.
const SOURCE: &str = "team-b";

fn setting() -> Setting {
    let anybody = json!([{"consumerNamespaces": {"from": "All"}, "sourceNamespaces": ["*"]}]);
    Setting {
        control_plane: ControlPlane::builder()
            .audit_log()
            .controllers(Controllers::Cluster),
        // Nothing closes the window before the namespace goes.
        idle_timeout: "60s".to_owned(),
        values: json!({"kubeProvider": {"allowedGitTargets": anybody}}),
        ..Setting::default()
    }
}

#[test]
fn unrelated_namespaces_are_deleted_while_it_runs_and_after_it_stopped() {
    let mut stage = Stage::start(setting()).unwrap();
    stage.wait_current("demo").unwrap();
    stage
        .admin
        .run(&["get", "apiservice", "v1alpha1.views.configbutler.ai"])
        .unwrap();
    create(&stage, "while-it-runs");
    delete(&stage, "while-it-runs");
    stage.stop_operator().unwrap();
    let gone = stage
        .admin
        .refused(&["get", "apiservice", "v1alpha1.views.configbutler.ai"])
        .unwrap();
    assert!(gone.contains("NotFound"), "{gone}");
    create(&stage, "after-it-stopped");
    delete(&stage, "after-it-stopped");
}

#[test]
fn the_namespace_of_a_branch_goes_and_what_was_pending_is_published() {
    let mut stage = Stage::start(setting()).unwrap();
    mirror_source(&stage);
    write_pending(&stage, "last-words");
    delete(&stage, TEAM);
    let file = format!("{FOLDER}/{SOURCE}/configmaps/last-words.yaml");
    let text = stage.repository.file("main", &file);
    let text = text.expect("what was pending is published before the branch goes");
    assert!(text.contains("said: ok"), "{text}");
    stage.check_operator().unwrap();
    stage.stop_operator().unwrap();
}

#[test]
fn the_namespace_of_a_branch_goes_in_bounded_time_while_git_is_down() {
    let setting = setting();
    let control_plane = setting.control_plane.clone().start().unwrap();
    let mut stage = Stage::prepare(&setting, control_plane).unwrap();
    stage.apply_mirror(&setting).unwrap();
    let bounded = ["--git-cycle-timeout=10s", "--git-call-timeout=10s"];
    stage
        .start_operator_with(&bounded.map(str::to_owned))
        .unwrap();
    mirror_source(&stage);
    write_pending(&stage, "never-heard");
    stage.git.stop();
    delete(&stage, TEAM);
    stage.git.resume().unwrap();
    stage.check_operator().unwrap();
    stage.stop_operator().unwrap();
}

/// Mirrors the other namespace too, and checks that the branch holds on to its object.
fn mirror_source(stage: &Stage) {
    create(stage, SOURCE);
    stage
        .admin
        .apply(&format!(
            r#"
apiVersion: configbutler.ai/v1alpha3
kind: WatchRule
metadata: {{name: elsewhere, namespace: {TEAM}}}
spec:
  gitTargetRef: {{name: demo}}
  rules: [{{apiGroups: [""], resources: [configmaps], sourceNamespace: {SOURCE}}}]
"#
        ))
        .unwrap();
    wait::until("both namespaces to be watched", wait::GENEROUS, || {
        let target = stage
            .admin
            .json(&["get", "gittarget", "demo", "-n", TEAM])
            .ok()?;
        (target["status"]["streams"]["ready"] == 2).then_some(())
    })
    .unwrap_or_else(|error| panic!("{error}: {}", stage.explain("demo")));
    stage.wait_current("demo").unwrap();
    let branch = stage
        .admin
        .json(&["get", "gitbranch", "main", "-n", TEAM])
        .unwrap();
    let finalizers = branch["metadata"]["finalizers"].as_array();
    assert!(
        finalizers.is_some_and(|names| !names.is_empty()),
        "{branch}"
    );
}

/// Writes an object and waits until the branch holds it back in its open window.
fn write_pending(stage: &Stage, name: &str) {
    let create = ["create", "configmap", name, "-n", SOURCE];
    stage
        .admin
        .run(&[create.as_slice(), &["--from-literal=said=ok"]].concat())
        .unwrap();
    wait::until("the write to be pending", wait::GENEROUS, || {
        let view = stage
            .admin
            .json(&["get", "branchstatus", "main", "-n", TEAM])
            .ok()?;
        (view["status"]["window"]["entries"] == 1).then_some(())
    })
    .unwrap();
}

fn create(stage: &Stage, name: &str) {
    stage.admin.run(&["create", "namespace", name]).unwrap();
}

fn delete(stage: &Stage, name: &str) {
    let deleted = stage
        .admin
        .run(&["delete", "namespace", name, "--timeout=100s"]);
    deleted.unwrap_or_else(|error| {
        let left = stage.admin.run(&["get", "namespace", name, "-o", "yaml"]);
        panic!(
            "{error:#}\n{}\n{}",
            left.unwrap_or_default(),
            stage.explain("demo")
        )
    });
}
