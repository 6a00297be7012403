//! Our renderer over files in memory.

use manifests::kustomize::{BuildError, Render, build, graph};
use model::{FilesInMemory, FolderPath, RepoPath};
use serde_json::Value;

use super::archive::Files;

/// Renders a folder of some files.
///
/// # Errors
/// Returns why it is not rendered, in words.
pub fn render(files: &Files, folder: &str) -> Result<Render, String> {
    let tree = tree(files)?;
    build(tree.tree(), &root(folder)?).map_err(|error| told(&error))
}

/// Says whether every kustomization that a folder reads is content with the files of its own folder.
///
/// # Errors
/// Returns why the folder cannot be surveyed, in words.
pub fn is_restricted(files: &Files, folder: &str) -> Result<bool, String> {
    let tree = tree(files)?;
    let graph = graph(tree.tree(), &root(folder)?).map_err(|error| error.to_string())?;
    let mut readers = graph.folders().filter_map(|folder| graph.get(folder));
    Ok(readers.all(|reader| reader.unrestricted().is_empty()))
}

/// Makes a tree of some files.
///
/// # Errors
/// Returns which path is none, in words.
pub fn tree(files: &Files) -> Result<FilesInMemory, String> {
    let mut tree = FilesInMemory::default();
    for (path, content) in files {
        let path = RepoPath::new(path).map_err(|error| error.to_string())?;
        tree.put(&path, content.clone());
    }
    Ok(tree)
}

fn root(folder: &str) -> Result<FolderPath, String> {
    match folder {
        "." => Ok(FolderPath::root()),
        folder => FolderPath::new(folder).map_err(|error| error.to_string()),
    }
}

/// Renders a folder and returns its objects.
///
/// # Errors
/// Returns why it is not rendered, in words.
pub fn objects(files: &Files, folder: &str) -> Result<Vec<Value>, String> {
    let render = render(files, folder)?;
    Ok(render
        .objects
        .iter()
        .map(|object| object.node.to_value())
        .collect())
}

fn told(error: &BuildError) -> String {
    error.to_string()
}
