//! The patch that takes one object away, and whether a file is one that we wrote (DP-2, DP-3).

use model::files::ReadError;
use model::{FolderPath, RepoPath};
use serde_json::{Map, Value, json};

use super::entries;
use super::rewrite::{Held, Rewrite};
use crate::kustomize::merge::is_delete;
use crate::kustomize::node::FileId;
use crate::kustomize::object::{Home, Id};
use crate::kustomize::path::{Destination, follow};
use crate::kustomize::read::{Purpose, manifests};
use crate::placement::segment;
use crate::yaml;

const HEAD: &str = "# Owned by GitOps Reverser, which removes this file when the object is back. Edit it, and it stays.\n";

/// Writes the patch that takes an object away. It says what the object is known by where patches are applied (DP-6),
/// and nothing else (DP-7).
pub(super) fn authored(id: &Id) -> String {
    let mut metadata = Map::from_iter([("name".to_owned(), json!(id.name))]);
    if let Some(namespace) = id.namespace.spelled() {
        metadata.insert("namespace".to_owned(), json!(namespace));
    }
    let api_version = match &*id.group {
        "" => id.version.clone(),
        group => format!("{group}/{}", id.version),
    };
    let fields = [
        ("apiVersion", json!(api_version)),
        ("kind", json!(id.kind)),
        ("metadata", Value::Object(metadata)),
        ("$patch", json!("delete")),
    ];
    let fields = fields.map(|(key, value)| (key.to_owned(), value));
    HEAD.to_owned() + &yaml::canonical(&Map::from_iter(fields))
}

/// Names the file of a patch: after the kind and the name of its object, with its namespace and group as far as the
/// name could be that of another object's patch otherwise (D55, DP-8). Nothing where no file system holds the name.
pub(super) fn file_name(id: &Id, others: &[&Id]) -> Option<String> {
    let taken: Vec<String> = others.iter().flat_map(|other| names(other)).collect();
    let names = names(id);
    let free = names.iter().find(|name| !taken.contains(name));
    let name = free.or(names.last())?;
    (name.len() <= segment::MAX_BYTES).then(|| name.clone())
}

/// Returns the names that the file of a patch may have, the one to take first.
fn names(id: &Id) -> Vec<String> {
    let namespace = match &id.namespace {
        Home::Namespace(namespace) => Some(namespace.as_str()),
        Home::Cluster => None,
    };
    let group = match &*id.group {
        "" => "core",
        group => group,
    };
    let kind = id.kind.to_lowercase();
    let name = |parts: &[&str]| {
        let parts = [&[kind.as_str(), &id.name], parts].concat();
        segment::value(&format!("{}-delete.yaml", parts.join("-")))
    };
    match namespace {
        Some(namespace) => vec![
            name(&[]),
            name(&[namespace]),
            name(&[group]),
            name(&[namespace, group]),
        ],
        None => vec![name(&[]), name(&[group])],
    }
}

/// A patch that takes an object away, or several.
#[derive(Debug)]
pub(super) struct Listed {
    /// The file.
    pub(super) path: RepoPath,
    /// Its position among the patches of the kustomization.
    pub(super) at: usize,
    /// What it is for; nothing where a target says that.
    pub(super) ids: Vec<Id>,
    /// Whether the file holds exactly what we write, and no target says otherwise.
    pub(super) is_ours: bool,
}

/// Returns the patches of a kustomization that take objects away, in its order.
pub(super) fn listed(
    rewrite: &Rewrite<'_>,
    folder: &FolderPath,
    kustomization: &str,
) -> Result<Vec<Listed>, ReadError> {
    let mut found = Vec::new();
    for entry in entries::patches(kustomization) {
        let Destination::Path(path) = follow(folder, &entry.path) else {
            continue;
        };
        let Held::Bytes(bytes) = rewrite.held(&path)? else {
            continue;
        };
        let Ok(manifests) = manifests(&bytes, FileId(0), Purpose::Patches) else {
            continue;
        };
        let deletes = manifests.list.iter().filter(|it| is_delete(&it.node));
        let ids: Vec<Id> = deletes.map(|it| Id::of(&it.node)).collect();
        let [first, ..] = ids.as_slice() else {
            continue;
        };
        let is_ours = !entry.has_target && *bytes == *authored(first).as_bytes();
        found.push(Listed {
            path,
            at: entry.at,
            ids: if entry.has_target { Vec::new() } else { ids },
            is_ours,
        });
    }
    Ok(found)
}
