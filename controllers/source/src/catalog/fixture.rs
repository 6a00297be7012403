//! Answers of discovery for tests, written as short as possible.

use std::collections::BTreeMap;

use super::scan::{GroupVersionScan, ResourceScope, Scan, ServedResource};

/// A complete answer. Names that start with `/` are cluster-scoped; `group/version` of core is `v1`.
pub(crate) fn scan(group_versions: &[(&str, &[&str])]) -> Scan {
    Scan {
        group_versions: group_versions
            .iter()
            .map(|(name, resources)| group_version(name, resources, true))
            .collect(),
        complete: true,
    }
}

/// A group version whose server did not answer.
pub(crate) fn stale(name: &str, resources: &[&str]) -> GroupVersionScan {
    group_version(name, resources, false)
}

impl Scan {
    /// Adds a group version.
    pub(crate) fn with(mut self, group_version: GroupVersionScan) -> Self {
        self.group_versions.push(group_version);
        self
    }
}

fn group_version(name: &str, resources: &[&str], current: bool) -> GroupVersionScan {
    let (group, version) = name.split_once('/').unwrap_or(("", name));
    let resources: BTreeMap<_, _> = resources
        .iter()
        .map(|resource| {
            let (scope, name) = match resource.strip_prefix('/') {
                Some(name) => (ResourceScope::Cluster, name),
                None => (ResourceScope::Namespaced, *resource),
            };
            let facts = ServedResource {
                kinds: [format!("Kind-{name}")].into(),
                scope: Some(scope),
                verbs: ["get", "list", "watch", "update"].map(String::from).into(),
            };
            (name.to_owned(), facts)
        })
        .collect();
    GroupVersionScan {
        group: group.to_owned(),
        version: version.to_owned(),
        current,
        resources,
    }
}
