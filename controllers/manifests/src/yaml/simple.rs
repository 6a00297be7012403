//! The layout that most manifests have, read in one go over its lines.
//!
//! What is read here means to the parser exactly the same; a test compares the two. Whatever is not plainly block
//! mappings, block lists and scalars of one line or literal blocks is not read here at all, and the parser decides:
//! anything but ASCII, tabs, anchors, tags, braces, escapes, several lines of plain text, keys that stand twice.

use std::ops::ControlFlow;

use serde_json::{Map, Value};

use super::Reading;
use super::scalar::{Meaning, resolve};

/// Deeper nesting is left to the parser.
const MAX_DEPTH: usize = 64;
/// Longer keys are left to the parser, which has a limit for them.
const LONGEST_KEY: usize = 256;

/// Reads every document of a text, with the lines of some fields, or nothing at all.
pub(crate) fn read(text: &str, fields: &[&[&str]]) -> Option<Vec<Reading>> {
    let is_simple = |byte: u8| byte == b'\n' || (b' '..=b'~').contains(&byte);
    if !text.ends_with('\n') || !text.bytes().all(is_simple) {
        return None;
    }
    let mut reader = Reader {
        text,
        at: 0,
        number: 1,
        held: None,
    };
    let mut readings = Vec::new();
    while let Some(line) = reader.peek()? {
        if line.is_marker() {
            reader.take(&line);
        } else if !readings.is_empty() {
            return None;
        }
        // An empty document is left to the parser.
        let first = reader.peek()?.filter(|line| !line.is_marker())?;
        if first.indent > 0 {
            return None;
        }
        let mut lines = vec![first.number; fields.len()];
        let mut watched = Watched {
            lines: &mut lines,
            fields: fields.iter().copied().enumerate().collect(),
        };
        let value = reader.mapping(0, &mut watched, 0)?;
        readings.push(Reading {
            line: first.number,
            value,
            is_empty: false,
            problem: None,
            lines,
        });
        if reader.peek()?.is_some_and(|line| !line.is_marker()) {
            return None;
        }
    }
    (!readings.is_empty()).then_some(readings)
}

/// A line that says something: neither blank nor a comment.
#[derive(Debug, Clone, Copy)]
struct Line<'a> {
    indent: usize,
    /// From its first character that is no space to its end.
    content: &'a str,
    number: u32,
    /// Where the next line starts.
    next: usize,
}

impl<'a> Line<'a> {
    fn is_marker(&self) -> bool {
        self.indent == 0 && self.content == "---"
    }

    fn is_item(&self) -> bool {
        self.content == "-" || self.content.starts_with("- ")
    }

    /// Splits the line into a key that stands for its own text, and what stands behind its colon.
    fn entry(&self) -> Option<(&'a str, &'a str)> {
        let in_key = |byte: &u8| byte.is_ascii_alphanumeric() || b"_./-".contains(byte);
        let bytes = self.content.as_bytes();
        let length = bytes.iter().take_while(|byte| in_key(byte)).count();
        let (key, rest) = self.content.split_at(length);
        let rest = rest.strip_prefix(':')?;
        let stands_alone = rest.is_empty() || rest.starts_with(' ');
        let is_plain = !key.is_empty() && !key.starts_with('-') && length <= LONGEST_KEY;
        let is_text = resolve(key) == Meaning::Text;
        (stands_alone && is_plain && is_text).then(|| (key, rest.trim_start_matches(' ')))
    }
}

/// The fields whose lines are asked for, from the mapping that is being read on.
struct Watched<'a, 'b> {
    lines: &'a mut [u32],
    fields: Vec<(usize, &'b [&'b str])>,
}

impl<'b> Watched<'_, 'b> {
    fn nothing() -> Watched<'static, 'static> {
        Watched {
            lines: &mut [],
            fields: Vec::new(),
        }
    }

    /// Notes the line of a key, and goes on below it.
    fn below(&mut self, key: &str, line: u32) -> Watched<'_, 'b> {
        let mut fields = Vec::new();
        for (at, keys) in &self.fields {
            if let Some((first, rest)) = keys.split_first()
                && *first == key
            {
                self.lines[*at] = line;
                fields.push((*at, rest));
            }
        }
        Watched {
            lines: self.lines,
            fields,
        }
    }
}

/// Reads lines one after the other. Each of its functions answers nothing where the text is not simple.
struct Reader<'a> {
    text: &'a str,
    at: usize,
    number: u32,
    /// The rest of a line behind the dash of an item.
    held: Option<Line<'a>>,
}

impl<'a> Reader<'a> {
    /// Returns the next line that says something, and passes over those before it.
    fn peek(&mut self) -> Option<Option<Line<'a>>> {
        if self.held.is_some() {
            return Some(self.held);
        }
        loop {
            let rest = &self.text[self.at..];
            if rest.is_empty() {
                return Some(None);
            }
            let length = rest.find('\n')?;
            let raw = &rest[..length];
            let content = raw.trim_start_matches(' ');
            let next = self.at + length + 1;
            if content.is_empty() || content.starts_with('#') {
                self.at = next;
                self.number += 1;
                continue;
            }
            let line = Line {
                indent: raw.len() - content.len(),
                content: content.trim_end_matches(' '),
                number: self.number,
                next,
            };
            let is_mark = |mark| line.indent == 0 && line.content.starts_with(mark);
            if (is_mark("---") && !line.is_marker()) || is_mark("...") || is_mark("%") {
                return None;
            }
            return Some(Some(line));
        }
    }

    /// Goes behind a line.
    fn take(&mut self, line: &Line<'_>) {
        self.held = None;
        self.at = line.next;
        self.number = line.number + 1;
    }

    /// Returns the next line, unless the document ends or it belongs to something further out.
    fn within(&mut self, indent: usize) -> Option<ControlFlow<(), Line<'a>>> {
        Some(match self.peek()? {
            Some(line) if !line.is_marker() && line.indent >= indent => ControlFlow::Continue(line),
            Some(_) | None => ControlFlow::Break(()),
        })
    }

    fn mapping(
        &mut self,
        indent: usize,
        watched: &mut Watched<'_, '_>,
        depth: usize,
    ) -> Option<Value> {
        if depth > MAX_DEPTH {
            return None;
        }
        let mut map = Map::new();
        while let ControlFlow::Continue(line) = self.within(indent)? {
            if line.indent > indent || line.is_item() {
                return None;
            }
            let (key, rest) = line.entry()?;
            self.take(&line);
            let mut watched = watched.below(key, line.number);
            let value = if is_absent(rest) {
                self.below_key(indent, &mut watched, depth)?
            } else {
                self.scalar(rest, indent)?
            };
            if map.insert(key.to_owned(), value).is_some() {
                return None;
            }
        }
        Some(Value::Object(map))
    }

    /// Reads what stands in the lines below a key; the items of a list may stand below its first character.
    fn below_key(
        &mut self,
        indent: usize,
        watched: &mut Watched<'_, '_>,
        depth: usize,
    ) -> Option<Value> {
        match self.within(indent)? {
            ControlFlow::Continue(line) if line.is_item() => self.sequence(line.indent, depth + 1),
            ControlFlow::Continue(line) if line.indent > indent => {
                self.mapping(line.indent, watched, depth + 1)
            }
            ControlFlow::Continue(_) | ControlFlow::Break(()) => Some(Value::Null),
        }
    }

    fn sequence(&mut self, indent: usize, depth: usize) -> Option<Value> {
        if depth > MAX_DEPTH {
            return None;
        }
        let mut items = Vec::new();
        while let ControlFlow::Continue(line) = self.within(indent)? {
            if line.indent > indent {
                return None;
            }
            if !line.is_item() {
                // A key, whose list stood below its first character.
                break;
            }
            items.push(self.item(&line, depth)?);
        }
        Some(Value::Array(items))
    }

    fn item(&mut self, line: &Line<'a>, depth: usize) -> Option<Value> {
        let rest = line.content[1..].trim_start_matches(' ');
        self.take(line);
        if is_absent(rest) {
            let deeper = line.indent + 1;
            return match self.within(deeper)? {
                ControlFlow::Continue(line) if line.is_item() => {
                    self.sequence(line.indent, depth + 1)
                }
                ControlFlow::Continue(line) => {
                    self.mapping(line.indent, &mut Watched::nothing(), depth + 1)
                }
                ControlFlow::Break(()) => Some(Value::Null),
            };
        }
        let inner = Line {
            indent: line.indent + line.content.len() - rest.len(),
            content: rest,
            ..*line
        };
        if inner.is_item() {
            self.held = Some(inner);
            return self.sequence(inner.indent, depth + 1);
        }
        if inner.entry().is_some() {
            self.held = Some(inner);
            return self.mapping(inner.indent, &mut Watched::nothing(), depth + 1);
        }
        self.scalar(rest, line.indent)
    }

    /// Reads a scalar that starts in a line which was taken already. `indent` is that of the mapping or list
    /// around it.
    fn scalar(&mut self, text: &str, indent: usize) -> Option<Value> {
        let value = match text.as_bytes().first()? {
            b'|' => return self.literal(text, indent),
            b'\'' => Value::String(single_quoted(text)?),
            b'"' => Value::String(double_quoted(text)?),
            b'{' if without_comment(text) == "{}" => Value::Object(Map::new()),
            b'[' if without_comment(text) == "[]" => Value::Array(Vec::new()),
            _ => plain(text)?,
        };
        // More of the text, or something that cannot stand here.
        match self.within(indent + 1)? {
            ControlFlow::Continue(_) => None,
            ControlFlow::Break(()) => Some(value),
        }
    }

    fn literal(&mut self, header: &str, indent: usize) -> Option<Value> {
        let keeps_last = match header {
            "|" => true,
            "|-" => false,
            _ => return None,
        };
        let mut text = String::new();
        let mut inner = None;
        while self.at < self.text.len() {
            let rest = &self.text[self.at..];
            let length = rest.find('\n')?;
            let raw = &rest[..length];
            let spaces = raw.len() - raw.trim_start_matches(' ').len();
            let is_blank = spaces == raw.len();
            let margin = match inner {
                Some(margin) => margin,
                // Its margin would have to be guessed.
                None if is_blank || spaces <= indent => return None,
                None => *inner.insert(spaces),
            };
            if !is_blank && spaces < margin {
                if spaces > indent {
                    return None;
                }
                break;
            }
            text.push_str(raw.get(margin..).unwrap_or_default());
            text.push('\n');
            self.at += length + 1;
            self.number += 1;
        }
        inner?;
        text.truncate(text.trim_end_matches('\n').len());
        if keeps_last {
            text.push('\n');
        }
        Some(Value::String(text))
    }
}

/// Says whether nothing or only a comment stands behind a colon or a dash.
fn is_absent(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('#')
}

/// Returns the text before its comment.
fn without_comment(text: &str) -> &str {
    let text = text.find(" #").map_or(text, |at| &text[..at]);
    text.trim_end_matches(' ')
}

fn plain(text: &str) -> Option<Value> {
    // Each of these means something else where a scalar starts, or only with what follows.
    if text.starts_with([
        '?', ':', ',', '[', ']', '{', '}', '#', '&', '*', '!', '>', '%', '@', '`',
    ]) {
        return None;
    }
    let text = without_comment(text);
    if text == "-" || text.starts_with("- ") || text.ends_with(':') || text.contains(": ") {
        return None;
    }
    match resolve(text) {
        Meaning::Text => Some(Value::String(text.to_owned())),
        Meaning::Value(value) => Some(value),
        Meaning::NotJson => None,
    }
}

fn single_quoted(text: &str) -> Option<String> {
    let mut rest = text.strip_prefix('\'')?;
    let mut value = String::new();
    loop {
        let end = rest.find('\'')?;
        value.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix('\'') {
            Some(behind) => {
                value.push('\'');
                rest = behind;
            }
            None => return ends(rest).then_some(value),
        }
    }
}

fn double_quoted(text: &str) -> Option<String> {
    let rest = text.strip_prefix('"')?;
    let end = rest.find(['"', '\\'])?;
    let value = &rest[..end];
    let rest = rest[end..].strip_prefix('"')?;
    ends(rest).then(|| value.to_owned())
}

/// Says whether nothing but a comment stands behind a quoted scalar.
fn ends(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(" #") || without_comment(rest).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::parse_with;

    const FIELDS: [&[&str]; 2] = [&["metadata", "name"], &["items"]];

    /// Reads a text in both ways and says whether it was simple.
    fn compared(text: &str) -> bool {
        let Some(simple) = read(text, &FIELDS) else {
            return false;
        };
        let parsed = parse_with(text, &FIELDS).unwrap();
        assert!(simple == parsed, "the two differ on {text:?}");
        true
    }

    const SIMPLE: [&str; 11] = [
        "a: 1\n",
        "# head\n---\n# more\na: 1\n\n---\nb: x y # z\n",
        "a:\n  b:\n    c: 'it''s'\n  d: \"q # r\"   # s\ne:\nf: # g\n",
        "a:\n- x\n- k: 1\n  z: 2\n-\n  w: 3\n- - 1\n  - 2\nb: {}\nc: []\n",
        "a:\n  - b: # c\n      d: e\n  -\n  - # f\n    g: h\n",
        "a: |\n  one\n\n    two\n   \n  three\n\nb: |-\n  x\n# c\nd: 0644\n",
        "a:\n  - |\n    text\n  - -1\n  - http://x:80/y\n  - a:b\nk: ~\nl: no\n",
        "metadata:\n  labels:\n    a.b/c: d\n  name: n\nitems:\n- 1\n",
        "a: b#c\nd: e #f\ng: 'h' #\n",
        "a: |\n  x\n\n\n",
        "a:\n\n  # c\n  b: 1\n",
    ];

    #[test]
    fn what_most_manifests_hold_is_simple_and_means_the_same() {
        for text in SIMPLE {
            assert!(compared(text), "{text:?} is not simple");
        }
    }

    #[test]
    fn what_is_not_simple_is_left_to_the_parser() {
        for text in [
            "",
            "a: 1",
            "a: 1\r\n",
            "a:\t1\n",
            "a: \u{e9}\n",
            "a: &x 1\n",
            "a: *x\n",
            "a: !!str 1\n",
            "a: {b: c}\n",
            "a: [b]\n",
            "a: >\n  b\n",
            "a: |2\n    b\n",
            "a: |+\n  b\n",
            "a: |\n\n  b\n",
            "a: |\nb: 1\n",
            "a: b\n  c\n",
            "a: 'b\n  c'\n",
            "a: \"\\n\"\n",
            "a: b: c\n",
            "a: b:\n",
            "a: .inf\n",
            "a: 1\na: 2\n",
            "on: 1\n",
            "1: 1\n",
            "<<: {}\n",
            "? a\n",
            "'a': 1\n",
            "a b: 1\n",
            "- a\n",
            " a: 1\n",
            "a:\n  b: 1\n c: 2\n",
            "a: 1\n- b\n",
            "a:\n  - b\n c: 1\n",
            "--- a\n",
            "---\n---\na: 1\n",
            "a: 1\n---\n",
            "a: 1\n...\n",
            "%YAML 1.1\n---\na: 1\n",
            "a\n",
            "a: ? b\n",
            "a: - b\n",
            "a: |\n    b\n  c\n",
        ] {
            assert!(read(text, &FIELDS).is_none(), "{text:?} is simple");
        }
    }

    #[test]
    fn texts_that_are_nearly_simple_mean_the_same() {
        let pieces = [
            " ", "  ", "\n", "- ", "-", ": ", ":", "#", " # c", "'", "\"", "|", "---\n", "k: ",
            "k:\n", "x", "1", "?", "{}", "[", ",", "&a ", "~", "no", "\n\n", "   \n",
        ];
        let mut state = 11_302_026_u64;
        let mut next = |below: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            usize::try_from(state >> 33).unwrap() % below
        };
        let mut simple = 0;
        for _ in 0..60_000 {
            let mut text = SIMPLE[next(SIMPLE.len())].to_owned();
            for _ in 0..=next(4) {
                let at = next(text.len());
                match next(3) {
                    0 => drop(text.remove(at)),
                    _ => text.insert_str(at, pieces[next(pieces.len())]),
                }
            }
            simple += usize::from(compared(&text));
        }
        assert!(simple > 10_000, "only {simple} texts were simple");
    }
}
