use std::collections::BTreeMap;
use std::sync::Arc;

use board::{RuleResolution, StreamState, StreamView, TargetStreams};
use crds::{GitTarget, KubeProvider, WatchRule};
use model::{Collection, RuleKey, Scope, Selector, TypeId};
use serde_json::{Value, json};

use super::decide::decide;
use super::observe::Observed;
use crate::convert::grants;
use crate::fixtures::{self, NOW, object, place, ready};

fn rule(rules: Value) -> WatchRule {
    object(
        "WatchRule",
        "team-a/all",
        json!({"gitTargetRef": {"name": "apps"}, "rules": rules}),
        json!({}),
    )
}

fn target(more: Value) -> GitTarget {
    let spec = json!({
        "gitBranchRef": {"name": "live"}, "path": "apps",
        "kubeProviderRef": {"name": "production", "namespace": "platform"},
    });
    object("GitTarget", "team-a/apps", spec, more)
}

fn provider(namespaces: &[&str]) -> KubeProvider {
    let grant = json!([{"consumerNamespaces": {"from": "All"}, "sourceNamespaces": namespaces}]);
    object(
        "KubeProvider",
        "platform/production",
        json!({"inCluster": {}, "allowedGitTargets": grant}),
        json!({}),
    )
}

fn collection(resource: &str) -> Collection {
    Collection {
        type_id: TypeId::new("", resource),
        scope: Scope::Namespace(place("team-a/x").namespace),
        selector: Selector::everything(),
    }
}

fn streams(resolution: RuleResolution, states: &[(&str, StreamState)]) -> TargetStreams {
    let of = |(resource, state): &(&str, StreamState)| {
        (
            collection(resource),
            StreamView {
                state: state.clone(),
                left_out: BTreeMap::new(),
            },
        )
    };
    TargetStreams {
        generation: 1,
        streams: states.iter().map(of).collect(),
        rules: BTreeMap::from([(RuleKey::from(&place("team-a/all")), resolution)]),
    }
}

fn resolved(resources: &[&str], unresolved: &[&str]) -> RuleResolution {
    RuleResolution::Resolved {
        collections: resources
            .iter()
            .map(|resource| collection(resource))
            .collect(),
        unresolved: unresolved.iter().map(ToString::to_string).collect(),
    }
}

/// A rule over ConfigMaps of its own namespace whose watch runs.
fn running() -> Observed {
    Observed {
        place: place("team-a/all"),
        key: RuleKey::from(&place("team-a/all")),
        object: Arc::new(rule(json!([{"resources": ["configmaps"]}]))),
        target: Some(Arc::new(target(ready("True", "Succeeded")))),
        provider_place: Some(place("platform/production")),
        provider: Some(Arc::new(provider(&["{consumer.namespace}"]))),
        consumer: Some(grants::consumer(&place("team-a/apps"), None)),
        streams: Some(streams(
            resolved(&["configmaps"], &[]),
            &[("configmaps", StreamState::Streaming)],
        )),
        request: None,
        now: NOW,
    }
}

/// The conditions as `Type=Status Reason`, the named ones only.
fn shown(observed: &Observed, types: &[&str]) -> Vec<String> {
    let status = decide(observed, &fixtures::settings()).status;
    let of = |type_: &&str| {
        let found = status
            .conditions
            .iter()
            .find(|condition| condition.type_ == *type_);
        found.map_or_else(
            || format!("{type_} absent"),
            |condition| format!("{type_}={} {}", condition.status, condition.reason),
        )
    };
    types.iter().map(of).collect()
}

const AXES: [&str; 5] = [
    "Ready",
    "SourceNamespaceAuthorized",
    "ResourcesResolved",
    "GitTargetReady",
    "StreamsRunning",
];

#[test]
fn a_rule_that_runs_is_ready_on_every_axis() {
    assert_eq!(
        shown(&running(), &AXES),
        [
            "Ready=True Succeeded",
            "SourceNamespaceAuthorized=True SourceNamespaceAllowed",
            "ResourcesResolved=True Resolved",
            "GitTargetReady=True Succeeded",
            "StreamsRunning=True AllStreamsReady",
        ]
    );
    let streams = decide(&running(), &fixtures::settings())
        .status
        .streams
        .unwrap();
    assert_eq!(
        (streams.summary.as_str(), streams.pending_sample.len()),
        ("1/1", 0)
    );
}

#[test]
fn each_axis_can_fail_on_its_own() {
    let blocked = |reason: &str| StreamState::Blocked {
        reason: reason.to_owned(),
        message: "m".to_owned(),
        since: 0,
    };
    let of_streams = |resolution, states: &[(&str, StreamState)]| Observed {
        streams: Some(streams(resolution, states)),
        ..running()
    };
    let of_rules = |rules| Observed {
        object: Arc::new(rule(rules)),
        ..running()
    };
    let overlap = RuleResolution::Overlaps {
        message: "both rules".to_owned(),
    };
    for (name, observed, ready, axis) in [
        (
            "no target",
            Observed {
                target: None,
                ..running()
            },
            "False GitTargetNotFound",
            "GitTargetReady absent",
        ),
        (
            "target not ready",
            Observed {
                target: Some(Arc::new(target(ready("False", "UnsupportedContent")))),
                ..running()
            },
            "False UnsupportedContent",
            "GitTargetReady=False UnsupportedContent",
        ),
        (
            "another namespace",
            of_rules(json!([{"resources": ["secrets"], "sourceNamespace": "kube-system"}])),
            "False SourceNamespaceNotAllowed",
            "SourceNamespaceAuthorized=False SourceNamespaceNotAllowed",
        ),
        (
            "bad selector",
            of_rules(json!([{"resources": ["secrets"], "objectSelector": {
                "matchExpressions": [{"key": "team", "operator": "Gt", "values": ["1"]}]}}])),
            "False InvalidObjectSelector",
            "ResourcesResolved=False InvalidObjectSelector",
        ),
        (
            "overlap",
            of_streams(overlap, &[]),
            "False CollectionOverlap",
            "ResourcesResolved=False CollectionOverlap",
        ),
        (
            "replaying",
            of_streams(
                resolved(&["configmaps"], &[]),
                &[("configmaps", StreamState::Replaying { received: 3 })],
            ),
            "False InitialReplay",
            "StreamsRunning=False InitialReplay",
        ),
        (
            "403",
            of_streams(
                resolved(&["configmaps"], &[]),
                &[("configmaps", blocked("WatchNotPermitted"))],
            ),
            "False WatchNotPermitted",
            "StreamsRunning=False WatchNotPermitted",
        ),
        (
            "not asked yet",
            Observed {
                streams: None,
                ..running()
            },
            "False Checking",
            "StreamsRunning=Unknown NotReady",
        ),
        (
            "nothing served",
            of_streams(
                resolved(&[], &["widgets is not served by the cluster"]),
                &[],
            ),
            "True Succeeded",
            "ResourcesResolved=False UnresolvedResources",
        ),
    ] {
        let type_ = axis.split(['=', ' ']).next().unwrap();
        assert_eq!(
            shown(&observed, &["Ready", type_]),
            [format!("Ready={ready}"), axis.to_owned()],
            "{name}"
        );
    }
}

#[test]
fn a_grant_that_is_gone_refuses_a_running_rule() {
    let revoked = Observed {
        provider: Some(Arc::new(provider(&["other"]))),
        ..running()
    };
    assert_eq!(
        shown(&revoked, &["Ready", "Stalled"]),
        [
            "Ready=False SourceNamespaceNotAllowed",
            "Stalled=True SourceNamespaceNotAllowed"
        ]
    );
}
