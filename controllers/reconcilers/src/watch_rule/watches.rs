//! A WatchRule is woken by itself, its GitTarget, the grants of the KubeProvider, the labels of its
//! namespace, and its streams.

use crds::{GitTarget, KubeProvider, WatchRule};

use crate::context::{Stores, places};
use crate::convert::conditions;
use crate::follow::Change;
use crate::place::Place;
use crate::routes::owner_changed;

pub(crate) fn on_self(change: &Change<WatchRule>) -> Option<Place> {
    let object = change.object().filter(|_| owner_changed(change))?;
    Place::of(object.as_ref())
}

/// What its `Ready` says counts, since the rules repeat it.
pub(crate) fn on_git_target(change: &Change<GitTarget>, stores: &Stores) -> Vec<Place> {
    let ready = change.differs(|target| {
        let conditions = target
            .status
            .as_ref()
            .map(|status| status.conditions.as_slice())
            .unwrap_or_default();
        conditions::ready(conditions).map(|ready| {
            (
                ready.status.clone(),
                ready.reason.clone(),
                ready.message.clone(),
            )
        })
    });
    let place = change
        .object()
        .and_then(|target| Place::of(target.as_ref()));
    match place {
        Some(place) if ready || owner_changed(change) => places(stores.rules_of(&place)),
        _ => Vec::new(),
    }
}

pub(crate) fn on_kube_provider(change: &Change<KubeProvider>, stores: &Stores) -> Vec<Place> {
    let Some(place) = change
        .object()
        .and_then(|provider| Place::of(provider.as_ref()))
    else {
        return Vec::new();
    };
    if !owner_changed(change) {
        return Vec::new();
    }
    let targets = places(stores.targets_through(&place));
    targets
        .iter()
        .flat_map(|target| places(stores.rules_of(target)))
        .collect()
}

pub(crate) fn on_namespace(name: &str, stores: &Stores) -> Vec<Place> {
    places(
        stores
            .watch_rules
            .state_filter(|rule| rule.metadata.namespace.as_deref() == Some(name)),
    )
}
