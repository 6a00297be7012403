//! Rendered values in which everything knows what supplied it (E2).

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

/// A file of a render, by its position among the files that were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// A place in an input: the value that starts at a byte of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site {
    /// The file.
    pub file: FileId,
    /// Where the value starts, in bytes from the start of the file.
    pub at: u32,
}

/// What gave a rendered value its content: the input that has to change for the value to change.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Supplier {
    /// A value of a document among the resources.
    Document(Site),
    /// A value of a patch file.
    Patch(Site),
    /// An image reference of which an `images:` entry wrote at least one part.
    Image(Arc<ImageParts>),
    /// The `count` of a `replicas:` entry.
    Replicas(Site),
    /// The `namespace:` of a kustomization.
    Namespace(Site),
    /// A value of `labels:` or `commonLabels:`.
    Label(Site),
    /// A value of `commonAnnotations:` or of a generator's annotations.
    Annotation(Site),
    /// An item of a generator's `literals:`.
    Literal(Site),
    /// A line of a generator's `envs:` file; the place is the start of the line.
    EnvLine(Site),
    /// The whole content of a generator's `files:` input.
    Content(FileId),
    /// Another field of a generator's entry, as its name.
    Entry(Site),
    /// Nothing that an author wrote: kustomize itself put it there.
    Synthesised,
}

/// Who supplied the parts of an image reference.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ImageParts {
    /// The name: `newName` of an entry, or what the reference was before.
    pub name: ImagePart,
    /// The tag, where the reference has one.
    pub tag: Option<ImagePart>,
    /// The digest, where the reference has one.
    pub digest: Option<ImagePart>,
}

/// Who supplied one part of an image reference.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ImagePart {
    /// A key of an `images:` entry; the place is its value.
    Entry(Site),
    /// The reference as it was before any entry.
    Before(Box<Supplier>),
}

/// A rendered value.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// What supplied it. For a mapping or a list, what it was first read from.
    pub supplier: Supplier,
    /// What it says.
    pub content: Content,
}

/// What a rendered value says.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// A string, number, boolean or null, as Kubernetes reads it.
    Scalar(Value),
    /// A list.
    Sequence(Vec<Node>),
    /// A mapping.
    Mapping(BTreeMap<String, Node>),
}

impl Node {
    /// Makes a scalar.
    pub fn scalar(value: impl Into<Value>, supplier: Supplier) -> Self {
        Self {
            supplier,
            content: Content::Scalar(value.into()),
        }
    }

    /// Makes an empty mapping.
    pub fn mapping(supplier: Supplier) -> Self {
        Self {
            supplier,
            content: Content::Mapping(BTreeMap::new()),
        }
    }

    /// Says whether the value is null.
    pub fn is_null(&self) -> bool {
        matches!(self.content, Content::Scalar(Value::Null))
    }

    /// Returns the fields, where the value is a mapping.
    pub fn fields(&self) -> Option<&BTreeMap<String, Self>> {
        match &self.content {
            Content::Mapping(fields) => Some(fields),
            Content::Scalar(_) | Content::Sequence(_) => None,
        }
    }

    /// Returns the fields to change, where the value is a mapping.
    pub fn fields_mut(&mut self) -> Option<&mut BTreeMap<String, Self>> {
        match &mut self.content {
            Content::Mapping(fields) => Some(fields),
            Content::Scalar(_) | Content::Sequence(_) => None,
        }
    }

    /// Returns the items, where the value is a list.
    pub fn items(&self) -> Option<&[Self]> {
        match &self.content {
            Content::Sequence(items) => Some(items),
            Content::Scalar(_) | Content::Mapping(_) => None,
        }
    }

    /// Returns the field of a mapping to change, where there is one.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Self> {
        self.fields_mut()?.get_mut(key)
    }

    /// Returns what the value says, without what supplied it.
    pub fn to_value(&self) -> Value {
        match &self.content {
            Content::Scalar(value) => value.clone(),
            Content::Sequence(items) => Value::Array(items.iter().map(Self::to_value).collect()),
            Content::Mapping(fields) => {
                let fields = fields.iter();
                Value::Object(
                    fields
                        .map(|(key, node)| (key.clone(), node.to_value()))
                        .collect(),
                )
            }
        }
    }

    /// Returns the field of a mapping, where there is one.
    pub fn get(&self, key: &str) -> Option<&Self> {
        match &self.content {
            Content::Mapping(fields) => fields.get(key),
            Content::Scalar(_) | Content::Sequence(_) => None,
        }
    }

    /// Returns the text, where the value is one.
    pub fn as_str(&self) -> Option<&str> {
        match &self.content {
            Content::Scalar(value) => value.as_str(),
            Content::Sequence(_) | Content::Mapping(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_node_says_what_was_read() {
        let site = |at| {
            Supplier::Document(Site {
                file: FileId(0),
                at,
            })
        };
        let scalar = |at, value| Node {
            supplier: site(at),
            content: Content::Scalar(value),
        };
        let list = Node {
            supplier: site(4),
            content: Content::Sequence(vec![scalar(6, json!(1)), scalar(8, json!("b"))]),
        };
        let node = Node {
            supplier: site(0),
            content: Content::Mapping(BTreeMap::from([
                ("a".to_owned(), list),
                ("n".to_owned(), scalar(12, json!("text"))),
            ])),
        };
        assert_eq!(node.to_value(), json!({"a": [1, "b"], "n": "text"}));
        assert_eq!(node.get("n").and_then(Node::as_str), Some("text"));
        assert_eq!(node.get("a").and_then(Node::as_str), None);
    }
}
