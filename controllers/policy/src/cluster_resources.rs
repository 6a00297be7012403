//! Which cluster-scoped types may be mirrored, decided on the text of a ClusterWatchRule.

use std::collections::BTreeSet;
use std::fmt;

use model::{Namespace, RefusalCode, TypeId};

use crate::grants::{Admission, GrantHolder};
use crate::wording::joined;

/// One entry of `clusterResources`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClusterResource {
    /// This type, in every version that is served.
    Exact(TypeId),
    /// `*`: every type, also one that is installed later.
    Every,
}

impl ClusterResource {
    /// Reads `resource.group`, a bare core resource, or `*`. A partial wildcard matches no type, because no
    /// type has such a name.
    pub fn parse(text: &str) -> Self {
        if text == "*" {
            return Self::Every;
        }
        let (resource, group) = text.split_once('.').unwrap_or((text, ""));
        Self::Exact(TypeId::new(group, resource))
    }
}

/// The cluster-scoped types that the admitting grants give together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClusterResourceUnion {
    every: bool,
    types: BTreeSet<TypeId>,
}

impl ClusterResourceUnion {
    /// Joins the entries.
    pub fn of<'a>(entries: impl IntoIterator<Item = &'a ClusterResource>) -> Self {
        let mut union = Self::default();
        for entry in entries {
            match entry {
                ClusterResource::Every => union.every = true,
                ClusterResource::Exact(type_id) => {
                    union.types.insert(type_id.clone());
                }
            }
        }
        union
    }

    /// Says whether the type is in the union.
    pub fn allows(&self, type_id: &TypeId) -> bool {
        self.every || self.types.contains(type_id)
    }
}

impl fmt::Display for ClusterResourceUnion {
    /// Prints the types, `"*"`, or `no cluster-scoped resource`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.every {
            f.write_str("\"*\"")
        } else if self.types.is_empty() {
            f.write_str("no cluster-scoped resource")
        } else {
            f.write_str(&joined(&self.types))
        }
    }
}

/// The API groups of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ItemGroups {
    /// Omitted: the item is judged by the types that it would watch.
    Omitted {
        /// What its resources match in the source cluster's discovery.
        matched: Vec<TypeId>,
    },
    /// Written out; `*` may be among them.
    Named(Vec<String>),
}

/// One item of a ClusterWatchRule, as far as its authorization goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterItem {
    /// Its place in `spec.rules`.
    pub index: usize,
    /// Its API groups.
    pub groups: ItemGroups,
    /// Its resources, in lower case; `*` may be among them.
    pub resources: Vec<String>,
}

impl ClusterItem {
    /// Returns the first thing that the union does not allow, as a message names it.
    fn forbidden(&self, union: &ClusterResourceUnion) -> Option<String> {
        let wildcard = |texts: &[String]| texts.iter().any(|text| text == "*");
        let types: Vec<TypeId> = match &self.groups {
            _ if union.every => return None,
            _ if wildcard(&self.resources) => return Some("\"*\" in resources".to_owned()),
            ItemGroups::Named(groups) if wildcard(groups) => {
                return Some("\"*\" in apiGroups".to_owned());
            }
            ItemGroups::Named(groups) => self.pairs(groups).collect(),
            ItemGroups::Omitted { matched } => matched.clone(),
        };
        let first = types.iter().find(|type_id| !union.allows(type_id));
        first.map(TypeId::to_string)
    }

    fn pairs<'a>(&'a self, groups: &'a [String]) -> impl Iterator<Item = TypeId> + 'a {
        groups.iter().flat_map(|group| {
            self.resources
                .iter()
                .map(move |resource| TypeId::new(group.as_str(), resource.as_str()))
        })
    }
}

/// Authorizes all items of a ClusterWatchRule whose GitTarget lives in namespace `consumer`.
///
/// One forbidden type refuses the whole rule: nothing is filtered silently, and a wildcard under a narrow
/// grant never compiles, so discovery cannot widen a grant.
pub fn authorize_cluster_items(
    items: &[ClusterItem],
    union: &ClusterResourceUnion,
    consumer: &Namespace,
    holder: &GrantHolder,
) -> Admission<()> {
    let refused: Vec<String> = items
        .iter()
        .filter_map(|item| {
            let what = item.forbidden(union)?;
            Some(format!("spec.rules[{}] ({what})", item.index))
        })
        .collect();
    let verb = match refused.len() {
        0 => return Admission::Admitted(()),
        1 => "is",
        _ => "are",
    };
    Admission::refused(
        RefusalCode::ClusterResourceNotAllowed,
        format!(
            "{holder} lets namespace \"{consumer}\" mirror {union} ({}[].clusterResources); {} {verb} not \
             allowed",
            holder.field,
            joined(refused)
        ),
        format!("name granted types, or have {holder} grant these"),
    )
}

#[cfg(test)]
mod tests {
    use model::ObjectName;

    use super::*;

    const ROLES: &str = "clusterroles.rbac.authorization.k8s.io";

    fn named(groups: &[&str], resources: &[&str]) -> ClusterItem {
        let owned = |texts: &[&str]| texts.iter().map(ToString::to_string).collect();
        ClusterItem {
            index: 0,
            groups: ItemGroups::Named(owned(groups)),
            resources: owned(resources),
        }
    }

    fn omitted(resource: &str, matched: &[TypeId]) -> ClusterItem {
        ClusterItem {
            index: 0,
            groups: ItemGroups::Omitted {
                matched: matched.to_vec(),
            },
            resources: vec![resource.to_owned()],
        }
    }

    fn refusal(item: ClusterItem, entries: &[&str]) -> Option<String> {
        let entries: Vec<_> = entries
            .iter()
            .map(|entry| ClusterResource::parse(entry))
            .collect();
        let holder = GrantHolder {
            kind: "KubeProvider",
            namespace: Namespace::new("platform").unwrap(),
            name: ObjectName::new("production").unwrap(),
            field: "spec.allowedGitTargets",
        };
        let union = ClusterResourceUnion::of(&entries);
        authorize_cluster_items(&[item], &union, &Namespace::new("team-a").unwrap(), &holder)
            .refusal()
            .map(|refusal| refusal.message.clone())
    }

    #[test]
    fn named_groups_and_resources_are_checked_pair_by_pair() {
        let rbac = "rbac.authorization.k8s.io";
        assert_eq!(refusal(named(&[rbac], &["clusterroles"]), &[ROLES]), None);
        assert_eq!(
            refusal(
                named(&[rbac], &["clusterroles", "clusterrolebindings"]),
                &[ROLES]
            )
            .unwrap(),
            "KubeProvider platform/production lets namespace \"team-a\" mirror \
             clusterroles.rbac.authorization.k8s.io (spec.allowedGitTargets[].clusterResources); \
             spec.rules[0] (clusterrolebindings.rbac.authorization.k8s.io) is not allowed"
        );
        assert!(refusal(named(&[""], &["nodes"]), &["nodes"]).is_none());
        assert!(
            refusal(named(&[rbac], &["clusterroles"]), &["clusterroles"]).is_some(),
            "a bare name is the core group only"
        );
        assert!(
            refusal(named(&[""], &["nodes"]), &[])
                .unwrap()
                .contains("no cluster-scoped resource")
        );
    }

    #[test]
    fn a_wildcard_needs_the_wildcard() {
        for item in [named(&["*"], &["nodes"]), named(&[""], &["*"])] {
            assert!(refusal(item.clone(), &["nodes", ROLES]).is_some());
            assert!(refusal(item, &["*"]).is_none());
        }
        assert!(
            refusal(named(&[""], &["nodes"]), &["n*"]).is_some(),
            "no partial wildcards"
        );
    }

    #[test]
    fn omitted_groups_are_judged_by_what_they_would_watch() {
        let here = TypeId::new("rbac.authorization.k8s.io", "clusterroles");
        let there = TypeId::new("example.io", "clusterroles");
        assert!(
            refusal(
                omitted("clusterroles", std::slice::from_ref(&here)),
                &[ROLES]
            )
            .is_none()
        );
        assert!(refusal(omitted("clusterroles", &[here, there]), &[ROLES]).is_some());
        assert!(
            refusal(omitted("clusterroles", &[]), &[ROLES]).is_none(),
            "it would watch nothing"
        );
        assert!(refusal(omitted("*", &[]), &[ROLES]).is_some());
    }
}
