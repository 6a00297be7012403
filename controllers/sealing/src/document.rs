//! A sealed document, read and opened.

use std::fmt;

use model::ResourceId;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256, Sha512};

use crate::age_keys::{Identities, Unwrap, unwrap};
use crate::ciphertext::{DataKey, decrypt, is_ciphertext, is_comment};
use crate::fingerprint::{self, Covered, FingerprintKey, Standing};
use crate::metadata::{BLOCK, Metadata, MetadataError};
use crate::plaintext::{Plaintext, same};
use crate::reader::{Anchors, SyntaxError, read};
use crate::rule::Rule;
use crate::scalar::Scalar;
use crate::tree::{Node, Path, mapping_to_json};

/// A document with a `sops` block, as it stands in a file. What is encrypted in it is closed.
#[derive(Clone)]
pub struct SealedDocument {
    pub(crate) text: String,
    /// Everything but the block, in the order of the file.
    pub(crate) root: Node,
    pub(crate) metadata: Metadata,
}

/// A file that is no sealed document that can be kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The text is not one plain YAML document.
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    /// The document is no mapping.
    #[error("the document is no mapping")]
    NoMapping,
    /// Its block cannot be used.
    #[error(transparent)]
    Metadata(#[from] MetadataError),
}

/// A sealed document that cannot be opened. Paths are keys, which are no secret; values are never shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// None of the private keys belongs to a recipient of the document.
    #[error("no private key at hand opens the document")]
    NoIdentity,
    /// A private key fits, and what it opens is damaged.
    #[error("the encrypted data key of the document is damaged")]
    KeyDamaged,
    /// A value that must be encrypted is not.
    #[error("{path} is not encrypted, although the rule of the file says so")]
    NotEncrypted {
        /// The keys on the way to the value.
        path: String,
    },
    /// A value does not decrypt: it was changed, moved or belongs to another data key.
    #[error("{path} does not decrypt: it was changed without sops, or moved")]
    ValueDamaged {
        /// The keys on the way to the value.
        path: String,
    },
    /// The message authentication code is another one.
    #[error("the message authentication code does not fit: the file was changed without sops")]
    MacMismatch,
}

impl ReadError {
    /// Says what a person can do next.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Syntax(_) | Self::NoMapping => {
                "keep one plain document in the file, without anchors, merge keys and tags"
            }
            Self::Metadata(MetadataError::Missing | MetadataError::Field { .. }) => {
                "encrypt the file with sops, or restore it from the history"
            }
            Self::Metadata(MetadataError::OtherKeeper { .. } | MetadataError::Shamir) => {
                "encrypt the file again with sops, for age recipients in one key group"
            }
            Self::Metadata(MetadataError::Rule(rule)) => rule.remedy(),
        }
    }
}

impl OpenError {
    /// Says what a person can do next.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::NoIdentity => "give the target a private key of one of the file's recipients",
            Self::NotEncrypted { .. } => "encrypt the file again with sops",
            Self::KeyDamaged | Self::ValueDamaged { .. } | Self::MacMismatch => {
                "restore the file from the history, or delete it so that it is written again"
            }
        }
    }
}

impl SealedDocument {
    /// Reads a file that holds one sealed document.
    ///
    /// # Errors
    /// Returns why the document cannot be kept: it is no plain YAML, or its block needs what is not supported.
    pub fn read(text: &str) -> Result<Self, ReadError> {
        let Node::Mapping(mut entries) = read(text, Anchors::Refused)? else {
            return Err(ReadError::NoMapping);
        };
        let metadata = Metadata::read(&Value::Object(mapping_to_json(&entries)))?;
        entries.retain(|(key, _)| key != BLOCK);
        let mut root = Node::Mapping(entries);
        drop_comments(&mut root, &metadata.rule, &mut Path::default());
        Ok(Self {
            text: text.to_owned(),
            root,
            metadata,
        })
    }

    /// Returns the recipients that the document is sealed for, as they are written.
    pub fn recipients(&self) -> impl Iterator<Item = &str> {
        self.metadata.keys.iter().map(|key| key.recipient.as_str())
    }

    /// Opens the document and verifies its message authentication code.
    ///
    /// # Errors
    /// Returns [`OpenError::NoIdentity`] if no key fits, and what is damaged otherwise.
    pub fn open(&self, identities: &Identities) -> Result<OpenDocument<'_>, OpenError> {
        let key = unwrap(&self.metadata.keys, identities).map_err(|error| match error {
            Unwrap::NoIdentity => OpenError::NoIdentity,
            Unwrap::Broken => OpenError::KeyDamaged,
        })?;
        self.open_with(key)
    }

    pub(crate) fn open_with(&self, key: DataKey) -> Result<OpenDocument<'_>, OpenError> {
        let opened = self.decrypt(&key)?;
        let stated = decrypt(&key, &self.metadata.mac, &self.metadata.last_modified);
        if stated != Some(Scalar::text(opened.mac.as_str())) {
            return Err(OpenError::MacMismatch);
        }
        Ok(OpenDocument {
            document: self,
            key,
            plaintext: opened.plaintext,
            stash: opened.stash,
        })
    }

    /// Decrypts every value and computes the message authentication code that the document should have.
    pub(crate) fn decrypt(&self, key: &DataKey) -> Result<Decrypted, OpenError> {
        let rule = &self.metadata.rule;
        let mut mac = MacHasher::new(rule.mac_only_encrypted);
        let mut stash = Vec::new();
        let opened = self.root.map(&mut Path::default(), &mut |path, scalar| {
            let encrypted = rule.encrypts(path);
            let value = if encrypted {
                let (text, value) = open_value(key, path, scalar)?;
                stash.push(Sealed {
                    place: path.additional_data(),
                    value: value.clone(),
                    text,
                });
                value
            } else {
                scalar.clone()
            };
            mac.add(&value, encrypted);
            Ok(value)
        })?;
        let Node::Mapping(entries) = &opened else {
            return Err(OpenError::MacMismatch);
        };
        Ok(Decrypted {
            plaintext: Plaintext::new(mapping_to_json(entries)),
            stash,
            mac: mac.finish(),
        })
    }

    /// Judges by the fingerprint, without a private key, whether the document holds what is wanted.
    pub fn standing(
        &self,
        id: &ResourceId,
        wanted: &Map<String, Value>,
        key: &FingerprintKey,
    ) -> Standing {
        let ciphertext = self.ciphertext();
        let covered = Covered {
            id,
            object: wanted,
            ciphertext: &ciphertext,
        };
        let judged = fingerprint::judge(key, self.metadata.fingerprint.as_deref(), &covered);
        if judged == Standing::Unchanged && !self.looks_like(wanted) {
            return Standing::Changed;
        }
        judged
    }

    /// Says, without any key, whether the encrypted values are those that were written together, as far as the file
    /// tells: one that the real tool wrote tells nothing.
    pub fn is_whole(&self) -> bool {
        let fingerprint = self.metadata.fingerprint.as_deref();
        fingerprint.is_none_or(|text| fingerprint::is_of(text, &self.ciphertext()))
    }

    /// Says whether everything that can be seen is as wanted: the keys, what is clear, what is empty.
    fn looks_like(&self, wanted: &Map<String, Value>) -> bool {
        let Node::Mapping(entries) = &self.root else {
            return false;
        };
        entries_look_like(entries, wanted, &self.metadata.rule, &mut Path::default())
    }

    /// Returns everything encrypted, in the order of the file, the message authentication code last.
    pub(crate) fn ciphertext(&self) -> Vec<String> {
        let mut found = Vec::new();
        self.root.walk(&mut Path::default(), &mut |path, scalar| {
            if let (true, Scalar::Text(text)) = (self.metadata.rule.encrypts(path), scalar) {
                found.push(text.to_string());
            }
        });
        found.push(self.metadata.mac.clone());
        found
    }
}

/// Drops the comments of list items. Where it encrypts a list, the real tool writes each of them as an item of its
/// own, which is no value and which its authentication code does not cover.
fn drop_comments(node: &mut Node, rule: &Rule, path: &mut Path) {
    match node {
        Node::Null | Node::Scalar(_) => {}
        Node::List(items) => {
            if rule.encrypts(path) {
                items.retain(
                    |item| !matches!(item, Node::Scalar(Scalar::Text(text)) if is_comment(text)),
                );
            }
            for item in items {
                drop_comments(item, rule, path);
            }
        }
        Node::Mapping(entries) => {
            for (key, value) in entries {
                path.push(key);
                drop_comments(value, rule, path);
                path.pop();
            }
        }
    }
}

impl fmt::Debug for SealedDocument {
    /// Shows the size and the recipients.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let recipients: Vec<_> = self.recipients().collect();
        write!(
            f,
            "SealedDocument({} bytes, {recipients:?})",
            self.text.len()
        )
    }
}

/// A sealed document whose private key is at hand.
pub struct OpenDocument<'a> {
    pub(crate) document: &'a SealedDocument,
    pub(crate) key: DataKey,
    pub(crate) plaintext: Plaintext,
    pub(crate) stash: Vec<Sealed>,
}

impl OpenDocument<'_> {
    /// Returns what the document holds, without its block.
    pub fn plaintext(&self) -> &Plaintext {
        &self.plaintext
    }
}

impl fmt::Debug for OpenDocument<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OpenDocument({:?})", self.document)
    }
}

/// What decrypting yields.
pub(crate) struct Decrypted {
    pub(crate) plaintext: Plaintext,
    pub(crate) stash: Vec<Sealed>,
    pub(crate) mac: String,
}

/// An encrypted value, its place and what it means.
#[derive(Clone)]
pub(crate) struct Sealed {
    pub(crate) place: String,
    pub(crate) value: Scalar,
    pub(crate) text: String,
}

fn open_value(key: &DataKey, path: &Path, scalar: &Scalar) -> Result<(String, Scalar), OpenError> {
    let Scalar::Text(text) = scalar else {
        return Err(OpenError::NotEncrypted {
            path: path.display(),
        });
    };
    match decrypt(key, text, &path.additional_data()) {
        Some(value) => Ok((text.to_string(), value)),
        None if is_ciphertext(text) => Err(OpenError::ValueDamaged {
            path: path.display(),
        }),
        None => Err(OpenError::NotEncrypted {
            path: path.display(),
        }),
    }
}

/// Hashes values in the order of the file, as the real tool does.
struct MacHasher {
    hash: Sha512,
    only_encrypted: bool,
}

impl MacHasher {
    fn new(only_encrypted: bool) -> Self {
        let mut hash = Sha512::new();
        if only_encrypted {
            // The tool starts from a constant here, so that the two ways of hashing never agree.
            hash.update(Sha256::digest(b"sops"));
        }
        Self {
            hash,
            only_encrypted,
        }
    }

    fn add(&mut self, value: &Scalar, encrypted: bool) {
        if encrypted || !self.only_encrypted {
            self.hash.update(&*value.bytes());
        }
    }

    fn finish(self) -> String {
        let digest = self.hash.finalize();
        digest.iter().map(|byte| format!("{byte:02X}")).collect()
    }
}

fn entries_look_like(
    entries: &[(String, Node)],
    wanted: &Map<String, Value>,
    rule: &Rule,
    path: &mut Path,
) -> bool {
    entries.len() == wanted.len()
        && entries.iter().all(|(key, node)| {
            path.push(key);
            let alike = wanted
                .get(key)
                .is_some_and(|wanted| looks_like(node, wanted, rule, path));
            path.pop();
            alike
        })
}

fn looks_like(node: &Node, wanted: &Value, rule: &Rule, path: &mut Path) -> bool {
    match (node, wanted) {
        (Node::Null, wanted) => wanted.is_null(),
        (Node::List(items), Value::Array(wanted)) => {
            items.len() == wanted.len()
                && items
                    .iter()
                    .zip(wanted)
                    .all(|(item, wanted)| looks_like(item, wanted, rule, path))
        }
        (Node::Mapping(entries), Value::Object(wanted)) => {
            entries_look_like(entries, wanted, rule, path)
        }
        (Node::Scalar(scalar), wanted) if rule.encrypts(path) => match scalar {
            Scalar::Text(text) if text.is_empty() => wanted.as_str() == Some(""),
            Scalar::Text(text) => {
                is_ciphertext(text)
                    && Scalar::from_json(wanted).is_some_and(|scalar| !scalar.is_empty())
            }
            Scalar::Integer(_) | Scalar::Float(_) | Scalar::Bool(_) | Scalar::Time(_) => false,
        },
        (Node::Scalar(scalar), wanted) => same(&scalar.to_json(), wanted),
        (Node::List(_) | Node::Mapping(_), _) => false,
    }
}
