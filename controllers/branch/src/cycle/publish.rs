//! The ground to build on, and the push that is compared with it.

use std::sync::Arc;

use board::{ParentState, ParentView, ProvedBy, PublicationFault};
use repository::{Advertisement, DefaultBranch, PushOutcome, PushRequest};

use super::fault::{from_remote, from_store, store_fault};
use super::order::{Cycle, Pushed};
use super::workshop::Ground;
use super::{Fault, ProvedBase, Published, Unanswered};
use crate::journal::{Numbers, Sent};
use crate::message::TargetConfig;
use crate::state::{BranchIdentity, PendingWrite};
use model::CommitId;

/// Concludes from one advertisement what the next commit builds on.
pub(super) fn ground(identity: &BranchIdentity, advertisement: &Advertisement) -> Ground {
    if let Some(tip) = advertisement.branch(&identity.branch) {
        return Ground {
            tip: Some(tip.clone()),
            root: Some(tip.clone()),
            parent: None,
        };
    }
    let parent = match &identity.parent {
        Some(named) => match advertisement.branch(named) {
            Some(tip) => found(named, tip),
            None => ParentView {
                state: ParentState::Missing,
                branch: Some(named.clone()),
                commit: None,
            },
        },
        None => match advertisement.default_branch() {
            DefaultBranch::Found { branch, tip } => found(&branch, &tip),
            DefaultBranch::Unborn { branch } => ParentView {
                state: ParentState::Unborn,
                branch,
                commit: None,
            },
            DefaultBranch::Missing { branch } => ParentView {
                state: ParentState::Missing,
                branch,
                commit: None,
            },
        },
    };
    Ground {
        tip: None,
        root: parent.commit.clone(),
        parent: Some(parent),
    }
}

fn found(branch: &model::BranchName, tip: &model::CommitId) -> ParentView {
    ParentView {
        state: ParentState::Found,
        branch: Some(branch.clone()),
        commit: Some(tip.clone()),
    }
}

/// Nothing is written while the parent is missing: a history of its own would be an orphan.
pub(super) fn check_parent(identity: &BranchIdentity, ground: &Ground) -> Result<(), Fault> {
    let Some(ParentView {
        state: ParentState::Missing,
        branch,
        ..
    }) = &ground.parent
    else {
        return Ok(());
    };
    let message = match branch {
        Some(parent) => format!(
            "neither branch {:?} nor its parent {:?} is on the remote; push the parent",
            identity.branch.as_str(),
            parent.as_str()
        ),
        None => format!(
            "branch {:?} is not on the remote and the remote's HEAD names no branch; repair HEAD or set parentBranch",
            identity.branch.as_str()
        ),
    };
    Err(Fault {
        kind: PublicationFault::ParentMissing,
        message,
        not_before: None,
        unanswered: None,
    })
}

/// Says that the server could take a push and does not.
pub(super) fn refused(words: &str) -> Fault {
    Fault {
        kind: PublicationFault::PushRefused,
        message: format!("the server refused the push: {words}"),
        not_before: None,
        unanswered: None,
    }
}

/// How many commits of a refused push are named.
const NAMED_COMMITS: usize = 3;

impl Cycle<'_> {
    /// Says which commits the server refused, and whose: rules of hosts are often about authors.
    fn refused_push(&self, words: &str) -> Fault {
        let named = self.pending.iter().take(NAMED_COMMITS).map(|write| {
            let author = write.author.signature(&self.request.committer);
            format!(
                "{} by {} <{}>",
                write.commit.short(),
                author.name,
                author.email
            )
        });
        let mut commits = named.collect::<Vec<_>>().join(", ");
        if let Some(more @ 1..) = self.pending.len().checked_sub(NAMED_COMMITS) {
            commits = format!("{commits} and {more} more");
        }
        Fault {
            message: format!("the server refused the push of commit {commits}: {words}"),
            ..refused(words)
        }
    }

    /// Sends what is pending, on condition that the branch is still where it was planned on.
    pub(super) fn push(&mut self) -> Result<Pushed, Fault> {
        let (Some(ground), Some(projection)) =
            (self.shop.ground.clone(), self.shop.projection.as_ref())
        else {
            return Err(store_fault("nothing is prepared to be pushed".to_owned()));
        };
        let Some(new) = projection.attempt.tip().cloned() else {
            return Err(store_fault("the prepared commits have no tip".to_owned()));
        };
        let parent = ground.parent.as_ref();
        let request = PushRequest {
            branch: self.shop.identity.branch.clone(),
            expected: ground.tip.clone(),
            new: new.clone(),
            pack: projection
                .attempt
                .pack()
                .map_err(|error| from_store(&error))?,
            parent_check: parent
                .and_then(|parent| Some((parent.branch.clone()?, parent.commit.clone()?))),
            must_be_empty: parent.is_some_and(|parent| parent.state == ParentState::Unborn),
        };
        self.note(&new, ground.tip.as_ref())?;
        match self.shop.remote.push(&request) {
            PushOutcome::Landed { tip } => self.land(tip).map(|()| Pushed::Landed),
            PushOutcome::Moved { now, advertisement } => {
                Ok(Pushed::Moved(now.map(|_| Box::new(advertisement))))
            }
            PushOutcome::Refused { text } => Err(self.refused_push(&text)),
            PushOutcome::Transient(error) | PushOutcome::Failed(error) => Err(from_remote(&error)),
            PushOutcome::Ambiguous { sent, cause } => {
                let unanswered = Unanswered {
                    commit: sent,
                    on: ground.tip,
                    through: self.pending.last().map(|last| last.id),
                };
                Err(Fault {
                    unanswered: Some(unanswered),
                    ..from_remote(&cause)
                })
            }
        }
    }

    /// Notes what is about to be sent. A push of snapshots alone needs no note: a new writer starts with newer ones.
    fn note(&self, commit: &CommitId, on: Option<&CommitId>) -> Result<(), Fault> {
        let mut numbers = Numbers::default();
        for write in &self.pending {
            numbers.extend(&write.numbers);
        }
        let Some(ledger) = self.shop.ledger.as_ref().filter(|_| !numbers.is_empty()) else {
            return Ok(());
        };
        let sent = Sent {
            commit: commit.clone(),
            on: on.cloned(),
            numbers,
        };
        ledger.note(&sent).map_err(|closed| Fault {
            kind: PublicationFault::Unreachable,
            message: closed.to_string(),
            not_before: None,
            unanswered: None,
        })
    }

    fn land(&mut self, tip: model::CommitId) -> Result<(), Fault> {
        if let Some(last) = self.pending.last() {
            self.outcome.published = Some(Published {
                tip: tip.clone(),
                through: last.id,
                by: ProvedBy::Push,
            });
        }
        self.outcome.base = Some(ProvedBase {
            commit: Some(tip.clone()),
            by: ProvedBy::Push,
            parent: None,
        });
        let written = std::mem::take(&mut self.pending);
        self.shop.ground = Some(Ground {
            tip: Some(tip.clone()),
            root: Some(tip),
            parent: None,
        });
        if let Some(projection) = self.shop.projection.take() {
            let store = self.shop.opened_store()?;
            // The push is done whatever the cache says: a store that cannot take the objects is fetched again.
            if let Err(error) = store.accept(projection.attempt) {
                tracing::warn!(branch = %self.shop.identity.key, %error, "dropping the local store");
                self.shop.drop_store();
                return Ok(());
            }
        }
        self.look_at_written(&written);
        Ok(())
    }

    /// Looks at the folders that were just published: what was written may have another layout.
    fn look_at_written(&mut self, written: &[Arc<PendingWrite>]) {
        let is_written =
            |target: &Arc<TargetConfig>| written.iter().any(|write| write.target.key == target.key);
        let mut targets = self.request.targets.clone();
        targets.retain(is_written);
        if let Err(fault) = self.scan_folders(&targets) {
            // The push is done, and the next look starts with a store that is fetched again.
            tracing::warn!(branch = %self.shop.identity.key, "dropping the local store: {}", fault.message);
            self.shop.drop_store();
        }
    }
}
