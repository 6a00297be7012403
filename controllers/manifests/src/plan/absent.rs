//! Objects that builds make of no document of the folder: they go by the entry of their generator or by a patch, and
//! come back when the patch goes (A11, A13).

use std::collections::BTreeSet;
use std::sync::Arc;

use model::{DesiredObject, FolderPath, ReadError, Refusal, ResourceId};

use super::built::{Changes, key};
use super::outcome::{Decision, FileContent};
use super::planner::Planner;
use super::refuse;
use super::structure::Written;
use crate::folder::AcceptedFolder;
use crate::kustomize::change::{ObjectKey, Wish};
use crate::kustomize::overlay::Overlay;
use crate::kustomize::remove::{
    Going, Removed, generated, inherited, orphans, restore, without_orphans,
};
use crate::kustomize::{Render, Rendered};
use crate::yaml;

impl Planner<'_, '_> {
    /// Brings back what patches of ours keep out of builds, and gives a place to every other new object.
    pub(super) fn restore_absent(&mut self) -> Result<(), ReadError> {
        for (id, object) in std::mem::take(&mut self.absent) {
            let decision = match self.restore(&id, &object)? {
                Some(decision) => Some(decision),
                None => self.place(&id, &object),
            };
            if let Some(decision) = decision {
                self.decisions.insert(id, decision);
            }
        }
        Ok(())
    }

    /// Takes out the patches that keep an object out of builds; nothing where there is none (DP-3).
    fn restore(
        &mut self,
        id: &ResourceId,
        object: &Arc<DesiredObject>,
    ) -> Result<Option<Decision>, ReadError> {
        let folder = self.folder;
        let wanted = ObjectKey {
            api_version: object.served().api_version(),
            kind: object.served().kind.clone(),
            namespace: id.namespace.as_ref().map(ToString::to_string),
            name: id.name.to_string(),
        };
        let before = self.changed.clone();
        let mut restored = None;
        for root in folder.builds().keys() {
            let mut changed = self.changed.clone();
            let overlay = Overlay::new(self.tree, &changed);
            let found = restore(overlay.tree(), folder.graph(), root, &wanted, self.cache)?;
            let refusal = match found {
                None => continue,
                Some(Err(refusal)) => Some(refusal),
                Some(Ok(files)) => {
                    let patch = files.iter().find(|(_, bytes)| bytes.is_none());
                    let path = patch.map(|(path, _)| path.clone());
                    restored = Some(path.unwrap_or_else(|| self.kustomization_of(root)));
                    changed.extend(files);
                    self.bring_back(id, object, root, changed)?
                }
            };
            if let Some(refusal) = refusal {
                self.set_changed(before);
                self.renders.clear();
                let refusal = refuse::of_object(id, *refusal);
                return Ok(Some(Decision::refused(refusal)));
            }
        }
        Ok(restored.map(|path| Decision::Edited { path }))
    }

    /// Goes on with files that make an object again, and changes what they make of it where it is another one now.
    fn bring_back(
        &mut self,
        id: &ResourceId,
        object: &Arc<DesiredObject>,
        root: &FolderPath,
        changed: Changes,
    ) -> Result<Option<Box<Refusal>>, ReadError> {
        let folder = self.folder;
        let kustomization = self.kustomization_of(root);
        let already = self.changed.clone();
        let (Ok(before), Ok(after)) = (
            self.build_on(root, &already)?,
            self.build_on(root, &changed)?,
        ) else {
            return Ok(Some(Box::new(refuse::not_built(&kustomization))));
        };
        let Some(rendered) = find(folder, &after, id) else {
            return Ok(Some(Box::new(refuse::not_built(&kustomization))));
        };
        if !differ_in_one(&before, &after, rendered) {
            let problem = "more than the object would come back".to_owned();
            return Ok(Some(Box::new(refuse::not_verified(
                &kustomization,
                problem,
            ))));
        }
        if let Some(refusal) = self.readers_agree(std::slice::from_ref(root), &changed)? {
            return Ok(Some(Box::new(refusal)));
        }
        self.set_changed(changed);
        let held = rendered.node.to_value();
        let value = self.wanted_of(rendered, &held, object);
        self.renders.insert(root.clone(), Arc::clone(&after));
        if yaml::same(&held, &value) {
            return Ok(None);
        }
        let wish = Wish {
            object: key(id, rendered),
            wanted: value,
            names_namespace: None,
        };
        let wishes = self.build_wishes.entry(root.clone()).or_default();
        wishes.insert(id.clone(), wish);
        let tried = self.try_changes(&BTreeSet::from([id.clone()]))?;
        if let Some(wishes) = self.build_wishes.get_mut(root) {
            wishes.remove(id);
        }
        match tried {
            Ok(tried) => {
                self.take_changes(tried)?;
                Ok(None)
            }
            Err(refusal) => Ok(Some(refusal)),
        }
    }

    /// Takes objects out of builds that are made of no document of the folder.
    pub(super) fn take_out(
        &mut self,
        ids: &BTreeSet<&ResourceId>,
        written: &mut Written,
    ) -> Result<Result<(), Box<Refusal>>, ReadError> {
        if ids.is_empty() {
            return Ok(Ok(()));
        }
        let folder = self.folder;
        let writable = &self.policy.folder;
        let already = self.changed.clone();
        for root in folder.builds().keys() {
            let Some(render) = self.render_on(root, &already)? else {
                return Ok(Err(Box::new(refuse::not_built(
                    &self.kustomization_of(root),
                ))));
            };
            let mut by_entry: Vec<(&ResourceId, &Rendered)> = Vec::new();
            let mut by_patch: Vec<(&ResourceId, &Rendered)> = Vec::new();
            for id in ids {
                let Some(object) = find(folder, &render, id) else {
                    continue;
                };
                let source = render.source(object);
                let is_own = source.is_some_and(|path| writable.contains(path));
                match (object.origin.generated, is_own) {
                    (true, true) => by_entry.push((id, object)),
                    (_, false) => by_patch.push((id, object)),
                    // Its file is hidden, or holds no YAML.
                    (false, true) => {
                        let path = source.map_or_else(|| self.kustomization_of(root), Clone::clone);
                        let refusal = refuse::not_read(&path);
                        written.refused.insert((*id).clone(), refusal);
                    }
                }
            }
            if !by_entry.is_empty() {
                let objects: Vec<&Rendered> = by_entry.iter().map(|(_, object)| *object).collect();
                let changed = self.with(&written.contents);
                let overlay = Overlay::new(self.tree, &changed);
                let tree = overlay.tree();
                let removed = generated(tree, folder.graph(), writable, &render, &objects)?;
                take(removed, &by_entry, written);
            }
            if !by_patch.is_empty() {
                let objects: Vec<&Rendered> = by_patch.iter().map(|(_, object)| *object).collect();
                let changed = self.with(&written.contents);
                let overlay = Overlay::new(self.tree, &changed);
                let of = (root, &*render);
                let removed = inherited(overlay.tree(), folder.graph(), of, &objects)?;
                take(removed, &by_patch, written);
            }
        }
        Ok(Ok(()))
    }

    /// Takes out the entries of builds that would be for nothing once objects are gone (D55).
    pub(super) fn without_orphans(
        &mut self,
        gone: &BTreeSet<&ResourceId>,
        written: &mut Written,
    ) -> Result<Result<(), Box<Refusal>>, ReadError> {
        if gone.is_empty() {
            return Ok(Ok(()));
        }
        let folder = self.folder;
        let already = self.changed.clone();
        for root in folder.builds().keys() {
            let Some(render) = self.render_on(root, &already)? else {
                continue;
            };
            let writable = &self.policy.folder;
            let going: Vec<Going<'_>> = gone
                .iter()
                .filter_map(|id| find(folder, &render, id))
                .map(|object| {
                    let is_own = render
                        .source(object)
                        .is_some_and(|it| writable.contains(it));
                    match is_own {
                        true => Going::Source(object),
                        false => Going::Patched(object),
                    }
                })
                .collect();
            let orphans = orphans(&render, folder.graph(), root, &going);
            if orphans.is_empty() {
                continue;
            }
            let changed = self.with(&written.contents);
            let overlay = Overlay::new(self.tree, &changed);
            match without_orphans(overlay.tree(), writable, &orphans)? {
                Ok(files) => written.contents.extend(as_contents(files)),
                Err(refusal) => return Ok(Err(refusal)),
            }
        }
        Ok(Ok(()))
    }
}

/// Notes what goes and what stays.
fn take(removed: Removed, objects: &[(&ResourceId, &Rendered)], written: &mut Written) {
    written.contents.extend(as_contents(removed.files));
    for (at, refusal) in removed.refused {
        written.refused.insert(objects[at].0.clone(), refusal);
    }
}

fn as_contents(files: Changes) -> impl Iterator<Item = (model::RepoPath, FileContent)> {
    files.into_iter().map(|(path, bytes)| {
        let content = bytes.map_or(FileContent::Removed, FileContent::Plain);
        (path, content)
    })
}

/// Finds an object in a build.
fn find<'r>(
    folder: AcceptedFolder<'_>,
    render: &'r Render,
    id: &ResourceId,
) -> Option<&'r Rendered> {
    let mut objects = render.objects.iter();
    objects.find(|object| {
        object.id.name == id.name.as_str() && folder.identify(object).as_ref() == Some(id)
    })
}

/// Says whether a build differs from another one in that it makes one more object, and in nothing else.
fn differ_in_one(before: &Render, after: &Render, more: &Rendered) -> bool {
    let others = after.objects.iter().filter(|object| object.id != more.id);
    let others: Vec<&Rendered> = others.collect();
    let pairs = before.objects.iter().zip(&others);
    before.objects.len() == others.len()
        && pairs
            .into_iter()
            .all(|(one, other)| one.id == other.id && one.node.says_as(&other.node))
}
