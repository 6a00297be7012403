//! The fields in which a document and its object differ.

use std::fmt;

use model::RepoPath;
use serde_json::Value;

use crate::fidelity::Divergence;
use crate::yaml::{self, FieldPath, Way};

/// One field that a refusal is about.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The field, such as `spec.replicas`; nothing where fields are not told apart.
    pub field: Option<String>,
    /// The file that says it, where that is not the object's document.
    pub path: Option<RepoPath>,
    /// The line that says it, or that of the nearest thing above it, counted from 1.
    pub line: Option<u32>,
    /// What the folder says.
    pub expected: Told,
    /// What the object says.
    pub live: Told,
}

/// A value, as far as it may be told.
#[derive(Clone, PartialEq)]
pub enum Told {
    /// There is none.
    Absent,
    /// This one.
    Value(Value),
    /// It is a secret, or may be one.
    Withheld,
}

/// A field and both its values.
pub(super) struct Gap<'a> {
    pub(super) field: FieldPath,
    pub(super) held: Option<&'a Value>,
    pub(super) live: Option<&'a Value>,
}

impl Told {
    pub(super) fn of(value: Option<&Value>) -> Self {
        value.cloned().map_or(Self::Absent, Self::Value)
    }
}

impl fmt::Debug for Told {
    /// Shows no value: the content of an object does not belong in a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Absent => "Absent",
            Self::Value(_) => "Value",
            Self::Withheld => "Withheld",
        })
    }
}

impl<'a> From<Divergence<'a>> for Gap<'a> {
    fn from(divergence: Divergence<'a>) -> Self {
        Self {
            field: divergence.field,
            held: Some(divergence.held),
            live: divergence.live,
        }
    }
}

/// Returns every leaf in which two values differ, in the order of the fields. Items of lists are paired as an edit
/// pairs them; one that comes is counted behind those that the document has.
pub(super) fn gaps<'a>(held: &'a Value, live: &'a Value) -> Vec<Gap<'a>> {
    let mut found = Vec::new();
    compare(held, live, Way::default(), &mut found);
    found
}

/// Returns the first field in which two values differ.
pub(crate) fn first_gap(held: &Value, live: &Value) -> Option<FieldPath> {
    gaps(held, live).into_iter().next().map(|gap| gap.field)
}

fn compare<'a>(held: &'a Value, live: &'a Value, way: Way<'_>, found: &mut Vec<Gap<'a>>) {
    match (held, live) {
        (Value::Object(held), Value::Object(live)) => {
            for (key, held) in held {
                match live.get(key) {
                    Some(live) => compare(held, live, way.key(key), found),
                    None => note(way.key(key), Some(held), None, found),
                }
            }
            for (key, live) in live {
                if !held.contains_key(key) {
                    note(way.key(key), None, Some(live), found);
                }
            }
        }
        (Value::Array(old), Value::Array(new)) => {
            let before = found.len();
            compare_items(old, new, way, found);
            // The same items in another order.
            if found.len() == before && !yaml::same(held, live) {
                note(way, Some(held), Some(live), found);
            }
        }
        _ if yaml::same(held, live) => {}
        _ => note(way, Some(held), Some(live), found),
    }
}

fn compare_items<'a>(old: &'a [Value], new: &'a [Value], way: Way<'_>, found: &mut Vec<Gap<'a>>) {
    let counterparts = yaml::counterparts(old, new);
    for (index, held) in old.iter().enumerate() {
        let live = counterparts.iter().position(|at| *at == Some(index));
        match live {
            Some(live) => compare(held, &new[live], way.item(index), found),
            None => note(way.item(index), Some(held), None, found),
        }
    }
    let added = new
        .iter()
        .zip(&counterparts)
        .filter(|(_, from)| from.is_none());
    for (index, (live, _)) in added.enumerate() {
        note(way.item(old.len() + index), None, Some(live), found);
    }
}

fn note<'a>(
    way: Way<'_>,
    held: Option<&'a Value>,
    live: Option<&'a Value>,
    found: &mut Vec<Gap<'a>>,
) {
    let field = way.path();
    found.push(Gap { field, held, live });
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fields(held: Value, live: Value) -> Vec<String> {
        let gaps = gaps(&held, &live);
        gaps.iter().map(|gap| gap.field.to_string()).collect()
    }

    #[test]
    fn e5_every_leaf_that_differs_is_named() {
        assert_eq!(
            fields(
                json!({"a": 1, "b": {"c": "x", "gone": {}}, "same": [1.0]}),
                json!({"a": 1, "b": {"c": "y", "new": 1}, "same": [1]})
            ),
            ["b.c", "b.gone", "b.new"]
        );
        assert_eq!(
            fields(
                json!([{"name": "a", "image": "1"}, {"name": "b"}, {"name": "c"}]),
                json!([{"name": "d"}, {"name": "b"}, {"name": "a", "image": "2"}])
            ),
            ["[0].image", "[2]", "[3]"]
        );
        assert_eq!(
            fields(
                json!({"l": [{"name": "a"}, {"name": "b"}]}),
                json!({"l": [{"name": "b"}, {"name": "a"}]})
            ),
            ["l"]
        );
        assert_eq!(fields(json!({"a": "1"}), json!({"a": 1})), ["a"]);
    }

    #[test]
    fn e5_what_is_told_is_in_no_debug_output() {
        let told = Told::of(Some(&json!("hunter2")));
        assert_eq!(format!("{told:?}"), "Value");
    }
}
