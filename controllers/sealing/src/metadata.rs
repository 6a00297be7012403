//! The `sops` block of a document.

use serde_json::{Map, Value, json};

use crate::age_keys::WrappedKey;
use crate::rule::{Rule, RuleError};
use crate::timestamp;

/// The key that holds the block.
pub(crate) const BLOCK: &str = "sops";

/// The key inside the block that holds our fingerprint. The real tool reads past it and drops it when it writes.
pub(crate) const FINGERPRINT: &str = "gitops_reverser";

/// The release of the real tool whose format a new block states.
const FORMAT_VERSION: &str = "3.13.3";

/// Other keepers of data keys, as the fields of a block name them, and their names.
pub(crate) const OTHER_KEEPERS: [(&str, &str); 6] = [
    ("kms", "AWS KMS"),
    ("gcp_kms", "Google Cloud KMS"),
    ("hckms", "Huawei Cloud KMS"),
    ("azure_kv", "Azure Key Vault"),
    ("hc_vault", "HashiCorp Vault"),
    ("pgp", "PGP"),
];

/// A block that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MetadataError {
    /// The document has no block.
    #[error("the document has no sops block")]
    Missing,
    /// A field of the block is missing or has another form.
    #[error("sops.{field} is missing or has another form than sops writes")]
    Field {
        /// The field.
        field: &'static str,
    },
    /// Somebody else than age keeps the data key.
    #[error("the file is encrypted with {keeper}, and only age is supported")]
    OtherKeeper {
        /// Who keeps it.
        keeper: &'static str,
    },
    /// The data key is split between several groups of keys.
    #[error("the data key is split between key groups (Shamir), which is not supported")]
    Shamir,
    /// The rule cannot be followed.
    #[error(transparent)]
    Rule(#[from] RuleError),
}

/// A block, read.
#[derive(Clone)]
pub(crate) struct Metadata {
    fields: Map<String, Value>,
    pub(crate) keys: Vec<WrappedKey>,
    pub(crate) rule: Rule,
    pub(crate) mac: String,
    /// The time of the last change as the real tool authenticates it.
    pub(crate) last_modified: String,
    pub(crate) fingerprint: Option<String>,
}

impl Metadata {
    /// Makes the block of a new document. What depends on the content is set later.
    pub(crate) fn new(keys: Vec<WrappedKey>, rule: Rule, now: model::Millis) -> Self {
        let (field, value) = rule.field();
        let mut fields = Map::new();
        fields.insert(field.to_owned(), Value::String(value));
        if rule.mac_only_encrypted {
            fields.insert("mac_only_encrypted".to_owned(), Value::Bool(true));
        }
        fields.insert("version".to_owned(), Value::from(FORMAT_VERSION));
        Self {
            fields,
            keys,
            rule,
            mac: String::new(),
            last_modified: timestamp::format(now),
            fingerprint: None,
        }
    }

    /// Reads the block of a document.
    pub(crate) fn read(document: &Value) -> Result<Self, MetadataError> {
        let Some(block) = document.get(BLOCK) else {
            return Err(MetadataError::Missing);
        };
        let Value::Object(fields) = block else {
            return Err(MetadataError::Field { field: "" });
        };
        for (field, keeper) in OTHER_KEEPERS {
            if fields.get(field).is_some_and(says_something) {
                return Err(MetadataError::OtherKeeper { keeper });
            }
        }
        let threshold = fields.get("shamir_threshold").and_then(Value::as_i64);
        if fields.get("key_groups").is_some_and(says_something) || threshold.is_some_and(|n| n > 1)
        {
            return Err(MetadataError::Shamir);
        }
        let text = |field| {
            let text = fields.get(field).and_then(Value::as_str);
            text.ok_or(MetadataError::Field { field })
        };
        Ok(Self {
            keys: read_keys(fields)?,
            rule: Rule::of_file(fields)?,
            mac: text("mac")?.to_owned(),
            last_modified: timestamp::whole_seconds(text("lastmodified")?).ok_or(
                MetadataError::Field {
                    field: "lastmodified",
                },
            )?,
            fingerprint: fields
                .get(FINGERPRINT)
                .and_then(Value::as_str)
                .map(str::to_owned),
            fields: fields.clone(),
        })
    }

    /// Returns the block as it goes into a document.
    pub(crate) fn block(&self) -> Value {
        let mut fields = self.fields.clone();
        let keys = self
            .keys
            .iter()
            .map(|key| json!({"recipient": key.recipient, "enc": key.encrypted}))
            .collect();
        fields.insert("age".to_owned(), keys);
        fields.insert("mac".to_owned(), Value::from(self.mac.as_str()));
        fields.insert(
            "lastmodified".to_owned(),
            Value::from(self.last_modified.as_str()),
        );
        match &self.fingerprint {
            Some(fingerprint) => {
                fields.insert(FINGERPRINT.to_owned(), Value::from(fingerprint.as_str()));
            }
            None => {
                fields.remove(FINGERPRINT);
            }
        }
        Value::Object(fields)
    }

    /// Notes that the document changes at this time.
    pub(crate) fn touch(&mut self, now: model::Millis) {
        self.last_modified = timestamp::format(now);
        self.mac.clear();
        self.fingerprint = None;
    }
}

fn read_keys(fields: &Map<String, Value>) -> Result<Vec<WrappedKey>, MetadataError> {
    let wrong = || MetadataError::Field { field: "age" };
    let listed = fields.get("age").and_then(Value::as_array);
    let keys = listed.ok_or_else(wrong)?;
    if keys.is_empty() {
        return Err(wrong());
    }
    keys.iter()
        .map(|key| {
            let text = |field| key.get(field).and_then(Value::as_str).map(str::to_owned);
            Ok(WrappedKey {
                recipient: text("recipient").ok_or_else(wrong)?,
                encrypted: text("enc").ok_or_else(wrong)?,
            })
        })
        .collect()
}

/// Says whether a field holds more than an empty value. Older releases of the tool write empty lists.
pub(crate) fn says_something(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(map) => !map.is_empty(),
        Value::String(text) => !text.is_empty(),
        Value::Bool(_) | Value::Number(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(extra: Value) -> Value {
        let mut block = json!({
            "age": [{"recipient": "age1x", "enc": "file"}], "kms": [], "pgp": null,
            "lastmodified": "2024-01-02T03:04:05Z", "mac": "ENC[x]", "version": "3.8.0",
            "encrypted_regex": "^data$",
        });
        for (key, value) in extra.as_object().unwrap() {
            block[key] = value.clone();
        }
        json!({"kind": "Secret", "sops": block})
    }

    #[test]
    fn a_block_that_nothing_changes_stays_as_it_is() {
        let document = block(json!({"unknown": {"a": 1}, "gitops_reverser": "f"}));
        let metadata = Metadata::read(&document).unwrap();
        assert_eq!(metadata.block(), document["sops"]);
        assert_eq!(metadata.fingerprint.as_deref(), Some("f"));
    }

    #[test]
    fn d22b_a_block_that_somebody_else_must_open_is_refused_by_name() {
        for (extra, message) in [
            (
                json!({"kms": [{"arn": "x"}]}),
                "the file is encrypted with AWS KMS, and only age is supported",
            ),
            (
                json!({"pgp": [{"fp": "x"}]}),
                "the file is encrypted with PGP, and only age is supported",
            ),
            (
                json!({"hc_vault": [{}]}),
                "the file is encrypted with HashiCorp Vault, and only age is supported",
            ),
            (
                json!({"key_groups": [{}, {}]}),
                "the data key is split between key groups (Shamir), which is not supported",
            ),
            (
                json!({"shamir_threshold": 2}),
                "the data key is split between key groups (Shamir), which is not supported",
            ),
            (
                json!({"age": []}),
                "sops.age is missing or has another form than sops writes",
            ),
            (
                json!({"mac": null}),
                "sops.mac is missing or has another form than sops writes",
            ),
            (
                json!({"lastmodified": "today"}),
                "sops.lastmodified is missing or has another form than sops writes",
            ),
        ] {
            let error = Metadata::read(&block(extra)).err().unwrap();
            assert_eq!(error.to_string(), message);
        }
        let error = Metadata::read(&json!({"kind": "Secret"})).err().unwrap();
        assert_eq!(error, MetadataError::Missing);
    }
}
