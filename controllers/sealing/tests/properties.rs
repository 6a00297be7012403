//! Any object goes in and comes out, whatever is done in between.
#![allow(clippy::unwrap_used, reason = "a test reports a failure by panicking")]

mod support;

use proptest::prelude::*;
use sealing::{SealedDocument, Standing};
use serde_json::{Map, Value, json};
use support::chance::object;
use support::{Person, fingerprint_key, map, vault_id};

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
