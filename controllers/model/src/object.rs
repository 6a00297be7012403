//! Objects as a watch delivers them and as a folder should hold them.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::name::Uid;
use crate::resource::{ResourceId, Sensitivity, ServedType};

/// An object as the API server sent it, with everything that controllers put into it.
#[derive(Clone)]
pub struct LiveObject {
    /// The type it was read as.
    pub served: Arc<ServedType>,
    /// The whole object.
    pub value: Map<String, Value>,
}

/// An object as a person meant it. [`sanitize`](crate::sanitize::sanitize) is the only constructor, so data
/// that was not sanitised cannot be planned.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct DesiredObject {
    pub(crate) served: Arc<ServedType>,
    pub(crate) id: ResourceId,
    pub(crate) uid: Option<Uid>,
    pub(crate) resource_version: String,
    pub(crate) generation: i64,
    /// What a document should hold, as JSON text: a fifth of the memory that the value itself takes.
    #[serde(rename = "value", with = "as_value")]
    pub(crate) content: Box<[u8]>,
    pub(crate) withheld: Vec<WithheldField>,
    #[serde(default)]
    pub(crate) filled: Vec<FilledField>,
    pub(crate) applier: Option<ApplierOwner>,
    pub(crate) digest: ObjectDigest,
    pub(crate) content_digest: ObjectDigest,
    pub(crate) size: usize,
}

/// The first half of a SHA-256 of what an object says; in records in hex. All zeros, and an empty text, where it is
/// withheld.
#[derive(Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct ObjectDigest([u8; 16]);

/// A field that sanitising took out although a document may hold it, because a person may set it too: an
/// allocated port, a bound volume, a finalizer. It is never added to a document; where the document holds it,
/// it is compared and edited.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct WithheldField {
    /// The path from the root of the object; list items are written as their index.
    pub path: Vec<String>,
    /// The live value.
    pub value: Value,
}

/// A field of the value that no person wrote. A new document holds it; in a document that exists it makes no
/// difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilledField {
    /// The keys from the root of the object.
    pub path: Vec<String>,
    /// Who wrote it.
    pub by: Filler,
}

/// Who wrote a field that no person wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Filler {
    /// The API server, by what it knows of its cluster. A document that holds the field is compared.
    ApiServer,
    /// A controller through the `scale` subresource. A document that holds the field keeps its value (D27a).
    Autoscaler {
        /// The manager that it writes as.
        manager: String,
    },
}

/// The applier that an object says it belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ApplierOwner {
    /// A Flux `Kustomization`, from the owner labels.
    Flux {
        /// Its namespace.
        namespace: String,
        /// Its name.
        name: String,
    },
    /// An Argo CD `Application`, from the tracking annotation, as it stands there.
    ArgoCd {
        /// The tracking id.
        tracking_id: String,
    },
}

/// Why an object is not mirrored although a rule selects it (D21). Its document, if there is one, is neither
/// edited nor swept, except where [`LeftOut::protects_document`] says otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum LeftOut {
    /// The cluster or a tool generates the object for itself.
    ClusterGenerated {
        /// What it is, such as `root CA of the cluster`.
        what: String,
        /// Whether a copy in Git is kept by a sweep.
        protects_document: bool,
    },
    /// A controller derives the object from another one.
    ControllerOwned {
        /// The owner as `Kind/name`.
        owner: String,
    },
    /// The object is being deleted, so it is no longer desired.
    Terminating,
    /// The object has no usable name, namespace or kind.
    Malformed {
        /// What is wrong with it.
        problem: String,
    },
}

impl LeftOut {
    /// Says whether the object's document is kept as it is, also by a sweep.
    pub fn protects_document(&self) -> bool {
        match self {
            Self::ClusterGenerated {
                protects_document, ..
            } => *protects_document,
            Self::ControllerOwned { .. } | Self::Malformed { .. } => true,
            Self::Terminating => false,
        }
    }
}

impl DesiredObject {
    /// Returns the type that the object was read as.
    pub fn served(&self) -> &Arc<ServedType> {
        &self.served
    }

    /// Returns the version-free identity.
    pub fn id(&self) -> &ResourceId {
        &self.id
    }

    /// Returns the incarnation.
    pub fn uid(&self) -> Option<&Uid> {
        self.uid.as_ref()
    }

    /// Returns the resourceVersion that was observed.
    pub fn resource_version(&self) -> &str {
        &self.resource_version
    }

    /// Returns `metadata.generation`, 0 where the type has none.
    pub fn generation(&self) -> i64 {
        self.generation
    }

    /// Returns what a document should hold. It is kept as text and read at each call.
    pub fn value(&self) -> Map<String, Value> {
        serde_json::from_slice(&self.content).unwrap_or_default()
    }

    /// Returns the fields that are compared only where a document holds them.
    pub fn withheld(&self) -> &[WithheldField] {
        &self.withheld
    }

    /// Returns the fields of the value that no person wrote.
    pub fn filled(&self) -> &[FilledField] {
        &self.filled
    }

    /// Returns the applier that the object says it belongs to.
    pub fn applier(&self) -> Option<&ApplierOwner> {
        self.applier.as_ref()
    }

    /// Returns the digest of what a document should hold; withheld fields, and which fields nobody wrote, are
    /// included. Two states with one digest need no write between them.
    pub fn digest(&self) -> ObjectDigest {
        self.digest
    }

    /// Returns the digest of the value alone: of its JSON text, whose keys are sorted.
    pub fn content_digest(&self) -> ObjectDigest {
        self.content_digest
    }

    /// Returns the size of the value as JSON, in bytes; buffers are charged by it.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Says whether the object must be encrypted before it is written.
    pub fn is_sensitive(&self) -> bool {
        self.served.sensitive
    }

    /// Judges once more whether the object must be encrypted. What had to be stays so.
    pub fn judge(&mut self, sensitivity: &Sensitivity) {
        if !self.is_sensitive() && sensitivity.is_sensitive(&self.served.type_id) {
            Arc::make_mut(&mut self.served).sensitive = true;
        }
    }

    /// Returns a copy without content, for records that must hold no data of an object. Identity and size
    /// stay. The digest stays too, except of a sensitive object: a short secret could be guessed from it.
    pub fn without_content(&self) -> Self {
        let mut value = self.value();
        value.retain(|key, _| key == "apiVersion" || key == "kind");
        let mut copy = Self {
            content: text_of(&value),
            withheld: Vec::new(),
            filled: Vec::new(),
            ..self.clone()
        };
        if self.is_sensitive() {
            copy.digest = ObjectDigest::default();
            copy.content_digest = ObjectDigest::default();
        }
        copy
    }

    /// Computes digests and size once all other fields are set.
    pub(crate) fn seal(mut self) -> Self {
        let mut hasher = Sha256::new();
        hasher.update(&self.content);
        self.content_digest = ObjectDigest::of(hasher.clone());
        for withheld in &self.withheld {
            hasher.update(withheld.path.join("\u{0}").as_bytes());
            hasher.update(withheld.value.to_string().as_bytes());
        }
        for filled in &self.filled {
            hasher.update(filled.path.join("\u{0}").as_bytes());
            let by_autoscaler = matches!(filled.by, Filler::Autoscaler { .. });
            hasher.update([u8::from(by_autoscaler)]);
        }
        self.digest = ObjectDigest::of(hasher);
        self.size = self.content.len();
        self
    }
}

impl ObjectDigest {
    fn of(hasher: Sha256) -> Self {
        let mut short = [0; 16];
        short.copy_from_slice(&hasher.finalize()[..16]);
        Self(short)
    }

    /// Returns the bytes.
    pub fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl From<ObjectDigest> for String {
    fn from(digest: ObjectDigest) -> Self {
        if digest == ObjectDigest::default() {
            return Self::new();
        }
        digest.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl From<String> for ObjectDigest {
    /// Reads a digest of a record. What is none equals no digest of an object.
    fn from(text: String) -> Self {
        let number = u128::from_str_radix(&text, 16).unwrap_or_default();
        Self(number.to_be_bytes())
    }
}

/// Writes a value as JSON text, its keys sorted.
pub(crate) fn text_of(value: &Map<String, Value>) -> Box<[u8]> {
    serde_json::to_vec(value).unwrap_or_default().into()
}

/// Reads and writes the text of an object as the value that it stands for.
mod as_value {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use serde_json::{Map, Value};

    pub(super) fn serialize<S: Serializer>(text: &[u8], to: S) -> Result<S::Ok, S::Error> {
        let value: Map<String, Value> =
            serde_json::from_slice(text).map_err(serde::ser::Error::custom)?;
        value.serialize(to)
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Box<[u8]>, D::Error> {
        Ok(super::text_of(&Map::deserialize(from)?))
    }
}

impl fmt::Debug for ObjectDigest {
    /// Shows nothing: the hash of a short secret would give it away.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ObjectDigest")
    }
}

impl fmt::Debug for DesiredObject {
    /// Shows the identity only, because the content may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "DesiredObject({} @ {}, {} bytes)",
            self.id, self.resource_version, self.size
        )
    }
}

impl fmt::Debug for LiveObject {
    /// Shows the type only, because the content may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LiveObject({})", self.served.type_id)
    }
}

impl fmt::Debug for WithheldField {
    /// Shows the path only, because the value may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WithheldField({})", self.path.join("."))
    }
}
