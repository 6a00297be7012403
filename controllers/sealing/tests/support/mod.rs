//! What the tests of sealing share: the layout of the product, repeatable randomness, and objects.
#![allow(dead_code, reason = "each test file uses a part")]

pub(crate) mod chance;
pub(crate) mod real;

use std::collections::BTreeSet;

use model::{Namespace, ObjectName, ResourceId, TypeId};
use sealing::{
    Creation, FingerprintKey, Identities, Layout, NewIdentity, Recipient, SealedBytes,
    SealedDocument, Sealer,
};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// 2026-11-30, in milliseconds.
pub(crate) const NOW: u64 = 1_795_996_800_000;

/// The layout that the product uses.
pub(crate) struct ProductLayout;

impl Layout for ProductLayout {
    fn write(&self, mapping: &Map<String, Value>) -> String {
        manifests::yaml::canonical(mapping)
    }

    fn edit(&self, text: &str, value: &Value) -> Option<String> {
        manifests::yaml::edit(text, &[(0, value)]).ok()
    }
}

/// Somebody with a private key, and the means to seal.
pub(crate) struct Person {
    pub(crate) key: NewIdentity,
    seed: u64,
}

impl Person {
    pub(crate) fn new() -> Self {
        Self {
            key: NewIdentity::generate(),
            seed: 0,
        }
    }

    pub(crate) fn identities(&self) -> Identities {
        self.key.identities()
    }

    pub(crate) fn recipients(&self) -> BTreeSet<Recipient> {
        [self.key.recipient()].into()
    }

    /// Lets the sealer work with randomness that no earlier call has seen.
    pub(crate) fn seal<T>(
        &mut self,
        fingerprint_key: Option<&FingerprintKey>,
        work: impl FnOnce(&mut Sealer<'_>) -> T,
    ) -> T {
        self.seed += 1;
        let mut draws = 0_u64;
        let seed = self.seed;
        let mut random = move |bytes: &mut [u8]| {
            for chunk in bytes.chunks_mut(32) {
                draws += 1;
                let digest = Sha256::digest([seed.to_be_bytes(), draws.to_be_bytes()].concat());
                chunk.copy_from_slice(&digest[..chunk.len()]);
            }
        };
        work(&mut Sealer {
            layout: &ProductLayout,
            random: &mut random,
            now: NOW + self.seed * 1000,
            fingerprint_key,
        })
    }

    pub(crate) fn seal_new(&mut self, id: &ResourceId, object: &Map<String, Value>) -> String {
        let creation = Creation::for_recipients(self.recipients());
        let sealed = self.seal(Some(&fingerprint_key()), |sealer| {
            sealer.new_document(id, object, &creation)
        });
        text(sealed.unwrap())
    }

    /// Changes a text with the private key at hand. None if nothing is to do.
    pub(crate) fn change(
        &mut self,
        id: &ResourceId,
        before: &str,
        object: &Map<String, Value>,
    ) -> Option<String> {
        let document = SealedDocument::read(before).unwrap();
        let open = document.open(&self.identities()).unwrap();
        let changed = self.seal(Some(&fingerprint_key()), |sealer| {
            sealer.change(id, &open, object)
        });
        changed.unwrap().map(text)
    }

    /// Writes a text again without a private key.
    pub(crate) fn rewrite(
        &mut self,
        id: &ResourceId,
        before: &str,
        object: &Map<String, Value>,
    ) -> String {
        let document = SealedDocument::read(before).unwrap();
        let sealed = self.seal(Some(&fingerprint_key()), |sealer| {
            sealer.rewrite(id, &document, object)
        });
        text(sealed.unwrap())
    }

    pub(crate) fn open(&self, text: &str) -> Map<String, Value> {
        let document = SealedDocument::read(text).unwrap();
        let open = document.open(&self.identities()).unwrap();
        open.plaintext().expose().clone()
    }
}

pub(crate) fn fingerprint_key() -> FingerprintKey {
    FingerprintKey::new(&[42; FingerprintKey::BYTES]).unwrap()
}

pub(crate) fn text(sealed: SealedBytes) -> String {
    String::from_utf8(sealed.into_bytes()).unwrap()
}

pub(crate) fn map(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

pub(crate) fn secret_id() -> ResourceId {
    id(TypeId::new("", "secrets"))
}

pub(crate) fn vault_id() -> ResourceId {
    id(TypeId::new("example.org", "vaults"))
}

fn id(type_id: TypeId) -> ResourceId {
    ResourceId {
        type_id,
        namespace: Some(Namespace::new("team-a").unwrap()),
        name: ObjectName::new("login").unwrap(),
    }
}

/// Every text of a value that is long enough to be found by search.
pub(crate) fn plaintexts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => text
            .lines()
            .filter(|line| line.len() > 5)
            .map(str::to_owned)
            .collect(),
        Value::Array(items) => items.iter().flat_map(plaintexts).collect(),
        Value::Object(map) => map.values().flat_map(plaintexts).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}
