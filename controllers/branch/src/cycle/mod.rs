//! The one Git job: look, plan on the tip, commit in memory, push with compare-and-swap, replay.
//!
//! A [`Workshop`] owns everything that the job changes (the way to the remote, the local store, the commits
//! that are not published yet) and is handed back when the job ends, so two jobs cannot run. What the
//! machine wants is a [`CycleRequest`]; what happened is a [`CycleOutcome`]; both are plain values. The job
//! decides nothing about time: no retry, no cooldown.

mod decide;
mod fault;
mod keep;
mod order;
mod projection;
mod publish;
pub(crate) mod tally;
mod workshop;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use board::{FolderState, ParentView, ProvedBy, PublicationFault};
use model::{CommitId, Layout, Millis, Refusal, ResourceId, Signature, TargetKey};
use serde::{Deserialize, Serialize};

use crate::message::TargetConfig;
use crate::state::{Draft, PendingWrite, WriteId};
pub use tally::{DocumentOutcome, Tally};
pub use workshop::{Catalogs, Keyring, Ledger, LedgerClosed, Workshop};

/// What one cycle is asked to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CycleRequest {
    /// Whether the base may be planned on before the remote was asked.
    pub trusted: bool,
    /// The tip that the machine knows, to tell somebody else's commits from ours.
    pub known_tip: Option<CommitId>,
    /// Pushes that were never answered, oldest first: find out whether they landed.
    #[serde(default)]
    pub unanswered: Vec<Unanswered>,
    /// Pushes of an earlier writer that may land: find out which of them have, and then do nothing else.
    pub doubtful: Vec<Unanswered>,
    /// How long the cycle may take before it stops starting over, in milliseconds.
    pub budget: Millis,
    /// Whether what is decided may be pushed now.
    pub publish: bool,
    /// Whether to look at the remote even when there is nothing to write.
    pub look: bool,
    /// Who commits.
    pub committer: Signature,
    /// Every target on the branch, as it is configured now.
    pub targets: Vec<Arc<TargetConfig>>,
    /// Decided writes that are not on the remote, oldest first.
    pub pending: Vec<Arc<PendingWrite>>,
    /// Writes to decide, oldest first.
    pub drafts: Vec<Arc<Draft>>,
}

/// What one cycle came to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CycleOutcome {
    /// Where the branch is, if that was proved.
    pub base: Option<ProvedBase>,
    /// The tip, if it is neither known nor ours: somebody else has pushed.
    pub foreign: Option<CommitId>,
    /// How many pushes of the cycle found the branch elsewhere.
    #[serde(default)]
    pub lost_races: u32,
    /// Folders that were looked at.
    pub folders: Vec<FolderScan>,
    /// Pending writes that were made again on a newer tip.
    pub replayed: Vec<Replay>,
    /// Drafts that were decided, in order; the rest waits.
    pub drafts: Vec<DraftOutcome>,
    /// What reached the remote.
    pub published: Option<Published>,
    /// Why commits were fetched, once for each fetch.
    pub fetches: Vec<FetchReason>,
    /// Those of the doubtful commits that are on the branch.
    pub landed: BTreeSet<CommitId>,
    /// What went wrong.
    pub fault: Option<Fault>,
}

/// Why commits were fetched from the remote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FetchReason {
    /// The local store was empty.
    Initial,
    /// A look, because one was due or asked for, found commits of somebody else.
    Refresh,
    /// A push found that the branch had moved.
    Moved,
    /// The local store had grown and was begun anew.
    Renewal,
}

impl FetchReason {
    /// Returns the text that metrics use.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Initial => "initial",
            Self::Refresh => "refresh",
            Self::Moved => "moved",
            Self::Renewal => "renewal",
        }
    }
}

/// Where the branch is on the remote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProvedBase {
    /// The tip, or `None` while the branch is not there.
    pub commit: Option<CommitId>,
    /// What proved it.
    pub by: ProvedBy,
    /// What the branch would be created from, while it is not there.
    pub parent: Option<ParentView>,
}

/// What a look at a folder found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FolderScan {
    /// Whose folder.
    pub target: TargetKey,
    /// The commit that was looked at; `None` before a first one.
    pub commit: Option<CommitId>,
    /// Whether the folder can be written.
    pub state: FolderState,
    /// Which kustomization governs it; `None` where there is no folder to look into.
    pub layout: Option<Layout>,
}

/// A push that was sent and not answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unanswered {
    /// The commit that was sent.
    pub commit: CommitId,
    /// The tip that it was sent on, below which it cannot be.
    pub on: Option<CommitId>,
    /// The last write in it, with which those before it were sent; `None` for a push of an earlier writer.
    #[serde(default)]
    pub through: Option<WriteId>,
}

/// What became of a pending write on a newer tip.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Replay {
    /// Which write.
    pub id: WriteId,
    /// The write as it is now; `None` when the newer tip holds all of it, or nothing of it has a place there.
    pub write: Option<PendingWrite>,
    /// What of it was refused on the newer tip; all of scope folder when the folder itself was.
    pub refusals: Vec<Refusal>,
}

/// What became of one draft.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DraftOutcome {
    /// Which draft.
    pub id: WriteId,
    /// What became of it.
    pub result: DraftResult,
}

/// What became of one draft.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum DraftResult {
    /// The folder was refused as a whole, with every issue.
    FolderRefused(Vec<Refusal>),
    /// The target is suspended, so nothing was planned.
    Suspended,
    /// Each object was judged.
    Judged(Box<Verdict>),
}

/// How the objects of a draft were judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// What was committed; `None` when nothing differs from the branch.
    pub write: Option<PendingWrite>,
    /// Objects that could not be written.
    #[serde(with = "crate::record::as_pairs")]
    pub refused: BTreeMap<ResourceId, Refusal>,
    /// Objects that are gone and whose documents the prune mode kept.
    pub retained: BTreeSet<ResourceId>,
    /// What is counted of the rest.
    pub tally: Tally,
}

/// What reached the remote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Published {
    /// The tip that the remote has now.
    pub tip: CommitId,
    /// Every pending write up to this one is on the remote.
    pub through: WriteId,
    /// Whether the server answered the push, or a look found the commit there.
    pub by: ProvedBy,
}

/// Why a cycle could not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// What kind of trouble.
    pub kind: PublicationFault,
    /// What happened, safe to show.
    pub message: String,
    /// The least wait that the server asked for, in milliseconds.
    pub not_before: Option<Millis>,
    /// The push that was sent and not answered.
    pub unanswered: Option<Unanswered>,
}
