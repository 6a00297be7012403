//! What a session remembers of what was handed over, one entry for each object of the collection.

use std::collections::HashMap;

use model::{DesiredObject, ObjectDigest, ResourceId, Uid};

/// What was last accepted, by object. As large as the collection, and no larger: an object that is gone is
/// forgotten.
#[derive(Debug, Default)]
pub(super) struct Memory(HashMap<ResourceId, Known>);

/// What was last accepted of one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Known {
    /// Its content, by digest.
    Present {
        uid: Option<Uid>,
        digest: ObjectDigest,
    },
    /// Its removal, while the object itself still waits for finalizers.
    Going { uid: Option<Uid> },
}

impl Known {
    /// What is remembered once the object's content is accepted.
    pub(super) fn present(object: &DesiredObject) -> Self {
        Self::Present {
            uid: object.uid().cloned(),
            digest: object.digest(),
        }
    }
}

impl Memory {
    /// Returns what was last accepted of an object.
    pub(super) fn get(&self, id: &ResourceId) -> Option<&Known> {
        self.0.get(id)
    }

    /// Says whether exactly this content of this incarnation was accepted last.
    pub(super) fn has(&self, object: &DesiredObject) -> bool {
        match self.0.get(object.id()) {
            Some(Known::Present { uid, digest }) => {
                uid.as_ref() == object.uid() && *digest == object.digest()
            }
            Some(Known::Going { .. }) | None => false,
        }
    }

    /// Says whether some content of this incarnation was accepted last.
    pub(super) fn has_incarnation(&self, object: &DesiredObject) -> bool {
        match self.0.get(object.id()) {
            Some(Known::Present { uid, .. }) => uid.as_ref() == object.uid(),
            Some(Known::Going { .. }) | None => false,
        }
    }

    /// Says whether the removal of this incarnation was accepted already.
    pub(super) fn is_going(&self, id: &ResourceId, uid: Option<&Uid>) -> bool {
        match self.0.get(id) {
            Some(Known::Going { uid: known }) => known.as_ref() == uid,
            Some(Known::Present { .. }) | None => false,
        }
    }

    /// Remembers what was accepted; `None` forgets the object.
    pub(super) fn set(&mut self, id: ResourceId, known: Option<Known>) {
        match known {
            Some(known) => self.0.insert(id, known),
            None => self.0.remove(&id),
        };
    }
}

impl FromIterator<(ResourceId, Known)> for Memory {
    fn from_iter<I: IntoIterator<Item = (ResourceId, Known)>>(entries: I) -> Self {
        Self(entries.into_iter().collect())
    }
}
