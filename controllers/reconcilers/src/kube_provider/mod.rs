//! KubeProvider: may this connection be used, and is what it says a connection at all?

mod apply;
mod decide;
mod kubeconfig;
mod observe;
pub(crate) mod route;
#[cfg(test)]
mod tests;
pub(crate) mod watches;

use std::sync::Arc;

use model::KubeProviderKey;

use crate::context::Context;
use crate::failure::Failure;
use crate::kind::{Kind, Next};
use crate::place::Place;

/// Reconciles KubeProviders.
pub(crate) struct KubeProviders(pub(crate) Arc<Context>);

/// What is remembered about one KubeProvider.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// The connection that the fleet was given.
    stamp: Option<String>,
}

impl Kind for KubeProviders {
    const NAME: &'static str = "KubeProvider";
    type Memory = Memory;

    async fn reconcile(&self, place: &Place, memory: &mut Memory) -> Result<Next, Failure> {
        let Some(object) = place.find(&self.0.stores.kube_providers) else {
            self.0
                .fleet
                .drop_source(&KubeProviderKey::from(place))
                .await?;
            return Ok(Next::Forget);
        };
        let mut observed = observe::observe(&self.0, place, object).await?;
        apply::prepare_client(&mut observed, memory).await;
        let decision = decide::decide(&observed, &self.0.settings);
        apply::apply(&self.0, &observed, decision, memory).await
    }
}
