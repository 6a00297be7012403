//! Documents that come and go, with the lists of kustomizations that they come into and go out of.
//!
//! A new file is listed by the kustomization above it and a file that goes is listed no more, in the same commit (RG-2,
//! DL-6). What the builds make then is compared with what they made before: the objects that go are gone, those that
//! come are as they are live, and nothing else moves (RV-2, RV-3, DL-9).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::{FolderPath, Location, ReadError, Refusal, RepoPath, ResourceId};
use sealing::SealedBytes;
use serde_json::Value;

use super::built::Changes;
use super::compare::{Expected, Problem, compare};
use super::edits::FileWork;
use super::outcome::{Decision, FileContent};
use super::planner::Planner;
use super::refuse;
use super::wishes::{Wish, Wishes};
use crate::kustomize::overlay::Overlay;
use crate::kustomize::register::{governing, listing, new_root, relist};
use crate::kustomize::supplier::{Supply, supplier};

/// The work on files, and the sealed ones.
pub(super) struct Work {
    pub(super) files: BTreeMap<RepoPath, FileWork>,
    pub(super) sealed: BTreeMap<RepoPath, (ResourceId, SealedBytes)>,
    /// Objects that go and are built from no document of the folder.
    pub(super) built: BTreeSet<ResourceId>,
}

/// Files as they become.
#[derive(Default)]
pub(super) struct Written {
    pub(super) contents: BTreeMap<RepoPath, FileContent>,
    pub(super) refused: BTreeMap<ResourceId, Refusal>,
}

impl Work {
    fn is_empty(&self) -> bool {
        self.files.is_empty() && self.sealed.is_empty() && self.built.is_empty()
    }

    fn ids(&self) -> BTreeSet<ResourceId> {
        let files = self.files.values().flat_map(FileWork::ids);
        let sealed = self.sealed.values().map(|(id, _)| id);
        files.chain(sealed).chain(&self.built).cloned().collect()
    }
}

impl Planner<'_, '_> {
    /// Does the work on files; what cannot be done is decided anew as refused. Objects that cannot all land land one
    /// by one (RV-8).
    pub(super) fn write_files(
        &mut self,
        work: Work,
        wishes: &Wishes,
    ) -> Result<BTreeMap<RepoPath, FileContent>, ReadError> {
        if work.is_empty() || !self.is_built()? {
            return self.write_plainly(work);
        }
        let all = work.ids();
        let mut written = match self.try_write(&work, &all, wishes)? {
            Ok(written) => written,
            Err(_) => {
                let mut accepted = BTreeSet::new();
                let mut written = Written::default();
                for id in all {
                    accepted.insert(id.clone());
                    match self.try_write(&work, &accepted, wishes)? {
                        Ok(more) => written = more,
                        Err(refusal) => {
                            accepted.remove(&id);
                            self.refuse(&id, *refusal);
                        }
                    }
                }
                written
            }
        };
        for (id, refusal) in std::mem::take(&mut written.refused) {
            self.refuse(&id, refusal);
        }
        Ok(written.contents)
    }

    /// Says whether anything builds the folder, or will.
    pub(super) fn is_built(&mut self) -> Result<bool, ReadError> {
        Ok(!self.folder.builds().is_empty() || self.makes_root() || self.has_readers()?)
    }

    /// Does the work where nothing builds the folder.
    fn write_plainly(&mut self, work: Work) -> Result<BTreeMap<RepoPath, FileContent>, ReadError> {
        let mut contents = BTreeMap::new();
        for (path, work) in work.files {
            let (content, refused) = self.edit_file(&path, work)?;
            for (id, refusal) in refused {
                self.refuse(&id, refusal);
            }
            contents.extend(content.map(|content| (path, content)));
        }
        for (path, (id, bytes)) in work.sealed {
            // The plain document that it replaces could not be taken out: then there is no second one.
            if !matches!(self.decisions.get(&id), Some(Decision::Refused(_))) {
                contents.insert(path, FileContent::Sealed(bytes));
            }
        }
        Ok(contents)
    }

    /// Tries the work for some objects.
    fn try_write(
        &mut self,
        work: &Work,
        ids: &BTreeSet<ResourceId>,
        wishes: &Wishes,
    ) -> Result<Result<Written, Box<Refusal>>, ReadError> {
        let mut written = Written::default();
        for (path, work) in &work.files {
            let work = work.only(ids);
            if work.is_empty() {
                continue;
            }
            let (content, refused) = self.edit_file(path, work)?;
            written.refused.extend(refused);
            written
                .contents
                .extend(content.map(|content| (path.clone(), content)));
        }
        for (path, (id, bytes)) in &work.sealed {
            // The plain document that it replaces could not be taken out: then there is no second one.
            if ids.contains(id) && !written.refused.contains_key(id) {
                let content = FileContent::Sealed(bytes.clone());
                written.contents.insert(path.clone(), content);
            }
        }
        let created = match self.relist(&mut written)? {
            Ok(created) => created,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let going: BTreeSet<&ResourceId> = ids.intersection(&work.built).collect();
        if let Err(refusal) = self.take_out(&going, &mut written)? {
            return Ok(Err(refusal));
        }
        let gone = ids.iter().filter(|id| {
            matches!(wishes.get(*id), Some(Wish::Remove(_))) && !written.refused.contains_key(*id)
        });
        let gone: BTreeSet<&ResourceId> = gone.collect();
        if let Err(refusal) = self.without_orphans(&gone, &mut written)? {
            return Ok(Err(refusal));
        }
        let refused = &written.refused;
        let landing = ids.iter().filter(|id| !refused.contains_key(*id));
        let expected = self.expected(landing, wishes, &written.contents);
        let verified = self.verify(&written.contents, &expected, created.as_ref())?;
        Ok(match verified {
            Some(refusal) => Err(Box::new(refusal)),
            None => Ok(written),
        })
    }

    /// Brings the lists of kustomizations to the files that come and go. Answers with the kustomization that is made
    /// for a folder that is to have one and has none (RG-6).
    fn relist(
        &mut self,
        written: &mut Written,
    ) -> Result<Result<Option<FolderPath>, Box<Refusal>>, ReadError> {
        let folder = self.folder;
        let graph = folder.graph();
        let writable = &self.policy.folder;
        let mut lists: BTreeMap<&RepoPath, (Vec<RepoPath>, Vec<RepoPath>)> = BTreeMap::new();
        let mut unlisted = Vec::new();
        for (path, content) in &written.contents {
            let is_there = self.tree.files.get(path).is_some();
            match content {
                FileContent::Removed => {
                    for reader in listing(graph, path, writable) {
                        let (_, remove) = lists.entry(&reader.path).or_default();
                        remove.push(path.clone());
                    }
                }
                FileContent::Plain(_) | FileContent::Sealed(_) if is_there => {}
                FileContent::Plain(_) | FileContent::Sealed(_) => {
                    match governing(graph, path, writable) {
                        Some(reader) => {
                            let (add, _) = lists.entry(&reader.path).or_default();
                            add.push(path.clone());
                        }
                        None => unlisted.push(path.clone()),
                    }
                }
            }
        }
        let mut contents = BTreeMap::new();
        for (kustomization, (add, remove)) in lists {
            let open = self.texts.open(kustomization)?;
            let text = open.text.as_deref().unwrap_or_default();
            match relist(text, &kustomization.parent(), &add, &remove) {
                Ok(after) if after == text => {}
                Ok(after) => {
                    let content = FileContent::Plain(after.into_bytes());
                    contents.insert(kustomization.clone(), content);
                }
                Err(problem) => {
                    return Ok(Err(Box::new(refuse::unlistable(kustomization, &problem))));
                }
            }
        }
        let mut created = None;
        if self.makes_root() && !unlisted.is_empty() {
            let mut files: Vec<RepoPath> = folder.managed().cloned().collect();
            files.retain(|path| !matches!(written.contents.get(path), Some(FileContent::Removed)));
            files.extend(unlisted);
            let text = new_root(writable, &files);
            let path = crate::kustomize::file_in(writable);
            contents.insert(path, FileContent::Plain(text.into_bytes()));
            created = Some(writable.clone());
        }
        written.contents.extend(contents);
        Ok(Ok(created))
    }

    /// Says whether a kustomization is made for the first file that none governs.
    pub(super) fn makes_root(&self) -> bool {
        self.policy.placement.use_kustomize() == Some(true) && self.folder.builds().is_empty()
    }

    /// Returns what builds shall make differently once the files are written.
    fn expected<'w>(
        &self,
        ids: impl Iterator<Item = &'w ResourceId>,
        wishes: &'w Wishes,
        contents: &'w BTreeMap<RepoPath, FileContent>,
    ) -> Expected<'w> {
        let mut expected = Expected::default();
        for id in ids {
            match wishes.get(id) {
                Some(Wish::Remove(_)) => drop(expected.gone.insert(id)),
                Some(Wish::Upsert(object)) if object.is_sensitive() => {
                    expected.unchecked.insert(id);
                }
                Some(Wish::Upsert(object)) => {
                    if let Some(Decision::Created { path, .. }) = self.decisions.get(id)
                        && let Some((path, _)) = contents.get_key_value(path)
                    {
                        let value = Value::Object(object.value());
                        expected.come.insert(id, (value, path));
                    }
                }
                None => {}
            }
        }
        expected
    }

    /// Builds what reads the files, and says where a build does not do as expected.
    fn verify(
        &mut self,
        contents: &BTreeMap<RepoPath, FileContent>,
        expected: &Expected<'_>,
        created: Option<&FolderPath>,
    ) -> Result<Option<Refusal>, ReadError> {
        let changed = self.with(contents);
        if changed == self.changed {
            return Ok(None);
        }
        let folder = self.folder;
        let mut roots: BTreeSet<FolderPath> = folder.builds().keys().cloned().collect();
        roots.extend(created.cloned());
        let mut moved = Vec::new();
        for root in roots {
            let already = self.changed.clone();
            let before = match created {
                Some(_) => None,
                None => self.render_on(&root, &already)?,
            };
            let kustomization = match created {
                Some(root) => crate::kustomize::file_in(root),
                None => self.kustomization_of(&root),
            };
            let after = match self.build_on(&root, &changed)? {
                Ok(after) => after,
                Err(problem) => {
                    return Ok(Some(refuse::broken(&kustomization, &problem)));
                }
            };
            if let Some(before) = &before
                && Arc::ptr_eq(before, &after)
            {
                continue;
            }
            let new = self.new_of(&root, expected, created);
            if let Some(before) = &before
                && new.is_empty()
                && !expected.concerns(folder, before)
            {
                // What changes here was asked of another build.
                return Ok(Some(refuse::fan_in(&kustomization)));
            }
            let problem = compare(folder, before.as_deref(), &after, expected, &new);
            if let Some(Problem { message, at }) = problem {
                let mut refusal = refuse::not_verified(&kustomization, message);
                if let Some((object, field)) = at {
                    let overlay = Overlay::new(self.tree, &changed);
                    let supply = supplier(overlay.tree(), &after, &after.objects[object], &field)?;
                    let line = match &supply {
                        Some(supply) => self.line_now(supply, &changed)?,
                        None => None,
                    };
                    refusal.at = Some(Location {
                        path: supply.map_or(kustomization, |supply| supply.path),
                        line,
                        field: Some(field.to_string()),
                    });
                }
                return Ok(Some(refusal));
            }
            moved.push(root);
        }
        self.readers_agree(&moved, &changed)
    }

    /// Returns the line that a line of a changed file is now, for a person who looks at the file as it is.
    fn line_now(&mut self, supply: &Supply, changed: &Changes) -> Result<Option<u32>, ReadError> {
        let Some(Some(bytes)) = changed.get(&supply.path) else {
            return Ok(Some(supply.line));
        };
        let text = String::from_utf8_lossy(bytes);
        let at = usize::try_from(supply.line).unwrap_or(usize::MAX);
        let line = text.lines().nth(at.saturating_sub(1));
        let open = self.texts.open(&supply.path)?;
        let mut lines = open.text.iter().flat_map(|text| text.lines());
        let found = lines.position(|now| Some(now) == line);
        Ok(found.and_then(|at| u32::try_from(at + 1).ok()))
    }

    /// Returns all that changes, with these files.
    pub(super) fn with(&self, contents: &BTreeMap<RepoPath, FileContent>) -> Changes {
        let mut changed: Changes = self.changed.clone();
        changed.extend(contents.iter().map(|(path, content)| {
            let bytes = match content {
                FileContent::Plain(bytes) => Some(bytes.clone()),
                FileContent::Sealed(bytes) => Some(bytes.as_bytes().to_vec()),
                FileContent::Removed => None,
            };
            (path.clone(), bytes)
        }));
        changed
    }

    /// Returns the files that a build has to show once they are written.
    fn new_of(
        &self,
        root: &FolderPath,
        expected: &Expected<'_>,
        created: Option<&FolderPath>,
    ) -> BTreeSet<RepoPath> {
        let graph = self.folder.graph();
        let reached: BTreeSet<&FolderPath> = graph.reached_from(root).into_iter().collect();
        let is_of = |path: &RepoPath| {
            let reader = governing(graph, path, &self.policy.folder);
            created.is_some()
                || reader.is_some_and(|reader| reached.contains(&reader.path.parent()))
        };
        let paths = expected.come.values().map(|(_, path)| *path);
        paths.filter(|path| is_of(path)).cloned().collect()
    }
}
