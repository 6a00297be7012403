//! Entries of kustomizations that would be for nothing, which kustomize does not build (DL-13, DP-9).

use std::collections::BTreeSet;

use model::files::ReadError;
use model::{FileTree, FolderPath, Location, RepoPath};
use serde_json::Value;

use super::entries::{PATCHES, REPLICAS, without};
use super::rewrite::Rewrite;
use super::{Attempt, refuse};
use crate::kustomize::graph::{Graph, Reader, Resource};
use crate::kustomize::object::Id;
use crate::kustomize::{Render, Rendered, replicas};

/// An object of a render that goes from it.
#[derive(Debug, Clone, Copy)]
pub enum Going<'r> {
    /// What makes it goes: its document, or the entry of its generator.
    Source(&'r Rendered),
    /// A patch of the root takes it away, behind the root's other patches.
    Patched(&'r Rendered),
}

/// An entry that would be for nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Orphan {
    /// Where it stands.
    pub at: Location,
    /// What it is.
    pub entry: Entry,
}

/// What an entry is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// The count of the workloads of this name.
    Replicas(String),
    /// The patches in this file, one of which would have nothing to patch.
    Patch(RepoPath),
}

/// Finds the entries that are only for objects that go, in every kustomization that the build of the root reads. An
/// image that nothing uses is none of them: kustomize does not mind it (D55).
pub fn orphans(
    render: &Render,
    graph: &Graph,
    root: &FolderPath,
    going: &[Going<'_>],
) -> Vec<Orphan> {
    let mut found = Vec::new();
    for folder in graph.reached_from(root) {
        let Some(reader) = graph.get(folder) else {
            continue;
        };
        let sources = sources(graph, folder);
        let is_passing = |object: &&Rendered| {
            let source = render.source(object);
            source.is_some_and(|source| sources.contains(source))
        };
        let passing: Vec<&Rendered> = render.objects.iter().filter(is_passing).collect();
        let split = |is_patched| -> (Vec<&Rendered>, Vec<&Rendered>) {
            let is_gone = |object| going.iter().any(|it| it.is_without(object, is_patched));
            passing.iter().partition(|object| is_gone(object))
        };
        // The patch that takes an object away comes behind all others, which still find it.
        let (gone, kept) = split(false);
        found.extend(patches(reader, &gone, &kept));
        let (gone, kept) = split(folder == root);
        found.extend(counts(reader, &gone, &kept));
    }
    found
}

impl Going<'_> {
    /// Says whether it is this object and gone. One that a patch takes away is there until the patch is applied.
    fn is_without(self, object: &Rendered, is_patched: bool) -> bool {
        match self {
            Self::Source(gone) => gone.origin == object.origin,
            Self::Patched(gone) => is_patched && gone.id == object.id,
        }
    }
}

/// Returns the files that the objects of a kustomization come from.
fn sources<'g>(graph: &'g Graph, folder: &FolderPath) -> BTreeSet<&'g RepoPath> {
    let readers = graph.reached_from(folder).into_iter();
    let readers = readers.filter_map(|folder| graph.get(folder));
    let of = |reader: &'g Reader| {
        let listed = reader.resources.iter().filter_map(|it| match &it.value {
            Resource::File(path) => Some(path),
            Resource::Folder(_) => None,
        });
        listed.chain([&reader.path])
    };
    readers.flat_map(of).collect()
}

/// Finds counts for workloads that go.
fn counts(reader: &Reader, gone: &[&Rendered], kept: &[&Rendered]) -> Vec<Orphan> {
    let entries = reader.kustomization.replicas.iter();
    let is_orphan = |name: &str| {
        let is_for = |object: &&&Rendered| {
            object.id.name == name && replicas::KINDS.contains(&object.id.kind.as_str())
        };
        gone.iter().any(|it| is_for(&it)) && !kept.iter().any(|it| is_for(&it))
    };
    let entries = entries.filter(|entry| is_orphan(&entry.name.value));
    entries
        .map(|entry| Orphan {
            at: refuse::place(&reader.path, Some(entry.name.line), Some(REPLICAS)),
            entry: Entry::Replicas(entry.name.value.clone()),
        })
        .collect()
}

/// Finds patches for objects that go. A target that selects nothing is no fault.
fn patches(reader: &Reader, gone: &[&Rendered], kept: &[&Rendered]) -> Vec<Orphan> {
    let entries = reader.patches.iter().zip(&reader.kustomization.patches);
    let is_known = |objects: &[&Rendered], id: &Id| {
        let mut objects = objects.iter();
        objects.any(|object| object.previous.contains(id) || object.id == *id)
    };
    let is_orphan = |id: &Id| is_known(gone, id) && !is_known(kept, id);
    let entries = entries.filter(|(patch, _)| {
        let mut manifests = patch.manifests.list.iter();
        patch.target.is_none() && manifests.any(|it| is_orphan(&Id::of(&it.node)))
    });
    entries
        .map(|(patch, entry)| Orphan {
            at: refuse::place(&reader.path, Some(entry.path.line), Some(PATCHES)),
            entry: Entry::Patch(patch.path.clone()),
        })
        .collect()
}

/// Takes counts out that would be for nothing (D55). A patch stays, with a refusal, and so does what stands outside of
/// the folder.
///
/// # Errors
/// Returns that a file could not be read.
pub fn without_orphans(
    tree: FileTree<'_>,
    writable: &FolderPath,
    orphans: &[Orphan],
) -> Result<Attempt, ReadError> {
    let mut rewrite = Rewrite::new(tree);
    for Orphan { at, entry } in orphans {
        let name = match entry {
            Entry::Patch(patch) => {
                return Ok(Err(refuse::orphaned_patch(at.clone(), patch).into()));
            }
            Entry::Replicas(name) => name,
        };
        if !writable.contains(&at.path) {
            return Ok(Err(
                refuse::orphaned_count(at.clone(), name, writable).into()
            ));
        }
        let text = rewrite.text(&at.path)?;
        let is_this = |entry: &Value| entry.get("name").and_then(Value::as_str) == Some(name);
        match without(&text, REPLICAS, |_, entry| is_this(entry)) {
            Ok(text) => rewrite.put(&at.path, text.into_bytes())?,
            Err(problem) => {
                return Ok(Err(
                    refuse::not_editable(&at.path, REPLICAS, &problem).into()
                ));
            }
        }
    }
    Ok(Ok(rewrite.finish()))
}
