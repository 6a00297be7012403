//! What a caller wants to be true of a folder.

use std::sync::Arc;

use model::{Collection, DesiredObject, ResourceId};
use serde::{Deserialize, Serialize};

/// One wish. A batch of them is planned as a whole; the order of wishes for different objects has no meaning (PI-6).
#[derive(Debug, Clone, PartialEq)]
pub enum Intent {
    /// The object exists with this content.
    Upsert(Arc<DesiredObject>),
    /// The object was seen to be gone.
    Remove {
        /// Which object.
        id: ResourceId,
    },
    /// The collection holds exactly these objects.
    Sweep {
        /// What was observed. Its selector is not looked at: the sweep covers the type in the scope, so the
        /// caller protects what another collection of the same target holds.
        collection: Collection,
        /// Every object of it that is mirrored.
        objects: Vec<Arc<DesiredObject>>,
        /// Objects that exist although they are not in `objects`: their documents stay as they are (IX-9).
        protected: Vec<ResourceId>,
    },
    /// What an earlier plan decided is applied to this tree, and nothing else (RP-1).
    Replay(DecidedActions),
}

/// What a plan decided to do, so that it can be done again on a newer tip. It goes through every check again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DecidedActions {
    /// The objects whose upsert changed the tree.
    pub upserts: Vec<Arc<DesiredObject>>,
    /// The documents that were taken out.
    pub removals: Vec<DecidedRemoval>,
}

/// One document that was taken out.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DecidedRemoval {
    /// The object of the document.
    pub id: ResourceId,
    /// Why it was taken out; a later prune mode may no longer allow it.
    pub cause: RemovalCause,
}

/// Why a document is taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum RemovalCause {
    /// The removal of the object was observed.
    Event,
    /// A complete snapshot lacks the object.
    Sweep,
}

impl DecidedActions {
    /// Says whether there is nothing to replay.
    pub fn is_empty(&self) -> bool {
        self.upserts.is_empty() && self.removals.is_empty()
    }

    /// Keeps every object that the intents name, also those that changed nothing: what a write with a save
    /// request retains (RP-3).
    pub fn capturing(intents: &[Intent]) -> Self {
        let mut kept = Self::default();
        for intent in intents {
            match intent {
                Intent::Upsert(object) => kept.upserts.push(object.clone()),
                Intent::Remove { id } => kept.removals.push(DecidedRemoval {
                    id: id.clone(),
                    cause: RemovalCause::Event,
                }),
                Intent::Sweep { objects, .. } => kept.upserts.extend(objects.iter().cloned()),
                Intent::Replay(actions) => {
                    kept.upserts.extend(actions.upserts.iter().cloned());
                    kept.removals.extend(actions.removals.iter().cloned());
                }
            }
        }
        kept
    }
}
