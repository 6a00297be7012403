//! What people write by hand is mirrored without noise: what the API server and controllers add is no change.

use e2e::stage::{FOLDER, Setting, Stage, TEAM};
use testkit::{ControlPlane, Controllers, wait};

use crate::commits::next_change;

/// Documents of many kinds as people write them, shared with the tests of `manifests`.
const DOCUMENTS: &str =
    include_str!("../../../../controllers/manifests/tests/data/defaults/documents.yaml");

/// Follows what the documents hold, except kinds of which the cluster makes objects of its own: ServiceAccounts
/// and PersistentVolumeClaims.
const RULE: &str = r#"
apiVersion: configbutler.ai/v1alpha3
kind: WatchRule
metadata: {name: everything, namespace: team-a}
spec:
  gitTargetRef: {name: demo}
  rules:
    - apiGroups: [""]
      resources: [services, replicationcontrollers, limitranges, resourcequotas]
    - {apiGroups: [apps], resources: [deployments, statefulsets, daemonsets]}
    - {apiGroups: [batch], resources: [jobs, cronjobs]}
    - {apiGroups: [autoscaling], resources: [horizontalpodautoscalers]}
    - {apiGroups: [networking.k8s.io], resources: [ingresses, networkpolicies]}
    - {apiGroups: [policy], resources: [poddisruptionbudgets]}
    - {apiGroups: [rbac.authorization.k8s.io], resources: [roles, rolebindings]}
    - {apiGroups: [example.com], resources: [widgets]}
"#;

/// Applies the documents and waits until the controllers have done what they do.
fn apply(stage: &Stage) {
    let is_custom = |document: &&str| document.contains("apiVersion: example.com/");
    let (custom, builtin): (Vec<&str>, Vec<&str>) = DOCUMENTS.split("---\n").partition(is_custom);
    stage.admin.apply(&builtin.join("---\n")).unwrap();
    let established = [
        "wait",
        "crd/widgets.example.com",
        "--for=condition=Established",
    ];
    stage.admin.run(&established).unwrap();
    stage.admin.apply(&custom.join("---\n")).unwrap();
    wait::until("the controllers to have seen them", wait::GENEROUS, || {
        let observed = stage.admin.run(&[
            "get",
            "deployments,statefulsets,daemonsets",
            "-n",
            TEAM,
            "-o",
            "jsonpath={range .items[*]}{.status.observedGeneration}{\"\\n\"}{end}",
        ]);
        (observed.ok()?.lines().filter(|line| *line == "1").count() == 4).then_some(())
    })
    .unwrap();
}

#[test]
fn d27_what_the_cluster_adds_to_documents_of_people_makes_no_commit() {
    let setting = Setting {
        control_plane: ControlPlane::builder().controllers(Controllers::ClusterAndWorkloads),
        seed: vec![(format!("{FOLDER}/apps/all.yaml"), DOCUMENTS.to_owned())],
        ..Setting::default()
    };
    let control_plane = setting.control_plane.clone().start().unwrap();
    let mut stage = Stage::prepare(&setting, control_plane).unwrap();
    stage.apply_mirror(&setting).unwrap();
    apply(&stage);
    stage.admin.apply(RULE).unwrap();
    stage.start_operator().unwrap();
    stage.wait_current("demo").unwrap();
    let image = "web=registry.example.com/web:1.26";
    let set = ["set", "image", "deployment/web", image, "-n", TEAM];
    stage.admin.run(&set).unwrap();
    assert_eq!(
        next_change(&stage, 1),
        [
            "-          image: registry.example.com/web:1.25   # bumped by hand",
            "+          image: registry.example.com/web:1.26   # bumped by hand",
        ]
    );
    // The autoscaler scales up, which is nobody's wish for a number of replicas.
    let least = r#"{"spec":{"minReplicas":2}}"#;
    let patch = [
        "patch",
        "hpa",
        "web",
        "-n",
        TEAM,
        "--type=merge",
        "-p",
        least,
    ];
    stage.admin.run(&patch).unwrap();
    assert_eq!(next_change(&stage, 2), ["+  minReplicas: 2"]);
    let replicas = [
        "get",
        "deployment",
        "web",
        "-n",
        TEAM,
        "-o",
        "jsonpath={.spec.replicas}",
    ];
    wait::until("the autoscaler", wait::GENEROUS, || {
        (stage.admin.run(&replicas).ok()? == "2").then_some(())
    })
    .unwrap();
    let scale = ["scale", "statefulset/db", "--replicas=3", "-n", TEAM];
    stage.admin.run(&scale).unwrap();
    assert_eq!(next_change(&stage, 3), ["+  replicas: 3"]);
    stage.stop_operator().unwrap();
}
