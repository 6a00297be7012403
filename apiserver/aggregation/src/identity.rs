//! Who asks.

use std::collections::BTreeMap;
use std::fmt;

use sha2::{Digest, Sha256};

/// The user that an administrator's group may do anything; no question is asked for it.
pub const MASTERS: &str = "system:masters";
const AUTHENTICATED: &str = "system:authenticated";
const UNAUTHENTICATED: &str = "system:unauthenticated";
const ANONYMOUS: &str = "system:anonymous";

/// The identity of a caller, as access reviews take it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct UserInfo {
    /// The user's name.
    pub name: String,
    /// The user's unique id, if the authenticator knows one.
    pub uid: Option<String>,
    /// The groups.
    pub groups: Vec<String>,
    /// Further facts, each a list.
    pub extra: BTreeMap<String, Vec<String>>,
}

impl UserInfo {
    /// Returns the user with the group that every authenticated user is in. The front proxy does
    /// not send it for its own components, and passes anonymous callers on as such.
    pub fn authenticated(mut self) -> Self {
        let settled = self
            .groups
            .iter()
            .any(|group| group == AUTHENTICATED || group == UNAUTHENTICATED);
        if !settled && !self.is_anonymous() {
            self.groups.push(AUTHENTICATED.to_owned());
        }
        self
    }

    /// Tells whether the front proxy passed on a caller that it does not know.
    pub fn is_anonymous(&self) -> bool {
        self.name == ANONYMOUS
    }

    /// Tells whether the user is in the group.
    pub fn is_in(&self, group: &str) -> bool {
        self.groups.iter().any(|candidate| candidate == group)
    }
}

/// A token that a caller presented. It is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct BearerToken(String);

impl BearerToken {
    /// Wraps the token.
    pub fn new(token: impl Into<String>) -> Self {
        Self(token.into())
    }

    /// Returns the token, for the review alone.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns a digest to remember answers by, so that no cache holds tokens.
    pub fn digest(&self) -> [u8; 32] {
        Sha256::digest(self.0.as_bytes()).into()
    }
}

impl fmt::Debug for BearerToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("BearerToken(***)")
    }
}
