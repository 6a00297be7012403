//! `status.remote`: where the branch is, at most once a minute. Pure.

use std::time::Duration;

use board::{BranchView, ParentState, ProvedBy};
use crds::git_branch::{GitBranchStatus, Parent, Remote, VerifiedBy};
use model::{CommitId, RepositoryId};
use policy::RemoteProof;
use policy::status_floor::{self, FloorDecision};

use super::observe::Observed;
use crate::convert::times;

/// What becomes of `status.remote`.
#[derive(Debug, PartialEq)]
pub(super) struct RemoteStatus {
    pub(super) remote: Option<Remote>,
    /// Whether a newer proof goes out, so that the floor starts over.
    pub(super) fresh: bool,
    /// How long until a proof that waits may go out.
    pub(super) wait: Option<Duration>,
}

pub(super) fn remote(
    observed: &Observed,
    repository: &RepositoryId,
    before: &GitBranchStatus,
) -> RemoteStatus {
    let published = before
        .remote
        .as_ref()
        .and_then(|remote| published(remote, before, repository));
    let proved = observed.view.as_deref().and_then(proved);
    let decision = status_floor::decide(
        published.as_ref(),
        proved.as_ref(),
        repository,
        observed.remote_written_at,
        observed.now,
    );
    let kept = |wait| RemoteStatus {
        remote: before.remote.clone(),
        fresh: false,
        wait,
    };
    match decision {
        FloorDecision::Keep => kept(None),
        FloorDecision::Wait { after } => kept(Some(Duration::from_millis(after))),
        FloorDecision::Clear => RemoteStatus {
            remote: None,
            fresh: false,
            wait: None,
        },
        FloorDecision::Write => RemoteStatus {
            remote: observed.view.as_deref().and_then(written),
            fresh: true,
            wait: None,
        },
    }
}

/// Reads back what the status holds. Its repository is the one beside it; one that cannot be told from the
/// present one by name is the present one.
fn published(
    remote: &Remote,
    status: &GitBranchStatus,
    current: &RepositoryId,
) -> Option<RemoteProof> {
    let repository = match status.repository.as_deref() {
        Some(text) if text != current.as_str() => {
            serde_json::from_value(serde_json::Value::String(text.to_owned())).ok()?
        }
        _ => current.clone(),
    };
    Some(RemoteProof {
        repository,
        commit: CommitId::new(remote.commit.as_str()).ok(),
        verified_at: remote.last_verified_at.as_ref().map_or(0, times::millis),
    })
}

fn proved(view: &BranchView) -> Option<RemoteProof> {
    let base = view.base.as_ref()?;
    Some(RemoteProof {
        repository: view.repository.clone(),
        commit: base.commit.clone(),
        // A status holds whole seconds, and equal proofs have to compare equal.
        verified_at: base.proved_at / 1000 * 1000,
    })
}

fn written(view: &BranchView) -> Option<Remote> {
    let base = view.base.as_ref()?;
    Some(Remote {
        commit: base
            .commit
            .as_ref()
            .map(CommitId::to_string)
            .unwrap_or_default(),
        last_verified_at: Some(times::time(base.proved_at)),
        verified_by: Some(match base.proved_by {
            ProvedBy::Push => VerifiedBy::Push,
            ProvedBy::Fetch => VerifiedBy::Fetch,
        }),
        parent: base.parent.as_ref().map(|parent| Parent {
            state: match parent.state {
                ParentState::Found => crds::git_branch::ParentState::Found,
                ParentState::Missing => crds::git_branch::ParentState::Missing,
                ParentState::Unborn => crds::git_branch::ParentState::Unborn,
            },
            branch: parent.branch.as_ref().map(ToString::to_string),
            commit: parent.commit.as_ref().map(ToString::to_string),
        }),
    })
}
