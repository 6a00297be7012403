//! What a branch actor says about its branch and about each target on it.

use std::collections::BTreeMap;

use model::{
    Author, BranchName, Collection, CommitId, GitBranchKey, Layout, Millis, Refusal, RepositoryId,
    TargetKey, TypeId,
};
use serde::{Deserialize, Serialize};

/// Everything that readers may know about one branch. Times are wall-clock milliseconds since 1970.
#[derive(Debug, Clone, PartialEq)]
pub struct BranchView {
    /// The `GitBranch` that the actor writes for.
    pub key: GitBranchKey,
    /// The repository.
    pub repository: RepositoryId,
    /// The branch.
    pub branch: BranchName,
    /// Where the branch is on the remote, once anything has looked.
    pub base: Option<BaseView>,
    /// The newest commit of somebody else that was noticed on the branch: what our commits have built on since, or will.
    /// Whoever applies the branch has to have asked for it.
    pub foreign: Option<CommitId>,
    /// The open commit window.
    pub window: Option<WindowView>,
    /// Writes that are decided and not yet published, oldest first.
    pub pending: Vec<PendingView>,
    /// Changes that are accepted and not yet in a window or a pending write.
    pub queued: usize,
    /// Bytes that count against the buffer.
    pub buffered_bytes: usize,
    /// Whether publishing works.
    pub publication: Publication,
    /// Whether changes are taken in.
    pub intake: IntakeState,
    /// Whether accepted changes are kept on the disk until they are settled.
    pub journal: JournalState,
    /// The last push that the server accepted.
    pub last_push: Option<PushView>,
    /// The targets on the branch.
    pub targets: BTreeMap<TargetKey, TargetView>,
}

impl BranchView {
    /// Tells people of a wait for a turn. The moment that it began is given as a text.
    pub fn wait_for_a_turn(&self, since: &str) -> String {
        let host = self.repository.host();
        format!("waits since {since} for a turn at {host}: other branches speak with that host")
    }
}

/// Where the branch is on the remote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseView {
    /// The tip, or `None` while the branch is not on the remote.
    pub commit: Option<CommitId>,
    /// When that was proved.
    pub proved_at: Millis,
    /// What proved it.
    pub proved_by: ProvedBy,
    /// What the branch would be created from, while it is not on the remote.
    pub parent: Option<ParentView>,
}

/// What proved where a branch is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProvedBy {
    /// The server accepted an update of ours.
    Push,
    /// The actor looked.
    Fetch,
}

/// What a branch that does not exist yet would be created from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParentView {
    /// Whether the parent is there.
    pub state: ParentState,
    /// The parent's name, when one is known.
    pub branch: Option<BranchName>,
    /// The parent's tip, when it was found.
    pub commit: Option<CommitId>,
}

/// Whether the parent of a branch is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ParentState {
    /// The first commit builds on the parent's tip.
    Found,
    /// The parent is not on the remote either, so nothing is written.
    Missing,
    /// The repository is empty: the first commit starts a history.
    Unborn,
}

/// The open commit window.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowView {
    /// Whose changes it collects.
    pub author: Author,
    /// The target that it collects for.
    pub target: TargetKey,
    /// How many objects it holds.
    pub entries: usize,
    /// When it was opened.
    pub opened_at: Millis,
    /// When it closes if nothing more arrives.
    pub closes_at: Millis,
}

/// One write that is decided and not yet published.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingView {
    /// The target whose folder it changes.
    pub target: TargetKey,
    /// How many objects it holds.
    pub objects: usize,
    /// Since when it waits.
    pub since: Millis,
}

/// Whether publishing works.
#[derive(Debug, Clone, PartialEq)]
pub enum Publication {
    /// Nothing stands in the way.
    Healthy,
    /// Other branches speak with the same host, and this one has waited for its turn for a while.
    Waiting {
        /// Since when.
        since: Millis,
    },
    /// The remote did not take or answer the last attempt. Nothing is lost; it is tried again.
    Failing {
        /// When the trouble began.
        since: Millis,
        /// What kind of trouble.
        fault: PublicationFault,
        /// What happened, safe to show.
        message: String,
        /// How many attempts failed.
        attempts: u32,
        /// When the next one is made.
        retry_at: Millis,
    },
}

/// Why publishing does not work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PublicationFault {
    /// The server could not be reached, or did not answer as one.
    Unreachable,
    /// The server did not accept the credential.
    Credential,
    /// The server opened the session and refused the branch (D35).
    PushRefused,
    /// Neither the branch nor its parent is on the remote.
    ParentMissing,
    /// The branch moved each time before the push arrived.
    Contended,
    /// The local store failed.
    Store,
    /// Commits are to be signed, and the key cannot be used.
    Signing,
}

/// Whether changes are taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum IntakeState {
    /// Changes are accepted.
    Open,
    /// The buffer is full and nothing can be published: watches wait.
    Paused,
}

/// Whether accepted changes are kept on the disk until they are settled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JournalState {
    /// No journal is kept.
    Off,
    /// Every accepted change is in it.
    Healthy,
    /// What an earlier writer left in it has not been read for a while, and nothing is written before it is.
    Unread {
        /// When people were told.
        since: Millis,
    },
    /// It cannot be written; changes are mirrored without it.
    Failing {
        /// When the trouble began.
        since: Millis,
        /// What happened, and what to do.
        message: String,
    },
}

/// A push that the server accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushView {
    /// The tip that it produced.
    pub commit: CommitId,
    /// When it was accepted.
    pub at: Millis,
}

/// What the branch actor knows about one target.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TargetView {
    /// Whether the folder can be written.
    pub folder: FolderState,
    /// Which kustomization governs the folder, once a look found out.
    pub layout: Option<LayoutView>,
    /// Objects that could not be written and still cannot, with the reason of each.
    pub refused: Vec<Refusal>,
    /// How far the first snapshot of each collection has come.
    pub collections: BTreeMap<Collection, CollectionProgress>,
    /// What the prune mode kept, once a snapshot was decided.
    pub retention: Option<Retention>,
    /// The last published commit that changed the folder.
    pub last_commit: Option<CommitId>,
    /// Objects that are accepted for the folder and not yet published.
    pub pending_objects: usize,
    /// Collections of which changes were refused or held back that may be writable now: each needs a fresh
    /// snapshot to find out.
    pub resync_needed: Vec<Collection>,
}

/// Whether a folder can be written.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub enum FolderState {
    /// Nothing has looked yet.
    #[default]
    NotChecked,
    /// The folder was accepted.
    Accepted,
    /// The folder was refused as a whole; every issue is listed.
    Refused(Vec<Refusal>),
}

/// Which kustomization governs a folder, and since when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayoutView {
    /// What looks have found since then.
    pub layout: Layout,
    /// The commit in which it was found first; `None` while the branch has none.
    pub commit: Option<CommitId>,
    /// When the actor saw it change into this; `None` where its first look found it so, which says nothing
    /// about how long it has been.
    pub changed_at: Option<Millis>,
}

/// How far the first snapshot of a collection has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CollectionProgress {
    /// The snapshot is accepted and waits to be decided.
    Queued,
    /// The snapshot is decided; its commit waits to be published.
    Decided,
    /// The snapshot's outcome is on the remote, or it changed nothing.
    Published,
}

/// What the prune mode kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retention {
    /// The mode that was in force: `Never`, `OnEvent` or `Always`.
    pub mode: String,
    /// Documents that a converged mirror would not hold, by type.
    pub by_type: BTreeMap<String, u64>,
    /// When count or mode last changed.
    pub changed_at: Millis,
}

impl Retention {
    /// Returns the number of documents that were kept.
    pub fn total(&self) -> u64 {
        self.by_type.values().sum()
    }

    /// Returns the key under which a type is counted.
    pub fn type_key(type_id: &TypeId) -> String {
        type_id.to_string()
    }
}

impl TargetView {
    /// Says whether the first snapshot of each of these collections is on the remote.
    pub fn first_replay_published<'a>(
        &self,
        mut wanted: impl Iterator<Item = &'a Collection>,
    ) -> bool {
        wanted.all(|collection| {
            self.collections.get(collection) == Some(&CollectionProgress::Published)
        })
    }
}
