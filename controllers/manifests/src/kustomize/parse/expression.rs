//! Expressions that stand for several names, as far as two dialects agree on them.
//!
//! Kustomize takes the dialect of Go. What another dialect reads otherwise is refused, so that no expression ever
//! means one thing here and another one there.

use regex::bytes::{Regex, RegexBuilder};

/// An expression that is ready to be matched.
#[derive(Debug, Clone)]
pub(crate) struct Expression(Kind);

#[derive(Debug, Clone)]
enum Kind {
    /// The name of an image without anything special but dots, as most are: one is matched a hundred times as fast as
    /// an expression is made ready.
    Image(Box<[u8]>),
    /// Anything else.
    Regex(Regex),
}

/// What may stand behind the name of an image.
const TAG_AND_DIGEST: &str = "(:[a-zA-Z0-9_.{}-]*)?(@sha256:[a-zA-Z0-9_.{}-]*)?$";

impl Expression {
    /// Reads the name of an `images:` entry: it has to match a whole reference, but for tag and digest.
    pub(crate) fn of_image(name: &str) -> Result<Self, String> {
        if is_plain(name) {
            return Ok(Self(Kind::Image(name.as_bytes().into())));
        }
        check(name)?;
        // On its own first, so that a parenthesis too many cannot close what is added.
        compile(name)?;
        compile(&format!("^{name}{TAG_AND_DIGEST}")).map(|regex| Self(Kind::Regex(regex)))
    }

    /// Reads an expression that has to match all of a text.
    pub(crate) fn of_whole(text: &str) -> Result<Self, String> {
        check(text)?;
        compile(text)?;
        compile(&format!("^(?:{text})$")).map(|regex| Self(Kind::Regex(regex)))
    }

    pub(crate) fn is_match(&self, text: &str) -> bool {
        match &self.0 {
            Kind::Image(name) => is_image(name, text.as_bytes()),
            Kind::Regex(regex) => regex.is_match(text.as_bytes()),
        }
    }
}

/// Says whether every byte of a name stands for one byte: itself, or any but a line break where it is a dot.
fn is_plain(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"./_-:@".contains(&byte);
    name.bytes().all(is_plain)
}

/// Says whether a text is an image of a plain name, as [`TAG_AND_DIGEST`] has it.
fn is_image(name: &[u8], text: &[u8]) -> bool {
    let Some((start, rest)) = text.split_at_checked(name.len()) else {
        return false;
    };
    let stands_for = |(name, byte): (&u8, &u8)| name == byte || (*name == b'.' && *byte != b'\n');
    if !name.iter().zip(start).all(stands_for) {
        return false;
    }
    let rest = rest.strip_prefix(b":").map_or(rest, without_word);
    let rest = rest.strip_prefix(b"@sha256:").map_or(rest, without_word);
    rest.is_empty()
}

/// Takes away what a tag or a digest is made of.
fn without_word(text: &[u8]) -> &[u8] {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.{}-".contains(byte);
    let end = text.iter().position(|byte| !is_part(byte));
    &text[end.unwrap_or(text.len())..]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_name_matches_what_its_expression_does() {
        let names = ["a", "a.b/c", "host:5000/a", "a@b", "", ".", "a-b_c"];
        let ends = [
            "",
            ":",
            ":1",
            ":1.2-{x}",
            "@sha256:",
            "@sha256:ab",
            ":1@sha256:ab",
            "@sha256:ab:1",
            ":1:2",
            "/x",
            " ",
            ":\n",
            "\n",
            ":1\n",
            ":é",
            "@sha512:ab",
        ];
        for name in names {
            let expression = compile(&format!("^{name}{TAG_AND_DIGEST}")).unwrap();
            let plain = Expression::of_image(name).unwrap();
            assert!(matches!(plain.0, Kind::Image(_)), "{name}");
            for other in names.iter().chain(&["axb/c", "a\nb/c", "aéb/c", "xa"]) {
                for end in ends {
                    let text = format!("{other}{end}");
                    let matches = expression.is_match(text.as_bytes());
                    assert_eq!(plain.is_match(&text), matches, "{name:?} {text:?}");
                }
            }
        }
        assert!(matches!(
            Expression::of_image("a*").unwrap().0,
            Kind::Regex(_)
        ));
    }
}
