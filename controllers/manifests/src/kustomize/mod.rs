//! Kustomize folders, rendered in process, with the input that supplied every value.
//!
//! A build is a pure function over the files of one commit: it reads nothing else, starts no program and fetches
//! nothing. What kustomize cannot build is an error here too, and what is not modelled is refused by its name
//! rather than rendered in part. Nothing here writes: a change is new bytes. The model is
//! kustomize 5.8.1.
//!
//! Reading order: [`node`] (what a render is made of) and `object`; `issue`; [`parse`] (a kustomization as a value);
//! `path`, `cache`, `load`, `overlay`, `graph` and `survey` (which reads what); `manifest`, `scalar`, `folded` and `read`
//! (manifests as kustomize reads them); `build`
//! (the order of things) and what it calls: `generate` with [`generator`] (objects that are made of files), `patches`
//! with [`merge`] (an object and a patch), `namespace`, `labels`, `annotations`, `replicas`, `images`,
//! `references` and `referrers`; [`supplier`] (the line that gives a value); [`mod@change`] (which inputs say what, for
//! objects to be otherwise); [`register`] (which files are listed), [`remove`] (objects without a document of their
//! own go) and `layout` (which kustomization governs a folder).

pub mod change;
pub mod generator;
pub mod merge;
pub mod node;

mod annotations;
mod build;
mod cache;
mod field_spec;
mod folded;
mod generate;
mod graph;
mod image_reference;
mod images;
mod issue;
mod labels;
mod layout;
mod lines;
mod load;
mod manifest;
mod namespace;
mod object;
pub(crate) mod overlay;
mod pairs;
pub mod parse;
mod patches;
mod path;
mod read;
mod references;
mod referrers;
pub mod register;
pub mod remove;
mod replicas;
mod scalar;
mod selector;
pub mod supplier;
mod survey;
#[cfg(test)]
mod tests;

use std::panic::{AssertUnwindSafe, catch_unwind};

use model::{Actor, FileTree, FolderPath, RepoPath};

pub use cache::Cache;
pub use graph::{
    Generator, Graph, PatchFile, Reader, Resource, graph, graph_of, graph_with, readers_of,
};
pub use issue::{BuildError, Feature, Issue};
pub use layout::{Layout, LayoutMode, RenderRoot, layout};
pub use load::Reads;
pub use object::{Home, Id, Origin};
pub(crate) use parse::FILE_NAMES;

use build::Builder;
use graph::spelled;
use issue::location;
use load::Loader;
use node::Node;

/// What a folder builds to.
#[derive(Debug, Clone)]
pub struct Render {
    /// The files that sites and origins name by number.
    pub files: Vec<RepoPath>,
    /// The objects, in the order in which they were read and generated.
    pub objects: Vec<Rendered>,
    /// What was looked at.
    pub reads: Reads,
}

/// An object of a render.
#[derive(Debug, Clone, PartialEq)]
pub struct Rendered {
    /// Where it came from.
    pub origin: Origin,
    /// What it says.
    pub node: Node,
    /// What it was called before each change of namespaces, the first one first.
    pub previous: Vec<Id>,
    /// What it is called now.
    pub id: Id,
}

impl Render {
    /// Returns the document that an object was made of: its file, and its position there. An object that a generator
    /// makes has none.
    pub fn document(&self, object: &Rendered) -> Option<(&RepoPath, usize)> {
        let Origin {
            file,
            index,
            generated,
        } = object.origin;
        let path = self.files.get(cache::index(file)).filter(|_| !generated)?;
        Some((path, usize::try_from(index).ok()?))
    }
}

impl Render {
    /// Returns the file that an object came from: that of its document, or the kustomization that generates it.
    pub fn source(&self, object: &Rendered) -> Option<&RepoPath> {
        self.files.get(cache::index(object.origin.file))
    }
}

impl Rendered {
    /// Names it in messages.
    pub(crate) fn title(&self) -> String {
        match self.namespace() {
            Some(namespace) => format!("{} {namespace}/{}", self.id.kind, self.id.name),
            None => format!("{} {}", self.id.kind, self.id.name),
        }
    }

    /// Returns what its document or generator called it.
    pub fn first(&self) -> &Id {
        self.previous.first().unwrap_or(&self.id)
    }

    /// Returns the namespace that the object names, where it names one.
    pub fn namespace(&self) -> Option<&str> {
        let namespace = self.node.get("metadata")?.get("namespace")?.as_str()?;
        (!namespace.is_empty()).then_some(namespace)
    }
}

/// Returns the file that a kustomization of a folder is written to where there is none.
pub fn file_in(folder: &FolderPath) -> RepoPath {
    build::fallback(folder)
}

/// Builds the kustomization of a folder.
///
/// # Errors
/// Returns why there is no result: what is not modelled, what kustomize would not build either, or a file that
/// could not be read.
pub fn build(tree: FileTree<'_>, root: &FolderPath) -> Result<Render, BuildError> {
    build_with(tree, root, &mut Cache::default())
}

/// Builds the kustomization of a folder, and parses only what was not parsed before.
///
/// # Errors
/// Returns why there is no result, as [`build()`] does.
pub fn build_with(
    tree: FileTree<'_>,
    root: &FolderPath,
    cache: &mut Cache,
) -> Result<Render, BuildError> {
    // What nobody thought of must not take the process down (GA-1).
    catch_unwind(AssertUnwindSafe(|| build_unguarded(tree, root, cache)))
        .unwrap_or_else(|_| Err(gave_up(root).into()))
}

fn build_unguarded(
    tree: FileTree<'_>,
    root: &FolderPath,
    cache: &mut Cache,
) -> Result<Render, BuildError> {
    let mut loader = Loader::new(tree, cache);
    let graph = Graph::survey(&mut loader, [root.clone()])?;
    let issues = graph.issues(root);
    if !issues.is_empty() {
        return Err(BuildError::Refused(issues));
    }
    let built = Builder::new(&mut loader, &graph, root).build();
    let objects = built.map_err(|error| match error {
        BuildError::Refused(issues) => {
            let issues = issues.into_iter();
            BuildError::Refused(issues.map(|issue| spelled(issue, root)).collect())
        }
        BuildError::Unreadable(_) => error,
    })?;
    let objects = objects.into_iter().map(|object| Rendered {
        origin: object.origin,
        id: object.id(),
        previous: object.previous,
        node: object.node,
    });
    let objects = objects.collect();
    let (files, reads) = loader.finish();
    Ok(Render {
        files,
        objects,
        reads,
    })
}

fn gave_up(root: &FolderPath) -> Issue {
    let at = location(&build::fallback(root), 1, None);
    let message = "the build gave up on something that nobody thought of";
    Issue {
        actor: Actor::Nobody,
        ..Issue::of_author(Feature::RenderFailed, at, message, "report the folder")
    }
}
