//! Sensitive objects: compared with what their document holds, and sealed where it is something else.
//!
//! Whatever is here in plaintext goes to `sealing` and nowhere else; what comes back are [`SealedBytes`], the only
//! content that a sensitive document can have.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use model::{DesiredObject, Millis, RepoPath, ResourceId};
use sealing::{
    ConfigError, Creation, FingerprintKey, Identities, Layout, OpenError, RandomSource, Recipient,
    SealError, SealedBytes, SealedDocument, Sealer, SopsConfig, Standing, sops_config,
};
use serde_json::{Map, Value};

use super::defaults::Defaults;
use super::outcome::SealReason;
use super::wanted::{wanted, without_namespace};
use crate::yaml;

/// For whom a target's sensitive objects are encrypted, and what opens them again.
#[derive(Clone, Default)]
pub struct Encryption {
    /// Whom new files are sealed for, unless the repository has a rule of its own.
    pub recipients: BTreeSet<Recipient>,
    /// The private keys at hand.
    pub identities: Arc<Identities>,
    /// What tells without a private key whether a document must be written again.
    pub fingerprint_key: Option<FingerprintKey>,
}

/// What sealing needs beside the objects.
pub struct Sealing<'a> {
    /// For whom.
    pub encryption: &'a Encryption,
    /// Gives data keys, initialisation vectors and salts.
    pub random: &'a mut dyn RandomSource,
    /// The time that files state as their last change, in milliseconds since 1970 UTC.
    pub now: Millis,
}

/// What a sealed document is to become.
pub(super) enum Sealed {
    /// It holds that already.
    Unchanged,
    /// These bytes, for this reason.
    New(SealedBytes, SealReason),
}

/// Why an object is not sealed.
pub(super) struct Unsealed {
    pub(super) message: String,
    pub(super) remedy: &'static str,
    /// The configuration of SOPS, where that is the cause.
    pub(super) config: Option<RepoPath>,
}

/// A sealed document and how its target writes it.
pub(super) struct Held<'a> {
    pub(super) text: &'a str,
    pub(super) has_namespace: bool,
    pub(super) defaults: &'a Defaults,
}

/// Writes sealed documents the way every document of ours is written.
struct YamlLayout;

impl Layout for YamlLayout {
    fn write(&self, mapping: &Map<String, Value>) -> String {
        yaml::canonical(mapping)
    }

    fn edit(&self, text: &str, value: &Value) -> Option<String> {
        yaml::edit(text, &[(0, value)]).ok()
    }
}

impl Sealing<'_> {
    fn sealer(&mut self) -> Sealer<'_> {
        Sealer {
            layout: &YamlLayout,
            random: self.random,
            now: self.now,
            fingerprint_key: self.encryption.fingerprint_key.as_ref(),
        }
    }

    /// Seals an object that has no document yet. `config` is the nearest configuration of SOPS.
    pub(super) fn create(
        &mut self,
        object: &DesiredObject,
        value: &Map<String, Value>,
        path: &RepoPath,
        config: Option<(&RepoPath, &str)>,
    ) -> Result<SealedBytes, Unsealed> {
        let creation = match config {
            Some((at, text)) => SopsConfig::read(at, text)
                .and_then(|config| config.creation(path, &self.encryption.recipients))?,
            None => Creation::for_recipients(self.encryption.recipients.clone()),
        };
        Ok(self.sealer().new_document(object.id(), value, &creation)?)
    }

    /// Brings a sealed document to its object's state. With a private key what stays keeps its ciphertext; without
    /// one the document is sealed anew, unless its fingerprint says that nothing changed (D22c).
    pub(super) fn update(
        &mut self,
        object: &DesiredObject,
        held: &Held<'_>,
    ) -> Result<Sealed, Unsealed> {
        let id = object.id();
        let document = SealedDocument::read(held.text).map_err(|error| Unsealed {
            message: error.to_string(),
            remedy: error.remedy(),
            config: None,
        })?;
        if !document.is_whole() {
            // A merge by hand: sealing it again would hide that somebody has to decide.
            return Err(OpenError::MacMismatch.into());
        }
        let plain = spelled(Value::Object(object.value()), held);
        let key = self.encryption.fingerprint_key.as_ref();
        let standing = key.map(|key| document.standing(id, &plain, key));
        if standing == Some(Standing::Unchanged) {
            return Ok(Sealed::Unchanged);
        }
        let open = match document.open(&self.encryption.identities) {
            Ok(open) => open,
            Err(OpenError::NoIdentity) => {
                let reason = match standing {
                    Some(Standing::Changed) => SealReason::Changed,
                    Some(Standing::Unchanged | Standing::Unknown) | None => SealReason::Unproven,
                };
                let sealed = self.sealer().rewrite(id, &document, &plain)?;
                return Ok(Sealed::New(sealed, reason));
            }
            Err(error) => return Err(error.into()),
        };
        let before = Value::Object(open.plaintext().expose().clone());
        let version = object.served().api_version();
        let is_other = before["apiVersion"].as_str() != Some(&*version);
        let mut after = wanted(&before, object, held.defaults);
        keep_string_data(&before, &mut after);
        let after = spelled(after, held);
        match self.sealer().change(id, &open, &after)? {
            Some(_) if is_other => Err(Unsealed {
                message: format!(
                    "its document has another version than {version}, in which it was read"
                ),
                remedy: "write the document in the version that the cluster prefers",
                config: None,
            }),
            Some(sealed) => Ok(Sealed::New(sealed, SealReason::Changed)),
            None => Ok(Sealed::Unchanged),
        }
    }
}

/// Leaves the namespace out where the document leaves it out.
fn spelled(value: Value, held: &Held<'_>) -> Map<String, Value> {
    let value = if held.has_namespace {
        value
    } else {
        without_namespace(value)
    };
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// Keeps under `stringData` what a person wrote there, where what the server holds under `data` is text.
fn keep_string_data(before: &Value, after: &mut Value) {
    let Some(texts) = before.get("stringData").and_then(Value::as_object) else {
        return;
    };
    let mut kept = Map::new();
    for key in texts.keys() {
        let live = after.get("data").and_then(|data| data.get(key));
        let bytes = live.and_then(|live| BASE64_STANDARD.decode(live.as_str()?).ok());
        if let Some(text) = bytes.and_then(|bytes| String::from_utf8(bytes).ok()) {
            kept.insert(key.clone(), Value::String(text));
        }
    }
    if kept.is_empty() {
        return;
    }
    if let Some(data) = after.get_mut("data").and_then(Value::as_object_mut) {
        // The document may hold the key in both places; then the text is what counts.
        let both = before.get("data");
        data.retain(|key, _| {
            !kept.contains_key(key) || both.is_some_and(|data| data.get(key).is_some())
        });
        for (key, value) in data.iter_mut() {
            if let (true, Some(held)) =
                (kept.contains_key(key), both.and_then(|data| data.get(key)))
            {
                *value = held.clone();
            }
        }
        if data.is_empty() && both.is_none() {
            drop(after.as_object_mut().and_then(|map| map.remove("data")));
        }
    }
    after["stringData"] = Value::Object(kept);
}

/// Returns where a configuration of SOPS for the file may stand, the nearest first.
pub(super) fn config_paths(path: &RepoPath) -> Vec<RepoPath> {
    sops_config::config_paths(path)
}

impl From<OpenError> for Unsealed {
    fn from(error: OpenError) -> Self {
        Self {
            message: error.to_string(),
            remedy: error.remedy(),
            config: None,
        }
    }
}

impl From<SealError> for Unsealed {
    fn from(error: SealError) -> Self {
        Self {
            message: error.to_string(),
            remedy: error.remedy(),
            config: None,
        }
    }
}

impl From<ConfigError> for Unsealed {
    fn from(error: ConfigError) -> Self {
        Self {
            message: error.to_string(),
            remedy: error.remedy(),
            config: Some(error.path().clone()),
        }
    }
}

impl fmt::Debug for Encryption {
    /// Shows nothing of the keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Encryption({} recipients)", self.recipients.len())
    }
}

/// Says whose object a message is about.
pub(super) fn about(id: &ResourceId, unsealed: &Unsealed) -> String {
    format!("{id} cannot be encrypted: {}", unsealed.message)
}
