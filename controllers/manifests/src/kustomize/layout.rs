//! What shape a folder has, by the kustomizations in it.

use std::collections::BTreeSet;

use model::FolderPath;

use super::graph::{Graph, Reader, Resource, is_in};
use super::path::spell_folder;

pub use model::{Layout, LayoutMode, RenderRoot};

/// Says which kustomization governs the new documents of a folder. `graph` holds every kustomization in it.
pub fn layout(graph: &Graph, folder: &FolderPath) -> Layout {
    let roots = graph.roots(folder);
    match roots.as_slice() {
        [] => Layout::Plain,
        [root] => Layout::Kustomized(RenderRoot {
            folder: (*root).clone(),
            below: below(folder, root),
            read_only_bases: read_only_bases(graph, folder, root),
        }),
        several => Layout::Ambiguous {
            roots: several.iter().copied().cloned().collect(),
        },
    }
}

/// Spells a folder in another one.
fn below(folder: &FolderPath, root: &FolderPath) -> String {
    let path = root.as_repo_path().and_then(|root| folder.strip(root));
    path.unwrap_or(".").to_owned()
}

/// Returns the directories outside of a folder that the build of a root reads objects from, the root's own ones
/// first.
fn read_only_bases(graph: &Graph, folder: &FolderPath, root: &FolderPath) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut bases = Vec::new();
    for at in graph.reached_from(root) {
        let Some(reader) = graph.get(at) else {
            continue;
        };
        for resource in &reader.resources {
            let directory = directory(&resource.value);
            if is_in(&directory, folder) || !seen.insert(directory.clone()) {
                continue;
            }
            let own = (at == root).then(|| spelled(reader, resource.at, &resource.value));
            bases.push(
                own.flatten()
                    .unwrap_or_else(|| spell_folder(root, &directory)),
            );
        }
    }
    bases
}

fn directory(resource: &Resource) -> FolderPath {
    match resource {
        Resource::File(path) => path.parent(),
        Resource::Folder(folder) => folder.clone(),
    }
}

/// Returns how a kustomization spells the directory that one of its entries leads to.
fn spelled(reader: &Reader, at: u32, resource: &Resource) -> Option<String> {
    let mut entries = reader.kustomization.resources.iter();
    let entry = entries.find(|entry| entry.at == at)?.value.as_str();
    match resource {
        Resource::Folder(_) => Some(entry.to_owned()),
        // A file may be spelled with a slash behind it, and its directory is what stands before its name.
        Resource::File(path) => entry
            .trim_end_matches('/')
            .strip_suffix(path.file_name())
            .map(|directory| directory.trim_end_matches('/').to_owned()),
    }
}
