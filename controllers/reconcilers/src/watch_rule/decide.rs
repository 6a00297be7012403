//! Which conditions a WatchRule has. Pure.

use std::time::Duration;

use board::{RuleResolution, StreamState, StreamView};
use crds::conditions::{ConditionType, Reason};
use crds::watch_rule::{RuleStreams, WatchRuleStatus};
use model::Collection;
use policy::grants::admit_source;
use policy::{Admission, ConditionSet, ConditionStatus, Summary, Verdict};

use super::observe::Observed;
use super::selection::{self, RuleRefusal, SourceAccess};
use crate::convert::{conditions, grants};
use crate::settings::Settings;

/// How many streams that are not ready are named.
const SAMPLE: usize = 5;

/// What follows.
#[derive(Debug, PartialEq)]
pub(super) struct Decision {
    pub(super) status: WatchRuleStatus,
    pub(super) next: Duration,
}

pub(super) fn decide(observed: &Observed, settings: &Settings) -> Decision {
    let before = observed.object.status.clone().unwrap_or_default();
    let generation = observed.object.metadata.generation;
    let streams = streams(observed);
    let set = judge(observed, &streams);
    let summary = set.summary();
    let mut status = WatchRuleStatus {
        conditions: conditions::finish(&set, &before.conditions, generation, observed.now),
        observed_generation: generation,
        streams: streams.as_ref().map(|streams| counted(streams)),
        ..before
    };
    if let Some(request) = &observed.request {
        status.last_handled_reconcile_at = Some(request.clone());
    }
    let next = match summary {
        Summary::Ready => settings.steady,
        Summary::Reconciling | Summary::Stalled => settings.converging,
    };
    Decision { status, next }
}

type Streams<'a> = Vec<(&'a Collection, Option<&'a StreamView>)>;

fn judge(observed: &Observed, streams: &Option<Streams<'_>>) -> ConditionSet {
    let mut set = ConditionSet::new("everything that the rule selects is mirrored");
    let Some(target) = &observed.target else {
        let name = &observed.object.spec.git_target_ref.name;
        let message = format!(
            "GitTarget {name} does not exist in this namespace; create it, and this rule goes on by itself"
        );
        set.contribute(
            Verdict::Stalled,
            Reason::GitTargetNotFound.as_str(),
            message,
        );
        return set;
    };
    let valid = selection::check(&observed.place, &observed.object);
    authorized(observed, valid.is_ok(), &mut set);
    let published = target
        .status
        .as_ref()
        .map(|status| status.conditions.as_slice())
        .unwrap_or_default();
    let (verdict, reason, message) = match conditions::ready(published) {
        Some(ready) if ready.status == "True" => {
            (Verdict::Met, ready.reason.clone(), ready.message.clone())
        }
        Some(ready) => (
            Verdict::Progressing,
            ready.reason.clone(),
            ready.message.clone(),
        ),
        None => {
            let message = "the GitTarget has not been looked at yet".to_owned();
            (
                Verdict::Unknown,
                Reason::GitTargetNotReady.as_str().to_owned(),
                message,
            )
        }
    };
    // What keeps the target from writing comes before what the rule waits for because of it.
    set.gate(
        ConditionType::GitTargetReady.as_str(),
        verdict,
        reason,
        message,
    );
    resolved(observed, valid.err(), &mut set);
    running(streams, &mut set);
    set
}

fn authorized(observed: &Observed, valid: bool, set: &mut ConditionSet) {
    let type_ = ConditionType::SourceNamespaceAuthorized.as_str();
    let access = match access(observed) {
        Ok(access) => access,
        Err((verdict, reason, message)) => return set.gate(type_, verdict, reason, message),
    };
    if !valid {
        let message = "not checked while the rule is not valid";
        return set.note(
            type_,
            ConditionStatus::Unknown,
            Reason::NotChecked.as_str(),
            message,
        );
    }
    match selection::declaration(&observed.place, &observed.object, &access) {
        Ok(_) => {
            let message = format!(
                "{} lets the rule watch every namespace that it names",
                access.holder
            );
            set.gate(
                type_,
                Verdict::Met,
                Reason::SourceNamespaceAllowed.as_str(),
                message,
            );
        }
        Err(refusal) => set.gate(type_, Verdict::Stalled, refusal.reason(), refusal.message()),
    }
}

/// Returns what the rule's GitTarget may mirror, or why that cannot be said.
fn access(observed: &Observed) -> Result<SourceAccess, (Verdict, &'static str, String)> {
    let (Some(place), Some(provider), Some(consumer)) = (
        &observed.provider_place,
        &observed.provider,
        &observed.consumer,
    ) else {
        let reason = Reason::KubeProviderNotFound.as_str();
        return Err((
            Verdict::Unknown,
            reason,
            "the KubeProvider of the GitTarget does not exist".to_owned(),
        ));
    };
    let (holder, list) = grants::of_kube_provider(place, provider);
    match admit_source(consumer, &holder, &list) {
        Admission::Admitted(scope) => Ok(SourceAccess {
            consumer: consumer.clone(),
            namespaces: scope.namespaces,
            holder,
        }),
        Admission::Refused(refusal) => Err((
            Verdict::Stalled,
            refusal.code.as_str(),
            format!("{}; {}", refusal.message, refusal.remedy),
        )),
    }
}

fn resolved(observed: &Observed, invalid: Option<RuleRefusal>, set: &mut ConditionSet) {
    let type_ = ConditionType::ResourcesResolved.as_str();
    if let Some(refusal) = invalid {
        return set.gate(type_, Verdict::Stalled, refusal.reason(), refusal.message());
    }
    let resolution = observed
        .streams
        .as_ref()
        .and_then(|streams| streams.rules.get(&observed.key));
    match resolution {
        None => {
            let message = "the types of the source cluster are not matched with the rule yet";
            set.gate(type_, Verdict::Unknown, Reason::Checking.as_str(), message);
        }
        Some(RuleResolution::Overlaps { message }) => {
            set.gate(
                type_,
                Verdict::Stalled,
                Reason::CollectionOverlap.as_str(),
                message.as_str(),
            );
        }
        Some(RuleResolution::Resolved {
            collections,
            unresolved,
        }) if unresolved.is_empty() => {
            let message = format!("watching {} resource type(s)", collections.len());
            set.gate(type_, Verdict::Met, Reason::Resolved.as_str(), message);
        }
        // A name that selects nothing may be a type that is installed later, so it holds nothing back.
        Some(RuleResolution::Resolved {
            collections,
            unresolved,
        }) => {
            let message = format!(
                "watching {} resource type(s); {}",
                collections.len(),
                unresolved.join("; ")
            );
            set.note(
                type_,
                ConditionStatus::False,
                Reason::UnresolvedResources.as_str(),
                message,
            );
        }
    }
}

/// Returns the streams of this rule's collections, once the source has answered.
fn streams(observed: &Observed) -> Option<Streams<'_>> {
    let streams = observed.streams.as_ref()?;
    match streams.rules.get(&observed.key)? {
        RuleResolution::Overlaps { .. } => None,
        RuleResolution::Resolved { collections, .. } => {
            let with_view = |collection| (collection, streams.streams.get(collection));
            Some(collections.iter().map(with_view).collect())
        }
    }
}

fn running(streams: &Option<Streams<'_>>, set: &mut ConditionSet) {
    let type_ = ConditionType::StreamsRunning.as_str();
    let Some(streams) = streams else {
        return set.gate(
            type_,
            Verdict::Unknown,
            Reason::NotReady.as_str(),
            "no watch is open yet",
        );
    };
    if streams.is_empty() {
        let message = "the rule selects nothing that the source cluster serves";
        return set.note(
            type_,
            ConditionStatus::False,
            Reason::NoResolvedTypes.as_str(),
            message,
        );
    }
    if let Some((verdict, reason, message)) = blocked(streams) {
        return set.gate(type_, verdict, reason, message);
    }
    let counted = counted(streams);
    if counted.ready < counted.total {
        let message = format!(
            "{} watches are past their initial replay; pending: {}",
            counted.summary,
            counted.pending_sample.join(", ")
        );
        set.gate(
            type_,
            Verdict::Progressing,
            Reason::InitialReplay.as_str(),
            message,
        );
    } else {
        let message = format!("all {} watches run", counted.total);
        set.gate(
            type_,
            Verdict::Met,
            Reason::AllStreamsReady.as_str(),
            message,
        );
    }
}

/// Returns why the first stream that is blocked is, and whether somebody has to do something about it.
fn blocked(streams: &Streams<'_>) -> Option<(Verdict, String, String)> {
    streams.iter().find_map(|(collection, view)| {
        let StreamState::Blocked {
            reason, message, ..
        } = &view.as_ref()?.state
        else {
            return None;
        };
        let verdict = if reason == Reason::WatchNotPermitted.as_str() {
            Verdict::Stalled
        } else {
            Verdict::Progressing
        };
        Some((verdict, reason.clone(), format!("{collection}: {message}")))
    })
}

fn counted(streams: &Streams<'_>) -> RuleStreams {
    let count = |wanted: fn(&StreamState) -> bool| {
        let matching = streams
            .iter()
            .filter(|(_, view)| view.is_some_and(|view| wanted(&view.state)));
        i32::try_from(matching.count()).unwrap_or(i32::MAX)
    };
    let ready = count(|state| *state == StreamState::Streaming);
    let total = i32::try_from(streams.len()).unwrap_or(i32::MAX);
    let pending = streams
        .iter()
        .filter(|(_, view)| !view.is_some_and(|view| view.state == StreamState::Streaming));
    RuleStreams {
        total,
        ready,
        replaying: count(|state| matches!(state, StreamState::Replaying { .. })),
        blocked: count(|state| matches!(state, StreamState::Blocked { .. })),
        summary: format!("{ready}/{total}"),
        pending_sample: pending
            .take(SAMPLE)
            .map(|(collection, _)| collection.to_string())
            .collect(),
    }
}
