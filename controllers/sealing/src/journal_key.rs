//! Encrypting what a branch writer keeps of a sensitive object until it is published.
//!
//! The key is derived from that of the fingerprints, so that there is one Secret to keep and none to rotate beside it.
//! A record is bound to what the caller names beside it: one that was moved cannot be opened.

use std::fmt;

use aes_gcm::Aes256Gcm;
use aes_gcm::aead::{Aead, KeyInit, Nonce, Payload};
use zeroize::Zeroizing;

use crate::fingerprint::FingerprintKey;
use crate::random::{RandomSource, draw};

/// What the key is derived over.
const PURPOSE: &[u8] = b"gitops-reverser journal key";
const NONCE_BYTES: usize = 12;

/// The key of the records. Never printed.
#[derive(Clone)]
pub struct JournalKey(Zeroizing<[u8; 32]>);

impl JournalKey {
    /// Derives the key.
    pub fn derive(from: &FingerprintKey) -> Self {
        Self(from.derived(PURPOSE))
    }

    /// Encrypts a record that is told apart by `place`.
    pub fn seal(&self, record: &[u8], place: &[u8], random: &mut dyn RandomSource) -> Vec<u8> {
        let nonce: [u8; NONCE_BYTES] = draw(random);
        let payload = Payload {
            msg: record,
            aad: place,
        };
        let sealed = self
            .cipher()
            .encrypt(&Nonce::<Aes256Gcm>::from(nonce), payload)
            .expect("because no record reaches the 64 GiB that AES-GCM can take");
        [nonce.as_slice(), &sealed].concat()
    }

    /// Decrypts a record. `None` when it was sealed with another key or for another place, or is damaged.
    pub fn open(&self, sealed: &[u8], place: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let (nonce, ciphertext) = sealed.split_first_chunk::<NONCE_BYTES>()?;
        let payload = Payload {
            msg: ciphertext,
            aad: place,
        };
        let opened = self
            .cipher()
            .decrypt(&Nonce::<Aes256Gcm>::from(*nonce), payload);
        opened.ok().map(Zeroizing::new)
    }

    fn cipher(&self) -> Aes256Gcm {
        Aes256Gcm::new((&*self.0).into())
    }
}

impl fmt::Debug for JournalKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JournalKey(***)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::tests::counting;

    fn key(byte: u8) -> JournalKey {
        JournalKey::derive(&FingerprintKey::new(&[byte; FingerprintKey::BYTES]).unwrap())
    }

    #[test]
    fn a_record_opens_with_its_key_at_its_place_and_nowhere_else() {
        let mut random = counting();
        let sealed = key(1).seal(b"the password", b"7", &mut random);
        assert!(!sealed.windows(8).any(|part| part == b"password"));
        assert_eq!(&**key(1).open(&sealed, b"7").unwrap(), b"the password");
        assert_eq!(key(1).open(&sealed, b"8"), None);
        assert_eq!(key(2).open(&sealed, b"7"), None);
        assert_eq!(key(1).open(&sealed[..11], b"7"), None);
        for at in 0..sealed.len() {
            let mut damaged = sealed.clone();
            damaged[at] ^= 1;
            assert_eq!(key(1).open(&damaged, b"7"), None, "byte {at}");
        }
        assert_ne!(key(1).seal(b"the password", b"7", &mut random), sealed);
        assert_eq!(format!("{:?}", key(1)), "JournalKey(***)");
    }
}
