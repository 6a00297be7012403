//! The record of an API server's defaults as text: one JSON object a line, so that a change is read as a diff.
//!
//! A line says something about one place: either which shape a type has, or what is known of a path below a
//! shape. Shapes are the schemas of the API server's OpenAPI documents, so the many kinds that hold a pod share
//! its lines. Where one schema behaves differently in two kinds, its second shape has `~2` behind its name.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::TypeId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Types;
use super::shape::{Shape, Slot};

pub use super::shape::Spelling;
pub use crate::plan::dependent::depends;

/// The step of a path into the items of a list.
pub const ITEMS: &str = "[]";
/// The step of a path into the entries of a map.
pub const ENTRIES: &str = "{}";

/// One line of the record.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// The shape that the line is about, or the type as `apps/v1 deployments`.
    pub of: String,
    /// The path below it: keys, [`ITEMS`] and [`ENTRIES`], joined by dots. Empty for the root of a type.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub at: String,
    /// The value that the server fills in.
    #[serde(default, with = "given", skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// Whether the server takes an empty value for one that is not given.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dropped: bool,
    /// How else the value may be written.
    #[serde(default, skip_serializing_if = "is_exact")]
    pub spelling: Spelling,
    /// The shape of what stands there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<String>,
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature that serde calls"
)]
fn is_exact(spelling: &Spelling) -> bool {
    *spelling == Spelling::Exact
}

/// Tells a default of `null` from no default.
mod given {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use serde_json::Value;

    pub(super) fn serialize<S: Serializer>(
        value: &Option<Value>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        value.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Value>, D::Error> {
        Value::deserialize(deserializer).map(Some)
    }
}

/// Why a record cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// A line is not what [`Line`] describes.
    #[error("line {line} of the record of defaults cannot be read")]
    Line {
        /// The line, counted from 1.
        line: usize,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// A line names a shape that no line describes, or that is part of itself.
    #[error("the record of defaults has no shape {0}, or it contains itself")]
    Shape(String),
    /// A type is not written as `group/version resource`.
    #[error("the record of defaults names a type {0} that is not one")]
    Type(String),
}

/// Reads a record.
pub(super) fn read(text: &str) -> Result<Types, RecordError> {
    let mut lines: BTreeMap<String, Vec<Line>> = BTreeMap::new();
    for (index, line) in text.lines().enumerate() {
        let parsed: Line = serde_json::from_str(line).map_err(|source| RecordError::Line {
            line: index + 1,
            source,
        })?;
        lines.entry(parsed.of.clone()).or_default().push(parsed);
    }
    let mut reader = Reader {
        lines: &lines,
        shapes: BTreeMap::new(),
        open: Vec::new(),
    };
    let mut types = Types::new();
    for (of, lines) in lines.iter().filter(|(of, _)| of.contains(' ')) {
        let (type_id, version) = type_of(of).ok_or_else(|| RecordError::Type(of.clone()))?;
        let shape = lines.iter().find_map(|line| line.shape.as_ref());
        let shape = shape.map(|shape| reader.shape(shape)).transpose()?;
        let versions = types.entry(type_id).or_default();
        versions.insert(version, shape.unwrap_or_default());
    }
    Ok(types)
}

/// Reads `apps/v1 deployments`.
fn type_of(text: &str) -> Option<(TypeId, String)> {
    let (api_version, resource) = text.split_once(' ')?;
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    Some((TypeId::new(group, resource), version.to_owned()))
}

/// Builds each shape once, after the shapes that it holds.
struct Reader<'a> {
    lines: &'a BTreeMap<String, Vec<Line>>,
    shapes: BTreeMap<String, Arc<Shape>>,
    open: Vec<String>,
}

impl Reader<'_> {
    fn shape(&mut self, name: &str) -> Result<Arc<Shape>, RecordError> {
        if let Some(shape) = self.shapes.get(name) {
            return Ok(shape.clone());
        }
        let lines = self.lines.get(name);
        let (Some(lines), false) = (lines, self.open.iter().any(|open| open == name)) else {
            return Err(RecordError::Shape(name.to_owned()));
        };
        self.open.push(name.to_owned());
        let mut shape = Shape {
            name: name.split('~').next().unwrap_or(name).to_owned(),
            ..Shape::default()
        };
        for line in lines {
            let below = line.shape.as_ref().map(|name| self.shape(name));
            let slot = Slot {
                default: line.default.clone(),
                dropped: line.dropped,
                spelling: line.spelling,
                below: below.transpose()?,
            };
            let path: Vec<&str> = line.at.split('.').collect();
            put(&mut shape, &path, slot);
        }
        self.open.pop();
        let shape = Arc::new(shape);
        self.shapes.insert(name.to_owned(), shape.clone());
        Ok(shape)
    }
}

/// Puts what is known of a place into the tree. A path comes after the paths that it continues, because lines
/// are sorted.
fn put(shape: &mut Shape, path: &[&str], slot: Slot) {
    let Some((step, rest)) = path.split_first() else {
        return;
    };
    let at = match *step {
        ITEMS => shape.items.get_or_insert_default(),
        ENTRIES => shape.entries.get_or_insert_default(),
        key => shape.fields.entry(key.to_owned()).or_default(),
    };
    if rest.is_empty() {
        *at = slot;
        return;
    }
    let below = at.below.get_or_insert_default();
    put(Arc::make_mut(below), rest, slot);
}
