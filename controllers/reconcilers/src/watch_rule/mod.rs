//! WatchRule: may it watch what it names, and do its watches run?
//!
//! A WatchRule asks nothing of the fleet. Its GitTarget does that for all of its rules at once, with the same
//! [`selection`], so what a rule reports and what is watched cannot differ.

mod apply;
mod decide;
mod observe;
pub(crate) mod selection;
#[cfg(test)]
mod tests;
pub(crate) mod watches;

use std::sync::Arc;

use crate::context::Context;
use crate::failure::Failure;
use crate::kind::{Kind, Next};
use crate::place::Place;

/// Reconciles WatchRules.
pub(crate) struct WatchRules(pub(crate) Arc<Context>);

impl Kind for WatchRules {
    const NAME: &'static str = "WatchRule";
    type Memory = ();

    async fn reconcile(&self, place: &Place, (): &mut ()) -> Result<Next, Failure> {
        let Some(object) = place.find(&self.0.stores.watch_rules) else {
            return Ok(Next::Forget);
        };
        let observed = observe::observe(&self.0, place, object);
        let decision = decide::decide(&observed, &self.0.settings);
        apply::apply(&self.0, &observed, decision).await
    }
}
