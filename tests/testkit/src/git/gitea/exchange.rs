//! One request and its whole answer, over a connection of their own.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

/// How long the host may be silent.
const SILENCE: Duration = Duration::from_secs(60);

/// A request that is being put together.
pub(super) struct Call<'a> {
    method: &'a str,
    path: &'a str,
    headers: Vec<(&'static str, String)>,
    body: String,
}

impl<'a> Call<'a> {
    pub(super) fn new(method: &'a str, path: &'a str) -> Self {
        Self {
            method,
            path,
            headers: Vec::new(),
            body: String::new(),
        }
    }

    pub(super) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(super) fn basic(self, user: &str, password: &str) -> Self {
        let pair = BASE64_STANDARD.encode(format!("{user}:{password}"));
        self.header("Authorization", format!("Basic {pair}"))
    }

    pub(super) fn body(mut self, kind: &'static str, body: String) -> Self {
        self.body = body;
        self.header("Content-Type", kind)
    }

    /// Fills in a form of a page, as a browser does.
    pub(super) fn form(self, fields: &[(&str, &str)]) -> Self {
        let pairs: Vec<String> = fields
            .iter()
            .map(|(name, value)| format!("{name}={}", percent_encoded(value)))
            .collect();
        self.body("application/x-www-form-urlencoded", pairs.join("&"))
    }

    /// Sends it to that port of this machine.
    pub(super) fn send(&self, port: u16) -> Result<Answer> {
        let failed = || format!("{} {} got no answer", self.method, self.path);
        let mut wire = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).with_context(failed)?;
        wire.set_read_timeout(Some(SILENCE))?;
        // The old version, so that the answer ends with the connection and comes in one piece.
        let mut text = format!("{} {} HTTP/1.0\r\n", self.method, self.path);
        text.push_str(&format!("Host: 127.0.0.1:{port}\r\n"));
        text.push_str(&format!("Content-Length: {}\r\n", self.body.len()));
        for (name, value) in &self.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str("\r\n");
        text.push_str(&self.body);
        wire.write_all(text.as_bytes()).with_context(failed)?;
        let mut answer = Vec::new();
        wire.read_to_end(&mut answer).with_context(failed)?;
        Answer::parse(&String::from_utf8_lossy(&answer)).with_context(failed)
    }
}

/// What came back.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    head: String,
    pub(super) body: String,
}

impl Answer {
    fn parse(text: &str) -> Result<Self> {
        let (head, body) = text
            .split_once("\r\n\r\n")
            .context("the answer has no headers")?;
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|word| word.parse().ok())
            .context("the answer has no status")?;
        Ok(Self {
            status,
            head: head.to_owned(),
            body: body.to_owned(),
        })
    }

    /// Returns the values of a header.
    pub(super) fn header(&self, name: &str) -> impl Iterator<Item = &str> {
        self.head.lines().filter_map(move |line| {
            let (found, value) = line.split_once(": ")?;
            found.eq_ignore_ascii_case(name).then_some(value)
        })
    }

    /// Returns the cookies that the host wants us to bring; the last of a name counts.
    pub(super) fn cookies(&self) -> BTreeMap<&str, &str> {
        let pairs = self.header("set-cookie").map(|cookie| {
            let pair = cookie.split(';').next().unwrap_or_default();
            pair.split_once('=').unwrap_or((pair, ""))
        });
        pairs.collect()
    }
}

fn percent_encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_cookies_and_body_are_found() {
        let text = "HTTP/1.0 303 See Other\r\nSet-Cookie: a=1; Path=/\r\nset-cookie: b=2\r\n\
                    Set-Cookie: a=3\r\n\r\nbody\r\n\r\n";
        let answer = Answer::parse(text).unwrap();
        assert_eq!(answer.status, 303);
        assert_eq!(answer.cookies(), BTreeMap::from([("a", "3"), ("b", "2")]));
        assert_eq!(answer.body, "body\r\n\r\n");
        assert!(Answer::parse("no").is_err());
    }

    #[test]
    fn a_value_with_signs_survives_a_form() {
        let call = Call::new("POST", "/").form(&[("key", "a b+/=\n"), ("type", "x")]);
        assert_eq!(call.body, "key=a%20b%2B%2F%3D%0A&type=x");
    }
}
