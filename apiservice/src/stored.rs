//! The form of the serving certificate in a Secret.

use std::collections::BTreeMap;

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret as SecretObject;
use model::Secret;

use crate::certificate::Material;

const CHAIN: &str = "tls.crt";
const KEY: &str = "tls.key";
const AUTHORITIES: &str = "ca.crt";
const AUTHORITY_KEY: &str = "ca.key";

/// Reads what an earlier run stored; `None` if the Secret lacks any part, as an empty one does.
pub fn read_material(secret: &SecretObject) -> Option<Material> {
    Some(Material {
        authorities: text(secret, AUTHORITIES)?,
        authority_key: Secret::new(text(secret, AUTHORITY_KEY)?),
        chain: text(secret, CHAIN)?,
        key: Secret::new(text(secret, KEY)?),
    })
}

/// A certificate that somebody else keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provided {
    /// The chain, PEM.
    pub chain: String,
    /// Its key, PEM.
    pub key: Secret<String>,
    /// The authorities to verify it with, PEM; without them the cluster's own roots count.
    pub authorities: Option<String>,
}

/// Reads a certificate that somebody else keeps; `None` if chain or key are missing.
pub fn read_provided(secret: &SecretObject) -> Option<Provided> {
    Some(Provided {
        chain: text(secret, CHAIN)?,
        key: Secret::new(text(secret, KEY)?),
        authorities: text(secret, AUTHORITIES),
    })
}

/// Returns the data of a Secret that holds the material, and whatever else it held.
pub fn write_material(
    material: &Material,
    existing: Option<BTreeMap<String, ByteString>>,
) -> BTreeMap<String, ByteString> {
    let mut data = existing.unwrap_or_default();
    for (key, value) in [
        (AUTHORITIES, &material.authorities),
        (AUTHORITY_KEY, material.authority_key.expose()),
        (CHAIN, &material.chain),
        (KEY, material.key.expose()),
    ] {
        data.insert(key.to_owned(), ByteString(value.clone().into_bytes()));
    }
    data
}

fn text(secret: &SecretObject, key: &str) -> Option<String> {
    let bytes = &secret.data.as_ref()?.get(key)?.0;
    let text = String::from_utf8(bytes.clone()).ok()?;
    (!text.trim().is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn material_survives_the_secret_and_foreign_keys_stay() {
        let material = Material {
            authorities: "a".to_owned(),
            authority_key: Secret::new("b".to_owned()),
            chain: "c".to_owned(),
            key: Secret::new("d".to_owned()),
        };
        let other = BTreeMap::from([("other".to_owned(), ByteString(vec![1]))]);
        let data = write_material(&material, Some(other));
        assert_eq!(data["other"].0, [1]);
        let secret = SecretObject {
            data: Some(data),
            ..SecretObject::default()
        };
        assert_eq!(read_material(&secret), Some(material));
        assert_eq!(
            read_provided(&secret).unwrap().authorities.as_deref(),
            Some("a")
        );
    }

    #[test]
    fn an_empty_secret_holds_nothing() {
        let secret = SecretObject::default();
        assert_eq!(read_material(&secret), None);
        assert_eq!(read_provided(&secret), None);
    }
}
