//! What came back that was not sent, and what was sent and did not come back.

use std::collections::BTreeMap;

use manifests::plan::defaults::record::{ENTRIES, ITEMS, Spelling};
use serde_json::Value;

use super::schema::{Form, Kind, OpenApi, Scalar};
use super::skeleton::NOT_WRITTEN;

/// What was found out about one place, over all skeletons.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The name of the schema of an object.
    pub(super) schema: Option<String>,
    /// Every value that was filled in here.
    pub(super) defaults: Vec<Value>,
    /// Whether an empty value was taken for none; nothing when none was sent.
    pub(super) dropped: Option<bool>,
    pub(super) spelling: Spelling,
    /// The fields, or the items or entries as a step of that name.
    pub(super) below: BTreeMap<String, Found>,
}

/// Compares an object with its skeleton.
pub(super) fn object(
    openapi: &OpenApi,
    kind: &Kind,
    sent: &Value,
    returned: &Value,
    found: &mut Found,
) {
    let parts = |object: &Value| {
        let mut object = object.clone();
        if let Value::Object(map) = &mut object {
            map.retain(|key, _| !NOT_WRITTEN.contains(&key.as_str()));
        }
        object
    };
    let form = openapi.named(&kind.schema);
    walk(openapi, form, &parts(sent), &parts(returned), found);
}

fn walk(openapi: &OpenApi, form: Form<'_>, sent: &Value, returned: &Value, found: &mut Found) {
    match (form, sent, returned) {
        (
            Form::Object {
                name,
                fields,
                required,
            },
            Value::Object(sent),
            Value::Object(returned),
        ) => {
            found.schema = name.map(str::to_owned);
            let is_required =
                |key: &str| required.is_some_and(|keys| keys.iter().any(|k| k == key));
            for (key, schema) in fields {
                let sent = sent.get(key);
                // What is required has no default; an empty value only says that it was not there.
                let returned = returned
                    .get(key)
                    .filter(|value| sent.is_some() || !is_required(key) || !is_empty(value));
                step(openapi, key, schema, sent, returned, found);
            }
        }
        (Form::Map(entries), Value::Object(sent), Value::Object(returned)) => {
            for (key, sent) in sent {
                step(
                    openapi,
                    ENTRIES,
                    entries,
                    Some(sent),
                    returned.get(key),
                    found,
                );
            }
        }
        (Form::List(items), Value::Array(sent), Value::Array(returned)) => {
            for (sent, returned) in sent.iter().zip(returned) {
                step(openapi, ITEMS, items, Some(sent), Some(returned), found);
            }
        }
        _ => {}
    }
}

fn step(
    openapi: &OpenApi,
    step: &str,
    schema: &Value,
    sent: Option<&Value>,
    returned: Option<&Value>,
    found: &mut Found,
) {
    let form = openapi.resolve(schema);
    if sent.is_none() && returned.is_none() && !matches!(form, Form::Scalar(Scalar::Spelled(_))) {
        return;
    }
    let found = found.below.entry(step.to_owned()).or_default();
    if let Form::Scalar(Scalar::Spelled(spelling)) = form {
        found.spelling = spelling;
    }
    match (sent, returned) {
        (None, Some(filled)) if is_default(form, filled) && !found.defaults.contains(filled) => {
            found.defaults.push(filled.clone());
        }
        (Some(sent), None) if is_empty(sent) => {
            found.dropped.get_or_insert(true);
        }
        (Some(sent), Some(returned)) => {
            match (is_empty(sent), is_empty(returned)) {
                (true, true) => found.dropped = Some(false),
                // A part with defaults of its own is no other part.
                (true, false) if !sent.is_object() => {
                    found.dropped.get_or_insert(true);
                }
                _ => {}
            }
            walk(openapi, form, sent, returned, found);
        }
        _ => {}
    }
}

/// Says whether a value that was filled in is one that can be met again: not the time of the request, and not a
/// part that lacks something required, which no valid object does.
fn is_default(form: Form<'_>, filled: &Value) -> bool {
    !matches!(form, Form::Scalar(Scalar::Time)) && is_complete(filled)
}

/// Says whether no part is missing that the server marks by null.
pub(super) fn is_complete(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(items) => items.iter().all(is_complete),
        Value::Object(map) => map.values().all(is_complete),
        _ => true,
    }
}

/// Says whether a value has no content.
pub(super) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
    }
}
