//! What everybody may see of the fleet: who runs, and which kinds the cluster of each target serves.

use board::{BranchEntry, Directory, SourceEntry};

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
        self.publish_catalogs();
    }

    pub(super) fn publish_catalogs(&self) {
        let readers = self.placements.iter().filter_map(|(target, placement)| {
            let source = self.sources.get(&placement.order.source)?;
            Some((target.clone(), source.catalog.clone()))
        });
        self.catalogs.set(readers.collect());
    }
}
