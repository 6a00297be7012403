//! Expressions that stand for several names, as far as two dialects agree on them.
//!
//! Kustomize takes the dialect of Go. What another dialect reads otherwise is refused, so that no expression ever
//! means one thing here and another one there.

use regex::bytes::{Regex, RegexBuilder};

/// An expression with what it was written as.
#[derive(Debug, Clone)]
pub(crate) struct Expression(Regex);

/// What may stand behind the name of an image.
const TAG_AND_DIGEST: &str = "(:[a-zA-Z0-9_.{}-]*)?(@sha256:[a-zA-Z0-9_.{}-]*)?$";

impl Expression {
    /// Reads the name of an `images:` entry: it has to match a whole reference, but for tag and digest.
    pub(crate) fn of_image(name: &str) -> Result<Self, String> {
        check(name)?;
        // On its own first, so that a parenthesis too many cannot close what is added.
        compile(name)?;
        compile(&format!("^{name}{TAG_AND_DIGEST}")).map(Self)
    }

    /// Reads an expression that has to match all of a text.
    pub(crate) fn of_whole(text: &str) -> Result<Self, String> {
        check(text)?;
        compile(text)?;
        compile(&format!("^(?:{text})$")).map(Self)
    }

    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.0.is_match(text.as_bytes())
    }
}

fn compile(pattern: &str) -> Result<Regex, String> {
    // Classes are those of ASCII in Go.
    let built = RegexBuilder::new(pattern).unicode(false).build();
    built.map_err(|error| {
        let text = error.to_string();
        let last = text.lines().last().unwrap_or_default();
        last.trim_start_matches("error: ").to_owned()
    })
}

/// Refuses what the dialects read differently, or one of them not at all.
fn check(pattern: &str) -> Result<(), String> {
    let bytes = pattern.as_bytes();
    let mut in_class = false;
    let mut repeated = 0;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let next = bytes.get(at + 1).copied();
        let repeats = !in_class && matches!(byte, b'*' | b'+' | b'?' | b'}');
        match (byte, next) {
            (b'\\', Some(escaped)) => {
                let known = b"dDwWsSbBnrtfv".contains(&escaped) || escaped.is_ascii_punctuation();
                if !known || matches!(escaped, b'<' | b'>') {
                    return Err("it has an escape that is not understood".to_owned());
                }
                at += 1;
            }
            (b'[', _) if in_class => {
                return Err("it has a bracket inside of brackets".to_owned());
            }
            (b'[', _) => {
                in_class = true;
                // A bracket in the first place stands for itself.
                let negated = usize::from(next == Some(b'^'));
                at += negated;
                at += usize::from(bytes.get(at + 1) == Some(&b']'));
            }
            (b']', _) => in_class = false,
            (b'&' | b'-' | b'~', Some(next)) if in_class && *byte == next => {
                return Err("it has an operator inside of brackets".to_owned());
            }
            (b'(', Some(b'?')) if !in_class && bytes.get(at + 2) != Some(&b':') => {
                return Err("it has a group with options".to_owned());
            }
            (b'(', Some(b'?')) if !in_class => at += 2,
            _ => {}
        }
        repeated = if repeats { repeated + 1 } else { 0 };
        if repeated > 2 || (repeated == 2 && *byte != b'?') {
            return Err("it repeats a repetition".to_owned());
        }
        at += 1;
    }
    Ok(())
}
