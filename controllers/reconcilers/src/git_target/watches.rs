//! A GitTarget is woken by itself, its GitBranch, its KubeProvider, the labels of namespaces, its WatchRules,
//! the coming and going of other targets on its branch, and both of its actors.

use std::collections::BTreeSet;

use crds::{GitBranch, GitTarget, KubeProvider, WatchRule};

use crate::context::{Stores, git_branch_of, git_target_of, places};
use crate::convert::conditions;
use crate::follow::Change;
use crate::place::Place;
use crate::routes::owner_changed;

/// A target that comes or goes may free or take a folder of the others on its branch.
pub(crate) fn on_git_target(change: &Change<GitTarget>, stores: &Stores) -> Vec<Place> {
    if !owner_changed(change) {
        return Vec::new();
    }
    let Some(object) = change.object() else {
        return Vec::new();
    };
    let siblings = git_branch_of(object)
        .map(|branch| places(stores.targets_on(&branch)))
        .unwrap_or_default();
    with_own(siblings, Place::of(object.as_ref()))
}

pub(crate) fn on_git_branch(change: &Change<GitBranch>, stores: &Stores) -> Vec<Place> {
    let ready = change.differs(|branch| {
        let status = branch.status.as_ref();
        status
            .and_then(|status| conditions::ready(&status.conditions))
            .map(own_ready)
    });
    let place = change
        .object()
        .and_then(|branch| Place::of(branch.as_ref()));
    match place {
        Some(place) if ready || owner_changed(change) => places(stores.targets_on(&place)),
        _ => Vec::new(),
    }
}

pub(crate) fn on_kube_provider(change: &Change<KubeProvider>, stores: &Stores) -> Vec<Place> {
    let ready = change.differs(|provider| {
        let status = provider.status.as_ref();
        status
            .and_then(|status| conditions::ready(&status.conditions))
            .map(own_ready)
    });
    let place = change
        .object()
        .and_then(|provider| Place::of(provider.as_ref()));
    match place {
        Some(place) if ready || owner_changed(change) => places(stores.targets_through(&place)),
        _ => Vec::new(),
    }
}

/// Labels admit targets of the namespace, and an admitted target may take a folder from another namespace's.
pub(crate) fn on_namespace(name: &str, stores: &Stores) -> Vec<Place> {
    let inside = stores
        .git_targets
        .state_filter(|target| target.metadata.namespace.as_deref() == Some(name));
    let mut all: BTreeSet<Place> = BTreeSet::new();
    for target in inside {
        all.extend(Place::of(target.as_ref()));
        if let Some(branch) = git_branch_of(&target) {
            all.extend(places(stores.targets_on(&branch)));
        }
    }
    all.into_iter().collect()
}

/// A reference may change, so the target that lost the rule is woken too.
pub(crate) fn on_watch_rule(change: &Change<WatchRule>) -> Vec<Place> {
    if !owner_changed(change) {
        return Vec::new();
    }
    let versions = change.before.iter().chain(&change.after);
    let targets: BTreeSet<Place> = versions.filter_map(|rule| git_target_of(rule)).collect();
    targets.into_iter().collect()
}

/// What a target repeats of a condition.
fn own_ready(
    ready: &k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition,
) -> (String, String, String) {
    (
        ready.status.clone(),
        ready.reason.clone(),
        ready.message.clone(),
    )
}

fn with_own(mut places: Vec<Place>, own: Option<Place>) -> Vec<Place> {
    places.extend(own);
    places.sort();
    places.dedup();
    places
}
