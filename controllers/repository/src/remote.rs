//! What may be asked of a remote, and how a push can end.

use model::{BranchName, CommitId};

use crate::advertisement::Advertisement;
use crate::attempt::Pack;
use crate::conversation::Transport;
use crate::error::RemoteError;
use crate::push::{self, PushSession};
use crate::store::Store;
use crate::{fetch, look};

/// A Git repository elsewhere. Every call is one conversation: it blocks, it is bounded in time, and it
/// leaves nothing behind.
pub trait Remote: Send {
    /// Reads the branches and `HEAD` as a reader sees them.
    ///
    /// # Errors
    /// Fails when the remote cannot be read.
    fn look(&mut self) -> Result<Advertisement, RemoteError>;

    /// Opens a push session and closes it again, which proves that the credential may push.
    ///
    /// # Errors
    /// Fails when the session cannot be opened.
    fn prove_push(&mut self) -> Result<Advertisement, RemoteError>;

    /// Brings `tip` into the store. `known` is a commit that the store already has and that the remote
    /// probably has too: then only what lies between is fetched, and otherwise `tip` without its history.
    ///
    /// # Errors
    /// Fails when the commit cannot be fetched; the store is then as it was.
    fn fetch(
        &mut self,
        store: &mut Store,
        tip: &CommitId,
        known: Option<&CommitId>,
    ) -> Result<(), RemoteError>;

    /// Moves one branch to a new commit if it is where we believe it to be.
    fn push(&mut self, request: &PushRequest) -> PushOutcome;
}

impl<T: Transport + Send> Remote for T {
    fn look(&mut self) -> Result<Advertisement, RemoteError> {
        look::look(self).map_err(|error| self.veil().error(error))
    }

    fn prove_push(&mut self) -> Result<Advertisement, RemoteError> {
        let session = PushSession::open(self).map(PushSession::into_advertisement);
        session.map_err(|error| self.veil().error(error))
    }

    fn fetch(
        &mut self,
        store: &mut Store,
        tip: &CommitId,
        known: Option<&CommitId>,
    ) -> Result<(), RemoteError> {
        let fetched = fetch::fetch(self, store, tip, known);
        fetched.map_err(|error| self.veil().error(error))
    }

    fn push(&mut self, request: &PushRequest) -> PushOutcome {
        let outcome = push::push(self, request);
        self.veil().push(outcome)
    }
}

/// One branch, from where to where. The same request may be sent again: the comparison makes that harmless.
#[derive(Debug, Clone)]
pub struct PushRequest {
    /// The branch to move or create.
    pub branch: BranchName,
    /// Where the branch must be now; `None` creates it.
    pub expected: Option<CommitId>,
    /// Where it shall be.
    pub new: CommitId,
    /// The objects that the remote does not have.
    pub pack: Pack,
    /// Another branch that must still be where it was: the parent of a new branch.
    pub parent_check: Option<(BranchName, CommitId)>,
    /// Whether the repository must have no refs at all: a first commit without a parent.
    pub must_be_empty: bool,
}

/// How a push ended.
#[derive(Debug)]
pub enum PushOutcome {
    /// The branch is at our commit.
    Landed {
        /// Our commit.
        tip: CommitId,
    },
    /// The branch, its parent or the emptiness of the repository is not what the request expects. Our
    /// commit did not land.
    Moved {
        /// Where the branch is.
        now: Option<CommitId>,
        /// Everything the server said.
        advertisement: Advertisement,
    },
    /// The server does not let this branch be moved (a hook, a protected branch). It is where it was.
    Refused {
        /// The server's words.
        text: String,
    },
    /// Our commit did not land, and the same request may be sent again later.
    Transient(RemoteError),
    /// The commit was sent, and what became of it is not known: only looking can tell.
    Ambiguous {
        /// The commit that was sent.
        sent: CommitId,
        /// Why the answer is missing.
        cause: RemoteError,
    },
    /// No session could be opened, or the server turned the whole request away. Our commit did not land.
    Failed(RemoteError),
}
