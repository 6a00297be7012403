//! Which local stores and journals are removed, and when.

use std::collections::BTreeSet;

use model::Uid;

use super::{Again, Fleet};
use crate::stores;

impl Fleet {
    pub(super) fn remove_store(&mut self, uid: &Uid) {
        if let Err(error) = stores::remove_journal(&self.settings.data_dir, uid) {
            tracing::warn!(%uid, %error, "a journal that is not needed any more cannot be removed");
        }
        let incarnation = self.new_incarnation();
        match stores::set_aside(&self.settings.data_dir, uid, incarnation) {
            Ok(None) => {}
            Ok(Some(folder)) => {
                self.actors.spawn_blocking(move || stores::remove(&folder));
            }
            Err(error) => {
                tracing::warn!(%uid, %error, "a local store that is not needed any more cannot be removed");
            }
        }
    }

    pub(super) fn drop_stray_stores(&mut self, mut kept: BTreeSet<Uid>) {
        kept.extend(self.branches.values().map(|slot| slot.order.uid.clone()));
        kept.extend(self.restarts.iter().filter_map(|again| match again {
            Again::Branch(order) => Some(order.uid.clone()),
            Again::Source(_) => None,
        }));
        match stores::leftovers(&self.settings.data_dir, &kept) {
            Ok(folders) => {
                self.actors.spawn_blocking(move || {
                    for folder in &folders {
                        tracing::info!(folder = %folder.display(), "removing a local store or journal whose GitBranch is gone");
                        stores::remove(folder);
                    }
                });
            }
            Err(error) => {
                tracing::warn!(%error, "cannot look for local stores whose GitBranch is gone");
            }
        }
    }
}
