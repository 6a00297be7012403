//! What breaks comes back without losing, repeating or listing anything.

#[cfg(test)]
mod support;

use board::ApiHealth;
use support::recorder::Recorder;
use support::{Corner, RunningSource, client, eventually, rule, settings, shared};
use testkit::{ControlPlane, Forwarder, Person};

/// A control plane of the test's own, which lives until the process ends.
fn own(control_plane: ControlPlane) -> &'static ControlPlane {
    Box::leak(Box::new(control_plane))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cut_connection_goes_on_where_it_was() {
    let corner = Corner::new(shared(), "cut");
    corner.grant("configmaps");
    corner.write("a", "0");
    corner.write("b", "0");
    let wire = Forwarder::to(&shared().url()).unwrap();
    let source = RunningSource::start(corner.client(Some(wire.url())).await, settings());
    let branch = Recorder::new();
    let rules = vec![rule("r", vec![corner.item(&["configmaps"])])];
    source.declare("apps", 1, &branch, rules).await;
    branch.expect(&["snapshot configmaps [a b]"]).await;
    for round in ["1", "2", "3"] {
        wire.cut();
        corner.write("a", round);
        corner.run(&["delete", "configmap", "b"]);
        corner.write("b", round);
        source
            .until("apps", &["configmaps in cut: WatchError"])
            .await;
        wire.mend();
        let (update, create) = (format!("UPDATE a {round}"), format!("CREATE b {round}"));
        branch.expect(&[&update, "DELETE b", &create]).await;
        source
            .until("apps", &["configmaps in cut: streaming"])
            .await;
    }
    assert_eq!(source.counted("watch_recovery_total", "replay"), 1.0);
    let requests = corner.requests("configmaps");
    assert_eq!(
        requests, ["watch"; 4],
        "one stream for each session, no list and no get"
    );
    source.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn history_that_is_gone_is_replayed() {
    let corner = Corner::new(own(ControlPlane::start().unwrap()), "expired");
    corner.grant("configmaps");
    corner.write("a", "1");
    let source = RunningSource::start(corner.client(None).await, settings());
    let branch = Recorder::new();
    let rules = vec![rule("r", vec![corner.item(&["configmaps"])])];
    source.declare("apps", 1, &branch, rules).await;
    branch.expect(&["snapshot configmaps [a]"]).await;
    // The API server only remembers what happened since it started, so our stream cannot go on from before
    // something that happened elsewhere.
    let control_plane = corner.control_plane;
    let elsewhere = ["create", "configmap", "elsewhere", "--namespace=default"];
    corner.admin.run(&elsewhere).unwrap();
    control_plane.stop_api_server();
    let unreachable = |api: &ApiHealth| matches!(api, ApiHealth::Unreachable { .. });
    eventually("the outage to be seen", || {
        unreachable(&source.view.now().api).then_some(())
    })
    .await;
    tokio::task::spawn_blocking(|| control_plane.restart_api_server())
        .await
        .unwrap()
        .unwrap();
    branch.expect(&["snapshot configmaps [a]"]).await;
    corner.write("a", "2");
    branch.expect(&["UPDATE a 2"]).await;
    source
        .until("apps", &["configmaps in expired: streaming"])
        .await;
    assert_eq!(source.counted("watch_sessions_ended_total", "expired"), 1.0);
    source.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_streaming_lists_is_listed() {
    let builder = ControlPlane::builder().audit_log();
    let builder = builder.api_server_flag("--feature-gates=WatchList=false");
    let corner = Corner::new(own(builder.start().unwrap()), "listed");
    corner.grant("configmaps");
    corner.write("a", "1");
    let source = RunningSource::start(corner.client(None).await, settings());
    let branch = Recorder::new();
    let rules = vec![rule("r", vec![corner.item(&["configmaps"])])];
    source.declare("apps", 1, &branch, rules).await;
    branch.expect(&["snapshot configmaps [a]"]).await;
    corner.write("b", "1");
    corner.run(&["delete", "configmap", "a"]);
    branch.expect(&["CREATE b 1", "DELETE a"]).await;
    source
        .until("apps", &["configmaps in listed: streaming"])
        .await;
    assert_eq!(source.counted("watch_recovery_total", "list_fallback"), 1.0);
    source.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_permission_that_comes_later_is_used() {
    let corner = Corner::new(shared(), "forbidden");
    corner.write("a", "1");
    let source = RunningSource::start(corner.client(None).await, settings());
    let branch = Recorder::new();
    let rules = vec![rule("r", vec![corner.item(&["configmaps"])])];
    source.declare("apps", 1, &branch, rules).await;
    source
        .until("apps", &["configmaps in forbidden: WatchNotPermitted"])
        .await;
    corner.grant("configmaps");
    branch.expect(&["snapshot configmaps [a]"]).await;
    source
        .until("apps", &["configmaps in forbidden: streaming"])
        .await;
    source.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_says_whether_it_can_be_used() {
    let wire = Forwarder::to(&shared().url()).unwrap();
    wire.cut();
    let carol = shared().person(&Person::named("carol")).unwrap();
    let source = RunningSource::start(client(&carol, Some(wire.url())).await, settings());
    let health = |wanted: fn(&ApiHealth) -> bool| {
        let view = source.view.clone();
        async move { eventually("the health", || wanted(&view.now().api).then_some(())).await }
    };
    health(|api| matches!(api, ApiHealth::Unreachable { .. })).await;
    wire.mend();
    health(
        |api| matches!(api, ApiHealth::Reachable { followable_types } if *followable_types > 20),
    )
    .await;
    source.stop().await;

    let text = carol.text().unwrap();
    let parsed: serde_json::Value = serde_json::from_str(&text).unwrap();
    let token = parsed["users"][0]["user"]["token"].as_str().unwrap();
    let file = shared().folder().join("nobody.kubeconfig");
    std::fs::write(&file, text.replace(token, "unknown")).unwrap();
    let nobody = testkit::Kubeconfig::existing(file);
    let source = RunningSource::start(client(&nobody, None).await, settings());
    let view = source.view.clone();
    eventually("the refusal", || {
        matches!(view.now().api, ApiHealth::AuthenticationFailed { .. }).then_some(())
    })
    .await;
    source.stop().await;
}
