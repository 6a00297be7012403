//! Addresses that a server listens on.

use std::fmt;

use super::Disallowed;

/// Whether a server listens, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listen {
    /// The server is off.
    Off,
    /// The server listens here.
    At(ListenAddress),
}

/// A host and a port. Port 0 lets the system choose one, which is logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListenAddress {
    /// A name or an address without brackets; `None` is every interface, IPv6 and IPv4.
    pub host: Option<String>,
    /// The port.
    pub port: u16,
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            None => write!(f, ":{}", self.port),
            Some(host) if host.contains(':') => write!(f, "[{host}]:{}", self.port),
            Some(host) => write!(f, "{host}:{}", self.port),
        }
    }
}

/// Reads `0` or nothing (off), `:PORT` (every interface) or `HOST:PORT`.
///
/// # Errors
/// Returns what is legal when the text has another form.
pub fn listen(text: &str) -> Result<Listen, Disallowed> {
    let text = text.trim();
    if text.is_empty() || text == "0" {
        return Ok(Listen::Off);
    }
    match address(text) {
        Some(address) => Ok(Listen::At(address)),
        None => Err(Disallowed::but(
            "0 (off), :PORT or HOST:PORT, with port 0 for a free one",
        )),
    }
}

fn address(text: &str) -> Option<ListenAddress> {
    let (host, port) = text.rsplit_once(':')?;
    let host = match host.strip_prefix('[') {
        Some(bracketed) => bracketed.strip_suffix(']')?,
        None if host.contains(':') => return None,
        None => host,
    };
    let legal = |c: char| c.is_ascii_alphanumeric() || ".:-_%".contains(c);
    if !host.chars().all(legal) || !port.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(ListenAddress {
        host: (!host.is_empty()).then(|| host.to_owned()),
        port: port.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_off_everywhere_or_at_a_host() {
        assert_eq!(listen(""), Ok(Listen::Off));
        assert_eq!(listen("0"), Ok(Listen::Off));
        for text in [":8080", ":0", "127.0.0.1:0", "localhost:9292", "[::1]:8443"] {
            match listen(text) {
                Ok(Listen::At(address)) => assert_eq!(address.to_string(), text),
                other => panic!("{text} became {other:?}"),
            }
        }
    }

    #[test]
    fn another_form_is_refused() {
        for text in [
            "8080", "host", "host:", ":x", ":70000", "::1:80", "[::1:80", "a b:1", ":+1",
            "/tmp/s:1",
        ] {
            assert!(listen(text).is_err(), "{text}");
        }
    }
}
