//! One status patch: a merge patch of what differs, guarded by the version that was read.

use std::time::Duration;

use kube::api::{Patch, PatchParams};
use kube::{Api, Resource, ResourceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::failure::Failure;

/// When an object is looked at again whose status could not be written because it had changed. The change
/// itself is on its way to the store.
pub(crate) const AFTER_OUTDATED: Duration = Duration::from_millis(500);

/// What became of a status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It is written.
    Written,
    /// It is what was published before, so nothing was sent.
    Unchanged,
    /// The object has changed since it was read, or is gone: the next look decides again.
    Outdated,
}

/// Writes the status of an object that was read as `object`.
pub(crate) async fn write<K>(
    api: &Api<K>,
    object: &K,
    before: &impl Serialize,
    after: &impl Serialize,
) -> Result<Outcome, Failure>
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + std::fmt::Debug,
{
    let before = serde_json::to_value(before)?;
    let Some(difference) = difference(&before, &serde_json::to_value(after)?) else {
        return Ok(Outcome::Unchanged);
    };
    let patch = json!({
        "metadata": {"resourceVersion": object.resource_version()},
        "status": difference,
    });
    let name = object.name_any();
    match api
        .patch_status(&name, &PatchParams::default(), &Patch::Merge(patch))
        .await
    {
        Ok(_) => Ok(Outcome::Written),
        Err(kube::Error::Api(status)) if status.code == 409 || status.code == 404 => {
            Ok(Outcome::Outdated)
        }
        Err(error) => Err(Failure::api("a status update")(error)),
    }
}

/// Returns the merge patch that turns one value into the other, or `None` when they are equal.
fn difference(before: &Value, after: &Value) -> Option<Value> {
    if before == after {
        return None;
    }
    let (Value::Object(before), Value::Object(after)) = (before, after) else {
        return Some(after.clone());
    };
    let mut patch = Map::new();
    for (key, value) in after {
        match before.get(key) {
            None => {
                patch.insert(key.clone(), value.clone());
            }
            Some(old) => {
                patch.extend(difference(old, value).map(|inner| (key.clone(), inner)));
            }
        }
    }
    let dropped = before.keys().filter(|key| !after.contains_key(*key));
    patch.extend(dropped.map(|key| (key.clone(), Value::Null)));
    Some(Value::Object(patch))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_holds_what_differs_and_null_for_what_is_gone() {
        let before = json!({"a": 1, "b": {"x": 1, "y": 2}, "c": [1, 2], "d": "gone"});
        let after = json!({"a": 1, "b": {"x": 1, "y": 3}, "c": [1], "e": null});
        assert_eq!(
            difference(&before, &after).unwrap(),
            json!({"b": {"y": 3}, "c": [1], "d": null, "e": null})
        );
        assert_eq!(difference(&before, &before), None);
        assert_eq!(
            difference(&Value::Null, &json!({"a": 1})).unwrap(),
            json!({"a": 1})
        );
    }
}
