//! GitBranch: claims a branch of a repository, proves the credential, and keeps the branch writer.

mod apply;
mod decide;
mod observe;
mod remote_status;
mod standing;
#[cfg(test)]
mod tests;
pub(crate) mod watches;

use std::sync::Arc;

use model::{GitBranchKey, Millis};
use policy::ClaimState;

use crate::claims::Question;
use crate::context::Context;
use crate::failure::Failure;
use crate::kind::{Kind, Next};
use crate::place::Place;
use crate::proof::Proof;

/// Reconciles GitBranches.
pub(crate) struct GitBranches(pub(crate) Arc<Context>);

/// What is remembered about one GitBranch.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    proof: Option<Proof>,
    /// When `status.remote` was last written, in wall time.
    remote_written_at: Option<Millis>,
    /// Whether a writer was asked for.
    kept: bool,
    /// Whether the writer was asked to end on an earlier look, so that the directory has had time to follow.
    retired: bool,
}

impl Kind for GitBranches {
    const NAME: &'static str = "GitBranch";
    type Memory = Memory;

    async fn reconcile(&self, place: &Place, memory: &mut Memory) -> Result<Next, Failure> {
        let key = GitBranchKey::from(place);
        let Some(object) = place.find(&self.0.stores.git_branches) else {
            return self.vanished(&key, memory).await;
        };
        let mut observed = observe::objects(&self.0, place, object);
        let standing = standing::standing(&observed);
        observed.proof = observe::proof(&self.0, &observed, &standing, memory).await?;
        let held_before = self.0.desk.ask(Question::Show(key.clone())).await?;
        let question = standing::question(&observed, &standing, &held_before);
        observed.claim = match question {
            Some(question) => self.0.desk.ask(question).await?,
            None => held_before,
        };
        observed.journal_key = observe::journal_key(&self.0, &observed.claim).await?;
        observe::writer(&self.0, &mut observed, memory);
        let decision = decide::decide(&observed, &standing, &self.0.settings);
        apply::apply(&self.0, &observed, &standing, decision, memory).await
    }
}

impl GitBranches {
    /// An object that is gone without its finalizer still gives its branch up in order.
    async fn vanished(&self, key: &GitBranchKey, memory: &mut Memory) -> Result<Next, Failure> {
        let state = self.0.desk.ask(Question::Withdraw(key.clone())).await?;
        if state != ClaimState::GivesUp {
            return Ok(Next::Forget);
        }
        apply::drain(&self.0, key, memory).await?;
        Ok(Next::After(apply::WHILE_DRAINING))
    }
}
