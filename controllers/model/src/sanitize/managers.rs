//! Who set a field, read from `metadata.managedFields`.

use serde_json::{Map, Value};

/// The manager name of the built-in controllers.
pub(super) const CONTROLLER_MANAGER: &str = "kube-controller-manager";

/// One step into an object, as managed fields spell it.
pub(super) enum Step<'a> {
    /// A key of a map.
    Field(&'a str),
    /// The item of a keyed list that has these key fields.
    Item(&'a Map<String, Value>, &'a [&'a str]),
}

/// Returns the names of the managers that own the field. The field manager runs before ports and addresses
/// are allocated, so a field without an owner was allocated.
pub(super) fn owners<'a>(metadata: &'a Map<String, Value>, path: &[Step<'_>]) -> Vec<&'a str> {
    let entries = metadata.get("managedFields").and_then(Value::as_array);
    entries
        .into_iter()
        .flatten()
        .filter(|entry| {
            entry
                .get("fieldsV1")
                .is_some_and(|fields| owns(fields, path))
        })
        .filter_map(|entry| entry.get("manager").and_then(Value::as_str))
        .collect()
}

fn owns(fields: &Value, path: &[Step<'_>]) -> bool {
    let Some((step, rest)) = path.split_first() else {
        return true;
    };
    match step {
        Step::Field(name) => fields
            .get(format!("f:{name}"))
            .is_some_and(|below| owns(below, rest)),
        Step::Item(item, keys) => fields
            .as_object()
            .into_iter()
            .flatten()
            .any(|(key, below)| {
                let Some(Ok(Value::Object(wanted))) =
                    key.strip_prefix("k:").map(serde_json::from_str::<Value>)
                else {
                    return false;
                };
                keys.iter().all(|key| wanted.get(*key) == item.get(*key)) && owns(below, rest)
            }),
    }
}
