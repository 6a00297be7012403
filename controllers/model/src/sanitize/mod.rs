//! From what the API server sends to what a person meant (D20, D21).
//!
//! Sanitising takes a closed list of things out and keeps everything else, so a field that nobody thought
//! of is mirrored rather than lost. Read [`metadata`] for what every object loses, [`allocated`] for what
//! single kinds lose, [`managers`] for how "nobody set this" is known, and [`intent`] for objects that are
//! left out whole. What nobody wrote and is mirrored all the same is named by [`filled`].

mod allocated;
mod filled;
mod intent;
mod managers;
mod metadata;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use crate::name::{Namespace, ObjectName, Uid};
use crate::object::{ApplierOwner, DesiredObject, LeftOut, LiveObject, ObjectDigest, text_of};
use crate::resource::ResourceId;

pub use metadata::{SERVER_OWNED_METADATA, is_bookkeeping_annotation, is_bookkeeping_label};

/// Reads what a person meant out of a live object.
///
/// # Errors
/// Returns why the object is not mirrored at all.
pub fn sanitize(live: &LiveObject) -> Result<DesiredObject, LeftOut> {
    let id = identity(live)?;
    let metadata = live.value.get("metadata").and_then(Value::as_object);
    let metadata = metadata.ok_or_else(|| malformed("it has no metadata"))?;
    if metadata.contains_key("deletionTimestamp") {
        return Err(LeftOut::Terminating);
    }
    if let Some(left_out) = intent::left_out(live, &id, metadata) {
        return Err(left_out);
    }
    let text = |key: &str| {
        metadata
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let mut value = mirrored(live, metadata);
    let mut withheld = Vec::new();
    metadata::clean(&mut value, &mut withheld);
    allocated::take_out(&live.served, metadata, &mut value, &mut withheld);
    Ok(DesiredObject {
        served: live.served.clone(),
        id,
        uid: Uid::new(text("uid")).ok(),
        resource_version: text("resourceVersion"),
        generation: metadata
            .get("generation")
            .and_then(Value::as_i64)
            .unwrap_or_default(),
        filled: filled::find(&live.served, metadata, &value),
        content: text_of(&value),
        withheld,
        applier: applier(metadata),
        digest: ObjectDigest::default(),
        content_digest: ObjectDigest::default(),
        size: 0,
    }
    .seal())
}

/// Copies a live object, without the largest of what is taken out. Items of a list answer come without their type,
/// which no document may lack.
fn mirrored(live: &LiveObject, metadata: &Map<String, Value>) -> Map<String, Value> {
    let copied = |map: &Map<String, Value>, leave: &[&str]| {
        let kept = map.iter().filter(|(key, _)| !leave.contains(&key.as_str()));
        kept.map(|(key, value)| (key.clone(), value.clone()))
            .collect::<Map<_, _>>()
    };
    let mut value = copied(&live.value, &["metadata", "status"]);
    value.insert(
        "metadata".to_owned(),
        Value::Object(copied(metadata, &["managedFields"])),
    );
    value
        .entry("apiVersion")
        .or_insert_with(|| Value::String(live.served.api_version()));
    value
        .entry("kind")
        .or_insert_with(|| Value::String(live.served.kind.clone()));
    value
}

/// Reads the identity of a live object, also of one that is left out or being deleted.
///
/// # Errors
/// Returns what is wrong with it.
pub fn identity(live: &LiveObject) -> Result<ResourceId, LeftOut> {
    let metadata = live.value.get("metadata").and_then(Value::as_object);
    let text = |key: &str| metadata.and_then(|m| m.get(key)).and_then(Value::as_str);
    let name = text("name").ok_or_else(|| malformed("it has no name"))?;
    let name = ObjectName::new(name).map_err(|error| malformed(&error.to_string()))?;
    let namespace = match (live.served.namespaced, text("namespace")) {
        (false, _) => None,
        (true, None) => {
            return Err(malformed(
                "it has no namespace although its type is namespaced",
            ));
        }
        (true, Some(namespace)) => {
            Some(Namespace::new(namespace).map_err(|error| malformed(&error.to_string()))?)
        }
    };
    Ok(ResourceId {
        type_id: live.served.type_id.clone(),
        namespace,
        name,
    })
}

/// Reads which applier an object says it belongs to. Done before the evidence is taken out.
fn applier(metadata: &Map<String, Value>) -> Option<ApplierOwner> {
    let read = |map: &str, key: &str| {
        metadata
            .get(map)
            .and_then(|map| map.get(key))
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    if let Some(name) = read("labels", "kustomize.toolkit.fluxcd.io/name") {
        let namespace = read("labels", "kustomize.toolkit.fluxcd.io/namespace").unwrap_or_default();
        return Some(ApplierOwner::Flux { namespace, name });
    }
    read("annotations", "argocd.argoproj.io/tracking-id")
        .map(|tracking_id| ApplierOwner::ArgoCd { tracking_id })
}

fn malformed(problem: &str) -> LeftOut {
    LeftOut::Malformed {
        problem: problem.to_owned(),
    }
}
