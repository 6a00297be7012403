//! What one object of a stream means: wanted, going, or left out on purpose.

use std::sync::Arc;

use model::sanitize::{identity, sanitize};
use model::{DesiredObject, LeftOut, LiveObject, ResourceId, ServedType, Uid};
use serde_json::{Map, Value};

/// What one object means.
#[derive(Debug)]
pub(super) enum Judged {
    /// It is mirrored.
    Wanted(DesiredObject),
    /// It would be mirrored, but it is being deleted.
    Going {
        id: ResourceId,
        uid: Option<Uid>,
        resource_version: String,
    },
    /// It is not mirrored.
    LeftOut {
        /// Absent when the object cannot even be named.
        id: Option<ResourceId>,
        reason: LeftOut,
        resource_version: String,
    },
}

/// Judges an object as the API server sent it.
pub(super) fn judge(served: &Arc<ServedType>, mut value: Map<String, Value>) -> Judged {
    let metadata = value.get_mut("metadata").and_then(Value::as_object_mut);
    // Taken out first, because an object that is left out anyway stays left out while it is being deleted.
    let going = metadata.is_some_and(|metadata| metadata.remove("deletionTimestamp").is_some());
    let resource_version = text(&value, "resourceVersion");
    let live = LiveObject {
        served: Arc::clone(served),
        value,
    };
    match sanitize(&live) {
        Ok(object) if going => Judged::Going {
            id: object.id().clone(),
            uid: object.uid().cloned(),
            resource_version,
        },
        Ok(object) => Judged::Wanted(object),
        Err(reason) => Judged::LeftOut {
            id: identity(&live).ok(),
            reason,
            resource_version,
        },
    }
}

fn text(value: &Map<String, Value>, key: &str) -> String {
    let metadata = value.get("metadata").and_then(Value::as_object);
    let text = metadata.and_then(|metadata| metadata.get(key)?.as_str());
    text.unwrap_or_default().to_owned()
}
