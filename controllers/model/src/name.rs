//! Names and keys, one type for each meaning.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A name that does not follow the rules of its kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} {value:?} is not valid: {rule}")]
pub struct InvalidName {
    /// What the name was for, in the words of the user.
    pub what: &'static str,
    /// The name as it was given.
    pub value: String,
    /// The rule that it breaks.
    pub rule: &'static str,
}

/// Declares a string newtype that is validated on construction, also when it is deserialised. Copies share the
/// text.
macro_rules! name_type {
    ($(#[$doc:meta])* $name:ident, $what:literal, $check:path) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(Arc<str>);

        impl $name {
            /// Checks the name and takes it.
            ///
            /// # Errors
            /// Returns the rule that the name breaks.
            pub fn new(value: impl Into<String>) -> Result<Self, InvalidName> {
                let value = value.into();
                match $check(&value) {
                    Ok(()) => Ok(Self(value.into())),
                    Err(rule) => Err(InvalidName { what: $what, value, rule }),
                }
            }

            /// Checks a name that others share, and takes it without copying it.
            ///
            /// # Errors
            /// Returns the rule that the name breaks.
            pub fn shared(value: &Arc<str>) -> Result<Self, InvalidName> {
                match $check(value) {
                    Ok(()) => Ok(Self(Arc::clone(value))),
                    Err(rule) => {
                        let value = value.to_string();
                        Err(InvalidName { what: $what, value, rule })
                    }
                }
            }

            /// Returns the name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidName;
            fn try_from(value: String) -> Result<Self, InvalidName> {
                Self::new(value)
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                value.as_str().to_owned()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", self.0)
            }
        }
    };
}

name_type!(
    /// A Kubernetes namespace, on whichever cluster the context says.
    Namespace,
    "namespace",
    check_dns_label
);
name_type!(
    /// The name of a Kubernetes object. Some kinds (RBAC) allow nearly everything, so only what a
    /// path segment of the API can never hold is refused.
    ObjectName,
    "object name",
    check_object_name
);
name_type!(
    /// `metadata.uid`: one incarnation of an object.
    Uid,
    "uid",
    check_not_empty
);
name_type!(
    /// A Git branch without `refs/heads/`.
    BranchName,
    "branch",
    check_branch_name
);
name_type!(
    /// A commit id in lower-case hex: 40 digits (SHA-1) or 64 (SHA-256).
    CommitId,
    "commit id",
    check_commit_id
);

impl CommitId {
    /// Returns the first twelve digits, for messages to people.
    pub fn short(&self) -> &str {
        &self.0[..12]
    }
}

/// Declares the key of one kind of configuration object.
macro_rules! key_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name {
            /// The namespace of the object on the control cluster.
            pub namespace: Namespace,
            /// The name of the object.
            pub name: ObjectName,
        }

        impl $name {
            /// Joins a namespace and a name.
            pub fn new(namespace: Namespace, name: ObjectName) -> Self {
                Self { namespace, name }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}/{}", self.namespace, self.name)
            }
        }
    };
}

key_type!(
    /// Names one `GitTarget`.
    TargetKey
);
key_type!(
    /// Names one `GitBranch`.
    GitBranchKey
);
key_type!(
    /// Names one `GitProvider`.
    GitProviderKey
);
key_type!(
    /// Names one `KubeProvider`.
    KubeProviderKey
);
key_type!(
    /// Names one `WatchRule`.
    RuleKey
);

fn check_not_empty(value: &str) -> Result<(), &'static str> {
    if value.is_empty() {
        Err("it is empty")
    } else {
        Ok(())
    }
}

fn check_dns_label(value: &str) -> Result<(), &'static str> {
    let legal = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if value.is_empty() || value.len() > 63 {
        return Err("it must have 1 to 63 characters");
    }
    if !value.bytes().all(legal) || value.starts_with('-') || value.ends_with('-') {
        return Err("only lower-case letters, digits and inner dashes are allowed");
    }
    Ok(())
}

fn check_object_name(value: &str) -> Result<(), &'static str> {
    if value.is_empty() || value.len() > 253 {
        return Err("it must have 1 to 253 characters");
    }
    if value == "."
        || value == ".."
        || value.contains(['/', '%'])
        || value.chars().any(char::is_control)
    {
        return Err("'.', '..', '/', '%' and control characters are not allowed");
    }
    Ok(())
}

/// Follows `git check-ref-format --branch`.
fn check_branch_name(value: &str) -> Result<(), &'static str> {
    if value.is_empty() || value.len() > 244 {
        return Err("it must have 1 to 244 characters");
    }
    if value == "@" || value == "HEAD" || value.starts_with('-') {
        return Err("'@', 'HEAD' and a leading '-' are reserved by Git");
    }
    if value.contains("..") || value.contains("@{") || value.ends_with('.') {
        return Err("'..', '@{' and a final '.' are not allowed by Git");
    }
    let forbidden = |c: char| c.is_ascii_control() || " ~^:?*[\\".contains(c);
    if value.chars().any(forbidden) {
        return Err("spaces, control characters and any of ~ ^ : ? * [ \\ are not allowed by Git");
    }
    let bad_component =
        |part: &str| part.is_empty() || part.starts_with('.') || part.ends_with(".lock");
    if value.split('/').any(bad_component) {
        return Err("no part between slashes may be empty, start with '.' or end with '.lock'");
    }
    Ok(())
}

fn check_commit_id(value: &str) -> Result<(), &'static str> {
    let hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if (value.len() == 40 || value.len() == 64) && value.bytes().all(hex) {
        Ok(())
    } else {
        Err("it must have 40 or 64 lower-case hex digits")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branch_names_follow_git() {
        for good in ["main", "teams/team-a/live", "v1.2", "a-b", "feature/@x"] {
            assert!(BranchName::new(good).is_ok(), "{good}");
        }
        for bad in [
            "", "-x", "a..b", "a b", "a/.b", "a.lock", "a//b", "/a", "a/", "@", "HEAD", "a@{b",
            "a*",
        ] {
            assert!(BranchName::new(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn keys_print_as_namespace_slash_name() {
        let key = TargetKey::new(
            Namespace::new("team-a").unwrap(),
            ObjectName::new("apps").unwrap(),
        );
        assert_eq!(key.to_string(), "team-a/apps");
    }

    #[test]
    fn a_bad_name_is_refused_when_it_is_deserialised() {
        assert!(serde_json::from_str::<Namespace>("\"Team_A\"").is_err());
        assert!(serde_json::from_str::<CommitId>("\"xyz\"").is_err());
    }
}
