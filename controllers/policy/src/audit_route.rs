//! The audit route of a KubeProvider: its default, and which namespace holds a route.

use std::cmp::Ordering;
use std::fmt;

use model::{KubeProviderKey, Millis, Namespace, Uid};

/// The longest route that the audit endpoint serves.
const LONGEST: usize = 253;

/// The last segment of the URL that a cluster's audit webhook posts to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AuditRoute(String);

/// A default route that no URL segment could hold (D15).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the default audit route {namespace}.{name} has {length} characters and at most 253 are served; set \
     spec.attribution.auditRoute"
)]
pub struct RouteTooLong {
    /// The provider's namespace.
    pub namespace: String,
    /// The provider's name.
    pub name: String,
    /// How long its default would be.
    pub length: usize,
}

impl AuditRoute {
    /// Returns the route that a provider joins: the one it names, or `<namespace>.<name>`.
    ///
    /// # Errors
    /// Returns a default that is too long to be served.
    pub fn of(provider: &KubeProviderKey, named: Option<&str>) -> Result<Self, RouteTooLong> {
        if let Some(named) = named.filter(|named| !named.is_empty()) {
            return Ok(Self(named.to_owned()));
        }
        let route = format!("{}.{}", provider.namespace, provider.name);
        if route.len() > LONGEST {
            return Err(RouteTooLong {
                namespace: provider.namespace.to_string(),
                name: provider.name.to_string(),
                length: route.len(),
            });
        }
        Ok(Self(route))
    }

    /// Returns the route as the URL holds it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the namespace that holds the route, given all providers that carry it.
    ///
    /// The namespace that the route starts with comes first, so a default route is always its own
    /// provider's; otherwise the oldest carrier's namespace.
    pub fn holder<'a>(
        &self,
        carriers: impl IntoIterator<Item = &'a RouteCarrier>,
    ) -> Option<&'a Namespace> {
        let named = self.0.split('.').next().unwrap_or(&self.0);
        let first = carriers.into_iter().min_by(|a, b| {
            let elsewhere = |carrier: &RouteCarrier| carrier.provider.namespace.as_str() != named;
            elsewhere(a).cmp(&elsewhere(b)).then_with(|| a.age(b))
        });
        first.map(|carrier| &carrier.provider.namespace)
    }
}

impl fmt::Display for AuditRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A provider that carries a route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouteCarrier {
    /// Which provider.
    pub provider: KubeProviderKey,
    /// Its incarnation, which decides between two of the same age.
    pub uid: Uid,
    /// When it was created.
    pub created_at: Millis,
}

impl RouteCarrier {
    fn age(&self, other: &Self) -> Ordering {
        (self.created_at, &self.uid).cmp(&(other.created_at, &other.uid))
    }
}

#[cfg(test)]
mod tests {
    use model::ObjectName;

    use super::*;

    fn key(namespace: &str, name: &str) -> KubeProviderKey {
        KubeProviderKey::new(
            Namespace::new(namespace).unwrap(),
            ObjectName::new(name).unwrap(),
        )
    }

    fn carrier(namespace: &str, created_at: Millis, uid: &str) -> RouteCarrier {
        RouteCarrier {
            provider: key(namespace, "p"),
            uid: Uid::new(uid).unwrap(),
            created_at,
        }
    }

    fn holder(route: &str, carriers: &[RouteCarrier]) -> Option<String> {
        let route = AuditRoute::of(&key("x", "y"), Some(route)).unwrap();
        route.holder(carriers).map(Namespace::to_string)
    }

    #[test]
    fn a_default_route_is_always_its_own_providers() {
        assert_eq!(
            AuditRoute::of(&key("platform", "local"), None)
                .unwrap()
                .as_str(),
            "platform.local"
        );
        let squatter = carrier("evil", 1, "a");
        let owner = carrier("platform", 99, "z");
        assert_eq!(
            holder("platform.local", &[squatter.clone(), owner]).unwrap(),
            "platform"
        );
        assert_eq!(holder("platform.local", &[squatter]).unwrap(), "evil");
    }

    #[test]
    fn other_routes_go_to_the_oldest_carrier_and_ties_to_the_lower_uid() {
        let old = carrier("b", 1, "z");
        assert_eq!(
            holder("shared", &[carrier("a", 2, "a"), old.clone()]).unwrap(),
            "b"
        );
        assert_eq!(holder("shared", &[carrier("a", 1, "a"), old]).unwrap(), "a");
        assert_eq!(holder("shared", &[]), None);
    }

    #[test]
    fn d15_a_default_that_is_too_long_says_what_to_set() {
        let long = key("ns", &"n".repeat(252));
        let error = AuditRoute::of(&long, None).unwrap_err();
        assert_eq!(error.length, 255);
        assert!(
            error
                .to_string()
                .ends_with("set spec.attribution.auditRoute")
        );
        assert!(AuditRoute::of(&long, Some("short")).is_ok());
    }
}
