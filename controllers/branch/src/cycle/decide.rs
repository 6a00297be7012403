//! From a draft to a commit, or to the reason why not.

use std::collections::BTreeMap;
use std::sync::Arc;

use board::{FolderState, Retention};
use manifests::{Decision, FileContent, FileEdit, Intent, Mode, Outcome};
use model::{Change, Collection, Refusal, ResourceId};
use repository::TreeEdit;

use super::fault::from_store;
use super::workshop::Cycle;
use super::{DraftOutcome, DraftResult, Fault, FolderScan, Verdict};
use crate::message_text;
use crate::state::{Draft, DraftKind, PendingWrite};

impl Cycle<'_> {
    /// Decides every draft that is not decided yet, in order, each on top of the one before.
    pub(super) fn decide(&mut self) -> Result<(), Fault> {
        for draft in self.request.drafts.clone() {
            if self
                .outcome
                .drafts
                .iter()
                .any(|outcome| outcome.id == draft.id)
            {
                continue;
            }
            let result = self.decide_one(&draft)?;
            self.outcome.drafts.push(DraftOutcome {
                id: draft.id,
                result,
            });
        }
        Ok(())
    }

    fn decide_one(&mut self, draft: &Draft) -> Result<DraftResult, Fault> {
        let now = self
            .request
            .targets
            .iter()
            .find(|target| target.key == draft.target.key);
        let target = Arc::clone(now.unwrap_or(&draft.target));
        if target.suspended {
            return Ok(DraftResult::Suspended);
        }
        let policy = self.shop.policy(&target, target.prune);
        let files = self
            .attempt()?
            .snapshot(&target.folder)
            .map_err(|error| from_store(&error))?;
        let outcome = manifests::plan(&files.files, &intents(draft), &policy, Mode::Apply);
        if !outcome.folder.is_accepted() {
            return Ok(DraftResult::FolderRefused(outcome.folder.issues().to_vec()));
        }
        let retained = retained(draft, &outcome);
        let refused = refused(&outcome);
        let write = self.make_write(draft, outcome)?;
        Ok(DraftResult::Judged(Box::new(Verdict {
            write,
            refused,
            retained,
        })))
    }

    fn make_write(
        &mut self,
        draft: &Draft,
        outcome: Outcome,
    ) -> Result<Option<PendingWrite>, Fault> {
        if outcome.edits.is_empty() {
            return Ok(None);
        }
        let objects = changed(&outcome);
        let message = message(draft, objects.len());
        let author = draft.author();
        let Some(commit) = self.commit(&message, &author, draft.closed_at, &outcome.edits)? else {
            return Ok(None);
        };
        let write = PendingWrite {
            id: draft.id,
            target: Arc::clone(&draft.target),
            closed_at: draft.closed_at,
            author,
            message,
            actions: outcome.decided,
            objects,
            collection: match &draft.kind {
                DraftKind::Window { .. } => None,
                DraftKind::Resync(snapshot) => Some(snapshot.collection.clone()),
            },
            commit,
            bytes: draft.bytes,
        };
        if let Some(projection) = &mut self.shop.projection {
            projection.writes.push(write.id);
        }
        self.pending.push(Arc::new(write.clone()));
        Ok(Some(write))
    }

    /// Judges every target's folder as it is on the ground, without writing anything.
    pub(super) fn scan_folders(&mut self) -> Result<(), Fault> {
        let root = self
            .shop
            .ground
            .as_ref()
            .and_then(|ground| ground.root.clone());
        for target in self.request.targets.clone() {
            let policy = self.shop.policy(&target, target.prune);
            let store = self.shop.opened_store()?;
            let files = match &root {
                None => Arc::default(),
                Some(root) => {
                    let snapshot = store
                        .snapshot(root, &target.folder)
                        .map_err(|error| from_store(&error))?;
                    Arc::clone(&snapshot.files)
                }
            };
            let verdict = manifests::plan(&files, &[], &policy, Mode::Inspect).folder;
            let state = if verdict.is_accepted() {
                FolderState::Accepted
            } else {
                FolderState::Refused(verdict.issues().to_vec())
            };
            self.outcome
                .folders
                .retain(|scan| scan.target != target.key);
            self.outcome.folders.push(FolderScan {
                target: target.key.clone(),
                state,
            });
        }
        Ok(())
    }
}

fn intents(draft: &Draft) -> Vec<Intent> {
    match &draft.kind {
        DraftKind::Window { entries, .. } => entries
            .iter()
            .map(|entry| match &entry.change {
                Change::Upsert { object, .. } => Intent::Upsert(Arc::clone(object)),
                Change::Remove { id, .. } => Intent::Remove { id: id.clone() },
            })
            .collect(),
        DraftKind::Resync(snapshot) => vec![Intent::Sweep {
            collection: snapshot.collection.clone(),
            objects: snapshot.objects.clone(),
            protected: snapshot.protected.clone(),
        }],
    }
}

/// Returns the objects whose documents the outcome changes.
pub(super) fn changed(outcome: &Outcome) -> Vec<ResourceId> {
    let changes = |decision: &Decision| {
        matches!(
            decision,
            Decision::Edited { .. } | Decision::Created { .. } | Decision::Removed { .. }
        )
    };
    outcome
        .decisions
        .iter()
        .filter(|one| changes(&one.decision))
        .map(|one| one.id.clone())
        .collect()
}

pub(super) fn tree_edit(edit: &FileEdit) -> TreeEdit {
    let content = match &edit.content {
        FileContent::Plain(bytes) => Some(bytes.clone()),
        FileContent::Removed => None,
    };
    TreeEdit {
        path: edit.path.clone(),
        content,
    }
}

fn message(draft: &Draft, changed: usize) -> String {
    match &draft.kind {
        DraftKind::Window { entries, .. } => message_text::live(entries),
        DraftKind::Resync(snapshot) => {
            message_text::reconcile(&snapshot.collection, changed, &snapshot.resource_version)
        }
    }
}

fn refused(outcome: &Outcome) -> BTreeMap<ResourceId, Refusal> {
    let of_object = |refusal: &Refusal| {
        refusal
            .object
            .clone()
            .map(|object| (object, refusal.clone()))
    };
    outcome.refusals().filter_map(of_object).collect()
}

/// Counts by type what the prune mode kept of a snapshot's collection.
fn retained(draft: &Draft, outcome: &Outcome) -> Option<(Collection, BTreeMap<String, u64>)> {
    let DraftKind::Resync(snapshot) = &draft.kind else {
        return None;
    };
    let mut by_type = BTreeMap::new();
    for kept in &outcome.retained {
        *by_type
            .entry(Retention::type_key(&kept.id.type_id))
            .or_default() += 1;
    }
    Some((snapshot.collection.clone(), by_type))
}
