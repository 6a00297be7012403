//! The `.sops.yaml` of a repository: for whom a new document is sealed.
//!
//! What is encrypted in a new document does not depend on it: the rule of a new document follows from its type.

use std::collections::BTreeSet;
use std::str::FromStr as _;

use model::RepoPath;
use regex::Regex;
use serde_json::Value;

use crate::age_keys::{InvalidRecipient, Recipient};
use crate::metadata::says_something;
use crate::reader::{Anchors, SyntaxError, read};

/// The name of the configuration file.
pub const CONFIG_NAME: &str = ".sops.yaml";

/// For whom a new document is sealed, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Creation {
    /// The recipients.
    pub recipients: BTreeSet<Recipient>,
    /// Whether the message authentication code covers encrypted values only.
    pub mac_only_encrypted: bool,
}

impl Creation {
    /// Seals for these recipients, as a repository without a rule of its own does.
    pub fn for_recipients(recipients: BTreeSet<Recipient>) -> Self {
        Self {
            recipients,
            mac_only_encrypted: false,
        }
    }
}

/// A configuration, read.
#[derive(Debug, Clone, PartialEq)]
pub struct SopsConfig {
    path: RepoPath,
    rules: Vec<Value>,
    ours: bool,
}

/// A configuration that cannot be followed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The text is not one plain YAML document.
    #[error("{path}: {source}")]
    Syntax {
        /// The configuration.
        path: RepoPath,
        /// What is wrong.
        source: SyntaxError,
    },
    /// The rules are no list.
    #[error("{path}: creation_rules is no list")]
    Rules {
        /// The configuration.
        path: RepoPath,
    },
    /// A field has another form than sops reads.
    #[error("{path}: creation rule {rule}: {field} has another form than sops reads")]
    Form {
        /// The configuration.
        path: RepoPath,
        /// The number of the rule, counted from 1.
        rule: usize,
        /// The field.
        field: &'static str,
    },
    /// The rule asks for keys that are not supported.
    #[error("{path}: creation rule {rule} encrypts with {keeper}, and only age is supported")]
    OtherKeeper {
        /// The configuration.
        path: RepoPath,
        /// The number of the rule, counted from 1.
        rule: usize,
        /// Who keeps the key.
        keeper: &'static str,
    },
    /// The rule splits the data key.
    #[error(
        "{path}: creation rule {rule} splits the data key between key groups (Shamir), which is not supported"
    )]
    Shamir {
        /// The configuration.
        path: RepoPath,
        /// The number of the rule, counted from 1.
        rule: usize,
    },
    /// A recipient of the rule cannot be used.
    #[error("{path}: creation rule {rule}: {source}")]
    Recipient {
        /// The configuration.
        path: RepoPath,
        /// The number of the rule, counted from 1.
        rule: usize,
        /// What is wrong.
        source: InvalidRecipient,
    },
    /// The rule leaves out somebody whom the target seals for.
    #[error("{path}: creation rule {rule} lacks {recipient}, a recipient of the target")]
    LacksRecipient {
        /// The configuration.
        path: RepoPath,
        /// The number of the rule, counted from 1.
        rule: usize,
        /// The first recipient that is missing.
        recipient: Recipient,
    },
}

impl ConfigError {
    /// Returns the configuration.
    pub fn path(&self) -> &RepoPath {
        match self {
            Self::Syntax { path, .. }
            | Self::Rules { path }
            | Self::Form { path, .. }
            | Self::OtherKeeper { path, .. }
            | Self::Shamir { path, .. }
            | Self::Recipient { path, .. }
            | Self::LacksRecipient { path, .. } => path,
        }
    }

    /// Says what a person can do next.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Syntax { .. } | Self::Rules { .. } | Self::Form { .. } => "repair the file",
            Self::OtherKeeper { .. } | Self::Shamir { .. } | Self::Recipient { .. } => {
                "add a rule before it that matches the document and names X25519 recipients in one key group"
            }
            Self::LacksRecipient { .. } => {
                "add the recipient to the rule, or take it out of the target"
            }
        }
    }
}

/// Other keepers of data keys, as the fields of a rule or of a key group name them.
const OTHER_KEEPERS: [(&str, &str); 9] = [
    ("kms", "AWS KMS"),
    ("gcp_kms", "Google Cloud KMS"),
    ("hckms", "Huawei Cloud KMS"),
    ("azure_keyvault", "Azure Key Vault"),
    ("azure_kv", "Azure Key Vault"),
    ("hc_vault", "HashiCorp Vault"),
    ("hc_vault_transit_uri", "HashiCorp Vault"),
    ("vault", "HashiCorp Vault"),
    ("pgp", "PGP"),
];

impl SopsConfig {
    /// Reads the configuration that stands at this path of the repository. It counts for the files in its folder
    /// and below that no nearer configuration counts for.
    ///
    /// # Errors
    /// Returns where the text is no YAML, or that its rules are no list.
    pub fn read(path: &RepoPath, text: &str) -> Result<Self, ConfigError> {
        let root = read(text, Anchors::Expanded).map_err(|source| ConfigError::Syntax {
            path: path.clone(),
            source,
        })?;
        let rules = root.get("creation_rules").map(crate::tree::Node::to_json);
        Ok(Self {
            path: path.clone(),
            rules: match rules {
                Some(Value::Array(rules)) => rules,
                None | Some(Value::Null) => Vec::new(),
                Some(_) => return Err(ConfigError::Rules { path: path.clone() }),
            },
            ours: bootstrapped_for(text).is_some(),
        })
    }

    /// Returns for whom a new document at this path is sealed, given the recipients of the target: whom the first
    /// matching rule names, or the target's where none matches or where the file is our own, which follows the
    /// target.
    ///
    /// # Errors
    /// Returns the rule and why it cannot be followed, or whom of the target it lacks.
    pub fn creation(
        &self,
        document: &RepoPath,
        target: &BTreeSet<Recipient>,
    ) -> Result<Creation, ConfigError> {
        let Some((index, rule)) = self.first_match(document)? else {
            return Ok(Creation::for_recipients(target.clone()));
        };
        if self.ours {
            return Ok(Creation::for_recipients(target.clone()));
        }
        let number = index + 1;
        let recipients = self.recipients(number, rule)?;
        if let Some(missing) = target.difference(&recipients).next() {
            return Err(ConfigError::LacksRecipient {
                path: self.path.clone(),
                rule: number,
                recipient: missing.clone(),
            });
        }
        Ok(Creation {
            recipients,
            mac_only_encrypted: rule.get("mac_only_encrypted") == Some(&Value::Bool(true)),
        })
    }

    /// Says whether a rule counts for a document at this path.
    ///
    /// # Errors
    /// Returns the rule whose pattern cannot be read.
    pub fn covers(&self, document: &RepoPath) -> Result<bool, ConfigError> {
        Ok(self.first_match(document)?.is_some())
    }

    /// Says whether the file is as [`bootstrap`] writes it, so that it may be written again for other recipients.
    pub fn is_ours(&self) -> bool {
        self.ours
    }

    /// Finds the first rule whose pattern matches the path as seen from the configuration.
    fn first_match(&self, document: &RepoPath) -> Result<Option<(usize, &Value)>, ConfigError> {
        let folder = self.path.parent();
        let relative = folder.strip(document).unwrap_or(document.as_str());
        for (index, rule) in self.rules.iter().enumerate() {
            let wrong = || self.form(index + 1, "path_regex");
            let matches = match rule.get("path_regex") {
                None | Some(Value::Null) => true,
                Some(Value::String(pattern)) if pattern.is_empty() => true,
                Some(Value::String(pattern)) => {
                    Regex::new(pattern).map_err(|_| wrong())?.is_match(relative)
                }
                Some(_) => return Err(wrong()),
            };
            if matches {
                return Ok(Some((index, rule)));
            }
        }
        Ok(None)
    }

    fn recipients(&self, number: usize, rule: &Value) -> Result<BTreeSet<Recipient>, ConfigError> {
        let groups = rule.get("key_groups").and_then(Value::as_array);
        let texts = match groups.map(Vec::as_slice) {
            None | Some([]) => self.keys(number, rule)?,
            Some([group]) => self.group(number, group)?,
            Some(_) => {
                return Err(ConfigError::Shamir {
                    path: self.path.clone(),
                    rule: number,
                });
            }
        };
        texts
            .iter()
            .map(|text| {
                Recipient::from_str(text).map_err(|source| ConfigError::Recipient {
                    path: self.path.clone(),
                    rule: number,
                    source,
                })
            })
            .collect()
    }

    /// Reads a key group, with those merged into it.
    fn group(&self, number: usize, group: &Value) -> Result<Vec<String>, ConfigError> {
        let mut texts = Vec::new();
        if let Some(merged) = group.get("merge").and_then(Value::as_array) {
            for group in merged {
                texts.extend(self.group(number, group)?);
            }
        }
        texts.extend(self.keys(number, group)?);
        Ok(texts)
    }

    /// Reads the age keys of a rule or a group: a list, or a text with commas.
    fn keys(&self, number: usize, holder: &Value) -> Result<Vec<String>, ConfigError> {
        for (field, keeper) in OTHER_KEEPERS {
            if holder.get(field).is_some_and(says_something) {
                return Err(ConfigError::OtherKeeper {
                    path: self.path.clone(),
                    rule: number,
                    keeper,
                });
            }
        }
        let wrong = || self.form(number, "age");
        let listed: Vec<&str> = match holder.get("age") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::String(text)) => vec![text],
            Some(Value::Array(items)) => items
                .iter()
                .map(|item| item.as_str().ok_or_else(wrong))
                .collect::<Result<_, _>>()?,
            Some(_) => return Err(wrong()),
        };
        let parts = listed.into_iter().flat_map(|text| text.split(','));
        Ok(parts
            .map(|part| part.trim().to_owned())
            .filter(|part| !part.is_empty())
            .collect())
    }

    fn form(&self, rule: usize, field: &'static str) -> ConfigError {
        ConfigError::Form {
            path: self.path.clone(),
            rule,
            field,
        }
    }
}

const BOOTSTRAP_HEAD: &str = "\
# Written by GitOps Reverser, and kept up to date with the recipients of its target as long as nobody edits it.
creation_rules:
  - path_regex: '\\.sops\\.ya?ml$'
    encrypted_regex: ^(data|stringData)$
    key_groups:
      - age:
";

/// Returns the content of the `.sops.yaml` that comes with the first sealed document no rule covers.
pub fn bootstrap(recipients: &BTreeSet<Recipient>) -> String {
    let list: String = recipients
        .iter()
        .map(|recipient| format!("          - \"{recipient}\"\n"))
        .collect();
    format!("{BOOTSTRAP_HEAD}{list}")
}

/// Returns the recipients of a file that is to the byte what [`bootstrap`] writes.
pub fn bootstrapped_for(text: &str) -> Option<BTreeSet<Recipient>> {
    let recipients: BTreeSet<Recipient> = text
        .strip_prefix(BOOTSTRAP_HEAD)?
        .lines()
        .map(|line| {
            let quoted = line.trim_start().strip_prefix("- \"")?.strip_suffix('"')?;
            quoted.parse().ok()
        })
        .collect::<Option<_>>()?;
    (bootstrap(&recipients) == text).then_some(recipients)
}

/// Returns where a configuration for a document may stand, the nearest place first. The nearest file counts alone,
/// even if none of its rules matches.
pub fn config_paths(document: &RepoPath) -> Vec<RepoPath> {
    let mut found = Vec::new();
    let mut folder = document.parent();
    loop {
        found.extend(folder.join(CONFIG_NAME).ok());
        match folder.as_repo_path() {
            Some(path) => folder = path.parent(),
            None => return found,
        }
    }
}
