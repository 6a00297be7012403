//! Kinds that controllers of the API server act on as soon as they are stored. A skeleton without meaning would
//! end the API server, so valid objects are sent instead, and nothing is stored.

use anyhow::{Context, Result};
use serde_json::{Value, json};
use testkit::Kubectl;

use super::schema::Kind;

/// Returns the objects to send of such a kind; nothing for all others.
pub(super) fn objects(kind: &str) -> Option<Vec<Value>> {
    match kind {
        "CustomResourceDefinition" => Some(custom_resource_definitions()),
        "APIService" => Some(api_services()),
        "FlowSchema" => Some(flow_schemas()),
        "PriorityLevelConfiguration" => Some(priority_levels()),
        _ => None,
    }
}

/// Sends an object and returns what the API server would store.
pub(super) fn send(kubectl: &Kubectl, kind: &Kind, object: &Value) -> Result<Value> {
    let path = format!("{}?dryRun=All", kind.path());
    let answer =
        kubectl.run_with_input(&["create", "--raw", &path, "-f", "-"], &object.to_string())?;
    serde_json::from_str(&answer).context("the answer is no JSON")
}

fn custom_resource_definitions() -> Vec<Value> {
    let crd = |plural: &str, kind: &str, conversion: Option<Value>| {
        let mut crd = json!({
            "metadata": {"name": format!("{plural}.example.com")},
            "spec": {
                "group": "example.com",
                "names": {"plural": plural, "kind": kind, "shortNames": [], "categories": []},
                "preserveUnknownFields": false,
                "scope": "Namespaced",
                "versions": [{
                    "name": "v1", "served": true, "storage": true, "deprecated": false,
                    "additionalPrinterColumns": [
                        {"name": "Size", "type": "integer", "jsonPath": ".spec.size", "priority": 0, "description": "", "format": ""},
                    ],
                    "selectableFields": [],
                    "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
                    "subresources": {"status": {}},
                }],
            },
        });
        if let Some(conversion) = conversion {
            crd["spec"]["conversion"] = conversion;
        }
        crd
    };
    let webhook = |client: Value| {
        json!({
            "strategy": "Webhook",
            "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": client},
        })
    };
    let service = webhook(json!({"service": {"name": "converter", "namespace": "default"}}));
    vec![
        crd("widgets", "Widget", None),
        crd("gadgets", "Gadget", Some(json!({"strategy": "None"}))),
        crd("things", "Thing", Some(service)),
    ]
}

fn api_services() -> Vec<Value> {
    let service = |version: &str, service: Value| {
        json!({
            "metadata": {"name": format!("{version}.example.com")},
            "spec": {
                "group": "example.com", "version": version, "service": service,
                "groupPriorityMinimum": 1000, "versionPriority": 15,
                "insecureSkipTLSVerify": false, "caBundle": "",
            },
        })
    };
    vec![
        service("v1", json!({"name": "views", "namespace": "default"})),
        service(
            "v2",
            json!({"name": "views", "namespace": "default", "port": 8443}),
        ),
    ]
}

fn flow_schemas() -> Vec<Value> {
    let subject =
        json!({"kind": "ServiceAccount", "serviceAccount": {"name": "a", "namespace": "default"}});
    let rules = json!([{
        "subjects": [subject],
        "resourceRules": [{
            "verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"], "clusterScope": false,
        }],
        "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
    }]);
    let schema = |spec: Value| json!({"metadata": {"name": "quiet"}, "spec": spec});
    let level = json!({"name": "catch-all"});
    vec![
        schema(json!({"priorityLevelConfiguration": level})),
        schema(json!({
            "priorityLevelConfiguration": level, "rules": rules,
            "distinguisherMethod": {"type": "ByUser"},
        })),
        schema(json!({"priorityLevelConfiguration": level, "rules": []})),
    ]
}

fn priority_levels() -> Vec<Value> {
    let limited = |limited: Value| json!({"metadata": {"name": "quiet"}, "spec": {"type": "Limited", "limited": limited}});
    vec![
        limited(json!({"limitResponse": {"type": "Reject"}})),
        limited(json!({"limitResponse": {"type": "Queue", "queuing": {}}})),
        limited(
            json!({"nominalConcurrencyShares": 0, "lendablePercent": 0, "limitResponse": {"type": "Reject"}}),
        ),
    ]
}
