//! What the machine wants done. The shell does it without deciding anything.

use model::{BranchName, CommitId, Refusal, ResourceId, TargetKey};
use serde::{Deserialize, Serialize};

use crate::cycle::CycleRequest;
use crate::journal::Settled;

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Effect {
    /// Wait for a turn at the host, and say when it has come. Asked for once before each cycle.
    AskForTurn,
    /// Run one cycle in the turn that came, and report its outcome. Never asked for while another one runs.
    RunCycle(Box<CycleRequest>),
    /// Tell people what happened.
    Announce(Box<Occurrence>),
    /// Accepted writes need nothing more. Each is settled once.
    Settle(Vec<Settled>),
    /// The machine has ended; this many writes could not be published.
    Stopped {
        /// Writes that were decided or open and are given up.
        unpublished: usize,
    },
}

/// Something that people want to hear about, once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Occurrence {
    /// A commit is on the remote.
    Published {
        /// The target whose folder it changed.
        target: TargetKey,
        /// The commit.
        commit: CommitId,
        /// The branch.
        branch: BranchName,
        /// The first line of its message.
        subject: String,
        /// The objects that it changed, at most as many as a person reads.
        objects: Vec<ResourceId>,
        /// How many objects it changed.
        count: usize,
    },
    /// A change was not written.
    Refused {
        /// The target whose folder it was for.
        target: TargetKey,
        /// Why, and what to do.
        refusal: Refusal,
    },
}
