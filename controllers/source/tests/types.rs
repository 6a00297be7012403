//! Types come and go, and rules follow them.

#[cfg(test)]
mod support;

use board::RuleResolution;
use model::{RuleKey, Scope};
use support::recorder::Recorder;
use support::{Corner, RunningSource, eventually, rule, settings, shared};

const WIDGETS: &str = r#"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget}
  versions:
    - name: v1alpha1
      served: true
      storage: false
      schema: &schema {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
    - name: v1beta1
      served: true
      storage: true
      schema: *schema
      subresources: {scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}
"#;

fn unresolved(source: &RunningSource, key: &RuleKey) -> Vec<String> {
    let streams = source.streams("apps").unwrap_or_default();
    match streams.rules.get(key) {
        Some(RuleResolution::Resolved { unresolved, .. }) => unresolved.clone(),
        Some(RuleResolution::Overlaps { message }) => vec![message.clone()],
        None => Vec::new(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_type_is_found_when_it_comes_and_let_go_when_it_goes() {
    let corner = Corner::new(shared(), "types");
    corner.grant("configmaps,widgets");
    let source = RunningSource::start(corner.client(None).await, settings());
    let branch = Recorder::new();
    let rules = vec![rule("r", vec![corner.item(&["configmaps", "widgets"])])];
    let key = rules[0].rule.clone();
    source.declare("apps", 1, &branch, rules).await;
    branch.expect(&["snapshot configmaps []"]).await;
    source
        .until("apps", &["configmaps in types: streaming"])
        .await;
    assert_eq!(
        unresolved(&source, &key),
        ["widgets is not served by the cluster"]
    );

    corner.apply(WIDGETS);
    branch.expect(&["snapshot widgets.example.com []"]).await;
    let both = [
        "configmaps in types: streaming",
        "widgets.example.com in types: streaming",
    ];
    source.until("apps", &both).await;
    assert_eq!(unresolved(&source, &key), Vec::<String>::new());
    let catalog = source.catalog.now();
    let versions: Vec<_> = catalog
        .types
        .iter()
        .filter(|served| &*served.type_id.resource == "widgets")
        .map(|served| served.api_version())
        .collect();
    assert_eq!(versions, ["example.com/v1beta1", "example.com/v1alpha1"]);
    corner.apply(
        "{apiVersion: example.com/v1beta1, kind: Widget, metadata: {name: w}, data: {content: x}}",
    );
    branch.expect(&["CREATE w x"]).await;

    corner
        .admin
        .run(&["delete", "crd", "widgets.example.com"])
        .unwrap();
    source
        .until("apps", &["configmaps in types: streaming"])
        .await;
    assert_eq!(
        unresolved(&source, &key),
        ["widgets is not served by the cluster"]
    );
    // The cluster deletes the objects before it forgets their type.
    branch
        .expect(&["DELETE w", "forget widgets.example.com in types"])
        .await;
    source.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_select_what_can_be_followed_and_overlaps_are_refused() {
    let corner = Corner::new(shared(), "rules");
    corner.grant("configmaps");
    let source = RunningSource::start(corner.client(None).await, settings());
    let branch = Recorder::new();
    let mut everywhere = corner.item(&["configmaps"]);
    everywhere.scope = Scope::AllNamespaces;
    let newer = support::rule("newer", vec![everywhere]);
    let older = support::rule(
        "older",
        vec![corner.item(&["configmaps", "pods", "nodes", "bindings"])],
    );
    let newer = source::RuleDeclaration {
        created_at: 2,
        ..newer
    };
    let (old_key, new_key) = (older.rule.clone(), newer.rule.clone());
    source.declare("apps", 1, &branch, vec![newer, older]).await;
    source
        .until("apps", &["configmaps in rules: streaming"])
        .await;
    assert_eq!(
        unresolved(&source, &old_key),
        [
            "bindings does not offer get, list, watch",
            "nodes is cluster-scoped, so only a ClusterWatchRule selects it",
            "pods is never mirrored",
        ]
    );
    let refused = unresolved(&source, &new_key).join("");
    assert!(
        refused.contains("team-a/newer") && refused.contains("team-a/older"),
        "{refused}"
    );

    // Every built-in type of a real cluster is judged; the catalog has also what is never mirrored.
    let catalog = source.catalog.now();
    for kind in [
        "Pod",
        "ConfigMap",
        "Deployment",
        "ClusterRole",
        "Job",
        "CustomResourceDefinition",
    ] {
        assert!(
            catalog.types.iter().any(|served| served.kind == kind),
            "{kind}"
        );
    }
    eventually("the gauge", || {
        let families = source.metrics.gather();
        families
            .iter()
            .any(|family| family.name() == "test_api_catalog_resources")
            .then_some(())
    })
    .await;
    source.stop().await;
}
