//! One answer to "what do you serve?", as facts without judgement.

use std::collections::{BTreeMap, BTreeSet};

use kube::core::discovery::v2::{APIGroupDiscovery, APIResourceDiscovery, APIVersionDiscovery};

/// Everything that one round of discovery said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scan {
    /// The group versions, those of one group in descending order of preference.
    pub group_versions: Vec<GroupVersionScan>,
    /// Whether every group was asked about, so that what is not named does not exist.
    pub complete: bool,
}

/// What discovery said about one version of one group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupVersionScan {
    /// The group, empty for core.
    pub group: String,
    /// The version.
    pub version: String,
    /// Whether the answer is up to date. `false` means that the server behind it did not answer.
    pub current: bool,
    /// The top-level resources by plural name.
    pub resources: BTreeMap<String, ServedResource>,
}

/// What discovery said about one resource.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServedResource {
    /// The kinds that it was named with. One is right; none or several are a fault of the server.
    pub kinds: BTreeSet<String>,
    /// Where its objects live.
    pub scope: Option<ResourceScope>,
    /// What can be done with it.
    pub verbs: BTreeSet<String>,
}

/// Where the objects of a resource live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResourceScope {
    /// In no namespace.
    Cluster,
    /// In namespaces.
    Namespaced,
}

impl Scan {
    /// Reads what `/api` and `/apis` answered. Subresources are left out: they are nested in their parents
    /// and never followed by themselves.
    pub fn read(groups: impl IntoIterator<Item = APIGroupDiscovery>, complete: bool) -> Self {
        let mut group_versions = Vec::new();
        for group in groups {
            let name = group.metadata.and_then(|metadata| metadata.name);
            let name = name.unwrap_or_default();
            for version in group.versions {
                group_versions.extend(read_version(&name, version));
            }
        }
        Self {
            group_versions,
            complete,
        }
    }
}

fn read_version(group: &str, discovered: APIVersionDiscovery) -> Option<GroupVersionScan> {
    let mut resources: BTreeMap<String, ServedResource> = BTreeMap::new();
    for discovered in discovered.resources {
        let Some(name) = discovered.resource.clone() else {
            continue;
        };
        merge(resources.entry(name).or_default(), discovered);
    }
    Some(GroupVersionScan {
        group: group.to_owned(),
        version: discovered.version?,
        current: discovered.freshness.as_deref() != Some("Stale"),
        resources,
    })
}

fn merge(resource: &mut ServedResource, discovered: APIResourceDiscovery) {
    let kind = discovered.response_kind.and_then(|kind| kind.kind);
    resource.kinds.extend(kind.filter(|kind| !kind.is_empty()));
    resource.scope = match discovered.scope.as_deref() {
        Some("Cluster") => Some(ResourceScope::Cluster),
        Some("Namespaced") => Some(ResourceScope::Namespaced),
        _ => resource.scope,
    };
    resource.verbs.extend(discovered.verbs);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_becomes_facts() {
        let group = json!({
            "metadata": {"name": "apps"},
            "versions": [
                {"version": "v1", "freshness": "Current", "resources": [{
                    "resource": "deployments", "scope": "Namespaced", "verbs": ["get", "list"],
                    "responseKind": {"group": "apps", "version": "v1", "kind": "Deployment"},
                    "subresources": [{"subresource": "scale", "verbs": ["get"]}],
                }]},
                {"version": "v1beta1", "freshness": "Stale", "resources": []},
            ],
        });
        let scan = Scan::read([serde_json::from_value(group).unwrap()], true);
        let [current, stale] = scan.group_versions.as_slice() else {
            panic!("{scan:?}");
        };
        assert!(current.current && !stale.current);
        assert_eq!(current.resources.len(), 1, "a subresource is no resource");
        let deployments = &current.resources["deployments"];
        assert_eq!(deployments.kinds, BTreeSet::from(["Deployment".to_owned()]));
        assert_eq!(deployments.scope, Some(ResourceScope::Namespaced));
        assert!(deployments.verbs.contains("list"));
    }

    #[test]
    fn a_resource_named_twice_keeps_both_kinds() {
        let resource = |kind: &str| json!({"resource": "things", "responseKind": {"kind": kind}});
        let group = json!({
            "metadata": {"name": "example.com"},
            "versions": [{"version": "v1", "resources": [resource("Thing"), resource("Other")]}],
        });
        let scan = Scan::read([serde_json::from_value(group).unwrap()], true);
        assert_eq!(scan.group_versions[0].resources["things"].kinds.len(), 2);
    }
}
