use std::sync::Arc;
use std::time::Duration;

use board::{
    BaseView, BranchView, IntakeState, JournalState, ProvedBy, Publication, PublicationFault,
};
use crds::{GitBranch, GitProvider};
use model::{BranchName, CommitId, GitBranchKey, RepositoryUrl};
use policy::ClaimState;
use serde_json::{Value, json};

use super::decide::{Decision, Step, decide};
use super::observe::{Observed, Proven};
use super::standing::{Standing, question, standing};
use crate::claims::Question;
use crate::convert::{conditions, grants};
use crate::fixtures::{self, NOW, object, place, ready};
use crate::proof::ProofFault;

const REPOSITORY: &str = "https://git.example.com/platform/config.git";

fn provider(patterns: &[&str], more: Value) -> GitProvider {
    let grant = json!([{"consumerNamespaces": {"from": "All"}, "branchPatterns": patterns}]);
    object(
        "GitProvider",
        "platform/shared-repo",
        json!({"url": REPOSITORY, "allowedGitBranches": grant}),
        more,
    )
}

fn git_branch(more: Value) -> GitBranch {
    let spec = json!({"gitProviderRef": {"name": "shared-repo", "namespace": "platform"}, "branch": "main"});
    object("GitBranch", "team-a/live", spec, more)
}

fn view(publication: Publication) -> BranchView {
    BranchView {
        key: key(),
        repository: RepositoryUrl::new(REPOSITORY).unwrap().id(),
        branch: BranchName::new("main").unwrap(),
        base: Some(BaseView {
            commit: Some(CommitId::new("0123456789abcdef0123456789abcdef01234567").unwrap()),
            proved_at: NOW - 1_000,
            proved_by: ProvedBy::Fetch,
            parent: None,
        }),
        foreign: None,
        window: None,
        pending: Vec::new(),
        queued: 0,
        buffered_bytes: 0,
        publication,
        intake: IntakeState::Open,
        journal: JournalState::Healthy,
        last_push: None,
        targets: Default::default(),
    }
}

fn failing(fault: PublicationFault) -> BranchView {
    view(Publication::Failing {
        since: NOW,
        fault,
        message: "the host said no".to_owned(),
        attempts: 1,
        retry_at: NOW,
    })
}

fn key() -> GitBranchKey {
    GitBranchKey::from(&place("team-a/live"))
}

/// A GitBranch that is admitted, proved, holds its branch, and whose writer is well.
fn holds() -> Observed {
    let finalizers = json!({"metadata": {"finalizers": [crds::GIT_BRANCH_FINALIZER]}});
    Observed {
        place: place("team-a/live"),
        key: key(),
        object: Arc::new(git_branch(finalizers)),
        provider_place: Some(place("platform/shared-repo")),
        provider: Some(Arc::new(provider(&["*"], ready("True", "Succeeded")))),
        consumer: grants::consumer(&place("team-a/live"), None),
        target_count: 2,
        request: None,
        now: NOW,
        proof: Some(Proven {
            access: None,
            result: Ok(()),
        }),
        claim: ClaimState::Holds,
        view: Some(Arc::new(view(Publication::Healthy))),
        remote_written_at: None,
        journal_key: None,
        drained: false,
    }
}

#[test]
fn a_branch_that_waits_for_its_turn_says_since_when_and_at_which_host() {
    let mut observed = holds();
    observed.view = Some(Arc::new(view(Publication::Waiting { since: NOW })));
    let status = decision(&observed).status;
    let ready = conditions::ready(&status.conditions).unwrap();
    assert_eq!(ready.status, "False");
    assert!(
        ready.message.contains("for a turn at git.example.com"),
        "{}",
        ready.message
    );
}

fn decision(observed: &Observed) -> Decision {
    decide(observed, &standing(observed), &fixtures::settings())
}

/// `Ready/Reconciling/Stalled reason`, and what is done.
fn outcome(observed: &Observed) -> (String, Step) {
    let decision = decision(observed);
    let status = |type_: &str| {
        let all = &decision.status.conditions;
        all.iter()
            .find(|condition| condition.type_ == type_)
            .unwrap()
            .status
            .clone()
    };
    let reason = &conditions::ready(&decision.status.conditions)
        .unwrap()
        .reason;
    let three = format!(
        "{}/{}/{} {reason}",
        status("Ready"),
        status("Reconciling"),
        status("Stalled")
    );
    (three, decision.step)
}

fn fault() -> ProofFault {
    ProofFault {
        message: "HTTP 401".to_owned(),
        needs_change: true,
    }
}

#[test]
fn every_way_to_be_not_ready_says_which_one_it_is() {
    let cases: [(&str, Observed, &str, Step); 12] = [
        ("well", holds(), "True/False/False Succeeded", Step::Keep),
        (
            "no provider",
            Observed {
                provider: None,
                claim: ClaimState::Absent,
                ..holds()
            },
            "False/False/True GitProviderNotFound",
            Step::Nothing,
        ),
        (
            "no grant",
            Observed {
                provider: Some(Arc::new(provider(&["teams/*"], json!({})))),
                claim: ClaimState::GivesUp,
                ..holds()
            },
            "False/False/True BranchNotAllowed",
            Step::Drain,
        ),
        (
            "provider not ready",
            Observed {
                provider: Some(Arc::new(provider(
                    &["*"],
                    ready("False", "ConnectionFailed"),
                ))),
                ..holds()
            },
            "False/True/False GitProviderNotReady",
            Step::Keep,
        ),
        (
            "session refused",
            Observed {
                proof: Some(Proven {
                    access: None,
                    result: Err(fault()),
                }),
                claim: ClaimState::Absent,
                view: None,
                ..holds()
            },
            "False/True/False PushSessionFailed",
            Step::Nothing,
        ),
        (
            "a holder's session refused",
            Observed {
                proof: Some(Proven {
                    access: None,
                    result: Err(fault()),
                }),
                ..holds()
            },
            "False/True/False PushSessionFailed",
            Step::Keep,
        ),
        (
            "another holds it",
            Observed {
                claim: ClaimState::Waits {
                    behind: Some(GitBranchKey::from(&place("x/old"))),
                },
                ..holds()
            },
            "False/False/True BranchConflict",
            Step::Nothing,
        ),
        (
            "starting",
            Observed {
                view: None,
                ..holds()
            },
            "False/True/False Progressing",
            Step::Keep,
        ),
        (
            "refused by the host",
            Observed {
                view: Some(Arc::new(failing(PublicationFault::PushRefused))),
                ..holds()
            },
            "False/True/False PushRefused",
            Step::Keep,
        ),
        (
            "no parent",
            Observed {
                view: Some(Arc::new(failing(PublicationFault::ParentMissing))),
                ..holds()
            },
            "False/False/True ParentBranchNotFound",
            Step::Keep,
        ),
        (
            "unreachable",
            Observed {
                view: Some(Arc::new(failing(PublicationFault::Unreachable))),
                ..holds()
            },
            "False/True/False PushSessionFailed",
            Step::Keep,
        ),
        (
            "no finalizer yet",
            Observed {
                object: Arc::new(git_branch(json!({}))),
                ..holds()
            },
            "True/False/False Succeeded",
            Step::HoldOn,
        ),
    ];
    for (name, observed, expected, step) in cases {
        assert_eq!(outcome(&observed), (expected.to_owned(), step), "{name}");
    }
}

#[test]
fn a_deleted_branch_drains_before_its_finalizer_goes() {
    let leaving = json!({"metadata": {
        "finalizers": [crds::GIT_BRANCH_FINALIZER], "deletionTimestamp": "2026-01-02T00:00:00Z",
    }});
    let of = |claim, drained| Observed {
        object: Arc::new(git_branch(leaving.clone())),
        claim,
        drained,
        ..holds()
    };
    assert_eq!(outcome(&of(ClaimState::GivesUp, false)).1, Step::Drain);
    assert_eq!(outcome(&of(ClaimState::GivesUp, true)).1, Step::Released);
    assert_eq!(outcome(&of(ClaimState::Absent, false)).1, Step::LetGo);
    assert_eq!(
        decision(&of(ClaimState::GivesUp, true)).next,
        Duration::ZERO
    );
}

#[test]
fn the_desk_is_told_what_the_grant_and_the_session_allow() {
    let of =
        |observed: &Observed, before: ClaimState| question(observed, &standing(observed), &before);
    assert!(matches!(
        of(&holds(), ClaimState::Absent),
        Some(Question::Offer(_))
    ));
    let failed = Observed {
        proof: Some(Proven {
            access: None,
            result: Err(fault()),
        }),
        ..holds()
    };
    assert!(
        matches!(of(&failed, ClaimState::Holds), Some(Question::Offer(_))),
        "a holder keeps its branch"
    );
    let waits = ClaimState::Waits { behind: None };
    assert_eq!(
        of(&failed, waits),
        Some(Question::Withdraw(key())),
        "others have to prove it"
    );
    let refused = Observed {
        provider: Some(Arc::new(provider(&["teams/*"], json!({})))),
        ..holds()
    };
    assert_eq!(
        of(&refused, ClaimState::Holds),
        Some(Question::Withdraw(key()))
    );
    let unready = Observed {
        provider: Some(Arc::new(provider(&["*"], json!({})))),
        ..holds()
    };
    assert_eq!(
        of(&unready, ClaimState::Holds),
        None,
        "a provider that is not Ready takes nothing away"
    );
    assert_eq!(
        of(&holds(), ClaimState::GivesUp),
        None,
        "the writer drains first"
    );
}

#[test]
fn a_branch_that_is_not_admitted_is_never_proved() {
    let refused = Observed {
        provider: Some(Arc::new(provider(&["teams/*"], json!({})))),
        ..holds()
    };
    let Standing::Refused { reason, message } = standing(&refused) else {
        panic!("it is refused");
    };
    assert_eq!(reason, "BranchNotAllowed");
    assert!(message.starts_with(
        "namespace \"team-a\" may claim \"teams/*\" through GitProvider platform/shared-repo \
         (spec.allowedGitBranches); requested branch \"main\" is not allowed"
    ));
}

#[test]
fn the_remote_is_published_at_once_and_then_once_a_minute() {
    let first = decision(&holds());
    let remote = first.status.remote.clone().unwrap();
    assert!(first.remote_is_fresh);
    assert_eq!(
        first.status.repository.as_deref(),
        Some("git.example.com/platform/config")
    );
    assert_eq!(first.status.git_target_count, Some(2));

    let finalizers = json!([crds::GIT_BRANCH_FINALIZER]);
    let published = json!({"status": first.status, "metadata": {"finalizers": finalizers}});
    let later = |at: u64| {
        let mut moved = view(Publication::Healthy);
        moved.base.as_mut().unwrap().proved_at = at;
        Observed {
            object: Arc::new(git_branch(published.clone())),
            view: Some(Arc::new(moved)),
            remote_written_at: Some(NOW),
            now: at,
            ..holds()
        }
    };
    let waiting = decision(&later(NOW + 20_000));
    assert_eq!(waiting.status.remote, Some(remote));
    assert_eq!(waiting.next, Duration::from_secs(40));
    assert!(decision(&later(NOW + 60_000)).remote_is_fresh);
}

#[test]
fn a_parent_that_is_back_is_reported_until_what_was_held_is_out() {
    let mut recovering = view(Publication::Healthy);
    recovering.pending.push(board::PendingView {
        target: model::TargetKey::from(&place("team-a/apps")),
        objects: 3,
        since: NOW,
    });
    let mut before = ready("False", "ParentBranchNotFound");
    before["metadata"] = json!({"finalizers": [crds::GIT_BRANCH_FINALIZER]});
    let observed = Observed {
        object: Arc::new(git_branch(before)),
        view: Some(Arc::new(recovering.clone())),
        ..holds()
    };
    assert_eq!(
        outcome(&observed).0,
        "False/True/False RecoveringParentBranch"
    );
    let ordinary = Observed {
        view: Some(Arc::new(recovering)),
        ..holds()
    };
    assert_eq!(outcome(&ordinary).0, "True/False/False Succeeded");
}

#[test]
fn d33_a_branch_whose_journal_is_not_read_yet_is_not_ready_and_says_why() {
    let mut waits = view(Publication::Healthy);
    waits.journal = JournalState::Unread { since: NOW };
    let observed = Observed {
        view: Some(Arc::new(waits)),
        ..holds()
    };
    assert_eq!(outcome(&observed).0, "False/True/False StorageUnavailable");
    let status = decision(&observed).status;
    let ready = conditions::ready(&status.conditions).unwrap();
    assert!(
        ready.message.contains("nothing is mirrored before it is"),
        "{}",
        ready.message
    );
}

#[test]
fn d33_a_journal_that_fails_is_told_and_holds_nothing_up() {
    let journal = |observed: &Observed| {
        let decision = decision(observed);
        let all = decision.status.conditions;
        let found = all.iter().find(|one| one.type_ == "JournalWritten");
        found.map(|one| (one.status.clone(), one.reason.clone(), one.message.clone()))
    };
    let mut observed = holds();
    let (status, reason, _) = journal(&observed).unwrap();
    assert_eq!((status.as_str(), reason.as_str()), ("True", "Succeeded"));

    observed.journal_key = Some(Err("the Secret is empty".to_owned()));
    let (status, reason, message) = journal(&observed).unwrap();
    assert_eq!(
        (status.as_str(), reason.as_str()),
        ("False", "SecretMalformed")
    );
    assert!(message.contains("the Secret is empty"), "{message}");

    let mut failing = view(Publication::Healthy);
    failing.journal = JournalState::Failing {
        since: NOW,
        message: "appending failed; free space".to_owned(),
    };
    observed.view = Some(Arc::new(failing));
    let (status, reason, message) = journal(&observed).unwrap();
    assert_eq!(
        (status.as_str(), reason.as_str()),
        ("False", "StorageUnavailable")
    );
    assert!(
        message.contains("appending failed; free space"),
        "{message}"
    );
    assert_eq!(
        outcome(&observed),
        ("True/False/False Succeeded".to_owned(), Step::Keep)
    );

    observed.view = None;
    assert_eq!(journal(&observed), None, "no writer, no journal");
}
