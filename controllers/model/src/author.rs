//! Who made a change, and how that becomes the author line of a commit.

use serde::{Deserialize, Serialize};

/// Who made a change. Three cases that are never told apart by an empty name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Author {
    /// Nobody was looked for: the operator itself is the author.
    Operator,
    /// The person or service account that made the change.
    Actor(Identity),
    /// Somebody was looked for and not found.
    Unresolved,
}

/// A Kubernetes user as the audit event names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Identity {
    /// The username, such as `alice` or `system:serviceaccount:flux-system:kustomize-controller`.
    pub username: String,
    /// The display name from the identity provider.
    pub display_name: Option<String>,
    /// The email from the identity provider.
    pub email: Option<String>,
}

/// A name and an email that are legal in a commit header.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Signature {
    /// The name: no `<`, `>` or control character, 1 to 256 characters.
    pub name: String,
    /// The email, cleaned in the same way; may be empty.
    pub email: String,
}

/// The name that stands for an author who was looked for and not found.
const UNRESOLVED_NAME: &str = "unknown (attribution unresolved)";
/// The email that stands for an author who was looked for and not found.
const UNRESOLVED_EMAIL: &str = "attribution-unresolved@gitops-reverser.invalid";
/// The domain of an email that is derived from a username.
const DERIVED_DOMAIN: &str = "noreply.cluster.local";
/// The longest name or email, in characters (D31).
const LONGEST: usize = 256;

impl Signature {
    /// Makes any two texts legal in a commit header (D31): takes out `<`, `>` and control characters,
    /// strips at the ends what Git strips there, and cuts at 256 characters; an empty name becomes `unknown`.
    pub fn cleaned(name: &str, email: &str) -> Self {
        let name = clean(name);
        let name = if name.is_empty() {
            "unknown".to_owned()
        } else {
            name
        };
        Self {
            name,
            email: clean(email),
        }
    }
}

impl Default for Signature {
    /// Returns the operator's built-in identity.
    fn default() -> Self {
        Self {
            name: "GitOps Reverser".to_owned(),
            email: "noreply@configbutler.ai".to_owned(),
        }
    }
}

impl Author {
    /// Returns the author line of a commit whose committer is `committer`.
    pub fn signature(&self, committer: &Signature) -> Signature {
        match self {
            Self::Operator => committer.clone(),
            Self::Unresolved => Signature::cleaned(UNRESOLVED_NAME, UNRESOLVED_EMAIL),
            Self::Actor(identity) => {
                Signature::cleaned(&identity.shown_name(), &identity.shown_email())
            }
        }
    }

    /// Returns the closed vocabulary of the `author_kind` label.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Operator => "committer",
            Self::Unresolved => "unresolved",
            Self::Actor(identity) if identity.username.starts_with("system:serviceaccount:") => {
                "serviceaccount"
            }
            Self::Actor(_) => "user",
        }
    }
}

impl Identity {
    fn shown_name(&self) -> String {
        let illegal = |c: char| c.is_control() || c == '<' || c == '>';
        let display = self.display_name.as_deref().map(str::trim);
        match display.filter(|name| !name.is_empty() && !name.contains(illegal)) {
            Some(name) => name.to_owned(),
            None => self.username.clone(),
        }
    }

    fn shown_email(&self) -> String {
        if let Some(email) = self
            .email
            .as_deref()
            .map(str::trim)
            .filter(|email| is_address(email))
        {
            return email.to_owned();
        }
        if is_address(&self.username) {
            return self.username.clone();
        }
        let local: String = self
            .username
            .to_lowercase()
            .chars()
            .filter(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || *c == '.' || *c == '-')
            .collect();
        let local = if local.is_empty() {
            "unknown-user".to_owned()
        } else {
            local
        };
        format!("{local}@{DERIVED_DOMAIN}")
    }
}

/// Recognises a plain address: `local@domain.tld` without quoting or comments.
fn is_address(text: &str) -> bool {
    let Some((local, domain)) = text.split_once('@') else {
        return false;
    };
    let Some((host, top)) = domain.rsplit_once('.') else {
        return false;
    };
    let local_ok = |c: char| c.is_ascii_alphanumeric() || "._%+-".contains(c);
    let host_ok = |c: char| c.is_ascii_alphanumeric() || ".-".contains(c);
    !local.is_empty()
        && local.chars().all(local_ok)
        && !host.is_empty()
        && host.chars().all(host_ok)
        && top.len() >= 2
        && top.chars().all(|c| c.is_ascii_alphabetic())
}

/// Strips what Git would strip or refuse in a name.
fn clean(text: &str) -> String {
    let kept: String = text
        .chars()
        .filter(|c| !c.is_control() && *c != '<' && *c != '>')
        .collect();
    let at_ends = |c: char| c.is_whitespace() || ".,:;\"\\'".contains(c);
    let cut: String = kept.trim_matches(at_ends).chars().take(LONGEST).collect();
    cut.trim_end_matches(at_ends).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn actor(username: &str, display_name: Option<&str>, email: Option<&str>) -> Signature {
        Author::Actor(Identity {
            username: username.to_owned(),
            display_name: display_name.map(str::to_owned),
            email: email.map(str::to_owned),
        })
        .signature(&Signature::default())
    }

    #[test]
    fn the_identity_provider_names_a_person_and_the_username_stands_in() {
        let full = actor("alice", Some("Alice Smith"), Some("alice@example.com"));
        assert_eq!(
            (full.name.as_str(), full.email.as_str()),
            ("Alice Smith", "alice@example.com")
        );
        let bad_claims = actor("alice", Some("Al<ice"), Some("not an address"));
        assert_eq!(
            (bad_claims.name.as_str(), bad_claims.email.as_str()),
            ("alice", "alice@noreply.cluster.local")
        );
        let account = actor(
            "system:serviceaccount:flux-system:kustomize-controller",
            None,
            None,
        );
        assert_eq!(
            account.email,
            "systemserviceaccountflux-systemkustomize-controller@noreply.cluster.local"
        );
        assert_eq!(
            actor("bob@example.com", None, None).email,
            "bob@example.com"
        );
    }

    #[test]
    fn d31_no_name_can_break_the_commit_header() {
        let evil = actor("mallory> 0 +0000\ncommitter x <y", None, None);
        assert!(!evil.name.contains(['<', '>', '\n']), "{evil:?}");
        assert_eq!(Signature::cleaned(" .,:;\"' ", "").name, "unknown");
        assert_eq!(
            Signature::cleaned(&"x".repeat(999), "e@x.io").name.len(),
            256
        );
    }

    #[test]
    fn d31_every_text_becomes_a_name_and_an_address_that_git_takes() {
        let long = "é".repeat(300);
        for (name, email, expected) in [
            ("Alice <root>", "<a@b.io>", ("Alice root", "a@b.io")),
            ("a\nb\r\tc\u{7f}\u{85}d", "a\0b@c.io", ("abcd", "ab@c.io")),
            ("", "", ("unknown", "")),
            ("<>\n", "\n", ("unknown", "")),
            (
                " 'Zoë' 山田. ",
                " zoë@例え.jp ",
                ("Zoë' 山田", "zoë@例え.jp"),
            ),
            (&long, &long, (&long[..512], &long[..512])),
        ] {
            let cleaned = Signature::cleaned(name, email);
            assert_eq!((cleaned.name.as_str(), cleaned.email.as_str()), expected);
            let again = Signature::cleaned(&cleaned.name, &cleaned.email);
            assert_eq!(again, cleaned, "cleaning once is enough");
        }
    }

    #[test]
    fn d31_whatever_a_username_is_its_author_is_legal_and_has_an_address() {
        for username in [
            "<>",
            "\n",
            "Zoë",
            "a b",
            "x@y.io\ncommitter z",
            "\u{1b}[31m",
        ] {
            let who = actor(username, Some(username), Some(username));
            let illegal = |c: char| c.is_control() || c == '<' || c == '>';
            assert!(
                !who.name.is_empty() && !who.name.contains(illegal),
                "{who:?}"
            );
            assert!(
                !who.email.is_empty() && !who.email.contains(illegal),
                "{who:?}"
            );
            assert!(who.email.is_ascii(), "{who:?}");
        }
    }

    #[test]
    fn nobody_and_unresolved_differ() {
        let committer = Signature::default();
        assert_eq!(Author::Operator.signature(&committer), committer);
        assert_eq!(
            Author::Unresolved.signature(&committer).name,
            UNRESOLVED_NAME
        );
        assert_eq!(
            Author::Unresolved.signature(&committer).email,
            UNRESOLVED_EMAIL
        );
    }
}
