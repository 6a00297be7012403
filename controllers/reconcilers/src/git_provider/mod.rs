//! GitProvider: can this repository be reached with this credential?

mod apply;
mod decide;
mod observe;
pub(crate) mod watches;

use std::sync::Arc;

use crate::context::Context;
use crate::failure::Failure;
use crate::kind::{Kind, Next};
use crate::place::Place;
use crate::proof::Proof;
use crate::signing::KnownKey;

/// Reconciles GitProviders.
pub(crate) struct GitProviders(pub(crate) Arc<Context>);

/// What is remembered about one GitProvider.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    proof: Option<Proof>,
    signing: Option<KnownKey>,
}

impl Kind for GitProviders {
    const NAME: &'static str = "GitProvider";
    type Memory = Memory;

    async fn reconcile(&self, place: &Place, memory: &mut Memory) -> Result<Next, Failure> {
        let Some(object) = place.find(&self.0.stores.git_providers) else {
            return Ok(Next::Forget);
        };
        let observed = observe::observe(&self.0, place, object, memory).await?;
        let decision = decide::decide(
            &observed,
            self.0.settings.steady,
            self.0.settings.converging,
        );
        apply::apply(&self.0, place, &observed, decision).await
    }
}
