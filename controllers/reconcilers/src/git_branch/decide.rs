//! Which conditions a GitBranch has, and what is asked of the fleet. Pure.

use std::time::Duration;

use board::{BranchView, JournalState, Publication, PublicationFault};
use crds::conditions::{ConditionType, Reason};
use crds::git_branch::GitBranchStatus;
use kube::ResourceExt;
use policy::conditions::PROGRESSING;
use policy::{ClaimState, ConditionSet, ConditionStatus, Summary, Verdict};

use super::observe::Observed;
use super::remote_status;
use super::standing::{self, Standing};
use crate::convert::{conditions, times};
use crate::settings::Settings;

/// What follows.
#[derive(Debug, PartialEq)]
pub(super) struct Decision {
    pub(super) status: GitBranchStatus,
    pub(super) step: Step,
    /// Whether `status.remote` goes out with a newer proof.
    pub(super) remote_is_fresh: bool,
    pub(super) next: Duration,
}

/// What is done besides the status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing.
    Nothing,
    /// Put the finalizer on, before the writer starts.
    HoldOn,
    /// Keep the writer running.
    Keep,
    /// Let the writer end.
    Drain,
    /// The writer has ended: say so at the claim desk.
    Released,
    /// Take the finalizer off, so that the object goes away.
    LetGo,
}

pub(super) fn decide(observed: &Observed, standing: &Standing, settings: &Settings) -> Decision {
    let before = observed.object.status.clone().unwrap_or_default();
    let generation = observed.object.metadata.generation;
    let set = judge(observed, standing, &before);
    let step = step(observed, standing);
    let repository = standing::repository(observed);
    let remote = repository
        .as_ref()
        .map(|repository| remote_status::remote(observed, repository, &before));
    let mut status = GitBranchStatus {
        conditions: conditions::finish(&set, &before.conditions, generation, observed.now),
        observed_generation: generation,
        git_target_count: Some(i32::try_from(observed.target_count).unwrap_or(i32::MAX)),
        ..before
    };
    if let Some(repository) = &repository {
        status.repository = Some(repository.to_string());
    }
    if let Some(remote) = &remote {
        status.remote.clone_from(&remote.remote);
    }
    if let Some(request) = &observed.request {
        status.last_handled_reconcile_at = Some(request.clone());
    }
    let interval = match (&set.summary(), step) {
        (_, Step::Released) => Duration::ZERO,
        (_, Step::Drain) => super::apply::WHILE_DRAINING,
        (Summary::Ready, _) => settings.steady,
        (Summary::Reconciling | Summary::Stalled, _) => settings.converging,
    };
    let wait = remote.as_ref().and_then(|remote| remote.wait);
    Decision {
        status,
        step,
        remote_is_fresh: remote.is_some_and(|remote| remote.fresh),
        next: wait.map_or(interval, |wait| wait.min(interval)),
    }
}

fn step(observed: &Observed, standing: &Standing) -> Step {
    let finalizers = observed.object.finalizers();
    let holds_on = finalizers
        .iter()
        .any(|name| name == crds::GIT_BRANCH_FINALIZER);
    match (&observed.claim, standing) {
        (ClaimState::GivesUp, _) if observed.drained => Step::Released,
        (ClaimState::GivesUp, _) => Step::Drain,
        (ClaimState::Holds, _) if !holds_on => Step::HoldOn,
        (ClaimState::Holds, _) => Step::Keep,
        (ClaimState::Absent | ClaimState::Waits { .. }, Standing::Leaving) if holds_on => {
            Step::LetGo
        }
        (ClaimState::Absent | ClaimState::Waits { .. }, _) => Step::Nothing,
    }
}

fn judge(observed: &Observed, standing: &Standing, before: &GitBranchStatus) -> ConditionSet {
    let branch = &observed.object.spec.branch;
    let mut set = ConditionSet::new(format!("holds branch {branch}"));
    match standing {
        Standing::Leaving => {
            set.contribute(
                Verdict::Progressing,
                PROGRESSING,
                waiting_writes(observed, "is being deleted"),
            );
        }
        Standing::Refused { reason, message } => {
            let message = match observed.claim {
                ClaimState::GivesUp => format!(
                    "{message}; {}",
                    waiting_writes(observed, "gives its branch up")
                ),
                _ => message.clone(),
            };
            set.contribute(Verdict::Stalled, *reason, message);
        }
        Standing::Unready { message } => {
            // The writer of a holder knows best what keeps it from publishing.
            if observed.claim == ClaimState::Holds && observed.view.is_some() {
                writer(observed, before, &mut set);
                journal(observed, &mut set);
            }
            set.contribute(
                Verdict::Progressing,
                Reason::GitProviderNotReady.as_str(),
                message.as_str(),
            );
        }
        Standing::Admitted(candidate) => {
            claim(observed, candidate, &mut set);
            if observed.claim == ClaimState::Holds {
                writer(observed, before, &mut set);
                journal(observed, &mut set);
            }
        }
    }
    set
}

/// What the push session and the claim desk say.
fn claim(observed: &Observed, candidate: &policy::Candidate, set: &mut ConditionSet) {
    let failed = observed
        .proof
        .as_ref()
        .and_then(|proof| proof.result.as_ref().err());
    if let Some(fault) = failed {
        let kept = if observed.claim == ClaimState::Holds {
            "; the branch is kept meanwhile"
        } else {
            ""
        };
        let message = format!(
            "the credential cannot open a push session: {}{kept}",
            fault.message
        );
        set.contribute(
            Verdict::Progressing,
            Reason::PushSessionFailed.as_str(),
            message,
        );
    }
    match &observed.claim {
        ClaimState::Holds => {}
        ClaimState::GivesUp => {
            set.contribute(
                Verdict::Progressing,
                PROGRESSING,
                waiting_writes(observed, "gives its branch up"),
            );
        }
        ClaimState::Waits {
            behind: Some(holder),
        } => {
            let message = format!(
                "GitBranch {holder} holds branch {} of {}; let GitTargets name that one, or delete it",
                candidate.branch, candidate.repository
            );
            set.contribute(Verdict::Stalled, Reason::BranchConflict.as_str(), message);
        }
        ClaimState::Waits { behind: None } | ClaimState::Absent => {
            set.contribute(
                Verdict::Progressing,
                PROGRESSING,
                "the branch is not claimed yet",
            );
        }
    }
}

/// What the branch writer says.
fn writer(observed: &Observed, before: &GitBranchStatus, set: &mut ConditionSet) {
    let Some(view) = observed.view.as_deref() else {
        set.contribute(
            Verdict::Progressing,
            PROGRESSING,
            "the branch writer starts",
        );
        return;
    };
    match &view.publication {
        Publication::Failing {
            since,
            fault,
            message,
            retry_at,
            ..
        } => {
            let (verdict, reason) = of_fault(*fault);
            let since = times::text(*since);
            let retry_at = times::text(*retry_at);
            let text = format!(
                "nothing could be published since {since}: {message}; next attempt at {retry_at}"
            );
            set.contribute(verdict, reason, text);
        }
        Publication::Waiting { since } => {
            let text = view.wait_for_a_turn(&times::text(*since));
            set.contribute(Verdict::Progressing, PROGRESSING, text);
        }
        Publication::Healthy if view.base.is_none() => {
            set.contribute(
                Verdict::Progressing,
                PROGRESSING,
                "the branch writer looks at the remote",
            );
        }
        Publication::Healthy if recovers(view, before) => {
            let held: usize = view.pending.iter().map(|pending| pending.objects).sum();
            let text = format!(
                "the parent branch is back; {held} objects that were held are being published"
            );
            set.contribute(
                Verdict::Progressing,
                Reason::RecoveringParentBranch.as_str(),
                text,
            );
        }
        Publication::Healthy => {}
    }
}

/// Says whether accepted changes outlive a crash. It holds nothing up: without the journal a crash would cost the
/// authors of what is not pushed, and nothing else.
fn journal(observed: &Observed, set: &mut ConditionSet) {
    let state = observed.view.as_deref().map(|view| &view.journal);
    let (status, reason, message) = match (state, &observed.journal_key) {
        (None | Some(JournalState::Off), _) => return,
        (Some(JournalState::Unread { since }), _) => {
            let text = format!(
                "not read since {}, and nothing is mirrored before it is: repair the disk, or stop the other process that uses the same data folder",
                times::text(*since)
            );
            let reason = Reason::StorageUnavailable;
            set.contribute(
                Verdict::Progressing,
                reason.as_str(),
                format!("the journal is {text}"),
            );
            (ConditionStatus::False, reason, text)
        }
        (Some(JournalState::Failing { since, message }), _) => (
            ConditionStatus::False,
            Reason::StorageUnavailable,
            format!(
                "since {}: {message}; changes are mirrored, but after a crash their authors would be lost",
                times::text(*since)
            ),
        ),
        (Some(JournalState::Healthy), Some(Err(problem))) => (
            ConditionStatus::False,
            Reason::SecretMalformed,
            format!("changes of sensitive objects are not kept: {problem}"),
        ),
        (Some(JournalState::Healthy), _) => (
            ConditionStatus::True,
            Reason::Succeeded,
            "accepted changes are kept on the disk until they are published".to_owned(),
        ),
    };
    let shown = ConditionType::JournalWritten.as_str();
    set.note(shown, status, reason.as_str(), message);
}

fn of_fault(fault: PublicationFault) -> (Verdict, &'static str) {
    match fault {
        PublicationFault::PushRefused => (Verdict::Progressing, Reason::PushRefused.as_str()),
        PublicationFault::ParentMissing => {
            (Verdict::Stalled, Reason::ParentBranchNotFound.as_str())
        }
        PublicationFault::Unreachable | PublicationFault::Credential => {
            (Verdict::Progressing, Reason::PushSessionFailed.as_str())
        }
        PublicationFault::Signing => (Verdict::Progressing, Reason::GitProviderNotReady.as_str()),
        PublicationFault::Contended | PublicationFault::Store => {
            (Verdict::Progressing, PROGRESSING)
        }
    }
}

/// Says whether the writer still publishes what it held while the parent was missing.
fn recovers(view: &BranchView, before: &GitBranchStatus) -> bool {
    let reason = conditions::ready(&before.conditions).map(|ready| ready.reason.as_str());
    let was_missing = [
        Reason::ParentBranchNotFound.as_str(),
        Reason::RecoveringParentBranch.as_str(),
    ];
    !view.pending.is_empty() && reason.is_some_and(|reason| was_missing.contains(&reason))
}

fn waiting_writes(observed: &Observed, what: &str) -> String {
    let pending = observed.view.as_ref().map_or(0, |view| view.pending.len());
    match pending {
        0 => format!("it {what}"),
        1 => format!("it {what}; 1 write is being published or refused first"),
        many => format!("it {what}; {many} writes are being published or refused first"),
    }
}
