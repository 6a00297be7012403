//! Reads the WatchRule, its GitTarget, the grants of the KubeProvider and the streams of the source.

use std::sync::Arc;

use board::TargetStreams;
use crds::{GitTarget, KubeProvider, WatchRule};
use model::{KubeProviderKey, Millis, RuleKey, TargetKey};
use policy::Consumer;

use crate::context::{Context, fresh_request, git_target_of, kube_provider_of};
use crate::convert::grants;
use crate::place::Place;

/// Everything that the decision needs.
pub(super) struct Observed {
    pub(super) place: Place,
    pub(super) key: RuleKey,
    pub(super) object: Arc<WatchRule>,
    pub(super) target: Option<Arc<GitTarget>>,
    pub(super) provider_place: Option<Place>,
    pub(super) provider: Option<Arc<KubeProvider>>,
    /// The GitTarget as the one who asks the KubeProvider.
    pub(super) consumer: Option<Consumer>,
    /// The streams of the GitTarget, all rules together.
    pub(super) streams: Option<TargetStreams>,
    pub(super) request: Option<String>,
    pub(super) now: Millis,
}

pub(super) fn observe(context: &Context, place: &Place, object: Arc<WatchRule>) -> Observed {
    let stores = &context.stores;
    let target_place = git_target_of(&object);
    let target = target_place
        .as_ref()
        .and_then(|place| place.find(&stores.git_targets));
    let provider_place = target.as_deref().and_then(kube_provider_of);
    let provider = provider_place
        .as_ref()
        .and_then(|place| place.find(&stores.kube_providers));
    let consumer = target_place
        .as_ref()
        .map(|place| grants::consumer(place, stores.namespace_of(place).as_deref()));
    let directory = context.fleet.directory().now();
    let source = provider_place
        .as_ref()
        .and_then(|place| directory.sources.get(&KubeProviderKey::from(place)));
    let streams = source
        .zip(target_place.as_ref())
        .and_then(|(source, target)| {
            source
                .view
                .now()
                .targets
                .get(&TargetKey::from(target))
                .cloned()
        });
    let handled = object
        .status
        .as_ref()
        .and_then(|status| status.last_handled_reconcile_at.as_deref());
    Observed {
        request: fresh_request(object.as_ref(), handled),
        key: RuleKey::from(place),
        place: place.clone(),
        object,
        target,
        provider_place,
        provider,
        consumer,
        streams,
        now: context.wall(),
    }
}
