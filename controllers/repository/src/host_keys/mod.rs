//! Which SSH host keys we believe: the known hosts of OpenSSH, without I/O.
//!
//! `line` reads one line, `pattern` says whether a line is about a host, `check` judges the key that a host
//! shows. It follows OpenSSH except where that would believe more than was written: a host on another port
//! needs a line with that port, a `@revoked` line that cannot be read spoils the whole text, and a host
//! certificate must name the host.

mod check;
mod line;
mod pattern;

use std::sync::Arc;

use model::RepositoryUrl;

pub use check::HostKeyFault;
pub(crate) use check::{Preference, Shown};

/// Whose host key is accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostKeyTrust {
    /// Nobody's, so no SSH host is reached.
    Nobody,
    /// Those that are known.
    Known(KnownHosts),
    /// Everybody's, which protects from nothing.
    Anybody,
}

/// Known host keys, with the name of the place that they come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownHosts {
    origin: Arc<str>,
    lines: Arc<[line::Line]>,
    skipped: Arc<[usize]>,
}

/// A text that says nothing reliable about host keys.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KnownHostsError {
    /// It is not text.
    #[error("known_hosts of {origin} is not UTF-8 text")]
    NotText {
        /// Where it comes from.
        origin: String,
    },
    /// It has lines, and none is one of known hosts.
    #[error(
        "known_hosts of {origin} has no line that can be read: each is a host, a key type and a key, as \
         ssh-keyscan prints them"
    )]
    Nothing {
        /// Where it comes from.
        origin: String,
    },
    /// A key is revoked, and which one cannot be read.
    #[error(
        "line {line} of known_hosts of {origin} revokes a key that cannot be read: repair the line"
    )]
    Revocation {
        /// Where it comes from.
        origin: String,
        /// The number of the line.
        line: usize,
    },
}

/// A host and its port, as lines of known hosts name them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HostAddress {
    host: String,
    port: u16,
}

/// The port that lines leave out.
const SSH_PORT: u16 = 22;

impl KnownHosts {
    /// Reads a text of known hosts. Lines that cannot be read are skipped and remembered.
    ///
    /// # Errors
    /// Fails when no line can be read or when a line that revokes a key cannot.
    pub fn parse(text: &[u8], origin: &str) -> Result<Self, KnownHostsError> {
        let origin_name = || origin.to_owned();
        let text = std::str::from_utf8(text).map_err(|_| KnownHostsError::NotText {
            origin: origin_name(),
        })?;
        let mut lines = Vec::new();
        let mut skipped = Vec::new();
        let text = text.trim_start_matches('\u{feff}');
        for (number, text) in (1..).zip(text.lines()) {
            match line::read(text, number) {
                Ok(None) => {}
                Ok(Some(line)) => lines.push(line),
                Err(line::Unreadable::Revocation) => {
                    return Err(KnownHostsError::Revocation {
                        origin: origin_name(),
                        line: number,
                    });
                }
                Err(line::Unreadable::Other) => skipped.push(number),
            }
        }
        if lines.is_empty() && !skipped.is_empty() {
            return Err(KnownHostsError::Nothing {
                origin: origin_name(),
            });
        }
        Ok(Self {
            origin: origin.into(),
            lines: lines.into(),
            skipped: skipped.into(),
        })
    }

    /// Returns the numbers of the lines that could not be read.
    pub fn skipped(&self) -> &[usize] {
        &self.skipped
    }

    /// Returns the name of the place that the keys come from.
    pub fn origin(&self) -> &str {
        &self.origin
    }
}

impl HostAddress {
    pub(crate) fn of(url: &RepositoryUrl) -> Self {
        Self {
            host: url.host().to_lowercase(),
            port: url.port().unwrap_or(SSH_PORT),
        }
    }

    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Returns the name that a line should give to this host.
    pub(crate) fn name(&self) -> String {
        if self.port == SSH_PORT {
            self.host.clone()
        } else {
            self.name_with_port()
        }
    }

    fn name_with_port(&self) -> String {
        format!("[{}]:{}", self.host, self.port)
    }

    /// Returns every name under which a line is about this host.
    fn names(&self) -> Vec<String> {
        let mut names = vec![self.name_with_port()];
        if self.port == SSH_PORT {
            names.push(self.host.clone());
        }
        names
    }
}

#[cfg(test)]
mod tests;
