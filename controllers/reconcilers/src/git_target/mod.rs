//! GitTarget: everything that has to be true before a folder mirrors a cluster, and how far it is.

mod admission;
mod apply;
mod config;
mod decide;
mod encryption;
mod gates;
mod layout;
mod observe;
#[cfg(test)]
mod tests;
pub(crate) mod watches;

pub use config::{placement, prune};

use std::collections::BTreeMap;
use std::sync::Arc;

use fleet::MirrorOrder;
use model::{Collection, Millis, TargetKey, Uid};

use self::encryption::Prepared;
use crate::context::Context;
use crate::failure::Failure;
use crate::kind::{Kind, Next};
use crate::place::{self, Place};

/// Reconciles GitTargets.
pub(crate) struct GitTargets(pub(crate) Arc<Context>);

/// What is remembered about one GitTarget.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// The incarnation that all of this is about.
    uid: Option<Uid>,
    /// What the fleet was last asked for; `None` when it was asked to stop, or for nothing.
    order: Option<MirrorOrder>,
    /// Counts the orders.
    generation: u64,
    /// When a fresh snapshot of a collection was last asked for, in wall time.
    resynced: BTreeMap<Collection, Millis>,
    /// When the log last said what a person still has to do, in wall time.
    reminded: Option<Millis>,
}

impl Kind for GitTargets {
    const NAME: &'static str = "GitTarget";
    type Memory = Memory;

    async fn reconcile(&self, place: &Place, memory: &mut Memory) -> Result<Next, Failure> {
        let Some(object) = place.find(&self.0.stores.git_targets) else {
            self.0.fleet.withdraw(&TargetKey::from(place)).await?;
            return Ok(Next::Forget);
        };
        let uid = place::uid(object.as_ref());
        if memory.uid != uid {
            self.begin_anew(place, uid, memory).await?;
        }
        let encryption = match (
            encryption::prepare(&self.0, place, &object).await,
            &memory.order,
        ) {
            (Ok(prepared), _) => prepared,
            // What runs can be stopped whether its keys can be read or not.
            (Err(failure), Some(order)) => {
                tracing::warn!(target = %place, "cannot read the keys of spec.encryption: {failure}");
                Prepared::as_before(order.encryption.as_ref())
            }
            (Err(failure), None) => return Err(failure),
        };
        self.remind(place, &encryption, memory);
        let observed = observe::observe(&self.0, place, object, encryption, memory);
        let decision = decide::decide(&observed, &self.0.settings);
        apply::apply(&self.0, &observed, decision, memory).await
    }
}

impl GitTargets {
    /// Says in the log now and then what a person still has to do about the keys.
    fn remind(&self, place: &Place, encryption: &Prepared, memory: &mut Memory) {
        let Some(reminder) = &encryption.reminder else {
            return;
        };
        let now = self.0.wall();
        let steady = u64::try_from(self.0.settings.steady.as_millis()).unwrap_or(u64::MAX);
        if memory.reminded.is_none_or(|last| now >= last + steady) {
            tracing::warn!(target = %place, "{reminder}");
            memory.reminded = Some(now);
        }
    }

    /// A new object of an old name inherits nothing: neither watches nor what is known of the folder.
    async fn begin_anew(
        &self,
        place: &Place,
        uid: Option<Uid>,
        memory: &mut Memory,
    ) -> Result<(), Failure> {
        if memory.order.is_some() {
            self.0.fleet.withdraw(&TargetKey::from(place)).await?;
        }
        let generation = memory.generation;
        *memory = Memory {
            uid,
            generation,
            ..Memory::default()
        };
        Ok(())
    }
}
