//! What everybody may see of the fleet: who runs, which kinds the cluster of each target serves, and
//! for whom it encrypts.

use std::sync::Arc;

use board::{BranchEntry, Directory, SourceEntry};
use model::GitBranchKey;

use super::Fleet;

impl Fleet {
    pub(super) fn publish_directory(&self) {
        let branches = self.branches.iter().map(|(key, slot)| {
            let entry = BranchEntry {
                uid: slot.order.uid.clone(),
                created_at: slot.order.created_at,
                provider: slot.order.provider.clone(),
                repository: slot.order.identity.repository.clone(),
                branch: slot.order.identity.branch.clone(),
                view: slot.view.clone(),
            };
            (key.clone(), entry)
        });
        let sources = self.sources.iter().map(|(key, slot)| {
            (
                key.clone(),
                SourceEntry {
                    view: slot.view.clone(),
                },
            )
        });
        self.directory.set(Directory {
            branches: branches.collect(),
            sources: sources.collect(),
        });
        self.publish_targets();
    }

    pub(super) fn publish_targets(&self) {
        let readers = self.placements.iter().filter_map(|(target, placement)| {
            let source = self.sources.get(&placement.order.source)?;
            Some((target.clone(), source.catalog.clone()))
        });
        self.lookups.catalogs.set(readers.collect());
        let orders = self.placements.iter().map(|(target, placement)| {
            let encryption = placement.order.encryption.as_ref();
            let keys = encryption.map(|encryption| Arc::clone(&encryption.encryption));
            ((placement.order.branch.clone(), target.clone()), keys)
        });
        let publishes = |branch: &GitBranchKey| {
            self.branches.get(branch).is_some_and(|slot| {
                let view = slot.view.now();
                view.window.is_some() || view.queued > 0 || !view.pending.is_empty()
            })
        };
        self.lookups.keys.set(orders, publishes);
    }
}
