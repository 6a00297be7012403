//! What the items of one rule select.

use std::collections::{BTreeMap, BTreeSet};

use model::{Collection, Scope, ServedType, TypeId};

use crate::catalog::{Catalog, CatalogVersion, Followability};
use crate::declaration::{ItemDeclaration, RuleDeclaration};

const EVERY: &str = "*";

/// The version in which a collection is read, and how much the cluster prefers it (0 is most).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) served: ServedType,
    pub(super) preference: usize,
}

/// What one rule selects.
#[derive(Debug, Default)]
pub(super) struct Selection {
    /// Each collection with the place of its item in the rule.
    pub(super) selected: Vec<(usize, Collection, Reading)>,
    /// A sentence about each name that selects nothing.
    pub(super) unresolved: BTreeSet<String>,
}

impl Selection {
    /// Returns the collections with the places of their items.
    pub(super) fn collections(&self) -> Vec<(usize, Collection)> {
        let selected = self.selected.iter();
        selected
            .map(|(item, collection, _)| (*item, collection.clone()))
            .collect()
    }
}

/// Finds out what each item of a rule selects.
pub(super) fn rule(rule: &RuleDeclaration, catalog: &Catalog) -> Selection {
    let mut selection = Selection::default();
    for (index, item) in rule.items.iter().enumerate() {
        // An item may reach one type by two of its names; that is no overlap.
        let mut of_item = BTreeMap::new();
        for name in &item.resources {
            let name = name.trim().to_lowercase();
            match select(&name, item, catalog) {
                Ok(found) => of_item.extend(found),
                Err(reason) => {
                    selection.unresolved.insert(reason);
                }
            }
        }
        let found = of_item.into_iter();
        selection
            .selected
            .extend(found.map(|(collection, reading)| (index, collection, reading)));
    }
    selection
}

/// Finds the types that one name of an item selects, or says why there are none.
fn select(
    name: &str,
    item: &ItemDeclaration,
    catalog: &Catalog,
) -> Result<Vec<(Collection, Reading)>, String> {
    let mut found = Vec::new();
    let mut near_misses = Vec::new();
    for (type_id, versions) in catalog.types() {
        if !names(name, type_id) || !in_groups(item, type_id) {
            continue;
        }
        match pick_version(item, versions) {
            Ok(selected) => found.push((collection(type_id, item), selected)),
            Err(reason) => near_misses.push(format!("{type_id} {reason}")),
        }
    }
    if name == EVERY {
        return Ok(found);
    }
    let obstructed = catalog
        .obstructed()
        .filter(|(type_id, _)| names(name, type_id) && in_groups(item, type_id))
        .flat_map(|(type_id, obstacles)| {
            obstacles.iter().map(move |why| format!("{type_id} {why}"))
        });
    near_misses.extend(obstructed);
    match found.as_slice() {
        [] if near_misses.is_empty() => Err(format!(
            "{name} is not served by the cluster{}",
            within(item)
        )),
        [] => Err(near_misses.join("; ")),
        [_, _, ..] if given(&item.api_groups).is_none() => Err(ambiguous(name, &found)),
        _ => Ok(found),
    }
}

fn names(name: &str, type_id: &TypeId) -> bool {
    name == EVERY || name == &*type_id.resource
}

fn in_groups(item: &ItemDeclaration, type_id: &TypeId) -> bool {
    given(&item.api_groups).is_none_or(|groups| {
        groups
            .iter()
            .any(|group| group == EVERY || **group == *type_id.group)
    })
}

/// Picks the version of a type that is read. The versions come in the order of the cluster's preference.
fn pick_version(item: &ItemDeclaration, versions: &[CatalogVersion]) -> Result<Reading, String> {
    let mut reason = None;
    for (preference, version) in versions.iter().enumerate() {
        let wanted = given(&item.api_versions).is_none_or(|wanted| {
            wanted
                .iter()
                .any(|name| name == EVERY || *name == version.served.version)
        });
        if !wanted {
            continue;
        }
        match judge(item, version) {
            Ok(()) => {
                let served = version.served.clone();
                return Ok(Reading { served, preference });
            }
            Err(why) => reason = reason.or(Some(why)),
        }
    }
    Err(reason.unwrap_or_else(|| {
        let wanted = given(&item.api_versions).unwrap_or_default().join(", ");
        format!("is not served in version {wanted}")
    }))
}

fn judge(item: &ItemDeclaration, version: &CatalogVersion) -> Result<(), String> {
    match (&item.scope, version.served.namespaced) {
        (Scope::Cluster, true) => {
            return Err("lives in namespaces, so only a WatchRule selects it".to_owned());
        }
        (Scope::AllNamespaces | Scope::Namespace(_), false) => {
            return Err("is cluster-scoped, so only a ClusterWatchRule selects it".to_owned());
        }
        (Scope::Cluster, false) | (Scope::AllNamespaces | Scope::Namespace(_), true) => {}
    }
    match &version.followability {
        Followability::Followable | Followability::Retained => Ok(()),
        Followability::Refused(obstacles) => {
            let reasons: Vec<_> = obstacles.iter().map(ToString::to_string).collect();
            Err(reasons.join(" and "))
        }
    }
}

fn collection(type_id: &TypeId, item: &ItemDeclaration) -> Collection {
    Collection {
        type_id: type_id.clone(),
        scope: item.scope.clone(),
        selector: item.selector.clone(),
    }
}

fn ambiguous(name: &str, found: &[(Collection, Reading)]) -> String {
    let groups: Vec<_> = found
        .iter()
        .map(|(collection, _)| format!("{:?}", collection.type_id.group))
        .collect();
    format!(
        "{name} is served by the groups {}; name one in apiGroups",
        groups.join(", ")
    )
}

fn within(item: &ItemDeclaration) -> String {
    match given(&item.api_groups) {
        Some(groups) if !groups.iter().any(|group| group == EVERY) => {
            let quoted: Vec<_> = groups.iter().map(|group| format!("{group:?}")).collect();
            format!(" in {}", quoted.join(", "))
        }
        Some(_) | None => String::new(),
    }
}

/// An empty list says as little as an absent one.
fn given(list: &Option<Vec<String>>) -> Option<&[String]> {
    list.as_deref().filter(|list| !list.is_empty())
}
