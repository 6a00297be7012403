//! Which kustomization reads what.
//!
//! A graph holds every kustomization that its starts reach, also outside of their folder, and every reason for
//! which one of them cannot be built as far as that shows without building: what is not modelled, what leads
//! nowhere, and what leads back to itself.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::files::{Node as Entry, ReadError};
use model::{FileTree, FolderPath, RepoPath};

use super::cache::Cache;
use super::issue::{Feature, Issue, location};
use super::load::Loader;
use super::manifest::Manifests;
use super::node::FileId;
use super::parse::{FILE_NAMES, Kustomization, Located, Target};
use super::path::spell;
use super::survey::Survey;

/// Kustomizations and what they read.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    nodes: BTreeMap<FolderPath, Reader>,
}

/// A kustomization with what it reads.
#[derive(Debug, Clone)]
pub struct Reader {
    /// Its file.
    pub path: RepoPath,
    /// What it says.
    pub kustomization: Arc<Kustomization>,
    /// Where its `resources:` lead, in their order. What leads nowhere is among the issues.
    pub resources: Vec<Located<Resource>>,
    /// The files of its patches, in their order.
    pub patches: Vec<PatchFile>,
    /// The files of its patches that are not understood.
    pub(crate) unread: Vec<RepoPath>,
    /// The files that its generators read, one generator after the other.
    pub generators: Vec<Generator>,
    pub(crate) file: FileId,
    pub(crate) issues: Vec<Issue>,
}

/// The files that an entry of `configMapGenerator:` reads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Generator {
    /// Its `envs:`, in their order.
    pub envs: Vec<RepoPath>,
    /// Its `files:`, in their order.
    pub files: Vec<RepoPath>,
}

/// A file of patches.
#[derive(Debug, Clone)]
pub struct PatchFile {
    /// The file.
    pub path: RepoPath,
    /// Which objects its patch is for; without, the patches themselves say.
    pub target: Option<Target>,
    pub(crate) file: FileId,
    pub(crate) manifests: Arc<Manifests>,
}

/// Where an entry of `resources:` leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resource {
    /// To a file of objects.
    File(RepoPath),
    /// To another kustomization.
    Folder(FolderPath),
}

/// Reads every kustomization of a folder and what they read elsewhere.
///
/// # Errors
/// Returns what went wrong where a file cannot be read.
pub fn graph(tree: FileTree<'_>, folder: &FolderPath) -> Result<Graph, ReadError> {
    graph_with(tree, folder, &mut Cache::default())
}

/// Reads every kustomization of a folder and what they read elsewhere, but for what was read before.
///
/// # Errors
/// Returns what went wrong where a file cannot be read.
pub fn graph_with(
    tree: FileTree<'_>,
    folder: &FolderPath,
    cache: &mut Cache,
) -> Result<Graph, ReadError> {
    let mut starts = BTreeSet::new();
    if let Some(directory) = tree.files.folder(folder) {
        let prefix = folder.as_repo_path().map(RepoPath::as_str).unwrap_or("");
        find_folders(&directory.nodes, prefix, &|_| true, &mut starts);
    }
    Graph::survey(&mut Loader::new(tree, cache), starts)
}

/// Reads some kustomizations and what they read elsewhere, but for what was read before.
///
/// # Errors
/// Returns what went wrong where a file cannot be read.
pub fn graph_of(
    tree: FileTree<'_>,
    folders: impl IntoIterator<Item = FolderPath>,
    cache: &mut Cache,
) -> Result<Graph, ReadError> {
    Graph::survey(&mut Loader::new(tree, cache), folders)
}

/// Finds the kustomizations outside of a folder that read something in it: all that they read, and the folders of those
/// that no other one outside reads.
///
/// # Errors
/// Returns what went wrong where a file cannot be read.
pub fn readers_of(
    tree: FileTree<'_>,
    folder: &FolderPath,
    cache: &mut Cache,
) -> Result<(Graph, Vec<FolderPath>), ReadError> {
    let mut starts = BTreeSet::new();
    if let Some(root) = tree.files.folder(&FolderPath::root()) {
        let is_other = |path: &str| folder.as_repo_path().is_none_or(|it| it.as_str() != path);
        find_folders(&root.nodes, "", &is_other, &mut starts);
    }
    starts.retain(|start| !is_in(start, folder));
    let graph = Graph::survey(&mut Loader::new(tree, cache), starts)?;
    let outside = graph.nodes.iter().filter(|(at, _)| !is_in(at, folder));
    let read: BTreeSet<&FolderPath> = outside
        .clone()
        .flat_map(|(_, reader)| reader.folders())
        .collect();
    let roots = outside.map(|(at, _)| at).filter(|at| !read.contains(at));
    let reads_in = |root: &&FolderPath| {
        graph.reached_from(root).iter().any(|at| {
            let reader = graph.get(at);
            is_in(at, folder)
                || reader.is_some_and(|reader| reader.files().any(|path| folder.contains(path)))
        })
    };
    let roots = roots.filter(reads_in).cloned().collect();
    Ok((graph, roots))
}

fn find_folders(
    nodes: &[(Arc<str>, Entry)],
    path: &str,
    is_looked_into: &impl Fn(&str) -> bool,
    found: &mut BTreeSet<FolderPath>,
) {
    for (name, node) in nodes {
        match node {
            Entry::Entry(_) if FILE_NAMES.contains(&&**name) => {
                let path = if path.is_empty() { "." } else { path };
                found.extend(FolderPath::new(path).ok());
            }
            Entry::Entry(_) => {}
            Entry::Folder(folder) => {
                let below = match path {
                    "" => name.to_string(),
                    path => format!("{path}/{name}"),
                };
                if is_looked_into(&below) {
                    find_folders(&folder.nodes, &below, is_looked_into, found);
                }
            }
        }
    }
}

impl Graph {
    /// Reads the kustomizations of some folders and all that they read.
    pub(crate) fn survey(
        loader: &mut Loader<'_>,
        starts: impl IntoIterator<Item = FolderPath>,
    ) -> Result<Self, ReadError> {
        let mut graph = Self::default();
        let mut open: Vec<FolderPath> = starts.into_iter().collect();
        while let Some(folder) = open.pop() {
            if graph.nodes.contains_key(&folder) {
                continue;
            }
            let mut survey = Survey {
                loader,
                folder: &folder,
            };
            if let Some(reader) = survey.read()? {
                open.extend(reader.folders().cloned());
                graph.nodes.insert(folder, reader);
            }
        }
        graph.report_cycles();
        Ok(graph)
    }

    /// Returns the kustomization of a folder.
    pub fn get(&self, folder: &FolderPath) -> Option<&Reader> {
        self.nodes.get(folder)
    }

    /// Returns the folders of all kustomizations, in the order of their paths.
    pub fn folders(&self) -> impl Iterator<Item = &FolderPath> {
        self.nodes.keys()
    }

    /// Returns the folders below another one that no kustomization below it reads: what is built there.
    pub fn roots(&self, below: &FolderPath) -> Vec<&FolderPath> {
        let inside = |folder: &FolderPath| is_in(folder, below);
        let readers = self.nodes.iter().filter(|(folder, _)| inside(folder));
        let read: BTreeSet<&FolderPath> =
            readers.flat_map(|(_, reader)| reader.folders()).collect();
        let folders = self.nodes.keys();
        folders
            .filter(|folder| inside(folder) && !read.contains(folder))
            .collect()
    }

    /// Returns every kustomization that the build of a folder reads, its own first.
    pub fn reached_from<'a>(&'a self, folder: &'a FolderPath) -> Vec<&'a FolderPath> {
        self.reached([folder])
    }

    fn reached<'a>(
        &'a self,
        starts: impl IntoIterator<Item = &'a FolderPath>,
    ) -> Vec<&'a FolderPath> {
        let mut seen = BTreeSet::new();
        let mut reached: Vec<&FolderPath> = starts
            .into_iter()
            .filter(|start| seen.insert(*start))
            .collect();
        let mut at = 0;
        while let Some(folder) = reached.get(at).copied() {
            at += 1;
            let reader = self.nodes.get(folder);
            for next in reader.into_iter().flat_map(Reader::folders) {
                if seen.insert(next) {
                    reached.push(next);
                }
            }
        }
        reached
    }

    /// Returns all issues, sorted. What stands outside of a folder is also named as it is spelled from there.
    pub fn issues(&self, from: &FolderPath) -> Vec<Issue> {
        let mut issues: Vec<Issue> = Vec::new();
        for reader in self.nodes.values() {
            let all = reader.kustomization.issues.iter().chain(&reader.issues);
            issues.extend(all.cloned().map(|issue| spelled(issue, from)));
        }
        issues.sort();
        issues.dedup();
        issues
    }

    /// Reports what leads back to itself, always at the same file of the circle, and what leads to a folder that
    /// holds one of those on the way there, which kustomize takes for a circle too.
    fn report_cycles(&mut self) {
        let mut found = Vec::new();
        let mut in_circles: BTreeSet<&FolderPath> = BTreeSet::new();
        for (folder, reader) in &self.nodes {
            let below = self.reached(reader.folders());
            if below.contains(&folder) {
                if in_circles.contains(folder) {
                    continue;
                }
                let reaches_this =
                    |other: &&&FolderPath| self.reached_from(other).contains(&folder);
                let circle: BTreeSet<&FolderPath> =
                    below.iter().filter(reaches_this).copied().collect();
                let entry = reader.entry_to(|next| circle.contains(next));
                found.push((folder.clone(), entry, "leads back to this kustomization"));
                in_circles.extend(circle);
            } else if let Some(above) = below.iter().find(|below| is_in(folder, below)) {
                let entry = reader.entry_to(|next| self.reached_from(next).contains(above));
                let what = "leads to a folder that holds this kustomization";
                found.push((folder.clone(), entry, what));
            }
        }
        for (folder, line, what) in found {
            if let Some(reader) = self.nodes.get_mut(&folder) {
                let line = line.unwrap_or(1);
                let at = location(&reader.path, line, Some("resources".to_owned()));
                reader.issues.push(Issue::of_author(
                    Feature::RenderFailed,
                    at,
                    format!("an entry of resources {what}, and kustomize builds no circle"),
                    "take the entry out",
                ));
            }
        }
    }
}

/// Adds to an issue outside of a folder how its place is spelled from there.
pub(crate) fn spelled(mut issue: Issue, from: &FolderPath) -> Issue {
    if !from.contains(&issue.at.path) {
        let spelled = spell(from, &issue.at.path);
        issue.message = format!("{} (read as {spelled})", issue.message);
    }
    issue
}

/// Says whether a folder is another one or lies in it.
pub(crate) fn is_in(folder: &FolderPath, above: &FolderPath) -> bool {
    folder == above
        || folder
            .as_repo_path()
            .is_some_and(|path| above.contains(path))
}

impl Reader {
    /// Returns the files that it names outside of its own folder. Kustomize builds them only where it is told not to
    /// mind, as Flux does and Argo CD does not by itself.
    pub fn unrestricted(&self) -> Vec<&RepoPath> {
        let folder = self.path.parent();
        self.files().filter(|path| !folder.contains(path)).collect()
    }

    /// Returns the files that it names.
    pub fn files(&self) -> impl Iterator<Item = &RepoPath> {
        let resources = self.resources.iter();
        let resources = resources.filter_map(|resource| match &resource.value {
            Resource::File(path) => Some(path),
            Resource::Folder(_) => None,
        });
        let patches = self.patches.iter().map(|patch| &patch.path);
        let generators = self.generators.iter();
        let inputs = generators.flat_map(|it| it.envs.iter().chain(&it.files));
        resources.chain(patches).chain(inputs)
    }

    fn folders(&self) -> impl Iterator<Item = &FolderPath> {
        self.resources
            .iter()
            .filter_map(|resource| match &resource.value {
                Resource::Folder(folder) => Some(folder),
                Resource::File(_) => None,
            })
    }

    /// Returns the line of the first entry that leads to a folder of a kind.
    fn entry_to(&self, is_this: impl Fn(&FolderPath) -> bool) -> Option<u32> {
        let mut resources = self.resources.iter();
        let entry = resources.find(|resource| match &resource.value {
            Resource::Folder(folder) => is_this(folder),
            Resource::File(_) => false,
        });
        entry.map(|entry| entry.line)
    }
}
