//! What happens on a cluster arrives at the branch, once and in order.

#[cfg(test)]
mod support;

use std::collections::BTreeMap;

use support::recorder::Recorder;
use support::{Corner, RunningSource, labelled, rule, settings, shared};

const OWNED: &str = "{apiVersion: v1, kind: ConfigMap, metadata: {name: owned, ownerReferences: \
    [{apiVersion: apps/v1, kind: Deployment, name: web, uid: u, controller: true}]}}";

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_becomes_a_snapshot_and_live_changes_follow() {
    let corner = Corner::new(shared(), "live");
    corner.grant("configmaps");
    corner.write("b", "1");
    corner.write("a", "1");
    corner.write("kube-root-ca.crt", "certificate");
    corner.apply(OWNED);
    let source = RunningSource::start(corner.client(None).await, settings());
    let branch = Recorder::new();
    let rules = vec![rule("r", vec![corner.item(&["configmaps"])])];
    source.declare("apps", 1, &branch, rules).await;
    branch
        .expect(&["snapshot configmaps [a b] protected [owned]"])
        .await;
    source
        .until("apps", &["configmaps in live: streaming"])
        .await;
    let streams = source.streams("apps").unwrap();
    let left_out = &streams.streams.values().next().unwrap().left_out;
    let expected = [("cluster_generated", 1), ("controller_owned", 1)];
    let expected = expected.map(|(reason, count)| (reason.to_owned(), count));
    assert_eq!(*left_out, BTreeMap::from(expected));

    corner.write("c", "1");
    corner.write("a", "2");
    // Neither of these changes anything that is mirrored.
    corner.run(&[
        "label",
        "configmap",
        "a",
        "kustomize.toolkit.fluxcd.io/name=x",
    ]);
    corner.run(&["label", "configmap", "owned", "changed=true"]);
    corner.run(&["label", "configmap", "kube-root-ca.crt", "changed=true"]);
    corner.run(&["delete", "configmap", "owned"]);
    corner.run(&["delete", "configmap", "b"]);
    branch
        .expect(&["CREATE c 1", "UPDATE a 2", "DELETE b"])
        .await;
    assert!(source.counted("watch_events_total", "unchanged") >= 1.0);
    assert_eq!(
        source.counted("watch_events_total", "cluster_generated"),
        1.0
    );
    assert_eq!(
        source.counted("watch_events_total", "controller_owned"),
        2.0
    );
    assert_eq!(source.counted("watch_events_total", "routed"), 3.0);

    // A finalizer may be meant, so it is a change; a deletion counts when it is requested, and once.
    corner.run(&[
        "patch",
        "configmap",
        "c",
        "-p",
        r#"{"metadata":{"finalizers":["example.com/x"]}}"#,
    ]);
    corner.run(&["delete", "configmap", "c", "--wait=false"]);
    branch.expect(&["UPDATE c 1", "DELETE c"]).await;
    corner.run(&[
        "patch",
        "configmap",
        "c",
        "-p",
        r#"{"metadata":{"finalizers":null}}"#,
    ]);
    corner.write("d", "1");
    branch.expect(&["CREATE d 1"]).await;
    assert_eq!(
        corner.requests("configmaps"),
        ["watch"],
        "one stream and nothing else"
    );
    source.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_enters_and_leaves_with_its_labels() {
    let corner = Corner::new(shared(), "selected");
    corner.grant("configmaps");
    corner.write("a", "1");
    corner.run(&["label", "configmap", "a", "team=x"]);
    corner.write("b", "1");
    let source = RunningSource::start(corner.client(None).await, settings());
    let branch = Recorder::new();
    let item = labelled(corner.item(&["configmaps"]), "team", "x");
    source
        .declare("apps", 1, &branch, vec![rule("r", vec![item])])
        .await;
    branch.expect(&["snapshot configmaps [a]"]).await;
    corner.run(&["label", "configmap", "b", "team=x"]);
    branch.expect(&["CREATE b 1"]).await;
    corner.run(&["label", "configmap", "a", "team-"]);
    branch.expect(&["DELETE a"]).await;
    source.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resync_brings_a_fresh_snapshot() {
    let corner = Corner::new(shared(), "resync");
    corner.grant("configmaps,secrets");
    corner.write("a", "1");
    let source = RunningSource::start(corner.client(None).await, settings());
    let branch = Recorder::new();
    let rules = vec![rule("r", vec![corner.item(&["configmaps"])])];
    source.declare("apps", 1, &branch, rules).await;
    branch.expect(&["snapshot configmaps [a]"]).await;
    corner.write("b", "1");
    branch.expect(&["CREATE b 1"]).await;
    source
        .handle
        .resync(support::target("apps"), None)
        .await
        .unwrap();
    branch.expect(&["snapshot configmaps [a b]"]).await;
    corner.write("b", "2");
    branch.expect(&["UPDATE b 2"]).await;
    source.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn targets_are_fed_and_stopped_each_by_itself() {
    let corner = Corner::new(shared(), "targets");
    corner.grant("configmaps,secrets");
    corner.write("a", "1");
    let source = RunningSource::start(corner.client(None).await, settings());
    let (first, second) = (Recorder::new(), Recorder::new());
    let everything = || vec![rule("r", vec![corner.item(&["configmaps", "secrets"])])];
    source.declare("first", 1, &first, everything()).await;
    let labelled_only = vec![rule(
        "r",
        vec![labelled(corner.item(&["configmaps"]), "team", "x")],
    )];
    source.declare("second", 1, &second, labelled_only).await;
    second.expect(&["snapshot configmaps []"]).await;
    let both = [
        "configmaps in targets: streaming",
        "secrets in targets: streaming",
    ];
    source.until("first", &both).await;
    corner.run(&["label", "configmap", "a", "team=x"]);
    second.expect(&["CREATE a 1"]).await;

    // Another selection replaces the watch; the one beside it runs on.
    let narrowed = vec![rule(
        "r",
        vec![
            labelled(corner.item(&["configmaps"]), "team", "y"),
            corner.item(&["secrets"]),
        ],
    )];
    source.declare("first", 2, &first, narrowed).await;
    let states = [
        "configmaps in targets with team=y: streaming",
        "secrets in targets: streaming",
    ];
    source.until("first", &states).await;
    let seen = first.seen();
    let snapshots = |of: &str| seen.iter().filter(|line| line.contains(of)).count();
    assert_eq!(snapshots("snapshot configmaps"), 2, "{seen:?}");
    assert_eq!(snapshots("snapshot secrets"), 1, "{seen:?}");
    let of_configmaps: Vec<_> = seen
        .iter()
        .filter(|line| line.contains("configmaps"))
        .collect();
    assert_eq!(of_configmaps[1], "forget configmaps in targets", "{seen:?}");

    // A target whose branch is gone, or that was withdrawn, gets nothing more.
    source
        .handle
        .withdraw(support::target("first"))
        .await
        .unwrap();
    support::eventually("the withdrawal", || {
        source.streams("first").is_none().then_some(())
    })
    .await;
    second.close();
    corner.write("a", "2");
    source
        .until("second", &["configmaps in targets with team=x: pending"])
        .await;
    let replacement = Recorder::new();
    let again = vec![rule(
        "r",
        vec![labelled(corner.item(&["configmaps"]), "team", "x")],
    )];
    source.declare("second", 2, &replacement, again).await;
    replacement.expect(&["snapshot configmaps [a]"]).await;
    assert_eq!(first.seen(), seen);
    source.stop().await;
}
