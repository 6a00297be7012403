//! What has to start and stop so that the running watches follow a plan.

use std::collections::{BTreeMap, BTreeSet};

use model::{Collection, ServedType};
use policy::overlap::overlaps;

use super::WatchPlan;

/// The difference between a plan and what is running.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PlanDiff {
    /// Watches that the plan no longer holds, or holds in another version.
    pub stop: BTreeSet<Collection>,
    /// Watches to start now.
    pub start: BTreeMap<Collection, ServedType>,
    /// Watches to start once everything that stops and holds the same objects has stopped.
    pub wait: BTreeMap<Collection, ServedType>,
    /// Watches that run on.
    pub keep: BTreeSet<Collection>,
}

impl WatchPlan {
    /// Compares the plan with what is running: each collection with its version, and those that have been
    /// told to stop and have not yet.
    pub fn diff(
        &self,
        running: &BTreeMap<Collection, ServedType>,
        stopping: &BTreeSet<Collection>,
    ) -> PlanDiff {
        let mut diff = PlanDiff::default();
        for (collection, served) in running {
            if self.collections.get(collection) == Some(served) {
                diff.keep.insert(collection.clone());
            } else {
                diff.stop.insert(collection.clone());
            }
        }
        for (collection, served) in &self.collections {
            if diff.keep.contains(collection) {
                continue;
            }
            let mut in_the_way = stopping.iter().chain(&diff.stop);
            let list =
                if in_the_way.any(|ending| ending == collection || overlaps(ending, collection)) {
                    &mut diff.wait
                } else {
                    &mut diff.start
                };
            list.insert(collection.clone(), served.clone());
        }
        diff
    }
}
