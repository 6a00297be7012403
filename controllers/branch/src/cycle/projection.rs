//! The pending writes as commits on the ground.

use std::collections::BTreeMap;
use std::sync::Arc;

use manifests::{FileEdit, Intent, Outcome, Policy, PruneMode};
use model::{Author, CommitId, FileTree, Files, Now, Refusal, RefusalScope, TargetKey};
use repository::{Attempt, CommitText, SigningKey, StoreError, TreeEdit};

use super::fault::{folder_refusal, from_store, store_fault, unsigned};
use super::keep::{Earlier, Planned};
use super::order::Cycle;
use super::workshop::{Keys, MadeBy, Projection, Workshop};
use super::{DraftResult, Fault, Replay};
use crate::state::{PendingWrite, WriteId};

/// Why a commit could not be made.
pub(super) enum CommitError {
    /// It is about the tree that it would be made on.
    Store(StoreError),
    /// It stops the whole cycle.
    Fault(Fault),
}

impl From<StoreError> for CommitError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Signing(failed) => Self::Fault(unsigned(failed.to_string())),
            error => Self::Store(error),
        }
    }
}

impl From<Fault> for CommitError {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl Cycle<'_> {
    /// Makes every pending write into a commit on the ground, unless that is what is there already.
    pub(super) fn project(&mut self) -> Result<(), Fault> {
        let root = self
            .shop
            .ground
            .as_ref()
            .and_then(|ground| ground.root.clone());
        let wanted: Vec<WriteId> = self.pending.iter().map(|write| write.id).collect();
        // While the key cannot be had, what was made with it stays as it is.
        let maker = match wanted.is_empty() {
            true => None,
            false => self.maker().ok(),
        };
        let current = self.shop.projection.as_ref();
        let is_current = |projection: &Projection| {
            let is_ours = projection.made_by.is_none() || maker.is_none();
            projection.root == root
                && projection.writes == wanted
                && (is_ours || projection.made_by == maker)
        };
        if current.is_some_and(is_current) {
            return Ok(());
        }
        let attempt = Attempt::new(self.shop.opened_store()?, root.as_ref())
            .map_err(|error| from_store(&error))?;
        let before = self.shop.projection.replace(Projection {
            root,
            writes: Vec::new(),
            attempt,
            made_by: None,
            kept: BTreeMap::new(),
        });
        let mut earlier = before.map(Earlier::from);
        for write in std::mem::take(&mut self.pending) {
            let made = self.make_again(&write, earlier.as_mut())?;
            self.pending.extend(made.map(Arc::new));
        }
        if let Some(projection) = &mut self.shop.projection {
            projection.writes = self.pending.iter().map(|write| write.id).collect();
        }
        Ok(())
    }

    /// Makes the commit of one write again, without a plan where the earlier one tells what it would come to.
    fn make_again(
        &mut self,
        write: &PendingWrite,
        earlier: Option<&mut Earlier>,
    ) -> Result<Option<PendingWrite>, Fault> {
        let Some(earlier) = earlier else {
            return self.replay(write);
        };
        if let Some(made) = self.keep(write, earlier)? {
            return Ok(Some(made));
        }
        earlier.forget_ground();
        self.replay(write)
    }

    /// Does the decided actions of one write again, through the whole gate, and plans nothing else.
    fn replay(&mut self, write: &PendingWrite) -> Result<Option<PendingWrite>, Fault> {
        let policy = self
            .shop
            .policy(&write.target, self.prune_for(write), &write.types);
        let snapshot = match self.attempt()?.snapshot(&write.target.folder) {
            Ok(snapshot) => snapshot,
            Err(error) => return self.replay_nowhere(write, &error),
        };
        let intents = [Intent::Replay(write.actions.clone())];
        let outcome = self.plan(
            &snapshot.files,
            &intents,
            &policy,
            &write.target.key,
            write.closed_at,
        )?;
        let refusals = if outcome.folder.is_accepted() {
            outcome.refusals().cloned().collect()
        } else {
            outcome.folder.issues().to_vec()
        };
        let commit = match self.commit(
            &write.message,
            &write.author,
            write.closed_at,
            &outcome.edits,
        ) {
            Ok(commit) => commit,
            Err(CommitError::Store(error)) => return self.replay_nowhere(write, &error),
            Err(CommitError::Fault(fault)) => return Err(fault),
        };
        if let Some(planned) = Planned::alone(&outcome, &policy) {
            self.note_kept(write.id, &write.target, &snapshot.files, planned);
        }
        let made = commit.map(|commit| PendingWrite {
            objects: super::decide::changed(&outcome),
            actions: outcome.decided,
            commit,
            ..write.clone()
        });
        self.note_replay(Replay {
            id: write.id,
            write: made.clone(),
            refusals,
        });
        Ok(made)
    }

    /// The tip holds something else where the folder is: the write is refused, the branch goes on.
    fn replay_nowhere(
        &mut self,
        write: &PendingWrite,
        error: &StoreError,
    ) -> Result<Option<PendingWrite>, Fault> {
        let refusal =
            folder_refusal(error, &write.target.folder).ok_or_else(|| from_store(error))?;
        self.note_replay(Replay {
            id: write.id,
            write: None,
            refusals: vec![refusal],
        });
        Ok(None)
    }

    /// Reports what became of the write. A write that was decided in this very cycle is corrected where it
    /// is reported; the machine does not know it yet.
    pub(super) fn note_replay(&mut self, replay: Replay) {
        let folder_refused = replay
            .refusals
            .iter()
            .any(|refusal| refusal.scope == RefusalScope::Folder);
        let decided_now = self
            .outcome
            .drafts
            .iter_mut()
            .find(|draft| draft.id == replay.id);
        match decided_now.map(|draft| &mut draft.result) {
            Some(result) if folder_refused => *result = DraftResult::FolderRefused(replay.refusals),
            Some(DraftResult::Judged(verdict)) => {
                verdict.write = replay.write;
                let of_objects = replay.refusals.into_iter();
                verdict
                    .refused
                    .extend(of_objects.filter_map(|one| Some((one.object.clone()?, one))));
            }
            Some(DraftResult::FolderRefused(_) | DraftResult::Suspended) => {}
            None => self.note_again(replay),
        }
    }

    /// What was refused earlier in the cycle is in the write no more, so no later replay says it again; nobody has been
    /// told yet.
    fn note_again(&mut self, mut replay: Replay) {
        let replayed = &mut self.outcome.replayed;
        let earlier = replayed.iter().position(|earlier| earlier.id == replay.id);
        if let Some(at) = earlier {
            let mut refusals = replayed.remove(at).refusals;
            let refused_again = |one: &Refusal| {
                replay
                    .refusals
                    .iter()
                    .any(|again| again.object == one.object)
            };
            refusals.retain(|one| !refused_again(one));
            refusals.append(&mut replay.refusals);
            replay.refusals = refusals;
        }
        self.outcome.replayed.push(replay);
    }

    /// Prune modes tighten between planning and replay and never loosen; a target that is gone keeps all.
    fn prune_for(&self, write: &PendingWrite) -> PruneMode {
        let now = self
            .request
            .targets
            .iter()
            .find(|target| target.key == write.target.key);
        match (
            now.map_or(PruneMode::Never, |target| target.prune),
            write.target.prune,
        ) {
            (PruneMode::Never, _) | (_, PruneMode::Never) => PruneMode::Never,
            (PruneMode::OnEvent, _) | (_, PruneMode::OnEvent) => PruneMode::OnEvent,
            (PruneMode::Always, PruneMode::Always) => PruneMode::Always,
        }
    }

    /// Plans on what the attempt's last commit holds, for a write of the given moment.
    pub(super) fn plan(
        &mut self,
        files: &Files,
        intents: &[Intent],
        policy: &Policy,
        target: &TargetKey,
        at: Now,
    ) -> Result<Outcome, Fault> {
        let Workshop {
            projection,
            folders,
            keyring,
            ..
        } = &mut *self.shop;
        let projection = projection.as_ref().ok_or_else(no_projection)?;
        let tree = FileTree {
            files,
            contents: &projection.attempt,
        };
        let keys = keyring.encryption(target).map(|encryption| Keys {
            encryption,
            sealed_at: at,
        });
        folders.plan(tree, intents, policy, keys)
    }

    pub(super) fn attempt(&mut self) -> Result<&mut Attempt, Fault> {
        let projection = self.shop.projection.as_mut();
        projection
            .map(|projection| &mut projection.attempt)
            .ok_or_else(no_projection)
    }

    /// Makes one commit. Its bytes follow from the arguments and the tree alone.
    pub(super) fn commit(
        &mut self,
        message: &str,
        author: &Author,
        closed_at: Now,
        edits: &[FileEdit],
    ) -> Result<Option<CommitId>, CommitError> {
        let edits: Vec<_> = edits.iter().map(super::decide::tree_edit).collect();
        self.commit_edits(message, author, closed_at, &edits)
    }

    /// Makes one commit of edits of files.
    pub(super) fn commit_edits(
        &mut self,
        message: &str,
        author: &Author,
        closed_at: Now,
        edits: &[TreeEdit],
    ) -> Result<Option<CommitId>, CommitError> {
        if edits.is_empty() {
            return Ok(None);
        }
        let signing = self.signing()?;
        let maker = self.maker()?;
        let Some(projection) = self.shop.projection.as_mut() else {
            return Ok(None);
        };
        projection.made_by = Some(maker);
        let committer = self.request.committer.clone();
        let text = CommitText {
            message: message.to_owned(),
            author: author.signature(&committer),
            committer,
            time_ms: closed_at.wall,
        };
        let commit = match signing {
            None => projection.attempt.commit(edits, &text),
            Some(key) => projection.attempt.commit_signed(edits, &text, &key),
        };
        Ok(commit?)
    }

    /// Returns as whom commits are made now.
    fn maker(&mut self) -> Result<MadeBy, Fault> {
        let key = self.signing()?;
        Ok(MadeBy {
            committer: self.request.committer.clone(),
            key: key.map(|key| key.public_key()),
        })
    }

    /// Returns what commits are signed with. One cycle asks once, so that its commits have one key.
    fn signing(&mut self) -> Result<Option<Arc<SigningKey>>, Fault> {
        if let Some(known) = &self.signing {
            return Ok(known.clone());
        }
        let key = self.shop.keyring.signing().map_err(unsigned)?;
        self.signing = Some(key.clone());
        Ok(key)
    }
}

fn no_projection() -> Fault {
    store_fault("no projection".to_owned())
}
