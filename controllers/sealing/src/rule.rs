//! Which values of a document are encrypted.

use model::TypeId;
use regex::Regex;
use serde_json::{Map, Value};

use crate::tree::Path;

/// What the tool takes for its rule in a file that states none.
const DEFAULT_UNENCRYPTED_SUFFIX: &str = "_unencrypted";

/// The top-level keys of a core Secret that hold its values.
const SECRET_KEYS: [&str; 2] = ["data", "stringData"];

/// The top-level keys that say which object a document is, and stay readable.
const IDENTITY_KEYS: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Keys of the metadata that must stay readable, so no top-level key may share their name: the tool matches a
/// rule with every key on the way to a value.
const RESERVED_KEYS: [&str; 4] = ["name", "namespace", "labels", "annotations"];

/// A rule that cannot be followed, or must not be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// More than one rule is stated.
    #[error("{first} and {second} stand side by side, and sops takes one rule only")]
    Several {
        /// The first one.
        first: &'static str,
        /// The second one.
        second: &'static str,
    },
    /// The rule is a regular expression that cannot be read.
    #[error("{field} is no regular expression that is understood")]
    Regex {
        /// The field that states it.
        field: &'static str,
    },
    /// The rule depends on comments, which no object has.
    #[error("{field} chooses values by comments, which is not supported")]
    ByComment {
        /// The field that states it.
        field: &'static str,
    },
    /// The rule is no text.
    #[error("{field} is no text")]
    NoText {
        /// The field that states it.
        field: &'static str,
    },
    /// The rule leaves a value in clear that is sensitive.
    #[error("the rule of the file leaves {path} in clear")]
    LeavesClear {
        /// The keys on the way to the value.
        path: String,
    },
    /// The rule encrypts what says which object the document is.
    #[error("the rule of the file encrypts {path}, so nobody can read which object it is")]
    HidesIdentity {
        /// The keys on the way to the value.
        path: String,
    },
    /// The object has a top-level key that a rule cannot tell from a key of its metadata.
    #[error("the object has the top-level key {key}, which no rule can tell from metadata.{key}")]
    ReservedKey {
        /// The key.
        key: String,
    },
    /// The object has the top-level key that sops uses itself.
    #[error("the object has the top-level key sops, where sops keeps its own data")]
    SopsKey,
}

impl RuleError {
    /// Says what a person can do next.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::LeavesClear { .. } | Self::HidesIdentity { .. } => {
                "encrypt the file again with a rule that covers every value and leaves the identity readable, or delete it"
            }
            Self::ReservedKey { .. } | Self::SopsKey => {
                "take the type out of the sensitive types, or out of the rules that select it"
            }
            Self::Several { .. }
            | Self::Regex { .. }
            | Self::ByComment { .. }
            | Self::NoText { .. } => "state one rule that chooses values by their keys",
        }
    }
}

/// Which values are encrypted, and which of them the message authentication code covers.
#[derive(Clone)]
pub(crate) struct Rule {
    choice: Choice,
    pub(crate) mac_only_encrypted: bool,
}

#[derive(Clone)]
enum Choice {
    EncryptedRegex(Regex),
    UnencryptedRegex(Regex),
    EncryptedSuffix(String),
    UnencryptedSuffix(String),
}

impl Rule {
    /// Returns the rule for a new document: the values of a core Secret, or everything of another type except
    /// what says which object it is.
    pub(crate) fn for_object(
        type_id: &TypeId,
        object: &Map<String, Value>,
    ) -> Result<Self, RuleError> {
        let keys: Vec<String> = if is_core_secret(type_id) {
            SECRET_KEYS.map(str::to_owned).to_vec()
        } else {
            object
                .keys()
                .filter(|key| !IDENTITY_KEYS.contains(&key.as_str()))
                .map(|key| regex::escape(key))
                .collect()
        };
        let pattern = format!("^({})$", keys.join("|"));
        let regex = Regex::new(&pattern).map_err(|_| RuleError::Regex {
            field: "encrypted_regex",
        })?;
        Ok(Self {
            choice: Choice::EncryptedRegex(regex),
            mac_only_encrypted: false,
        })
    }

    /// Reads the rule of a file or of a creation rule. None if it states none.
    pub(crate) fn stated(fields: &Map<String, Value>) -> Result<Option<Self>, RuleError> {
        for field in ["encrypted_comment_regex", "unencrypted_comment_regex"] {
            if text(fields, field)?.is_some() {
                return Err(RuleError::ByComment { field });
            }
        }
        let mut found: Option<(&'static str, &str)> = None;
        for field in [
            "encrypted_regex",
            "unencrypted_regex",
            "encrypted_suffix",
            "unencrypted_suffix",
        ] {
            let Some(value) = text(fields, field)? else {
                continue;
            };
            if let Some((first, _)) = found {
                return Err(RuleError::Several {
                    first,
                    second: field,
                });
            }
            found = Some((field, value));
        }
        let Some((field, value)) = found else {
            return Ok(None);
        };
        let regex = || Regex::new(value).map_err(|_| RuleError::Regex { field });
        let choice = match field {
            "encrypted_regex" => Choice::EncryptedRegex(regex()?),
            "unencrypted_regex" => Choice::UnencryptedRegex(regex()?),
            "encrypted_suffix" => Choice::EncryptedSuffix(value.to_owned()),
            _ => Choice::UnencryptedSuffix(value.to_owned()),
        };
        Ok(Some(Self {
            choice,
            mac_only_encrypted: fields.get("mac_only_encrypted") == Some(&Value::Bool(true)),
        }))
    }

    /// Reads the rule of a file, with what sops assumes where it states none.
    pub(crate) fn of_file(fields: &Map<String, Value>) -> Result<Self, RuleError> {
        Ok(Self::stated(fields)?.unwrap_or_else(|| Self {
            choice: Choice::UnencryptedSuffix(DEFAULT_UNENCRYPTED_SUFFIX.to_owned()),
            mac_only_encrypted: fields.get("mac_only_encrypted") == Some(&Value::Bool(true)),
        }))
    }

    /// Returns the field and the value that state the rule in a file.
    pub(crate) fn field(&self) -> (&'static str, String) {
        match &self.choice {
            Choice::EncryptedRegex(regex) => ("encrypted_regex", regex.as_str().to_owned()),
            Choice::UnencryptedRegex(regex) => ("unencrypted_regex", regex.as_str().to_owned()),
            Choice::EncryptedSuffix(suffix) => ("encrypted_suffix", suffix.clone()),
            Choice::UnencryptedSuffix(suffix) => ("unencrypted_suffix", suffix.clone()),
        }
    }

    /// Says whether the value at a place is encrypted. The rule is matched with every key on the way.
    pub(crate) fn encrypts(&self, path: &Path) -> bool {
        match &self.choice {
            Choice::EncryptedRegex(regex) => path.parts().any(|key| regex.is_match(key)),
            Choice::UnencryptedRegex(regex) => !path.parts().any(|key| regex.is_match(key)),
            Choice::EncryptedSuffix(suffix) => path.parts().any(|key| key.ends_with(suffix)),
            Choice::UnencryptedSuffix(suffix) => !path.parts().any(|key| key.ends_with(suffix)),
        }
    }

    /// Proves that the rule encrypts everything sensitive of an object and leaves its identity readable.
    pub(crate) fn check(
        &self,
        type_id: &TypeId,
        object: &Map<String, Value>,
    ) -> Result<(), RuleError> {
        if object.contains_key("sops") {
            return Err(RuleError::SopsKey);
        }
        if !is_core_secret(type_id)
            && let Some(key) = RESERVED_KEYS.iter().find(|key| object.contains_key(**key))
        {
            return Err(RuleError::ReservedKey {
                key: (*key).to_owned(),
            });
        }
        for identity in [
            &["apiVersion"][..],
            &["kind"],
            &["metadata", "name"],
            &["metadata", "namespace"],
        ] {
            let path = path_of(identity);
            if self.encrypts(&path) {
                return Err(RuleError::HidesIdentity {
                    path: path.display(),
                });
            }
        }
        for (key, value) in object {
            if is_sensitive(type_id, key) {
                let mut path = path_of(&[key]);
                self.check_covered(value, &mut path)?;
            }
        }
        Ok(())
    }

    fn check_covered(&self, value: &Value, path: &mut Path) -> Result<(), RuleError> {
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    path.push(key);
                    self.check_covered(value, path)?;
                    path.pop();
                }
                Ok(())
            }
            Value::Array(items) => items
                .iter()
                .try_for_each(|item| self.check_covered(item, path)),
            // The tool encrypts neither, and neither says anything.
            Value::Null => Ok(()),
            Value::String(text) if text.is_empty() => Ok(()),
            _ if self.encrypts(path) => Ok(()),
            _ => Err(RuleError::LeavesClear {
                path: path.display(),
            }),
        }
    }
}

fn is_core_secret(type_id: &TypeId) -> bool {
    type_id.group.is_empty() && &*type_id.resource == "secrets"
}

fn is_sensitive(type_id: &TypeId, key: &str) -> bool {
    if is_core_secret(type_id) {
        SECRET_KEYS.contains(&key)
    } else {
        !IDENTITY_KEYS.contains(&key)
    }
}

fn path_of(keys: &[&str]) -> Path {
    let mut path = Path::default();
    for key in keys {
        path.push(key);
    }
    path
}

fn text<'a>(
    fields: &'a Map<String, Value>,
    field: &'static str,
) -> Result<Option<&'a str>, RuleError> {
    match fields.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.is_empty() => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(RuleError::NoText { field }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    fn secret() -> TypeId {
        TypeId::new("", "secrets")
    }

    fn custom() -> TypeId {
        TypeId::new("example.org", "vaults")
    }

    #[test]
    fn d22a_a_rule_is_matched_with_every_key_on_the_way() {
        for (fields, path, encrypted) in [
            (
                json!({"encrypted_regex": "^(data|stringData)$"}),
                &["data", "a", "b"][..],
                true,
            ),
            (
                json!({"encrypted_regex": "^(data|stringData)$"}),
                &["metadata", "labels", "data"],
                true,
            ),
            (
                json!({"encrypted_regex": "^(data|stringData)$"}),
                &["metadata", "labels", "database"],
                false,
            ),
            (
                json!({"unencrypted_regex": "^metadata$"}),
                &["spec", "metadata", "x"],
                false,
            ),
            (
                json!({"unencrypted_regex": "^metadata$"}),
                &["spec", "x"],
                true,
            ),
            (
                json!({"encrypted_suffix": "_secret"}),
                &["spec", "a_secret", "x"],
                true,
            ),
            (
                json!({"encrypted_suffix": "_secret"}),
                &["spec", "a"],
                false,
            ),
            (
                json!({"unencrypted_suffix": "_clear"}),
                &["spec", "a_clear"],
                false,
            ),
            (json!({}), &["kind"], true),
            (json!({}), &["a_unencrypted"], false),
        ] {
            let rule = Rule::of_file(&map(fields.clone())).unwrap();
            assert_eq!(
                rule.encrypts(&path_of(path)),
                encrypted,
                "{fields} {path:?}"
            );
        }
    }

    #[test]
    fn d22a_a_new_document_of_another_type_encrypts_all_but_its_identity() {
        let object = map(
            json!({"apiVersion": "v1", "kind": "Vault", "metadata": {"name": "a"}, "spec": {"kind": "x"}, "top.level": 1}),
        );
        let rule = Rule::for_object(&custom(), &object).unwrap();
        assert_eq!(rule.field().1, r"^(spec|top\.level)$");
        assert!(rule.encrypts(&path_of(&["spec", "kind"])));
        rule.check(&custom(), &object).unwrap();
        let rule = Rule::for_object(&secret(), &object).unwrap();
        assert_eq!(rule.field().1, "^(data|stringData)$");
    }

    #[test]
    fn d22a_a_key_that_no_rule_can_tell_from_metadata_is_refused_by_name() {
        for key in RESERVED_KEYS {
            let object = map(
                json!({"apiVersion": "v1", "kind": "Vault", "metadata": {"name": "a"}, (key): 1}),
            );
            let rule = Rule::for_object(&custom(), &object).unwrap();
            assert_eq!(
                rule.check(&custom(), &object).unwrap_err(),
                RuleError::ReservedKey {
                    key: key.to_owned()
                }
            );
        }
        let object = map(json!({"kind": "Vault", "sops": {}}));
        let rule = Rule::for_object(&custom(), &object).unwrap();
        assert_eq!(
            rule.check(&custom(), &object).unwrap_err(),
            RuleError::SopsKey
        );
    }

    #[test]
    fn d22b_a_rule_that_leaves_a_value_clear_or_hides_the_identity_is_refused_by_name() {
        let object = map(json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"},
            "data": {"a": "x", "b": "y", "empty": "", "none": null}
        }));
        for (fields, message) in [
            (
                json!({"encrypted_regex": "^a$"}),
                "the rule of the file leaves data.b in clear",
            ),
            (
                json!({"encrypted_suffix": "_x"}),
                "the rule of the file leaves data.a in clear",
            ),
            (
                json!({}),
                "the rule of the file encrypts apiVersion, so nobody can read which object it is",
            ),
            (
                json!({"encrypted_regex": "."}),
                "the rule of the file encrypts apiVersion, so nobody can read which object it is",
            ),
        ] {
            let rule = Rule::of_file(&map(fields)).unwrap();
            assert_eq!(
                rule.check(&secret(), &object).unwrap_err().to_string(),
                message
            );
        }
        let rule = Rule::of_file(&map(json!({"encrypted_regex": "^[ab]$"}))).unwrap();
        rule.check(&secret(), &object).unwrap();
    }

    #[test]
    fn d22b_a_rule_that_cannot_be_followed_is_refused_by_name() {
        for (fields, message) in [
            (
                json!({"encrypted_regex": "a", "encrypted_suffix": "b"}),
                "encrypted_regex and encrypted_suffix stand side by side, and sops takes one rule only",
            ),
            (
                json!({"encrypted_regex": "("}),
                "encrypted_regex is no regular expression that is understood",
            ),
            (
                json!({"encrypted_comment_regex": "x"}),
                "encrypted_comment_regex chooses values by comments, which is not supported",
            ),
            (json!({"encrypted_regex": 1}), "encrypted_regex is no text"),
        ] {
            assert_eq!(
                Rule::stated(&map(fields)).err().unwrap().to_string(),
                message
            );
        }
    }
}
