//! YAML as people keep it: read like Kubernetes reads it, changed without disturbing what stays.
//!
//! An edit replaces the bytes of what differs and nothing else, is proved by reading the result again, and is
//! refused rather than guessed. Text that is written new has one canonical layout. This module knows nothing of
//! objects, files or folders.
//!
//! Reading order: `simple` (what most manifests are), `event` (the parser for all others, guarded), `scalar` (what a plain scalar means), `tree`, `extent` and `compose`
//! (documents with positions), `diff` with `sequence`, `replace`, `align` and `flow` (from a wanted value to replacements), `splice`, [`mod@edit`] (apply
//! and prove), `place` (the lines of fields), `settle` (texts without an end), `repair` (other spellings), `framing` (whole
//! documents); `layout`, `quote`, `notation`, `folded` and `emit` write new text.

mod align;
mod compose;
mod diff;
mod edit;
mod emit;
mod event;
mod extent;
mod flow;
mod folded;
mod framing;
mod layout;
mod notation;
mod place;
mod quote;
mod repair;
mod replace;
mod scalar;
mod sequence;
mod settle;
mod simple;
mod splice;
mod text;
mod tree;

pub(crate) use align::counterparts;
pub use edit::{EditError, edit};
pub use emit::canonical;
pub(crate) use event::Style;
pub use event::SyntaxError;
pub use framing::{append, remove};
pub(crate) use place::Way;
pub use place::{FieldPath, Places, Step};
pub(crate) use repair::{RepairKind, repairs};
pub(crate) use scalar::{Meaning, leading_dot, number};
pub(crate) use tree::{Document, Entry, Kind, Node};

use serde_json::Value;

/// One document of a text, as its reader sees it.
#[derive(Clone, PartialEq)]
pub struct Reading {
    /// The line where its content starts, counted from 1.
    pub line: u32,
    /// What it means.
    pub value: Value,
    /// Whether it holds nothing, or comments only.
    pub is_empty: bool,
    /// What makes it unsafe to edit, with its line.
    pub problem: Option<(u32, String)>,
    /// The lines of the fields that were asked for, in that order.
    pub lines: Vec<u32>,
}

/// Reads every document of a text.
///
/// # Errors
/// Returns where the text is not YAML.
pub fn read(text: &str) -> Result<Vec<Reading>, SyntaxError> {
    read_with(text, &[])
}

/// Reads every document of a text, and notes the lines of some fields, each named by the keys that lead to it. A
/// field that a document does not write stands where the nearest thing above it does.
///
/// # Errors
/// Returns where the text is not YAML.
pub fn read_with(text: &str, fields: &[&[&str]]) -> Result<Vec<Reading>, SyntaxError> {
    match simple::read(text, fields) {
        Some(readings) => Ok(readings),
        None => parse_with(text, fields),
    }
}

/// Does the same as [`read_with`], always with the parser. For tests, which compare the two.
///
/// # Errors
/// Returns where the text is not YAML.
pub fn parse_with(text: &str, fields: &[&[&str]]) -> Result<Vec<Reading>, SyntaxError> {
    let prepared = text::Prepared::new(text);
    let documents = compose::parse(&prepared.body, prepared.padded)?;
    let mut lines = event::Lines::new(&prepared.body);
    Ok(documents
        .into_iter()
        .map(|document| Reading {
            line: lines.line_of(document.first_byte()),
            lines: fields
                .iter()
                .map(|keys| lines.ahead(offset_of(&document, keys)))
                .collect(),
            is_empty: document.is_empty(),
            problem: document
                .problem
                .as_ref()
                .map(|problem| (problem.line, problem.kind.to_string())),
            value: document.root.into_value(),
        })
        .collect())
}

fn offset_of(document: &tree::Document, keys: &[&str]) -> usize {
    let steps = keys.iter().copied().map(place::PlaceStep::Key);
    place::offset_of(&document.root, steps).unwrap_or_else(|| document.first_byte())
}

/// The documents of a text with the positions of everything in them.
pub(crate) struct Composed<'a> {
    /// The documents.
    pub(crate) documents: Vec<Document>,
    /// The text that positions count in.
    pub(crate) body: std::borrow::Cow<'a, str>,
    /// How many bytes stand before it: those of a byte order mark.
    pub(crate) before: usize,
}

/// Reads every document of a text as nodes with positions.
///
/// # Errors
/// Returns where the text is not YAML.
pub(crate) fn compose(text: &str) -> Result<Composed<'_>, SyntaxError> {
    let prepared = text::Prepared::new(text);
    Ok(Composed {
        documents: compose::parse(&prepared.body, prepared.padded)?,
        before: if text.starts_with(text::BYTE_ORDER_MARK) {
            text::BYTE_ORDER_MARK.len_utf8()
        } else {
            0
        },
        body: prepared.body,
    })
}

/// Reads the value of every document of a text.
///
/// # Errors
/// Returns where the text is not YAML.
pub fn values(text: &str) -> Result<Vec<Value>, SyntaxError> {
    let prepared = text::Prepared::new(text);
    Ok(compose::parse(&prepared.body, prepared.padded)?
        .into_iter()
        .map(|document| document.root.into_value())
        .collect())
}

/// Returns the bytes of every document of a text: its content, without separators and what surrounds it.
///
/// # Errors
/// Returns where the text is not YAML.
pub fn slices(text: &str) -> Result<Vec<String>, SyntaxError> {
    let prepared = text::Prepared::new(text);
    let documents = compose::parse(&prepared.body, prepared.padded)?;
    Ok(documents
        .iter()
        .map(|document| document.bytes(&prepared.body).to_owned())
        .collect())
}

/// Says whether two values are the same to Kubernetes: numbers are compared by value.
pub fn same(a: &Value, b: &Value) -> bool {
    scalar::same(a, b)
}
