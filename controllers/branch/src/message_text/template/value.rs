//! What a template can see: texts, numbers, lists, maps and the objects of a context.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// A value. Cloning is cheap.
#[derive(Debug, Clone)]
pub enum Value {
    /// A text.
    Text(Arc<str>),
    /// A whole number.
    Integer(i64),
    /// A truth value.
    Truth(bool),
    /// Values of one type.
    List(Arc<[Value]>),
    /// Values of one type by name.
    Map {
        /// The entries.
        entries: Arc<BTreeMap<String, Value>>,
        /// What `index` returns for a name that is not there.
        missing: Box<Value>,
    },
    /// Something with fields and methods.
    Object(Arc<dyn Object>),
}

/// Something with fields and methods.
pub trait Object: fmt::Debug + Send + Sync {
    /// Names the kind for messages, such as `a resource`.
    fn kind(&self) -> &'static str;

    /// Returns a field; `None` when there is no such field.
    fn field(&self, name: &str) -> Option<Value>;

    /// Calls a method with its one text; `None` when there is no such method.
    fn call(&self, method: &str, argument: &str) -> Option<Value>;

    /// Says whether there is such a method.
    fn has_method(&self, name: &str) -> bool;

    /// Returns how it is printed; `None` when it is not meant to be.
    fn printed(&self) -> Option<String>;
}

impl Value {
    /// Wraps a text.
    pub fn text(text: impl AsRef<str>) -> Self {
        Self::Text(text.as_ref().into())
    }

    /// Wraps a map of texts.
    pub fn texts(entries: BTreeMap<String, String>) -> Self {
        let entries = entries
            .into_iter()
            .map(|(name, text)| (name, Self::text(text)));
        Self::Map {
            entries: Arc::new(entries.collect()),
            missing: Box::new(Self::text("")),
        }
    }

    /// Wraps a map of numbers.
    pub fn counts(entries: BTreeMap<String, i64>) -> Self {
        let entries = entries
            .into_iter()
            .map(|(name, count)| (name, Self::Integer(count)));
        Self::Map {
            entries: Arc::new(entries.collect()),
            missing: Box::new(Self::Integer(0)),
        }
    }

    /// Says whether it counts as true: what is not empty and not zero.
    pub(super) fn is_true(&self) -> bool {
        match self {
            Self::Text(text) => !text.is_empty(),
            Self::Integer(value) => *value != 0,
            Self::Truth(value) => *value,
            Self::List(items) => !items.is_empty(),
            Self::Map { entries, .. } => !entries.is_empty(),
            Self::Object(_) => true,
        }
    }

    /// Returns how many bytes of text it holds.
    pub(super) fn text_bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Integer(_) | Self::Truth(_) | Self::Object(_) => 0,
            Self::List(items) => items.iter().map(Self::text_bytes).sum(),
            Self::Map { entries, .. } => {
                let entries = entries.iter();
                entries.map(|(name, it)| name.len() + it.text_bytes()).sum()
            }
        }
    }

    /// Returns how many values it holds.
    pub(super) fn entries(&self) -> usize {
        match self {
            Self::List(items) => items.len(),
            Self::Map { entries, .. } => entries.len(),
            Self::Text(_) | Self::Integer(_) | Self::Truth(_) | Self::Object(_) => 0,
        }
    }

    /// Names the kind for messages.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "a text",
            Self::Integer(_) => "a number",
            Self::Truth(_) => "a truth value",
            Self::List(_) => "a list",
            Self::Map { .. } => "a map",
            Self::Object(object) => object.kind(),
        }
    }
}
