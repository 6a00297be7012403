//! The steps of a plan over an accepted folder.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::{DesiredObject, FileEntry, FileTree, ReadError, Refusal, RepoPath, ResourceId};
use serde_json::Value;

use super::edits::{Edit, FileWork, NewText, apply};
use super::intent::{DecidedActions, DecidedRemoval, RemovalCause};
use super::outcome::{
    Decision, FileContent, FileEdit, FolderVerdict, ObjectDecision, Outcome, PlacementSource,
    Retained, RetainedReason,
};
use super::policy::{Policy, PruneMode};
use super::refuse::{self, Unplaced};
use super::texts::Texts;
use super::wanted::{content, wanted, without_namespace};
use super::wishes::{Wish, Wishes};
use super::{bootstrap, check};
use crate::fidelity::divergences;
use crate::folder::{AcceptedFolder, Digest, Document};
use crate::placement;
use crate::yaml;

/// Turns wishes into work on files, and the work into edits and decisions.
pub(crate) struct Planner<'a> {
    tree: FileTree<'a>,
    folder: AcceptedFolder<'a>,
    policy: &'a Policy,
    texts: Texts<'a>,
    work: BTreeMap<RepoPath, FileWork>,
    decisions: BTreeMap<ResourceId, Decision>,
}

impl<'a> Planner<'a> {
    pub(crate) fn new(tree: FileTree<'a>, folder: AcceptedFolder<'a>, policy: &'a Policy) -> Self {
        Self {
            tree,
            folder,
            policy,
            texts: Texts::new(tree),
            work: BTreeMap::new(),
            decisions: BTreeMap::new(),
        }
    }

    pub(crate) fn plan(mut self, wishes: &Wishes) -> Result<Outcome, ReadError> {
        for (id, wish) in wishes {
            let decision = match wish {
                Wish::Upsert(object) => self.upsert(id, object)?,
                Wish::Remove(cause) => self.remove(id, *cause),
            };
            self.decisions.insert(id.clone(), decision);
        }
        let mut edits = self.edit_files()?;
        if self.policy.bootstrap && self.folder.is_empty() && !edits.is_empty() {
            edits.extend(bootstrap::files(&self.policy.folder));
            edits.sort_by(|a, b| a.path.cmp(&b.path));
        }
        Ok(self.outcome(wishes, edits))
    }

    fn upsert(
        &mut self,
        id: &ResourceId,
        object: &Arc<DesiredObject>,
    ) -> Result<Decision, ReadError> {
        let folder = self.folder;
        let document = folder.find(id);
        if object.is_sensitive() {
            return Ok(Decision::Refused(refuse::sensitive(id, document)));
        }
        match document {
            Some(document) => self.match_document(id, document, object),
            None => Ok(self.place(id, object)),
        }
    }

    /// Compares an object with its document, and notes the edit where they differ (ED-1).
    fn match_document(
        &mut self,
        id: &ResourceId,
        document: &Document,
        object: &DesiredObject,
    ) -> Result<Decision, ReadError> {
        if document.digest == Digest::of(&*content(object)) {
            return Ok(Decision::NoChange);
        }
        let open = self.texts.open(&document.path)?;
        let held = open.values.get(document.index).unwrap_or(&Value::Null);
        let mut value = wanted(held, object, &self.policy.defaults);
        if !document.has_namespace() {
            value = without_namespace(value);
        }
        if yaml::same(held, &value) {
            return Ok(Decision::NoChange);
        }
        if let Some(divergence) = divergences(held, &value).first() {
            return Ok(Decision::Refused(refuse::token(id, document, divergence)));
        }
        if document.encrypted {
            return Ok(Decision::Refused(refuse::encrypted(id, document)));
        }
        if let Some((line, problem)) = &document.problem {
            let refusal = refuse::not_editable(id, document, *line, problem);
            return Ok(Decision::Refused(refusal));
        }
        if *document.api_version != object.served().api_version() {
            let refusal = refuse::other_version(id, document, object);
            return Ok(Decision::Refused(refusal));
        }
        // The setting applies when a document is written for another reason; it is none by itself (D54).
        if self.policy.serialize_namespace == Some(false) {
            value = without_namespace(value);
        }
        let edit = Edit {
            id: id.clone(),
            wanted: value,
        };
        self.work(&document.path).edits.insert(document.index, edit);
        Ok(Decision::Edited {
            path: document.path.clone(),
        })
    }

    fn place(&mut self, id: &ResourceId, object: &DesiredObject) -> Decision {
        let Some(path) = placement::builtin(&self.policy.folder, id) else {
            let why = Unplaced::InvalidPath("no file can have so long a name");
            return Decision::Refused(refuse::unplaced(id, None, why));
        };
        if let Some(why) = self.obstacle(&path) {
            return Decision::Refused(refuse::unplaced(id, Some(&path), why));
        }
        let mut value = Value::Object(content(object).into_owned());
        if self.policy.serialize_namespace == Some(false) {
            value = without_namespace(value);
        }
        if let Value::Object(map) = value {
            self.work(&path).additions.insert(id.clone(), map);
        }
        Decision::Created {
            path,
            source: PlacementSource::Builtin,
        }
    }

    /// Says why no document can be written at the path.
    fn obstacle(&self, path: &RepoPath) -> Option<Unplaced> {
        let mut parent = path.parent();
        while let Some(above) = parent.as_repo_path().cloned() {
            if self.tree.files.get(&above).is_some() {
                return Some(Unplaced::InvalidPath("a part of it is a file"));
            }
            parent = above.parent();
        }
        if self.tree.files.is_folder(path) {
            return Some(Unplaced::InvalidPath("it is a folder"));
        }
        match self.tree.files.get(path) {
            None => None,
            Some(FileEntry::Symlink | FileEntry::Submodule) => Some(Unplaced::InvalidPath(
                "something that is no plain file stands there",
            )),
            Some(FileEntry::Regular { .. }) => match self.folder.documents_of(path) {
                None => Some(Unplaced::MultiDocumentTarget),
                Some(documents) => documents
                    .iter()
                    .any(|document| document.encrypted)
                    .then_some(Unplaced::PlaintextOntoEncrypted),
            },
        }
    }

    /// Removes a document where the prune mode allows it (DL-1).
    fn remove(&mut self, id: &ResourceId, cause: RemovalCause) -> Decision {
        let folder = self.folder;
        let Some(document) = folder.find(id) else {
            return Decision::NoChange;
        };
        let path = document.path.clone();
        let reason = match (self.policy.prune, cause) {
            (PruneMode::Never, _) => Some(RetainedReason::PruneNever),
            (PruneMode::OnEvent, RemovalCause::Sweep) => Some(RetainedReason::PruneOnEvent),
            (PruneMode::OnEvent, RemovalCause::Event) | (PruneMode::Always, _) => None,
        };
        if let Some(reason) = reason {
            return Decision::Retained { path, reason };
        }
        let index = document.index;
        self.work(&path).removals.insert(index, id.clone());
        Decision::Removed { path }
    }

    fn work(&mut self, path: &RepoPath) -> &mut FileWork {
        self.work.entry(path.clone()).or_default()
    }

    /// Does the work on each file; what cannot be done is decided anew as refused.
    fn edit_files(&mut self) -> Result<Vec<FileEdit>, ReadError> {
        let mut edits = Vec::new();
        for (path, work) in std::mem::take(&mut self.work) {
            let (content, refused) = self.edit_file(&path, work)?;
            for (id, refusal) in refused {
                self.decisions.insert(id, Decision::Refused(refusal));
            }
            edits.extend(content.map(|content| FileEdit { path, content }));
        }
        Ok(edits)
    }

    fn edit_file(
        &mut self,
        path: &RepoPath,
        work: FileWork,
    ) -> Result<(Option<FileContent>, BTreeMap<ResourceId, Refusal>), ReadError> {
        let open = self.texts.open(path)?;
        let before = open.text.as_deref();
        let documents = self.folder.documents_of(path).unwrap_or_default();
        let done = apply(path, before, documents, work);
        if !check::holds(before, &done.text, &done.work) {
            let refused = refuse_all(path, documents, done.work, done.refused);
            return Ok((None, refused));
        }
        let content = match done.text {
            NewText::Removed => Some(FileContent::Removed),
            NewText::Text(text) if Some(text.as_str()) == before || text.is_empty() => None,
            NewText::Text(text) => Some(FileContent::Plain(text.into_bytes())),
        };
        Ok((content, done.refused))
    }

    fn outcome(self, wishes: &Wishes, edits: Vec<FileEdit>) -> Outcome {
        let mut decided = DecidedActions::default();
        let mut retained = Vec::new();
        for (id, decision) in &self.decisions {
            match (decision, wishes.get(id)) {
                (
                    Decision::Edited { .. } | Decision::Created { .. },
                    Some(Wish::Upsert(object)),
                ) => {
                    decided.upserts.push(object.clone());
                }
                (Decision::Removed { .. }, Some(Wish::Remove(cause))) => {
                    decided.removals.push(DecidedRemoval {
                        id: id.clone(),
                        cause: *cause,
                    });
                }
                (Decision::Retained { path, reason }, _) => retained.push(Retained {
                    id: id.clone(),
                    path: path.clone(),
                    reason: *reason,
                }),
                _ => {}
            }
        }
        Outcome {
            folder: FolderVerdict::Accepted(self.folder.facts().clone()),
            edits,
            decisions: self
                .decisions
                .into_iter()
                .map(|(id, decision)| ObjectDecision { id, decision })
                .collect(),
            decided,
            retained,
        }
    }
}

/// Refuses every object of a file whose new text did not read back as planned.
fn refuse_all(
    path: &RepoPath,
    documents: &[Document],
    work: FileWork,
    mut refused: BTreeMap<ResourceId, Refusal>,
) -> BTreeMap<ResourceId, Refusal> {
    let error = yaml::EditError::NotExpressible;
    let edited = work.edits.into_iter().map(|(index, edit)| (index, edit.id));
    for (index, id) in edited.chain(work.removals) {
        if let Some(document) = documents.get(index) {
            refused.insert(id.clone(), refuse::not_expressible(&id, document, &error));
        }
    }
    for id in work.additions.into_keys() {
        let refusal = refuse::unplaced(&id, Some(path), Unplaced::MultiDocumentTarget);
        refused.insert(id, refusal);
    }
    refused
}
