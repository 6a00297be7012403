//! Private keys.

use std::collections::BTreeSet;
use std::fmt;

use age::secrecy::ExposeSecret as _;
use model::Secret;
use zeroize::Zeroizing;

use super::recipient::Recipient;

/// Private keys that open documents. Never printed.
#[derive(Clone, Default)]
pub struct Identities(Vec<age::x25519::Identity>);

/// A line that is no private key that can be used. It is not shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidIdentity {
    /// A kind of key that is not supported.
    #[error("line {line}: {what} is not supported; use one that starts with AGE-SECRET-KEY-1")]
    Unsupported {
        /// The line, counted from 1.
        line: usize,
        /// The kind of key.
        what: &'static str,
    },
    /// Nothing that is known.
    #[error("line {line}: this is neither a comment nor an age private key")]
    Unknown {
        /// The line, counted from 1.
        line: usize,
    },
    /// There is no key at all.
    #[error("there is no age private key in it")]
    Empty,
}

impl Identities {
    /// Reads an entry or a file with any number of keys, blank lines and comments.
    ///
    /// # Errors
    /// Returns the first line that is none of these, by its number.
    pub fn parse(text: &str) -> Result<Self, InvalidIdentity> {
        let mut found = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let content = line.trim();
            if content.is_empty() || content.starts_with('#') {
                continue;
            }
            let identity = content.parse().map_err(|_| invalid(index + 1, content))?;
            found.push(identity);
        }
        if found.is_empty() {
            return Err(InvalidIdentity::Empty);
        }
        Ok(Self(found))
    }

    /// Adds the keys of another entry.
    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Returns the public halves, sorted and each once.
    pub fn recipients(&self) -> BTreeSet<Recipient> {
        self.0
            .iter()
            .map(|identity| Recipient::of(identity.to_public()))
            .collect()
    }

    /// Says whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn inner(&self) -> impl Iterator<Item = &dyn age::Identity> {
        self.0.iter().map(|identity| identity as &dyn age::Identity)
    }
}

impl fmt::Debug for Identities {
    /// Shows how many there are.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Identities({})", self.0.len())
    }
}

fn invalid(line: usize, content: &str) -> InvalidIdentity {
    let upper = Zeroizing::new(content.to_ascii_uppercase());
    let what = if upper.starts_with("AGE-SECRET-KEY-PQ-") {
        "a post-quantum key"
    } else if upper.starts_with("AGE-PLUGIN-") {
        "the key of a plugin"
    } else if upper.starts_with("-----BEGIN") {
        "an SSH key or an encrypted key"
    } else {
        return InvalidIdentity::Unknown { line };
    };
    InvalidIdentity::Unsupported { line, what }
}

/// A private key made just now.
pub struct NewIdentity(age::x25519::Identity);

impl NewIdentity {
    /// Makes a key from the system's randomness.
    pub fn generate() -> Self {
        Self(age::x25519::Identity::generate())
    }

    /// Returns the public half.
    pub fn recipient(&self) -> Recipient {
        Recipient::of(self.0.to_public())
    }

    /// Returns the content of a `*.agekey` entry: a comment with the public half, and the key.
    pub fn entry(&self) -> Secret<Zeroizing<String>> {
        let key = self.0.to_string();
        Secret::new(Zeroizing::new(format!(
            "# public key: {}\n{}\n",
            self.recipient(),
            key.expose_secret()
        )))
    }

    /// Returns the key ready to open documents.
    pub fn identities(&self) -> Identities {
        Identities(vec![self.0.clone()])
    }
}

impl fmt::Debug for NewIdentity {
    /// Shows the public half only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NewIdentity({})", self.recipient())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d22b_an_entry_may_hold_several_identities_and_comments() {
        let [first, second] = [(); 2].map(|()| NewIdentity::generate());
        let text = format!(
            "# created today\n\n{}\r\n  # old\n{}",
            first.entry().expose().as_str(),
            second.entry().expose().as_str()
        );
        let identities = Identities::parse(&text).unwrap();
        let expected: BTreeSet<_> = [first.recipient(), second.recipient()].into();
        assert_eq!(identities.recipients(), expected);
        let mut joined = first.identities();
        joined.extend(second.identities());
        assert_eq!(joined.recipients(), expected);
    }

    #[test]
    fn d22_a_private_key_is_in_no_error_and_no_debug_text() {
        let identity = NewIdentity::generate();
        let entry = identity.entry();
        let key = entry.expose().lines().nth(1).unwrap();
        let broken = format!("# a\n{}X\n", key);
        let error = Identities::parse(&broken).unwrap_err();
        assert_eq!(error, InvalidIdentity::Unknown { line: 2 });
        for text in [
            format!("{error} {error:?}"),
            format!("{identity:?} {:?} {entry:?}", identity.identities()),
        ] {
            assert!(
                !text.contains("SECRET-KEY") && !text.contains(&key[20..]),
                "{text}"
            );
        }
        for (text, message) in [
            (
                "AGE-SECRET-KEY-PQ-1X",
                "line 1: a post-quantum key is not supported; use one that starts with AGE-SECRET-KEY-1",
            ),
            (
                "\nAGE-PLUGIN-X-1",
                "line 2: the key of a plugin is not supported; use one that starts with AGE-SECRET-KEY-1",
            ),
            ("# only a comment\n", "there is no age private key in it"),
        ] {
            assert_eq!(Identities::parse(text).unwrap_err().to_string(), message);
        }
    }
}
