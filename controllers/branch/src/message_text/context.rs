//! What a template can see of a commit.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::{Change, Delivery, Namespace, ObjectName, Operation, Scope, Snapshot};
use serde_json::{Map, Value as Json};

use super::template::{Object, Value};

/// Stands for the namespace of an object that has none.
const CLUSTER: &str = "_cluster";

/// A commit window, or one that a request attached to.
#[derive(Debug)]
pub(super) struct Live {
    author: String,
    target: String,
    entries: Vec<Arc<Entry>>,
    request_message: String,
}

/// One changed object.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) operation: Operation,
    pub(super) group: String,
    pub(super) version: String,
    pub(super) resource: String,
    pub(super) kind: String,
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) resource_version: String,
    pub(super) generation: i64,
    pub(super) labels: BTreeMap<String, String>,
}

/// A snapshot.
#[derive(Debug, Clone)]
pub(super) struct Reconcile {
    pub(super) count: usize,
    pub(super) target: String,
    pub(super) group: String,
    pub(super) version: String,
    pub(super) resource: String,
    pub(super) namespace: String,
    pub(super) resource_version: String,
}

impl Live {
    pub(super) fn new(
        author: &str,
        target: &ObjectName,
        entries: Vec<Entry>,
        request_message: &str,
    ) -> Self {
        Self {
            author: author.to_owned(),
            target: target.to_string(),
            entries: entries.into_iter().map(Arc::new).collect(),
            request_message: request_message.to_owned(),
        }
    }

    pub(super) fn into_value(self) -> Value {
        Value::Object(Arc::new(self))
    }

    fn operations(&self) -> Value {
        let mut counts = BTreeMap::new();
        for entry in &self.entries {
            let name = entry.operation.as_str().to_owned();
            *counts.entry(name).or_insert(0) += 1;
        }
        Value::counts(counts)
    }

    /// Returns each value of a label once, in order.
    fn label_values(&self, key: &str) -> Vec<&str> {
        let values: BTreeSet<&str> = self
            .entries
            .iter()
            .filter_map(|entry| entry.labels.get(key))
            .map(String::as_str)
            .collect();
        values.into_iter().collect()
    }

    /// Returns the value of a label that every entry has; empty when one has another or none.
    fn label_value(&self, key: &str) -> &str {
        let mut values = self.entries.iter().map(|entry| entry.labels.get(key));
        match values.next().flatten() {
            Some(first) if values.all(|value| value == Some(first)) => first,
            _ => "",
        }
    }
}

impl Object for Live {
    fn kind(&self) -> &'static str {
        "a commit"
    }

    fn field(&self, name: &str) -> Option<Value> {
        Some(match name {
            "Author" => Value::text(&self.author),
            "GitTarget" => Value::text(&self.target),
            "Count" => count(self.entries.len()),
            "Operations" => self.operations(),
            "Resources" => {
                let entries = self.entries.iter();
                Value::List(
                    entries
                        .map(|entry| Value::Object(Arc::clone(entry) as Arc<dyn Object>))
                        .collect(),
                )
            }
            "RequestMessage" => Value::text(&self.request_message),
            _ => return None,
        })
    }

    fn has_method(&self, name: &str) -> bool {
        matches!(name, "LabelValues" | "LabelValue")
    }

    fn call(&self, method: &str, argument: &str) -> Option<Value> {
        match method {
            "LabelValues" => {
                let values = self.label_values(argument).into_iter().map(Value::text);
                Some(Value::List(values.collect()))
            }
            "LabelValue" => Some(Value::text(self.label_value(argument))),
            _ => None,
        }
    }

    fn printed(&self) -> Option<String> {
        None
    }
}

impl Entry {
    pub(super) fn of(delivery: &Delivery) -> Self {
        let served = delivery.change.served();
        let id = delivery.object_id();
        let namespace = id.namespace.as_ref().map_or(CLUSTER, Namespace::as_str);
        let mut entry = Self {
            operation: delivery.change.operation(),
            group: served.type_id.group.to_string(),
            version: served.version.to_string(),
            resource: served.type_id.resource.to_string(),
            kind: String::new(),
            namespace: namespace.to_owned(),
            name: id.name.to_string(),
            resource_version: String::new(),
            generation: 0,
            labels: BTreeMap::new(),
        };
        match &delivery.change {
            Change::Upsert { object, .. } => {
                entry.kind = served.kind.to_string();
                object
                    .resource_version()
                    .clone_into(&mut entry.resource_version);
                entry.generation = object.generation();
                entry.labels = labels(&object.value(), object.is_sensitive());
            }
            Change::Remove {
                resource_version, ..
            } => entry.resource_version.clone_from(resource_version),
        }
        entry
    }

    fn api_version(&self) -> String {
        api_version(&self.group, &self.version)
    }
}

impl Object for Entry {
    fn kind(&self) -> &'static str {
        "a resource"
    }

    fn field(&self, name: &str) -> Option<Value> {
        Some(match name {
            "Operation" => Value::text(self.operation.as_str()),
            "Group" => Value::text(&self.group),
            "Version" => Value::text(&self.version),
            "Resource" => Value::text(&self.resource),
            "Kind" => Value::text(&self.kind),
            "Namespace" => Value::text(&self.namespace),
            "Name" => Value::text(&self.name),
            "APIVersion" => Value::text(self.api_version()),
            "ResourceVersion" => Value::text(&self.resource_version),
            "Generation" => Value::Integer(self.generation),
            "Labels" => Value::texts(self.labels.clone()),
            _ => return None,
        })
    }

    fn has_method(&self, name: &str) -> bool {
        name == "Label"
    }

    fn call(&self, method: &str, argument: &str) -> Option<Value> {
        let label = self.labels.get(argument).map_or("", String::as_str);
        (method == "Label").then(|| Value::text(label))
    }

    fn printed(&self) -> Option<String> {
        let parts = [
            &self.group,
            &self.version,
            &self.resource,
            &self.namespace,
            &self.name,
        ];
        let parts: Vec<&str> = parts
            .into_iter()
            .map(String::as_str)
            .filter(|part| !part.is_empty())
            .collect();
        Some(parts.join("/"))
    }
}

impl Reconcile {
    pub(super) fn of(target: &ObjectName, snapshot: &Snapshot, changed: usize) -> Self {
        let collection = &snapshot.collection;
        Self {
            count: changed,
            target: target.to_string(),
            group: collection.type_id.group.to_string(),
            version: snapshot.served.version.to_string(),
            resource: collection.type_id.resource.to_string(),
            namespace: match &collection.scope {
                Scope::Namespace(namespace) => namespace.to_string(),
                _ => String::new(),
            },
            resource_version: snapshot.resource_version.clone(),
        }
    }

    pub(super) fn into_value(self) -> Value {
        Value::Object(Arc::new(self))
    }
}

impl Object for Reconcile {
    fn kind(&self) -> &'static str {
        "a commit"
    }

    fn field(&self, name: &str) -> Option<Value> {
        Some(match name {
            "Count" => count(self.count),
            "GitTarget" => Value::text(&self.target),
            "Group" => Value::text(&self.group),
            "Version" => Value::text(&self.version),
            "Resource" => Value::text(&self.resource),
            "APIVersion" => Value::text(api_version(&self.group, &self.version)),
            "Namespace" => Value::text(&self.namespace),
            "ResourceVersion" => Value::text(&self.resource_version),
            _ => return None,
        })
    }

    fn has_method(&self, _name: &str) -> bool {
        false
    }

    fn call(&self, _method: &str, _argument: &str) -> Option<Value> {
        None
    }

    fn printed(&self) -> Option<String> {
        None
    }
}

fn count(of: usize) -> Value {
    Value::Integer(i64::try_from(of).unwrap_or(i64::MAX))
}

fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() {
        version.to_owned()
    } else {
        format!("{group}/{version}")
    }
}

/// Returns the labels as they are committed. A label of a sensitive object that has the name of an encrypted field is
/// encrypted with it (D22a), so it is not shown in a message either.
fn labels(value: &Map<String, Json>, is_sensitive: bool) -> BTreeMap<String, String> {
    let is_hidden = |key: &str| {
        is_sensitive && (value.contains_key(key) || matches!(key, "data" | "stringData"))
    };
    let labels = value
        .get("metadata")
        .and_then(|metadata| metadata.get("labels"))
        .and_then(Json::as_object);
    labels
        .into_iter()
        .flatten()
        .filter(|(key, _)| !is_hidden(key))
        .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
        .collect()
}
