//! Keys for the rows about secrets, and what they seal and open without the planner.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use manifests::{Encryption, yaml};
use model::{Millis, ResourceId};
use sealing::{
    Creation, FingerprintKey, Identities, Layout, NewIdentity, RandomSource, SealedDocument, Sealer,
};
use serde_json::{Map, Value};

use super::case::Keys;
use crate::dice::Dice;

/// The time that everything is sealed at.
pub(super) const NOW: Millis = 1_800_000_000_000;

static KEY: OnceLock<NewIdentity> = OnceLock::new();

/// The one key, made when it is first needed. No byte that a row compares depends on it.
fn key() -> &'static NewIdentity {
    KEY.get_or_init(NewIdentity::generate)
}

/// Returns what a target is set up with.
pub fn encryption(keys: Keys) -> Option<Encryption> {
    let identities = match keys {
        Keys::None => return None,
        Keys::Both => key().identities(),
        Keys::Fingerprint => Identities::default(),
    };
    Some(Encryption {
        recipients: BTreeSet::from([key().recipient()]),
        identities: Arc::new(identities),
        fingerprint_key: (keys == Keys::Fingerprint).then(fingerprint_key).flatten(),
    })
}

/// Returns the private key, ready to open what is sealed.
pub fn identities() -> Identities {
    key().identities()
}

/// Returns the private key as it stands in a file.
pub fn entry() -> String {
    key().entry().expose().to_string()
}

fn fingerprint_key() -> Option<FingerprintKey> {
    FingerprintKey::new(&[7; 32])
}

/// Returns random bytes that are the same in every run.
pub(super) fn random(seed: u64) -> impl RandomSource {
    let mut dice = Dice::new(seed);
    move |bytes: &mut [u8]| {
        for byte in bytes {
            *byte = dice.number().to_le_bytes()[0];
        }
    }
}

/// Lays sealed documents out as the product does; what they say is proved by opening them.
struct Canonical;

impl Layout for Canonical {
    fn write(&self, mapping: &Map<String, Value>) -> String {
        yaml::canonical(mapping)
    }

    fn edit(&self, _: &str, _: &Value) -> Option<String> {
        None
    }
}

/// Seals an object as a document that stands in a folder already.
pub(super) fn seal(id: &ResourceId, value: &Value, fingerprint: bool, seed: u64) -> String {
    let key_of_operator = fingerprint.then(fingerprint_key).flatten();
    let mut random = random(seed);
    let mut sealer = Sealer {
        layout: &Canonical,
        random: &mut random,
        now: NOW,
        fingerprint_key: key_of_operator.as_ref(),
    };
    let creation = Creation::for_recipients(BTreeSet::from([key().recipient()]));
    let object = value.as_object().cloned().unwrap_or_default();
    let sealed = sealer.new_document(id, &object, &creation);
    let bytes = sealed
        .expect("what is made here can be sealed")
        .into_bytes();
    String::from_utf8(bytes).expect("a sealed document is text")
}

/// Opens a document; `None` where it is no sealed one or the key does not open it.
pub(super) fn open(text: &str) -> Option<Value> {
    let document = SealedDocument::read(text).ok()?;
    let open = document.open(&key().identities()).ok()?;
    Some(Value::Object(open.plaintext().expose().clone()))
}

/// Returns the recipient, as a rule names it.
pub(super) fn recipient() -> String {
    key().recipient().as_str().to_owned()
}
