//! Keys of people: who a document is sealed for, and who opens it. The only place that uses the `age` crate.
//!
//! The ephemeral keys inside a wrapped data key are drawn by `age` itself from the system; everything else that
//! is random in this crate comes from the caller.

mod identity;
mod recipient;

pub use identity::{Identities, InvalidIdentity, NewIdentity};
pub use recipient::{InvalidRecipient, Recipient};

use std::io::Read as _;

use zeroize::Zeroizing;

use crate::ciphertext::DataKey;

/// The data key of a document, encrypted for one recipient.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WrappedKey {
    /// As it stands in the file. It may be of a kind that we cannot encrypt for.
    pub(crate) recipient: String,
    /// An age file in its armoured form.
    pub(crate) encrypted: String,
}

/// Why a data key cannot be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unwrap {
    /// None of the identities fits.
    NoIdentity,
    /// One fits, and what it opens is damaged.
    Broken,
}

/// Encrypts a data key for a recipient.
pub(crate) fn wrap(key: &DataKey, recipient: &Recipient) -> WrappedKey {
    let encrypted = age::encrypt_and_armor(recipient.inner(), key.bytes())
        .expect("because writing to memory does not fail and an X25519 recipient takes any key");
    WrappedKey {
        recipient: recipient.as_str().to_owned(),
        encrypted,
    }
}

/// Opens the first data key that one of the identities opens.
pub(crate) fn unwrap(keys: &[WrappedKey], identities: &Identities) -> Result<DataKey, Unwrap> {
    let mut worst = Unwrap::NoIdentity;
    for key in keys {
        match unwrap_one(key, identities) {
            Ok(key) => return Ok(key),
            Err(Unwrap::Broken) => worst = Unwrap::Broken,
            Err(Unwrap::NoIdentity) => {}
        }
    }
    Err(worst)
}

fn unwrap_one(key: &WrappedKey, identities: &Identities) -> Result<DataKey, Unwrap> {
    if identities.is_empty() {
        return Err(Unwrap::NoIdentity);
    }
    let armoured = age::armor::ArmoredReader::new(key.encrypted.as_bytes());
    let decryptor = age::Decryptor::new_buffered(armoured).map_err(|_| Unwrap::Broken)?;
    let mut reader = match decryptor.decrypt(identities.inner()) {
        Ok(reader) => reader,
        Err(age::DecryptError::NoMatchingKeys) => return Err(Unwrap::NoIdentity),
        Err(_) => return Err(Unwrap::Broken),
    };
    let mut bytes = Zeroizing::new(Vec::with_capacity(64));
    reader.read_to_end(&mut bytes).map_err(|_| Unwrap::Broken)?;
    let bytes: [u8; 32] = bytes.as_slice().try_into().map_err(|_| Unwrap::Broken)?;
    Ok(DataKey::new(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d22_a_data_key_opens_for_each_of_its_recipients_and_for_nobody_else() {
        let [first, second, stranger] = [(); 3].map(|()| NewIdentity::generate());
        let key = DataKey::new([9; 32]);
        let wrapped: Vec<_> = [&first, &second]
            .map(|identity| wrap(&key, &identity.recipient()))
            .to_vec();
        for identity in [&first, &second] {
            let opened = unwrap(&wrapped, &identity.identities()).ok().unwrap();
            assert_eq!(opened.bytes(), key.bytes());
        }
        assert_eq!(
            unwrap(&wrapped, &stranger.identities()).err(),
            Some(Unwrap::NoIdentity)
        );
        let none = Identities::default();
        assert_eq!(unwrap(&wrapped, &none).err(), Some(Unwrap::NoIdentity));
        let broken = [WrappedKey {
            encrypted: "no age file".to_owned(),
            ..wrapped[0].clone()
        }];
        assert_eq!(
            unwrap(&broken, &first.identities()).err(),
            Some(Unwrap::Broken)
        );
    }
}
