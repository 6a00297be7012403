//! Where a configuration object is: the one form of its name that queues, stores and keys share.

use std::fmt;

use kube::runtime::reflector::{ObjectRef, Store};
use kube::{Resource, ResourceExt};
use model::{
    GitBranchKey, GitProviderKey, KubeProviderKey, Millis, Namespace, ObjectName, RuleKey,
    TargetKey, Uid,
};
use std::sync::Arc;

/// Namespace and name of a configuration object of any kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Place {
    pub(crate) namespace: Namespace,
    pub(crate) name: ObjectName,
}

impl Place {
    /// Returns where the object is; `None` for what no API server would have stored in a namespace.
    pub(crate) fn of(object: &impl ResourceExt) -> Option<Self> {
        Self::named(object.namespace()?.as_str(), object.name_any().as_str())
    }

    /// Returns the place that a reference names; `None` when it names nothing that could exist.
    pub(crate) fn named(namespace: &str, name: &str) -> Option<Self> {
        Some(Self {
            namespace: Namespace::new(namespace).ok()?,
            name: ObjectName::new(name).ok()?,
        })
    }

    /// Finds the object in a store.
    pub(crate) fn find<K>(&self, store: &Store<K>) -> Option<Arc<K>>
    where
        K: Resource<DynamicType = ()> + Clone + 'static,
    {
        store.get(&ObjectRef::new(self.name.as_str()).within(self.namespace.as_str()))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// Converts between a place and the key of one kind.
macro_rules! key_of_kind {
    ($($key:ident),+) => {
        $(
            impl From<&Place> for $key {
                fn from(place: &Place) -> Self {
                    Self::new(place.namespace.clone(), place.name.clone())
                }
            }

            impl From<&$key> for Place {
                fn from(key: &$key) -> Self {
                    Self { namespace: key.namespace.clone(), name: key.name.clone() }
                }
            }
        )+
    };
}

key_of_kind!(
    TargetKey,
    GitBranchKey,
    GitProviderKey,
    KubeProviderKey,
    RuleKey
);

/// Returns the incarnation of an object that the API server stored.
pub(crate) fn uid(object: &impl ResourceExt) -> Option<Uid> {
    Uid::new(object.uid()?).ok()
}

/// Returns when an object was created, in wall time.
pub(crate) fn created_at(object: &impl ResourceExt) -> Millis {
    object.creation_timestamp().map_or(0, |time| {
        u64::try_from(time.0.as_millisecond()).unwrap_or(0)
    })
}

/// Says whether the object is being deleted.
pub(crate) fn is_leaving(object: &impl ResourceExt) -> bool {
    object.meta().deletion_timestamp.is_some()
}
