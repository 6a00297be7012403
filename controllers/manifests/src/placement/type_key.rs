//! The exact type that a template is declared for (PL-3).

use std::fmt;

use model::{ServedType, TypeId};
use serde::{Deserialize, Serialize};

/// A type in one version, as `byType` names it: `[group/]version/resource`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TypeKey {
    type_id: TypeId,
    version: String,
}

/// A key that can match no type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the key {key:?} names no type: {problem}; {remedy}")]
pub struct InvalidTypeKey {
    /// The key as it was given.
    pub key: String,
    /// What is wrong with it.
    pub problem: &'static str,
    /// What to write instead.
    pub remedy: String,
}

impl TypeKey {
    /// Reads `[group/]version/resource`.
    ///
    /// # Errors
    /// Returns what is wrong with the key and what to write instead.
    pub fn parse(key: &str) -> Result<Self, InvalidTypeKey> {
        let parts: Vec<&str> = key.split('/').collect();
        let (group, version, resource) = match parts.as_slice() {
            [version, resource] => ("", *version, *resource),
            [group, version, resource] if !group.is_empty() => (*group, *version, *resource),
            _ => return Err(form(key)),
        };
        let group_is_legal = group.is_empty() || group.split('.').all(is_word);
        if !is_word(version) || !is_word(resource) || !group_is_legal {
            return Err(form(key));
        }
        if group == "core" {
            return Err(InvalidTypeKey {
                key: key.to_owned(),
                problem: "core types have no group",
                remedy: format!("write {version}/{resource}"),
            });
        }
        if group.is_empty() && !is_core_version(version) {
            return Err(InvalidTypeKey {
                key: key.to_owned(),
                problem: "it has no version",
                remedy: format!("write {version}/VERSION/{resource}, such as apps/v1/deployments"),
            });
        }
        Ok(Self {
            type_id: TypeId::new(group, resource),
            version: version.to_owned(),
        })
    }

    /// Returns the key that a served type is looked up by.
    pub fn of(served: &ServedType) -> Self {
        Self {
            type_id: served.type_id.clone(),
            version: served.version.clone(),
        }
    }

    /// Returns group and resource.
    pub fn type_id(&self) -> &TypeId {
        &self.type_id
    }
}

impl fmt::Display for TypeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.type_id.group.is_empty() {
            write!(f, "{}/", self.type_id.group)?;
        }
        write!(f, "{}/{}", self.version, self.type_id.resource)
    }
}

impl TryFrom<String> for TypeKey {
    type Error = InvalidTypeKey;
    fn try_from(key: String) -> Result<Self, InvalidTypeKey> {
        Self::parse(&key)
    }
}

impl From<TypeKey> for String {
    fn from(key: TypeKey) -> Self {
        key.to_string()
    }
}

fn form(key: &str) -> InvalidTypeKey {
    InvalidTypeKey {
        key: key.to_owned(),
        problem: "it is not of the form [group/]version/resource in lower case",
        remedy:
            "write the plural resource name, such as v1/configmaps for core or apps/v1/deployments"
                .to_owned(),
    }
}

/// The grammar of versions, plural names and the parts of a group: a DNS label.
fn is_word(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        && !text.starts_with('-')
        && !text.ends_with('-')
}

/// Core types have versions like `v1` or `v1beta1`; a group in that place means that the version is missing.
fn is_core_version(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('v') else {
        return false;
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let stage = rest.split_once("alpha").or_else(|| rest.split_once("beta"));
    match stage {
        Some((major, minor)) => digits(major) && digits(minor),
        None => digits(rest),
    }
}
