//! The key of the fingerprints in sealed files: 32 random bytes in a Secret of the operator's namespace.
//!
//! A fingerprint tells without a private key whether a file still holds what is wanted. Another key makes every
//! fingerprint unknown, and each sealed file that no private key opens is then written once more.

use std::collections::BTreeMap;

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{ObjectMeta, PostParams};
use kube::{Api, Client};
use model::Namespace;
use rand::Rng as _;
use sealing::FingerprintKey;
use tokio::sync::OnceCell;

use crate::failure::Failure;

/// The name of the Secret.
const SECRET: &str = "gitops-reverser-fingerprint-key";
/// The entry that holds the key.
const ENTRY: &str = "fingerprint.key";

/// Reads the key once for the life of the process, and makes it where there is none.
#[derive(Debug, Default)]
pub(crate) struct FingerprintKeys {
    key: OnceCell<FingerprintKey>,
}

/// Why there is no key.
#[derive(Debug)]
pub(crate) enum KeyFault {
    /// A person has to change something.
    Unusable(String),
    /// The API server did not answer; it is asked again.
    Api(Failure),
}

impl FingerprintKeys {
    /// Returns the key.
    pub(crate) async fn get(
        &self,
        client: &Client,
        namespace: &Namespace,
    ) -> Result<FingerprintKey, KeyFault> {
        let key = self.key.get_or_try_init(|| obtain(client, namespace)).await;
        key.cloned()
    }
}

async fn obtain(client: &Client, namespace: &Namespace) -> Result<FingerprintKey, KeyFault> {
    let api: Api<Secret> = Api::namespaced(client.clone(), namespace.as_str());
    if let Some(secret) = api.get_opt(SECRET).await.map_err(failed(namespace))? {
        return read(&secret, namespace);
    }
    let mut bytes = zeroize::Zeroizing::new([0; FingerprintKey::BYTES]);
    rand::rng().fill_bytes(&mut *bytes);
    match api.create(&PostParams::default(), &secret(&*bytes)).await {
        Ok(secret) => read(&secret, namespace),
        // Another replica was faster.
        Err(kube::Error::Api(status)) if status.is_already_exists() => {
            let secret = api.get(SECRET).await.map_err(failed(namespace))?;
            read(&secret, namespace)
        }
        Err(error) => Err(failed(namespace)(error)),
    }
}

fn secret(bytes: &[u8]) -> Secret {
    Secret {
        metadata: ObjectMeta {
            name: Some(SECRET.to_owned()),
            ..ObjectMeta::default()
        },
        data: Some(BTreeMap::from([(
            ENTRY.to_owned(),
            ByteString(bytes.to_vec()),
        )])),
        type_: Some("Opaque".to_owned()),
        ..Secret::default()
    }
}

fn read(secret: &Secret, namespace: &Namespace) -> Result<FingerprintKey, KeyFault> {
    let bytes = secret.data.as_ref().and_then(|data| data.get(ENTRY));
    let key = bytes.and_then(|bytes| FingerprintKey::new(&bytes.0));
    key.ok_or_else(|| {
        KeyFault::Unusable(format!(
            "Secret {namespace}/{SECRET} has no entry {ENTRY} of {} bytes; delete the Secret, and it is made anew",
            FingerprintKey::BYTES
        ))
    })
}

fn failed(namespace: &Namespace) -> impl Fn(kube::Error) -> KeyFault {
    move |error| match error {
        kube::Error::Api(status) if status.is_forbidden() || status.is_not_found() => {
            KeyFault::Unusable(format!(
                "Secret {namespace}/{SECRET} cannot be read or made: {}; give the operator get and create on Secrets there",
                status.message
            ))
        }
        error => KeyFault::Api(Failure::api("for the key of fingerprints")(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_without_a_key_says_how_to_get_one() {
        let namespace = Namespace::new("ops").unwrap();
        assert!(read(&secret(&[7; 32]), &namespace).is_ok());
        for bytes in [&[7; 31][..], &[]] {
            let fault = read(&secret(bytes), &namespace).unwrap_err();
            let KeyFault::Unusable(text) = fault else {
                panic!("{fault:?}")
            };
            assert!(
                text.contains("ops/gitops-reverser-fingerprint-key"),
                "{text}"
            );
            assert!(text.contains("delete the Secret"), "{text}");
        }
    }
}
