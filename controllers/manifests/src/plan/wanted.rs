//! What a document should say, given what it says and what its object is.
//!
//! The object decides (ED-3), with three exceptions. What sanitising takes out of a live object is never added
//! to a document and never removed from one; where the document holds a field that a person may set too, it is
//! compared (D20). A default that the document does not write out is not added (D27). And a spelling of
//! "nothing" that the server does not keep (null, an empty list) is left.

use std::borrow::Cow;

use model::sanitize::{SERVER_OWNED_METADATA, is_bookkeeping_annotation, is_bookkeeping_label};
use model::{DesiredObject, TypeId, WithheldField};
use serde_json::{Map, Value};

use super::defaults::Defaults;
use crate::yaml;

/// Maps that the server drops when they are empty, wherever they stand. Other empty mappings may be a choice:
/// `emptyDir: {}` is one.
const DROPPED_WHEN_EMPTY: [&str; 9] = [
    "annotations",
    "binaryData",
    "data",
    "labels",
    "limits",
    "matchLabels",
    "nodeSelector",
    "requests",
    "stringData",
];

/// Returns the value that the document should have. Its `apiVersion` is the document's own.
pub(crate) fn wanted(document: &Value, desired: &DesiredObject, defaults: &Defaults) -> Value {
    let mut value = Value::Object(content(desired).into_owned());
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
    let type_id = &desired.served().type_id;
    settle(
        document,
        &mut value,
        &Absent { type_id, defaults },
        &mut Vec::new(),
    );
    value
}

/// Returns what a new document of the object holds. Items of a list answer come without their type, which no
/// document may lack.
pub(crate) fn content(desired: &DesiredObject) -> Cow<'_, Map<String, Value>> {
    let value = desired.value();
    if value.contains_key("apiVersion") && value.contains_key("kind") {
        return Cow::Borrowed(value);
    }
    let served = desired.served();
    let mut content = value.clone();
    content
        .entry("apiVersion")
        .or_insert_with(|| Value::String(served.api_version()));
    content
        .entry("kind")
        .or_insert_with(|| Value::String(served.kind.clone()));
    Cow::Owned(content)
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
                map.insert((*first).to_owned(), live.clone());
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

/// What may be missing on one side without being a difference.
struct Absent<'a> {
    type_id: &'a TypeId,
    defaults: &'a Defaults,
}

/// Takes defaults that the document does not write out of the value, and puts in what the document spells out
/// although it means nothing.
fn settle<'a>(
    document: &'a Value,
    value: &mut Value,
    absent: &Absent<'_>,
    path: &mut Vec<&'a str>,
) {
    match (document, value) {
        (Value::Object(held), Value::Object(map)) => {
            map.retain(|key, value| {
                let mut at: Vec<&str> = path.clone();
                at.push(key);
                held.contains_key(key) || !absent.defaults.fills(absent.type_id, &at, value)
            });
            for (key, held) in held {
                match map.get_mut(key) {
                    None if means_nothing(key, held) => {
                        map.insert(key.clone(), held.clone());
                    }
                    None => {}
                    Some(value) => {
                        path.push(key);
                        settle(held, value, absent, path);
                        path.pop();
                    }
                }
            }
        }
        (Value::Array(held), Value::Array(items)) => {
            path.push("[]");
            let counterparts = yaml::counterparts(held, items);
            for (item, counterpart) in items.iter_mut().zip(counterparts) {
                if let Some(old) = counterpart {
                    settle(&held[old], item, absent, path);
                }
            }
            path.pop();
        }
        _ => {}
    }
}

fn means_nothing(key: &str, held: &Value) -> bool {
    match held {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty() && DROPPED_WHEN_EMPTY.contains(&key),
        _ => false,
    }
}

/// Returns the value without `metadata.namespace`.
pub(crate) fn without_namespace(mut value: Value) -> Value {
    if let Some(Value::Object(metadata)) = value.get_mut("metadata") {
        metadata.remove("namespace");
    }
    value
}
