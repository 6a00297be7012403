//! A decrypted object, wiped from memory when it is dropped.

use std::fmt;

use serde_json::{Map, Value};
use zeroize::Zeroize as _;

/// The content of a sealed document. Neither `Debug` nor `Display` shows it.
#[derive(Clone, PartialEq)]
pub struct Plaintext(Map<String, Value>);

impl Plaintext {
    pub(crate) fn new(object: Map<String, Value>) -> Self {
        Self(object)
    }

    /// Returns the object. The caller must not let it reach a log, status, event, metric, message or error.
    pub fn expose(&self) -> &Map<String, Value> {
        &self.0
    }
}

impl fmt::Debug for Plaintext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Plaintext(***)")
    }
}

impl Drop for Plaintext {
    fn drop(&mut self) {
        self.0.values_mut().for_each(wipe);
    }
}

fn wipe(value: &mut Value) {
    match value {
        Value::String(text) => text.zeroize(),
        Value::Array(items) => items.iter_mut().for_each(wipe),
        Value::Object(map) => map.values_mut().for_each(wipe),
        Value::Number(_) | Value::Bool(_) => *value = Value::Null,
        Value::Null => {}
    }
}

/// Says whether two values are the same. Numbers are compared by value, because `1.0` comes back as `1`.
pub(crate) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            a == b || (a.is_f64() != b.is_f64() && a.as_f64() == b.as_f64())
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => same_objects(a, b),
        _ => a == b,
    }
}

/// Says whether two objects are the same, as [`same`] does.
pub(crate) fn same_objects(a: &Map<String, Value>, b: &Map<String, Value>) -> bool {
    a.len() == b.len()
        && a.iter()
            .all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn d22_plaintext_is_not_shown() {
        let plaintext = Plaintext::new(json!({"data": "hunter2"}).as_object().unwrap().clone());
        assert!(!format!("{plaintext:?}").contains("hunter2"));
    }

    #[test]
    fn numbers_are_compared_by_value() {
        assert!(same(&json!([1.0, {"a": 2}]), &json!([1, {"a": 2.0}])));
        assert!(!same(&json!(1), &json!("1")));
        assert!(!same(&json!({"a": 1}), &json!({"a": 1, "b": 1})));
    }
}
