//! A document as the real tool sees it: ordered, because its message authentication code follows the file.

use serde_json::{Map, Value};

use crate::scalar::Scalar;

/// A value with its parts in the order of the file.
#[derive(Clone, PartialEq)]
pub(crate) enum Node {
    Null,
    Scalar(Scalar),
    List(Vec<Node>),
    Mapping(Vec<(String, Node)>),
}

impl Node {
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        match self {
            Self::Mapping(entries) => entries
                .iter()
                .find(|(name, _)| name == key)
                .map(|(_, value)| value),
            Self::Null | Self::Scalar(_) | Self::List(_) => None,
        }
    }

    pub(crate) fn to_json(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Scalar(scalar) => scalar.to_json(),
            Self::List(items) => items.iter().map(Self::to_json).collect(),
            Self::Mapping(entries) => Value::Object(mapping_to_json(entries)),
        }
    }

    /// Goes to every scalar in the order of the file, as [`Self::map`] does.
    pub(crate) fn walk(&self, path: &mut Path, leaf: &mut impl FnMut(&Path, &Scalar)) {
        match self {
            Self::Null => {}
            Self::Scalar(scalar) => leaf(path, scalar),
            Self::List(items) => items.iter().for_each(|item| item.walk(path, leaf)),
            Self::Mapping(entries) => {
                for (key, value) in entries {
                    path.push(key);
                    value.walk(path, leaf);
                    path.pop();
                }
            }
        }
    }

    /// Builds the same tree with other scalars. `leaf` gets the keys on the way to the scalar; a list adds none,
    /// so its items share one place, as with the real tool.
    pub(crate) fn map<E>(
        &self,
        path: &mut Path,
        leaf: &mut impl FnMut(&Path, &Scalar) -> Result<Scalar, E>,
    ) -> Result<Node, E> {
        Ok(match self {
            Self::Null => Self::Null,
            Self::Scalar(scalar) => Self::Scalar(leaf(path, scalar)?),
            Self::List(items) => Self::List(
                items
                    .iter()
                    .map(|item| item.map(path, leaf))
                    .collect::<Result<_, E>>()?,
            ),
            Self::Mapping(entries) => Self::Mapping(
                entries
                    .iter()
                    .map(|(key, value)| {
                        path.push(key);
                        let mapped = value.map(path, leaf);
                        path.pop();
                        Ok((key.clone(), mapped?))
                    })
                    .collect::<Result<_, E>>()?,
            ),
        })
    }
}

pub(crate) fn mapping_to_json(entries: &[(String, Node)]) -> Map<String, Value> {
    entries
        .iter()
        .map(|(key, value)| (key.clone(), value.to_json()))
        .collect()
}

/// The keys from the root of a document to a value.
#[derive(Clone, Default)]
pub(crate) struct Path(Vec<String>);

impl Path {
    pub(crate) fn push(&mut self, key: &str) {
        self.0.push(key.to_owned());
    }

    pub(crate) fn pop(&mut self) {
        self.0.pop();
    }

    pub(crate) fn parts(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Returns what binds a ciphertext to its place.
    pub(crate) fn additional_data(&self) -> String {
        self.0.iter().flat_map(|key| [key.as_str(), ":"]).collect()
    }

    /// Returns the path for a person.
    pub(crate) fn display(&self) -> String {
        self.0.join(".")
    }
}
