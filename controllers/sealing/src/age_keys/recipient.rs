//! Public keys.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use zeroize::Zeroizing;

/// Whom a document is sealed for: an X25519 public key, `age1…`.
#[derive(Clone, PartialEq, Eq)]
pub struct Recipient {
    text: String,
    inner: age::x25519::Recipient,
}

/// A text that is no recipient that a document can be sealed for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidRecipient {
    /// A kind of key that is not supported.
    #[error("{what} {recipient} is not supported; use a recipient of the form age1…")]
    Unsupported {
        /// The kind of key.
        what: &'static str,
        /// The recipient.
        recipient: String,
    },
    /// A private key stands where a public one belongs.
    #[error("a private key stands where a recipient belongs; replace it, and the key with it")]
    PrivateKey,
    /// Nothing that is known.
    #[error("{recipient} is no age recipient")]
    Unknown {
        /// The text.
        recipient: String,
    },
}

impl Recipient {
    /// Returns the key as it is written, `age1…`.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub(super) fn of(inner: age::x25519::Recipient) -> Self {
        Self {
            text: inner.to_string(),
            inner,
        }
    }

    pub(super) fn inner(&self) -> &age::x25519::Recipient {
        &self.inner
    }
}

impl FromStr for Recipient {
    type Err = InvalidRecipient;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        // Anywhere: somebody may have put a whole file of keys here.
        let upper = Zeroizing::new(text.to_ascii_uppercase());
        let private = ["AGE-SECRET-KEY-", "AGE-PLUGIN-", "PRIVATE KEY"];
        if private.iter().any(|mark| upper.contains(mark)) {
            return Err(InvalidRecipient::PrivateKey);
        }
        text.parse().map(Self::of).map_err(|_| {
            let recipient = shown(text);
            match unsupported(text) {
                Some(what) => InvalidRecipient::Unsupported { what, recipient },
                None => InvalidRecipient::Unknown { recipient },
            }
        })
    }
}

/// Returns what is shown of a text that is no recipient: the beginning of its first word.
fn shown(text: &str) -> String {
    const LONGEST: usize = 128;
    let word = text.split_whitespace().next().unwrap_or_default();
    let word: String = word.chars().take(LONGEST).collect();
    if word.len() < text.len() {
        format!("{word} …")
    } else {
        word
    }
}

/// Names the kind of a recipient that the real tool may know and we do not.
fn unsupported(text: &str) -> Option<&'static str> {
    let plugin = || {
        let name = text.strip_prefix("age1")?.split_once('1')?.0;
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
        is_name.then_some("the plugin recipient")
    };
    if text.starts_with("ssh-") {
        Some("the SSH key")
    } else if text.starts_with("age1pq1") {
        Some("the post-quantum recipient")
    } else {
        plugin()
    }
}

impl PartialOrd for Recipient {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Recipient {
    fn cmp(&self, other: &Self) -> Ordering {
        self.text.cmp(&other.text)
    }
}

impl fmt::Display for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Recipient({})", self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d22b_a_recipient_that_cannot_be_used_is_refused_by_name() {
        let good = "age1t7rxyev2z3rw82stdlrrepyc39nvn86l5078zqkf5uasdy86jp6svpy7pa";
        assert_eq!(
            format!(" {good}\n").parse::<Recipient>().unwrap().as_str(),
            good
        );
        for (text, message) in [
            (
                "ssh-ed25519 AAAA",
                "the SSH key ssh-ed25519 … is not supported; use a recipient of the form age1…",
            ),
            (
                "age1pq1xyz",
                "the post-quantum recipient age1pq1xyz is not supported; use a recipient of the form age1…",
            ),
            (
                "age1yubikey1qwe",
                "the plugin recipient age1yubikey1qwe is not supported; use a recipient of the form age1…",
            ),
            ("age1broken", "age1broken is no age recipient"),
            (
                "AGE-SECRET-KEY-1XYZ",
                "a private key stands where a recipient belongs; replace it, and the key with it",
            ),
        ] {
            assert_eq!(text.parse::<Recipient>().unwrap_err().to_string(), message);
        }
    }
}
