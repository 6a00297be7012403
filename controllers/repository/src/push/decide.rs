//! The judgements of a push, as functions of what the server said.

use model::CommitId;

use super::format_of;
use crate::advertisement::Advertisement;
use crate::conversation::{CallError, Sent};
use crate::error::RemoteError;
use crate::remote::{PushOutcome, PushRequest};
use crate::text;
use crate::wire::refs::Capabilities;

/// Why a server did not move the branch.
pub(super) struct Rejection<'a> {
    /// The reason in the report.
    pub(super) reason: &'a str,
    /// Whether the objects were taken.
    pub(super) unpacked: bool,
    /// What it said beside the report, fit to be shown.
    pub(super) words: &'a str,
}

/// Reasons by which Git itself says that it could not, as opposed to would not, move a branch.
const COULD_NOT: [&str; 4] = [
    "failed to update ref",
    "failed to lock",
    "atomic transaction failed",
    "transaction failed to start",
];
/// The reason by which Git says that objects below our commit are missing.
const HISTORY_MISSING: &str = "missing necessary objects";

/// Says whether the request may be sent to a server in this state.
pub(super) fn compare(
    advertisement: &Advertisement,
    capabilities: &Capabilities,
    request: &PushRequest,
) -> Result<(), Box<PushOutcome>> {
    let now = advertisement.branch(&request.branch);
    if now == Some(&request.new) {
        let tip = request.new.clone();
        return Err(Box::new(PushOutcome::Landed { tip }));
    }
    let parent_moved = request
        .parent_check
        .as_ref()
        .is_some_and(|(parent, expected)| advertisement.branch(parent) != Some(expected));
    let gained_refs = request.must_be_empty && !advertisement.is_empty();
    if now != request.expected.as_ref() || parent_moved || gained_refs {
        return Err(Box::new(moved(advertisement.clone(), request)));
    }
    if let Some(existing) = advertisement.name_conflict(&request.branch) {
        return Err(Box::new(PushOutcome::Refused {
            text: format!(
                "branch {} cannot exist beside branch {existing}: Git keeps one name per folder",
                request.branch
            ),
        }));
    }
    // An empty repository may be announced without capabilities and without its hash.
    if !advertisement.is_empty() && advertisement.object_format != format_of(&request.new) {
        return Err(unsupported(
            "the repository uses another hash than the store",
        ));
    }
    if !capabilities.has("report-status") && !capabilities.has("report-status-v2") {
        return Err(unsupported(
            "the server does not report what became of a push",
        ));
    }
    Ok(())
}

/// Judges a call whose answer did not come.
pub(super) fn after_failed_call(failed: CallError, sent: &CommitId) -> PushOutcome {
    let too_busy = matches!(
        failed.error,
        RemoteError::ServerError {
            status: 408 | 429,
            ..
        }
    );
    match failed.sent {
        Sent::Nothing => PushOutcome::Failed(failed.error),
        Sent::TurnedAway if too_busy => PushOutcome::Transient(failed.error),
        Sent::TurnedAway => PushOutcome::Failed(failed.error),
        Sent::Perhaps => PushOutcome::Ambiguous {
            sent: sent.clone(),
            cause: failed.error,
        },
    }
}

/// Judges a rejection by where the branch is now, never by the words alone: they differ between servers
/// and do not tell a lost race from a lock.
pub(super) fn after_rejection(
    advertisement: Advertisement,
    request: &PushRequest,
    rejection: &Rejection<'_>,
) -> PushOutcome {
    let now = advertisement.branch(&request.branch);
    if now == Some(&request.new) {
        let tip = request.new.clone();
        return PushOutcome::Landed { tip };
    }
    if now != request.expected.as_ref() {
        return moved(advertisement, request);
    }
    if rejection.reason == HISTORY_MISSING {
        return PushOutcome::Transient(RemoteError::HistoryMissing);
    }
    let text = said(rejection);
    if rejection.unpacked && COULD_NOT.contains(&rejection.reason) {
        return PushOutcome::Transient(RemoteError::NotUpdated { text });
    }
    PushOutcome::Refused { text }
}

fn moved(advertisement: Advertisement, request: &PushRequest) -> PushOutcome {
    PushOutcome::Moved {
        now: advertisement.branch(&request.branch).cloned(),
        advertisement,
    }
}

fn unsupported(what: &'static str) -> Box<PushOutcome> {
    Box::new(PushOutcome::Failed(RemoteError::Unsupported { what }))
}

/// Joins the reason with what a hook said, which is where the explanation usually stands.
fn said(rejection: &Rejection<'_>) -> String {
    let reason = text::shown(rejection.reason.as_bytes());
    if rejection.words.is_empty() {
        return reason;
    }
    text::shown(format!("{reason}: {}", rejection.words).as_bytes())
}

#[cfg(test)]
#[path = "decide_tests.rs"]
mod tests;
