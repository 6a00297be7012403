//! What is mirrored: types, objects, and the collections that a watch covers.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::name::{Namespace, ObjectName};
use crate::selector::Selector;

/// A type whatever version it is served in: API group and plural resource name. Copies share the texts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TypeId {
    /// The API group, empty for core.
    pub group: Arc<str>,
    /// The plural resource name, such as `configmaps`.
    pub resource: Arc<str>,
}

impl TypeId {
    /// Joins a group and a plural resource name.
    pub fn new(group: impl Into<Arc<str>>, resource: impl Into<Arc<str>>) -> Self {
        Self {
            group: group.into(),
            resource: resource.into(),
        }
    }
}

impl fmt::Display for TypeId {
    /// Prints `configmaps` or `deployments.apps`, as kubectl does.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.resource)?;
        if self.group.is_empty() {
            Ok(())
        } else {
            write!(f, ".{}", self.group)
        }
    }
}

/// A type in the version that one server serves it in.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ServedType {
    /// Group and resource.
    pub type_id: TypeId,
    /// The served version, such as `v1`.
    pub version: String,
    /// The kind, such as `ConfigMap`.
    pub kind: String,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
    /// Whether its objects must be encrypted before they are written.
    pub sensitive: bool,
}

impl ServedType {
    /// Returns `group/version`, or the version alone for core.
    pub fn api_version(&self) -> String {
        if self.type_id.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.type_id.group, self.version)
        }
    }
}

/// One object whatever version it is read in. The only key that is used for joining.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ResourceId {
    /// Group and resource.
    pub type_id: TypeId,
    /// The namespace, or `None` for a cluster-scoped object.
    pub namespace: Option<Namespace>,
    /// The name.
    pub name: ObjectName,
}

impl fmt::Display for ResourceId {
    /// Prints `configmaps team-a/app` or `clusterroles.rbac.authorization.k8s.io admin`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{} {namespace}/{}", self.type_id, self.name),
            None => write!(f, "{} {}", self.type_id, self.name),
        }
    }
}

/// The part of a cluster that a collection covers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Scope {
    /// A cluster-scoped type.
    Cluster,
    /// A namespaced type in every namespace, as one watch.
    AllNamespaces,
    /// A namespaced type in one namespace.
    Namespace(Namespace),
}

impl Scope {
    /// Says whether an object with this namespace lies in the scope.
    pub fn covers(&self, namespace: Option<&Namespace>) -> bool {
        match (self, namespace) {
            (Self::Cluster, None) | (Self::AllNamespaces, Some(_)) => true,
            (Self::Namespace(scope), Some(namespace)) => scope == namespace,
            (Self::Cluster, Some(_)) | (Self::AllNamespaces | Self::Namespace(_), None) => false,
        }
    }
}

/// What one watch covers. Equal selections compare equal, because the selector is normalised.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Collection {
    /// Group and resource.
    pub type_id: TypeId,
    /// Where in the cluster.
    pub scope: Scope,
    /// Which of the objects, by label.
    pub selector: Selector,
}

impl Collection {
    /// Says whether the collection's type and scope hold the object, whatever its labels.
    pub fn holds(&self, id: &ResourceId) -> bool {
        self.type_id == id.type_id && self.scope.covers(id.namespace.as_ref())
    }
}

impl fmt::Display for Collection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.type_id)?;
        match &self.scope {
            Scope::Cluster => {}
            Scope::AllNamespaces => f.write_str(" in all namespaces")?,
            Scope::Namespace(namespace) => write!(f, " in {namespace}")?,
        }
        if self.selector.selects_all() {
            Ok(())
        } else {
            write!(f, " with {}", self.selector)
        }
    }
}

/// Which types hold secrets: core `secrets` always, and those that the installer names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sensitivity {
    additional: BTreeSet<TypeId>,
}

impl Sensitivity {
    /// Reads entries of the form `resource` (core) or `group/resource`, in any letter case.
    ///
    /// # Errors
    /// Returns each entry that has another form.
    pub fn parse<'a>(entries: impl IntoIterator<Item = &'a str>) -> Result<Self, Vec<String>> {
        let mut additional = BTreeSet::new();
        let mut bad = Vec::new();
        for entry in entries {
            let text = entry.trim().to_lowercase();
            let (group, resource) = text.split_once('/').unwrap_or(("", &text));
            let grouped = text.contains('/');
            if resource.is_empty() || resource.contains('/') || (grouped && group.is_empty()) {
                bad.push(entry.to_owned());
            } else {
                additional.insert(TypeId::new(group, resource));
            }
        }
        if bad.is_empty() {
            Ok(Self { additional })
        } else {
            Err(bad)
        }
    }

    /// Returns the types that are known to hold secrets.
    pub fn types(&self) -> BTreeSet<TypeId> {
        let mut types = self.additional.clone();
        types.insert(TypeId::new("", "secrets"));
        types
    }

    /// Says whether objects of the type must be encrypted.
    pub fn is_sensitive(&self, type_id: &TypeId) -> bool {
        (type_id.group.is_empty() && &*type_id.resource == "secrets")
            || self.additional.contains(type_id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sensitive_types_match_without_version_and_letter_case() {
        let sensitivity =
            Sensitivity::parse(["Core.cozystack.io/TenantSecrets", "widgets"]).unwrap();
        assert!(sensitivity.is_sensitive(&TypeId::new("", "secrets")));
        assert!(sensitivity.is_sensitive(&TypeId::new("core.cozystack.io", "tenantsecrets")));
        assert!(sensitivity.is_sensitive(&TypeId::new("", "widgets")));
        assert!(!sensitivity.is_sensitive(&TypeId::new("", "configmaps")));
        let types: Vec<_> = sensitivity
            .types()
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            types,
            ["secrets", "widgets", "tenantsecrets.core.cozystack.io"]
        );
        assert_eq!(
            Sensitivity::parse(["a/b/c", "/x", "", "ok"]).unwrap_err(),
            ["a/b/c", "/x", ""]
        );
    }

    #[test]
    fn a_collection_holds_what_its_scope_covers() {
        let namespace = Namespace::new("a").unwrap();
        let collection = Collection {
            type_id: TypeId::new("", "configmaps"),
            scope: Scope::Namespace(namespace.clone()),
            selector: Selector::everything(),
        };
        let mut id = ResourceId {
            type_id: TypeId::new("", "configmaps"),
            namespace: Some(namespace),
            name: ObjectName::new("x").unwrap(),
        };
        assert!(collection.holds(&id));
        id.namespace = Some(Namespace::new("b").unwrap());
        assert!(!collection.holds(&id));
        assert_eq!(collection.to_string(), "configmaps in a");
    }
}
