use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use board::{
    ApiHealth, BranchView, CollectionProgress, FolderState, IntakeState, JournalState, LayoutView,
    Publication, PublicationFault, RuleResolution, SourceView, StreamState, StreamView,
    TargetStreams, TargetView,
};
use crds::{GitBranch, GitTarget, KubeProvider, WatchRule};
use fleet::TargetEncryption;
use manifests::placement::TypeKey;
use model::{
    Actor, BranchName, Collection, CommitId, FolderPath, GitBranchKey, Layout, Refusal,
    RefusalCode, RefusalScope, RenderRoot, RepositoryUrl, RuleKey, Scope, Selector, Sensitivity,
    TargetKey, TypeId,
};
use policy::{EncryptionGate, EncryptionProblem};
use serde_json::{Value, json};

use super::decide::{Decision, Mirror, decide};
use super::encryption::Prepared;
use super::observe::{Candidate, Observed};
use crate::convert::grants;
use crate::fixtures::{self, NOW, object, place, ready};

fn target(at: &str, path: &str, more: Value) -> Arc<GitTarget> {
    let spec = json!({
        "gitBranchRef": {"name": "live", "namespace": "team-a"}, "path": path,
        "kubeProviderRef": {"name": "production", "namespace": "platform"},
    });
    Arc::new(object("GitTarget", at, spec, more))
}

fn branch(writers: Value) -> Arc<GitBranch> {
    let spec =
        json!({"gitProviderRef": {"name": "p"}, "branch": "main", "allowedGitTargets": writers});
    Arc::new(object(
        "GitBranch",
        "team-a/live",
        spec,
        ready("True", "Succeeded"),
    ))
}

fn provider(consumers: &str) -> Arc<KubeProvider> {
    let grant = json!([{"consumerNamespaces": {"from": consumers}, "sourceNamespaces": ["{consumer.namespace}"]}]);
    let spec = json!({"inCluster": {}, "allowedGitTargets": grant});
    Arc::new(object(
        "KubeProvider",
        "platform/production",
        spec,
        ready("True", "Succeeded"),
    ))
}

fn rule() -> Arc<WatchRule> {
    let spec = json!({"gitTargetRef": {"name": "apps"}, "rules": [{"resources": ["configmaps"]}]});
    Arc::new(object("WatchRule", "team-a/all", spec, json!({})))
}

fn candidate(object: Arc<GitTarget>) -> Candidate {
    let at = crate::place::Place::of(object.as_ref()).unwrap();
    Candidate {
        branch_place: Some(place("team-a/live")),
        branch: Some(branch(json!([{"consumerNamespaces": {"from": "All"}}]))),
        provider_place: Some(place("platform/production")),
        provider: Some(provider("All")),
        consumer: grants::consumer(&at, None),
        place: at,
        object,
    }
}

fn collection() -> Collection {
    Collection {
        type_id: TypeId::new("", "configmaps"),
        scope: Scope::Namespace(place("team-a/x").namespace),
        selector: Selector::everything(),
    }
}

fn source_view(state: StreamState, generation: u64) -> Arc<SourceView> {
    let resolved = RuleResolution::Resolved {
        collections: vec![collection()],
        unresolved: Vec::new(),
    };
    let streams = TargetStreams {
        generation,
        streams: BTreeMap::from([(
            collection(),
            StreamView {
                state,
                left_out: BTreeMap::new(),
            },
        )]),
        rules: BTreeMap::from([(RuleKey::from(&place("team-a/all")), resolved)]),
    };
    Arc::new(SourceView {
        api: ApiHealth::Reachable {
            followable_types: 9,
        },
        targets: BTreeMap::from([(key(), streams)]),
    })
}

fn branch_view(target: TargetView, publication: Publication) -> Arc<BranchView> {
    Arc::new(BranchView {
        key: GitBranchKey::from(&place("team-a/live")),
        repository: RepositoryUrl::new("https://git.example.com/r")
            .unwrap()
            .id(),
        branch: BranchName::new("main").unwrap(),
        base: None,
        foreign: None,
        window: None,
        pending: Vec::new(),
        queued: 0,
        buffered_bytes: 0,
        publication,
        intake: IntakeState::Open,
        journal: JournalState::Healthy,
        last_push: None,
        targets: BTreeMap::from([(key(), target)]),
    })
}

fn mirrored(progress: CollectionProgress) -> TargetView {
    TargetView {
        folder: FolderState::Accepted,
        collections: BTreeMap::from([(collection(), progress)]),
        last_commit: Some(CommitId::new("0123456789abcdef0123456789abcdef01234567").unwrap()),
        ..TargetView::default()
    }
}

fn key() -> TargetKey {
    TargetKey::from(&place("team-a/apps"))
}

/// A target that nothing was asked for yet, with everything it needs in place.
fn new() -> Observed {
    let subject = candidate(target("team-a/apps", "apps", json!({})));
    Observed {
        key: key(),
        siblings: vec![subject.clone()],
        providers: vec![provider("All")],
        rules: vec![rule()],
        encryption: Prepared::off(),
        sensitivity: Sensitivity::default(),
        branch_view: None,
        source_view: None,
        order: None,
        generation: 0,
        resynced: BTreeMap::new(),
        request: None,
        now: NOW,
        subject,
    }
}

/// The same target once it was asked for and its first replay is in Git.
fn running() -> Observed {
    let Mirror::Start(order) = decision(&new()).mirror else {
        panic!("a valid target is mirrored");
    };
    Observed {
        generation: order.generation,
        order: Some(*order),
        branch_view: Some(branch_view(
            mirrored(CollectionProgress::Published),
            Publication::Healthy,
        )),
        source_view: Some(source_view(StreamState::Streaming, 1)),
        ..new()
    }
}

fn with_subject(mut observed: Observed, change: impl FnOnce(&mut Candidate)) -> Observed {
    change(&mut observed.subject);
    observed.siblings = vec![observed.subject.clone()];
    observed
}

fn decision(observed: &Observed) -> Decision {
    decide(observed, &fixtures::settings())
}

/// A condition as `Status Reason`.
fn shown(observed: &Observed, type_: &str) -> String {
    let status = decision(observed).status;
    let found = status
        .conditions
        .iter()
        .find(|condition| condition.type_ == type_)
        .unwrap();
    format!("{} {}", found.status, found.reason)
}

fn message(observed: &Observed) -> String {
    let status = decision(observed).status;
    crate::convert::conditions::ready(&status.conditions)
        .unwrap()
        .message
        .clone()
}

fn refusal(code: RefusalCode) -> Refusal {
    Refusal {
        code,
        issue: None,
        scope: RefusalScope::Object,
        object: None,
        at: None,
        actor: Actor::Platform,
        message: "no".to_owned(),
        remedy: "change it".to_owned(),
    }
}

#[test]
fn a_valid_target_is_asked_for_once_and_ready_when_its_replay_is_in_git() {
    assert_eq!(shown(&new(), "Ready"), "False NotChecked");
    let observed = running();
    assert_eq!(decision(&observed).mirror, Mirror::Unchanged);
    assert_eq!(shown(&observed, "Ready"), "True Succeeded");
    let status = decision(&observed).status;
    assert_eq!(status.branch.as_deref(), Some("main"));
    assert_eq!(status.streams.unwrap().summary, "1/1");
    assert_eq!(decision(&observed).next, Duration::from_secs(300));
}

#[test]
fn until_its_replay_is_in_git_it_says_how_far_it_is() {
    let at = |progress, state| Observed {
        branch_view: Some(branch_view(mirrored(progress), Publication::Healthy)),
        source_view: Some(source_view(state, 1)),
        ..running()
    };
    let decided = at(CollectionProgress::Decided, StreamState::Streaming);
    assert_eq!(shown(&decided, "Ready"), "False Progressing");
    assert_eq!(
        message(&decided),
        "first replay: everything is committed and waits for its push"
    );
    let queued = at(CollectionProgress::Queued, StreamState::Streaming);
    assert_eq!(
        message(&queued),
        "first replay: 0 of 1 collections are committed"
    );
    let replaying = at(
        CollectionProgress::Published,
        StreamState::Replaying { received: 1 },
    );
    assert_eq!(shown(&replaying, "StreamsRunning"), "False InitialReplay");
    let older = Observed {
        source_view: Some(source_view(StreamState::Streaming, 0)),
        ..running()
    };
    assert_eq!(
        shown(&older, "StreamsRunning"),
        "False NotReady",
        "an answer to an older order says nothing"
    );
}

#[test]
fn each_problem_stops_the_mirror_and_names_itself() {
    let nobody = json!([]);
    for (name, observed, reason) in [
        (
            "no branch",
            with_subject(running(), |subject| subject.branch = None),
            "GitBranchNotFound",
        ),
        (
            "no provider",
            with_subject(running(), |subject| subject.provider = None),
            "KubeProviderNotFound",
        ),
        (
            "not a writer",
            with_subject(running(), |subject| subject.branch = Some(branch(nobody))),
            "NamespaceNotAuthorized",
        ),
        (
            "not a consumer",
            with_subject(running(), |subject| {
                subject.provider = Some(provider("Same"));
            }),
            "NamespaceNotAuthorized",
        ),
        (
            "a template that is not supported",
            with_subject(running(), |subject| {
                let message = json!({"liveTemplate": "{{html .Author}}"});
                let spec = json!({"spec": {"commit": {"message": message}}});
                subject.object = target("team-a/apps", "apps", spec);
            }),
            "InvalidConfig",
        ),
    ] {
        assert_eq!(
            shown(&observed, "Validated"),
            format!("False {reason}"),
            "{name}"
        );
        assert_eq!(
            shown(&observed, "Stalled"),
            format!("True {reason}"),
            "{name}"
        );
        assert_eq!(decision(&observed).mirror, Mirror::Stop, "{name}");
    }
}

#[test]
fn only_an_admitted_older_target_takes_the_folder() {
    let older = |at: &str| {
        let old = json!({"metadata": {"creationTimestamp": "2025-01-01T00:00:00Z"}});
        candidate(target(at, "apps/nested", old))
    };
    let mut observed = running();
    observed.siblings.push(older("team-a/old"));
    assert_eq!(shown(&observed, "Validated"), "False TargetConflict");
    assert!(
        message(&observed).contains("GitTarget team-a/old"),
        "{}",
        message(&observed)
    );
    let mut observed = running();
    let mut stranger = older("team-b/old");
    stranger.branch = Some(branch(json!([{"consumerNamespaces": {"from": "Same"}}])));
    observed.siblings.push(stranger);
    assert_eq!(shown(&observed, "Validated"), "True Succeeded");
}

#[test]
fn an_outage_is_progress_and_keeps_the_mirror() {
    let failing = Publication::Failing {
        since: NOW - 60_000,
        fault: PublicationFault::Unreachable,
        message: "the host cannot be reached".to_owned(),
        attempts: 2,
        retry_at: NOW + 20_000,
    };
    let observed = Observed {
        branch_view: Some(branch_view(
            mirrored(CollectionProgress::Published),
            failing,
        )),
        ..running()
    };
    assert_eq!(shown(&observed, "Ready"), "False Progressing");
    assert_eq!(shown(&observed, "Stalled"), "False Progressing");
    assert!(
        message(&observed).starts_with("nothing could be published since 2025-10-21T09:13:10Z: ")
    );
    assert_eq!(decision(&observed).mirror, Mirror::Unchanged);
}

#[test]
fn refusals_go_to_the_condition_that_they_are_about() {
    let with = |code| {
        let view = TargetView {
            refused: vec![refusal(code)],
            ..mirrored(CollectionProgress::Published)
        };
        Observed {
            branch_view: Some(branch_view(view, Publication::Healthy)),
            ..running()
        }
    };
    assert_eq!(
        shown(&with(RefusalCode::WriteBoundaryRefused), "GitPathAccepted"),
        "False WriteBoundaryRefused"
    );
    let render = with(RefusalCode::RenderDoesNotMatchLive);
    assert_eq!(
        shown(&render, "RenderMatchesLive"),
        "False RenderDoesNotMatchLive"
    );
    let secret = with(RefusalCode::EncryptionNotConfigured);
    assert_eq!(shown(&secret, "Ready"), "True Succeeded", "the others land");
    assert!(
        message(&secret).contains("except 1 object(s) that are refused"),
        "{}",
        message(&secret)
    );
}

fn commit(digit: &str) -> CommitId {
    CommitId::new(digit.repeat(40)).unwrap()
}

/// A target whose status says `placement`, and whose branch writer found `layout`.
fn resolved(placement: Value, layout: Option<LayoutView>) -> Observed {
    let view = TargetView {
        layout,
        ..mirrored(CollectionProgress::Published)
    };
    let observed = Observed {
        branch_view: Some(branch_view(view, Publication::Healthy)),
        ..running()
    };
    with_subject(observed, |subject| {
        let status = json!({"status": {"placement": placement}});
        subject.object = target("team-a/apps", "apps", status);
    })
}

#[test]
fn rf_5_placement_is_dated_by_the_change_also_over_a_restart() {
    let overlay = Layout::Kustomized(RenderRoot {
        folder: FolderPath::new("apps").unwrap(),
        below: ".".to_owned(),
        read_only_bases: vec!["../../base".to_owned()],
    });
    let found = |layout: &Layout, at: Option<&str>, changed_at| {
        let commit = at.map(commit);
        let layout = layout.clone();
        Some(LayoutView {
            layout,
            commit,
            changed_at,
        })
    };
    let dated = |mut stanza: Value, digit: &str, at: &str| {
        stanza["resolvedAtCommit"] = json!(digit.repeat(40));
        stanza["resolvedAt"] = json!(at);
        stanza
    };
    let written =
        json!({"mode": "KustomizeOverlay", "renderRoot": ".", "readOnlyBases": ["../../base"]});
    let plain = json!({"mode": "Plain"});
    let (now, earlier) = ("2025-10-21T09:14:10Z", "2025-01-01T00:00:00Z");
    let before = dated(written.clone(), "a", earlier);
    let undated = json!({"mode": "Plain", "resolvedAt": earlier});
    let changed = Some(NOW - 60_000);
    for (name, status, layout, expected) in [
        ("nobody has looked", before.clone(), None, before.clone()),
        (
            "the first look of all",
            json!(null),
            found(&overlay, Some("b"), None),
            dated(written.clone(), "b", now),
        ),
        (
            "a restart finds it as it was",
            before.clone(),
            found(&overlay, Some("b"), None),
            before.clone(),
        ),
        (
            "a restart finds another one",
            before.clone(),
            found(&Layout::Plain, Some("b"), None),
            dated(plain.clone(), "b", now),
        ),
        (
            "it changed while somebody watched",
            before,
            found(&overlay, Some("c"), changed),
            dated(written, "c", "2025-10-21T09:13:10Z"),
        ),
        (
            "no commit yet",
            undated.clone(),
            found(&Layout::Plain, None, None),
            undated.clone(),
        ),
        (
            "the first commit",
            undated,
            found(&Layout::Plain, Some("d"), None),
            dated(plain, "d", now),
        ),
    ] {
        let status = decision(&resolved(status, layout)).status;
        assert_eq!(
            serde_json::to_value(status.placement).unwrap(),
            expected,
            "{name}"
        );
    }
}

#[test]
fn rf_5_several_roots_are_no_mode_and_no_stall() {
    let roots = ["apps/prod", "apps/test"].map(|path| FolderPath::new(path).unwrap());
    let layout = LayoutView {
        layout: Layout::Ambiguous {
            roots: roots.into(),
        },
        commit: Some(commit("a")),
        changed_at: Some(NOW),
    };
    let observed = resolved(json!({"mode": "Plain"}), Some(layout));
    let placement = decision(&observed).status.placement.unwrap();
    assert_eq!((placement.mode, placement.render_root), (None, None));
    assert_eq!(placement.read_only_bases, None);
    assert!(placement.resolved_at.is_some());
    assert_eq!(shown(&observed, "LayoutResolved"), "False Ambiguous");
    assert_eq!(shown(&observed, "Ready"), "True Succeeded");
    let unknown = resolved(json!(null), None);
    assert_eq!(shown(&unknown, "LayoutResolved"), "Unknown NotChecked");
}

#[test]
fn suspending_changes_the_order_and_not_the_readiness() {
    let observed = with_subject(running(), |subject| {
        subject.object = target("team-a/apps", "apps", json!({"spec": {"suspend": true}}));
    });
    let Mirror::Start(order) = decision(&observed).mirror else {
        panic!("the branch writer has to know");
    };
    assert!(order.config.suspended);
    assert_eq!(order.generation, 2);
    let answered = Observed {
        generation: 2,
        order: Some(*order),
        source_view: Some(source_view(StreamState::Streaming, 2)),
        branch_view: Some(branch_view(
            mirrored(CollectionProgress::Queued),
            Publication::Healthy,
        )),
        ..observed
    };
    assert_eq!(shown(&answered, "Ready"), "True Suspended");
    assert!(decision(&answered).status.retention.is_none());
}

#[test]
fn a_fresh_snapshot_is_asked_for_once_in_a_while() {
    let view = TargetView {
        resync_needed: vec![collection()],
        ..mirrored(CollectionProgress::Published)
    };
    let asked = |resynced| Observed {
        branch_view: Some(branch_view(view.clone(), Publication::Healthy)),
        resynced,
        ..running()
    };
    assert_eq!(decision(&asked(BTreeMap::new())).resync, [collection()]);
    let recently = BTreeMap::from([(collection(), NOW - 1_000)]);
    assert!(decision(&asked(recently)).resync.is_empty());
}

#[test]
fn a_request_for_a_fresh_look_is_answered_and_acted_on() {
    let observed = Observed {
        request: Some("today".to_owned()),
        ..running()
    };
    let decision = decision(&observed);
    assert!(decision.look);
    assert_eq!(
        decision.status.last_handled_reconcile_at.as_deref(),
        Some("today")
    );
}

#[test]
fn d13_windows_have_their_defaults() {
    let window = |commit: Value| {
        let object = target(
            "team-a/apps",
            "apps",
            json!({"spec": {"commit": {"window": commit}}}),
        );
        super::config::read(&key(), &object, &Sensitivity::default())
            .map(|config| (config.window.idle, config.window.longest))
    };
    assert_eq!(window(json!({})).unwrap(), (5_000, 60_000));
    assert_eq!(
        window(json!({"maxDuration": "3s"})).unwrap(),
        (3_000, 3_000)
    );
    assert_eq!(
        window(json!({"idleTimeout": "0s", "maxDuration": "1m"})).unwrap(),
        (0, 60_000)
    );
    assert!(window(json!({"idleTimeout": "2m", "maxDuration": "1m"})).is_err());
}

#[test]
fn pl_14_placement_is_validated_and_every_field_at_fault_is_named() {
    let observed = |placement: Value| {
        with_subject(running(), |subject| {
            let spec = json!({"spec": {"placement": placement}});
            subject.object = target("team-a/apps", "apps", spec);
        })
    };
    let secrets = "{namespace}/secrets/{name}.yaml";
    let sound = observed(json!({
        "byType": {"v1/secrets": secrets, "v1/configmaps": "{label:team|}/all.yaml"},
        "default": "{kindLower}-{name}{sensitiveSuffix}", "useKustomize": false,
    }));
    assert_eq!(shown(&sound, "Validated"), "True Succeeded");
    let Mirror::Start(order) = decision(&sound).mirror else {
        panic!("another placement is another order");
    };
    let key = TypeKey::parse("v1/secrets").unwrap();
    let template = order.config.placement.template_of(&key).unwrap();
    assert_eq!(template.as_str(), secrets);

    let faulty = observed(json!({
        "byType": {"apps/v1/deployments": "../{nmae}.yaml", "v1/secrets": "all.yaml"},
        "default": "{name|x}.yaml",
    }));
    assert_eq!(shown(&faulty, "Validated"), "False InvalidConfig");
    for field in [
        "spec.placement.byType[apps/v1/deployments]",
        "spec.placement.byType[v1/secrets]",
        "spec.placement.default",
    ] {
        assert!(message(&faulty).contains(field), "{}", message(&faulty));
    }

    let mut stricter = sound;
    stricter.sensitivity = Sensitivity::parse(["example.com/tokens"]).unwrap();
    assert_eq!(shown(&stricter, "Validated"), "False InvalidConfig");
}

/// A target whose encryption is known, under a stamp.
fn sealing(stamp: &str) -> Prepared {
    let message = "sensitive objects are encrypted for one recipient".to_owned();
    Prepared {
        gate: EncryptionGate::Ready { message },
        order: Some(TargetEncryption {
            stamp: stamp.to_owned(),
            encryption: Arc::default(),
        }),
        reminder: None,
    }
}

#[test]
fn d22b_other_keys_are_another_order_and_the_branch_writer_is_told_by_their_stamp() {
    let observed = Observed {
        encryption: sealing("for a"),
        ..running()
    };
    assert_eq!(shown(&observed, "EncryptionConfigured"), "True Succeeded");
    let Mirror::Start(order) = decision(&observed).mirror else {
        panic!("encryption was turned on");
    };
    assert_eq!(order.config.encryption.as_deref(), Some("for a"));
    let answered = Observed {
        order: Some(*order),
        ..observed
    };
    assert_eq!(decision(&answered).mirror, Mirror::Unchanged);
    let rotated = Observed {
        encryption: sealing("for b"),
        ..answered
    };
    assert!(matches!(decision(&rotated).mirror, Mirror::Start(_)));
}

#[test]
fn se_1_a_target_whose_keys_cannot_be_used_stops_and_says_why() {
    let observed = Observed {
        encryption: Prepared {
            gate: EncryptionGate::Problem {
                kind: EncryptionProblem::MissingSecret,
                message: "Secret team-a/keys does not exist".to_owned(),
            },
            order: None,
            reminder: None,
        },
        ..running()
    };
    assert_eq!(
        shown(&observed, "EncryptionConfigured"),
        "False MissingSecret"
    );
    assert_eq!(shown(&observed, "Stalled"), "True MissingSecret");
    assert_eq!(decision(&observed).mirror, Mirror::Stop);
    assert_eq!(
        shown(&running(), "EncryptionConfigured"),
        "True NotRequired"
    );
}
