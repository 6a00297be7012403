//! What custom kinds look like: the schemas that the API server publishes, for the defaults in them.
//!
//! The index of the OpenAPI documents names each with a hash, so that a document is fetched once and again only
//! when it changed. Every client that may ask what the API server serves may read them. Schemas are an aid:
//! without them a default of a custom kind counts like any other value.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use model::TypeId;
use serde_json::{Map, Value};

use super::scan::{GroupVersionScan, Scan};
use crate::fault::Fault;

/// The groups that the API server brings along. Their defaults are known without asking.
const BUILT_IN: [&str; 23] = [
    "",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "apps",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "events.k8s.io",
    "flowcontrol.apiserver.k8s.io",
    "internal.apiserver.k8s.io",
    "networking.k8s.io",
    "node.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "resource.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
    "storagemigration.k8s.io",
];

/// The schema of a custom kind in one version, without descriptions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KindSchema {
    /// The type.
    pub type_id: TypeId,
    /// The version.
    pub version: String,
    /// The OpenAPI schema of a whole object.
    pub schema: Value,
}

/// The schemas of all custom kinds, by the address of the document that they stand in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Schemas {
    documents: BTreeMap<String, Arc<Vec<KindSchema>>>,
}

impl Schemas {
    /// Returns every schema.
    pub(crate) fn list(&self) -> Vec<KindSchema> {
        let documents = self.documents.values();
        documents
            .flat_map(|document| document.iter().cloned())
            .collect()
    }
}

/// Fetches the documents that are new or changed. What cannot be read now is tried again in the next round.
pub(crate) async fn refresh(
    client: &Client,
    answer_limit: Duration,
    scan: &Scan,
    known: &Schemas,
) -> Schemas {
    let custom = |of: &&GroupVersionScan| of.current && !BUILT_IN.contains(&of.group.as_str());
    let custom: Vec<&GroupVersionScan> = scan.group_versions.iter().filter(custom).collect();
    if custom.is_empty() {
        return Schemas::default();
    }
    match read(client, answer_limit, &custom, known).await {
        Ok(schemas) => schemas,
        Err(fault) => {
            tracing::debug!(%fault, "the schemas of custom kinds cannot be read");
            known.clone()
        }
    }
}

async fn read(
    client: &Client,
    answer_limit: Duration,
    custom: &[&GroupVersionScan],
    known: &Schemas,
) -> Result<Schemas, Fault> {
    let index = get(client, answer_limit, "/openapi/v3").await?;
    let mut schemas = Schemas::default();
    for of in custom {
        let path = format!("apis/{}/{}", of.group, of.version);
        let address = index.get("paths").and_then(|paths| paths.get(&path));
        let address = address.and_then(|document| document.get("serverRelativeURL"));
        let Some(address) = address.and_then(Value::as_str) else {
            continue;
        };
        let document = match known.documents.get(address) {
            Some(document) => Arc::clone(document),
            None => Arc::new(kinds(of, &get(client, answer_limit, address).await?)),
        };
        schemas.documents.insert(address.to_owned(), document);
    }
    Ok(schemas)
}

async fn get(client: &Client, answer_limit: Duration, address: &str) -> Result<Value, Fault> {
    let request = http::Request::get(address)
        .header(http::header::ACCEPT, "application/json")
        .body(Vec::new())
        .map_err(|_| Fault::unavailable("the API server names a document that has no address"))?;
    match tokio::time::timeout(answer_limit, client.request::<Value>(request)).await {
        Ok(answer) => Ok(answer?),
        Err(_) => Err(Fault::unavailable("the API server did not answer in time")),
    }
}

/// Finds the schemas of a group version in its document.
fn kinds(of: &GroupVersionScan, document: &Value) -> Vec<KindSchema> {
    let schemas = document
        .pointer("/components/schemas")
        .and_then(Value::as_object);
    let mut found = Vec::new();
    for (resource, served) in &of.resources {
        let describes = |schema: &&Value| {
            let names = schema.get("x-kubernetes-group-version-kind");
            names.and_then(Value::as_array).is_some_and(|names| {
                names.iter().any(|name| {
                    let text = |key: &str| name.get(key).and_then(Value::as_str);
                    text("group") == Some(&of.group)
                        && text("version") == Some(&of.version)
                        && text("kind").is_some_and(|kind| served.kinds.contains(kind))
                })
            })
        };
        let schema = schemas.and_then(|schemas| schemas.values().find(describes));
        let schema = schema.filter(|schema| says_something(schema));
        found.extend(schema.map(|schema| KindSchema {
            type_id: TypeId::new(of.group.as_str(), resource.as_str()),
            version: of.version.clone(),
            schema: without_descriptions(schema),
        }));
    }
    found
}

/// Says whether a schema fills something in, or lets a value be spelled in two ways. The others are not kept.
fn says_something(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => {
            map.contains_key("default")
                || map.contains_key("x-kubernetes-int-or-string")
                || map.values().any(says_something)
        }
        Value::Array(items) => items.iter().any(says_something),
        _ => false,
    }
}

/// Descriptions are most of a schema, and nobody here reads them. A property may have that name too.
fn without_descriptions(schema: &Value) -> Value {
    match schema {
        Value::Object(map) => {
            let said = |key: &str, value: &Value| key == "description" && value.is_string();
            let kept = map.iter().filter(|(key, value)| !said(key, value));
            let kept = kept.map(|(key, value)| (key.clone(), without_descriptions(value)));
            Value::Object(kept.collect::<Map<String, Value>>())
        }
        Value::Array(items) => items.iter().map(without_descriptions).collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::fixture::scan;
    use super::*;

    #[test]
    fn d27_a_document_gives_each_kind_its_schema() {
        let gvk = |kind: &str| json!([{"group": "example.com", "version": "v1", "kind": kind}]);
        let scan = scan(&[("example.com/v1", &["widgets", "bolts"])]);
        let of = &scan.group_versions[0];
        let kind = of.resources["widgets"].kinds.first().unwrap();
        let plain = of.resources["bolts"].kinds.first().unwrap();
        let size = json!({"type": "integer", "default": 3});
        let described = json!({"type": "integer", "default": 3, "description": "how big"});
        let document = json!({"components": {"schemas": {
            "com.example.v1.It": {
                "properties": {"size": described, "description": {"type": "string"}},
                "x-kubernetes-group-version-kind": gvk(kind),
            },
            "com.example.v1.Plain": {
                "properties": {"size": {"type": "integer"}},
                "x-kubernetes-group-version-kind": gvk(plain),
            },
            "com.example.v1.ItList": {"x-kubernetes-group-version-kind": gvk("Others")},
        }}});
        let found = kinds(of, &document);
        assert_eq!(
            found.len(),
            1,
            "what has no defaults is not kept: {found:?}"
        );
        assert_eq!(found[0].type_id, TypeId::new("example.com", "widgets"));
        assert_eq!(
            found[0].schema["properties"],
            json!({"size": size, "description": {"type": "string"}})
        );
        assert!(kinds(of, &json!({})).is_empty());
    }
}
