//! What a document should say, given what it says and what its object is.
//!
//! The object decides (ED-3), with four exceptions. What sanitising takes out of a live object is never added
//! to a document and never removed from one; where the document holds a field that a person may set too, it is
//! compared (D20). A default that the document does not write out is not added, and the document's own spelling
//! of a value is kept (D27, in `settle`). Replicas that an autoscaler set are no difference (D27a).

use model::sanitize::{SERVER_OWNED_METADATA, is_bookkeeping_annotation, is_bookkeeping_label};
use model::{DesiredObject, FilledField, Filler, RepoPath, WithheldField};
use serde_json::{Map, Value};

use super::defaults::Defaults;
use super::dependent::{Whole, mirrored_labels};
use super::outcome::Scaled;
use super::settle::{Place, settle};
use crate::folder::Document;
use crate::yaml;

/// Returns the value that the document should have. Its `apiVersion` is the document's own.
pub(crate) fn wanted(document: &Value, desired: &DesiredObject, defaults: &Defaults) -> Value {
    let mut value = Value::Object(desired.value());
    if let Some(version) = document.get("apiVersion") {
        value["apiVersion"] = version.clone();
    }
    if desired.id().namespace.is_none() {
        // A namespace on a cluster-scoped document has no effect; it is the person's.
        copy(document, &mut value, &["metadata", "namespace"]);
    }
    keep_server_owned(document, &mut value);
    for field in desired.withheld() {
        compare_withheld(document, &mut value, field);
    }
    for field in desired.filled() {
        leave_filled(document, &mut value, field);
    }
    leave_mirrored_labels(document, &mut value, desired);
    let whole = Whole::of(&desired.served().type_id, &value);
    let root = Place::root(defaults.of(desired.served()), whole);
    settle(document, &mut value, root);
    value
}

/// Returns the value that the document should have, in the form that the document is compared in: without a
/// namespace where it has none.
pub(crate) fn comparable(
    document: &Document,
    held: &Value,
    desired: &DesiredObject,
    defaults: &Defaults,
) -> Value {
    let value = wanted(held, desired, defaults);
    if document.has_namespace() {
        value
    } else {
        without_namespace(value)
    }
}

/// Copies what the server owns from the document, so that it stays as the person left it.
fn keep_server_owned(document: &Value, value: &mut Value) {
    copy(document, value, &["status"]);
    for key in SERVER_OWNED_METADATA {
        copy(document, value, &["metadata", key]);
    }
    keep_books(document, value, "labels", is_bookkeeping_label);
    keep_books(document, value, "annotations", is_bookkeeping_annotation);
}

fn keep_books(document: &Value, value: &mut Value, map: &str, is_bookkeeping: fn(&str) -> bool) {
    let held = document
        .get("metadata")
        .and_then(|metadata| metadata.get(map))
        .and_then(Value::as_object);
    for key in held.into_iter().flat_map(Map::keys) {
        if is_bookkeeping(key) {
            copy(document, value, &["metadata", map, key]);
        }
    }
}

fn copy(document: &Value, value: &mut Value, path: &[&str]) {
    let found = path.iter().try_fold(document, |at, key| at.get(key));
    if let Some(found) = found {
        put(value, path, found.clone());
    }
}

/// Sets a field, making the mappings above it.
fn put(value: &mut Value, path: &[&str], new: Value) {
    let Some((last, parents)) = path.split_last() else {
        return;
    };
    let mut at = value;
    for key in parents {
        let Value::Object(map) = at else {
            return;
        };
        at = map.entry(*key).or_insert_with(|| Value::Object(Map::new()));
    }
    if let Value::Object(map) = at {
        map.insert((*last).to_owned(), new);
    }
}

/// Puts a withheld field into the wanted value where the document holds it.
fn compare_withheld(document: &Value, value: &mut Value, field: &WithheldField) {
    let path: Vec<&str> = field.path.iter().map(String::as_str).collect();
    put_withheld(document, value, &path, &field.value);
}

fn put_withheld(document: &Value, value: &mut Value, path: &[&str], live: &Value) {
    let Some((first, rest)) = path.split_first() else {
        return;
    };
    match (document, value) {
        (Value::Object(held), Value::Object(map)) => {
            let Some(held) = held.get(*first) else {
                return;
            };
            if rest.is_empty() {
                // Nothing in a document asks for something to be allocated.
                let asks = held.is_null() || held == "" || held == 0;
                let value = if asks { held } else { live };
                map.insert((*first).to_owned(), value.clone());
                return;
            }
            let made = !map.contains_key(*first);
            let below = map
                .entry(*first)
                .or_insert_with(|| Value::Object(Map::new()));
            put_withheld(held, below, rest, live);
            // A mapping made for a field that the document does not hold would be a difference of its own.
            if made && below.as_object().is_some_and(Map::is_empty) {
                map.remove(*first);
            }
        }
        (Value::Array(held), Value::Array(items)) => {
            let Ok(index) = first.parse::<usize>() else {
                return;
            };
            let counterpart = yaml::counterparts(held, items)
                .get(index)
                .copied()
                .flatten();
            if let (Some(old), Some(item)) = (counterpart, items.get_mut(index)) {
                put_withheld(&held[old], item, rest, live);
            }
        }
        _ => {}
    }
}

/// Returns the field that an autoscaler has taken over, where the document says something else (D27a).
pub(crate) fn scaled(path: &RepoPath, held: &Value, desired: &DesiredObject) -> Option<Scaled> {
    let value = desired.value();
    desired.filled().iter().find_map(|field| {
        let Filler::Autoscaler { manager } = &field.by else {
            return None;
        };
        let mut keys = field.path.iter();
        let held = keys.try_fold(held, |at, key| at.get(key))?;
        let (first, rest) = field.path.split_first()?;
        let live = value.get(first)?;
        let live = rest.iter().try_fold(live, |at, key| at.get(key))?;
        (!yaml::same(held, live)).then(|| Scaled {
            id: desired.id().clone(),
            path: path.clone(),
            field: field.path.join("."),
            manager: manager.clone(),
            held: held.clone(),
            live: live.clone(),
        })
    })
}

/// Leaves a field that no person wrote as the document has it.
fn leave_filled(document: &Value, value: &mut Value, field: &FilledField) {
    let path: Vec<&str> = field.path.iter().map(String::as_str).collect();
    let held = path.iter().try_fold(document, |at, key| at.get(key));
    match (held, &field.by) {
        (None, _) => remove(value, &path),
        (Some(held), Filler::Autoscaler { .. }) => put(value, &path, held.clone()),
        (Some(_), Filler::ApiServer) => {}
    }
}

fn remove(value: &mut Value, path: &[&str]) {
    let Some((last, parents)) = path.split_last() else {
        return;
    };
    let parent = parents
        .iter()
        .try_fold(value, |at, key| at.get_mut(key))
        .and_then(Value::as_object_mut);
    if let Some(parent) = parent {
        parent.remove(*last);
    }
}

/// Some kinds without labels take those of their template.
fn leave_mirrored_labels(document: &Value, value: &mut Value, desired: &DesiredObject) {
    let held = document.pointer("/metadata/labels");
    let mirrored = mirrored_labels(&desired.served().type_id, value);
    if held.is_none() && mirrored.is_some() && mirrored == value.pointer("/metadata/labels") {
        remove(value, &["metadata", "labels"]);
    }
}

/// Returns the value without `metadata.namespace`.
pub(crate) fn without_namespace(mut value: Value) -> Value {
    if let Value::Object(map) = &mut value {
        leave_namespace_out(map);
    }
    value
}

/// Takes `metadata.namespace` out of an object.
pub(crate) fn leave_namespace_out(value: &mut Map<String, Value>) {
    if let Some(Value::Object(metadata)) = value.get_mut("metadata") {
        metadata.remove("namespace");
    }
}
