//! The programs of the control plane, built from source once and kept in a cache.
//!
//! Each program comes out of a Go module under `tests/controlplane` that only pins versions, or is
//! our own in `tests/oracle`. The cache is outside the clone and named after everything that
//! decides what the program becomes: the module's files, the Go version and the build flags. Two
//! processes that need the same program at the same time build it once.
//!
//! Read [`Tool`] for what there is, `module` for what is built and how, `build` for the doing.

mod build;
mod go;
mod module;
mod sources;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::{env, fs};

use anyhow::{Context, Error, Result, bail};

pub(crate) use sources::module_folder;
pub use sources::module_folders;

/// A program that can be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tool {
    /// The store of the API server.
    Etcd,
    /// The Kubernetes API server.
    KubeApiserver,
    /// The command line client.
    Kubectl,
    /// The Kubernetes controllers.
    KubeControllerManager,
    /// The package manager that installs our chart.
    Helm,
    /// The reference for rendering.
    Kustomize,
    /// The reference for encrypted files.
    Sops,
    /// A Git host as people run it.
    Gitea,
    /// The judge of what YAML means to Kubernetes, a program with code of ours.
    YamlOracle,
    /// The judge of what kustomize folders build to, which asks the library of [`Tool::Kustomize`].
    KustomizeOracle,
    /// The same program with the library of kustomize 5.5.0.
    KustomizeOracle55,
    /// The judge of what a template of a commit message prints, which asks Go's own library.
    TemplateOracle,
}

impl Tool {
    /// Every tool, in an order that brings a control plane up first.
    pub const ALL: [Self; 12] = [
        Self::Etcd,
        Self::KubeApiserver,
        Self::Kubectl,
        Self::KubeControllerManager,
        Self::Helm,
        Self::Kustomize,
        Self::Sops,
        Self::Gitea,
        Self::YamlOracle,
        Self::KustomizeOracle,
        Self::KustomizeOracle55,
        Self::TemplateOracle,
    ];

    /// Returns the name of the program's file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Etcd => "etcd",
            Self::KubeApiserver => "kube-apiserver",
            Self::Kubectl => "kubectl",
            Self::KubeControllerManager => "kube-controller-manager",
            Self::Helm => "helm",
            Self::Kustomize => "kustomize",
            Self::Sops => "sops",
            Self::Gitea => "gitea",
            Self::YamlOracle => "yaml-oracle",
            Self::KustomizeOracle => "kustomize-oracle",
            Self::KustomizeOracle55 => "kustomize-oracle-5.5",
            Self::TemplateOracle => "template-oracle",
        }
    }
}

impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Tool {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match Self::ALL.into_iter().find(|tool| tool.name() == name) {
            Some(tool) => Ok(tool),
            None => bail!(
                "no tool is called {name}; there are {}",
                Self::ALL.map(Self::name).join(", ")
            ),
        }
    }
}

/// Programs that have been built and where they are.
#[derive(Clone, Debug)]
pub struct Tools {
    paths: BTreeMap<Tool, PathBuf>,
}

impl Tools {
    /// Builds what is missing of `wanted` and returns where everything is.
    ///
    /// Progress goes to standard error; nothing is printed when nothing has to be built.
    pub fn ensure(wanted: &[Tool]) -> Result<Self> {
        let cache = cache_folder()?;
        let mut paths = BTreeMap::new();
        for &tool in wanted {
            paths.insert(tool, build::ensure(tool, &cache)?);
        }
        Ok(Self { paths })
    }

    /// Adds a tool that is somewhere already.
    pub(crate) fn insert(&mut self, tool: Tool, path: PathBuf) {
        self.paths.insert(tool, path);
    }

    /// Returns the path of a tool, or fails when it was not among the wanted ones.
    pub fn path(&self, tool: Tool) -> Result<&Path> {
        let path = self.paths.get(&tool);
        path.map(PathBuf::as_path)
            .with_context(|| format!("{tool} was not asked for"))
    }

    /// Returns every tool with its path.
    pub fn iter(&self) -> impl Iterator<Item = (Tool, &Path)> {
        self.paths
            .iter()
            .map(|(tool, path)| (*tool, path.as_path()))
    }

    /// Returns the value of `PATH` that finds these tools first.
    pub fn search_path(&self) -> Result<OsString> {
        let mut folders: Vec<PathBuf> = self
            .paths
            .values()
            .filter_map(|path| path.parent())
            .map(Path::to_owned)
            .collect();
        folders.dedup();
        if let Some(inherited) = env::var_os("PATH") {
            folders.extend(env::split_paths(&inherited));
        }
        env::join_paths(folders).context("a folder of PATH has a colon in its name")
    }
}

/// Returns the folder that holds a subfolder for each state of each module.
fn cache_folder() -> Result<PathBuf> {
    let base = match env::var_os("XDG_CACHE_HOME").filter(|value| !value.is_empty()) {
        Some(folder) => PathBuf::from(folder),
        None => env::home_dir()
            .context("there is no home directory to keep the built tools in; set XDG_CACHE_HOME")?
            .join(".cache"),
    };
    let folder = base.join("gitops-reverser").join("controlplane");
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_is_found_by_its_name() {
        for tool in Tool::ALL {
            assert_eq!(tool.name().parse::<Tool>().unwrap(), tool);
        }
        let error = "docker".parse::<Tool>().unwrap_err().to_string();
        assert!(error.contains("kube-apiserver"), "{error}");
    }
}
