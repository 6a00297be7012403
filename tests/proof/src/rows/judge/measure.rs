//! How far apart two values are, in lines that a careful person would touch.

use serde_json::{Map, Value};

use super::text::common;
use crate::rows::hand::{Step, step_to};

/// Says whether two values are the same: numbers by what they count, and an empty map of labels or annotations
/// is none.
pub(crate) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => match (a.as_i128(), b.as_i128()) {
            (Some(a), Some(b)) => a == b,
            _ => a.as_f64() == b.as_f64(),
        },
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let covers = |a: &Map<String, Value>, b: &Map<String, Value>| {
                a.iter().all(|(key, value)| match b.get(key) {
                    Some(other) => same(value, other),
                    None => is_empty_metadata(key, value),
                })
            };
            covers(a, b) && covers(b, a)
        }
        (a, b) => a == b,
    }
}

fn is_empty_metadata(key: &str, value: &Value) -> bool {
    matches!(key, "labels" | "annotations")
        && (value.is_null() || value.as_object().is_some_and(Map::is_empty))
}

/// Returns how many lines must go and come, with room for the mappings and lists around what changes.
pub(crate) fn lines(before: &Value, after: &Value) -> usize {
    if same(before, after) {
        return 0;
    }
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            let gone = before.iter().map(|(key, old)| match after.get(key) {
                Some(new) => lines(old, new),
                None => size(old) + 1,
            });
            let come = after.iter().filter(|(key, _)| !before.contains_key(*key));
            gone.sum::<usize>() + come.map(|(_, new)| size(new) + 1).sum::<usize>()
        }
        (Value::Array(before), Value::Array(after)) => items(before, after),
        (before, after) => size(before) + size(after),
    }
}

/// Compares lists by what identifies their items. An item that moves goes and comes.
fn items(before: &[Value], after: &[Value]) -> usize {
    let steps =
        |items: &[Value]| -> Vec<Step> { items.iter().map(|item| step_to(item, items)).collect() };
    let (old, new) = (steps(before), steps(after));
    let mut total = 0;
    for (step, item) in old.iter().zip(before) {
        match new.iter().position(|other| other == step) {
            Some(at) => total += lines(item, &after[at]),
            None => total += size(item) + 1,
        }
    }
    for (step, item) in new.iter().zip(after) {
        if !old.contains(step) {
            total += size(item) + 1;
        }
    }
    let old: Vec<&Step> = old.iter().filter(|step| new.contains(step)).collect();
    let stay: Vec<&Step> = new.iter().filter(|step| old.contains(step)).collect();
    if old != stay {
        // Which items move is the editor's choice, so each of them may.
        let moved = stay.len() - common(&old, &stay);
        let mut sizes: Vec<usize> = after.iter().map(size).collect();
        sizes.sort_unstable();
        total += sizes
            .iter()
            .rev()
            .take(moved)
            .map(|size| 2 * size + 6)
            .sum::<usize>();
    }
    total
}

/// Returns how many lines a value takes.
fn size(value: &Value) -> usize {
    match value {
        Value::Object(map) => 1 + map.values().map(size).sum::<usize>(),
        Value::Array(items) => 1 + items.iter().map(size).sum::<usize>(),
        Value::String(text) => 1 + text.matches('\n').count() + text.len() / 20,
        _ => 1,
    }
}

/// Follows steps down a value.
pub(super) fn follow<'v>(value: &'v Value, steps: &[Step]) -> Option<&'v Value> {
    steps.iter().try_fold(value, |at, step| match step {
        Step::Key(key) => at.get(key),
        Step::Named(key, name) => {
            let named = |item: &&Value| item.get(key).is_some_and(|value| same(value, name));
            at.as_array()?.iter().find(named)
        }
        Step::Item(item) => at.as_array()?.iter().find(|other| same(other, item)),
    })
}
