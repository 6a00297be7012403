//! A KubeProvider is woken by itself, and by every provider that carries its route, came to it or left it.

use std::collections::BTreeSet;

use crds::KubeProvider;

use super::route;
use crate::context::Stores;
use crate::follow::Change;
use crate::place::Place;
use crate::routes::owner_changed;

pub(crate) fn on_kube_provider(change: &Change<KubeProvider>, stores: &Stores) -> Vec<Place> {
    if !owner_changed(change) {
        return Vec::new();
    }
    let of = |provider: &KubeProvider| {
        let place = Place::of(provider)?;
        route::of(&place, provider).ok()
    };
    let versions = change.before.iter().chain(&change.after);
    let routes: Vec<_> = versions.filter_map(|provider| of(provider)).collect();
    let sharing = stores
        .kube_providers
        .state_filter(|provider| of(provider).is_some_and(|route| routes.contains(&route)));
    let sharing = sharing
        .iter()
        .filter_map(|provider| Place::of(provider.as_ref()));
    let own = change
        .object()
        .and_then(|provider| Place::of(provider.as_ref()));
    sharing
        .chain(own)
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect()
}
