//! One private key out of a text.
//!
//! Decoders differ in what they skip, and what one of them judges another one may not open. So the key is cut out here,
//! once, strictly, and nobody reads anything else of the text.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

/// What a key of PKCS#1 or SEC1 may say before its content: how it is encrypted.
const HEADERS: [&str; 2] = ["Proc-Type:", "DEK-Info:"];
/// Keys end with these words, whatever is before them.
const KEY: &str = "PRIVATE KEY";
/// As long as every tool writes its lines.
const LINE: usize = 64;

/// A key between its marks.
pub(super) struct Block<'a> {
    /// What the marks call it.
    pub(super) label: &'a str,
    headers: Vec<&'a str>,
    body: Zeroizing<String>,
}

impl<'a> Block<'a> {
    /// Returns the first private key of a text; `None` where there is none that is whole and nothing else.
    pub(super) fn of(text: &'a str) -> Option<Self> {
        // Files from other systems and indented manifests bring space that is no part of the key.
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let label = lines.by_ref().find_map(|line| {
            let label = line.strip_prefix("-----BEGIN ")?.strip_suffix("-----")?;
            label.ends_with(KEY).then_some(label)
        })?;
        let mut block = Self {
            label,
            headers: Vec::new(),
            body: Zeroizing::new(String::with_capacity(text.len())),
        };
        for line in lines {
            if let Some(ended) = line.strip_prefix("-----END ") {
                let is_same = ended.strip_suffix("-----") == Some(label);
                return is_same.then_some(block);
            }
            if HEADERS.iter().any(|header| line.starts_with(header)) {
                block.headers.push(line);
            } else if line.chars().all(is_base64) {
                block.body.push_str(line);
            } else {
                return None;
            }
        }
        None
    }

    /// Returns a header's value.
    pub(super) fn header(&self, name: &str) -> Option<&'a str> {
        let value = |line: &&'a str| line.strip_prefix(name);
        self.headers.iter().find_map(value).map(str::trim)
    }

    pub(super) fn bytes(&self) -> Option<Zeroizing<Vec<u8>>> {
        STANDARD
            .decode(self.body.as_bytes())
            .ok()
            .map(Zeroizing::new)
    }

    /// Returns the key as a text that holds nothing else.
    pub(super) fn text(&self) -> Zeroizing<String> {
        let mut text = Zeroizing::new(String::with_capacity(self.body.len() * 2 + 200));
        text.push_str("-----BEGIN ");
        text.push_str(self.label);
        text.push_str("-----\n");
        for header in &self.headers {
            text.push_str(header);
            text.push('\n');
        }
        let mut rest = self.body.as_str();
        while !rest.is_empty() {
            // All of it is ASCII.
            let (line, more) = rest.split_at(rest.len().min(LINE));
            text.push_str(line);
            text.push('\n');
            rest = more;
        }
        text.push_str("-----END ");
        text.push_str(self.label);
        text.push_str("-----\n");
        text
    }
}

fn is_base64(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=')
}
