//! From what Git reports to what the machine waits out.

use board::PublicationFault;
use model::{
    Actor, FolderPath, IssueKind, Location, ReadError, Refusal, RefusalCode, RefusalScope,
};
use repository::{RemoteError, StoreError};

use super::Fault;

/// The longest wait that a server can ask for (D35).
const LONGEST_ASKED_WAIT: u64 = 60 * 60 * 1000;

/// Says what a failure of the remote means for the branch. The text is the error's own, which is safe to
/// show.
pub(super) fn from_remote(error: &RemoteError) -> Fault {
    let kind = match error {
        RemoteError::Unauthorized
        | RemoteError::Forbidden { .. }
        | RemoteError::SshKeyRefused { .. } => PublicationFault::Credential,
        RemoteError::Store(_) | RemoteError::HistoryMissing => PublicationFault::Store,
        // A lock that somebody holds goes away as a race does.
        RemoteError::NotUpdated { .. } => PublicationFault::Contended,
        _ => PublicationFault::Unreachable,
    };
    let not_before = match error {
        RemoteError::ServerError {
            retry_after: Some(wait),
            ..
        }
        | RemoteError::Forbidden {
            retry_after: Some(wait),
            ..
        } => u64::try_from(wait.as_millis())
            .ok()
            .map(|wait| wait.min(LONGEST_ASKED_WAIT)),
        _ => None,
    };
    Fault {
        kind,
        message: error.to_string(),
        not_before,
        unanswered: None,
    }
}

/// Says what a failure of the local store means: it is dropped and fetched again.
pub(super) fn from_store(error: &StoreError) -> Fault {
    store_fault(error.to_string())
}

/// Says what content that cannot be read means: the store is damaged, is dropped and fetched again.
pub(super) fn from_read(error: &ReadError) -> Fault {
    store_fault(error.source.to_string())
}

pub(super) fn store_is_closed() -> Fault {
    store_fault("the local store is not open".to_owned())
}

/// Says what a commit means that is to be signed and cannot be: it waits, because an unsigned one may be refused or
/// trusted less.
pub(super) fn unsigned(message: String) -> Fault {
    Fault {
        kind: PublicationFault::Signing,
        message,
        not_before: None,
        unanswered: None,
    }
}

pub(super) fn store_fault(message: String) -> Fault {
    Fault {
        kind: PublicationFault::Store,
        message,
        not_before: None,
        unanswered: None,
    }
}

/// Says whether a failure is about what the commit holds at the folder's path, and not about the store. Then
/// it refuses this one folder and nothing else on the branch.
pub(super) fn folder_refusal(error: &StoreError, folder: &FolderPath) -> Option<Refusal> {
    let (issue, remedy) = match error {
        StoreError::NotAFolder { .. } => (
            IssueKind::ForeignFile,
            "make the path a folder again, or give the target another path",
        ),
        StoreError::Edit(_) => (
            IssueKind::WriteEscapesScope,
            "remove what stands in the way, or give the target another path",
        ),
        StoreError::Damaged { .. }
        | StoreError::UnknownCommit { .. }
        | StoreError::Signing(_)
        | StoreError::Io { .. } => {
            return None;
        }
    };
    Some(Refusal {
        code: RefusalCode::UnsupportedContent,
        issue: Some(issue),
        scope: RefusalScope::Folder,
        object: None,
        at: folder.as_repo_path().map(|path| Location {
            path: path.clone(),
            line: None,
            field: None,
        }),
        actor: Actor::Author,
        message: error.to_string(),
        remedy: remedy.to_owned(),
    })
}
