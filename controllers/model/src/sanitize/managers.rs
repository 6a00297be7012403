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
    entries(metadata)
        .filter(|entry| {
            entry
                .get("fieldsV1")
                .is_some_and(|fields| owns(fields, path))
        })
        .filter_map(|entry| entry.get("manager").and_then(Value::as_str))
        .collect()
}

/// Returns the fields that nobody owns but a controller that writes through the `scale` subresource, with its
/// name. Which field that is, the type decides.
pub(super) fn scaled(metadata: &Map<String, Value>) -> Vec<(Vec<String>, &str)> {
    let mut scaled = Vec::new();
    for entry in entries(metadata) {
        let manager = entry.get("manager").and_then(Value::as_str);
        let Some(manager) = manager.filter(|manager| is_autoscaler(manager)) else {
            continue;
        };
        if entry.get("subresource").and_then(Value::as_str) != Some("scale") {
            continue;
        }
        let mut paths = Vec::new();
        if let Some(fields) = entry.get("fieldsV1") {
            leaves(fields, &mut Vec::new(), &mut paths);
        }
        for path in paths {
            let steps: Vec<Step<'_>> = path.iter().map(|key| Step::Field(key)).collect();
            if !path.starts_with(&["status".to_owned()]) && owners(metadata, &steps).len() == 1 {
                scaled.push((path, manager));
            }
        }
    }
    scaled
}

/// Says whether a manager is a controller that scales. People scale through the same subresource with many
/// tools, so only what is known to be a controller counts as one.
fn is_autoscaler(manager: &str) -> bool {
    manager == CONTROLLER_MANAGER || manager.starts_with("keda") || manager.contains("autoscaler")
}

/// Collects the paths that end in no further field.
fn leaves(fields: &Value, path: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    let below: Vec<(&str, &Value)> = fields
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(key, below)| Some((key.strip_prefix("f:")?, below)))
        .collect();
    if below.is_empty() && !path.is_empty() {
        found.push(path.clone());
    }
    for (key, below) in below {
        path.push(key.to_owned());
        leaves(below, path, found);
        path.pop();
    }
}

fn entries(metadata: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    let entries = metadata.get("managedFields").and_then(Value::as_array);
    entries.into_iter().flatten()
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
