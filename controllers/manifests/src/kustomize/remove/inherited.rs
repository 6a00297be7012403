//! What a base makes that is never written goes by a patch (DP-1).

use model::files::ReadError;
use model::{FileTree, FolderPath, Refusal};

use super::entries::{PATCHES, with_patch};
use super::patch::{authored, file_name, listed};
use super::rewrite::{Held, Rewrite};
use super::{Removed, refuse};
use crate::kustomize::build::fallback;
use crate::kustomize::graph::{Graph, Reader};
use crate::kustomize::object::Id;
use crate::kustomize::{Render, Rendered};

/// Takes objects of a build away by patches beside its kustomization, each in a file of its own, listed behind all
/// other patches. What is there and listed already stays (DP-1, DP-2, DP-4).
///
/// # Errors
/// Returns that a file could not be read.
pub fn inherited(
    tree: FileTree<'_>,
    graph: &Graph,
    (root, render): (&FolderPath, &Render),
    objects: &[&Rendered],
) -> Result<Removed, ReadError> {
    let Some(reader) = graph.get(root) else {
        let refusal = refuse::not_built(fallback(root));
        let refused = (0..objects.len()).map(|at| (at, refusal.clone()));
        return Ok(Removed {
            refused: refused.collect(),
            ..Removed::default()
        });
    };
    let mut rewrite = Rewrite::new(tree);
    let patches = listed(&rewrite, root, &rewrite.text(&reader.path)?)?;
    let mut refused = Vec::new();
    for (at, object) in objects.iter().enumerate() {
        let Some(id) = alone(object, render, reader) else {
            refused.push((at, refuse::not_nameable(&reader.path)));
            continue;
        };
        // What patches took away counts too, so that names do not depend on what went first.
        let kept = render.objects.iter().filter(|it| it.id != object.id);
        let kept = kept.filter_map(|object| known(object, reader).next());
        let others = kept.chain(patches.iter().flat_map(|patch| &patch.ids));
        let others: Vec<&Id> = others.filter(|other| *other != id).collect();
        if let Some(refusal) = patch(&mut rewrite, reader, id, &others)? {
            refused.push((at, refusal));
        }
    }
    Ok(Removed {
        files: rewrite.finish(),
        refused,
    })
}

/// Writes and lists the patch for an object, or says why not.
fn patch(
    rewrite: &mut Rewrite<'_>,
    reader: &Reader,
    id: &Id,
    others: &[&Id],
) -> Result<Option<Refusal>, ReadError> {
    let folder = reader.path.parent();
    let path = file_name(id, others).and_then(|name| folder.join(&name).ok());
    let Some(path) = path else {
        return Ok(Some(refuse::too_long(&reader.path)));
    };
    let bytes = authored(id).into_bytes();
    match rewrite.held(&path)? {
        Held::Nothing => {}
        Held::Bytes(held) if *held == *bytes => {}
        Held::Bytes(_) | Held::Other => return Ok(Some(refuse::taken(&path))),
    }
    let text = rewrite.text(&reader.path)?;
    Ok(match with_patch(&text, &folder, &path) {
        Ok(text) => {
            rewrite.put(&reader.path, text.into_bytes())?;
            rewrite.put(&path, bytes)?;
            None
        }
        Err(problem) => Some(refuse::not_editable(&reader.path, PATCHES, &problem)),
    })
}

/// Returns what the patches of a kustomization know an object by, the latest first: what it was called before the
/// kustomization changes its namespace (DP-6).
fn known<'o>(object: &'o Rendered, reader: &Reader) -> impl Iterator<Item = &'o Id> {
    let has_namespace = reader.kustomization.namespace.is_some();
    let now = (!has_namespace).then_some(&object.id);
    now.into_iter().chain(object.previous.iter().rev())
}

/// Returns what those patches know an object by and no other one.
fn alone<'o>(object: &'o Rendered, render: &Render, reader: &Reader) -> Option<&'o Id> {
    known(object, reader).find(|id| {
        let mut others = render.objects.iter().filter(|other| other.id != object.id);
        !others.any(|other| known(other, reader).any(|known| known == *id))
    })
}
