//! From the rules of a target and the types of a cluster to the collections that are watched.
//!
//! All of it is pure. Read [`select`] (what one rule selects), [`resolve`] here (rules together; which of them
//! overlap is decided in `policy`) and [`diff`] (what has to start and stop).

pub mod diff;
mod select;

use std::collections::BTreeMap;

use board::RuleResolution;
use model::{Collection, RuleKey, ServedType};
use policy::overlap::{RuleCollections, collection_conflicts};

use crate::catalog::Catalog;
use crate::declaration::RuleDeclaration;

pub use diff::PlanDiff;
use select::{Reading, Selection};

/// What is watched for one target, and what became of each of its rules.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WatchPlan {
    /// Each collection with the version that it is read in.
    pub collections: BTreeMap<Collection, ServedType>,
    /// What each rule resolved to. A rule that selects nothing is resolved too.
    pub rules: BTreeMap<RuleKey, RuleResolution>,
}

/// Decides what is watched for the rules of one target. The result does not depend on their order.
pub fn resolve(rules: &[RuleDeclaration], catalog: &Catalog) -> WatchPlan {
    let selections: Vec<(&RuleDeclaration, Selection)> = rules
        .iter()
        .map(|rule| (rule, select::rule(rule, catalog)))
        .collect();
    let asked: Vec<_> = selections
        .iter()
        .map(|(rule, selection)| RuleCollections {
            rule: rule.rule.clone(),
            created_at: rule.created_at,
            collections: selection.collections(),
        })
        .collect();
    let refused = collection_conflicts(&asked);
    let mut readings: BTreeMap<Collection, Reading> = BTreeMap::new();
    let mut plan = WatchPlan::default();
    for (rule, selection) in selections {
        let resolution = match refused.get(&rule.rule) {
            Some(conflict) => RuleResolution::Overlaps {
                message: conflict.to_string(),
            },
            None => keep(selection, &mut readings),
        };
        plan.rules.insert(rule.rule.clone(), resolution);
    }
    plan.collections = readings
        .into_iter()
        .map(|(collection, reading)| (collection, reading.served))
        .collect();
    plan
}

/// Adds what a rule selects to what is read.
fn keep(selection: Selection, readings: &mut BTreeMap<Collection, Reading>) -> RuleResolution {
    let mut collections = Vec::new();
    for (_, collection, reading) in selection.selected {
        collections.push(collection.clone());
        // Rules that share a collection share its stream, and so its version: the most preferred one that
        // any of them names.
        let best = readings
            .entry(collection)
            .or_insert_with(|| reading.clone());
        if reading.preference < best.preference {
            *best = reading;
        }
    }
    collections.sort();
    collections.dedup();
    RuleResolution::Resolved {
        collections,
        unresolved: selection.unresolved.into_iter().collect(),
    }
}

#[cfg(test)]
mod tests;
