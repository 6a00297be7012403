//! Which conditions a GitTarget has, and what is asked of the fleet. Pure.

use std::time::Duration;

use board::{StreamState, TargetStreams};
use crds::conditions::{ConditionType, Reason};
use crds::git_target::{GitTargetStatus, PruneMode, Retention, Streams};
use fleet::MirrorOrder;
use model::{Collection, Millis};
use policy::{
    ConditionSet, ConditionStatus, ReadyGate, SourceGate, Summary, TargetProblem, TargetReadiness,
};

use super::observe::Observed;
use super::{admission, gates, layout};
use crate::convert::{conditions, times};
use crate::place::is_leaving;
use crate::settings::Settings;

/// How long a fresh snapshot of a collection is given before it is asked for again.
pub(super) const RESYNC_PATIENCE: Millis = 30_000;

/// What follows.
#[derive(Debug, PartialEq)]
pub(super) struct Decision {
    pub(super) status: GitTargetStatus,
    /// What to ask of the fleet.
    pub(super) mirror: Mirror,
    /// Collections of which a fresh snapshot is needed.
    pub(super) resync: Vec<Collection>,
    /// Whether a person asked for a fresh look at the folder.
    pub(super) look: bool,
    pub(super) next: Duration,
}

/// What to ask of the fleet.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Mirror {
    /// Leave it as it is.
    Unchanged,
    /// Mirror like this.
    Start(Box<MirrorOrder>),
    /// Stop.
    Stop,
}

pub(super) fn decide(observed: &Observed, settings: &Settings) -> Decision {
    let (admitted, problem) = match admission::order(observed) {
        Ok(order) => (Some(order), None),
        Err(problem) => (None, Some(problem)),
    };
    let encryption = observed.encryption.gate.clone();
    let usable = !matches!(encryption, policy::EncryptionGate::Problem { .. });
    let order = admitted
        .as_ref()
        .filter(|_| usable && !is_leaving(observed.subject.object.as_ref()));
    let mirror = match order {
        Some(order) => start_or_keep(observed, order),
        None if observed.order.is_some() => Mirror::Stop,
        None => Mirror::Unchanged,
    };
    let rules = admitted.as_ref().map_or(0, |order| order.rules.len());
    let set = judge(observed, problem, encryption, rules, &mirror);
    let summary = set.summary();
    let status = status(observed, &set);
    let due = |collection: &&Collection| {
        observed
            .resynced
            .get(*collection)
            .is_none_or(|asked| observed.now >= asked + RESYNC_PATIENCE)
    };
    let wanted = gates::target_view(observed)
        .map(|view| view.resync_needed.as_slice())
        .unwrap_or_default();
    Decision {
        status,
        look: observed.request.is_some() && mirror == Mirror::Unchanged && order.is_some(),
        resync: wanted.iter().filter(due).cloned().collect(),
        mirror,
        next: match summary {
            Summary::Ready => settings.steady,
            Summary::Reconciling | Summary::Stalled => settings.converging,
        },
    }
}

/// Compares what should be asked of the fleet with what was asked; only a difference counts as a new order.
fn start_or_keep(observed: &Observed, order: &MirrorOrder) -> Mirror {
    let same = observed.order.as_ref().is_some_and(|asked| {
        let order = MirrorOrder {
            generation: asked.generation,
            ..order.clone()
        };
        *asked == order
    });
    if same {
        Mirror::Unchanged
    } else {
        let generation = observed.generation + 1;
        Mirror::Start(Box::new(MirrorOrder {
            generation,
            ..order.clone()
        }))
    }
}

fn judge(
    observed: &Observed,
    problem: Option<TargetProblem>,
    encryption: policy::EncryptionGate,
    rules: usize,
    mirror: &Mirror,
) -> ConditionSet {
    let readiness = readiness(observed, problem, encryption, rules, mirror);
    let mut set = readiness.conditions();
    let refused = gates::refused_objects(observed);
    if let (Some(first), false) = (refused.first(), readiness.suspended) {
        let object = first
            .object
            .as_ref()
            .map(|id| format!("{id}: "))
            .unwrap_or_default();
        let message = format!(
            "the folder mirrors the source cluster, except {} object(s) that are refused; first: {object}{first}",
            refused.len()
        );
        set.succeed_with(Reason::Succeeded.as_str(), message);
    }
    if observed.subject.object.spec.applier_claim_ref.is_some() {
        let message = "applier claims are not served by this version; the applier applies on its own schedule";
        let type_ = ConditionType::ApplierClaimReady.as_str();
        set.note(
            type_,
            ConditionStatus::Unknown,
            Reason::NotChecked.as_str(),
            message,
        );
    }
    set
}

/// Collects every gate. What a target that is not valid refers to is not looked at.
fn readiness(
    observed: &Observed,
    problem: Option<TargetProblem>,
    encryption: policy::EncryptionGate,
    rules: usize,
    mirror: &Mirror,
) -> TargetReadiness {
    let valid = problem.is_none();
    let answered = *mirror == Mirror::Unchanged;
    TargetReadiness {
        problem,
        encryption,
        branch: if valid {
            gates::branch(observed)
        } else {
            ReadyGate::NotChecked
        },
        kube_provider: if valid {
            gates::kube_provider(observed)
        } else {
            ReadyGate::NotChecked
        },
        source: if valid {
            gates::source(observed)
        } else {
            SourceGate::NotChecked
        },
        streams: match gates::streams(observed, rules) {
            // An order that goes out now is not answered by what the boards say.
            policy::StreamGate::Streams { .. } | policy::StreamGate::NothingServed if !answered => {
                policy::StreamGate::NotStarted
            }
            gate => gate,
        },
        path: gates::path(observed),
        layout: layout::known(observed).map(|known| known.layout.clone()),
        render: gates::render(observed),
        outage: gates::outage(observed).filter(|_| valid),
        first_replay: gates::first_replay(observed),
        suspended: observed.subject.object.spec.suspend.unwrap_or(false),
    }
}

fn status(observed: &Observed, set: &ConditionSet) -> GitTargetStatus {
    let before = observed.subject.object.status.clone().unwrap_or_default();
    let generation = observed.subject.object.metadata.generation;
    let view = gates::target_view(observed);
    let suspended = observed.subject.object.spec.suspend.unwrap_or(false);
    GitTargetStatus {
        conditions: conditions::finish(set, &before.conditions, generation, observed.now),
        observed_generation: generation,
        branch: observed
            .subject
            .branch
            .as_ref()
            .map(|branch| branch.spec.branch.clone()),
        commit: view
            .and_then(|view| view.last_commit.as_ref())
            .map(ToString::to_string)
            .or(before.commit),
        pending_writes: view.map(|view| count(view.pending_objects)),
        streams: gates::current_streams(observed).map(counted),
        retention: view
            .and_then(|view| view.retention.as_ref())
            .filter(|_| !suspended)
            .and_then(retention),
        placement: layout::placement(observed, before.placement),
        last_handled_reconcile_at: observed
            .request
            .clone()
            .or(before.last_handled_reconcile_at),
    }
}

fn counted(current: &TargetStreams) -> Streams {
    let of = |wanted: fn(&StreamState) -> bool| {
        count(
            current
                .streams
                .values()
                .filter(|stream| wanted(&stream.state))
                .count(),
        )
    };
    let (ready, total) = (current.streaming(), current.streams.len());
    Streams {
        total: count(total),
        ready: count(ready),
        replaying: of(|state| matches!(state, StreamState::Replaying { .. })),
        blocked: of(|state| matches!(state, StreamState::Blocked { .. })),
        summary: format!("{ready}/{total}"),
    }
}

fn retention(kept: &board::Retention) -> Option<Retention> {
    Some(Retention {
        mode: PruneMode::from_word(&kept.mode)?,
        retained_documents: i32::try_from(kept.total()).unwrap_or(i32::MAX),
        last_changed_at: Some(times::time(kept.changed_at)),
    })
}

fn count(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}
