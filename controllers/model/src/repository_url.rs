//! Repository URLs, and when two of them name one repository.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A URL that cannot be a Git repository's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("repository URL {shown:?} is not valid: {rule}")]
pub struct InvalidUrl {
    /// The URL with any password taken out.
    pub shown: String,
    /// The rule that it breaks.
    pub rule: &'static str,
}

/// How a repository is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Scheme {
    /// `https://`
    Https,
    /// `http://`, refused with a credential unless the operator allows it.
    Http,
    /// `ssh://` or `user@host:path`.
    Ssh,
}

/// A repository URL: `https`, `http`, `ssh` or the short form `user@host:path`. It never carries a password:
/// credentials come from a Secret, so a URL can be printed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RepositoryUrl {
    text: String,
    parts: Parts,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Parts {
    scheme: u8,
    user: Option<String>,
    host: String,
    port: Option<u16>,
    path: String,
}

/// A repository whatever way it is spelled: host and path without scheme, user, default port, `.git` or
/// letter case. Two URLs with one id are one repository, so one branch of it has one writer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RepositoryId(String);

impl RepositoryUrl {
    /// Parses the URL.
    ///
    /// # Errors
    /// Returns the rule that the URL breaks. The error never shows a password.
    pub fn new(text: &str) -> Result<Self, InvalidUrl> {
        let text = text.trim();
        parse(text)
            .map(|parts| Self {
                text: text.to_owned(),
                parts,
            })
            .map_err(|rule| InvalidUrl {
                shown: without_password(text),
                rule,
            })
    }

    /// Returns the URL as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns how the repository is reached.
    pub fn scheme(&self) -> Scheme {
        match self.parts.scheme {
            0 => Scheme::Https,
            1 => Scheme::Http,
            _ => Scheme::Ssh,
        }
    }

    /// Returns the host name without brackets or port.
    pub fn host(&self) -> &str {
        &self.parts.host
    }

    /// Returns the port that the URL names.
    pub fn port(&self) -> Option<u16> {
        self.parts.port
    }

    /// Returns the user that the URL names.
    pub fn user(&self) -> Option<&str> {
        self.parts.user.as_deref()
    }

    /// Returns the path on the host, as a server gets it.
    pub fn path(&self) -> &str {
        &self.parts.path
    }

    /// Returns the repository's identity, for comparing.
    pub fn id(&self) -> RepositoryId {
        let default_port = match self.scheme() {
            Scheme::Https => 443,
            Scheme::Http => 80,
            Scheme::Ssh => 22,
        };
        let path = self.parts.path.trim_matches('/');
        let path = path
            .strip_suffix(".git")
            .unwrap_or(path)
            .trim_end_matches('/');
        let mut id = self.parts.host.to_lowercase();
        if let Some(port) = self.parts.port.filter(|port| *port != default_port) {
            id.push_str(&format!(":{port}"));
        }
        id.push('/');
        id.push_str(&path.to_lowercase());
        RepositoryId(id)
    }
}

impl RepositoryId {
    /// Returns the identity as it is shown in status, such as `github.com/acme/platform`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the host that the repository is on, with its port unless that is the usual one.
    pub fn host(&self) -> &str {
        self.0.split_once('/').map_or(&self.0, |(host, _)| host)
    }
}

fn parse(text: &str) -> Result<Parts, &'static str> {
    if text.chars().any(|c| c.is_control() || c == ' ') {
        return Err("it must not hold spaces or control characters");
    }
    let Some((scheme, rest)) = text.split_once("://") else {
        return parse_short(text);
    };
    let scheme = match scheme.to_ascii_lowercase().as_str() {
        "https" => 0,
        "http" => 1,
        "ssh" | "git+ssh" => 2,
        _ => return Err("the scheme must be https, http or ssh"),
    };
    let (authority, path) = rest
        .split_once('/')
        .ok_or("it names no repository after the host")?;
    let (user, address) = match authority.rsplit_once('@') {
        None => (None, authority),
        Some((user, _)) if user.contains(':') => {
            return Err(
                "it must not hold a password: put the credential into the Secret that secretRef names",
            );
        }
        Some((user, address)) => (
            Some(user.to_owned()).filter(|user| !user.is_empty()),
            address,
        ),
    };
    let (host, port) = split_port(address)?;
    if path.contains(['?', '#']) {
        return Err("it must have no query and no fragment");
    }
    finish(scheme, user, host, port, &format!("/{path}"))
}

/// Parses `user@host:path`, the form that Git calls scp-like.
fn parse_short(text: &str) -> Result<Parts, &'static str> {
    let (authority, path) = text
        .split_once(':')
        .ok_or("it must be https://, http://, ssh:// or user@host:path")?;
    let (user, host) = authority
        .split_once('@')
        .ok_or("it must be https://, http://, ssh:// or user@host:path")?;
    finish(2, Some(user.to_owned()), host.to_owned(), None, path)
}

fn split_port(address: &str) -> Result<(String, Option<u16>), &'static str> {
    let (host, port) = if let Some(rest) = address.strip_prefix('[') {
        let (host, after) = rest
            .split_once(']')
            .ok_or("the IPv6 address is not closed by ']'")?;
        (host, after.strip_prefix(':'))
    } else {
        match address.rsplit_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (address, None),
        }
    };
    let port = match port.filter(|port| !port.is_empty()) {
        None => None,
        Some(port) => Some(
            port.parse()
                .map_err(|_| "the port is not a number up to 65535")?,
        ),
    };
    Ok((host.to_owned(), port))
}

fn finish(
    scheme: u8,
    user: Option<String>,
    host: String,
    port: Option<u16>,
    path: &str,
) -> Result<Parts, &'static str> {
    if host.is_empty() {
        return Err("it names no host");
    }
    if host.starts_with('-') || path.starts_with('-') {
        return Err("neither host nor path may start with '-'");
    }
    if path.trim_matches('/').is_empty() {
        return Err("it names no repository after the host");
    }
    Ok(Parts {
        scheme,
        user,
        host,
        port,
        path: path.to_owned(),
    })
}

fn without_password(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else {
        return text.to_owned();
    };
    match rest.rsplit_once('@') {
        Some((user, host)) => {
            let user = user.split(':').next().unwrap_or_default();
            format!("{scheme}://{user}:***@{host}")
        }
        None => text.to_owned(),
    }
}

impl TryFrom<String> for RepositoryUrl {
    type Error = InvalidUrl;
    fn try_from(value: String) -> Result<Self, InvalidUrl> {
        Self::new(&value)
    }
}

impl From<RepositoryUrl> for String {
    fn from(value: RepositoryUrl) -> Self {
        value.text
    }
}

impl fmt::Display for RepositoryUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for RepositoryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b016_spellings_of_one_repository_have_one_id() {
        let spellings = [
            "https://github.com/acme/platform.git",
            "https://github.com:443/Acme/Platform",
            "ssh://git@github.com/acme/platform/",
            "ssh://git@github.com:22/acme/platform.git",
            "git@github.com:acme/platform",
        ];
        for url in spellings {
            assert_eq!(
                RepositoryUrl::new(url).unwrap().id().as_str(),
                "github.com/acme/platform",
                "{url}"
            );
        }
        let other_port = RepositoryUrl::new("https://github.com:8443/acme/platform").unwrap();
        assert_eq!(other_port.id().as_str(), "github.com:8443/acme/platform");
    }

    #[test]
    fn a_bad_url_is_refused_without_showing_its_password() {
        for bad in [
            "",
            "github.com/x",
            "file:///x",
            "https://host",
            "https:///x",
            "https://h/x?y",
            "git@:x",
            "-h:x",
        ] {
            assert!(RepositoryUrl::new(bad).is_err(), "{bad}");
        }
        let error = RepositoryUrl::new("https://me:hunter2@host/x").unwrap_err();
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }

    #[test]
    fn parts_are_kept_as_written() {
        let url = RepositoryUrl::new("ssh://git@[::1]:2222/srv/x.git").unwrap();
        assert_eq!(
            (url.host(), url.port(), url.user(), url.path()),
            ("::1", Some(2222), Some("git"), "/srv/x.git")
        );
    }
}
