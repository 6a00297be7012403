//! From what Git reports to what the machine waits out.

use board::PublicationFault;
use repository::{RemoteError, StoreError};

use super::Fault;

/// The longest wait that a server can ask for (D35).
const LONGEST_ASKED_WAIT: u64 = 60 * 60 * 1000;

/// Says what a failure of the remote means for the branch. The text is the error's own, which is safe to
/// show.
pub(super) fn from_remote(error: &RemoteError) -> Fault {
    let kind = match error {
        RemoteError::Unauthorized | RemoteError::Forbidden => PublicationFault::Credential,
        RemoteError::Store(_) | RemoteError::HistoryMissing => PublicationFault::Store,
        _ => PublicationFault::Unreachable,
    };
    let not_before = match error {
        RemoteError::ServerError {
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
        ambiguous: None,
    }
}

/// Says what a failure of the local store means: it is dropped and fetched again.
pub(super) fn from_store(error: &StoreError) -> Fault {
    store_fault(error.to_string())
}

pub(super) fn store_fault(message: String) -> Fault {
    Fault {
        kind: PublicationFault::Store,
        message,
        not_before: None,
        ambiguous: None,
    }
}
