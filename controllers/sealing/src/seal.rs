//! Making sealed documents: new ones, and new states of old ones.
//!
//! Every way ends in [`Sealer::finish`]: the encrypted tree is laid out, the message authentication code is
//! computed in the order that came out, and the final text is read back and opened before it counts as sealed.

use model::{Millis, ResourceId};
use serde_json::{Map, Value};

use crate::age_keys::{InvalidRecipient, Recipient, wrap};
use crate::ciphertext::{DataKey, encrypt};
use crate::document::{OpenDocument, Sealed, SealedDocument};
use crate::encryption::{Encryption, OutOfRange};
use crate::fingerprint::{self, Covered, FingerprintKey};
use crate::layout::Layout;
use crate::metadata::{BLOCK, Metadata};
use crate::plaintext::same_objects;
use crate::random::RandomSource;
use crate::rule::{Rule, RuleError};
use crate::scalar::Scalar;
use crate::sealed_bytes::SealedBytes;
use crate::sops_config::Creation;
use crate::tree::Path;

/// Everything that sealing needs beside the object.
pub struct Sealer<'a> {
    /// Writes the text.
    pub layout: &'a dyn Layout,
    /// Gives data keys, initialisation vectors and salts.
    pub random: &'a mut dyn RandomSource,
    /// The time that the file states as its last change, in milliseconds since 1970 UTC.
    pub now: Millis,
    /// Makes the fingerprint that tells, without a private key, whether a document must be written again. Without
    /// it a document carries none.
    pub fingerprint_key: Option<&'a FingerprintKey>,
}

/// An object that is not sealed. Nothing of its values is shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// The rule of the file does not fit the object.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// A recipient of the file cannot be encrypted for, and without a private key the whole file must be.
    #[error(transparent)]
    Recipient(#[from] InvalidRecipient),
    /// There is nobody to seal for.
    #[error("there is no recipient to encrypt for")]
    NoRecipients,
    /// A value cannot stand in a SOPS file.
    #[error("{path} is a number beyond what sops can hold")]
    Number {
        /// The keys on the way to the value.
        path: String,
    },
    /// The text that was laid out does not read back as what was sealed.
    #[error("no text was found that reads back as the sealed object")]
    NotExpressible,
}

impl SealError {
    /// Says what a person can do next.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Rule(rule) => rule.remedy(),
            Self::Recipient(_) => {
                "replace the recipient, or give the target a private key that opens the file"
            }
            Self::NoRecipients => "give the target a recipient in spec.encryption",
            Self::Number { .. } => "write the number as text",
            Self::NotExpressible => "write the file once with sops itself",
        }
    }
}

impl Sealer<'_> {
    /// Seals an object into a document of its own.
    ///
    /// # Errors
    /// Returns why the object cannot be sealed; nothing of it is in the error.
    pub fn new_document(
        &mut self,
        id: &ResourceId,
        object: &Map<String, Value>,
        creation: &Creation,
    ) -> Result<SealedBytes, SealError> {
        let mut rule = Rule::for_object(&id.type_id, object)?;
        rule.mac_only_encrypted = creation.mac_only_encrypted;
        rule.check(&id.type_id, object)?;
        let recipients = creation.recipients.iter();
        if recipients.len() == 0 {
            return Err(SealError::NoRecipients);
        }
        let key = DataKey::generate(self.random);
        let keys = recipients.map(|recipient| wrap(&key, recipient)).collect();
        let metadata = Metadata::new(keys, rule, self.now);
        let unproved = self.encrypt(id, object, metadata, key, Vec::new())?;
        self.finish(unproved, None)
    }

    /// Changes an opened document to a new state. None if it holds that state already. The data key, the
    /// ciphertext of what stays, and the order and comments of the file are kept.
    ///
    /// # Errors
    /// Returns why the object cannot be sealed; nothing of it is in the error.
    pub fn change(
        &mut self,
        id: &ResourceId,
        open: &OpenDocument<'_>,
        object: &Map<String, Value>,
    ) -> Result<Option<SealedBytes>, SealError> {
        if same_objects(open.plaintext.expose(), object) {
            return Ok(None);
        }
        let mut metadata = open.document.metadata.clone();
        metadata.rule.check(&id.type_id, object)?;
        metadata.touch(self.now);
        let unproved = self.encrypt(id, object, metadata, open.key.clone(), open.stash.clone())?;
        self.finish(unproved, Some(&open.document.text)).map(Some)
    }

    /// Seals a new state into a document that cannot be opened: with a new data key for the recipients that the
    /// document has, under the rule that it has. Order and comments of the file are kept.
    ///
    /// # Errors
    /// Returns why the object cannot be sealed; nothing of it is in the error.
    pub fn rewrite(
        &mut self,
        id: &ResourceId,
        document: &SealedDocument,
        object: &Map<String, Value>,
    ) -> Result<SealedBytes, SealError> {
        let mut metadata = document.metadata.clone();
        metadata.rule.check(&id.type_id, object)?;
        metadata.touch(self.now);
        let recipients = document
            .recipients()
            .map(str::parse)
            .collect::<Result<Vec<Recipient>, _>>()?;
        let key = DataKey::generate(self.random);
        metadata.keys = recipients
            .iter()
            .map(|recipient| wrap(&key, recipient))
            .collect();
        let unproved = self.encrypt(id, object, metadata, key, Vec::new())?;
        let text = without_encrypted_comments(&document.text);
        self.finish(unproved, Some(&text))
    }

    fn encrypt<'o>(
        &mut self,
        id: &'o ResourceId,
        object: &'o Map<String, Value>,
        metadata: Metadata,
        key: DataKey,
        stash: Vec<Sealed>,
    ) -> Result<Unproved<'o>, SealError> {
        let mut encryption = Encryption {
            rule: &metadata.rule,
            key: &key,
            stash,
            random: self.random,
        };
        let values = encryption.object(object, &mut Path::default());
        Ok(Unproved {
            id,
            object,
            values: values.map_err(|OutOfRange { path }| SealError::Number { path })?,
            metadata,
            key,
        })
    }

    /// Lays out a document, in the place of an old text where that can be done.
    fn finish(
        &mut self,
        unproved: Unproved<'_>,
        before: Option<&str>,
    ) -> Result<SealedBytes, SealError> {
        if let Some(before) = before
            && let Ok(sealed) = self.lay_out(unproved.clone(), Some(before))
        {
            return Ok(sealed);
        }
        self.lay_out(unproved, None)
    }

    fn lay_out(
        &mut self,
        mut unproved: Unproved<'_>,
        before: Option<&str>,
    ) -> Result<SealedBytes, SealError> {
        // The code depends on the order of the file, so the first text is only there to find that order.
        let unsigned = read_back(&unproved.text(self.layout, before)?)?;
        let decrypted = unsigned
            .decrypt(&unproved.key)
            .map_err(|_| SealError::NotExpressible)?;
        let mac = Scalar::text(decrypted.mac.as_str());
        unproved.metadata.mac = encrypt(
            &unproved.key,
            &mac,
            &unproved.metadata.last_modified,
            self.random,
        );
        if let Some(key) = self.fingerprint_key {
            let mut ciphertext = unsigned.ciphertext();
            ciphertext.pop();
            ciphertext.push(unproved.metadata.mac.clone());
            let covered = Covered {
                id: unproved.id,
                object: unproved.object,
                ciphertext: &ciphertext,
            };
            unproved.metadata.fingerprint = Some(fingerprint::make(key, &covered, self.random));
        }
        let text = unproved.text(self.layout, before)?;
        prove(&unproved, &text)?;
        Ok(SealedBytes::proved(text))
    }
}

/// A document before it is text.
#[derive(Clone)]
struct Unproved<'a> {
    id: &'a ResourceId,
    object: &'a Map<String, Value>,
    /// The object with encrypted values.
    values: Map<String, Value>,
    metadata: Metadata,
    key: DataKey,
}

impl Unproved<'_> {
    fn text(&self, layout: &dyn Layout, before: Option<&str>) -> Result<String, SealError> {
        let block = self.metadata.block();
        match before {
            None => {
                let block = Map::from_iter([(BLOCK.to_owned(), block)]);
                Ok(layout.write(&self.values) + &layout.write(&block))
            }
            Some(before) => {
                let mut whole = self.values.clone();
                whole.insert(BLOCK.to_owned(), block);
                layout
                    .edit(before, &Value::Object(whole))
                    .ok_or(SealError::NotExpressible)
            }
        }
    }
}

fn read_back(text: &str) -> Result<SealedDocument, SealError> {
    SealedDocument::read(text).map_err(|_| SealError::NotExpressible)
}

/// Proves that a text is the sealed form of the object: the block is the one that was meant, every value that the
/// rule names is encrypted, the code fits, and what comes out is the object.
fn prove(unproved: &Unproved<'_>, text: &str) -> Result<(), SealError> {
    let document = read_back(text)?;
    let opened = document
        .open_with(unproved.key.clone())
        .map_err(|_| SealError::NotExpressible)?;
    let holds = document.metadata.block() == unproved.metadata.block()
        && same_objects(opened.plaintext.expose(), unproved.object);
    if holds {
        Ok(())
    } else {
        Err(SealError::NotExpressible)
    }
}

/// Takes out the comments that the real tool encrypted: with another data key nobody can read them.
fn without_encrypted_comments(text: &str) -> String {
    const START: &str = "#ENC[AES256_GCM,data:";
    text.split_inclusive('\n')
        .filter_map(|line| match line.find(START) {
            None => Some(line.to_owned()),
            Some(at) if line[..at].trim().is_empty() => None,
            Some(at) if line[..at].ends_with(' ') => {
                let end = if line.ends_with("\r\n") { "\r\n" } else { "\n" };
                Some(format!("{}{end}", line[..at].trim_end()))
            }
            Some(_) => Some(line.to_owned()),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encrypted_comments_go_and_all_others_stay() {
        assert_eq!(
            without_encrypted_comments(
                "# top\ndata:\n    #ENC[AES256_GCM,data:x]\n    a: b #ENC[AES256_GCM,data:x]\n    c: d # e\n"
            ),
            "# top\ndata:\n    a: b\n    c: d # e\n"
        );
        assert_eq!(
            without_encrypted_comments("a: b #ENC[AES256_GCM,data:x]\r\n"),
            "a: b\r\n"
        );
    }
}
