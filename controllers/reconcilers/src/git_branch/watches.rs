//! A GitBranch is woken by itself, its GitProvider, the labels of its namespace, the coming and going of
//! GitTargets that name it, its writer, and its rivals at the claim desk.

use crds::{GitBranch, GitProvider, GitTarget};

use crate::context::{Stores, git_branch_of, places};
use crate::convert::conditions;
use crate::follow::Change;
use crate::place::Place;
use crate::routes::owner_changed;

pub(crate) fn on_self(change: &Change<GitBranch>) -> Option<Place> {
    let object = change.object().filter(|_| owner_changed(change))?;
    Place::of(object.as_ref())
}

/// Its spec and whether it is Ready count; when it was last verified does not.
pub(crate) fn on_git_provider(change: &Change<GitProvider>, stores: &Stores) -> Vec<Place> {
    let ready = change.differs(|provider| {
        provider
            .status
            .as_ref()
            .is_some_and(|status| conditions::is_ready(&status.conditions))
    });
    let place = change
        .object()
        .and_then(|provider| Place::of(provider.as_ref()));
    match place {
        Some(place) if ready || owner_changed(change) => stores.branches_through(&place),
        _ => Vec::new(),
    }
}

pub(crate) fn on_namespace(name: &str, stores: &Stores) -> Vec<Place> {
    places(
        stores
            .git_branches
            .state_filter(|branch| branch.metadata.namespace.as_deref() == Some(name)),
    )
}

/// Only the number of targets matters, and the reference to a GitBranch never changes.
pub(crate) fn on_git_target(change: &Change<GitTarget>) -> Option<Place> {
    if change.before.is_some() && change.after.is_some() {
        return None;
    }
    git_branch_of(change.object()?)
}
