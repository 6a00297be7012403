//! What was read of files, kept from one build to the next.

use std::collections::HashMap;
use std::sync::Arc;

use model::{ContentId, RepoPath};

use super::lines::offset;
use super::manifest::Manifests;
use super::node::FileId;
use super::parse::Kustomization;
use super::read::Purpose;

/// Files as they were read, by path and content, for builds of one repository that follow each other. A file that
/// stays the same is parsed once, whatever reads it. It holds values, and no text.
#[derive(Debug, Clone, Default)]
pub struct Cache {
    paths: Vec<RepoPath>,
    ids: HashMap<RepoPath, FileId>,
    kept: HashMap<FileId, Kept>,
}

/// What is kept of a file, as long as it holds the same.
#[derive(Debug, Clone)]
struct Kept {
    content: ContentId,
    objects: Option<Arc<Manifests>>,
    patches: Option<Arc<Manifests>>,
    kustomization: Option<Arc<Kustomization>>,
}

impl Cache {
    /// Gives up what was read of files that are not wanted any more.
    pub fn retain(&mut self, mut is_wanted: impl FnMut(&RepoPath) -> bool) {
        let paths = &self.paths;
        self.kept
            .retain(|file, _| paths.get(index(*file)).is_some_and(&mut is_wanted));
    }

    /// Returns the number of a file, which it keeps.
    pub(crate) fn id(&mut self, path: &RepoPath) -> FileId {
        if let Some(id) = self.ids.get(path) {
            return *id;
        }
        let id = FileId(offset(self.paths.len()));
        self.paths.push(path.clone());
        self.ids.insert(path.clone(), id);
        id
    }

    pub(crate) fn path(&self, id: FileId) -> Option<&RepoPath> {
        self.paths.get(index(id))
    }

    pub(crate) fn paths(&self) -> &[RepoPath] {
        &self.paths
    }

    pub(crate) fn manifests(
        &self,
        file: FileId,
        content: ContentId,
        purpose: Purpose,
    ) -> Option<Arc<Manifests>> {
        let kept = self.of(file, content)?;
        match purpose {
            Purpose::Objects => kept.objects.clone(),
            Purpose::Patches => kept.patches.clone(),
        }
    }

    pub(crate) fn keep_manifests(
        &mut self,
        file: FileId,
        content: ContentId,
        purpose: Purpose,
        manifests: Arc<Manifests>,
    ) {
        let kept = self.slot(file, content);
        match purpose {
            Purpose::Objects => kept.objects = Some(manifests),
            Purpose::Patches => kept.patches = Some(manifests),
        }
    }

    pub(crate) fn kustomization(
        &self,
        file: FileId,
        content: ContentId,
    ) -> Option<Arc<Kustomization>> {
        self.of(file, content)?.kustomization.clone()
    }

    pub(crate) fn keep_kustomization(
        &mut self,
        file: FileId,
        content: ContentId,
        kustomization: Arc<Kustomization>,
    ) {
        self.slot(file, content).kustomization = Some(kustomization);
    }

    fn of(&self, file: FileId, content: ContentId) -> Option<&Kept> {
        self.kept.get(&file).filter(|kept| kept.content == content)
    }

    fn slot(&mut self, file: FileId, content: ContentId) -> &mut Kept {
        let fresh = || Kept {
            content,
            objects: None,
            patches: None,
            kustomization: None,
        };
        let kept = self.kept.entry(file).or_insert_with(fresh);
        if kept.content != content {
            *kept = fresh();
        }
        kept
    }
}

/// Returns the position of a file among those that have a number.
pub(crate) fn index(id: FileId) -> usize {
    usize::try_from(id.0).unwrap_or(usize::MAX)
}
