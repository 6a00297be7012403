//! What a generator of the folder makes goes with its entry (CG-11).

use std::collections::BTreeSet;

use model::files::ReadError;
use model::{FileTree, FolderPath, Refusal, RepoPath};
use serde_json::Value;

use super::entries::{CONFIG_MAPS, without};
use super::rewrite::Rewrite;
use super::{Removed, refuse};
use crate::kustomize::graph::{Graph, Reader, Resource};
use crate::kustomize::object::{Home, Id};
use crate::kustomize::{Render, Rendered};

/// Takes generated objects away: their entries go, and the files of the folder that nothing else reads (CG-11, CG-14).
/// The graph holds whoever may read these files.
///
/// # Errors
/// Returns that a file could not be read.
pub fn generated(
    tree: FileTree<'_>,
    graph: &Graph,
    writable: &FolderPath,
    render: &Render,
    objects: &[&Rendered],
) -> Result<Removed, ReadError> {
    let mut rewrite = Rewrite::new(tree);
    let mut refused: Vec<(usize, Refusal)> = Vec::new();
    let mut gone: BTreeSet<(&RepoPath, usize)> = BTreeSet::new();
    for (at, object) in objects.iter().enumerate() {
        let Some((reader, entry)) = entry(graph, render, object) else {
            refused.push((at, refuse::not_generated(render.source(object))));
            continue;
        };
        if !writable.contains(&reader.path) {
            let line = reader.kustomization.config_maps[entry].line;
            let at_entry = refuse::place(&reader.path, Some(line), Some(CONFIG_MAPS));
            refused.push((at, refuse::outside(at_entry, writable)));
            continue;
        }
        let text = rewrite.text(&reader.path)?;
        match without(&text, CONFIG_MAPS, |_, entry| makes(entry, object.first())) {
            Ok(text) => {
                rewrite.put(&reader.path, text.into_bytes())?;
                gone.insert((&reader.path, entry));
            }
            Err(problem) => {
                let refusal = refuse::not_editable(&reader.path, CONFIG_MAPS, &problem);
                refused.push((at, refusal));
            }
        }
    }
    for file in inputs(graph, &gone) {
        if writable.contains(file) && !is_read(graph, file, &gone) {
            rewrite.remove(file);
        }
    }
    Ok(Removed {
        files: rewrite.finish(),
        refused,
    })
}

/// Returns the kustomization that generates an object, and the position of its entry there.
fn entry<'g>(graph: &'g Graph, render: &Render, object: &Rendered) -> Option<(&'g Reader, usize)> {
    let path = render.source(object).filter(|_| object.origin.generated)?;
    let reader = graph.get(&path.parent())?;
    let mut entries = reader.kustomization.config_maps.iter();
    let entry = entries.position(|entry| {
        let namespace = entry.namespace.as_ref().map(|it| it.value.as_str());
        is_called(object.first(), &entry.name.value, namespace)
    })?;
    Some((reader, entry))
}

/// Says whether an entry makes what was known by an id at first.
fn makes(entry: &Value, first: &Id) -> bool {
    let text = |key: &str| entry.get(key).and_then(Value::as_str);
    text("name").is_some_and(|name| is_called(first, name, text("namespace")))
}

fn is_called(id: &Id, name: &str, namespace: Option<&str>) -> bool {
    id.name == name && id.namespace == Home::named(namespace.unwrap_or_default())
}

/// Returns the files that some entries read.
fn inputs<'g>(graph: &'g Graph, entries: &BTreeSet<(&RepoPath, usize)>) -> BTreeSet<&'g RepoPath> {
    let files = entries.iter().filter_map(|(path, at)| {
        let generator = graph.get(&path.parent())?.generators.get(*at)?;
        Some(generator.envs.iter().chain(&generator.files))
    });
    files.flatten().collect()
}

/// Says whether anything but some entries reads a file: another one, a list of resources or of patches. A
/// kustomization is always read.
fn is_read(graph: &Graph, file: &RepoPath, but: &BTreeSet<(&RepoPath, usize)>) -> bool {
    let mut readers = graph.folders().filter_map(|folder| graph.get(folder));
    readers.any(|reader| {
        let mut resources = reader.resources.iter();
        let mut patches = reader.patches.iter();
        let mut generators = reader.generators.iter().enumerate();
        reader.path == *file
            || resources.any(|it| matches!(&it.value, Resource::File(path) if path == file))
            || patches.any(|patch| patch.path == *file)
            || generators.any(|(at, generator)| {
                !but.contains(&(&reader.path, at))
                    && generator
                        .envs
                        .iter()
                        .chain(&generator.files)
                        .any(|it| it == file)
            })
    })
}
