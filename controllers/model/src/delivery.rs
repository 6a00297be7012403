//! What a watch hands to a branch.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::author::Author;
use crate::name::TargetKey;
use crate::object::DesiredObject;
use crate::resource::{Collection, ResourceId, Sensitivity, ServedType};

/// One change of one object, on its way to the folder of one target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Delivery {
    /// The target whose folder it is for.
    pub target: TargetKey,
    /// The collection whose watch saw it.
    pub collection: Collection,
    /// What happened.
    pub change: Change,
    /// Who made the change.
    pub author: Author,
}

/// What happened to an object.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Change {
    /// The object exists with this content.
    Upsert {
        /// The content.
        object: Arc<DesiredObject>,
        /// Whether the object was created or changed.
        operation: Operation,
    },
    /// The object is gone, or being deleted, or left the selection.
    Remove {
        /// Which object.
        id: ResourceId,
        /// The type it was read as.
        served: Arc<ServedType>,
        /// The resourceVersion of the removal.
        resource_version: String,
    },
}

/// The operation as commit messages and metrics name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Operation {
    /// The object was created.
    Create,
    /// The object was changed.
    Update,
    /// The object was removed.
    Delete,
}

impl Operation {
    /// Returns the name in capitals, as commit messages print it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
        }
    }
}

/// The complete object set of one collection at one moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The target whose folder it is for.
    pub target: TargetKey,
    /// What was observed.
    pub collection: Collection,
    /// The type as it was read.
    pub served: Arc<ServedType>,
    /// Every object of the collection that is mirrored.
    pub objects: Vec<Arc<DesiredObject>>,
    /// Objects that exist and are left out: their documents stay as they are.
    pub protected: Vec<ResourceId>,
    /// The resourceVersion at which the set was complete.
    pub resource_version: String,
}

impl Delivery {
    /// Returns the object that the change is about.
    pub fn object_id(&self) -> &ResourceId {
        match &self.change {
            Change::Upsert { object, .. } => object.id(),
            Change::Remove { id, .. } => id,
        }
    }

    /// Returns the bytes that the change adds to a buffer, without the charge for each item.
    pub fn size(&self) -> usize {
        match &self.change {
            Change::Upsert { object, .. } => object.size(),
            Change::Remove { .. } => 0,
        }
    }
}

impl Change {
    /// Returns the operation as commit messages and metrics name it.
    pub fn operation(&self) -> Operation {
        match self {
            Self::Upsert { operation, .. } => *operation,
            Self::Remove { .. } => Operation::Delete,
        }
    }

    /// Judges once more whether the object is sensitive. What was stays so.
    pub fn judge(&mut self, sensitivity: &Sensitivity) {
        match self {
            Self::Upsert { object, .. } => Arc::make_mut(object).judge(sensitivity),
            Self::Remove { served, .. } if sensitivity.is_sensitive(&served.type_id) => {
                Arc::make_mut(served).sensitive = true;
            }
            Self::Remove { .. } => {}
        }
    }

    /// Returns the type that the object was read as.
    pub fn served(&self) -> &Arc<ServedType> {
        match self {
            Self::Upsert { object, .. } => object.served(),
            Self::Remove { served, .. } => served,
        }
    }
}

impl Snapshot {
    /// Returns the bytes that the snapshot adds to a buffer, without the charge for each item.
    pub fn size(&self) -> usize {
        self.objects.iter().map(|object| object.size()).sum()
    }
}
