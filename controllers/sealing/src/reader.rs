//! From text to a [`Node`]: the only place that knows the parser crate.
//!
//! What the real tool and Kubernetes might read differently (anchors, merge keys, tags, several documents) is
//! refused rather than guessed. Only the tool's own configuration may use anchors, where they are common.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use libyaml_safer::{Event, EventData, Parser, ScalarStyle};

use crate::scalar::{Meaning, Scalar, resolve};
use crate::tree::Node;

/// Text that cannot be read without a risk.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct SyntaxError {
    /// The line, counted from 1.
    pub line: u64,
    /// What is wrong, without any of the text.
    pub problem: String,
}

/// Whether a text may refer to its own parts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchors {
    Refused,
    Expanded,
}

/// More parts than this come from references that multiply.
const MOST_NODES: usize = 200_000;

/// Deeper nesting comes from no person.
const DEEPEST: usize = 200;

/// Reads a text that holds exactly one document.
pub(crate) fn read(text: &str, anchors: Anchors) -> Result<Node, SyntaxError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // The parser panics on some text without a final line break.
    let padded = format!("{text}\n");
    let text = if text.ends_with('\n') { text } else { &padded };
    let mut reader = Reader {
        parser: Parser::new(),
        anchors,
        named: BTreeMap::new(),
        nodes: 0,
        depth: 0,
    };
    reader.parser.set_input(text.as_bytes());
    reader.document()
}

struct Reader<'a> {
    parser: Parser<&'a [u8]>,
    anchors: Anchors,
    named: BTreeMap<String, Node>,
    nodes: usize,
    depth: usize,
}

impl Reader<'_> {
    fn document(&mut self) -> Result<Node, SyntaxError> {
        let mut root = None;
        loop {
            let event = self.next()?;
            match &event.data {
                EventData::StreamEnd => break,
                EventData::StreamStart { .. }
                | EventData::DocumentStart { .. }
                | EventData::DocumentEnd { .. } => {}
                _ if root.is_some() => {
                    return Err(refuse(&event, "a second document stands in the same file"));
                }
                _ => root = Some(self.node(event)?),
            }
        }
        Ok(root.unwrap_or(Node::Null))
    }

    /// Asks the parser, and takes a panic of it for an error. After one it is in no known state; it is never
    /// asked again, because every caller stops at the first error.
    fn next(&mut self) -> Result<Event, SyntaxError> {
        match catch_unwind(AssertUnwindSafe(|| self.parser.parse())) {
            Ok(Ok(event)) => Ok(event),
            Ok(Err(error)) => Err(SyntaxError {
                line: error.problem_mark().map_or(1, |mark| mark.line + 1),
                problem: error.problem().to_owned(),
            }),
            Err(_) => Err(SyntaxError {
                line: 1,
                problem: "the parser gave up on the text".to_owned(),
            }),
        }
    }

    fn node(&mut self, event: Event) -> Result<Node, SyntaxError> {
        self.depth += 1;
        self.nodes += 1;
        if self.nodes > MOST_NODES || self.depth > DEEPEST {
            return Err(refuse(&event, "the document has too many parts"));
        }
        let anchor = self.anchor(&event)?;
        let node = match &event.data {
            EventData::Alias { anchor } => self.referenced(&event, anchor)?,
            EventData::Scalar {
                tag, value, style, ..
            } => scalar(&event, tag.as_deref(), value, *style)?,
            EventData::SequenceStart { tag, .. } => {
                check_tag(&event, tag.as_deref(), "tag:yaml.org,2002:seq")?;
                self.list()?
            }
            EventData::MappingStart { tag, .. } => {
                check_tag(&event, tag.as_deref(), "tag:yaml.org,2002:map")?;
                self.mapping()?
            }
            _ => return Err(refuse(&event, "the document ends too early")),
        };
        if let Some(anchor) = anchor {
            self.named.insert(anchor, node.clone());
        }
        self.depth -= 1;
        Ok(node)
    }

    fn anchor(&self, event: &Event) -> Result<Option<String>, SyntaxError> {
        let (EventData::Scalar { anchor, .. }
        | EventData::SequenceStart { anchor, .. }
        | EventData::MappingStart { anchor, .. }) = &event.data
        else {
            return Ok(None);
        };
        if anchor.is_some() && self.anchors == Anchors::Refused {
            return Err(refuse(event, "an anchor makes an edit unsafe"));
        }
        Ok(anchor.clone())
    }

    fn referenced(&mut self, event: &Event, anchor: &str) -> Result<Node, SyntaxError> {
        let node = self.named.get(anchor).cloned();
        let node = node.ok_or_else(|| refuse(event, "an alias names no anchor"))?;
        self.nodes += count(&node);
        Ok(node)
    }

    fn list(&mut self) -> Result<Node, SyntaxError> {
        let mut items = Vec::new();
        loop {
            let event = self.next()?;
            if matches!(event.data, EventData::SequenceEnd) {
                return Ok(Node::List(items));
            }
            items.push(self.node(event)?);
        }
    }

    fn mapping(&mut self) -> Result<Node, SyntaxError> {
        let mut entries: Vec<(String, Node)> = Vec::new();
        let mut seen = BTreeSet::new();
        loop {
            let event = self.next()?;
            if matches!(event.data, EventData::MappingEnd) {
                return Ok(Node::Mapping(entries));
            }
            let key = key(&event)?;
            if !seen.insert(key.clone()) {
                return Err(refuse(&event, "a key stands twice in one mapping"));
            }
            let event = self.next()?;
            entries.push((key, self.node(event)?));
        }
    }
}

fn count(node: &Node) -> usize {
    match node {
        Node::Null | Node::Scalar(_) => 1,
        Node::List(items) => 1 + items.iter().map(count).sum::<usize>(),
        Node::Mapping(entries) => 1 + entries.iter().map(|(_, value)| count(value)).sum::<usize>(),
    }
}

fn key(event: &Event) -> Result<String, SyntaxError> {
    let EventData::Scalar {
        tag: None,
        anchor: None,
        value,
        style,
        ..
    } = &event.data
    else {
        return Err(refuse(event, "a key is no plain text"));
    };
    if *style == ScalarStyle::Plain {
        if value == "<<" {
            return Err(refuse(event, "a merge key makes an edit unsafe"));
        }
        if !matches!(resolve(value), Meaning::Scalar(Scalar::Text(_))) {
            return Err(refuse(event, "a key without quotes is no text"));
        }
    }
    Ok(value.clone())
}

fn scalar(
    event: &Event,
    tag: Option<&str>,
    value: &str,
    style: ScalarStyle,
) -> Result<Node, SyntaxError> {
    check_tag(event, tag, "tag:yaml.org,2002:str")?;
    if tag.is_some() || style != ScalarStyle::Plain {
        return Ok(Node::Scalar(Scalar::text(value)));
    }
    match resolve(value) {
        Meaning::Null => Ok(Node::Null),
        Meaning::Scalar(scalar) => Ok(Node::Scalar(scalar)),
        Meaning::Unusable => Err(refuse(event, "a number is out of range")),
    }
}

fn check_tag(event: &Event, tag: Option<&str>, expected: &str) -> Result<(), SyntaxError> {
    match tag {
        Some(tag) if tag != expected => Err(refuse(event, "a tag makes an edit unsafe")),
        _ => Ok(()),
    }
}

fn refuse(event: &Event, problem: &str) -> SyntaxError {
    SyntaxError {
        line: event.start_mark.line + 1,
        problem: problem.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn json(text: &str) -> Result<serde_json::Value, SyntaxError> {
        read(text, Anchors::Refused).map(|node| node.to_json())
    }

    #[test]
    fn a_document_keeps_its_order_and_its_types() {
        let node = read("b: 1\na: [x, null, \"2\"]\nc: !!str 3\n", Anchors::Refused).unwrap();
        let Node::Mapping(entries) = &node else {
            panic!("no mapping")
        };
        assert_eq!(
            entries
                .iter()
                .map(|(key, _)| key.as_str())
                .collect::<Vec<_>>(),
            ["b", "a", "c"]
        );
        assert_eq!(
            node.to_json(),
            json!({"b": 1, "a": ["x", null, "2"], "c": "3"})
        );
        assert_eq!(json("").unwrap(), json!(null));
        assert_eq!(json("a: 1").unwrap(), json!({"a": 1}));
    }

    #[test]
    fn what_two_readers_may_read_differently_is_refused_with_its_line() {
        for (text, line) in [
            ("a: 1\n---\nb: 2\n", 3),
            ("a: &x 1\n", 1),
            ("b: 1\na: *x\n", 2),
            ("a:\n  <<: {b: 1}\n", 2),
            ("a: 1\nb: 2\na: 3\n", 3),
            ("1: a\n", 1),
            ("a: !!binary aGk=\n", 1),
            ("a: .inf\n", 1),
            ("a: 9999999999999999999\n", 1),
            ("? [a]\n: b\n", 1),
            ("a: 'x\n", 2),
        ] {
            assert_eq!(json(text).unwrap_err().line, line, "{text:?}");
        }
    }

    #[test]
    fn a_configuration_may_use_anchors() {
        let text = "keys: [&me age1x]\nrule: {age: [*me]}\n";
        let node = read(text, Anchors::Expanded).unwrap();
        assert_eq!(
            node.to_json(),
            json!({"keys": ["age1x"], "rule": {"age": ["age1x"]}})
        );
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..9 {
            let below = level - 1;
            let items = vec![format!("*a{below}"); 10].join(", ");
            bomb.push_str(&format!("a{level}: &a{level} [{items}]\n"));
        }
        assert!(read(&bomb, Anchors::Expanded).is_err());
    }
}
