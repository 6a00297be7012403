//! The tree that a document is walked with: one node for each place where something is known.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What is known of the fields, items or entries below one value.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Shape {
    /// The name of the schema, by which defaults that depend on other fields are found. Empty where it has none.
    pub(crate) name: String,
    pub(crate) fields: BTreeMap<String, Slot>,
    /// The items of a list.
    pub(crate) items: Option<Slot>,
    /// The entries of a map whose keys are free.
    pub(crate) entries: Option<Slot>,
}

/// What is known of one place.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Slot {
    /// What the server puts here when nothing is given.
    pub(crate) default: Option<Value>,
    /// Whether the server takes an empty value (false, zero, no content) for one that is not given.
    pub(crate) dropped: bool,
    pub(crate) spelling: Spelling,
    pub(crate) below: Option<Arc<Shape>>,
}

/// How a value may be written in more than one way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spelling {
    /// In one way only.
    #[default]
    Exact,
    /// A quantity: `0.5` is `500m`.
    Quantity,
    /// A number, or its digits as text.
    IntOrString,
    /// Base64, in which line breaks mean nothing.
    Bytes,
}

impl Shape {
    /// Returns what is known of a field or an entry.
    pub(crate) fn field(&self, key: &str) -> Option<&Slot> {
        self.fields.get(key).or(self.entries.as_ref())
    }

    /// Says whether nothing is known.
    pub(crate) fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.items.is_none() && self.entries.is_none()
    }
}

impl Slot {
    /// Says whether nothing is known.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
