//! What is no difference although it is not equal (D27).
//!
//! The document and the live value are walked together with what is known of their type. Out of the value goes
//! what the server filled in and the document does not write; into it comes what the document writes and the
//! server drops, and the document's spelling of what is the same. What is new in the object is stripped of
//! defaults too, so that an added container shows what a person wrote and not what the server made of it.

use serde_json::{Map, Value};

use super::defaults::{Shape, Slot, Spelling};
use super::dependent::{Filled, Whole};
use super::equivalent::means;
use crate::yaml;

/// Maps that the server drops when they are empty, where nothing is known of the type. Other empty mappings may
/// be a choice: `emptyDir: {}` is one.
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

/// Defaults that say which kind of thing something is. Where the thing is new they are written, because a
/// reader could not know.
const CHOICES: [&str; 1] = ["emptyDir"];

/// Where the walk is, and what is known there.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    whole: Whole,
    slot: Option<&'a Slot>,
    shape: Option<&'a Shape>,
}

impl<'a> Place<'a> {
    pub(super) fn root(shape: Option<&'a Shape>, whole: Whole) -> Self {
        Self {
            whole,
            slot: None,
            shape,
        }
    }

    fn at(self, slot: Option<&'a Slot>) -> Self {
        Self {
            whole: self.whole,
            slot,
            shape: slot.and_then(|slot| slot.below.as_deref()),
        }
    }

    fn field(self, key: &str) -> Self {
        self.at(self.shape.and_then(|shape| shape.field(key)))
    }

    fn item(self) -> Self {
        self.at(self.shape.and_then(|shape| shape.items.as_ref()))
    }

    /// Returns what fills a field that depends on others.
    fn depends(self, key: &str, live: &Map<String, Value>) -> Option<Filled> {
        self.whole.fills(&self.shape?.name, key, live)
    }

    /// Says whether the server puts exactly this where nothing is given.
    fn is_filled(self, key: &str, live: &Value, depends: Option<&Filled>) -> bool {
        let slot = self.field(key).slot;
        let default = match depends {
            Some(Filled::Anything) => return true,
            Some(Filled::Value(value)) => Some(value),
            _ => slot.and_then(|slot| slot.default.as_ref()),
        };
        live.is_null() || default.is_some_and(|default| yaml::same(default, live))
    }

    /// Says whether the server takes the value for one that is not given.
    fn drops(self, held: &Value) -> bool {
        let dropped = self.slot.is_some_and(|slot| slot.dropped);
        match held {
            Value::Null => true,
            Value::Bool(held) => dropped && !held,
            Value::Number(held) => dropped && held.as_f64() == Some(0.0),
            Value::String(held) => dropped && held.is_empty(),
            Value::Array(items) => dropped && items.is_empty(),
            Value::Object(map) => dropped && map.is_empty(),
        }
    }

    fn spelling(self) -> Spelling {
        self.slot.map(|slot| slot.spelling).unwrap_or_default()
    }
}

/// Brings the value as close to the document as it can come without meaning something else.
pub(super) fn settle(document: &Value, value: &mut Value, place: Place<'_>) {
    match (document, &mut *value) {
        (Value::Object(held), Value::Object(map)) => {
            take_out(Some(held), map, place);
            for (key, held) in held {
                let place = place.field(key);
                match map.get_mut(key) {
                    Some(value) => settle(held, value, place),
                    None if means_nothing(key, held, place) => {
                        map.insert(key.clone(), held.clone());
                    }
                    None => {}
                }
            }
            for (key, value) in map.iter_mut() {
                if !held.contains_key(key) {
                    strip(value, place.field(key));
                }
            }
        }
        (Value::Array(held), Value::Array(items)) => settle_items(held, items, place.item()),
        (held, live) => {
            if means(held, live, place.spelling()) {
                *value = held.clone();
            }
        }
    }
}

fn settle_items(held: &[Value], items: &mut [Value], place: Place<'_>) {
    // Stripped items look like those that a person wrote, so they are found again more surely.
    let stripped: Vec<Value> = items
        .iter()
        .map(|item| {
            let mut item = item.clone();
            strip(&mut item, place);
            item
        })
        .collect();
    let counterparts = yaml::counterparts(held, &stripped);
    for ((item, stripped), counterpart) in items.iter_mut().zip(stripped).zip(counterparts) {
        match counterpart {
            Some(old) => settle(&held[old], item, place),
            None => *item = stripped,
        }
    }
}

/// Takes defaults out of something that the document does not have.
fn strip(value: &mut Value, place: Place<'_>) {
    match value {
        Value::Object(map) => {
            take_out(None, map, place);
            for (key, value) in map {
                strip(value, place.field(key));
            }
        }
        Value::Array(items) => {
            for item in items {
                strip(item, place.item());
            }
        }
        _ => {}
    }
}

/// Takes the fields out that the server filled in and the document does not hold. Without a document that
/// could hold them, everything is new.
fn take_out(held: Option<&Map<String, Value>>, map: &mut Map<String, Value>, place: Place<'_>) {
    let mut changed: Vec<(String, Option<Value>)> = Vec::new();
    for (key, live) in map.iter() {
        let own = held.and_then(|held| held.get(key));
        let is_new_choice = held.is_none() && CHOICES.contains(&key.as_str());
        let depends = place.depends(key, map);
        let left = match (own, depends) {
            (own, Some(Filled::Kept)) => own.cloned(),
            (own, Some(Filled::Entries(entries))) => without_entries(live, own, &entries),
            (own, depends) if !is_new_choice && place.is_filled(key, live, depends.as_ref()) => {
                match own {
                    None => None,
                    // Empty values count as not given wherever the server does not keep them.
                    Some(own) if place.field(key).drops(own) => Some(own.clone()),
                    Some(_) => continue,
                }
            }
            (own, _) => match without_additions(key, live, own, place) {
                Some(left) => left,
                None => continue,
            },
        };
        changed.push((key.clone(), left));
    }
    for (key, left) in changed {
        match left {
            Some(left) => map.insert(key, left),
            None => map.remove(&key),
        };
    }
}

/// Returns a map without the entries that the server filled in; nothing when no other is left and the document
/// has no such map.
fn without_entries(
    live: &Value,
    own: Option<&Value>,
    entries: &Map<String, Value>,
) -> Option<Value> {
    let Value::Object(live) = live else {
        return Some(live.clone());
    };
    let holds = |key: &str| own.is_some_and(|own| own.get(key).is_some());
    let is_filled = |key: &str, value: &Value| {
        let filled = entries.get(key);
        filled.is_some_and(|filled| yaml::same(filled, value))
    };
    let left: Map<String, Value> = live
        .iter()
        .filter(|(key, value)| holds(key) || !is_filled(key, value))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    (own.is_some() || !left.is_empty()).then_some(Value::Object(left))
}

/// Returns a list without the items that admission added, and the absence of the list when no other is left;
/// nothing when there are none.
fn without_additions(
    key: &str,
    live: &Value,
    own: Option<&Value>,
    place: Place<'_>,
) -> Option<Option<Value>> {
    let (Value::Array(items), Some(shape)) = (live, place.shape) else {
        return None;
    };
    let own_items = own.and_then(Value::as_array);
    let holds =
        |item: &Value| own_items.is_some_and(|own| own.iter().any(|own| yaml::same(own, item)));
    let is_added = |item: &Value| place.whole.adds(&shape.name, key, item) && !holds(item);
    if !items.iter().any(is_added) {
        return None;
    }
    let left: Vec<Value> = items
        .iter()
        .filter(|item| !is_added(item))
        .cloned()
        .collect();
    Some((own.is_some() || !left.is_empty()).then_some(Value::Array(left)))
}

/// Says whether the server drops what the document holds, because it says nothing.
fn means_nothing(key: &str, held: &Value, place: Place<'_>) -> bool {
    let by_its_name = match held {
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty() && DROPPED_WHEN_EMPTY.contains(&key),
        _ => false,
    };
    by_its_name || place.drops(held)
}
