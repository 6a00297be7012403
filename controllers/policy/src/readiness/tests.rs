use model::{
    Actor, FolderPath, GitBranchKey, KubeProviderKey, Namespace, ObjectName, Refusal, RefusalCode,
    RefusalScope, TargetKey,
};

use super::*;
use crate::conditions::{Condition, Summary};

/// A target that is Ready; each test spoils what it is about.
fn ready() -> TargetReadiness {
    TargetReadiness {
        problem: None,
        encryption: EncryptionGate::NotRequired,
        branch: ReadyGate::Ready,
        kube_provider: ReadyGate::Ready,
        source: SourceGate::LocalCluster,
        streams: streams(3, 3, &[]),
        path: PathGate::Accepted,
        layout: Some(Layout::Plain),
        render: RenderGate::Matches,
        outage: None,
        first_replay: FirstReplay::InGit,
        suspended: false,
    }
}

fn streams(tracked: usize, running: usize, blocked: &[&str]) -> StreamGate {
    StreamGate::Streams {
        tracked,
        running,
        blocked: blocked
            .iter()
            .map(|message| StreamTrouble::NotPermitted {
                message: (*message).to_owned(),
            })
            .collect(),
        intake_paused: false,
    }
}

fn outage() -> Outage {
    Outage {
        since: "2026-10-21T09:12:00Z".to_owned(),
        failed: "the remote refused the connection".to_owned(),
        intake_paused: false,
        retry_at: Some("2026-10-21T09:14:00Z".to_owned()),
    }
}

fn refusal(code: RefusalCode, message: &str) -> Refusal {
    Refusal {
        code,
        issue: None,
        scope: RefusalScope::Folder,
        object: None,
        at: None,
        actor: Actor::Author,
        message: message.to_owned(),
        remedy: "move it".to_owned(),
    }
}

fn summary(readiness: &TargetReadiness) -> (Summary, String) {
    let set = readiness.conditions();
    (set.summary(), set.reason().to_owned())
}

fn condition(readiness: &TargetReadiness, type_: &str) -> Condition {
    let all = readiness
        .conditions()
        .finish(&[], 1, "2026-10-21T09:12:00Z");
    all.into_iter()
        .find(|condition| condition.type_ == type_)
        .unwrap()
}

#[test]
fn each_gate_holds_the_target_back_in_its_own_way() {
    use Summary::{Ready, Reconciling, Stalled};
    let not_ready = || ReadyGate::NotReady {
        message: "x".to_owned(),
    };
    let folder = refusal(RefusalCode::UnsupportedContent, "the file does not parse");
    let cases: [(&str, TargetReadiness, Summary, &str); 16] = [
        ("all open", ready(), Ready, "Succeeded"),
        (
            "branch missing",
            TargetReadiness {
                problem: Some(TargetProblem::GitBranchNotFound(branch())),
                ..ready()
            },
            Stalled,
            "GitBranchNotFound",
        ),
        (
            "branch",
            TargetReadiness {
                branch: not_ready(),
                ..ready()
            },
            Reconciling,
            "GitBranchNotReady",
        ),
        (
            "provider",
            TargetReadiness {
                kube_provider: not_ready(),
                ..ready()
            },
            Reconciling,
            "KubeProviderNotReady",
        ),
        (
            "source",
            TargetReadiness {
                source: SourceGate::Unreachable {
                    message: "x".to_owned(),
                },
                ..ready()
            },
            Reconciling,
            "SourceClusterUnreachable",
        ),
        (
            "path",
            TargetReadiness {
                path: PathGate::Refused {
                    first: Box::new(folder),
                    more: 1,
                },
                ..ready()
            },
            Stalled,
            "UnsupportedContent",
        ),
        (
            "path unknown",
            TargetReadiness {
                path: PathGate::NotChecked,
                ..ready()
            },
            Reconciling,
            "NotChecked",
        ),
        (
            "replaying",
            TargetReadiness {
                streams: streams(3, 1, &[]),
                ..ready()
            },
            Reconciling,
            "InitialReplay",
        ),
        (
            "blocked",
            TargetReadiness {
                streams: streams(3, 1, &["403"]),
                ..ready()
            },
            Stalled,
            "WatchNotPermitted",
        ),
        (
            "no rules",
            TargetReadiness {
                streams: StreamGate::NoRules,
                ..ready()
            },
            Reconciling,
            "NoResolvedTypes",
        ),
        (
            "nothing served",
            TargetReadiness {
                streams: StreamGate::NothingServed,
                ..ready()
            },
            Ready,
            "Succeeded",
        ),
        (
            "render",
            TargetReadiness {
                render: RenderGate::Differs {
                    message: "x".to_owned(),
                },
                ..ready()
            },
            Stalled,
            "RenderDoesNotMatchLive",
        ),
        (
            "rechecking",
            TargetReadiness {
                render: RenderGate::Rechecking,
                ..ready()
            },
            Reconciling,
            "Rechecking",
        ),
        (
            "outage",
            TargetReadiness {
                outage: Some(outage()),
                ..ready()
            },
            Reconciling,
            "Progressing",
        ),
        (
            "first replay",
            TargetReadiness {
                first_replay: FirstReplay::Pushing,
                ..ready()
            },
            Reconciling,
            "Progressing",
        ),
        (
            "suspended",
            TargetReadiness {
                suspended: true,
                ..ready()
            },
            Ready,
            "Suspended",
        ),
    ];
    for (name, readiness, expected, reason) in cases {
        assert_eq!(summary(&readiness), (expected, reason.to_owned()), "{name}");
    }
}

#[test]
fn an_outage_explains_itself_before_the_branch_that_it_makes_unready() {
    let readiness = TargetReadiness {
        outage: Some(Outage {
            intake_paused: true,
            ..outage()
        }),
        branch: ReadyGate::NotReady {
            message: "PushSessionFailed".to_owned(),
        },
        ..ready()
    };
    let ready = condition(&readiness, "Ready");
    assert_eq!(
        (ready.reason.as_str(), ready.message.as_str()),
        (
            "Progressing",
            "nothing could be published since 2026-10-21T09:12:00Z: the remote refused the connection; \
             intake of new changes is paused; next attempt at 2026-10-21T09:14:00Z"
        )
    );
    assert_eq!(
        condition(&readiness, "Stalled").status,
        ConditionStatus::False
    );
    assert_eq!(
        condition(&readiness, "GitBranchReady").reason,
        "GitBranchNotReady"
    );
}

#[test]
fn a_target_is_ready_only_when_its_first_replay_is_in_git_and_says_how_far_it_is() {
    for (progress, message) in [
        (
            FirstReplay::Reading {
                complete: 2,
                collections: 5,
            },
            "first replay: 2 of 5 collections are read from the source cluster",
        ),
        (
            FirstReplay::Committing {
                settled: 4,
                collections: 5,
            },
            "first replay: 4 of 5 collections are committed",
        ),
        (
            FirstReplay::Pushing,
            "first replay: everything is committed and waits for its push",
        ),
    ] {
        let readiness = TargetReadiness {
            first_replay: progress,
            ..ready()
        };
        let ready = condition(&readiness, "Ready");
        assert_eq!(
            (ready.status, ready.message.as_str()),
            (ConditionStatus::False, message)
        );
    }
}

#[test]
fn a_suspended_target_needs_no_replay_and_every_other_gate_still_applies() {
    let suspended = TargetReadiness {
        suspended: true,
        first_replay: FirstReplay::Reading {
            complete: 0,
            collections: 1,
        },
        ..ready()
    };
    assert_eq!(
        summary(&suspended),
        (Summary::Ready, "Suspended".to_owned())
    );
    let broken = TargetReadiness {
        branch: ReadyGate::NotReady {
            message: "x".to_owned(),
        },
        ..suspended
    };
    assert_eq!(summary(&broken).0, Summary::Reconciling);
}

#[test]
fn paused_intake_is_shown_on_the_streams() {
    let paused = StreamGate::Streams {
        tracked: 2,
        running: 2,
        blocked: Vec::new(),
        intake_paused: true,
    };
    let readiness = TargetReadiness {
        streams: paused,
        outage: Some(outage()),
        ..ready()
    };
    assert_eq!(
        condition(&readiness, "StreamsRunning").reason,
        "BranchIntakePaused"
    );
    assert_eq!(summary(&readiness).1, "Progressing");
}

fn branch() -> GitBranchKey {
    GitBranchKey::new(
        Namespace::new("team-a").unwrap(),
        ObjectName::new("live").unwrap(),
    )
}

#[test]
fn every_problem_says_what_to_do_next() {
    let target = TargetKey::new(
        Namespace::new("team-a").unwrap(),
        ObjectName::new("old").unwrap(),
    );
    let provider = KubeProviderKey::new(
        Namespace::new("team-a").unwrap(),
        ObjectName::new("p").unwrap(),
    );
    for (problem, reason, next_step) in [
        (
            TargetProblem::GitBranchNotFound(branch()),
            "GitBranchNotFound",
            "create it",
        ),
        (
            TargetProblem::KubeProviderNotFound(provider.clone()),
            "KubeProviderNotFound",
            "create it",
        ),
        (
            TargetProblem::NotAuthorized(Box::new(refusal(
                RefusalCode::NamespaceNotAuthorized,
                "no",
            ))),
            "NamespaceNotAuthorized",
            "move it",
        ),
        (
            TargetProblem::AuditRouteConflict {
                provider,
                holder: Namespace::new("other").unwrap(),
            },
            "AuditRouteConflict",
            "spec.attribution.auditRoute",
        ),
        (
            TargetProblem::PathConflict {
                with: target,
                path: FolderPath::root(),
            },
            "TargetConflict",
            "choose a path",
        ),
        (
            TargetProblem::InvalidConfig(vec!["set x".to_owned()]),
            "InvalidConfig",
            "set x",
        ),
    ] {
        assert_eq!(problem.reason(), reason);
        assert!(
            problem.message().contains(next_step),
            "{}",
            problem.message()
        );
    }
}

#[test]
fn a_watch_that_is_tried_again_needs_nobody() {
    let failing = StreamTrouble::Failing {
        message: "configmaps: no connection".to_owned(),
    };
    let gate = |blocked: Vec<StreamTrouble>| TargetReadiness {
        streams: StreamGate::Streams {
            tracked: 3,
            running: 1,
            blocked,
            intake_paused: false,
        },
        ..ready()
    };
    assert_eq!(
        summary(&gate(vec![failing.clone()])),
        (Summary::Reconciling, "WatchError".to_owned())
    );
    let refused = StreamTrouble::NotPermitted {
        message: "secrets: 403".to_owned(),
    };
    let both = gate(vec![failing, refused]);
    assert_eq!(
        summary(&both),
        (Summary::Stalled, "WatchNotPermitted".to_owned())
    );
    assert_eq!(
        condition(&both, "Ready").message,
        "2 of 3 watches cannot run: secrets: 403"
    );
}

#[test]
fn rf_5_the_layout_is_told_and_holds_nothing_back() {
    let folder = |path: &str| FolderPath::new(path).unwrap();
    let root = |bases: &[&str]| {
        Layout::Kustomized(RenderRoot {
            folder: folder("apps"),
            below: ".".to_owned(),
            read_only_bases: bases.iter().map(|base| (*base).to_owned()).collect(),
        })
    };
    let several = |count: usize| Layout::Ambiguous {
        roots: (0..count).map(|n| folder(&format!("apps/{n}"))).collect(),
    };
    let told = |layout| {
        let readiness = TargetReadiness { layout, ..ready() };
        assert_eq!(readiness.conditions().summary(), Summary::Ready);
        let condition = condition(&readiness, "LayoutResolved");
        let status = condition.status.as_str();
        format!("{status} {}: {}", condition.reason, condition.message)
    };
    for (layout, expected) in [
        (None, "Unknown NotChecked: the folder is not scanned yet"),
        (
            Some(Layout::Plain),
            "True None: no kustomization governs the folder",
        ),
        (
            Some(root(&[])),
            "True SingleKustomization: render root \".\" governs new files",
        ),
        (
            Some(root(&["../../base"])),
            "True SingleKustomization: render root \".\" governs new files; it renders ../../base, which is read-only input",
        ),
        (
            Some(root(&["../a", "../b"])),
            "True SingleKustomization: render root \".\" governs new files; it renders ../a, ../b, which are read-only input",
        ),
        (
            Some(several(2)),
            "False Ambiguous: the folder covers 2 render roots, so a new document has no single place: apps/0, apps/1; \
             point spec.path at one of them and give each other one a GitTarget of its own",
        ),
    ] {
        assert_eq!(told(layout), expected);
    }
    let many = told(Some(several(200)));
    assert!(many.contains("apps/9 and 190 more;"), "{many}");
}
