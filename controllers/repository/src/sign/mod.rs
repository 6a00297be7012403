//! Signatures of commits: SSHSIG in the namespace `git` over SHA-512, as `ssh-keygen -Y sign` makes them.
//!
//! [`SigningKey`] holds a private key that was tried once, so a key that cannot sign is found where it is read and
//! not when a commit is made. Equal bytes and equal keys give equal signatures: ed25519 is deterministic by
//! definition, ECDSA takes its nonce from key and content (RFC 6979), and RSA pads without randomness
//! (PKCS#1 v1.5). Nothing here knows where keys are kept.

#[cfg(test)]
mod tests;

use std::fmt;

use model::Secret;
use rand::CryptoRng;
use russh::keys::ssh_key::{HashAlg, LineEnding, SshSig};
use russh::keys::{Algorithm, PrivateKey, PublicKey};

use crate::private_key::{self, KeyProblem};

/// What the signature is for; Git refuses any other.
const NAMESPACE: &str = "git";
/// What is signed when a key is tried.
const TRIAL: &[u8] = b"trial";

/// A private key that signs commits. The key is wiped from memory when it is dropped, and never shown.
pub struct SigningKey {
    key: PrivateKey,
}

/// A private key that was just made, with the text to keep it by.
#[derive(Debug)]
pub struct NewSigningKey {
    /// The key.
    pub key: SigningKey,
    /// The key as OpenSSH writes it, encrypted if a passphrase was given.
    pub pem: Secret<String>,
}

/// Why a private key cannot be used. The texts show nothing of the key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SigningKeyError {
    /// The text is no private key.
    #[error(
        "it is not a private key in PEM form (OpenSSH, PKCS#1 or PKCS#8), or is cut short; \
         make one with ssh-keygen -t ed25519"
    )]
    Unreadable,
    /// There is no passphrase for it.
    #[error(
        "it is encrypted and there is no passphrase; add the passphrase, or give a key without one"
    )]
    NeedsPassphrase,
    /// The passphrase does not open it, or the text is damaged.
    #[error("the passphrase does not open it")]
    WrongPassphrase,
    /// It is made to take very long to decrypt.
    #[error("it takes too many rounds to be decrypted; write it anew with ssh-keygen -p -a 100")]
    TooSlow,
    /// It was encrypted in a way that is not understood.
    #[error("it is encrypted in an old way that is not supported; rewrite it with ssh-keygen -p")]
    OldEncryption,
    /// It is of a kind that does not sign here.
    #[error("keys of the kind {kind} are not supported; give an ed25519, ECDSA or RSA key")]
    Unsupported {
        /// The name of the kind.
        kind: String,
    },
    /// A signature that it made does not hold.
    #[error("what it signs cannot be verified with its own public half; make a new key")]
    DoesNotVerify,
}

impl From<KeyProblem> for SigningKeyError {
    fn from(problem: KeyProblem) -> Self {
        match problem {
            KeyProblem::Unreadable => Self::Unreadable,
            KeyProblem::NeedsPassphrase => Self::NeedsPassphrase,
            KeyProblem::WrongPassphrase => Self::WrongPassphrase,
            KeyProblem::TooSlow => Self::TooSlow,
            KeyProblem::OldEncryption => Self::OldEncryption,
        }
    }
}

/// A commit could not be signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the signing key made no signature that holds; give spec.commit.signing another key")]
pub struct SigningFailed;

impl SigningKey {
    /// Reads a private key and tries it. The passphrase is used only where the key is encrypted.
    ///
    /// # Errors
    /// Returns what is wrong with the key.
    pub fn read(
        text: &Secret<String>,
        passphrase: Option<&Secret<String>>,
    ) -> Result<Self, SigningKeyError> {
        let passphrase = passphrase.map(|one| one.expose().as_str());
        Self::tried(private_key::read(text.expose(), passphrase)?)
    }

    /// Makes an ed25519 key, encrypted where a passphrase is given.
    ///
    /// # Errors
    /// Fails when the key cannot be written as text, which no key that was just made does.
    pub fn generate<R: CryptoRng>(
        random: &mut R,
        passphrase: Option<&Secret<String>>,
    ) -> Result<NewSigningKey, SigningKeyError> {
        let unreadable = |_| SigningKeyError::Unreadable;
        let key = PrivateKey::random(random, Algorithm::Ed25519).map_err(unreadable)?;
        let kept = match passphrase {
            None => key.to_openssh(LineEnding::LF),
            Some(passphrase) => key
                .encrypt(random, passphrase.expose())
                .and_then(|encrypted| encrypted.to_openssh(LineEnding::LF)),
        };
        let pem = Secret::new(kept.map_err(unreadable)?.to_string());
        Ok(NewSigningKey {
            key: Self::tried(key)?,
            pem,
        })
    }

    fn tried(mut key: PrivateKey) -> Result<Self, SigningKeyError> {
        let kind = key.algorithm();
        if !matches!(
            kind,
            Algorithm::Ed25519 | Algorithm::Ecdsa { .. } | Algorithm::Rsa { .. }
        ) {
            return Err(SigningKeyError::Unsupported {
                kind: kind.to_string(),
            });
        }
        // A comment is often somebody's address, and the public half is published.
        key.set_comment("");
        let key = Self { key };
        match key.sign(TRIAL) {
            Ok(_) => Ok(key),
            Err(SigningFailed) => Err(SigningKeyError::DoesNotVerify),
        }
    }

    /// Returns the public half as a line of an `authorized_keys` file, without a comment.
    pub fn public_key(&self) -> String {
        let line = self.key.public_key().to_openssh();
        line.expect("because a key that was read can be written")
            .trim_end()
            .to_owned()
    }

    /// Signs, and verifies what came out. Equal bytes give equal signatures.
    ///
    /// # Errors
    /// Fails when the signature cannot be made or does not hold.
    pub fn sign(&self, bytes: &[u8]) -> Result<String, SigningFailed> {
        let signature = self
            .key
            .sign(NAMESPACE, HashAlg::Sha512, bytes)
            .map_err(|_| SigningFailed)?;
        verify(self.key.public_key(), bytes, &signature)?;
        let text = signature
            .to_pem(LineEnding::LF)
            .map_err(|_| SigningFailed)?;
        Ok(text.trim_end().to_owned())
    }
}

fn verify(public: &PublicKey, bytes: &[u8], signature: &SshSig) -> Result<(), SigningFailed> {
    public
        .verify(NAMESPACE, bytes, signature)
        .map_err(|_| SigningFailed)
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SigningKey")
            .field(&self.public_key())
            .finish()
    }
}
