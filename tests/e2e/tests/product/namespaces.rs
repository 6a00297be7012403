//! The extension API never holds up the deletion of a namespace.

use e2e::stage::{Setting, Stage};
use testkit::{ControlPlane, Controllers};

#[test]
fn unrelated_namespaces_are_deleted_while_it_runs_and_after_it_stopped() {
    let control_plane = ControlPlane::builder()
        .audit_log()
        .controllers(Controllers::Cluster);
    let mut stage = Stage::start(Setting {
        control_plane,
        ..Setting::default()
    })
    .unwrap();
    stage.wait_ready("demo").unwrap();
    stage
        .admin
        .run(&["get", "apiservice", "v1alpha1.views.configbutler.ai"])
        .unwrap();
    delete_one(&stage, "while-it-runs");
    stage.stop_operator().unwrap();
    let gone = stage
        .admin
        .refused(&["get", "apiservice", "v1alpha1.views.configbutler.ai"])
        .unwrap();
    assert!(gone.contains("NotFound"), "{gone}");
    delete_one(&stage, "after-it-stopped");
}

fn delete_one(stage: &Stage, name: &str) {
    stage.admin.run(&["create", "namespace", name]).unwrap();
    stage
        .admin
        .run(&["delete", "namespace", name, "--timeout=60s"])
        .unwrap();
}
