//! Configuration objects for tests, from the few fields that a test is about.

use std::time::Duration;

use policy::InClusterConsent;
use repository::{Limits, ProxyPolicy};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::place::Place;
use crate::settings::{KubeConfigPolicy, Settings};

/// The wall time of every look.
pub(crate) const NOW: u64 = 1_761_038_050_000;

pub(crate) fn settings() -> Settings {
    Settings {
        steady: Duration::from_secs(300),
        converging: Duration::from_secs(10),
        in_cluster: InClusterConsent::default(),
        kubeconfig: KubeConfigPolicy::default(),
        sensitivity: model::Sensitivity::default(),
        allow_git_http: false,
        default_known_hosts: None,
        allow_missing_known_hosts: false,
        git_proxy: ProxyPolicy::Direct,
        git_limits: Limits::RECOMMENDED,
        namespace: model::Namespace::new("ops").unwrap(),
        instance: "test".to_owned(),
    }
}

/// Reads `namespace/name`.
pub(crate) fn place(text: &str) -> Place {
    let (namespace, name) = text.split_once('/').unwrap();
    Place::named(namespace, name).unwrap()
}

/// Makes an object; its uid is its place. `more` is merged over it.
pub(crate) fn object<K: DeserializeOwned>(kind: &str, at: &str, spec: Value, more: Value) -> K {
    let place = place(at);
    let mut object = json!({
        "apiVersion": "configbutler.ai/v1alpha3", "kind": kind,
        "metadata": {
            "namespace": place.namespace, "name": place.name, "uid": at, "generation": 1,
            "creationTimestamp": "2026-01-01T00:00:00Z",
        },
        "spec": spec,
    });
    merge(&mut object, &more);
    serde_json::from_value(object).unwrap()
}

fn merge(into: &mut Value, more: &Value) {
    match (into, more) {
        (Value::Object(into), Value::Object(more)) => {
            for (key, value) in more {
                merge(into.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (into, more) => *into = more.clone(),
    }
}

/// A status that says `Ready` with this status and reason.
pub(crate) fn ready(status: &str, reason: &str) -> Value {
    json!({"status": {"conditions": [{
        "type": "Ready", "status": status, "reason": reason, "message": "its own words",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }]}})
}
