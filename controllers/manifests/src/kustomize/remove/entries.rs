//! The lists of a kustomization with an entry more or fewer. Everything else of the text stays.

use model::{FolderPath, RepoPath};
use serde_json::{Map, Value, json};

use crate::kustomize::path::spell;
use crate::kustomize::register::{RESOURCES, Unlistable, edited, leads_to, spelled_alike};
use crate::yaml;

pub(super) const CONFIG_MAPS: &str = "configMapGenerator";
pub(super) const PATCHES: &str = "patches";
pub(super) const REPLICAS: &str = "replicas";

/// Returns the text without some entries of a list. The key goes with the last of them, and where nothing else is
/// left, an empty list of resources keeps the kustomization one that builds (CG-17, DP-3).
pub(super) fn without(
    text: &str,
    key: &'static str,
    is_gone: impl Fn(usize, &Value) -> bool,
) -> Result<String, Unlistable> {
    edited(text, |fields| {
        let Some(entries) = list(fields, key)? else {
            return Ok(());
        };
        let before = entries.len();
        let mut at = 0..;
        entries.retain(|entry| !at.next().is_some_and(|at| is_gone(at, entry)));
        if entries.is_empty() && before > 0 {
            fields.remove(key);
            if fields.iter().all(says_nothing) {
                fields.insert(RESOURCES.to_owned(), json!([]));
            }
        }
        Ok(())
    })
}

/// Returns the text with a patch behind the others, unless it lists it already.
pub(super) fn with_patch(
    text: &str,
    folder: &FolderPath,
    file: &RepoPath,
) -> Result<String, Unlistable> {
    edited(text, |fields| {
        if fields.get(PATCHES).is_none_or(Value::is_null) {
            fields.insert(PATCHES.to_owned(), json!([]));
        }
        let entries = list(fields, PATCHES)?.ok_or(Unlistable::NoList(PATCHES))?;
        if !entries.iter().any(|entry| is_patch(entry, folder, file)) {
            let paths = entries
                .iter()
                .filter_map(|entry| entry.get("path")?.as_str());
            let paths: Vec<String> = paths.map(str::to_owned).collect();
            let path = spelled_alike(&paths, spell(folder, file));
            entries.push(json!({ "path": path }));
        }
        Ok(())
    })
}

/// An entry of `patches:` that names a file.
pub(super) struct Patch {
    /// Its position.
    pub(super) at: usize,
    /// The file, as it is spelled.
    pub(super) path: String,
    /// Whether a target says what the patch is for.
    pub(super) has_target: bool,
}

/// Returns the patches that a kustomization lists.
pub(super) fn patches(text: &str) -> Vec<Patch> {
    let documents = yaml::values(text).unwrap_or_default();
    let entries = documents.first().and_then(|first| first.get(PATCHES));
    let entries = entries.and_then(Value::as_array).into_iter().flatten();
    let entries = entries.enumerate().filter_map(|(at, entry)| {
        Some(Patch {
            at,
            path: entry.get("path")?.as_str()?.to_owned(),
            has_target: has_target(entry),
        })
    });
    entries.collect()
}

/// Says whether an entry of `patches:` is a file of patches that say themselves what they are for.
fn is_patch(entry: &Value, folder: &FolderPath, file: &RepoPath) -> bool {
    let path = entry.get("path").and_then(Value::as_str);
    path.is_some_and(|path| leads_to(folder, path, file)) && !has_target(entry)
}

fn has_target(entry: &Value) -> bool {
    entry.get("target").is_some_and(|target| !target.is_null())
}

/// Returns a list of a kustomization; a null is none.
fn list<'v>(
    fields: &'v mut Map<String, Value>,
    key: &'static str,
) -> Result<Option<&'v mut Vec<Value>>, Unlistable> {
    match fields.get_mut(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Array(entries)) => Ok(Some(entries)),
        Some(_) => Err(Unlistable::NoList(key)),
    }
}

/// Says whether a field leaves a kustomization as empty as it is without.
fn says_nothing((key, value): (&String, &Value)) -> bool {
    matches!(key.as_str(), "apiVersion" | "kind") || value.is_null()
}
