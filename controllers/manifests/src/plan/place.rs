//! New documents: where each goes, and which of them may have a place.

use std::sync::Arc;

use model::{DesiredObject, FileEntry, FolderPath, Namespace, ReadError, RepoPath, ResourceId};

use super::edits::Addition;
use super::outcome::Decision;
use super::planner::Planner;
use super::refuse;
use crate::folder::is_kustomization;
use crate::kustomize::register::governing;
use crate::placement::{RenderRoot, Site, Standing, Subject, admit_all};

impl Planner<'_, '_> {
    /// Chooses the place of a new document. Whether it may have it is decided when all places are known.
    pub(super) fn place(
        &mut self,
        id: &ResourceId,
        object: &Arc<DesiredObject>,
    ) -> Option<Decision> {
        let roots: Vec<&FolderPath> = self.folder.builds().keys().collect();
        if roots.len() > 1 {
            return Some(Decision::refused(refuse::ambiguous(id, &roots)));
        }
        let root = match roots.first() {
            Some(root) => Some(*root),
            None => self.makes_root().then_some(&self.policy.folder),
        };
        let is_taken = |path: &RepoPath| {
            self.tree.files.get(path).is_some()
                || self.tree.files.is_folder(path)
                || self.newcomers.contains_key(path)
        };
        let site = Site {
            folder: &self.policy.folder,
            root: root.map(|folder| RenderRoot {
                folder,
                taken: &is_taken,
            }),
        };
        let value = object.value();
        let placed = match self
            .policy
            .placement
            .place(Subject::of(object, &value), site)
        {
            Ok(placed) => placed,
            Err(why) => return Some(Decision::refused(why.refusal(id))),
        };
        if let (Some(root), Some(true)) = (roots.first(), self.policy.placement.use_kustomize())
            && governing(self.folder.graph(), &placed.path, &self.policy.folder).is_none()
        {
            let refusal = refuse::unrendered(id, &placed.path, root);
            return Some(Decision::refused(refusal));
        }
        if let Some(shadow) = self.folder.shadow(&placed.path) {
            let refusal = refuse::shadowed(id, &placed.path, &shadow);
            return Some(Decision::refused(refusal));
        }
        self.newcomers
            .entry(placed.path.clone())
            .or_default()
            .insert(id.clone(), object.is_sensitive());
        self.placed.insert(id.clone(), (Arc::clone(object), placed));
        None
    }

    /// Gives each path to the new documents that may have it (PL-15, PL-16).
    pub(super) fn admit(&mut self) -> Result<(), ReadError> {
        let newcomers = std::mem::take(&mut self.newcomers);
        for (path, admission) in admit_all(&newcomers, |path| self.standing(path)) {
            for (id, why) in admission.refused {
                let refusal = Decision::refused(why.refusal(&id));
                self.decisions.insert(id, refusal);
            }
            for id in admission.admitted {
                let Some((object, placed)) = self.placed.remove(&id) else {
                    continue;
                };
                let is_bare = self.leaves_namespace_out(&path, &id);
                let addition = Addition { object, is_bare };
                if addition.object.is_sensitive() {
                    if let Some(refusal) = self.create_sealed(&path, &addition)? {
                        self.decisions.insert(id, Decision::refused(refusal));
                        continue;
                    }
                } else {
                    // Who is admitted comes in order.
                    self.work(&path).additions.push(addition);
                }
                let decision = Decision::Created {
                    path: path.clone(),
                    source: placed.source,
                };
                self.decisions.insert(id, decision);
            }
        }
        Ok(())
    }

    /// Says whether a new document names no namespace: where the target wants that, or the kustomization above it
    /// gives it the object's own (NS-1).
    fn leaves_namespace_out(&self, path: &RepoPath, id: &ResourceId) -> bool {
        if let Some(written) = self.policy.serialize_namespace {
            return !written;
        }
        let reader = governing(self.folder.graph(), path, &self.policy.folder);
        let given = reader.and_then(|reader| reader.kustomization.namespace.as_ref());
        let own = id.namespace.as_ref().map(Namespace::as_str);
        given.is_some_and(|given| Some(given.value.as_str()) == own)
    }

    /// Says what stands at the path of a new document.
    fn standing(&self, path: &RepoPath) -> Standing {
        if is_kustomization(path.file_name()) {
            return Standing::Blocked("it is the name of a kustomization");
        }
        let mut parent = path.parent();
        while let Some(above) = parent.as_repo_path().cloned() {
            if self.tree.files.get(&above).is_some() {
                return Standing::Blocked("a part of it is a file");
            }
            parent = above.parent();
        }
        if self.tree.files.is_folder(path) {
            return Standing::Blocked("it is a folder");
        }
        match self.tree.files.get(path) {
            None => Standing::Nothing,
            Some(FileEntry::Symlink | FileEntry::Submodule) => {
                Standing::Blocked("something that is no plain file stands there")
            }
            Some(FileEntry::Regular { .. }) => match self.folder.documents_of(path) {
                None => Standing::Plain { appendable: false },
                Some(documents) if documents.iter().any(|document| document.encrypted) => {
                    Standing::Encrypted
                }
                Some(_) => Standing::Plain { appendable: true },
            },
        }
    }
}
