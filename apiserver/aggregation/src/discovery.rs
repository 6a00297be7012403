//! The discovery documents, in both forms: one list per path, and everything in one document.

use serde_json::{Value, json};

use crate::resource::{ApiGroup, Definition, Scope};

/// The media type of the aggregated document; clients compare its parameters.
pub const AGGREGATED_MEDIA_TYPE: &str =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// Returns the document of `/apis`: all groups, without resources.
pub fn groups(group: &ApiGroup) -> Value {
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": [group_body(group)]})
}

/// Returns the document of `/apis/GROUP`.
pub fn one_group(group: &ApiGroup) -> Value {
    let mut document = json!({"kind": "APIGroup", "apiVersion": "v1"});
    if let (Some(document), Value::Object(body)) = (document.as_object_mut(), group_body(group)) {
        document.extend(body);
    }
    document
}

/// Returns the document of `/apis/GROUP/VERSION`.
pub fn resources(group: &ApiGroup) -> Value {
    let resources: Vec<Value> = group
        .resources()
        .map(|resource| {
            let definition = resource.definition();
            let mut entry = json!({
                "name": definition.plural,
                "singularName": definition.singular,
                "namespaced": definition.scope == Scope::Namespaced,
                "kind": definition.kind,
                "verbs": verbs(definition),
            });
            add_names(&mut entry, definition);
            entry
        })
        .collect();
    json!({
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": group.group_version(),
        "resources": resources,
    })
}

/// Returns the aggregated document of `/apis`.
pub fn aggregated(group: &ApiGroup) -> Value {
    let resources: Vec<Value> = group
        .resources()
        .map(|resource| {
            let definition = resource.definition();
            let scope = match definition.scope {
                Scope::Namespaced => "Namespaced",
                Scope::Cluster => "Cluster",
            };
            let mut entry = json!({
                "resource": definition.plural,
                // Without a kind clients drop the resource, and old ones crash.
                "responseKind": {
                    "group": group.name(), "version": group.version(), "kind": definition.kind,
                },
                "scope": scope,
                "singularResource": definition.singular,
                "verbs": verbs(definition),
            });
            add_names(&mut entry, definition);
            entry
        })
        .collect();
    json!({
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": [{
            "metadata": {"name": group.name(), "creationTimestamp": null},
            "versions": [{
                "version": group.version(), "freshness": "Current", "resources": resources,
            }],
        }],
    })
}

fn group_body(group: &ApiGroup) -> Value {
    let version = json!({"groupVersion": group.group_version(), "version": group.version()});
    json!({"name": group.name(), "versions": [version], "preferredVersion": version})
}

fn verbs(definition: &Definition) -> Vec<&'static str> {
    definition.verbs.iter().map(|verb| verb.as_str()).collect()
}

fn add_names(entry: &mut Value, definition: &Definition) {
    if !definition.short_names.is_empty() {
        entry["shortNames"] = json!(definition.short_names);
    }
    if !definition.categories.is_empty() {
        entry["categories"] = json!(definition.categories);
    }
}
