//! The proof that a file came out as planned, by reading it once more (RV-7).

use serde_json::Value;

use super::edits::{FileWork, NewText};
use crate::yaml;

/// Says whether the new text holds exactly: every untouched document with its old bytes, every edited one with
/// the wanted value, none of the removed ones, and the new ones behind them.
pub(crate) fn holds(before: Option<&str>, after: &NewText, work: &FileWork) -> bool {
    let before = before.unwrap_or_default();
    let NewText::Text(after) = after else {
        return work.edits.is_empty() && work.additions.is_empty();
    };
    let (Ok(old), Ok(new)) = (yaml::slices(before), yaml::slices(after)) else {
        return false;
    };
    let Ok(values) = yaml::values(after) else {
        return false;
    };
    let mut found = new.iter().zip(&values);
    for (index, slice) in old.iter().enumerate() {
        if work.removals.contains_key(&index) {
            continue;
        }
        let Some((new, value)) = found.next() else {
            return false;
        };
        let right = match work.edits.get(&index) {
            Some(edit) => yaml::same(value, &edit.wanted),
            None => slice == new,
        };
        if !right {
            return false;
        }
    }
    let mut additions = work.additions.iter();
    let added = found.all(|(_, value)| {
        additions
            .next()
            .is_some_and(|wanted| yaml::same(value, &Value::Object(wanted.value())))
    });
    added && additions.next().is_none()
}
