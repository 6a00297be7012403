//! From events to documents with positions.
//!
//! The parser says where events start and end, which is not where values do: a block ends where its last line
//! does, a property is no part of its value, and a missing value stands behind its colon. That is settled here,
//! once, together with what every scalar, key and alias means.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::event::{Event, Events, LibyamlEvents, Lines, Properties, Style, SyntaxError, line_of};
use super::extent::{block_scalar_end, properties_end};
use super::scalar::{Meaning, format_float_key, resolve};
use super::text::{BYTE_ORDER_MARK, line_end, skip_trivia};
use super::tree::{Document, Entry, Kind, Node, Problem, ProblemKind, merge_into};

/// Deeper nesting is refused, so that no text can exhaust the stack.
const MAX_DEPTH: usize = 200;
/// More nodes than this are refused. What an alias stands for counts at each alias, and what an anchor keeps
/// for them once more, so that a small text cannot take much memory.
const MAX_NODES: usize = 2_000_000;

/// Reads every document of a text that has no byte order mark and ends with a line break. `padded` says that
/// the last line break was added, so that a block scalar at the end does not gain it.
pub(crate) fn parse(text: &str, padded: bool) -> Result<Vec<Document>, SyntaxError> {
    if let Some(offset) = text.find(BYTE_ORDER_MARK) {
        // Readers disagree whether it is part of a key, a separator or nothing.
        return Err(SyntaxError {
            line: line_of(text, offset),
            problem: "a byte order mark stands elsewhere than at the start".to_owned(),
        });
    }
    let mut builder = Builder {
        text,
        padded,
        events: LibyamlEvents::new(text),
        lines: Lines::new(text),
        anchors: HashMap::new(),
        problem: None,
        nodes: 0,
    };
    let mut documents = Vec::new();
    loop {
        let (event, range) = builder.events.next()?;
        match event {
            Event::StreamEnd => return Ok(documents),
            Event::DocumentStart { explicit } => {
                documents.push(builder.document(explicit.then_some(range))?);
            }
            _ => return Err(builder.error(range.start, "a document was expected")),
        }
    }
}

/// Up to so many keys are compared with each other, which is faster than hashing them.
const SMALL_MAPPING: usize = 16;

struct Builder<'a, E = LibyamlEvents<'a>> {
    text: &'a str,
    padded: bool,
    events: E,
    lines: Lines<'a>,
    anchors: HashMap<String, Option<Anchored>>,
    /// The first problem of the document, and where it is.
    problem: Option<(ProblemKind, usize)>,
    nodes: usize,
}

/// What aliases of an anchor stand for.
#[derive(Clone)]
struct Anchored {
    value: Arc<Value>,
    /// How many nodes it has.
    weight: usize,
}

impl<E: Events> Builder<'_, E> {
    fn error(&self, offset: usize, problem: &str) -> SyntaxError {
        SyntaxError {
            line: line_of(self.text, offset),
            problem: problem.to_owned(),
        }
    }

    /// Notes a problem; only the first of a document is told.
    fn problem(&mut self, kind: ProblemKind, offset: usize) {
        self.problem.get_or_insert((kind, offset));
    }

    fn document(&mut self, marker: Option<Range<usize>>) -> Result<Document, SyntaxError> {
        self.anchors.clear();
        let (event, range) = self.events.next()?;
        let root = self.node(event, range, 0)?;
        let (event, range) = self.events.next()?;
        if event != Event::DocumentEnd {
            return Err(self.error(range.start, "the document does not end"));
        }
        let problem = self.problem.take().map(|(kind, offset)| Problem {
            kind,
            line: self.lines.line_of(offset),
        });
        Ok(Document {
            marker,
            root,
            problem,
        })
    }

    fn count(&mut self, nodes: usize, offset: usize) -> Result<(), SyntaxError> {
        self.nodes += nodes;
        if self.nodes > MAX_NODES {
            return Err(self.error(offset, "it holds too many values, aliases written out"));
        }
        Ok(())
    }

    fn node(
        &mut self,
        event: Event,
        range: Range<usize>,
        depth: usize,
    ) -> Result<Node, SyntaxError> {
        if depth > MAX_DEPTH {
            return Err(self.error(range.start, "it is nested too deeply"));
        }
        self.count(1, range.start)?;
        match event {
            Event::Alias(name) => self.alias(name, range),
            Event::Scalar {
                properties,
                text,
                style,
            } => Ok(self.scalar(properties, text, style, range)?),
            Event::SequenceStart { properties, flow } => {
                self.sequence(properties, flow, range, depth)
            }
            Event::MappingStart { properties, flow } => {
                self.mapping(properties, flow, range, depth)
            }
            Event::StreamEnd
            | Event::DocumentStart { .. }
            | Event::DocumentEnd
            | Event::SequenceEnd
            | Event::MappingEnd => Err(self.error(range.start, "a value was expected")),
        }
    }

    fn alias(&mut self, name: String, range: Range<usize>) -> Result<Node, SyntaxError> {
        let target = match self.anchors.get(&name).cloned().flatten() {
            Some(anchored) => {
                self.count(anchored.weight, range.start)?;
                anchored.value
            }
            None => {
                self.problem(ProblemKind::UnknownAlias, range.start);
                Arc::new(Value::Null)
            }
        };
        Ok(Node {
            kind: Kind::Alias { name, target },
            start: range.start,
            end: range.end,
            properties: None,
            anchor: None,
            tagged: false,
            has_alias: true,
        })
    }

    /// Makes a node whose content starts after its properties.
    fn open(&self, properties: &Properties, range: &Range<usize>) -> (Option<Range<usize>>, usize) {
        if properties.anchor.is_none() && properties.tag.is_none() {
            return (None, range.start);
        }
        let end = properties_end(self.text, range.start);
        (Some(range.start..end), skip_trivia(self.text, end))
    }

    fn scalar(
        &mut self,
        properties: Properties,
        mut text: String,
        style: Style,
        range: Range<usize>,
    ) -> Result<Node, SyntaxError> {
        let (bytes, mut start) = self.open(&properties, &range);
        let mut end = range.end;
        if style == Style::Plain && text.is_empty() {
            start = bytes.as_ref().map_or(range.start, |bytes| bytes.end);
            end = start;
        }
        if style.is_block() {
            self.trim_padding(&mut text, start, range.end)?;
            end = block_scalar_end(self.text, start, range.end);
        }
        let value = self.scalar_value(properties.tag.as_deref(), &text, style, start);
        let node = Node {
            kind: Kind::Scalar { style, text, value },
            start,
            end,
            properties: bytes,
            anchor: properties.anchor,
            tagged: properties.tag.is_some(),
            has_alias: false,
        };
        self.close_anchor(&node, 1)?;
        Ok(node)
    }

    /// Takes the line break that only padding added out of a block scalar at the end of the text.
    fn trim_padding(&self, text: &mut String, start: usize, end: usize) -> Result<(), SyntaxError> {
        if !self.padded || end < self.text.len() {
            return Ok(());
        }
        let body = self.text.trim_end_matches(['\n', '\r']);
        let last_line = body.rsplit('\n').next().unwrap_or_default();
        if last_line.trim().is_empty() || body.len() < start {
            return Err(self.error(
                self.text.len(),
                "it ends in a blank line without a line break",
            ));
        }
        // The parser ends a line at a lone carriage return; where lines are counted, nothing else does.
        if body
            .get(start..)
            .is_some_and(|block| block.replace("\r\n", "").contains('\r'))
        {
            return Err(self.error(
                self.text.len(),
                "it ends in a block of text with a carriage return and no line break",
            ));
        }
        if line_end(self.text, start) < body.len() && text.ends_with('\n') {
            text.pop();
        }
        Ok(())
    }

    fn scalar_value(
        &mut self,
        tag: Option<&str>,
        text: &str,
        style: Style,
        offset: usize,
    ) -> Option<Value> {
        let Some(tag) = tag else {
            return match style {
                Style::Plain => self.plain_value(text, offset),
                _ => None,
            };
        };
        let fits: fn(&Value) -> bool = match tag.strip_prefix("tag:yaml.org,2002:") {
            Some("str" | "timestamp") => return None,
            None if tag == "!" => return None,
            Some("int") => |value| value.is_i64() || value.is_u64(),
            Some("float") => Value::is_number,
            Some("bool") => Value::is_boolean,
            Some("null") => Value::is_null,
            Some("binary") => {
                self.problem(ProblemKind::Binary, offset);
                return None;
            }
            Some(_) | None => {
                self.problem(ProblemKind::UnknownTag, offset);
                return None;
            }
        };
        let value = self.plain_value(text, offset);
        if !value.as_ref().is_some_and(fits) {
            self.problem(ProblemKind::WrongTag, offset);
        }
        value
    }

    /// Returns what a plain scalar means, where that is not its text.
    fn plain_value(&mut self, text: &str, offset: usize) -> Option<Value> {
        match resolve(text) {
            Meaning::Text => None,
            Meaning::Value(value) => Some(value),
            Meaning::NotJson => {
                self.problem(ProblemKind::NotJson, offset);
                Some(Value::Null)
            }
        }
    }

    fn check_collection_tag(&mut self, tag: Option<&str>, own: &str, offset: usize) {
        if tag.is_some_and(|tag| tag != own && tag != "!") {
            self.problem(ProblemKind::UnknownTag, offset);
        }
    }

    /// Marks an anchor as open: an alias to it inside its own node has no value.
    fn open_anchor(&mut self, properties: &Properties) {
        if let Some(anchor) = &properties.anchor {
            self.anchors.insert(anchor.clone(), None);
        }
    }

    /// Keeps what the aliases of an anchored node stand for.
    fn close_anchor(&mut self, node: &Node, weight: usize) -> Result<(), SyntaxError> {
        let Some(anchor) = &node.anchor else {
            return Ok(());
        };
        self.count(weight, node.start)?;
        let value = Arc::new(node.to_value());
        self.anchors
            .insert(anchor.clone(), Some(Anchored { value, weight }));
        Ok(())
    }

    fn sequence(
        &mut self,
        properties: Properties,
        flow: bool,
        range: Range<usize>,
        depth: usize,
    ) -> Result<Node, SyntaxError> {
        let (bytes, start) = self.open(&properties, &range);
        self.check_collection_tag(properties.tag.as_deref(), "tag:yaml.org,2002:seq", start);
        self.open_anchor(&properties);
        let nodes_before = self.nodes;
        let mut items: Vec<Node> = Vec::new();
        let end = loop {
            let (event, range) = self.events.next()?;
            if event == Event::SequenceEnd {
                break range.end;
            }
            items.push(self.node(event, range, depth + 1)?);
        };
        let last = items.last().map_or(start, Node::outer_end);
        let has_alias = items.iter().any(|item| item.has_alias);
        let node = Node {
            start,
            end: if flow { end } else { last },
            kind: Kind::Sequence { flow, items },
            properties: bytes,
            anchor: properties.anchor,
            tagged: properties.tag.is_some(),
            has_alias,
        };
        self.close_anchor(&node, self.nodes - nodes_before)?;
        Ok(node)
    }

    fn mapping(
        &mut self,
        properties: Properties,
        flow: bool,
        range: Range<usize>,
        depth: usize,
    ) -> Result<Node, SyntaxError> {
        let (bytes, start) = self.open(&properties, &range);
        self.check_collection_tag(properties.tag.as_deref(), "tag:yaml.org,2002:map", start);
        self.open_anchor(&properties);
        let nodes_before = self.nodes;
        let mut entries: Vec<Entry> = Vec::new();
        let end = loop {
            let (event, range) = self.events.next()?;
            if event == Event::MappingEnd {
                break range.end;
            }
            let before = entries.last().map_or(start, Entry::end);
            let entry = self.entry(event, range, before, depth)?;
            entries.push(entry);
        };
        self.check_keys(&entries);
        let last = entries.last().map_or(start, Entry::end);
        let braced = flow && self.text[start..].starts_with('{');
        let has_alias = entries
            .iter()
            .any(|entry| entry.merge || entry.value.has_alias);
        let node = Node {
            start,
            end: if braced { end } else { last },
            kind: Kind::Mapping { flow, entries },
            properties: bytes,
            anchor: properties.anchor,
            tagged: properties.tag.is_some(),
            has_alias,
        };
        self.close_anchor(&node, self.nodes - nodes_before)?;
        Ok(node)
    }

    fn entry(
        &mut self,
        event: Event,
        range: Range<usize>,
        before: usize,
        depth: usize,
    ) -> Result<Entry, SyntaxError> {
        let key = self.node(event, range, depth + 1)?;
        let lead = &self.text[before.min(key.outer_start())..key.outer_start()];
        if is_explicit_key(lead) {
            self.problem(ProblemKind::ExplicitKey, key.start);
        }
        let (renamed, merge) = self.key_name(&key);
        let colon = self.colon_after(&key);
        let (event, range) = self.events.next()?;
        let value = self.node(event, range, depth + 1)?;
        if merge && !can_merge(&value.to_value()) {
            self.problem(ProblemKind::BadMerge, value.start);
        }
        Ok(Entry {
            key,
            renamed,
            merge,
            colon,
            value,
        })
    }

    fn colon_after(&self, key: &Node) -> Option<usize> {
        let at = skip_trivia(self.text, key.outer_end());
        self.text[at..].starts_with(':').then_some(at + 1)
    }

    /// Returns the key as Kubernetes reads it, where that is not its text, and whether it merges.
    fn key_name(&mut self, key: &Node) -> (Option<String>, bool) {
        let Kind::Scalar { style, text, value } = &key.kind else {
            self.problem(ProblemKind::ComplexKey, key.start);
            return (None, false);
        };
        if *style == Style::Plain && text == "<<" && !key.tagged {
            return (None, true);
        }
        let name = match value {
            None => return (None, false),
            Some(Value::String(text)) => text.clone(),
            Some(Value::Bool(flag)) => flag.to_string(),
            Some(Value::Number(number)) if number.is_f64() => {
                format_float_key(number.as_f64().unwrap_or_default())
            }
            Some(Value::Number(number)) => {
                if number.as_i64().is_none() {
                    self.problem(ProblemKind::LargeKey, key.start);
                }
                number.to_string()
            }
            Some(Value::Null | Value::Array(_) | Value::Object(_)) => {
                // An infinity is a legal key, and has been reported already.
                self.problem(ProblemKind::NullKey, key.start);
                return (None, false);
            }
        };
        (Some(name), false)
    }

    /// Reports a key that stands twice, or that a merge key behind it overrides.
    fn check_keys(&mut self, entries: &[Entry]) {
        for (index, entry) in entries.iter().enumerate().filter(|(_, entry)| entry.merge) {
            let mut merged = Map::new();
            merge_into(&mut merged, entry.value.to_value());
            let overrides = |before: &Entry| !before.merge && merged.contains_key(before.name());
            if entries[..index].iter().any(overrides) {
                self.problem(ProblemKind::MergeCollision, entry.key.start);
            }
        }
        if let Some((first, second)) = first_pair(entries)
            && self.problem.is_none()
        {
            let kind = ProblemKind::DuplicateKey {
                key: second.name().to_owned(),
                first: line_of(self.text, first.key.start),
            };
            self.problem(kind, second.key.start);
        }
    }
}

/// Returns the first entry whose key another one has before it, behind that other one.
fn first_pair(entries: &[Entry]) -> Option<(&Entry, &Entry)> {
    let is_twin = |a: &Entry, b: &Entry| a.merge == b.merge && a.name() == b.name();
    let second = if entries.len() <= SMALL_MAPPING {
        let mut indexes = 1..entries.len();
        indexes.find(|index| {
            let before = &entries[..*index];
            before.iter().any(|other| is_twin(other, &entries[*index]))
        })
    } else {
        let mut names = HashSet::with_capacity(entries.len());
        let mut entries = entries.iter();
        entries.position(|entry| !names.insert((entry.name(), entry.merge)))
    }?;
    let second = &entries[second];
    let first = entries.iter().find(|entry| is_twin(entry, second))?;
    Some((first, second))
}

fn can_merge(value: &Value) -> bool {
    match value {
        Value::Object(_) => true,
        Value::Array(list) => list.iter().all(Value::is_object),
        _ => false,
    }
}

/// Says whether what stands between two entries ends in the sign of an explicit key.
fn is_explicit_key(lead: &str) -> bool {
    let last = lead
        .rsplit('\n')
        .next()
        .unwrap_or_default()
        .trim_start_matches(['-', ' ', '\t', ',', '{', '[']);
    last.starts_with('?')
}
