//! Fields of objects by kind and path, as kustomize's tables name them.

use std::collections::BTreeMap;

use serde_json::Value;

use super::node::{Content, Node, Supplier};
use super::object::{Step, Trail, TypeOf};

/// A field that a transformer writes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FieldSpec {
    /// The group, or nothing for every one.
    pub(crate) group: &'static str,
    /// The version, or nothing for every one.
    pub(crate) version: &'static str,
    /// The kind, or nothing for every one.
    pub(crate) kind: &'static str,
    /// The keys that lead to it. Lists on the way are gone through; a key with brackets has to hold one.
    pub(crate) path: &'static str,
    /// Whether what is missing on the way is made.
    pub(crate) create: bool,
}

impl FieldSpec {
    /// Names a place that is made where it is missing.
    pub(crate) const fn made(
        group: &'static str,
        version: &'static str,
        kind: &'static str,
        path: &'static str,
    ) -> Self {
        Self {
            group,
            version,
            kind,
            path,
            create: true,
        }
    }

    pub(crate) fn is_for(&self, what: TypeOf<'_>) -> bool {
        (self.kind.is_empty() || self.kind == what.kind)
            && (self.group.is_empty() || self.group == what.group)
            && (self.version.is_empty() || self.version == what.version)
    }

    /// Calls `visit` with every node that the path leads to, and makes what may be made.
    pub(crate) fn walk(
        &self,
        node: &mut Node,
        make: &Make<'_>,
        visit: &mut Visit<'_>,
    ) -> Result<(), WrongShape> {
        let make = if self.create { make } else { &Make::Nothing };
        walk(node, self.path, make, visit)
    }
}

/// Calls `visit` with every node that a path leads to, and makes what is missing.
pub(crate) fn walk(
    node: &mut Node,
    path: &str,
    make: &Make<'_>,
    visit: &mut Visit<'_>,
) -> Result<(), WrongShape> {
    walk_on(node, path, Trail::Start, make, visit)
}

/// Goes on with a walk that has come to a node.
pub(crate) fn walk_on(
    node: &mut Node,
    path: &str,
    trail: Trail<'_>,
    make: &Make<'_>,
    visit: &mut Visit<'_>,
) -> Result<(), WrongShape> {
    Walk { make }.down(node, Some(path), trail, visit)
}

/// What is done with a node at the end of a path.
pub(crate) type Visit<'v> = dyn FnMut(&mut Node, Trail<'_>) -> Result<(), WrongShape> + 'v;

/// What is put where a field is missing.
pub(crate) enum Make<'a> {
    /// Nothing.
    Nothing,
    /// A text, for `visit` to write.
    Scalar(&'a Supplier),
    /// A mapping.
    Mapping(&'a Supplier),
}

impl Make<'_> {
    /// Returns an empty value of the kind that is wanted, of a mapping on the way to it, or nothing.
    fn content(&self, is_last: bool) -> Option<Content> {
        match self {
            Self::Nothing => None,
            Self::Scalar(_) if is_last => Some(Content::Scalar(Value::String(String::new()))),
            Self::Scalar(_) | Self::Mapping(_) => Some(Content::Mapping(Default::default())),
        }
    }

    fn supplier(&self) -> Supplier {
        match self {
            Self::Nothing => Supplier::Synthesised,
            Self::Scalar(supplier) | Self::Mapping(supplier) => Supplier::clone(supplier),
        }
    }
}

/// A value of another shape than a field has, where kustomize would give up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WrongShape {
    /// The way to it.
    pub(crate) field: String,
    /// What would have to be there.
    pub(crate) wanted: &'static str,
}

impl WrongShape {
    pub(crate) fn at(trail: Trail<'_>, wanted: &'static str) -> Self {
        Self::of(&trail.way(), wanted)
    }

    pub(crate) fn of(way: &[Step], wanted: &'static str) -> Self {
        let mut field = String::new();
        for step in way {
            match step {
                Step::Key(key) if field.is_empty() => field.push_str(key),
                Step::Key(key) => {
                    field.push('.');
                    field.push_str(key);
                }
                Step::Item(index) => field.push_str(&format!("[{index}]")),
            }
        }
        Self { field, wanted }
    }
}

struct Walk<'a> {
    make: &'a Make<'a>,
}

impl Walk<'_> {
    fn down(
        &self,
        node: &mut Node,
        path: Option<&str>,
        trail: Trail<'_>,
        visit: &mut Visit<'_>,
    ) -> Result<(), WrongShape> {
        let Some(path) = path else {
            return visit(node, trail);
        };
        match &mut node.content {
            Content::Scalar(Value::Null) => Ok(()),
            Content::Scalar(_) => Err(WrongShape::at(trail, "a mapping or a list")),
            Content::Sequence(items) => items.iter_mut().enumerate().try_for_each(|(at, item)| {
                self.down(item, Some(path), Trail::Item(&trail, at), visit)
            }),
            Content::Mapping(fields) => {
                let (name, rest) = match path.split_once('/') {
                    Some((name, rest)) => (name, Some(rest)),
                    None => (path, None),
                };
                match self.field(fields, name, rest.is_none()) {
                    Some((name, field)) => self.down(field, rest, Trail::Key(&trail, name), visit),
                    None => Ok(()),
                }
            }
        }
    }

    /// Finds the field that a part of a path names, or makes it.
    fn field<'f, 'n>(
        &self,
        fields: &'f mut BTreeMap<String, Node>,
        name: &'n str,
        is_last: bool,
    ) -> Option<(&'n str, &'f mut Node)> {
        let (name, is_list) = match name.strip_suffix("[]") {
            Some(name) => (name, true),
            None => (name, false),
        };
        let make = if is_list { &Make::Nothing } else { self.make };
        if !fields.contains_key(name) {
            let content = make.content(is_last)?;
            let supplier = make.supplier();
            fields.insert(name.to_owned(), Node { supplier, content });
        }
        let field = fields.get_mut(name)?;
        if field.is_null() {
            // Null turns into what is expected, even where nothing follows.
            let list = is_list.then(|| Content::Sequence(Vec::new()));
            if let Some(content) = list.or_else(|| make.content(is_last)) {
                field.content = content;
            }
        }
        Some((name, field))
    }
}

/// Returns the node at the end of a way.
pub(crate) fn node_at<'a>(node: &'a mut Node, way: &[Step]) -> Option<&'a mut Node> {
    way.iter()
        .try_fold(node, |node, step| match (step, &mut node.content) {
            (Step::Key(key), Content::Mapping(fields)) => fields.get_mut(key),
            (Step::Item(index), Content::Sequence(items)) => items.get_mut(*index),
            _ => None,
        })
}
