//! What the kustomizations of a folder make of its files, kept as long as what they read stays the same.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use model::{FileTree, FolderPath, ReadError, Refusal, RepoPath, ResourceId};

use super::document::{Join, Joining};
use super::role::Part;
use crate::kustomize::{self, BuildError, Cache, Graph, Render, Rendered, Resource};

/// The builds of a folder: one for each kustomization in it that no other one in it reads.
#[derive(Debug, Clone, Default)]
pub(crate) struct Builds {
    cache: Cache,
    graph: Graph,
    builds: BTreeMap<FolderPath, Build>,
    issues: Vec<Refusal>,
    parts: BTreeMap<RepoPath, Part>,
    made: HashMap<ResourceId, Vec<Made>>,
}

/// What one kustomization builds to.
#[derive(Debug, Clone)]
pub(crate) struct Build {
    /// The result.
    pub(crate) render: Arc<Render>,
    /// Which object each of its objects is, in their order.
    joins: Vec<Join>,
}

/// An object that a build makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Made {
    /// The kustomization that is built.
    pub(crate) root: FolderPath,
    /// The position of the object in the result.
    pub(crate) at: usize,
}

impl Builds {
    /// Says whether nothing is built.
    pub(crate) fn is_empty(&self) -> bool {
        self.graph.folders().next().is_none()
    }

    /// Brings the builds to what a tree holds; `starts` are the folders with a kustomization. Only what reads
    /// something else than before is built again. Answers whether anything was.
    pub(crate) fn update(
        &mut self,
        tree: FileTree<'_>,
        folder: &FolderPath,
        starts: &BTreeSet<FolderPath>,
        joining: &Joining,
    ) -> Result<bool, ReadError> {
        if starts.is_empty() {
            let changed = !self.is_empty();
            *self = Self::default();
            return Ok(changed);
        }
        let starts = starts.iter().cloned();
        self.graph = kustomize::graph_of(tree, starts, &mut self.cache)?;
        let issues = self.graph.issues(folder);
        let mut issues: Vec<Refusal> = issues.iter().map(kustomize::Issue::refusal).collect();
        let roots: Vec<FolderPath> = self.graph.roots(folder).into_iter().cloned().collect();
        let mut before = std::mem::take(&mut self.builds);
        let mut changed = before.keys().ne(&roots);
        for root in roots {
            let kept = before.remove(&root);
            if let Some(build) = kept.filter(|build| build.render.reads.hold_for(tree.files)) {
                self.builds.insert(root, build);
                continue;
            }
            changed = true;
            match kustomize::build_with(tree, &root, &mut self.cache) {
                Ok(render) => {
                    let build = Build {
                        joins: joins(&render, joining),
                        render: Arc::new(render),
                    };
                    self.builds.insert(root, build);
                }
                Err(BuildError::Refused(found)) => {
                    issues.extend(found.iter().map(kustomize::Issue::refusal));
                }
                Err(BuildError::Unreadable(error)) => return Err(error),
            }
        }
        let parts = parts(&self.graph);
        changed |= parts != self.parts || issues != self.issues;
        self.parts = parts;
        self.issues = issues;
        if changed {
            self.index();
            self.cache.retain(|path| tree.files.get(path).is_some());
        }
        Ok(changed)
    }

    /// Joins every object anew.
    pub(crate) fn join_all(&mut self, joining: &Joining) {
        for build in self.builds.values_mut() {
            build.joins = joins(&build.render, joining);
        }
        self.index();
    }

    fn index(&mut self) {
        self.made.clear();
        for (root, build) in &self.builds {
            for (at, join) in build.joins.iter().enumerate() {
                if let Join::Object(id) = join {
                    let root = root.clone();
                    self.made
                        .entry(id.clone())
                        .or_default()
                        .push(Made { root, at });
                }
            }
        }
    }

    /// Returns what a file is to the builds.
    pub(crate) fn part(&self, path: &RepoPath) -> Part {
        self.parts.get(path).copied().unwrap_or_default()
    }

    /// Returns the files that builds read.
    pub(crate) fn parts(&self) -> &BTreeMap<RepoPath, Part> {
        &self.parts
    }

    /// Returns what forbids to build.
    pub(crate) fn issues(&self) -> &[Refusal] {
        &self.issues
    }

    /// Says whether one of the issues is about a file.
    pub(crate) fn blames(&self, path: &RepoPath) -> bool {
        let mut places = self.issues.iter().filter_map(|issue| issue.at.as_ref());
        places.any(|at| at.path == *path)
    }

    /// Returns who reads what.
    pub(crate) fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Returns the builds by the folder of their kustomization.
    pub(crate) fn all(&self) -> &BTreeMap<FolderPath, Build> {
        &self.builds
    }

    /// Returns where an object is made, each build at most once.
    pub(crate) fn made(&self, id: &ResourceId) -> &[Made] {
        self.made.get(id).map_or(&[], Vec::as_slice)
    }

    /// Returns every object that is made, in no particular order.
    pub(crate) fn objects(&self) -> impl Iterator<Item = (&ResourceId, &[Made])> {
        self.made.iter().map(|(id, made)| (id, made.as_slice()))
    }

    /// Returns which object each document of the builds is. One that builds make several objects of is the first.
    pub(crate) fn joins(&self) -> HashMap<(&RepoPath, usize), &Join> {
        let mut joins = HashMap::new();
        for build in self.builds.values() {
            for (object, join) in build.render.objects.iter().zip(&build.joins) {
                if let Some(place) = build.render.document(object) {
                    joins.entry(place).or_insert(join);
                }
            }
        }
        joins
    }

    /// Lends out what was read of files, for the next builds.
    pub(crate) fn take_cache(&mut self) -> Cache {
        std::mem::take(&mut self.cache)
    }

    /// Takes back what was lent out.
    pub(crate) fn give_cache(&mut self, cache: Cache) {
        self.cache = cache;
    }
}

fn joins(render: &Render, joining: &Joining) -> Vec<Join> {
    let objects = render.objects.iter();
    objects.map(|object| join(object, joining)).collect()
}

/// Returns which object something that a build makes is.
pub(super) fn join(object: &Rendered, joining: &Joining) -> Join {
    let namespace = object.namespace().map(Arc::from);
    let (group, kind) = (&object.id.group, &object.id.kind);
    let name = object.id.name.as_str().into();
    joining.find(group, kind, namespace, &name).0
}

/// Returns what each file is that a kustomization names. What one lists as a resource holds documents, whatever else
/// reads it (SC-12).
fn parts(graph: &Graph) -> BTreeMap<RepoPath, Part> {
    let mut parts = BTreeMap::new();
    let readers: Vec<_> = graph
        .folders()
        .filter_map(|folder| graph.get(folder))
        .collect();
    for reader in &readers {
        let patches = reader.patches.iter().map(|patch| &patch.path);
        let inputs = reader.generators.iter();
        let inputs = inputs.flat_map(|generator| generator.envs.iter().chain(&generator.files));
        for path in patches.chain(&reader.unread).chain(inputs) {
            parts.insert(path.clone(), Part::Input);
        }
    }
    for entry in readers.iter().flat_map(|reader| &reader.resources) {
        if let Resource::File(path) = &entry.value {
            parts.insert(path.clone(), Part::Built);
        }
    }
    parts
}
