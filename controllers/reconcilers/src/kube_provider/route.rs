//! Which namespace holds the audit route of a KubeProvider. Pure.

use crds::KubeProvider;
use model::{KubeProviderKey, Namespace};
use policy::{AuditRoute, RouteCarrier, RouteTooLong};

use crate::place::{Place, created_at, is_leaving, uid};

/// Returns the route that a provider joins.
pub(crate) fn of(place: &Place, provider: &KubeProvider) -> Result<AuditRoute, RouteTooLong> {
    let named = provider
        .spec
        .attribution
        .as_ref()
        .and_then(|attribution| attribution.audit_route.as_deref());
    AuditRoute::of(&KubeProviderKey::from(place), named)
}

/// Returns the namespace that holds the provider's route when it is another one than its own.
pub(crate) fn held_elsewhere<'a>(
    place: &Place,
    route: &AuditRoute,
    providers: impl IntoIterator<Item = &'a KubeProvider>,
) -> Option<Namespace> {
    let carriers: Vec<RouteCarrier> = providers
        .into_iter()
        .filter(|provider| !is_leaving(*provider))
        .filter_map(|provider| {
            let carrier = Place::of(provider)?;
            let carries = of(&carrier, provider).is_ok_and(|carried| carried == *route);
            carries.then_some(RouteCarrier {
                provider: KubeProviderKey::from(&carrier),
                uid: uid(provider)?,
                created_at: created_at(provider),
            })
        })
        .collect();
    route
        .holder(&carriers)
        .filter(|holder| **holder != place.namespace)
        .cloned()
}
