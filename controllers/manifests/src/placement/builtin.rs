//! The path that a document gets when nothing else decides (PL-4).

use model::{FolderPath, RepoPath, ResourceId};

use super::segment::{MAX_BYTES, segment};

/// Stands for the namespace of a cluster-scoped object; no namespace can have this name.
const CLUSTER_SCOPE: &str = "_cluster";

/// Returns `{namespace}/{group}/{resource}/{name}.yaml` below the folder, without the group for core types.
/// `None` where no file can have the name.
pub(crate) fn builtin(folder: &FolderPath, id: &ResourceId) -> Option<RepoPath> {
    let namespace = id
        .namespace
        .as_ref()
        .map_or(CLUSTER_SCOPE, |namespace| namespace.as_str());
    let mut parts = vec![segment(namespace, "")];
    if !id.type_id.group.is_empty() {
        parts.push(segment(&id.type_id.group, ""));
    }
    parts.push(segment(&id.type_id.resource, ""));
    parts.push(segment(id.name.as_str(), ".yaml"));
    if parts.iter().any(|part| part.len() > MAX_BYTES) {
        return None;
    }
    folder.join(&parts.join("/")).ok()
}

#[cfg(test)]
mod tests {
    use model::{Namespace, ObjectName, TypeId};

    use super::*;

    fn path(group: &str, resource: &str, namespace: Option<&str>, name: &str) -> Option<String> {
        let id = ResourceId {
            type_id: TypeId::new(group, resource),
            namespace: namespace.map(|namespace| Namespace::new(namespace).unwrap()),
            name: ObjectName::new(name).unwrap(),
        };
        builtin(&FolderPath::new("live").unwrap(), &id).map(|path| path.to_string())
    }

    #[test]
    fn pl_4_the_built_in_path_names_the_object() {
        let cases = [
            (
                path("", "configmaps", Some("team-a"), "app"),
                "live/team-a/configmaps/app.yaml",
            ),
            (
                path("apps", "deployments", Some("team-a"), "web"),
                "live/team-a/apps/deployments/web.yaml",
            ),
            (
                path(
                    "rbac.authorization.k8s.io",
                    "clusterroles",
                    None,
                    "system:node",
                ),
                "live/_cluster/rbac.authorization.k8s.io/clusterroles/system%3Anode.yaml",
            ),
        ];
        for (path, expected) in cases {
            assert_eq!(path.as_deref(), Some(expected));
        }
        assert_eq!(path("", "configmaps", Some("a"), &"x".repeat(253)), None);
    }
}
