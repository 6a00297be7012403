//! What the end of a cycle means.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use board::{CollectionProgress, FolderState, ProvedBy, PublicationFault, PushView};
use model::{Collection, CommitId, Now, Refusal, RefusalScope, ResourceId, TargetKey};

use super::writes::{Draft, PendingWrite, WriteSource};
use super::{Base, BranchState, CycleState};
use crate::cycle::{
    CycleOutcome, DraftOutcome, DraftResult, Fault, ProvedBase, Published, Replay, Verdict,
};
use crate::effect::{Effect, Occurrence};
use crate::journal::Settlement;

/// How many objects of a commit are named to people.
const NAMED_OBJECTS: usize = 10;

impl BranchState {
    pub(super) fn take_outcome(
        &mut self,
        now: Now,
        outcome: CycleOutcome,
        effects: &mut Vec<Effect>,
    ) {
        self.cycle = CycleState::Rests;
        // A cycle that found out what an earlier writer had sent was no attempt to publish.
        let only_asked = self.recovery.is_unresolved() && outcome.fault.is_none();
        if let Some(stopping) = &mut self.stopping {
            stopping.tried |= !only_asked;
        }
        if let Some(proved) = outcome.base {
            self.take_base(now, proved);
        }
        if outcome.foreign.is_some() {
            self.targets.reconsider_refusals();
            self.foreign = outcome.foreign;
        }
        for scan in outcome.folders {
            if let Some(target) = self.targets.get_mut(&scan.target) {
                target.note_layout(now, scan.layout, scan.commit);
            }
            self.take_folder(&scan.target, scan.state, effects);
        }
        for replay in outcome.replayed {
            self.take_replay(replay, effects);
        }
        for decided in outcome.drafts {
            self.take_draft(now, decided, effects);
        }
        if let Some(published) = outcome.published {
            self.take_publication(now, published, effects);
        }
        match outcome.fault {
            None => {
                self.trusted = true;
                self.retry = None;
                self.unanswered.clear();
                self.resolve_doubts(now, &outcome.landed);
            }
            Some(fault) => {
                // Neither the branch nor its parent is there, so nothing has landed.
                let is_nowhere = fault.kind == PublicationFault::ParentMissing;
                self.take_fault(now, fault);
                if is_nowhere {
                    self.resolve_doubts(now, &outcome.landed);
                }
            }
        }
        for key in std::mem::take(&mut self.changed_meanwhile) {
            self.targets.reconsider_refusals_of(&key);
        }
    }

    /// The job broke down and took the local store with it. What was decided is still here.
    pub(super) fn take_loss(&mut self, now: Now) {
        self.cycle = CycleState::Rests;
        self.trusted = false;
        self.look_wanted = true;
        if let Some(stopping) = &mut self.stopping {
            stopping.tried = true;
        }
        let message =
            "the Git job broke down; its local store is dropped and fetched again".to_owned();
        self.wait_out(
            now,
            Fault {
                kind: PublicationFault::Store,
                message,
                not_before: None,
                unanswered: None,
            },
        );
    }

    fn take_base(&mut self, now: Now, proved: ProvedBase) {
        self.base = Some(Base {
            commit: proved.commit,
            proved_at: now,
            proved_by: proved.by,
            parent: proved.parent,
        });
    }

    fn take_fault(&mut self, now: Now, fault: Fault) {
        self.trusted = false;
        // The next attempt looks again, whatever the failed one was for.
        self.look_wanted = true;
        // Once a push is unanswered it stays so until somebody has looked, whatever fails in between.
        // A slow server may still take an earlier one after a later one was sent.
        if let Some(sent) = &fault.unanswered
            && !self.unanswered.contains(sent)
        {
            self.unanswered.push(sent.clone());
        }
        // A store that failed is dropped and another one fetched at once; only when that one fails too it is waited.
        let is_store = |fault| fault == PublicationFault::Store;
        let before = self.retry.as_ref().map(|retry| retry.fault);
        let fetch_at_once = is_store(fault.kind) && !before.is_some_and(is_store);
        self.wait_out(now, fault);
        if let Some(retry) = self.retry.as_mut().filter(|_| fetch_at_once) {
            retry.retry_at = now;
        }
    }

    /// A look found a folder as it is. People are told when it is refused for another reason than before.
    fn take_folder(&mut self, key: &TargetKey, state: FolderState, effects: &mut Vec<Effect>) {
        let Some(target) = self.targets.get_mut(key) else {
            return;
        };
        if target.folder == state {
            return;
        }
        if let FolderState::Refused(issues) = &state {
            effects.extend(told(key, issues.clone()));
        }
        target.folder = state;
    }

    fn take_draft(&mut self, now: Now, outcome: DraftOutcome, effects: &mut Vec<Effect>) {
        let Some(position) = self.drafts.iter().position(|draft| draft.id == outcome.id) else {
            return;
        };
        let Some(draft) = self.drafts.remove(position) else {
            return;
        };
        match outcome.result {
            DraftResult::FolderRefused(issues) => {
                self.settle(draft.numbers.clone(), Settlement::Refused);
                self.refuse_folder(&draft, issues, effects);
            }
            DraftResult::Suspended => {
                self.settle(draft.numbers.clone(), Settlement::Dropped);
                for collection in draft.collections() {
                    self.targets.note_lost(draft.target_key(), collection);
                }
            }
            DraftResult::Judged(verdict) => self.take_verdict(now, &draft, *verdict, effects),
        }
    }

    /// The whole folder was refused: nothing of the draft is written, and a fresh snapshot has to bring it
    /// back once the folder is accepted.
    fn refuse_folder(&mut self, draft: &Draft, issues: Vec<Refusal>, effects: &mut Vec<Effect>) {
        let key = draft.target_key().clone();
        if let Some(target) = self.targets.get_mut(&key) {
            target.lost.extend(draft.collections());
        }
        self.take_folder(&key, FolderState::Refused(issues), effects);
    }

    fn take_verdict(
        &mut self,
        now: Now,
        draft: &Draft,
        verdict: Verdict,
        effects: &mut Vec<Effect>,
    ) {
        let key = draft.target_key().clone();
        if let Some(target) = self.targets.get_mut(&key) {
            target.folder = FolderState::Accepted;
            for collection in draft.collections() {
                let to = match verdict.write {
                    Some(_) => CollectionProgress::Decided,
                    None => CollectionProgress::Published,
                };
                if matches!(draft.kind, super::DraftKind::Resync(_)) {
                    target.advance(&collection, to);
                }
            }
            note_retained(now, draft, verdict.retained, target);
        }
        let is_refused = !verdict.refused.is_empty();
        self.note_refusals(draft, verdict.refused, effects);
        match verdict.write {
            Some(write) => self.pending.push_back(Arc::new(write)),
            None if is_refused => self.settle(draft.numbers.clone(), Settlement::Refused),
            None => self.settle(draft.numbers.clone(), Settlement::Unneeded),
        }
    }

    /// Replaces what was known of the draft's objects: a refusal stands until the object is written.
    fn note_refusals(
        &mut self,
        draft: &Draft,
        refused: BTreeMap<ResourceId, Refusal>,
        effects: &mut Vec<Effect>,
    ) {
        let key = draft.target_key().clone();
        let Some(target) = self.targets.get_mut(&key) else {
            // The target has left, and somebody should know what became of its last changes.
            let told = refused.into_values();
            effects.extend(told.map(|refusal| tell_refused(&key, refusal)));
            return;
        };
        let collection_of =
            |id: &ResourceId| draft.collections().into_iter().find(|one| one.holds(id));
        let judged = |id: &ResourceId| match &draft.kind {
            super::DraftKind::Window { entries, .. } => {
                entries.iter().any(|entry| entry.object_id() == id)
            }
            super::DraftKind::Resync(snapshot) => snapshot.collection.holds(id),
        };
        let known = std::mem::take(&mut target.refused);
        target.refused = known
            .iter()
            .filter(|(id, _)| !judged(id))
            .map(|(id, why)| (id.clone(), why.clone()))
            .collect();
        for (id, refusal) in refused {
            let news = known.get(&id).is_none_or(|(before, _)| *before != refusal);
            if news {
                let refusal = refusal.clone();
                effects.push(tell_refused(&key, refusal));
            }
            let collection: Option<Collection> = collection_of(&id);
            target.refused.insert(id, (refusal, collection));
        }
    }

    fn take_replay(&mut self, replay: Replay, effects: &mut Vec<Effect>) {
        let Some(position) = self.pending.iter().position(|write| write.id == replay.id) else {
            return;
        };
        let before = Arc::clone(&self.pending[position]);
        let how = if replay.refusals.is_empty() {
            Settlement::Unneeded
        } else {
            Settlement::Refused
        };
        self.refuse_pending(&before, replay.refusals, effects);
        match replay.write {
            Some(write) => self.pending[position] = Arc::new(write),
            None => {
                self.settle(before.numbers.clone(), how);
                self.pending.remove(position);
                self.advance_published(&before);
            }
        }
    }

    /// Part of a decided write, or all of it, found no place on the newer tip. Only a fresh snapshot brings it
    /// back.
    fn refuse_pending(
        &mut self,
        write: &PendingWrite,
        refusals: Vec<Refusal>,
        effects: &mut Vec<Effect>,
    ) {
        if refusals.is_empty() {
            return;
        }
        let key = write.target.key.clone();
        let Some(target) = self.targets.get_mut(&key) else {
            effects.extend(told(&key, refusals));
            return;
        };
        target.lost.extend(write.collections.iter().cloned());
        if refusals
            .iter()
            .any(|refusal| refusal.scope == RefusalScope::Folder)
        {
            return self.take_folder(&key, FolderState::Refused(refusals), effects);
        }
        for refusal in &refusals {
            if let Some(object) = &refusal.object {
                let collection = write
                    .collections
                    .iter()
                    .find(|one| one.holds(object))
                    .cloned();
                target
                    .refused
                    .insert(object.clone(), (refusal.clone(), collection));
            }
        }
        effects.extend(told(&key, refusals));
    }

    fn take_publication(&mut self, now: Now, published: Published, effects: &mut Vec<Effect>) {
        self.unanswered.clear();
        let view = PushView {
            commit: published.tip.clone(),
            at: now.wall,
        };
        if published.by == ProvedBy::Push {
            self.recovery.nothing_lands_any_more();
            self.last_push = Some((view, now));
        }
        while self
            .pending
            .front()
            .is_some_and(|write| write.id <= published.through)
        {
            if let Some(write) = self.pending.pop_front() {
                self.settle(write.numbers.clone(), Settlement::Published);
                self.advance_published(&write);
                self.note_commit(&write.target.key, &write.commit);
                effects.push(Effect::Announce(Box::new(self.announce(&write))));
            }
        }
    }

    fn note_commit(&mut self, target: &TargetKey, commit: &CommitId) {
        if let Some(target) = self.targets.get_mut(target) {
            target.last_commit = Some(commit.clone());
        }
    }

    fn advance_published(&mut self, write: &PendingWrite) {
        if write.source == WriteSource::Live {
            return;
        }
        if let Some(target) = self.targets.get_mut(&write.target.key) {
            for collection in &write.collections {
                target.advance(collection, CollectionProgress::Published);
            }
        }
    }

    fn announce(&self, write: &PendingWrite) -> Occurrence {
        Occurrence::Published {
            target: write.target.key.clone(),
            commit: write.commit.clone(),
            branch: self.identity.branch.clone(),
            subject: write.message.lines().next().unwrap_or_default().to_owned(),
            objects: write.objects.iter().take(NAMED_OBJECTS).cloned().collect(),
            count: write.objects.len(),
        }
    }
}

/// Tells people of the first refusals of one write; a folder can have hundreds of one cause.
fn told(target: &TargetKey, refusals: Vec<Refusal>) -> impl Iterator<Item = Effect> + use<> {
    let target = target.clone();
    refusals
        .into_iter()
        .take(NAMED_OBJECTS)
        .map(move |refusal| tell_refused(&target, refusal))
}

fn tell_refused(target: &TargetKey, refusal: Refusal) -> Effect {
    Effect::Announce(Box::new(Occurrence::Refused {
        target: target.clone(),
        refusal,
    }))
}

/// Replaces what was known of the draft's objects: a document counts as kept until its object is back or the
/// document is gone.
fn note_retained(
    now: Now,
    draft: &Draft,
    retained: BTreeSet<ResourceId>,
    target: &mut super::targets::TargetState,
) {
    let mut changed = false;
    match &draft.kind {
        super::DraftKind::Resync(snapshot) => {
            let before = target
                .retained
                .insert(snapshot.collection.clone(), retained);
            changed = before.as_ref() != target.retained.get(&snapshot.collection);
        }
        super::DraftKind::Window { entries, .. } => {
            for entry in entries {
                let id = entry.object_id();
                let known = target.retained.iter_mut();
                for (_, known) in known.filter(|(collection, _)| collection.holds(id)) {
                    changed |= if retained.contains(id) {
                        known.insert(id.clone())
                    } else {
                        known.remove(id)
                    };
                }
            }
        }
    }
    if changed {
        target.retention_changed_at = now.wall;
    }
}
