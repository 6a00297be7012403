//! Objects that builds make: what the inputs of the builds have to say, checked by building again.
//!
//! An object that a build makes is compared with what the build makes of it, and a difference goes to the inputs that
//! supply it (`kustomize::change`). What is found is tried on the files of the commit before it counts: no other
//! build may change with it (RV-1, RV-3).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::{DesiredObject, FolderPath, Location, ReadError, Refusal, RepoPath, ResourceId};
use serde_json::Value;

use super::outcome::Decision;
use super::planner::Planner;
use super::refuse;
use super::wanted::{scaled, wanted, without_namespace};
use crate::fidelity::divergences;
use crate::folder::Made;
use crate::kustomize::change::{ObjectKey, Wish, change_render};
use crate::kustomize::overlay::Overlay;
use crate::kustomize::supplier::supplier;
use crate::kustomize::{BuildError, Render, Rendered};
use crate::yaml::{self, FieldPath};

/// Files that hold other bytes, or are gone.
pub(super) type Changes = BTreeMap<RepoPath, Option<Vec<u8>>>;

/// What builds shall make of objects, by the folder of the kustomization.
pub(super) type BuildWishes = BTreeMap<FolderPath, BTreeMap<ResourceId, Wish>>;

/// Changes of inputs that do what they shall.
pub(super) struct Tried {
    changed: Changes,
    landed: BTreeMap<ResourceId, RepoPath>,
    refused: BTreeMap<ResourceId, Refusal>,
    renders: BTreeMap<FolderPath, Arc<Render>>,
}

impl Planner<'_, '_> {
    /// Compares an object with what builds make of it, and notes what they shall make.
    pub(super) fn match_made(
        &mut self,
        id: &ResourceId,
        object: &DesiredObject,
    ) -> Result<Decision, ReadError> {
        let folder = self.folder;
        let mut wishes = Vec::new();
        for made in folder.made(id) {
            let Some((render, rendered)) = folder.object(made) else {
                continue;
            };
            let held = rendered.node.to_value();
            let value = self.wanted_of(rendered, &held, object);
            let path = self.path_of(id, made);
            self.scaled.extend(scaled(&path, &held, object));
            if yaml::same(&held, &value) {
                continue;
            }
            if let Some(divergence) = divergences(&held, &value).first() {
                let at = self.supply(render, rendered, &divergence.field, &path)?;
                let refusal = refuse::token_at(id, at, divergence);
                return Ok(Decision::refused(refusal));
            }
            let version = held.get("apiVersion").and_then(Value::as_str);
            if version != Some(&*object.served().api_version()) {
                let field = FieldPath::of_keys(&["apiVersion"]);
                let at = self.supply(render, rendered, &field, &path)?;
                let written = version.unwrap_or_default();
                let refusal = refuse::other_version_at(id, at, written, object);
                return Ok(Decision::refused(refusal));
            }
            let wish = Wish {
                object: key(id, rendered),
                wanted: value,
                names_namespace: self.policy.serialize_namespace,
            };
            wishes.push((made.root.clone(), wish));
        }
        let Some(first) = folder.made(id).first().filter(|_| !wishes.is_empty()) else {
            return Ok(Decision::NoChange);
        };
        let path = self.path_of(id, first);
        for (root, wish) in wishes {
            let wishes = self.build_wishes.entry(root).or_default();
            wishes.insert(id.clone(), wish);
        }
        Ok(Decision::Edited { path })
    }

    /// Returns what a build shall make of an object, in the form that the build writes it in.
    pub(super) fn wanted_of(
        &self,
        rendered: &Rendered,
        held: &Value,
        object: &DesiredObject,
    ) -> Value {
        let value = wanted(held, object, &self.policy.defaults);
        match rendered.namespace() {
            Some(_) => value,
            None => without_namespace(value),
        }
    }

    /// Returns the file that stands for an object of a build: its document's, or the kustomization's.
    pub(super) fn path_of(&self, id: &ResourceId, made: &Made) -> RepoPath {
        let document = self.folder.find(id).map(|document| document.path.clone());
        document.unwrap_or_else(|| self.kustomization_of(&made.root))
    }

    /// Returns the file that an object is built from: a document, or the kustomization that generates it.
    pub(super) fn source_of(&self, made: &Made) -> RepoPath {
        let found = self.folder.object(made);
        let source = found.and_then(|(render, object)| render.source(object));
        source.map_or_else(|| self.kustomization_of(&made.root), Clone::clone)
    }

    /// Returns the kustomization of a folder.
    pub(super) fn kustomization_of(&self, root: &FolderPath) -> RepoPath {
        self.folder.kustomization_of(root)
    }

    /// Returns the line that supplies a field of an object.
    fn supply(
        &self,
        render: &Render,
        rendered: &Rendered,
        field: &FieldPath,
        fallback: &RepoPath,
    ) -> Result<Location, ReadError> {
        let supply = supplier(self.tree, render, rendered, field)?;
        let (path, line) = match supply {
            Some(supply) => (supply.path, Some(supply.line)),
            None => (fallback.clone(), None),
        };
        Ok(Location {
            path,
            line,
            field: Some(field.to_string()),
        })
    }

    /// Finds what the inputs of builds have to say. What cannot be said is decided anew as refused; objects that can
    /// only land together do, and the others one by one (RV-8).
    pub(super) fn change_builds(&mut self) -> Result<(), ReadError> {
        let ids: BTreeSet<ResourceId> = self
            .build_wishes
            .values()
            .flat_map(BTreeMap::keys)
            .cloned()
            .collect();
        if ids.is_empty() {
            return Ok(());
        }
        if let Ok(tried) = self.try_changes(&ids)? {
            self.take_changes(tried)?;
            return Ok(());
        }
        for id in ids {
            match self.try_changes(&BTreeSet::from([id.clone()]))? {
                Ok(tried) => self.take_changes(tried)?,
                Err(refusal) => self.refuse(&id, *refusal),
            }
        }
        Ok(())
    }

    pub(super) fn take_changes(&mut self, tried: Tried) -> Result<(), ReadError> {
        self.set_changed(tried.changed);
        self.renders.extend(tried.renders);
        for (id, path) in tried.landed {
            self.decisions.insert(id, Decision::Edited { path });
        }
        for (id, refusal) in tried.refused {
            self.refuse(&id, refusal);
        }
        Ok(())
    }

    /// Takes other bytes of files as those to go on with.
    pub(super) fn set_changed(&mut self, changed: Changes) {
        for path in self.changed.keys() {
            if !changed.contains_key(path) {
                self.texts.restore(path);
            }
        }
        for (path, bytes) in &changed {
            if self.changed.get(path) != Some(bytes) {
                self.texts.replace(path, bytes.as_deref());
            }
        }
        self.changed = changed;
    }

    /// Decides that nothing is written for an object.
    pub(super) fn refuse(&mut self, id: &ResourceId, mut refusal: Refusal) {
        let name = id.to_string();
        if !refusal.message.contains(&name) {
            refusal.message = format!("{name}: {}", refusal.message);
        }
        refusal.object = Some(id.clone());
        self.decisions
            .insert(id.clone(), Decision::refused(refusal));
    }

    /// Tries the wishes for some objects. One that a build refuses is refused in all; whatever concerns others is
    /// answered as the reason why it cannot be tried so.
    pub(super) fn try_changes(
        &mut self,
        ids: &BTreeSet<ResourceId>,
    ) -> Result<Result<Tried, Box<Refusal>>, ReadError> {
        let mut tried = Tried {
            changed: self.changed.clone(),
            landed: BTreeMap::new(),
            refused: BTreeMap::new(),
            renders: BTreeMap::new(),
        };
        let all = std::mem::take(&mut self.build_wishes);
        let result = self.try_each(&all, ids, &mut tried);
        self.build_wishes = all;
        if let Err(refusal) = result? {
            return Ok(Err(refusal));
        }
        if let Some(id) = tried
            .landed
            .keys()
            .find(|id| tried.refused.contains_key(id))
        {
            return Ok(Err(Box::new(tried.refused[id].clone())));
        }
        if let (1, Some((_, refusal))) = (ids.len(), tried.refused.first_key_value()) {
            return Ok(Err(Box::new(refusal.clone())));
        }
        if tried.changed == self.changed {
            return Ok(Ok(tried));
        }
        if let Some(refusal) = self.hidden(ids, &tried.changed) {
            return Ok(Err(Box::new(refusal)));
        }
        if let Some(refusal) = self.fan_in(ids, &mut tried)? {
            return Ok(Err(Box::new(refusal)));
        }
        Ok(Ok(tried))
    }

    /// Changes one build after the other, each on what the ones before have changed.
    fn try_each(
        &mut self,
        wishes: &BuildWishes,
        ids: &BTreeSet<ResourceId>,
        tried: &mut Tried,
    ) -> Result<Result<(), Box<Refusal>>, ReadError> {
        for (root, wishes) in wishes {
            let wanted: BTreeMap<&ObjectKey, &ResourceId> = wishes
                .iter()
                .filter(|(id, _)| ids.contains(id))
                .map(|(id, wish)| (&wish.object, id))
                .collect();
            if wanted.is_empty() {
                continue;
            }
            let Some(render) = self.render_on(root, &tried.changed)? else {
                return Ok(Err(Box::new(refuse::not_built(
                    &self.kustomization_of(root),
                ))));
            };
            let wishes: Vec<Wish> = wishes
                .iter()
                .filter(|(id, _)| ids.contains(id))
                .map(|(_, wish)| wish.clone())
                .collect();
            let overlay = Overlay::new(self.tree, &tried.changed);
            let of = (root, &*render);
            let writable = &self.policy.folder;
            let changed = change_render(overlay.tree(), of, writable, &wishes, self.cache);
            let changed = match changed {
                Ok(changed) => changed,
                Err(BuildError::Refused(issues)) => {
                    let issue = issues.first().map(crate::kustomize::Issue::refusal);
                    let refusal =
                        issue.unwrap_or_else(|| refuse::not_built(&self.kustomization_of(root)));
                    return Ok(Err(Box::new(refusal)));
                }
                Err(BuildError::Unreadable(error)) => return Err(error),
            };
            for (object, files) in changed.landed {
                if let (Some(id), Some(path)) = (wanted.get(&object), files.first()) {
                    let path = path.clone();
                    tried.landed.entry((*id).clone()).or_insert(path);
                }
            }
            for (object, refusal) in changed.refused {
                if let Some(id) = wanted.get(&object) {
                    tried.refused.insert((*id).clone(), refusal);
                }
            }
            let files = changed.files.into_iter();
            tried
                .changed
                .extend(files.map(|(path, bytes)| (path, Some(bytes))));
        }
        Ok(Ok(()))
    }

    /// Refuses to write what the ignore rules hide.
    fn hidden(&self, ids: &BTreeSet<ResourceId>, changed: &Changes) -> Option<Refusal> {
        let new = changed
            .keys()
            .filter(|path| !self.changed.contains_key(*path));
        let id = ids.first()?;
        new.filter_map(|path| Some(refuse::shadowed(id, path, &self.folder.shadow(path)?)))
            .next()
    }

    /// Refuses changes that another build than those that were asked would show too (A4.3, OV-14).
    fn fan_in(
        &mut self,
        ids: &BTreeSet<ResourceId>,
        tried: &mut Tried,
    ) -> Result<Option<Refusal>, ReadError> {
        let folder = self.folder;
        let roots: Vec<FolderPath> = folder.builds().keys().cloned().collect();
        if roots.len() > 1 {
            for root in &roots {
                if let Some(refusal) = self.moves(root, ids, tried)? {
                    return Ok(Some(refusal));
                }
            }
        }
        let asked = |wishes: &BTreeMap<ResourceId, Wish>| wishes.keys().any(|id| ids.contains(id));
        let moved = self.build_wishes.iter().filter(|(_, wishes)| asked(wishes));
        let moved: Vec<FolderPath> = moved.map(|(root, _)| root.clone()).collect();
        self.readers_agree(&moved, &tried.changed)
    }

    /// Refuses changes that move what a build makes of an object otherwise than it was asked to.
    fn moves(
        &mut self,
        root: &FolderPath,
        ids: &BTreeSet<ResourceId>,
        tried: &mut Tried,
    ) -> Result<Option<Refusal>, ReadError> {
        let folder = self.folder;
        let Some(build) = folder.builds().get(root) else {
            return Ok(None);
        };
        let before = self.renders.get(root).unwrap_or(&build.render).clone();
        let overlay = Overlay::new(self.tree, &tried.changed);
        if before.reads.hold_for(overlay.tree().files) {
            return Ok(None);
        }
        let kustomization = self.kustomization_of(root);
        let Some(after) = self.render_on(root, &tried.changed)? else {
            return Ok(Some(refuse::fan_in(&kustomization)));
        };
        let pairs = before.objects.iter().zip(&after.objects);
        let same_objects = before.objects.len() == after.objects.len()
            && pairs.clone().all(|(one, other)| one.id.is_alike(&other.id));
        if !same_objects {
            return Ok(Some(refuse::fan_in(&kustomization)));
        }
        let wishes = self.build_wishes.get(root);
        for (one, other) in pairs {
            if one.node.says_as(&other.node) {
                continue;
            }
            let id = folder.identify(other).filter(|id| ids.contains(id));
            let wish = id.and_then(|id| wishes?.get(&id));
            if !wish.is_some_and(|wish| is_as_wanted(other, &wish.wanted)) {
                return Ok(Some(refuse::fan_in(&kustomization)));
            }
        }
        tried.renders.insert(root.clone(), after);
        Ok(None)
    }

    /// Builds a kustomization on changed files; nothing where that fails.
    pub(super) fn render_on(
        &mut self,
        root: &FolderPath,
        changed: &Changes,
    ) -> Result<Option<Arc<Render>>, ReadError> {
        Ok(self.build_on(root, changed)?.ok())
    }
}

/// Says whether a build makes of an object what is wanted, but for a namespace where it writes none (NS-5) or the
/// object can have none (NS-8).
pub(super) fn is_as_wanted(rendered: &Rendered, wanted: &Value) -> bool {
    let value = rendered.node.to_value();
    if yaml::same(&value, wanted) {
        return true;
    }
    let namespace = |value: &Value| value.pointer("/metadata/namespace").is_some();
    let tolerated = namespace(&value) != namespace(wanted);
    tolerated
        && yaml::same(
            &without_namespace(value),
            &without_namespace(wanted.clone()),
        )
}

/// Names an object of a build.
pub(super) fn key(id: &ResourceId, rendered: &Rendered) -> ObjectKey {
    let api_version = match &*rendered.id.group {
        "" => rendered.id.version.clone(),
        group => format!("{group}/{}", rendered.id.version),
    };
    ObjectKey {
        api_version,
        kind: rendered.id.kind.clone(),
        namespace: id.namespace.as_ref().map(ToString::to_string),
        name: rendered.id.name.clone(),
    }
}
