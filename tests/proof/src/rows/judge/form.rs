//! How an edited document is written: as it was before, and so that every reader takes text for text.

use std::collections::BTreeSet;

use serde_json::Value;

use super::text::is_idle;
use crate::rows::hand::is_block;

/// Compares the forms of a document before and after an edit.
pub(crate) fn keeps(before: &str, after: &str, held: &Value, wanted: &Value) -> Result<(), String> {
    text_is_text(after, wanted)?;
    blocks(before, after, held, wanted)?;
    // The lines of a text may look like a list.
    if !wanted.to_string().contains("\\n-") {
        lists(before, after)?;
    }
    order(before, after)?;
    swapped(before, after)
}

/// ST-2: a reader of YAML 1.2 finds the same texts.
fn text_is_text(after: &str, wanted: &Value) -> Result<(), String> {
    let Ok(read) = serde_yaml::from_str::<serde_yaml::Value>(after) else {
        return Ok(());
    };
    let Ok(read) = serde_json::to_value(read) else {
        return Ok(());
    };
    find_other_text(&read, wanted, &mut String::new())
}

fn find_other_text(read: &Value, wanted: &Value, at: &mut String) -> Result<(), String> {
    // What is merged in is not expanded by that reader.
    if read.get("<<").is_some() {
        return Ok(());
    }
    let length = at.len();
    match wanted {
        Value::String(text) if read.as_str() != Some(text) => {
            return Err(format!(
                "{at} is {read} to another reader, and not {text:?}"
            ));
        }
        Value::Object(map) => {
            for (key, value) in map {
                at.push_str(&format!("/{key}"));
                find_other_text(read.get(key).unwrap_or(&Value::Null), value, at)?;
                at.truncate(length);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                at.push_str(&format!("/{index}"));
                find_other_text(read.get(index).unwrap_or(&Value::Null), value, at)?;
                at.truncate(length);
            }
        }
        _ => {}
    }
    Ok(())
}

/// ST-3: the text of a block that changes stays a block.
fn blocks(before: &str, after: &str, held: &Value, wanted: &Value) -> Result<(), String> {
    let texts = held.get("data").and_then(Value::as_object);
    for (key, old) in texts.into_iter().flatten() {
        let new = wanted["data"].get(key).and_then(Value::as_str);
        let is_text = old.as_str().is_some_and(is_block) && new.is_some_and(is_block);
        let header = format!(" {key}: |");
        if is_text && before.contains(&header) && !after.contains(&header) {
            return Err(format!("{key} is no block any more"));
        }
    }
    Ok(())
}

/// ST-4: dashes stand as far behind their key as they did somewhere before.
fn lists(before: &str, after: &str) -> Result<(), String> {
    let known = offsets(before);
    let new: Vec<usize> = offsets(after).difference(&known).copied().collect();
    (known.is_empty() || new.is_empty())
        .then_some(())
        .ok_or_else(|| format!("dashes stand {new:?} behind their key, and stood {known:?}"))
}

fn offsets(text: &str) -> BTreeSet<usize> {
    let mut offsets = BTreeSet::new();
    let mut key = None;
    for line in text.lines().filter(|line| !is_idle(line)) {
        let column = line.len() - line.trim_start_matches(' ').len();
        let rest = &line[column..];
        if let (Some(key), true) = (key, rest.starts_with("- ")) {
            offsets.extend(column.checked_sub(key));
        }
        let content = line.trim_start_matches([' ', '-']);
        let bare = content.split(" #").next().unwrap_or_default().trim_end();
        key = bare.ends_with(':').then(|| line.len() - content.len());
    }
    offsets
}

/// ST-6: the keys that stay keep their order.
fn order(before: &str, after: &str) -> Result<(), String> {
    let keys = |text: &str| -> Vec<String> {
        let is_key = |line: &&str| !line.starts_with([' ', '#', '-', '.', '%', '{', '}', ']']);
        text.lines()
            .filter(is_key)
            .filter_map(|line| line.split_once(':').map(|(key, _)| key.to_owned()))
            .collect()
    };
    let (old, new) = (keys(before), keys(after));
    let old: Vec<&String> = old.iter().filter(|key| new.contains(key)).collect();
    let new: Vec<&String> = new.iter().filter(|key| old.contains(key)).collect();
    (old == new)
        .then_some(())
        .ok_or_else(|| format!("{old:?} stand in another order"))
}

/// ST-2 and ST-9: where one line takes the place of another, quotes and brackets stay.
fn swapped(before: &str, after: &str) -> Result<(), String> {
    let gone: Vec<&str> = lines_of_one_only(before, after);
    let come: Vec<&str> = lines_of_one_only(after, before);
    if let [old] = gone[..]
        && let Some((key, value)) = old.split_once(": ")
        && value.starts_with(['{', '['])
        && [before, after]
            .iter()
            .all(|text| text.matches(&format!("{}:", key.trim())).count() == 1)
        && let Some(at) = come.iter().position(|line| line.trim_end() == format!("{key}:"))
        // A list that becomes a mapping is written anew.
        && value.starts_with('[') == come.get(at + 1).is_some_and(|next| next.trim_start().starts_with("- "))
    {
        return Err(format!("{old:?} is no line any more"));
    }
    let ([old], [new]) = (&gone[..], &come[..]) else {
        return Ok(());
    };
    let value = |line: &str| {
        line.split_once(": ")
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
    };
    let (Some((key, old)), Some((new_key, new))) = (value(old), value(new)) else {
        return Ok(());
    };
    // An item that is known by another name is another item.
    let names = ["name", "port", "containerPort", "mountPath", "key"];
    if key != new_key || names.contains(&key.trim_start_matches([' ', '-', '{'])) {
        return Ok(());
    }
    let sign = old.chars().next().filter(|sign| "'\"".contains(*sign));
    let needs_escapes = sign == Some('\'') && new.starts_with('"') && new.contains('\\');
    let new = new.split(" #").next().unwrap_or_default();
    let is_text = !new.starts_with(['|', '>']);
    // A number or a truth value has no quotes to keep.
    let is_text = is_text && new.trim().parse::<f64>().is_err();
    let is_word = ["true", "false"].contains(&new.trim());
    match sign {
        Some(sign) if is_text && !is_word && !needs_escapes && !new.starts_with(sign) => {
            Err(format!("{old} becomes {new}"))
        }
        _ => Ok(()),
    }
}

fn lines_of_one_only<'t>(one: &'t str, other: &str) -> Vec<&'t str> {
    let mut others: Vec<&str> = other.lines().collect();
    one.lines()
        .filter(|line| match others.iter().position(|other| other == line) {
            Some(at) => {
                others.swap_remove(at);
                false
            }
            None => true,
        })
        .collect()
}
