//! Where the sources of the pinned modules are.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::{Deserializer, Value};

use super::Tool;
use super::module::Recipe;

/// Returns the folder of every Go module that the tools of Kubernetes are pinned to, after fetching what is missing.
pub fn module_folders() -> Result<BTreeSet<PathBuf>> {
    let recipes: Vec<Recipe> = Tool::ALL
        .into_iter()
        // A Git host has three hundred modules of its own, and none of them is about manifests.
        .filter(|tool| *tool != Tool::Gitea)
        .map(Recipe::of)
        .collect::<Result<_>>()?;
    let modules: BTreeSet<&Path> = recipes
        .iter()
        .map(|recipe| recipe.folder.as_path())
        .collect();
    let mut folders = BTreeSet::new();
    for module in modules {
        folders.extend(download(module, &[])?);
    }
    Ok(folders)
}

/// Returns the folder of the sources of a tool whose package is a whole module, after fetching them where they are
/// missing.
pub(crate) fn module_folder(tool: Tool) -> Result<PathBuf> {
    let recipe = Recipe::of(tool)?;
    let folders = download(&recipe.folder, &[recipe.package])?;
    let mut folders = folders.into_iter();
    folders
        .next()
        .with_context(|| format!("go does not say where {tool} is"))
}

/// Fetches these modules, or everything that a module requires, and returns where it is.
fn download(module: &Path, wanted: &[&str]) -> Result<Vec<PathBuf>> {
    let output = Command::new("go")
        .args(["mod", "download", "-json"])
        .args(wanted)
        .env("GOWORK", "off")
        .current_dir(module)
        .output()
        .context("cannot run go")?;
    if !output.status.success() {
        bail!(
            "go cannot fetch what {} requires: {}",
            module.display(),
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    Deserializer::from_slice(&output.stdout)
        .into_iter::<Value>()
        .map(|answer| {
            let answer = answer.context("go answers with something else than JSON")?;
            let folder = answer["Dir"].as_str().with_context(|| {
                format!(
                    "go does not say where {} {} is",
                    answer["Path"], answer["Version"]
                )
            })?;
            Ok(PathBuf::from(folder))
        })
        .collect()
}
