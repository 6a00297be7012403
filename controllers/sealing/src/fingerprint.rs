//! Knowing without a private key whether a sealed document still holds what is wanted.
//!
//! One extra key of the `sops` block holds a salt and an HMAC-SHA256 over the identity of the object, its
//! canonical plaintext and the ciphertext beside it. Nobody without the key learns anything from it, not even
//! that two documents hold the same. The ciphertext is covered so that a file put together from two versions,
//! as merging does, is not taken for either of them. A plain hash of the ciphertext stands beside it: it tells such
//! a file from one whose object has changed. The key is named by a tag of it, so that a key that was lost is not
//! taken for an object that has changed.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use model::ResourceId;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::fmt;
use zeroize::Zeroizing;

use crate::random::{RandomSource, draw};

type HmacSha256 = Hmac<Sha256>;

const PREFIX: &str = "HMAC_SHA256,salt:";
const DIGEST: &str = ",digest:";
const KEY: &str = ",key:";
const SEALED: &str = ",sealed:";
/// What the tag of a key is made over.
const TAGGED: &[u8] = b"gitops-reverser fingerprint key";

/// The key of the fingerprints, kept in a Secret of the operator's namespace. Never printed.
#[derive(Clone)]
pub struct FingerprintKey(Zeroizing<[u8; 32]>);

impl FingerprintKey {
    /// The number of random bytes that make a key.
    pub const BYTES: usize = 32;

    /// Takes random bytes for a key. None if their number is another one.
    pub fn new(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(|key| Self(Zeroizing::new(key)))
    }

    /// Returns what tells this key from others, and nothing of the key.
    fn tag(&self) -> String {
        let mut mac = self.mac();
        mac.update(TAGGED);
        STANDARD.encode(&mac.finalize().into_bytes()[..9])
    }

    /// Returns a key for another purpose that tells nothing of this one.
    pub(crate) fn derived(&self, purpose: &[u8]) -> Zeroizing<[u8; 32]> {
        let mut mac = self.mac();
        mac.update(purpose);
        Zeroizing::new(mac.finalize().into_bytes().into())
    }

    fn mac(&self) -> HmacSha256 {
        HmacSha256::new_from_slice(&*self.0).expect("because HMAC takes a key of any length")
    }
}

impl fmt::Debug for FingerprintKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FingerprintKey(***)")
    }
}

/// What a fingerprint says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// The document holds what is wanted.
    Unchanged,
    /// The document holds something else.
    Changed,
    /// The document carries no fingerprint, as after every write of the real tool, or one of another form or key.
    Unknown,
}

/// What a fingerprint covers.
pub(crate) struct Covered<'a> {
    pub(crate) id: &'a ResourceId,
    pub(crate) object: &'a Map<String, Value>,
    /// The encrypted values and the encrypted message authentication code, in the order of the file.
    pub(crate) ciphertext: &'a [String],
}

/// Makes the text that goes into the block, with a new salt.
pub(crate) fn make(
    key: &FingerprintKey,
    covered: &Covered<'_>,
    random: &mut dyn RandomSource,
) -> String {
    let salt: [u8; 16] = draw(random);
    let tag = authenticate(key, &salt, covered).finalize().into_bytes();
    format!(
        "{PREFIX}{}{DIGEST}{}{KEY}{}{SEALED}{}",
        STANDARD.encode(salt),
        STANDARD.encode(tag),
        key.tag(),
        STANDARD.encode(hash(covered.ciphertext))
    )
}

/// Says whether a text of the block was made for this ciphertext, as far as it tells.
pub(crate) fn is_of(text: &str, ciphertext: &[String]) -> bool {
    text.rsplit_once(SEALED)
        .is_none_or(|(_, sealed)| sealed == STANDARD.encode(hash(ciphertext)))
}

fn hash(ciphertext: &[String]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for text in ciphertext {
        hash.update((text.len() as u64).to_be_bytes());
        hash.update(text.as_bytes());
    }
    hash.finalize().into()
}

/// Compares a text of the block with what is wanted.
pub(crate) fn judge(key: &FingerprintKey, text: Option<&str>, covered: &Covered<'_>) -> Standing {
    let parts = text
        .and_then(|text| text.strip_prefix(PREFIX)?.split_once(DIGEST))
        .and_then(|(salt, rest)| {
            let rest = rest.split_once(SEALED).map_or(rest, |(before, _)| before);
            let (digest, tag) = match rest.split_once(KEY) {
                Some((digest, tag)) => (digest, Some(tag)),
                None => (rest, None),
            };
            if tag.is_some_and(|tag| tag != key.tag()) {
                return None;
            }
            Some((STANDARD.decode(salt).ok()?, STANDARD.decode(digest).ok()?))
        });
    match parts {
        None => Standing::Unknown,
        Some((salt, digest)) => match authenticate(key, &salt, covered).verify_slice(&digest) {
            Ok(()) => Standing::Unchanged,
            Err(_) => Standing::Changed,
        },
    }
}

fn authenticate(key: &FingerprintKey, salt: &[u8], covered: &Covered<'_>) -> HmacSha256 {
    let mut mac = key.mac();
    let id = covered.id;
    feed(&mut mac, salt);
    feed(&mut mac, id.type_id.group.as_bytes());
    feed(&mut mac, id.type_id.resource.as_bytes());
    let namespace = id.namespace.as_ref().map_or("", |name| name.as_str());
    feed(&mut mac, namespace.as_bytes());
    feed(&mut mac, id.name.as_str().as_bytes());
    feed_object(&mut mac, covered.object);
    for text in covered.ciphertext {
        feed(&mut mac, text.as_bytes());
    }
    mac
}

/// Feeds a part with its length before it, so that no two lists of parts look the same.
fn feed(mac: &mut HmacSha256, part: &[u8]) {
    mac.update(&(part.len() as u64).to_be_bytes());
    mac.update(part);
}

/// Feeds a value in one form only: keys sorted by byte, numbers by value.
fn feed_value(mac: &mut HmacSha256, value: &Value) {
    match value {
        Value::Null => mac.update(b"n"),
        Value::Bool(flag) => mac.update(if *flag { b"t" } else { b"f" }),
        Value::Number(number) => {
            mac.update(b"#");
            let whole = number.as_f64().filter(|_| number.is_f64());
            // A float that is whole comes back from a file as an integer.
            let text = whole.map_or_else(|| number.to_string(), |float| float.to_string());
            feed(mac, Zeroizing::new(text).as_bytes());
        }
        Value::String(text) => {
            mac.update(b"s");
            feed(mac, text.as_bytes());
        }
        Value::Array(items) => {
            mac.update(b"[");
            mac.update(&(items.len() as u64).to_be_bytes());
            items.iter().for_each(|item| feed_value(mac, item));
        }
        Value::Object(map) => {
            mac.update(b"{");
            feed_object(mac, map);
        }
    }
}

fn feed_object(mac: &mut HmacSha256, object: &Map<String, Value>) {
    let mut keys: Vec<&String> = object.keys().collect();
    keys.sort_unstable();
    mac.update(&(keys.len() as u64).to_be_bytes());
    for key in keys {
        feed(mac, key.as_bytes());
        feed_value(mac, &object[key]);
    }
}

#[cfg(test)]
mod tests {
    use model::{Namespace, ObjectName, TypeId};
    use serde_json::json;

    use super::*;
    use crate::random::tests::counting;

    fn id(name: &str) -> ResourceId {
        ResourceId {
            type_id: TypeId::new("", "secrets"),
            namespace: Some(Namespace::new("team-a").unwrap()),
            name: ObjectName::new(name).unwrap(),
        }
    }

    #[test]
    fn d22c_a_fingerprint_tells_the_same_from_everything_else() {
        let key = FingerprintKey::new(&[1; 32]).unwrap();
        let object = json!({"a": 1.0, "b": {"c": "x", "d": [true, null]}});
        let other = json!({"a": 1, "b": {"c": "y", "d": [true, null]}});
        let sealed = ["ENC[1]".to_owned()];
        let merged = ["ENC[2]".to_owned()];
        let (here, there) = (id("a"), id("b"));
        let covered = |id, object: &Value, ciphertext| Covered {
            id,
            object: Box::leak(Box::new(object.as_object().unwrap().clone())),
            ciphertext,
        };
        let wanted = covered(&here, &object, &sealed);
        let text = make(&key, &wanted, &mut counting());
        let judged = |key: &FingerprintKey, covered: &Covered<'_>| judge(key, Some(&text), covered);
        assert_eq!(judged(&key, &wanted), Standing::Unchanged);
        let reread = json!({"b": {"d": [true, null], "c": "x"}, "a": 1});
        assert_eq!(
            judged(&key, &covered(&here, &reread, &sealed)),
            Standing::Unchanged
        );
        for changed in [
            covered(&here, &other, &sealed),
            covered(&there, &object, &sealed),
            covered(&here, &object, &merged),
        ] {
            assert_eq!(judged(&key, &changed), Standing::Changed);
            let is_merged = changed.ciphertext != sealed;
            assert_eq!(is_of(&text, changed.ciphertext), !is_merged);
        }
        let stranger = FingerprintKey::new(&[2; 32]).unwrap();
        assert_eq!(judged(&stranger, &wanted), Standing::Unknown);
        let tag = format!("{KEY}{}", key.tag());
        assert!(text.contains(&tag));
        let untagged = text.replace(&tag, "");
        assert_eq!(judge(&key, Some(&untagged), &wanted), Standing::Unchanged);
        assert_eq!(
            judge(&stranger, Some(&untagged), &wanted),
            Standing::Changed
        );
        for text in [None, Some(""), Some("HMAC_SHA256,salt:?,digest:?")] {
            assert_eq!(judge(&key, text, &wanted), Standing::Unknown);
        }
    }

    #[test]
    fn d22c_each_fingerprint_has_a_new_salt() {
        let key = FingerprintKey::new(&[1; 32]).unwrap();
        let (here, object) = (id("a"), Map::new());
        let covered = Covered {
            id: &here,
            object: &object,
            ciphertext: &[],
        };
        let mut random = counting();
        assert_ne!(
            make(&key, &covered, &mut random),
            make(&key, &covered, &mut random)
        );
        assert!(FingerprintKey::new(&[1; 31]).is_none());
        assert_eq!(format!("{key:?}"), "FingerprintKey(***)");
    }
}
