//! Which kinds exist, so that a document can be joined with a live object.

use std::collections::BTreeMap;

use model::{Sensitivity, ServedType, TypeId};
use serde::Deserialize;
use serde_json::Value;

/// What a server serves: API group and kind to resource. A document of a kind that is not listed keeps its bytes
/// (IX-10), and is never a reason to refuse the folder (PI-3).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TypeCatalog {
    groups: BTreeMap<String, BTreeMap<String, KnownType>>,
}

/// One kind of the catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownType {
    /// Group and resource.
    pub type_id: TypeId,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
    /// Whether its objects must be encrypted before they are written.
    pub sensitive: bool,
}

impl TypeCatalog {
    /// Adds a type, whatever version it is served in.
    pub fn insert(&mut self, served: &ServedType) {
        let known = KnownType {
            type_id: served.type_id.clone(),
            namespaced: served.namespaced,
            sensitive: served.sensitive,
        };
        self.groups
            .entry(served.type_id.group.to_string())
            .or_default()
            .insert(served.kind.clone(), known);
    }

    /// Finds the type of a document by its API group and kind.
    pub fn find(&self, group: &str, kind: &str) -> Option<&KnownType> {
        self.groups.get(group)?.get(kind)
    }

    /// Says whether no type is known at all.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }
}

impl<'a> FromIterator<&'a ServedType> for TypeCatalog {
    fn from_iter<I: IntoIterator<Item = &'a ServedType>>(types: I) -> Self {
        let mut catalog = Self::default();
        for served in types {
            catalog.insert(served);
        }
        catalog
    }
}

/// The kinds that every Kubernetes API server serves, as one recorded them: one JSON object a line.
const BUILT_IN: &str = include_str!("../../data/kinds.jsonl");

#[derive(Deserialize)]
struct RecordedKind {
    group: String,
    resource: String,
    kind: String,
    version: String,
    namespaced: bool,
}

/// Returns the types that every Kubernetes API server serves, each in its preferred version.
pub fn built_in_types(sensitivity: &Sensitivity) -> Vec<ServedType> {
    let recorded = BUILT_IN
        .lines()
        .filter_map(|line| serde_json::from_str::<RecordedKind>(line).ok());
    recorded
        .map(|kind| {
            let type_id = TypeId::new(kind.group, kind.resource);
            ServedType {
                sensitive: sensitivity.is_sensitive(&type_id),
                type_id,
                version: kind.version,
                kind: kind.kind,
                namespaced: kind.namespaced,
            }
        })
        .collect()
}

/// Reads the type that a CustomResourceDefinition makes, in its stored version.
///
/// # Errors
/// Returns the field that is missing.
pub fn custom_type(crd: &Value, sensitivity: &Sensitivity) -> Result<ServedType, &'static str> {
    let text = |path: &'static str| {
        let field = crd.pointer(path).and_then(Value::as_str);
        field.map(str::to_owned).ok_or(path)
    };
    let versions = crd.pointer("/spec/versions").and_then(Value::as_array);
    let stored = versions
        .into_iter()
        .flatten()
        .find(|version| version["storage"] == true);
    let version = stored
        .and_then(|version| version["name"].as_str())
        .ok_or("/spec/versions")?;
    let type_id = TypeId::new(text("/spec/group")?, text("/spec/names/plural")?);
    Ok(ServedType {
        sensitive: sensitivity.is_sensitive(&type_id),
        type_id,
        version: version.to_owned(),
        kind: text("/spec/names/kind")?,
        namespaced: text("/spec/scope")? == "Namespaced",
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_recorded_kind_is_read() {
        let types = built_in_types(&Sensitivity::default());
        assert_eq!(types.len(), BUILT_IN.lines().count());
        let catalog: TypeCatalog = types.iter().collect();
        let known = |group, kind| catalog.find(group, kind).unwrap();
        assert!(known("", "Secret").sensitive && known("", "Secret").namespaced);
        assert_eq!(
            &*known("apps", "Deployment").type_id.resource,
            "deployments"
        );
        assert!(!known("rbac.authorization.k8s.io", "ClusterRole").namespaced);
    }

    #[test]
    fn a_custom_type_comes_from_its_definition() {
        let mut crd = json!({"spec": {
            "group": "example.com", "scope": "Cluster", "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [{"name": "v1beta1", "storage": false}, {"name": "v1", "storage": true}],
        }});
        let served = custom_type(&crd, &Sensitivity::default()).unwrap();
        assert_eq!(served.api_version(), "example.com/v1");
        assert_eq!(served.type_id.to_string(), "widgets.example.com");
        assert!(!served.namespaced);
        crd["spec"]["names"] = json!({});
        assert_eq!(
            custom_type(&crd, &Sensitivity::default()),
            Err("/spec/names/plural")
        );
    }
}
