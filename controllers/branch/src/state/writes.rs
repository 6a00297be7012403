//! Writes on their way: first drafts, then decided and waiting for the remote.

use std::sync::Arc;

use manifests::DecidedActions;
use model::{
    Author, Collection, CommitId, Delivery, Now, ResourceId, ServedType, Snapshot, TargetKey,
};
use serde::{Deserialize, Serialize};

use super::BranchState;
use crate::journal::{Numbers, Settled, Settlement};
use crate::message::TargetConfig;

/// Numbers the writes of one branch in the order in which they were closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct WriteId(pub u64);

impl WriteId {
    pub(super) const FIRST: Self = Self(1);
}

/// What is to be written, before anything judged it against the branch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Draft {
    /// Its number.
    pub id: WriteId,
    /// The target as it was configured when the draft was closed.
    pub target: Arc<TargetConfig>,
    /// When it was closed. The commit carries this time, so making it again gives the same commit.
    pub closed_at: Now,
    /// What it holds.
    pub kind: DraftKind,
    /// The accepted changes that went into it; none for a snapshot.
    pub numbers: Numbers,
    /// What it costs of the buffer.
    pub bytes: usize,
}

/// What a draft holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum DraftKind {
    /// A closed commit window.
    Window {
        /// Whose changes.
        author: Author,
        /// The last change of each object, in the order in which they were first seen.
        entries: Vec<Delivery>,
    },
    /// The complete set of a collection.
    Resync(Snapshot),
}

/// What a write came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum WriteSource {
    /// A commit window.
    Live,
    /// A snapshot.
    Resync,
}

/// A decided write that is not on the remote yet. It leaves only when it is published or refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PendingWrite {
    /// The number of the draft that it came from.
    pub id: WriteId,
    /// The target as it was configured when the draft was closed.
    pub target: Arc<TargetConfig>,
    /// When the draft was closed; also the time of the commit.
    pub closed_at: Now,
    /// Who the commit is by.
    pub author: Author,
    /// The commit message.
    pub message: String,
    /// Whether the message is the built-in one because the target's template failed on this commit.
    #[serde(default)]
    pub message_fell_back: bool,
    /// What may be done again on a newer tip, and nothing else.
    pub actions: DecidedActions,
    /// The objects whose documents it changed.
    pub objects: Vec<ResourceId>,
    /// What it came from.
    pub source: WriteSource,
    /// The collections that it brings changes of.
    pub collections: Vec<Collection>,
    /// The types of its objects, so that their documents are found whatever discovery says at the time.
    pub types: Vec<Arc<ServedType>>,
    /// The commit that it was last made into.
    pub commit: CommitId,
    /// The accepted changes that went into it; none for a snapshot.
    pub numbers: Numbers,
    /// What it costs of the buffer.
    pub bytes: usize,
}

impl Draft {
    /// Returns the target.
    pub fn target_key(&self) -> &TargetKey {
        &self.target.key
    }

    /// Returns the number of objects that it holds.
    pub fn len(&self) -> usize {
        match &self.kind {
            DraftKind::Window { entries, .. } => entries.len(),
            DraftKind::Resync(snapshot) => snapshot.objects.len(),
        }
    }

    /// Says whether it holds no object. A snapshot of an empty collection does not.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns who the commit is by: the operator for a snapshot.
    pub fn author(&self) -> Author {
        match &self.kind {
            DraftKind::Window { author, .. } => author.clone(),
            DraftKind::Resync(_) => Author::Operator,
        }
    }

    /// Returns what it comes from.
    pub fn source(&self) -> WriteSource {
        match self.kind {
            DraftKind::Window { .. } => WriteSource::Live,
            DraftKind::Resync(_) => WriteSource::Resync,
        }
    }

    /// Returns the types of its objects.
    pub fn types(&self) -> Vec<Arc<ServedType>> {
        match &self.kind {
            DraftKind::Window { entries, .. } => {
                let mut types: Vec<Arc<ServedType>> = Vec::new();
                for served in entries.iter().map(|entry| entry.change.served()) {
                    if !types.contains(served) {
                        types.push(Arc::clone(served));
                    }
                }
                types
            }
            DraftKind::Resync(snapshot) => vec![Arc::clone(&snapshot.served)],
        }
    }

    /// Returns the collections that it brings changes of.
    pub fn collections(&self) -> Vec<Collection> {
        match &self.kind {
            DraftKind::Window { entries, .. } => {
                let mut all: Vec<_> = entries
                    .iter()
                    .map(|entry| entry.collection.clone())
                    .collect();
                all.sort();
                all.dedup();
                all
            }
            DraftKind::Resync(snapshot) => vec![snapshot.collection.clone()],
        }
    }
}

impl BranchState {
    /// A snapshot closes the open window, so that what came before it is decided before it.
    pub(super) fn take_snapshot(&mut self, now: Now, snapshot: Snapshot) {
        self.close_window(now);
        self.recovery.forget_seen(&snapshot);
        let Some(target) = self.targets.config(&snapshot.target) else {
            return;
        };
        self.targets
            .note_queued(&snapshot.target, &snapshot.collection);
        if target.suspended {
            self.targets
                .note_lost(&snapshot.target, snapshot.collection);
            return;
        }
        let bytes = snapshot.size() + self.settings.item_charge * (1 + snapshot.objects.len());
        let kind = DraftKind::Resync(snapshot);
        let id = self.new_id();
        self.drafts.push_back(Arc::new(Draft {
            id,
            target,
            closed_at: now,
            kind,
            numbers: Numbers::default(),
            bytes,
        }));
    }

    /// Says that accepted changes need nothing more.
    pub(super) fn settle(&mut self, numbers: Numbers, how: Settlement) {
        if numbers.is_empty() {
            return;
        }
        match self.settled.last_mut() {
            Some(last) if last.how == how => last.numbers.extend(&numbers),
            _ => self.settled.push(Settled { numbers, how }),
        }
    }

    pub(super) fn new_id(&mut self) -> WriteId {
        let id = self.next_id;
        self.next_id = WriteId(id.0 + 1);
        id
    }
}
