//! The documents of a text as nodes with byte positions.
//!
//! Nodes know where they stand and what they mean; `compose` makes them, and nothing here changes text. A
//! document that cannot be edited without risk is still read, so that its identity is known; what is wrong with
//! it is kept in [`Document::problem`].

use std::ops::Range;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::event::Style;
use super::scalar::same;

/// One document of a text.
#[derive(Debug)]
pub(crate) struct Document {
    /// The bytes of `---`, with the directives before it; `None` where the document starts without.
    pub(crate) marker: Option<Range<usize>>,
    pub(crate) root: Node,
    /// The first thing that makes it unsafe to edit.
    pub(crate) problem: Option<Problem>,
}

impl Document {
    /// Says whether it holds nothing, or comments only.
    pub(crate) fn is_empty(&self) -> bool {
        self.root.is_missing() && self.root.properties.is_none()
    }

    /// Says whether it means a value.
    pub(crate) fn means(&self, value: &Value) -> bool {
        match self.problem {
            None => self.root.equals(value),
            // Keys may stand twice, and only one of them counts.
            Some(_) => same(&self.root.to_value(), value),
        }
    }

    /// Returns the bytes of its content.
    pub(crate) fn bytes<'a>(&self, text: &'a str) -> &'a str {
        &text[self.root.outer_start()..self.root.outer_end()]
    }

    /// Returns where its content starts; an empty one is pointed at by its separator.
    pub(crate) fn first_byte(&self) -> usize {
        match &self.marker {
            Some(marker) if self.is_empty() => marker.start,
            _ => self.root.outer_start(),
        }
    }
}

/// Something that makes a document unsafe to edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) kind: ProblemKind,
    pub(crate) line: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ProblemKind {
    #[error("the key {key:?} stands twice in one mapping, first in line {first}")]
    DuplicateKey { key: String, first: u32 },
    #[error("a key is null")]
    NullKey,
    #[error("a key is not a scalar")]
    ComplexKey,
    #[error("a key is a number that is too large")]
    LargeKey,
    #[error("a key is written with '?'")]
    ExplicitKey,
    #[error("an alias has no anchor before it")]
    UnknownAlias,
    #[error("a tag is not one of YAML's own")]
    UnknownTag,
    #[error("a value is binary")]
    Binary,
    #[error("a value does not fit its tag")]
    WrongTag,
    #[error("a number cannot be written as JSON")]
    NotJson,
    #[error("a merge key has a value that cannot be merged")]
    BadMerge,
    #[error("a merge key overrides a key before it")]
    MergeCollision,
}

/// A value in the text. `start..end` are its own bytes, without properties and without the line break.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The bytes of anchor and tag.
    pub(crate) properties: Option<Range<usize>>,
    pub(crate) anchor: Option<String>,
    pub(crate) tagged: bool,
    /// Whether an alias or a merge key stands at or below this node.
    pub(crate) has_alias: bool,
}

#[derive(Debug)]
pub(crate) enum Kind {
    Scalar {
        style: Style,
        text: String,
        /// What it means; `None` where that is its text.
        value: Option<Value>,
    },
    Mapping {
        flow: bool,
        entries: Vec<Entry>,
    },
    Sequence {
        flow: bool,
        items: Vec<Node>,
    },
    Alias {
        name: String,
        target: Arc<Value>,
    },
}

/// A key and its value.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) key: Node,
    /// The key as Kubernetes reads it, where that is not its text: `true` for `on`.
    pub(crate) renamed: Option<String>,
    /// Whether the key is `<<`.
    pub(crate) merge: bool,
    /// The byte after the colon; `None` where a flow mapping has a key alone.
    pub(crate) colon: Option<usize>,
    pub(crate) value: Node,
}

impl Entry {
    /// Returns the key as Kubernetes reads it.
    pub(crate) fn name(&self) -> &str {
        match (&self.renamed, &self.key.kind) {
            (Some(name), _) => name,
            (None, Kind::Scalar { text, .. }) => text,
            (None, _) => "",
        }
    }

    fn into_named(self) -> (String, Node) {
        let name = match (self.renamed, self.key.kind) {
            (Some(name), _) => name,
            (None, Kind::Scalar { text, .. }) => text,
            (None, _) => String::new(),
        };
        (name, self.value)
    }

    pub(crate) fn start(&self) -> usize {
        self.key.outer_start()
    }

    pub(crate) fn end(&self) -> usize {
        if self.colon.is_none() {
            return self.key.end;
        }
        self.value.outer_end()
    }
}

impl Node {
    /// Returns the first byte, properties included.
    pub(crate) fn outer_start(&self) -> usize {
        self.properties
            .as_ref()
            .map_or(self.start, |range| range.start.min(self.start))
    }

    /// Returns the end, also of a node that has properties and no content.
    pub(crate) fn outer_end(&self) -> usize {
        self.properties
            .as_ref()
            .map_or(self.end, |range| range.end.max(self.end))
    }

    /// Says whether nothing stands where the value would be.
    pub(crate) fn is_missing(&self) -> bool {
        self.start == self.end
            && matches!(
                self.kind,
                Kind::Scalar {
                    style: Style::Plain,
                    ..
                }
            )
    }

    /// Says whether the node is a mapping or a list in lines of its own.
    pub(crate) fn is_block_collection(&self) -> bool {
        match &self.kind {
            Kind::Mapping { flow, .. } | Kind::Sequence { flow, .. } => !flow,
            Kind::Scalar { .. } | Kind::Alias { .. } => false,
        }
    }

    /// Returns the meaning, with aliases and merge keys resolved.
    pub(crate) fn to_value(&self) -> Value {
        match &self.kind {
            Kind::Scalar { text, value, .. } => match value {
                Some(value) => value.clone(),
                None => Value::String(text.clone()),
            },
            Kind::Alias { target, .. } => Value::clone(target),
            Kind::Sequence { items, .. } => {
                Value::Array(items.iter().map(Self::to_value).collect())
            }
            Kind::Mapping { entries, .. } => {
                let mut map = Map::new();
                for entry in entries {
                    if entry.merge {
                        merge_into(&mut map, entry.value.to_value());
                    } else {
                        map.insert(entry.name().to_owned(), entry.value.to_value());
                    }
                }
                Value::Object(map)
            }
        }
    }

    /// Returns the meaning and gives the node up for it, which copies no text.
    pub(crate) fn into_value(self) -> Value {
        match self.kind {
            Kind::Scalar { text, value, .. } => value.unwrap_or(Value::String(text)),
            Kind::Alias { target, .. } => Value::clone(&target),
            Kind::Sequence { items, .. } => {
                Value::Array(items.into_iter().map(Self::into_value).collect())
            }
            Kind::Mapping { entries, .. } => {
                let mut map = Map::new();
                for entry in entries {
                    let merge = entry.merge;
                    let (name, value) = entry.into_named();
                    if merge {
                        merge_into(&mut map, value.into_value());
                    } else {
                        map.insert(name, value.into_value());
                    }
                }
                Value::Object(map)
            }
        }
    }

    /// Compares the meaning with a value, without building it. No key may stand twice.
    pub(crate) fn equals(&self, other: &Value) -> bool {
        match (&self.kind, other) {
            (Kind::Scalar { text, value, .. }, other) => match value {
                Some(value) => same(value, other),
                None => other.as_str() == Some(text),
            },
            (Kind::Alias { target, .. }, other) => same(target, other),
            (Kind::Sequence { items, .. }, Value::Array(others)) => {
                items.len() == others.len()
                    && items
                        .iter()
                        .zip(others)
                        .all(|(item, other)| item.equals(other))
            }
            (Kind::Mapping { entries, .. }, Value::Object(others)) => {
                if entries.iter().any(|entry| entry.merge) {
                    return same(&self.to_value(), other);
                }
                entries.len() == others.len()
                    && entries.iter().all(|entry| {
                        others
                            .get(entry.name())
                            .is_some_and(|other| entry.value.equals(other))
                    })
            }
            (Kind::Sequence { .. } | Kind::Mapping { .. }, _) => false,
        }
    }
}

/// Adds the keys of a merged mapping, or of each mapping of a list; what is there already wins.
pub(crate) fn merge_into(map: &mut Map<String, Value>, merged: Value) {
    match merged {
        Value::Object(merged) => {
            for (key, value) in merged {
                map.entry(key).or_insert(value);
            }
        }
        Value::Array(list) => list.into_iter().for_each(|merged| merge_into(map, merged)),
        _ => {}
    }
}
