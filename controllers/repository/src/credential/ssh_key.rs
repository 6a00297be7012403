//! The private key by which an SSH host knows us.

use std::fmt;
use std::sync::Arc;

use russh::keys::{self, Algorithm, HashAlg, PrivateKey};

use super::CredentialError;
use super::key_cost::{is_too_slow, is_too_slow_pkcs8};

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
                let is_slow = PrivateKey::from_openssh(&pem).is_ok_and(|it| is_too_slow(&it))
                    || is_too_slow_pkcs8(&pem);
                if is_slow {
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

    /// The same in PKCS#8: 16,777,215 rounds of PBKDF2.
    const SLOW_PKCS8: &str = "-----BEGIN ENCRYPTED PRIVATE KEY-----
MIGdMFkGCSqGSIb3DQEFDTBMMCsGCSqGSIb3DQEFDDAeBAgjTwKhnsDExAIEAP//
/zAMBggqhkiG9w0CCQUAMB0GCWCGSAFlAwQBKgQQbg7fV/8wgTNAEAh/31T1YARA
9axTT+BERkl+B0NNdE3KcR73JznQzy99i5NkeKnjadcnnXBsYjP0tcRlbqQMZeoP
FtTyoF1Is9g9uerxmFFmbw==
-----END ENCRYPTED PRIVATE KEY-----
";

    #[test]
    fn a_key_that_is_made_to_be_slow_is_not_tried() {
        for slow in [SLOW, SLOW_PKCS8] {
            let error = SshKey::read(slow, Some("phrase"), "identity").unwrap_err();
            assert_eq!(error, CredentialError::SlowSshKey { key: "identity" });
            let phrase = model::Secret::new("phrase".to_owned());
            let slow = model::Secret::new(slow.to_owned());
            assert_eq!(
                crate::SigningKey::read(&slow, Some(&phrase)).unwrap_err(),
                crate::SigningKeyError::TooSlow
            );
        }
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
