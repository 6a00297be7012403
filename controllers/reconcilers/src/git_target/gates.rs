//! What each gate of a GitTarget says, read from the boards of its branch writer and its source. Pure.

use board::{
    ApiHealth, CollectionProgress, FolderState, IntakeState, Publication, StreamState, TargetView,
};
use crds::conditions::Reason;
use model::{Refusal, RefusalCode};
use policy::{
    FirstReplay, Outage, PathGate, ReadyGate, RenderGate, SourceGate, StreamGate, StreamTrouble,
};

use super::observe::Observed;
use crate::convert::{conditions, times};

pub(super) fn branch(observed: &Observed) -> ReadyGate {
    let subject = &observed.subject;
    let Some(branch) = &subject.branch else {
        return ReadyGate::NotChecked;
    };
    let status = branch.status.as_ref();
    let published = status
        .map(|status| status.conditions.as_slice())
        .unwrap_or_default();
    ready_gate(
        "GitBranch",
        subject.branch_place.as_ref().map(ToString::to_string),
        published,
    )
}

pub(super) fn kube_provider(observed: &Observed) -> ReadyGate {
    let subject = &observed.subject;
    let Some(provider) = &subject.provider else {
        return ReadyGate::NotChecked;
    };
    let status = provider.status.as_ref();
    let published = status
        .map(|status| status.conditions.as_slice())
        .unwrap_or_default();
    ready_gate(
        "KubeProvider",
        subject.provider_place.as_ref().map(ToString::to_string),
        published,
    )
}

fn ready_gate(
    kind: &str,
    name: Option<String>,
    published: &[k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition],
) -> ReadyGate {
    if conditions::is_ready(published) {
        return ReadyGate::Ready;
    }
    let name = name.unwrap_or_default();
    ReadyGate::NotReady {
        message: format!(
            "{kind} {name} is not Ready; {}",
            conditions::own_words(published)
        ),
    }
}

pub(super) fn source(observed: &Observed) -> SourceGate {
    let Some(view) = observed.source_view.as_deref() else {
        return SourceGate::NotChecked;
    };
    let in_cluster = observed
        .subject
        .provider
        .as_ref()
        .is_some_and(|provider| provider.spec.in_cluster.is_some());
    match &view.api {
        ApiHealth::AwaitingDiscovery => SourceGate::AwaitingDiscovery,
        ApiHealth::Reachable { .. } if in_cluster => SourceGate::LocalCluster,
        ApiHealth::Reachable { .. } => SourceGate::Reachable,
        ApiHealth::Unreachable { since, message } => SourceGate::Unreachable {
            message: format!(
                "the source cluster does not answer since {}: {message}",
                times::text(*since)
            ),
        },
        ApiHealth::AuthenticationFailed { message } => SourceGate::AuthenticationFailed {
            message: message.clone(),
        },
        ApiHealth::AccessDenied { message } => SourceGate::AccessDenied {
            message: message.clone(),
        },
    }
}

/// Returns the streams that answer the order that stands; older ones say nothing about it.
pub(super) fn current_streams(observed: &Observed) -> Option<&board::TargetStreams> {
    let streams = observed
        .source_view
        .as_deref()?
        .targets
        .get(&observed.key)?;
    (streams.generation == observed.generation).then_some(streams)
}

/// `rules` is how many of the target's rules are admitted.
pub(super) fn streams(observed: &Observed, rules: usize) -> StreamGate {
    if rules == 0 {
        return StreamGate::NoRules;
    }
    let Some(current) = current_streams(observed) else {
        return StreamGate::NotStarted;
    };
    if current.streams.is_empty() {
        return StreamGate::NothingServed;
    }
    let mut blocked = Vec::new();
    let mut intake_paused = observed
        .branch_view
        .as_deref()
        .is_some_and(|view| view.intake == IntakeState::Paused);
    for (collection, stream) in &current.streams {
        let StreamState::Blocked {
            reason, message, ..
        } = &stream.state
        else {
            continue;
        };
        let message = format!("{collection}: {message}");
        if reason == Reason::BranchIntakePaused.as_str() {
            intake_paused = true;
        } else if reason == Reason::WatchNotPermitted.as_str() {
            blocked.push(StreamTrouble::NotPermitted { message });
        } else {
            blocked.push(StreamTrouble::Failing { message });
        }
    }
    StreamGate::Streams {
        tracked: current.streams.len(),
        running: current.streaming(),
        blocked,
        intake_paused,
    }
}

pub(super) fn target_view(observed: &Observed) -> Option<&TargetView> {
    observed.branch_view.as_deref()?.targets.get(&observed.key)
}

pub(super) fn path(observed: &Observed) -> PathGate {
    let Some(view) = target_view(observed) else {
        return PathGate::NotChecked;
    };
    let refused: Vec<&Refusal> = match &view.folder {
        FolderState::NotChecked => return PathGate::NotChecked,
        FolderState::Refused(issues) => issues.iter().collect(),
        FolderState::Accepted => view
            .refused
            .iter()
            .filter(|refusal| is_about_the_folder(refusal.code))
            .collect(),
    };
    match refused.split_first() {
        None => PathGate::Accepted,
        Some((first, more)) => PathGate::Refused {
            first: Box::new((*first).clone()),
            more: more.len(),
        },
    }
}

fn is_about_the_folder(code: RefusalCode) -> bool {
    matches!(
        code,
        RefusalCode::UnsupportedContent
            | RefusalCode::IgnoreShadowsManagedPath
            | RefusalCode::WriteBoundaryRefused
            | RefusalCode::AmbiguousLayout
            | RefusalCode::MultipleSourceNamespaces
            | RefusalCode::UnrenderedPlacement
    )
}

pub(super) fn render(observed: &Observed) -> RenderGate {
    let Some(view) = target_view(observed) else {
        return RenderGate::Rechecking;
    };
    let differs = |refusal: &&Refusal| refusal.code == RefusalCode::RenderDoesNotMatchLive;
    match view.refused.iter().find(differs) {
        Some(refusal) => RenderGate::Differs {
            message: refusal.to_string(),
        },
        None => RenderGate::Matches,
    }
}

/// Returns the objects that cannot be written without anything being wrong with the folder.
pub(super) fn refused_objects(observed: &Observed) -> Vec<&Refusal> {
    let counts = |refusal: &&Refusal| {
        !is_about_the_folder(refusal.code) && refusal.code != RefusalCode::RenderDoesNotMatchLive
    };
    target_view(observed)
        .map(|view| view.refused.iter().filter(counts).collect())
        .unwrap_or_default()
}

pub(super) fn outage(observed: &Observed) -> Option<Outage> {
    let view = observed.branch_view.as_deref()?;
    match &view.publication {
        Publication::Healthy | Publication::Waiting { .. } => None,
        Publication::Failing {
            since,
            message,
            retry_at,
            ..
        } => Some(Outage {
            since: times::text(*since),
            failed: message.clone(),
            intake_paused: view.intake == IntakeState::Paused,
            retry_at: Some(times::text(*retry_at)),
        }),
    }
}

pub(super) fn first_replay(observed: &Observed) -> FirstReplay {
    let Some(current) = current_streams(observed) else {
        return FirstReplay::Reading {
            complete: 0,
            collections: 0,
        };
    };
    let collections = current.streams.len();
    let view = target_view(observed);
    let progress = |wanted: fn(CollectionProgress) -> bool| {
        let of = |collection| view.and_then(|view| view.collections.get(collection).copied());
        current
            .streams
            .keys()
            .filter_map(of)
            .filter(|progress| wanted(*progress))
            .count()
    };
    let read = progress(|_| true);
    let settled = progress(|progress| progress != CollectionProgress::Queued);
    let published = progress(|progress| progress == CollectionProgress::Published);
    if read < collections {
        FirstReplay::Reading {
            complete: read,
            collections,
        }
    } else if settled < collections {
        FirstReplay::Committing {
            settled,
            collections,
        }
    } else if published < collections {
        FirstReplay::Pushing
    } else {
        FirstReplay::InGit
    }
}
