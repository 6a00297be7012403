//! Objects made by chance.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::map;

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z][a-z0-9._-]{0,6}",
        Just("data".to_owned()),
        Just("true".to_owned()),
        Just("1".to_owned()),
        Just("~".to_owned()),
        Just("a b".to_owned()),
    ]
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-100_000..100_000_i32).prop_map(|eighths| Value::from(f64::from(eighths) / 8.0)),
        "[ -~]{0,12}".prop_map(Value::from),
        "\\PC{0,6}".prop_map(Value::from),
        "[a-z \n\t]{0,12}".prop_map(Value::from),
        prop_oneof![
            Just("0644"),
            Just("yes"),
            Just("2024-01-02"),
            Just("1_0"),
            Just("ENC[x]"),
            Just("")
        ]
        .prop_map(Value::from),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key(), inner, 0..4)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

/// Makes an object of a sensitive type that is no core Secret.
pub(crate) fn object() -> impl Strategy<Value = Map<String, Value>> {
    (
        value(),
        prop::collection::btree_map(key(), "[ -~]{0,8}", 0..3),
    )
        .prop_map(|(spec, labels)| {
            map(json!({
                "apiVersion": "example.org/v1", "kind": "Vault",
                "metadata": {"name": "login", "namespace": "team-a", "annotations": labels},
                "spec": spec,
            }))
        })
}

/// Makes a text that a YAML reader may take for a number, a date or text.
pub(crate) fn token() -> impl Strategy<Value = String> {
    let any = "[0-9oxbT_.eE+:Z-]{1,10}";
    let number = "[+-]?[0-9][0-9_xob]{0,3}[.]?[0-9]{0,3}([eE][+-]?[0-9]{1,2})?";
    let date = "[12][0-9]{3}-[01]?[0-9]-[0-3]?[0-9]([Tt][0-2]?[0-9]:[0-5]?[0-9]:[0-5]?[0-9]([.][0-9]{1,3})?(Z|[+-]0[0-9]:30)?)?";
    prop_oneof![any, number, date].prop_filter("a plain scalar", |token| {
        let is_plain = !token.starts_with(':') && !token.ends_with(':');
        is_plain && !token.bytes().all(|byte| byte == b'-')
    })
}
