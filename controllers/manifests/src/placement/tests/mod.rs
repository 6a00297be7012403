//! The objects, placements and folders that the tests share.

mod choice;
mod declaration;
mod language;
mod meeting;
mod properties;

use model::{FolderPath, Namespace, ObjectName, ResourceId, Sensitivity, ServedType, TypeId};
use serde_json::{Map, Value};

use super::*;

/// An object as placement sees it.
#[derive(Debug, Clone)]
struct Object {
    served: ServedType,
    id: ResourceId,
    labels: Map<String, Value>,
}

impl Object {
    fn new(group: &str, resource: &str, kind: &str, namespace: Option<&str>, name: &str) -> Self {
        let type_id = TypeId::new(group, resource);
        Self {
            served: ServedType {
                type_id: type_id.clone(),
                version: "v1".to_owned(),
                kind: kind.to_owned(),
                namespaced: namespace.is_some(),
                sensitive: kind == "Secret",
            },
            id: ResourceId {
                type_id,
                namespace: namespace.map(|namespace| Namespace::new(namespace).unwrap()),
                name: ObjectName::new(name).unwrap(),
            },
            labels: Map::new(),
        }
    }

    fn labeled(mut self, labels: Value) -> Self {
        self.labels = labels.as_object().unwrap().clone();
        self
    }

    fn subject(&self) -> Subject<'_> {
        Subject {
            served: &self.served,
            id: &self.id,
            labels: Some(&self.labels),
        }
    }
}

fn config_map(name: &str) -> Object {
    Object::new("", "configmaps", "ConfigMap", Some("team-a"), name)
}

fn deployment() -> Object {
    Object::new("apps", "deployments", "Deployment", Some("team-a"), "api")
}

fn secret(name: &str) -> Object {
    Object::new("", "secrets", "Secret", Some("team-a"), name)
}

fn cluster_role(name: &str) -> Object {
    let group = "rbac.authorization.k8s.io";
    Object::new(group, "clusterroles", "ClusterRole", None, name)
}

fn placement(by_type: &[(&str, &str)], default: Option<&str>) -> Placement {
    read(by_type, default).unwrap()
}

fn read(by_type: &[(&str, &str)], default: Option<&str>) -> Result<Placement, Vec<Problem>> {
    let sensitivity = Sensitivity::default();
    Placement::read(by_type.iter().copied(), default, None, &sensitivity)
}

/// Places an object in the folder `live`, which no kustomization governs.
fn place(placement: &Placement, object: &Object) -> Result<Placed, Unplaced> {
    let folder = FolderPath::new("live").unwrap();
    let site = Site {
        folder: &folder,
        root: None,
    };
    placement.place(object.subject(), site)
}

fn path_of(placement: &Placement, object: &Object) -> String {
    place(placement, object).unwrap().path.to_string()
}

/// Renders a template for an object of a type that is not sensitive, or with a route of its own.
fn rendered(template: &str, object: &Object) -> String {
    let key = TypeKey::of(&object.served).to_string();
    path_of(&placement(&[(key.as_str(), template)], None), object)
}
