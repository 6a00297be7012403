//! One encrypted value: `ENC[AES256_GCM,data:…,iv:…,tag:…,type:…]`.
//!
//! The initialisation vector has 32 bytes, as the real tool's has. Additional data binds the value to its place.

use aes_gcm::AesGcm;
use aes_gcm::aead::consts::U32;
use aes_gcm::aead::{Aead, KeyInit, Nonce, Payload};
use aes_gcm::aes::Aes256;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::random::{RandomSource, draw};
use crate::scalar::Scalar;

type Cipher = AesGcm<Aes256, U32>;

const PREFIX: &str = "ENC[AES256_GCM,data:";
const TAG_BYTES: usize = 16;

/// The key that encrypts the values of one document.
#[derive(Clone)]
pub(crate) struct DataKey(Zeroizing<[u8; 32]>);

impl DataKey {
    pub(crate) fn new(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    pub(crate) fn generate(random: &mut dyn RandomSource) -> Self {
        Self::new(draw(random))
    }

    pub(crate) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    fn cipher(&self) -> Cipher {
        Cipher::new((&*self.0).into())
    }
}

/// Says whether a text has the form of an encrypted value.
pub(crate) fn is_ciphertext(text: &str) -> bool {
    Parts::read(text).is_some()
}

/// Encrypts a value. An empty text stays empty, as with the real tool.
pub(crate) fn encrypt(
    key: &DataKey,
    value: &Scalar,
    additional: &str,
    random: &mut dyn RandomSource,
) -> String {
    if value.is_empty() {
        return String::new();
    }
    let plain = value.bytes();
    let iv = Nonce::<Cipher>::from(initialisation_vector(key, &plain, additional, random));
    let payload = Payload {
        msg: &plain,
        aad: additional.as_bytes(),
    };
    let sealed = key
        .cipher()
        .encrypt(&iv, payload)
        .expect("because no value reaches the 64 GiB that AES-GCM can take");
    let (data, tag) = sealed.split_at(sealed.len() - TAG_BYTES);
    format!(
        "{PREFIX}{},iv:{},tag:{},type:{}]",
        STANDARD.encode(data),
        STANDARD.encode(iv),
        STANDARD.encode(tag),
        value.kind()
    )
}

/// Makes the initialisation vector. Value and place go in beside the random bytes, so two values never share one
/// under the same key, even if the source of randomness repeats itself.
fn initialisation_vector(
    key: &DataKey,
    plain: &[u8],
    additional: &str,
    random: &mut dyn RandomSource,
) -> [u8; 32] {
    let mut hash = <Hmac<Sha256> as KeyInit>::new_from_slice(key.bytes())
        .expect("because HMAC takes a key of any length");
    hash.update(&draw::<32>(random));
    hash.update(&(additional.len() as u64).to_be_bytes());
    hash.update(additional.as_bytes());
    hash.update(plain);
    hash.finalize().into_bytes().into()
}

/// Decrypts a value. None if the text has another form, the key or the place is another one, or a byte differs.
pub(crate) fn decrypt(key: &DataKey, text: &str, additional: &str) -> Option<Scalar> {
    if text.is_empty() {
        return Some(Scalar::text(""));
    }
    let parts = Parts::read(text)?;
    let iv: [u8; 32] = STANDARD.decode(parts.iv).ok()?.try_into().ok()?;
    let mut sealed = STANDARD.decode(parts.data).ok()?;
    sealed.extend(STANDARD.decode(parts.tag).ok()?);
    let payload = Payload {
        msg: &sealed,
        aad: additional.as_bytes(),
    };
    let plain = Zeroizing::new(
        key.cipher()
            .decrypt(&Nonce::<Cipher>::from(iv), payload)
            .ok()?,
    );
    Scalar::read(parts.kind, &plain)
}

/// Says whether the text is a comment that the real tool encrypted.
pub(crate) fn is_comment(text: &str) -> bool {
    Parts::read(text).is_some_and(|parts| parts.kind == "comment")
}

struct Parts<'a> {
    data: &'a str,
    iv: &'a str,
    tag: &'a str,
    kind: &'a str,
}

impl<'a> Parts<'a> {
    fn read(text: &'a str) -> Option<Self> {
        let inside = text.strip_prefix(PREFIX)?.strip_suffix(']')?;
        let (data, rest) = inside.split_once(",iv:")?;
        let (iv, rest) = rest.split_once(",tag:")?;
        let (tag, kind) = rest.split_once(",type:")?;
        let complete = [data, iv, tag, kind].iter().all(|part| !part.is_empty());
        complete.then_some(Self {
            data,
            iv,
            tag,
            kind,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::tests::counting;

    fn key() -> DataKey {
        DataKey::new([7; 32])
    }

    #[test]
    fn d22_a_value_is_bound_to_its_key_its_place_and_every_byte() {
        let mut random = counting();
        let sealed = encrypt(
            &key(),
            &Scalar::text("hunter2"),
            "data:password:",
            &mut random,
        );
        assert!(sealed.starts_with(PREFIX) && sealed.ends_with(",type:str]"));
        assert!(!sealed.contains("hunter2"));
        let opened = |key: &DataKey, text: &str, place: &str| decrypt(key, text, place).is_some();
        assert!(opened(&key(), &sealed, "data:password:"));
        assert!(!opened(&key(), &sealed, "data:other:"));
        assert!(!opened(&DataKey::new([8; 32]), &sealed, "data:password:"));
        for at in PREFIX.len()..PREFIX.len() + 8 {
            let mut broken = sealed.clone().into_bytes();
            broken[at] = if broken[at] == b'A' { b'B' } else { b'A' };
            let broken = String::from_utf8(broken).unwrap();
            assert!(broken == sealed || !opened(&key(), &broken, "data:password:"));
        }
    }

    #[test]
    fn d22_every_type_comes_back_and_an_empty_text_stays_empty() {
        let mut random = counting();
        for value in [
            Scalar::text("x"),
            Scalar::Integer(-12),
            Scalar::Float(0.5),
            Scalar::Bool(true),
            Scalar::Time("2024-01-02T00:00:00Z".to_owned()),
        ] {
            let sealed = encrypt(&key(), &value, "a:", &mut random);
            assert!(decrypt(&key(), &sealed, "a:") == Some(value));
        }
        assert_eq!(encrypt(&key(), &Scalar::text(""), "a:", &mut random), "");
        assert!(decrypt(&key(), "", "a:") == Some(Scalar::text("")));
    }

    #[test]
    fn d22_a_source_that_repeats_itself_does_not_repeat_a_vector() {
        let vector = |text: &str, place: &str| {
            let mut zeros = |bytes: &mut [u8]| bytes.fill(0);
            let sealed = encrypt(&key(), &Scalar::text(text), place, &mut zeros);
            Parts::read(&sealed).unwrap().iv.to_owned()
        };
        assert_ne!(vector("one", "a:"), vector("two", "a:"));
        assert_ne!(vector("one", "a:"), vector("one", "b:"));
    }

    #[test]
    fn other_text_is_no_encrypted_value() {
        for text in ["", "x", "ENC[AES256_GCM,data:,iv:,tag:,type:]", "ENC[x]"] {
            assert!(!is_ciphertext(text));
        }
    }
}
