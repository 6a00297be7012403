//! Other values for what generators read: the text that a literal or an `envs:` file has to have.
//!
//! Every new text is read again before it is given out. What no text can say is not given out at all, and neither is a
//! text that would change another value.

use super::source::{Line, is_key, is_literal, is_unbuildable, lines, literal, without_quotes};

/// Returns a literal with another value and the quotes that it had.
///
/// A value that would lose quotes of its own gets a pair around it.
pub fn literal_with_value(text: &str, value: &str) -> Option<String> {
    let (key, old) = text.split_once('=')?;
    let quoted = |quote: &str| format!("{key}={quote}{value}{quote}");
    let written = match (without_quotes(old), without_quotes(value)) {
        (Some(_), _) => quoted(&old[..1]),
        (None, Some(_)) => quoted(if value.starts_with('"') { "'" } else { "\"" }),
        (None, None) => format!("{key}={value}"),
    };
    let is_read = literal(&written) == Some((key, value));
    (is_read && is_literal(&written) && !is_unbuildable(value)).then_some(written)
}

/// Returns a literal for a new key.
pub fn new_literal(key: &str, value: &str) -> Option<String> {
    let written = literal_with_value(&format!("{key}="), value)?;
    is_key(key).then_some(written)
}

/// Returns the content of a file that is a value as a whole.
pub fn content_with_value(value: &str) -> Option<Vec<u8>> {
    (!is_unbuildable(value)).then(|| value.as_bytes().to_vec())
}

/// Returns an `envs:` file in which the line that starts at a byte has another value.
pub fn env_with_value(content: &[u8], start: u32, value: &str) -> Option<Vec<u8>> {
    let before = lines(content).ok()?;
    let at = position(&before, start)?;
    let line = &before[at];
    let mut written = content[..line.key_range.end].to_vec();
    written.push(b'=');
    written.extend_from_slice(value.as_bytes());
    written.extend_from_slice(&content[line.end..]);
    let mut wanted = pairs(&before);
    wanted[at].1 = value;
    says(&written, &wanted).then_some(written)
}

/// Returns an `envs:` file without the line that starts at a byte.
pub fn env_without(content: &[u8], start: u32) -> Option<Vec<u8>> {
    let before = lines(content).ok()?;
    let at = position(&before, start)?;
    let start = before[at].start;
    let behind = &content[before[at].end..];
    let line_break = behind.iter().position(|byte| *byte == b'\n');
    let rest = line_break.map_or(&[][..], |at| &behind[at + 1..]);
    let mut written = content[..start].to_vec();
    if start == 0 && content.starts_with(BYTE_ORDER_MARK) {
        written.extend_from_slice(BYTE_ORDER_MARK);
    }
    written.extend_from_slice(rest);
    let mut wanted = pairs(&before);
    wanted.remove(at);
    says(&written, &wanted).then_some(written)
}

/// Returns an `envs:` file with another line at its end, which has a line break where the last one has one.
pub fn env_with_new_line(content: &[u8], key: &str, value: &str) -> Option<Vec<u8>> {
    let before = lines(content).ok()?;
    let line_break: &[u8] = if content.windows(2).any(|pair| pair == b"\r\n") {
        b"\r\n"
    } else {
        b"\n"
    };
    let line = [key.as_bytes(), b"=", value.as_bytes()].concat();
    let written = if content.is_empty() || content.ends_with(b"\n") {
        [content, &line, line_break].concat()
    } else {
        [content, line_break, &line].concat()
    };
    let mut wanted = pairs(&before);
    wanted.push((key, value));
    (is_key(key) && says(&written, &wanted)).then_some(written)
}

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

fn position(lines: &[Line<'_>], start: u32) -> Option<usize> {
    let start = usize::try_from(start).ok()?;
    lines.iter().position(|line| line.start == start)
}

fn pairs<'b>(lines: &[Line<'b>]) -> Vec<(&'b str, &'b str)> {
    lines.iter().map(|line| (line.key, line.value)).collect()
}

fn says(content: &[u8], wanted: &[(&str, &str)]) -> bool {
    lines(content).is_ok_and(|lines| pairs(&lines) == wanted)
}
