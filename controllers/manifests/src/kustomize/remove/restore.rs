//! What a patch of ours took away comes back (DP-3).

use model::files::ReadError;
use model::{FileTree, FolderPath, RepoPath};

use super::entries::{PATCHES, without};
use super::patch::{Listed, listed};
use super::rewrite::Rewrite;
use super::{Attempt, refuse};
use crate::kustomize::cache::Cache;
use crate::kustomize::change::ObjectKey;
use crate::kustomize::graph::{Graph, Reader};
use crate::kustomize::issue::BuildError;
use crate::kustomize::object::{Id, group_version};
use crate::kustomize::overlay::Overlay;
use crate::kustomize::{Rendered, build_with};

/// Finds the patch of a kustomization that keeps an object out of the build, and takes it out: its entry, and its file
/// where nothing else lists it. A patch that is not exactly what we write stays, with a refusal (DP-4). Returns nothing
/// where no patch keeps the object away. The build must not make the object now.
///
/// # Errors
/// Returns that a file could not be read.
pub fn restore(
    tree: FileTree<'_>,
    graph: &Graph,
    root: &FolderPath,
    wanted: &ObjectKey,
    cache: &mut Cache,
) -> Result<Option<Attempt>, ReadError> {
    let Some(reader) = graph.get(root) else {
        return Ok(None);
    };
    let rewrite = Rewrite::new(tree);
    let text = rewrite.text(&reader.path)?;
    let mut tolerated = None;
    for patch in listed(&rewrite, root, &text)? {
        if !may_be_for(&patch, wanted) {
            continue;
        }
        let changes = match unlisted(tree, graph, reader, &patch, &text)? {
            Ok(changes) => changes,
            Err(refusal) => return Ok(Some(Err(refusal))),
        };
        let overlay = Overlay::new(tree, &changes);
        let after = match build_with(overlay.tree(), root, cache) {
            Ok(after) => after,
            Err(BuildError::Refused(_)) => continue,
            Err(BuildError::Unreadable(error)) => return Err(error),
        };
        let objects = after.objects.iter();
        let objects = objects.filter(|object| is_kept_away(object, &patch));
        let Some(fit) = objects.filter_map(|object| fit(object, wanted)).max() else {
            continue;
        };
        let attempt = match patch.is_ours {
            true => Ok(changes),
            false => Err(Box::new(refuse::foreign(&patch.path))),
        };
        match fit {
            Fit::Exact => return Ok(Some(attempt)),
            Fit::Tolerated => tolerated = tolerated.or(Some(attempt)),
        }
    }
    Ok(tolerated)
}

/// Takes a patch out.
fn unlisted(
    tree: FileTree<'_>,
    graph: &Graph,
    reader: &Reader,
    patch: &Listed,
    text: &str,
) -> Result<Attempt, ReadError> {
    let mut rewrite = Rewrite::new(tree);
    Ok(match without(text, PATCHES, |at, _| at == patch.at) {
        Ok(text) => {
            rewrite.put(&reader.path, text.into_bytes())?;
            if patch.is_ours && !is_listed_elsewhere(graph, reader, &patch.path) {
                rewrite.remove(&patch.path);
            }
            Ok(rewrite.finish())
        }
        Err(problem) => Err(refuse::not_editable(&reader.path, PATCHES, &problem).into()),
    })
}

fn is_listed_elsewhere(graph: &Graph, here: &Reader, file: &RepoPath) -> bool {
    let readers = graph.folders().filter_map(|folder| graph.get(folder));
    let mut others = readers.filter(|reader| reader.path != here.path);
    others.any(|reader| reader.patches.iter().any(|patch| patch.path == *file))
}

/// Says whether a patch can be for an object, as far as the two alone show. A kustomization changes no name but that of
/// a `Namespace`.
fn may_be_for(patch: &Listed, wanted: &ObjectKey) -> bool {
    let (group, _) = group_version(&wanted.api_version);
    let is_for = |id: &Id| {
        id.group == group
            && id.kind == wanted.kind
            && (id.name == wanted.name || id.kind == "Namespace")
    };
    patch.ids.is_empty() || patch.ids.iter().any(is_for)
}

/// Says whether a patch is for an object that is built without it.
fn is_kept_away(object: &Rendered, patch: &Listed) -> bool {
    let mut ids = object.previous.iter().chain([&object.id]);
    patch.ids.is_empty() || ids.any(|id| patch.ids.contains(id))
}

/// How well an object of a build is the one that is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// One of the two has no namespace (NS-5, NS-8).
    Tolerated,
    Exact,
}

/// Says how well an object of a build is the one that is meant, in whatever version.
fn fit(object: &Rendered, wanted: &ObjectKey) -> Option<Fit> {
    let (group, _) = group_version(&wanted.api_version);
    let is_alike =
        object.id.group == group && object.id.kind == wanted.kind && object.id.name == wanted.name;
    match (object.namespace(), wanted.namespace.as_deref()) {
        _ if !is_alike => None,
        (built, wanted) if built == wanted => Some(Fit::Exact),
        (Some(_), Some(_)) => None,
        (None, _) | (_, None) => Some(Fit::Tolerated),
    }
}
