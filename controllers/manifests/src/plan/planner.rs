//! The steps of a plan over an accepted folder.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::{DesiredObject, FileTree, FolderPath, ReadError, Refusal, RepoPath, ResourceId};
use sealing::SealedBytes;
use serde_json::Value;

use super::built::{BuildWishes, Changes};
use super::edits::{Edit, FileWork, NewText, apply};
use super::intent::{DecidedActions, DecidedRemoval, RemovalCause};
use super::outcome::{
    Decision, FileContent, FileEdit, FolderVerdict, ObjectDecision, Outcome, Retained,
    RetainedReason, Scaled, SealedObject,
};
use super::policy::{Policy, PruneMode};
use super::readers::Readers;
use super::refuse;
use super::seal::Sealing;
use super::structure::Work;
use super::texts::Texts;
use super::wanted::{comparable, scaled, without_namespace};
use super::wishes::{Wish, Wishes};
use super::{Explanations, bootstrap, check};
use crate::fidelity::divergences;
use crate::folder::{AcceptedFolder, Digest, Document};
use crate::kustomize::{Cache, Render};
use crate::placement::{Newcomers, Placed, Unplaced};
use crate::yaml::{self, FieldPath};

/// Turns wishes into work on files, and the work into edits and decisions.
pub(crate) struct Planner<'a, 's> {
    pub(super) tree: FileTree<'a>,
    pub(super) folder: AcceptedFolder<'a>,
    pub(super) policy: &'a Policy,
    pub(super) sealing: Option<Sealing<'s>>,
    pub(super) texts: Texts<'a>,
    work: BTreeMap<RepoPath, FileWork>,
    /// What builds shall make of objects.
    pub(super) build_wishes: BuildWishes,
    /// The inputs of builds that say something else.
    pub(super) changed: Changes,
    /// Builds on those inputs.
    pub(super) renders: BTreeMap<FolderPath, Arc<Render>>,
    /// Objects that builds make of no document of the folder, and that go.
    pub(super) built_removals: BTreeSet<ResourceId>,
    /// New objects that a patch of ours may keep out of a build.
    pub(super) absent: BTreeMap<ResourceId, Arc<DesiredObject>>,
    /// What reads the folder from outside, once it was asked for.
    pub(super) readers: Option<Readers>,
    /// What was read of kustomize files.
    pub(super) cache: &'a mut Cache,
    pub(super) newcomers: Newcomers,
    pub(super) placed: BTreeMap<ResourceId, (Arc<DesiredObject>, Placed)>,
    pub(super) sealed: BTreeMap<RepoPath, (ResourceId, SealedBytes)>,
    /// What is sealed, and why.
    pub(super) reasons: Vec<SealedObject>,
    /// What is sealed and no configuration of SOPS covers.
    pub(super) uncovered: Vec<ResourceId>,
    pub(super) scaled: Vec<Scaled>,
    pub(super) decisions: BTreeMap<ResourceId, Decision>,
}

impl<'a, 's> Planner<'a, 's> {
    pub(crate) fn new(
        tree: FileTree<'a>,
        folder: AcceptedFolder<'a>,
        policy: &'a Policy,
        sealing: Option<Sealing<'s>>,
        cache: &'a mut Cache,
    ) -> Self {
        Self {
            sealing,
            tree,
            folder,
            policy,
            texts: Texts::new(tree),
            work: BTreeMap::new(),
            build_wishes: BuildWishes::new(),
            changed: Changes::new(),
            renders: BTreeMap::new(),
            built_removals: BTreeSet::new(),
            absent: BTreeMap::new(),
            readers: None,
            cache,
            newcomers: Newcomers::new(),
            placed: BTreeMap::new(),
            sealed: BTreeMap::new(),
            reasons: Vec::new(),
            uncovered: Vec::new(),
            scaled: Vec::new(),
            decisions: BTreeMap::new(),
        }
    }

    pub(crate) fn plan(mut self, wishes: &Wishes) -> Result<Outcome, ReadError> {
        for (id, wish) in wishes {
            let decision = match wish {
                Wish::Upsert(object) => self.upsert(id, object)?,
                Wish::Remove(cause) => Some(self.remove(id, *cause)),
            };
            if let Some(decision) = decision {
                self.decisions.insert(id.clone(), decision);
            }
        }
        self.restore_absent()?;
        self.admit()?;
        self.change_builds()?;
        let stands_alone = !self.is_built()?;
        let mut edits = self.edit_files(wishes)?;
        edits.extend(self.sops_config()?);
        if self.policy.bootstrap && self.folder.is_empty() && !edits.is_empty() {
            edits.extend(bootstrap::files(&self.policy.folder));
            edits.sort_by(|a, b| a.path.cmp(&b.path));
        }
        let outcome = self.outcome(wishes, edits);
        Ok(Outcome {
            stands_alone,
            ..outcome
        })
    }

    /// Decides about an object, or notes where it wants to go.
    fn upsert(
        &mut self,
        id: &ResourceId,
        object: &Arc<DesiredObject>,
    ) -> Result<Option<Decision>, ReadError> {
        if let (Some(applier), Some(owner)) = (&self.policy.applier, object.applier())
            && !applier.owns(owner)
        {
            let owner = owner.clone();
            return Ok(Some(Decision::LeftOut { owner }));
        }
        let folder = self.folder;
        let document = folder.find(id);
        if object.is_sensitive() {
            if let (None, [made, ..]) = (document, folder.made(id)) {
                return self.match_base(id, made, object).map(Some);
            }
            return match document {
                _ if self.sealing.is_none() => {
                    Ok(Some(Decision::refused(refuse::sensitive(id, document))))
                }
                Some(document) if document.encrypted => {
                    self.match_sealed(id, document, object).map(Some)
                }
                Some(_) | None => Ok(self.place(id, object)),
            };
        }
        if !folder.made(id).is_empty() {
            return self.match_made(id, object).map(Some);
        }
        match document {
            Some(document) => self.match_document(id, document, object).map(Some),
            None if self.folder.builds().is_empty() => Ok(self.place(id, object)),
            None => {
                self.absent.insert(id.clone(), Arc::clone(object));
                Ok(None)
            }
        }
    }

    /// Compares an object with its document, and notes the edit where they differ (ED-1).
    fn match_document(
        &mut self,
        id: &ResourceId,
        document: &Document,
        object: &DesiredObject,
    ) -> Result<Decision, ReadError> {
        if document.digest == Digest::from(object.content_digest()) {
            return Ok(Decision::NoChange);
        }
        let open = self.texts.open(&document.path)?;
        let held = open.values.get(document.index).unwrap_or(&Value::Null);
        self.scaled.extend(scaled(&document.path, held, object));
        let mut value = comparable(document, held, object, &self.policy.defaults);
        if yaml::same(held, &value) {
            return Ok(Decision::NoChange);
        }
        if let Some(divergence) = divergences(held, &value).first() {
            let line = open.line_of(document.index, &divergence.field);
            let refusal = refuse::token(id, document, line, divergence);
            return Ok(Decision::refused(refusal));
        }
        if document.encrypted {
            return Ok(Decision::refused(refuse::encrypted(id, document)));
        }
        if self.is_mixed(&document.path) {
            return Ok(Decision::refused(refuse::mixed_file(id, document)));
        }
        if let Some((line, problem)) = &document.problem {
            let field = open.field_in(document.index, *line);
            let refusal = refuse::not_editable(id, document, (*line, field), problem);
            return Ok(Decision::refused(refusal));
        }
        if *document.api_version != object.served().api_version() {
            let line = open.line_of(document.index, &FieldPath::of_keys(&["apiVersion"]));
            let refusal = refuse::other_version(id, document, line, object);
            return Ok(Decision::refused(refusal));
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

    /// Removes a document where the prune mode allows it (DL-1).
    fn remove(&mut self, id: &ResourceId, cause: RemovalCause) -> Decision {
        let folder = self.folder;
        let document = folder.find(id);
        let path = match (document, folder.made(id)) {
            (Some(document), _) => document.path.clone(),
            (None, [made, ..]) => self.source_of(made),
            (None, []) => return Decision::NoChange,
        };
        let reason = match (self.policy.prune, cause) {
            (PruneMode::Never, _) => Some(RetainedReason::PruneNever),
            (PruneMode::OnEvent, RemovalCause::Sweep) => Some(RetainedReason::PruneOnEvent),
            (PruneMode::OnEvent, RemovalCause::Event) | (PruneMode::Always, _) => None,
        };
        if let Some(reason) = reason {
            return Decision::Retained { path, reason };
        }
        let Some(document) = document else {
            self.built_removals.insert(id.clone());
            return Decision::Removed { path };
        };
        if document.encrypted && self.is_mixed(&path) {
            // Plain documents would stay behind in a file for encrypted ones.
            return Decision::refused(refuse::mixed_file(id, document));
        }
        let index = document.index;
        let removals = &mut self.work(&path).removals;
        removals.entry(index).or_default().insert(id.clone());
        Decision::Removed { path }
    }

    /// Says whether a file holds encrypted and plain documents.
    fn is_mixed(&self, path: &RepoPath) -> bool {
        let documents = self.folder.documents_of(path).unwrap_or_default();
        let encrypted = documents.iter().filter(|document| document.encrypted);
        (1..documents.len()).contains(&encrypted.count())
    }

    pub(super) fn work(&mut self, path: &RepoPath) -> &mut FileWork {
        self.work.entry(path.clone()).or_default()
    }

    /// Does the work on all files; what cannot be done is decided anew as refused.
    fn edit_files(&mut self, wishes: &Wishes) -> Result<Vec<FileEdit>, ReadError> {
        let work = Work {
            files: std::mem::take(&mut self.work),
            sealed: std::mem::take(&mut self.sealed),
            built: std::mem::take(&mut self.built_removals),
        };
        let mut contents = BTreeMap::new();
        for (path, bytes) in &self.changed {
            let content = bytes
                .clone()
                .map_or(FileContent::Removed, FileContent::Plain);
            contents.insert(path.clone(), content);
        }
        contents.extend(self.write_files(work, wishes)?);
        let edits = contents.into_iter().map(|(path, content)| {
            let is_plain = !matches!(content, FileContent::Sealed(_));
            let held_secret = is_plain && self.folder.holds_plain_secret(&path);
            FileEdit {
                path,
                content,
                held_secret,
            }
        });
        Ok(edits.collect())
    }

    pub(super) fn edit_file(
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

    fn outcome(mut self, wishes: &Wishes, edits: Vec<FileEdit>) -> Outcome {
        let decisions = &self.decisions;
        self.scaled.retain(|one| !is_refused(decisions, &one.id));
        self.reasons.retain(|one| !is_refused(decisions, &one.id));
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
            layout: model::Layout::default(),
            edits,
            decisions: self
                .decisions
                .into_iter()
                .map(|(id, decision)| ObjectDecision { id, decision })
                .collect(),
            decided,
            retained,
            sealed: self.reasons,
            scaled: self.scaled,
            explanations: Explanations::default(),
            stands_alone: false,
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
    let removed = work.removals.into_iter();
    let removed = removed.flat_map(|(index, gone)| gone.into_iter().map(move |id| (index, id)));
    for (index, id) in edited.chain(removed) {
        if let Some(document) = documents.get(index) {
            refused.insert(id.clone(), refuse::not_expressible(&id, document, &error));
        }
    }
    for addition in work.additions {
        let (id, path) = (addition.object.id(), path.clone());
        let refusal = Unplaced::MultiDocumentTarget { path }.refusal(id);
        refused.insert(id.clone(), refusal);
    }
    refused
}

/// Says whether nothing is written for the object after all.
pub(super) fn is_refused(decisions: &BTreeMap<ResourceId, Decision>, id: &ResourceId) -> bool {
    matches!(decisions.get(id), Some(Decision::Refused(_)))
}
