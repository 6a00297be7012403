//! The private key by which an SSH host knows us.

use std::fmt;
use std::sync::Arc;

use russh::keys::{Algorithm, HashAlg, PrivateKey};

use super::CredentialError;
use crate::private_key::{self, KeyProblem};

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
        let decoded = private_key::read(pem, passphrase).map_err(|problem| match problem {
            KeyProblem::NeedsPassphrase => CredentialError::PassphraseMissing { key },
            KeyProblem::WrongPassphrase => CredentialError::PassphraseWrong { key },
            KeyProblem::TooSlow => CredentialError::SlowSshKey { key },
            KeyProblem::Unreadable | KeyProblem::OldEncryption => {
                CredentialError::UnreadableSshKey { key }
            }
        })?;
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
