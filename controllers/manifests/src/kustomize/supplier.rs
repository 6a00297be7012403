//! The line that gives a value of a render.

use model::files::{Content, ReadError};
use model::{FileEntry, FileTree, RepoPath};

use super::cache::index;
use super::node::{self, ImagePart, ImageParts, Node, Site, Supplier};
use super::{Render, Rendered};
use crate::yaml::{FieldPath, Step};

/// What gives a value, and where that stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Supply {
    /// What it is.
    pub kind: SupplyKind,
    /// Its file.
    pub path: RepoPath,
    /// Its line, counted from 1.
    pub line: u32,
    /// Where it starts, in bytes from the start of the file.
    pub(crate) at: u32,
}

/// What can give a value of a render.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SupplyKind {
    /// A field of a document.
    Document,
    /// A field of a patch.
    Patch,
    /// An entry of `images:`.
    Image,
    /// An entry of `replicas:`.
    Replicas,
    /// The `namespace:` of a kustomization.
    Namespace,
    /// An entry of `labels:` or `commonLabels:`.
    Label,
    /// An entry of `commonAnnotations:`, or an annotation of a generator.
    Annotation,
    /// An item of a generator's `literals:`.
    Literal,
    /// A line of a file that a generator reads.
    EnvLine,
    /// A file that a generator reads.
    Content,
    /// The entry of a generator.
    Generator,
}

/// Finds what gives a field of an object its value, or the nearest thing above it where the object does not have it.
///
/// # Errors
/// Returns what went wrong where its file cannot be read.
pub fn supplier(
    tree: FileTree<'_>,
    render: &Render,
    object: &Rendered,
    field: &FieldPath,
) -> Result<Option<Supply>, ReadError> {
    let mut node = &object.node;
    let mut found = site(&node.supplier);
    for step in field.steps() {
        let below = match step {
            Step::Key(key) => node.get(key),
            Step::Item(at) => node.items().and_then(|items| items.get(*at)),
        };
        let Some(below) = below else { break };
        node = below;
        found = site(&node.supplier).or(found);
    }
    let Some((kind, site)) = found else {
        return Ok(None);
    };
    let Some(path) = render.files.get(index(site.file)) else {
        return Ok(None);
    };
    Ok(Some(Supply {
        kind,
        path: path.clone(),
        line: line(tree, path, site.at)?,
        at: site.at,
    }))
}

/// Finds what gives an object the values that do not come from its own document, in the order of its fields.
///
/// # Errors
/// Returns what went wrong where a file cannot be read.
pub fn additions(
    tree: FileTree<'_>,
    render: &Render,
    object: &Rendered,
) -> Result<Vec<(FieldPath, Supply)>, ReadError> {
    let mut fields = Vec::new();
    gather(&object.node, &mut Vec::new(), &mut fields);
    let mut found = Vec::new();
    for field in fields {
        if let Some(supply) = supplier(tree, render, object, &field)? {
            found.push((field, supply));
        }
    }
    Ok(found)
}

/// Collects the values that no document supplies.
fn gather(node: &Node, way: &mut Vec<Step>, fields: &mut Vec<FieldPath>) {
    let mut below = |step: Step, node: &Node| {
        way.push(step);
        gather(node, way, fields);
        way.pop();
    };
    match &node.content {
        node::Content::Sequence(items) => {
            for (at, item) in items.iter().enumerate() {
                below(Step::Item(at), item);
            }
        }
        node::Content::Mapping(map) => {
            for (key, value) in map {
                below(Step::Key(key.clone()), value);
            }
        }
        node::Content::Scalar(_) => {
            let is_own = matches!(node.supplier, Supplier::Document(_) | Supplier::Synthesised);
            if !is_own {
                fields.push(FieldPath::of_steps(way.clone()));
            }
        }
    }
}

fn site(supplier: &Supplier) -> Option<(SupplyKind, Site)> {
    Some(match supplier {
        Supplier::Document(site) => (SupplyKind::Document, *site),
        Supplier::Patch(site) => (SupplyKind::Patch, *site),
        Supplier::Image(parts) => return of_image(parts),
        Supplier::Replicas(site) => (SupplyKind::Replicas, *site),
        Supplier::Namespace(site) => (SupplyKind::Namespace, *site),
        Supplier::Label(site) => (SupplyKind::Label, *site),
        Supplier::Annotation(site) => (SupplyKind::Annotation, *site),
        Supplier::Literal(site) => (SupplyKind::Literal, *site),
        Supplier::EnvLine(site) => (SupplyKind::EnvLine, *site),
        Supplier::Content(file) => (SupplyKind::Content, Site { file: *file, at: 0 }),
        Supplier::Entry(site) => (SupplyKind::Generator, *site),
        Supplier::Synthesised => return None,
    })
}

/// Names the part of an image that is changed most, of those that an entry gives.
fn of_image(parts: &ImageParts) -> Option<(SupplyKind, Site)> {
    let named = [parts.tag.as_ref(), parts.digest.as_ref(), Some(&parts.name)];
    let mut named = named.into_iter().flatten();
    let entry = named.find_map(|part| match part {
        ImagePart::Entry(site) => Some((SupplyKind::Image, *site)),
        ImagePart::Before(_) => None,
    });
    entry.or_else(|| match &parts.name {
        ImagePart::Before(supplier) => site(supplier),
        ImagePart::Entry(_) => None,
    })
}

fn line(tree: FileTree<'_>, path: &RepoPath, at: u32) -> Result<u32, ReadError> {
    let Some(FileEntry::Regular { content, .. }) = tree.files.get(path) else {
        return Ok(1);
    };
    let Content::Bytes(bytes) = tree.contents.read(content)? else {
        return Ok(1);
    };
    let end = usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
    let breaks = bytes[..end].iter().filter(|byte| **byte == b'\n').count();
    Ok(u32::try_from(breaks + 1).unwrap_or(u32::MAX))
}

impl SupplyKind {
    /// Returns the word that programs read.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Document => "document",
            Self::Patch => "patch",
            Self::Image => "images-entry",
            Self::Replicas => "replicas-entry",
            Self::Namespace => "namespace",
            Self::Label => "label",
            Self::Annotation => "annotation",
            Self::Literal => "literal",
            Self::EnvLine => "env-line",
            Self::Content => "file",
            Self::Generator => "generator",
        }
    }
}

impl Node {
    /// Says whether two values say the same, whatever supplied them.
    pub fn says_as(&self, other: &Self) -> bool {
        use super::node::Content;
        match (&self.content, &other.content) {
            (Content::Scalar(one), Content::Scalar(other)) => one == other,
            (Content::Sequence(one), Content::Sequence(other)) => {
                one.len() == other.len() && one.iter().zip(other).all(|(a, b)| a.says_as(b))
            }
            (Content::Mapping(one), Content::Mapping(other)) => {
                one.len() == other.len()
                    && one
                        .iter()
                        .zip(other)
                        .all(|((k, a), (l, b))| k == l && a.says_as(b))
            }
            _ => false,
        }
    }
}
