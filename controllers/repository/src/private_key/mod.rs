//! Private keys as people keep them: PEM of OpenSSH, PKCS#1, SEC1 or PKCS#8, encrypted or not.
//!
//! `block` cuts the key out of its text, `cost` judges what its passphrase would take to try.

mod block;
mod cost;
#[cfg(test)]
mod tests;

use russh::keys::{PrivateKey, decode_secret_key};

use block::Block;
use cost::{is_too_slow, is_too_slow_pkcs8};

/// The form that `ssh-keygen` writes.
const OPENSSH: &str = "OPENSSH PRIVATE KEY";
/// PKCS#8; the second is what an encrypted one should be called.
const PKCS8: [&str; 2] = ["PRIVATE KEY", "ENCRYPTED PRIVATE KEY"];
/// The one encryption of PKCS#1 that is understood.
const KNOWN_ENCRYPTION: &str = "AES-128-CBC,";

/// Why a private key cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyProblem {
    /// There is none in the text, or it is damaged.
    Unreadable,
    /// It is encrypted and nobody told the passphrase.
    NeedsPassphrase,
    /// The passphrase is another one.
    WrongPassphrase,
    /// It is made to take very long to decrypt.
    TooSlow,
    /// It was encrypted in a way that is not understood.
    OldEncryption,
}

/// Reads a private key, and opens it where it is encrypted. A passphrase that the key does not need is not looked at.
pub(crate) fn read(text: &str, passphrase: Option<&str>) -> Result<PrivateKey, KeyProblem> {
    let passphrase = passphrase.filter(|one| !one.is_empty());
    let block = Block::of(text).ok_or(KeyProblem::Unreadable)?;
    let bytes = block.bytes().ok_or(KeyProblem::Unreadable)?;
    if block.label == OPENSSH {
        let key = PrivateKey::from_bytes(&bytes).map_err(|_| KeyProblem::Unreadable)?;
        return open(key, passphrase);
    }
    let is_pkcs8 = PKCS8.contains(&block.label);
    let slow = is_too_slow_pkcs8(&bytes).filter(|_| is_pkcs8);
    let encryption = block.header("DEK-Info:");
    let is_encrypted = slow.is_some() || encryption.is_some();
    match (is_encrypted, passphrase) {
        // Called encrypted, and nobody knows how.
        (false, _) if block.label == PKCS8[1] => return Err(KeyProblem::Unreadable),
        (true, None) => return Err(KeyProblem::NeedsPassphrase),
        (true, Some(_)) if slow == Some(true) => return Err(KeyProblem::TooSlow),
        (true, Some(_)) if encryption.is_some_and(|it| !it.starts_with(KNOWN_ENCRYPTION)) => {
            return Err(KeyProblem::OldEncryption);
        }
        _ => {}
    }
    // A passphrase that nothing needs would be taken for a wrong one.
    let passphrase = passphrase.filter(|_| is_encrypted);
    decode_secret_key(&block.text(), passphrase).map_err(|_| match is_encrypted {
        true => KeyProblem::WrongPassphrase,
        false => KeyProblem::Unreadable,
    })
}

fn open(key: PrivateKey, passphrase: Option<&str>) -> Result<PrivateKey, KeyProblem> {
    match passphrase {
        _ if !key.is_encrypted() => Ok(key),
        None => Err(KeyProblem::NeedsPassphrase),
        Some(_) if is_too_slow(&key) => Err(KeyProblem::TooSlow),
        Some(passphrase) => key
            .decrypt(passphrase)
            .map_err(|_| KeyProblem::WrongPassphrase),
    }
}
