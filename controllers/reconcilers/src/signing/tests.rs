use serde_json::json;

use super::key_secret::{empty, lacks_key, read, with_new_key};
use super::*;

fn place() -> Place {
    Place::named("ns", "signing").unwrap()
}

fn secret(entries: &[(&str, &str)]) -> Secret {
    let mut secret = empty(&place());
    let entries = entries.iter().map(|(name, text)| {
        let bytes = k8s_openapi::ByteString(text.as_bytes().to_vec());
        ((*name).to_owned(), bytes)
    });
    secret.data = Some(entries.collect());
    secret
}

fn public_key(secret: &Secret) -> String {
    read(secret).unwrap().unwrap().public_key()
}

#[test]
fn a_new_key_stands_beside_its_public_half_and_leaves_the_rest() {
    let (made, public) = with_new_key(secret(&[("other", "kept")])).unwrap();
    let text = |name: &str| String::from_utf8(made.data.as_ref().unwrap()[name].0.clone()).unwrap();
    assert_eq!(public_key(&made), public);
    assert_eq!(text("signing.pub"), format!("{public}\n"));
    assert!(text("signing.key").starts_with("-----BEGIN OPENSSH PRIVATE KEY-----\n"));
    assert_eq!(text("other"), "kept");
    assert_eq!(made.type_.as_deref(), Some("Opaque"));
}

#[test]
fn a_new_key_is_encrypted_where_a_passphrase_stands() {
    let (mut made, public) = with_new_key(secret(&[("passphrase", "open sesame\n")])).unwrap();
    assert_eq!(public_key(&made), public);
    let data = made.data.as_mut().unwrap();
    data.remove("passphrase");
    let (entry, error) = read(&made).unwrap_err();
    assert_eq!(
        (entry, error),
        ("signing.key", SigningKeyError::NeedsPassphrase)
    );
}

#[test]
fn only_a_secret_without_a_key_lacks_one() {
    for (entries, lacks) in [
        (&[][..], true),
        (&[("signing.pub", "ssh-ed25519 A")], true),
        (&[("signing.key", " \n")], true),
        (&[("signing.key", "nonsense")], false),
    ] {
        assert_eq!(lacks_key(&secret(entries)), lacks, "{entries:?}");
    }
}

#[test]
fn what_is_said_of_a_faulty_key_shows_nothing_of_it() {
    let text = "-----BEGIN OPENSSH PRIVATE KEY-----\nhunter2\n-----END OPENSSH PRIVATE KEY-----\n";
    let (entry, error) = read(&secret(&[("signing.key", text)])).unwrap_err();
    let fault = SigningFault::Unusable {
        secret: place(),
        entry,
        problem: error.to_string(),
    };
    let said = fault.to_string();
    assert!(
        said.contains("entry signing.key of Secret ns/signing"),
        "{said}"
    );
    assert!(!said.contains("hunter2"), "{said}");
}

#[tokio::test]
async fn a_key_is_opened_once_for_each_version_of_its_secret() {
    let (mut made, _) = with_new_key(secret(&[])).unwrap();
    made.metadata.uid = Some("u".to_owned());
    made.metadata.resource_version = Some("1".to_owned());
    let first = super::read(&place(), Some(made.clone()), None)
        .await
        .unwrap();
    let again = super::read(&place(), Some(made.clone()), Some(&first))
        .await
        .unwrap();
    assert!(Arc::ptr_eq(&first.key, &again.key));
    made.metadata.resource_version = Some("2".to_owned());
    let newer = super::read(&place(), Some(made), Some(&first))
        .await
        .unwrap();
    assert!(!Arc::ptr_eq(&first.key, &newer.key));
    let gone = super::read(&place(), None, Some(&first)).await.unwrap_err();
    assert_eq!(gone, SigningFault::SecretNotFound(place()));
}

#[test]
fn a_secret_of_another_namespace_cannot_be_named() {
    let provider: GitProvider = serde_json::from_value(json!({
        "apiVersion": "configbutler.ai/v1alpha3", "kind": "GitProvider",
        "metadata": {"name": "p", "namespace": "ns"},
        "spec": {"url": "https://git.example.com/o/r", "commit": {"signing": {"secretRef": {"name": "signing"}}}},
    }))
    .unwrap();
    assert_eq!(secret_of(&place(), &provider), Some(place()));
}
