//! One line of known hosts.

use russh::keys::ssh_key::PublicKey;
use russh::keys::ssh_key::known_hosts::HostPatterns;

/// A line that is about a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    /// Its place in the text, from 1.
    pub(super) number: usize,
    pub(super) role: Role,
    pub(super) hosts: HostPatterns,
    pub(super) key: PublicKey,
}

/// What a line says about its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// It is the host's own.
    Host,
    /// It signs the host's certificate.
    Authority,
    /// It must not be believed, whatever other lines say.
    Revoked,
}

/// A line that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// It would revoke a key.
    Revocation,
    /// It would add one.
    Other,
}

/// Reads a line; `None` for a blank one and a comment.
pub(super) fn read(text: &str, number: usize) -> Result<Option<Line>, Unreadable> {
    let mut words = text.split_ascii_whitespace().peekable();
    let Some(first) = words.peek().copied().filter(|word| !word.starts_with('#')) else {
        return Ok(None);
    };
    let role = if first.starts_with('@') {
        words.next();
        role(first)?
    } else {
        Role::Host
    };
    let unreadable = match role {
        Role::Revoked => Unreadable::Revocation,
        Role::Host | Role::Authority => Unreadable::Other,
    };
    let (Some(hosts), Some(kind), Some(key)) = (words.next(), words.next(), words.next()) else {
        return Err(unreadable);
    };
    let hosts = hosts.parse::<HostPatterns>().map_err(|_| unreadable)?;
    let key = PublicKey::from_openssh(&format!("{kind} {key}")).map_err(|_| unreadable)?;
    Ok(Some(Line {
        number,
        role,
        hosts,
        key,
    }))
}

fn role(marker: &str) -> Result<Role, Unreadable> {
    match marker {
        "@cert-authority" => Ok(Role::Authority),
        "@revoked" => Ok(Role::Revoked),
        _ if marker.to_ascii_lowercase().starts_with("@revoke") => Err(Unreadable::Revocation),
        _ => Err(Unreadable::Other),
    }
}
