//! What a Secret with a signing key holds. Pure, but for the randomness of a new key.

use std::collections::BTreeMap;

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use kube::api::ObjectMeta;
use model::Secret as Hidden;
use repository::{NewSigningKey, SigningKey, SigningKeyError};

use crate::place::Place;

/// The entry with the private key.
pub(super) const KEY: &str = "signing.key";
/// The entry with its public half, for people; it is never read.
const PUBLIC: &str = "signing.pub";
/// The entry with the passphrase of an encrypted key.
const PASSPHRASE: &str = "passphrase";

/// Names the version of a Secret.
pub(super) fn version(secret: &Secret) -> String {
    format!(
        "{}/{}",
        secret.uid().unwrap_or_default(),
        secret.resource_version().unwrap_or_default()
    )
}

/// Says whether the Secret has no key; an empty entry is none.
pub(super) fn lacks_key(secret: &Secret) -> bool {
    entry(secret, KEY).is_none_or(|bytes| bytes.trim_ascii().is_empty())
}

/// Reads the key, if there is one. The error names the entry that is wrong.
pub(super) fn read(secret: &Secret) -> Result<Option<SigningKey>, (&'static str, SigningKeyError)> {
    if lacks_key(secret) {
        return Ok(None);
    }
    let text = text(secret, KEY)?.ok_or((KEY, SigningKeyError::Unreadable))?;
    let passphrase = passphrase(secret)?;
    let key = SigningKey::read(&text, passphrase.as_ref()).map_err(|error| (KEY, error))?;
    Ok(Some(key))
}

/// Returns a Secret without entries.
pub(super) fn empty(place: &Place) -> Secret {
    Secret {
        metadata: ObjectMeta {
            name: Some(place.name.to_string()),
            namespace: Some(place.namespace.to_string()),
            ..ObjectMeta::default()
        },
        type_: Some("Opaque".to_owned()),
        ..Secret::default()
    }
}

/// Puts a new key into a Secret that has none, encrypted with the passphrase that stands there, and returns the public
/// half too.
pub(super) fn with_new_key(mut secret: Secret) -> Result<(Secret, String), SigningKeyError> {
    let passphrase = passphrase(&secret).map_err(|(_, error)| error)?;
    let NewSigningKey { key, pem } = SigningKey::generate(&mut rand::rng(), passphrase.as_ref())?;
    let public_key = key.public_key();
    let data = secret.data.get_or_insert_with(BTreeMap::new);
    data.insert(KEY.to_owned(), ByteString(pem.expose().as_bytes().to_vec()));
    data.insert(
        PUBLIC.to_owned(),
        ByteString(format!("{public_key}\n").into_bytes()),
    );
    Ok((secret, public_key))
}

/// Returns the passphrase, without the newline that files end with.
fn passphrase(secret: &Secret) -> Result<Option<Hidden<String>>, (&'static str, SigningKeyError)> {
    let text = text(secret, PASSPHRASE)?;
    let cut = |text: Hidden<String>| {
        let line = text.expose().trim_end_matches(['\n', '\r']);
        (!line.is_empty()).then(|| Hidden::new(line.to_owned()))
    };
    Ok(text.and_then(cut))
}

fn text(
    secret: &Secret,
    name: &'static str,
) -> Result<Option<Hidden<String>>, (&'static str, SigningKeyError)> {
    let Some(bytes) = entry(secret, name) else {
        return Ok(None);
    };
    let text = std::str::from_utf8(bytes).map_err(|_| (name, SigningKeyError::Unreadable))?;
    Ok(Some(Hidden::new(text.to_owned())))
}

fn entry<'a>(secret: &'a Secret, name: &str) -> Option<&'a [u8]> {
    let bytes = secret.data.as_ref()?.get(name)?;
    Some(&bytes.0)
}
