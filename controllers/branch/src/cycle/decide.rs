//! From a draft to a commit, or to the reason why not.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use board::FolderState;
use manifests::{Decision, FileContent, FileEdit, FolderVerdict, Intent, Outcome};
use model::{Change, FileTree, Files, FolderPath, Refusal, ResourceId};
use repository::{StoreError, TreeEdit};

use super::fault::{folder_refusal, from_store, store_is_closed};
use super::keep::Planned;
use super::order::Cycle;
use super::projection::CommitError;
use super::tally::tally;
use super::workshop::Workshop;
use super::{DraftOutcome, DraftResult, Fault, FolderScan, Verdict};
use crate::message::TargetConfig;
use crate::message_text::{LiveCommit, Message, ReconcileCommit};
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
        let target = self.planned_for(draft);
        if target.suspended {
            return Ok(DraftResult::Suspended);
        }
        let policy = self.shop.policy(&target, target.prune, &draft.types());
        let snapshot = match self.attempt()?.snapshot(&target.folder) {
            Ok(snapshot) => snapshot,
            Err(error) => return refuse_folder(&error, &target.folder),
        };
        let outcome = self.plan(
            &snapshot.files,
            &intents(draft),
            &policy,
            &target.key,
            draft.closed_at,
        )?;
        if !outcome.folder.is_accepted() {
            return Ok(DraftResult::FolderRefused(outcome.folder.issues().to_vec()));
        }
        let retained = retained(&outcome);
        let refused = refused(&outcome);
        let tally = tally(&draft.kind, &outcome);
        let planned = Planned::alone(&outcome, &policy);
        let key = (draft.id, Arc::clone(&target));
        let made = self.make_write(draft, target, outcome);
        if let (Ok(Some(_)), Some(planned)) = (&made, planned) {
            self.note_kept(key.0, &key.1, &snapshot.files, planned);
        }
        match made {
            Ok(write) => Ok(DraftResult::Judged(Box::new(Verdict {
                write,
                refused,
                retained,
                tally,
            }))),
            Err((CommitError::Store(error), folder)) => refuse_folder(&error, &folder),
            Err((CommitError::Fault(fault), _)) => Err(fault),
        }
    }

    /// Returns the target's settings of this moment, unless it is another target by now that happens to have
    /// the same name: a draft is never written into a folder that it was not meant for.
    fn planned_for(&self, draft: &Draft) -> Arc<TargetConfig> {
        let same = |target: &&Arc<TargetConfig>| {
            target.key == draft.target.key && target.folder == draft.target.folder
        };
        Arc::clone(
            self.request
                .targets
                .iter()
                .find(same)
                .unwrap_or(&draft.target),
        )
    }

    fn make_write(
        &mut self,
        draft: &Draft,
        target: Arc<TargetConfig>,
        outcome: Outcome,
    ) -> Result<Option<PendingWrite>, (CommitError, FolderPath)> {
        let objects = changed(&outcome);
        let message = message(draft, &target, &objects);
        let author = draft.author();
        let commit = self.commit(&message.text, &author, draft.closed_at, &outcome.edits);
        let Some(commit) = commit.map_err(|error| (error, target.folder.clone()))? else {
            return Ok(None);
        };
        if let Some(why) = &message.fell_back {
            tracing::warn!(
                target = %target.key,
                %commit,
                "a commit has the built-in wording, because the template failed: {why}"
            );
        }
        let bytes = draft.bytes + message.text.len();
        let write = PendingWrite {
            id: draft.id,
            target,
            closed_at: draft.closed_at,
            author,
            message: message.text,
            message_fell_back: message.fell_back.is_some(),
            actions: outcome.decided,
            objects,
            source: draft.source(),
            collections: draft.collections(),
            types: draft.types(),
            numbers: draft.numbers.clone(),
            commit,
            bytes,
        };
        if let Some(projection) = &mut self.shop.projection {
            projection.writes.push(write.id);
        }
        self.pending.push(Arc::new(write.clone()));
        Ok(Some(write))
    }

    /// Looks at the folders of some targets as they are on the ground, without writing anything.
    pub(super) fn scan_folders(&mut self, targets: &[Arc<TargetConfig>]) -> Result<(), Fault> {
        for target in targets {
            let scan = self.scan(target)?;
            self.outcome
                .folders
                .retain(|earlier| earlier.target != scan.target);
            self.outcome.folders.push(scan);
        }
        Ok(())
    }

    fn scan(&mut self, target: &TargetConfig) -> Result<FolderScan, Fault> {
        let ground = self.shop.ground.as_ref();
        let commit = ground.and_then(|ground| ground.root.clone());
        let policy = self.shop.policy(target, target.prune, &[]);
        let store = self.shop.opened_store()?;
        let snapshot = commit
            .as_ref()
            .map(|commit| store.snapshot(commit, &target.folder))
            .transpose();
        let scan = |state, layout| FolderScan {
            target: target.key.clone(),
            commit,
            state,
            layout,
        };
        let files = match snapshot {
            Ok(snapshot) => snapshot.map_or_else(Files::default, |snapshot| snapshot.files),
            Err(error) => {
                let refusal =
                    folder_refusal(&error, &target.folder).ok_or_else(|| from_store(&error))?;
                return Ok(scan(FolderState::Refused(vec![refusal]), None));
            }
        };
        let Workshop { store, folders, .. } = &mut *self.shop;
        let contents = store.as_ref().ok_or_else(store_is_closed)?;
        let tree = FileTree {
            files: &files,
            contents,
        };
        let found = folders.inspect(tree, &policy)?;
        let state = match found.folder {
            FolderVerdict::Accepted(_) => FolderState::Accepted,
            FolderVerdict::Refused(issues) => FolderState::Refused(issues),
        };
        Ok(scan(state, Some(found.layout)))
    }
}

fn refuse_folder(error: &StoreError, folder: &FolderPath) -> Result<DraftResult, Fault> {
    match folder_refusal(error, folder) {
        Some(refusal) => Ok(DraftResult::FolderRefused(vec![refusal])),
        None => Err(from_store(error)),
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
        FileContent::Sealed(bytes) => Some(bytes.as_bytes().to_vec()),
        FileContent::Removed => None,
    };
    TreeEdit {
        path: edit.path.clone(),
        content,
    }
}

/// Words the commit. Only what it changes is named: a refused object is not in it.
fn message(draft: &Draft, target: &TargetConfig, changed: &[ResourceId]) -> Message {
    match &draft.kind {
        DraftKind::Window { author, entries } => {
            let named: Vec<_> = entries
                .iter()
                .filter(|entry| changed.contains(entry.object_id()))
                .collect();
            target.wording.live(LiveCommit {
                author,
                target: &target.key.name,
                entries: &named,
            })
        }
        DraftKind::Resync(snapshot) => target.wording.reconcile(ReconcileCommit {
            target: &target.key.name,
            snapshot,
            changed: changed.len(),
        }),
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

/// Returns the objects whose documents stay although they are gone.
fn retained(outcome: &Outcome) -> BTreeSet<ResourceId> {
    outcome
        .retained
        .iter()
        .map(|kept| kept.id.clone())
        .collect()
}
