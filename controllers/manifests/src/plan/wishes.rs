//! The intents of a batch as one wish for each object.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::{DesiredObject, Namespace, ResourceId, Scope};

use super::intent::{Intent, RemovalCause};
use crate::folder::{AcceptedFolder, TypeCatalog};

/// What is to become of one object.
#[derive(Debug, Clone)]
pub(crate) enum Wish {
    /// It exists with this content.
    Upsert(Arc<DesiredObject>),
    /// It is gone.
    Remove(RemovalCause),
}

/// One wish for each object; an ordered map, so that nothing depends on the order of the intents.
pub(crate) type Wishes = BTreeMap<ResourceId, Wish>;

/// Collects the wishes that the intents name. An upsert beats a removal of the same object (D53), the last of
/// several upserts counts, and a removal that was seen beats a sweep.
pub(crate) fn named(intents: &[Intent]) -> Wishes {
    let mut wishes = Wishes::new();
    for intent in intents {
        let objects: &[Arc<DesiredObject>] = match intent {
            Intent::Upsert(object) => std::slice::from_ref(object),
            Intent::Sweep { objects, .. } => objects,
            Intent::Replay(actions) => &actions.upserts,
            Intent::Remove { .. } => &[],
        };
        for object in objects {
            wishes.insert(object.id().clone(), Wish::Upsert(object.clone()));
        }
    }
    let mut removals: Vec<(&ResourceId, RemovalCause)> = Vec::new();
    for intent in intents {
        match intent {
            Intent::Remove { id } => removals.push((id, RemovalCause::Event)),
            Intent::Replay(actions) => {
                removals.extend(
                    actions
                        .removals
                        .iter()
                        .map(|removal| (&removal.id, removal.cause)),
                );
            }
            Intent::Upsert(_) | Intent::Sweep { .. } => {}
        }
    }
    removals.sort_by_key(|(_, cause)| *cause);
    for (id, cause) in removals {
        wishes.entry(id.clone()).or_insert(Wish::Remove(cause));
    }
    wishes
}

/// Adds the removals of what swept collections lack: every document of the type in the scope that no wish and
/// no protection names (DL-3). What the catalog does not know has no identity and is never swept (IX-10).
pub(crate) fn add_swept(wishes: &mut Wishes, intents: &[Intent], folder: AcceptedFolder<'_>) {
    let sweeps: Vec<_> = intents
        .iter()
        .filter_map(|intent| match intent {
            Intent::Sweep {
                collection,
                protected,
                ..
            } => Some((collection, protected)),
            Intent::Upsert(_) | Intent::Remove { .. } | Intent::Replay(_) => None,
        })
        .collect();
    if sweeps.is_empty() {
        return;
    }
    let protected: BTreeSet<&ResourceId> = sweeps
        .iter()
        .flat_map(|(_, protected)| *protected)
        .collect();
    for id in folder.objects() {
        let swept = sweeps.iter().any(|(collection, _)| collection.holds(id));
        if swept && !wishes.contains_key(id) && !protected.contains(id) {
            wishes.insert(id.clone(), Wish::Remove(RemovalCause::Sweep));
        }
    }
}

/// Returns the catalog with the types of all objects that are wanted, so that their documents are found also
/// where discovery is behind.
pub(crate) fn complete_catalog(catalog: &Arc<TypeCatalog>, wishes: &Wishes) -> Arc<TypeCatalog> {
    let mut catalog = Arc::clone(catalog);
    for wish in wishes.values() {
        if let Wish::Upsert(object) = wish {
            let served = object.served();
            if catalog.find(&served.type_id.group, &served.kind).is_none() {
                Arc::make_mut(&mut catalog).insert(served);
            }
        }
    }
    catalog
}

/// Returns the namespaces that the batch speaks of; `None` stands for all of them.
pub(crate) fn source_namespaces(
    wishes: &Wishes,
    intents: &[Intent],
) -> BTreeSet<Option<Namespace>> {
    let mut namespaces: BTreeSet<Option<Namespace>> = wishes
        .keys()
        .filter_map(|id| id.namespace.clone())
        .map(Some)
        .collect();
    for intent in intents {
        if let Intent::Sweep { collection, .. } = intent {
            match &collection.scope {
                Scope::Cluster => {}
                Scope::AllNamespaces => {
                    namespaces.insert(None);
                }
                Scope::Namespace(namespace) => {
                    namespaces.insert(Some(namespace.clone()));
                }
            }
        }
    }
    namespaces
}
