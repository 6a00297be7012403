//! Private keys as people keep them: PEM of OpenSSH, PKCS#1, SEC1 or PKCS#8.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::Secret;
use russh::keys::{Error, PrivateKey, decode_secret_key};
use zeroize::Zeroizing;

use super::SigningKeyError;
use crate::credential::{is_too_slow, is_too_slow_pkcs8};

/// Begins the form that `ssh-keygen` writes.
const OPENSSH: &str = "-----BEGIN OPENSSH PRIVATE KEY-----";
/// Marks a key of PKCS#1 that is encrypted.
const ENCRYPTED: &str = "ENCRYPTED";
/// The one encryption of PKCS#1 that is understood.
const KNOWN_ENCRYPTION: &str = "DEK-Info: AES-128-CBC,";

/// Reads a private key, and opens it where it is encrypted.
pub(super) fn read(
    text: &str,
    passphrase: Option<&Secret<String>>,
) -> Result<PrivateKey, SigningKeyError> {
    let text: Zeroizing<String> = Zeroizing::new(
        text.lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .flat_map(|line| [line, "\n"])
            .collect(),
    );
    let passphrase = passphrase.map(Secret::expose).filter(|one| !one.is_empty());
    if let Some((_, body)) = text.split_once(OPENSSH) {
        return open(openssh(body)?, passphrase);
    }
    let is_encrypted = text.contains(ENCRYPTED);
    match (is_encrypted, passphrase) {
        (true, None) => return Err(SigningKeyError::NeedsPassphrase),
        (true, Some(_)) if text.contains("DEK-Info:") && !text.contains(KNOWN_ENCRYPTION) => {
            return Err(SigningKeyError::OldEncryption);
        }
        (true, Some(_)) if is_too_slow_pkcs8(&text) => return Err(SigningKeyError::TooSlow),
        _ => {}
    }
    // A passphrase that nothing needs would be taken for a wrong one.
    let passphrase = passphrase.filter(|_| is_encrypted);
    decode_secret_key(&text, passphrase.map(String::as_str)).map_err(|error| match error {
        Error::KeyIsEncrypted => SigningKeyError::NeedsPassphrase,
        _ if is_encrypted => SigningKeyError::WrongPassphrase,
        _ => SigningKeyError::Unreadable,
    })
}

/// Reads the lines of an OpenSSH key whatever their length: not every tool breaks them where `ssh-keygen` does.
fn openssh(body: &str) -> Result<PrivateKey, SigningKeyError> {
    let lines = body.lines().take_while(|line| !line.starts_with("-----"));
    let encoded: Zeroizing<String> = Zeroizing::new(lines.collect());
    let bytes = STANDARD.decode(encoded.as_bytes()).map(Zeroizing::new);
    let bytes = bytes.map_err(|_| SigningKeyError::Unreadable)?;
    PrivateKey::from_bytes(&bytes).map_err(|_| SigningKeyError::Unreadable)
}

fn open(key: PrivateKey, passphrase: Option<&String>) -> Result<PrivateKey, SigningKeyError> {
    match passphrase {
        _ if !key.is_encrypted() => Ok(key),
        None => Err(SigningKeyError::NeedsPassphrase),
        Some(_) if is_too_slow(&key) => Err(SigningKeyError::TooSlow),
        Some(passphrase) => key
            .decrypt(passphrase)
            .map_err(|_| SigningKeyError::WrongPassphrase),
    }
}
