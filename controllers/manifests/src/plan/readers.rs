//! Builds elsewhere in the repository that read files of the folder.
//!
//! A kustomization outside of the folder may read what is written here. It is never edited (RG-4), so what it builds
//! must still build, and a change may show in one build only: who applies two of them means two things.

use std::collections::BTreeSet;
use std::sync::Arc;

use model::{FolderPath, ReadError, Refusal};

use super::built::Changes;
use super::planner::Planner;
use super::refuse;
use crate::kustomize::overlay::Overlay;
use crate::kustomize::{BuildError, Graph, Render, build_with, readers_of};

/// The kustomizations outside of the folder that read something in it.
pub(super) struct Readers {
    graph: Graph,
    roots: Vec<FolderPath>,
}

impl Planner<'_, '_> {
    /// Says whether something outside of the folder reads it.
    pub(super) fn has_readers(&mut self) -> Result<bool, ReadError> {
        let readers = match self.readers.take() {
            Some(readers) => readers,
            None => {
                let (graph, roots) = readers_of(self.tree, &self.policy.folder, self.cache)?;
                Readers { graph, roots }
            }
        };
        let has_some = !readers.roots.is_empty();
        self.readers = Some(readers);
        Ok(has_some)
    }

    /// Refuses changes that show in several builds, of which at least one is elsewhere, or that break one elsewhere.
    /// `moved` are the builds of the folder in which they show.
    pub(super) fn readers_agree(
        &mut self,
        moved: &[FolderPath],
        changed: &Changes,
    ) -> Result<Option<Refusal>, ReadError> {
        if !self.has_readers()? {
            return Ok(None);
        }
        let roots = self.readers.as_ref().map(|readers| readers.roots.clone());
        let already = self.changed.clone();
        let mut elsewhere = Vec::new();
        for root in roots.into_iter().flatten() {
            // What is broken already is not for us to judge.
            let Ok(before) = self.build_on(&root, &already)? else {
                continue;
            };
            match self.build_on(&root, changed)? {
                Ok(after) if makes_the_same(&before, &after) => {}
                Ok(_) => elsewhere.push(root),
                Err(problem) => {
                    let kustomization = crate::kustomize::file_in(&root);
                    return Ok(Some(refuse::broken(&kustomization, &problem)));
                }
            }
        }
        let Some(last) = elsewhere.last() else {
            return Ok(None);
        };
        let graph = self.readers.as_ref().map(|readers| &readers.graph);
        let covered: BTreeSet<&FolderPath> = elsewhere
            .iter()
            .flat_map(|root| graph.into_iter().flat_map(|graph| graph.reached_from(root)))
            .collect();
        let own = moved.iter().filter(|root| !covered.contains(root)).count();
        let is_fan_in = elsewhere.len() + own > 1;
        Ok(is_fan_in.then(|| refuse::fan_in(&crate::kustomize::file_in(last))))
    }

    /// Builds a kustomization on changed files, or says why that fails.
    pub(super) fn build_on(
        &mut self,
        root: &FolderPath,
        changed: &Changes,
    ) -> Result<Result<Arc<Render>, String>, ReadError> {
        if let Some(render) = self.known(root, changed) {
            return Ok(Ok(render));
        }
        let overlay = Overlay::new(self.tree, changed);
        let render = match build_with(overlay.tree(), root, self.cache) {
            Ok(render) => Arc::new(render),
            Err(BuildError::Refused(issues)) => {
                let issue = issues.first().map(ToString::to_string);
                return Ok(Err(issue.unwrap_or_default()));
            }
            Err(BuildError::Unreadable(error)) => return Err(error),
        };
        if *changed == self.changed {
            self.renders.insert(root.clone(), Arc::clone(&render));
        }
        Ok(Ok(render))
    }

    /// Returns the build of a folder as it was, where it reads nothing that has changed since.
    pub(super) fn known(&self, root: &FolderPath, changed: &Changes) -> Option<Arc<Render>> {
        let known = self.renders.get(root).or_else(|| {
            let build = self.folder.builds().get(root);
            build.map(|build| &build.render)
        })?;
        let overlay = Overlay::new(self.tree, changed);
        let holds = known.reads.hold_for(overlay.tree().files);
        holds.then(|| Arc::clone(known))
    }
}

fn makes_the_same(one: &Render, other: &Render) -> bool {
    let pairs = one.objects.iter().zip(&other.objects);
    one.objects.len() == other.objects.len()
        && pairs
            .into_iter()
            .all(|(one, other)| one.id == other.id && one.node.says_as(&other.node))
}
