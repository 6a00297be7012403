//! Any object goes in and comes out, whatever is done in between.
#![allow(clippy::unwrap_used, reason = "a test reports a failure by panicking")]

mod support;

use proptest::prelude::*;
use sealing::{SealedDocument, Standing};
use serde_json::{Map, Value, json};
use support::{Person, fingerprint_key, map, vault_id};

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z][a-z0-9._-]{0,6}",
        Just("data".to_owned()),
        Just("true".to_owned()),
        Just("1".to_owned()),
        Just("~".to_owned()),
        Just("<<".to_owned()),
        Just("a b".to_owned()),
    ]
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9_f64).prop_map(Value::from),
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

fn object() -> impl Strategy<Value = Map<String, Value>> {
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn d22_what_is_sealed_comes_out_again(first in object(), second in object()) {
        let mut person = Person::new();
        let id = vault_id();
        let new = person.seal_new(&id, &first);
        prop_assert!(same(&person.open(&new), &first));
        prop_assert_eq!(person.change(&id, &new, &first), None);
        let document = SealedDocument::read(&new).unwrap();
        let key = fingerprint_key();
        prop_assert_eq!(document.standing(&id, &first, &key), Standing::Unchanged);
        let is_same = same(&first, &second);
        prop_assert_eq!(document.standing(&id, &second, &key) == Standing::Unchanged, is_same);

        let changed = person.change(&id, &new, &second).unwrap_or_else(|| new.clone());
        prop_assert!(same(&person.open(&changed), &second));
        let rewritten = person.rewrite(&id, &changed, &first);
        prop_assert!(same(&person.open(&rewritten), &first));
    }

    #[test]
    fn no_text_makes_reading_panic(text in "\\PC{0,80}", at in any::<prop::sample::Index>()) {
        let mut person = Person::new();
        let sealed = person.seal_new(&vault_id(), &map(json!({
            "apiVersion": "example.org/v1", "kind": "Vault", "metadata": {"name": "login"}, "spec": {"a": "b"},
        })));
        let mut mixed = sealed;
        let at = at.index(mixed.len());
        mixed.insert_str(at, &text);
        if let Ok(document) = SealedDocument::read(&mixed) {
            let _opened = document.open(&person.identities()).is_ok();
        }
        let _read = SealedDocument::read(&text).is_ok();
    }
}

fn same(a: &Map<String, Value>, b: &Map<String, Value>) -> bool {
    manifests::yaml::same(&Value::Object(a.clone()), &Value::Object(b.clone()))
}
