//! Strategic merge: what kustomize makes of an object and a patch.
//!
//! Mappings are merged key by key, lists of built-in kinds element by element where their type says so, anything else
//! is replaced, and a null takes a key away. What the patch wrote keeps the suppliers of the patch, what it did not
//! touch keeps its own. Whether a patch matches an object is not decided here.
//!
//! An object is settled as a whole when a patch touches any of it: repeated elements of merged lists become one, and
//! a key whose value is written as nothing goes.
//!
//! Reading order: [`merge`]; `shape` (which lists are merged by what), `keyed` (how), `directive` (what a patch can
//! order), `text` (where the way a value is written decides).

mod directive;
mod keyed;
mod shape;
#[cfg(test)]
mod tests;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use thiserror::Error;

use self::directive::{DIRECTIVE, Directive};
use self::shape::Shape;
pub use self::text::Texts;
use super::node::{Content, Node, Site, Supplier};

/// What an object is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupVersionKind {
    /// The group; empty for the core group.
    pub group: String,
    /// The version.
    pub version: String,
    /// The kind.
    pub kind: String,
}

impl GroupVersionKind {
    /// Returns the version as documents write it, with the group before it.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }
}

/// What a patch left of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merged {
    /// The object is still there.
    Kept,
    /// The patch takes the whole object away.
    Deleted,
}

/// Says whether a patch takes the object away that it is for.
pub(crate) fn is_delete(patch: &Node) -> bool {
    matches!(Directive::of_mapping(patch), Ok(Directive::Delete))
}

/// Why a patch cannot be merged into an object.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the patch cannot be merged at `{path}`: {problem}")]
pub struct MergeError {
    /// Where in the object, as keys joined by dots; a list's elements have no place of their own. Empty for the
    /// object as a whole.
    pub path: String,
    /// Where the value stands that is in the way.
    pub site: Option<Site>,
    /// What is wrong there.
    pub problem: MergeProblem,
}

/// What is wrong with a patch at some place.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MergeProblem {
    /// A directive that kustomize would write into the object.
    #[error(
        "kustomize does not follow the directive `{0}` there but writes it into the object; take it out"
    )]
    NotHonoured(String),
    /// A `$patch` that nobody knows.
    #[error("the directive `$patch` is `delete`, `replace` or `merge`, not `{0}`")]
    UnknownDirective(String),
    /// The two are of different kinds.
    #[error("the object has {base} there and the patch {patch}")]
    Mismatch {
        /// What the object has.
        base: &'static str,
        /// What the patch has.
        patch: &'static str,
    },
    /// An element of a list that is merged by a key does not have it.
    #[error("an element of the list has no `{0}`, by which its elements are told apart")]
    NoKey(String),
    /// A text that begins with a tab takes the place of a block, in which kustomize cannot write it.
    #[error(
        "the object has a block of text there, in which kustomize cannot write one that begins with a tab"
    )]
    TabFirst,
    /// An element of a list that is merged as a set is no text or number.
    #[error("an element of the list is of the wrong kind")]
    Element,
}

/// Merges a patch into an object of a kind, which keeps its apiVersion, kind, name and namespace.
///
/// # Errors
/// Returns the first value of the patch that kustomize cannot merge, or merges into something nobody means. The
/// object is then left in part.
pub fn merge(
    base: &mut Node,
    patch: &Node,
    kind: &GroupVersionKind,
    texts: &dyn Texts,
) -> Result<Merged, MergeError> {
    let mut merger = Merger {
        texts,
        path: Vec::new(),
    };
    if let Some((directive, value)) = directive::unknown(patch) {
        return Err(merger.fail(value, MergeProblem::NotHonoured(directive)));
    }
    match Directive::of_mapping(patch).map_err(|problem| merger.fail(patch, problem))? {
        Directive::Delete => return Ok(Merged::Deleted),
        // Kustomize makes the replacement and forgets it.
        Directive::Replace => return Ok(Merged::Kept),
        Directive::Merge => {}
    }
    let identity = Identity::of(base);
    let shape = Shape::of_kind(&kind.api_version(), &kind.kind);
    let nothing = Node::mapping(base.supplier.clone());
    let before = std::mem::replace(base, nothing);
    if let Some(merged) = merger.walk(Some(before), Over::Patch(patch), shape)? {
        *base = merged;
    }
    identity.put_back(base);
    match directive::leftover(base) {
        Some((directive, value)) => Err(merger.fail(value, MergeProblem::NotHonoured(directive))),
        None => Ok(Merged::Kept),
    }
}

/// What lies over a base.
#[derive(Debug, Clone, Copy)]
enum Over<'p> {
    /// Nothing: the base is only settled.
    Nothing,
    /// The base itself, because it was taken from the patch.
    Itself,
    /// A value of the patch.
    Patch(&'p Node),
}

impl Over<'_> {
    /// Whether a mapping takes the place of what it lies over.
    fn replaces(self) -> bool {
        let Self::Patch(patch) = self else {
            return false;
        };
        Directive::of_mapping(patch) == Ok(Directive::Replace)
    }
}

struct Merger<'m> {
    texts: &'m dyn Texts,
    path: Vec<String>,
}

impl Merger<'_> {
    /// Merges one value; nothing stays where a null takes it away.
    fn walk(
        &mut self,
        base: Option<Node>,
        over: Over<'_>,
        shape: Option<Shape>,
    ) -> Result<Option<Node>, MergeError> {
        let patch = match over {
            Over::Patch(patch) => Some(patch),
            Over::Nothing | Over::Itself => None,
        };
        let shape = shape.or_else(|| base.as_ref().and_then(own_shape));
        let shape = shape.or_else(|| patch.and_then(own_shape));
        let of_base = base.as_ref().filter(|base| !base.is_null());
        let of_patch = patch.filter(|patch| !patch.is_null());
        if let (Some(base), Some(patch)) = (of_base, of_patch)
            && name_of(base) != name_of(patch)
        {
            let problem = MergeProblem::Mismatch {
                base: name_of(base),
                patch: name_of(patch),
            };
            return Err(self.fail(patch, problem));
        }
        let Some(first) = of_base.or(of_patch) else {
            return Ok(self.nulls(base, over));
        };
        match first.content {
            Content::Mapping(_) => self.mapping(base, over, shape),
            Content::Sequence(_) => self.sequence(base, over, shape),
            Content::Scalar(_) => self.scalar(base, over),
        }
    }

    fn nulls(&self, base: Option<Node>, over: Over<'_>) -> Option<Node> {
        match over {
            Over::Nothing => base.filter(|base| text::is_written_null(base, self.texts)),
            Over::Itself | Over::Patch(_) => None,
        }
    }

    fn scalar(&self, base: Option<Node>, over: Over<'_>) -> Result<Option<Node>, MergeError> {
        let Over::Patch(patch) = over else {
            return Ok(base);
        };
        let written = match base {
            Some(base) => {
                text::over(&base, patch, self.texts).map_err(|problem| self.fail(patch, problem))?
            }
            None => patch.clone(),
        };
        Ok(Some(written).filter(|written| !written.is_null()))
    }

    fn mapping(
        &mut self,
        base: Option<Node>,
        over: Over<'_>,
        shape: Option<Shape>,
    ) -> Result<Option<Node>, MergeError> {
        let base = base.filter(|base| !base.is_null());
        let ordered = match (over, &base) {
            (Over::Patch(patch), _) if !patch.is_null() => Directive::of_mapping(patch),
            (Over::Patch(_), _) => return Ok(None),
            (Over::Itself, Some(base)) => Directive::of_mapping(base),
            (Over::Itself, None) | (Over::Nothing, _) => Ok(Directive::Merge),
        };
        let (mut node, over) = match (ordered.map_err(|problem| self.at(problem))?, over, base) {
            (Directive::Delete, ..) | (_, Over::Nothing | Over::Itself, None) => return Ok(None),
            (Directive::Replace, Over::Patch(patch), _) | (_, Over::Patch(patch), None) => {
                (patch.clone(), Over::Itself)
            }
            (_, over, Some(base)) => (base, over),
        };
        let Content::Mapping(fields) = &mut node.content else {
            return Ok(Some(node));
        };
        let before = std::mem::take(fields);
        *fields = self.fields(before, over, shape)?;
        Ok(Some(node))
    }

    fn fields(
        &mut self,
        mut base: BTreeMap<String, Node>,
        over: Over<'_>,
        shape: Option<Shape>,
    ) -> Result<BTreeMap<String, Node>, MergeError> {
        if matches!(over, Over::Itself) {
            base.remove(DIRECTIVE);
        }
        let mut names: BTreeSet<String> = base.keys().cloned().collect();
        if let Over::Patch(Node {
            content: Content::Mapping(patch),
            ..
        }) = over
        {
            let patched = patch.keys().filter(|name| *name != DIRECTIVE);
            names.extend(patched.cloned());
        }
        let mut merged = BTreeMap::new();
        for name in names {
            let below = match over {
                Over::Patch(patch) => patch.get(&name).map_or(Over::Nothing, Over::Patch),
                other => other,
            };
            let shape = shape.and_then(|shape| shape.field(&name));
            self.path.push(name);
            let value = self.walk(base.remove(self.key()), below, shape)?;
            if let (Some(name), Some(value)) = (self.path.pop(), value) {
                merged.insert(name, value);
            }
        }
        Ok(merged)
    }

    fn sequence(
        &mut self,
        base: Option<Node>,
        over: Over<'_>,
        shape: Option<Shape>,
    ) -> Result<Option<Node>, MergeError> {
        let base = base.filter(|base| !base.is_null());
        if let Over::Patch(patch) = over
            && patch.is_null()
        {
            return Ok(None);
        }
        let Some(shape @ (Shape::Keyed { .. } | Shape::Set)) = shape else {
            return Ok(match over {
                Over::Patch(patch) => Some(patch.clone()),
                Over::Nothing | Over::Itself => base,
            });
        };
        let mut patch;
        let (mut list, over) = match (base, over) {
            (None, Over::Patch(patch)) => (patch.clone(), Over::Itself),
            (None, _) => return Ok(None),
            (Some(base), Over::Nothing) => (base, Over::Nothing),
            (Some(mut base), Over::Itself) => match self.ordered(&mut base)? {
                Directive::Delete => return Ok(None),
                Directive::Replace | Directive::Merge => (base, over),
            },
            (Some(base), Over::Patch(given)) => {
                patch = given.clone();
                match self.ordered(&mut patch)? {
                    Directive::Delete => return Ok(None),
                    Directive::Replace => (patch, Over::Itself),
                    Directive::Merge => (base, Over::Patch(&patch)),
                }
            }
        };
        let Content::Sequence(elements) = &mut list.content else {
            return Ok(Some(list));
        };
        let before = std::mem::take(elements);
        *elements = match (shape, over) {
            (Shape::Keyed { keys, element }, _) => self.keyed(before, over, keys, element)?,
            (_, Over::Patch(patch)) => self.scalars(before, patch.items().unwrap_or_default())?,
            _ => self.scalars(before, &[])?,
        };
        Ok(Some(list))
    }

    fn scalars(&self, base: Vec<Node>, patch: &[Node]) -> Result<Vec<Node>, MergeError> {
        keyed::set(base, patch).map_err(|problem| self.at(problem))
    }

    fn ordered(&self, list: &mut Node) -> Result<Directive, MergeError> {
        let Content::Sequence(elements) = &mut list.content else {
            return Ok(Directive::Merge);
        };
        Directive::take_of_list(elements).map_err(|problem| self.fail(list, problem))
    }

    fn key(&self) -> &str {
        self.path.last().map_or("", String::as_str)
    }

    fn at(&self, problem: MergeProblem) -> MergeError {
        MergeError {
            path: self.path.join("."),
            site: None,
            problem,
        }
    }

    fn fail(&self, node: &Node, problem: MergeProblem) -> MergeError {
        let site = match node.supplier {
            Supplier::Document(site) | Supplier::Patch(site) => Some(site),
            _ => None,
        };
        MergeError {
            site,
            ..self.at(problem)
        }
    }
}

/// What an object is called, which no patch changes.
struct Identity {
    top: Vec<(&'static str, Option<Node>)>,
    metadata: Option<Node>,
}

const METADATA: &str = "metadata";
const IN_METADATA: [&str; 2] = ["name", "namespace"];

impl Identity {
    fn of(object: &Node) -> Self {
        let top = ["apiVersion", "kind"].map(|key| (key, object.get(key).cloned()));
        Self {
            top: top.into(),
            metadata: object.get(METADATA).cloned(),
        }
    }

    fn put_back(self, object: &mut Node) {
        let Content::Mapping(fields) = &mut object.content else {
            return;
        };
        let put = |fields: &mut BTreeMap<String, Node>, key: &str, value: Option<Node>| {
            match value {
                Some(value) => fields.insert(key.to_owned(), value),
                None => fields.remove(key),
            };
        };
        for (key, value) in self.top {
            put(fields, key, value);
        }
        let Some(before) = self.metadata else {
            return;
        };
        let kept = IN_METADATA.map(|key| (key, before.get(key).cloned()));
        let metadata = fields
            .entry(METADATA.to_owned())
            .or_insert_with(|| Node::mapping(before.supplier.clone()));
        if let Content::Mapping(fields) = &mut metadata.content {
            for (key, value) in kept {
                put(fields, key, value);
            }
        }
    }
}

/// Returns the shape of an object that stands where none is known.
fn own_shape(node: &Node) -> Option<Shape> {
    let api_version = node.get("apiVersion")?.as_str()?;
    Shape::of_kind(api_version, node.get("kind")?.as_str()?)
}

/// Whether a value is null or a mapping without keys.
fn is_empty(node: &Node) -> bool {
    node.is_null() || matches!(&node.content, Content::Mapping(fields) if fields.is_empty())
}

fn name_of(node: &Node) -> &'static str {
    match node.content {
        Content::Scalar(_) => "a scalar",
        Content::Sequence(_) => "a list",
        Content::Mapping(_) => "a mapping",
    }
}
