//! The private key by which an SSH host knows us.

use std::fmt;
use std::sync::Arc;

use russh::keys::ssh_key::Kdf;
use russh::keys::{self, Algorithm, HashAlg, PrivateKey};

use super::CredentialError;

/// A private key, readable and without its passphrase. It is never printed.
#[derive(Clone, PartialEq)]
pub struct SshKey(Arc<PrivateKey>);

impl Eq for SshKey {}

impl SshKey {
    /// Reads a private key from PEM text: OpenSSH's own form, PKCS#1, SEC1 or PKCS#8. A passphrase that the
    /// key does not need is not looked at.
    pub(super) fn read(
        pem: &str,
        passphrase: Option<&str>,
        key: &'static str,
    ) -> Result<Self, CredentialError> {
        // Files from other systems and indented manifests bring space that is no part of the key.
        let pem: String = pem
            .lines()
            .map(|line| format!("{}\n", line.trim()))
            .collect();
        let decoded = match keys::decode_secret_key(&pem, None) {
            Ok(decoded) => decoded,
            Err(error) if is_encrypted(&error, &pem) => {
                let passphrase = passphrase.ok_or(CredentialError::PassphraseMissing { key })?;
                if PrivateKey::from_openssh(&pem).is_ok_and(|it| is_too_slow(&it)) {
                    return Err(CredentialError::SlowSshKey { key });
                }
                keys::decode_secret_key(&pem, Some(passphrase))
                    .map_err(|_| CredentialError::PassphraseWrong { key })?
            }
            Err(_) => return Err(CredentialError::UnreadableSshKey { key }),
        };
        if !can_sign(&decoded.algorithm()) {
            return Err(CredentialError::UnusableSshKey {
                key,
                kind: decoded.algorithm().as_str().to_owned(),
            });
        }
        Ok(Self(Arc::new(decoded)))
    }

    /// Returns the fingerprint of the public key, by which people recognise it.
    pub fn fingerprint(&self) -> String {
        self.0.fingerprint(HashAlg::Sha256).to_string()
    }

    pub(crate) fn private(&self) -> Arc<PrivateKey> {
        Arc::clone(&self.0)
    }
}

impl fmt::Debug for SshKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SshKey").field(&self.fingerprint()).finish()
    }
}

fn is_encrypted(error: &keys::Error, pem: &str) -> bool {
    matches!(error, keys::Error::KeyIsEncrypted)
        || pem.contains("-----BEGIN ENCRYPTED PRIVATE KEY-----")
}

/// The most rounds that are spent on a passphrase; `ssh-keygen` writes 24 unless it is told otherwise, and each takes
/// some milliseconds.
const MOST_ROUNDS: u32 = 1024;

/// Says whether whoever wrote the key made it so slow to decrypt that trying would keep everybody else waiting.
pub(crate) fn is_too_slow(key: &PrivateKey) -> bool {
    matches!(key.kdf(), Kdf::Bcrypt { rounds, .. } if *rounds > MOST_ROUNDS)
}

/// Says whether keys of this kind sign by themselves: those on a token need its owner, DSA is not safe.
fn can_sign(algorithm: &Algorithm) -> bool {
    matches!(
        algorithm,
        Algorithm::Ed25519 | Algorithm::Ecdsa { .. } | Algorithm::Rsa { .. }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key whose passphrase takes four thousand million rounds to try.
    const SLOW: &str = "-----BEGIN OPENSSH PRIVATE KEY-----
b3BlbnNzaC1rZXktdjEAAAAACmFlczI1Ni1jdHIAAAAGYmNyeXB0AAAAGAAAABBB0S8b9c
Yxa3N6Nu2v0n2V/////wAAAAEAAAAzAAAAC3NzaC1lZDI1NTE5AAAAIBuItVXpmnd6Sb/U
52wX1KeLWcuUa6+GFUtHKUQQRzTlAAAAkLhCDldrD8JgDABjY8JNwZ15dRKSp0Ru2BEfPZ
+h56g96KfH3xUmVo2ufX1HsAIrfyKgMeWUc3Ag1m+QJz6PVANsBsFPI2wRJ6wAamkRqLlo
zF4gBE2xCdYLAw8I5XrPTiVLpKaxRqgYS+lkQp0+k69K9qTsIqJuxOpUzj0+ey6lNzcoG0
0nslu+h18wsF9UYw==
-----END OPENSSH PRIVATE KEY-----
";

    #[test]
    fn a_key_that_is_made_to_be_slow_is_not_tried() {
        let error = SshKey::read(SLOW, Some("phrase"), "identity").unwrap_err();
        assert_eq!(error, CredentialError::SlowSshKey { key: "identity" });
        let phrase = model::Secret::new("phrase".to_owned());
        let slow = model::Secret::new(SLOW.to_owned());
        assert_eq!(
            crate::SigningKey::read(&slow, Some(&phrase)).unwrap_err(),
            crate::SigningKeyError::TooSlow
        );
    }

    #[test]
    fn what_is_no_private_key_is_refused_by_name() {
        let public =
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB9dG4kjRhQTtWTVzd2t27+t0DEHBPW7iOD23TUiYLio";
        let broken =
            "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n";
        for text in ["", "hunter2", public, broken] {
            let error = SshKey::read(text, Some("phrase"), "identity").unwrap_err();
            assert_eq!(error, CredentialError::UnreadableSshKey { key: "identity" });
        }
    }
}
