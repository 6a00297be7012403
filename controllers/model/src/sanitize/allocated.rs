//! What single kinds lose: fields that the API server or a controller filled in and that a person
//! cannot have meant. Matched on group and kind, so a custom `Service` keeps its fields.

use serde_json::{Map, Value};

use super::managers::{CONTROLLER_MANAGER, Step, owners};
use crate::object::WithheldField;
use crate::resource::ServedType;

/// Annotations by which a controller says that it injects `caBundle`.
const CA_INJECTORS: &[&str] = &[
    "cert-manager.io/inject-ca-from",
    "cert-manager.io/inject-ca-from-secret",
    "cert-manager.io/inject-apiserver-ca",
    "service.beta.openshift.io/inject-cabundle",
];

/// Moves allocated fields from the value into `withheld`.
pub(super) fn take_out(
    served: &ServedType,
    metadata: &Map<String, Value>,
    value: &mut Map<String, Value>,
    withheld: &mut Vec<WithheldField>,
) {
    let mut taker = Taker {
        metadata,
        value,
        withheld,
    };
    match (&*served.type_id.group, served.kind.as_str()) {
        ("", "Service") => taker.service(),
        ("", "PersistentVolumeClaim") => taker.bound("volumeName"),
        ("", "PersistentVolume") => taker.persistent_volume(),
        ("", "Namespace") => taker.take(&["spec", "finalizers"]),
        ("batch", "Job") => taker.job(),
        ("apiextensions.k8s.io", "CustomResourceDefinition") if taker.ca_is_injected() => {
            taker.take(&["spec", "conversion", "webhook", "clientConfig", "caBundle"]);
        }
        (
            "admissionregistration.k8s.io",
            "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration",
        ) if taker.ca_is_injected() => taker.webhooks(),
        _ => {}
    }
}

struct Taker<'a> {
    metadata: &'a Map<String, Value>,
    value: &'a mut Map<String, Value>,
    withheld: &'a mut Vec<WithheldField>,
}

impl Taker<'_> {
    fn service(&mut self) {
        let headless = self.at(&["spec", "clusterIP"]).and_then(Value::as_str) == Some("None");
        for field in ["clusterIP", "clusterIPs"] {
            if !headless && self.is_allocated(field) {
                self.take(&["spec", field]);
            }
        }
        if self.is_allocated("healthCheckNodePort") {
            self.take(&["spec", "healthCheckNodePort"]);
        }
        let ports = self
            .at(&["spec", "ports"])
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        for (index, port) in ports.iter().enumerate() {
            let Some(port) = port.as_object() else {
                continue;
            };
            let path = [
                Step::Field("spec"),
                Step::Field("ports"),
                Step::Item(port, &["port", "protocol"]),
                Step::Field("nodePort"),
            ];
            if port.contains_key("nodePort") && owners(self.metadata, &path).is_empty() {
                self.take(&["spec", "ports", &index.to_string(), "nodePort"]);
            }
        }
    }

    fn persistent_volume(&mut self) {
        self.bound("claimRef");
        for field in ["uid", "resourceVersion"] {
            self.take(&["spec", "claimRef", field]);
        }
    }

    /// Takes a field that the binding controller filled in, and keeps one that somebody else set.
    fn bound(&mut self, field: &str) {
        let owners = owners(self.metadata, &[Step::Field("spec"), Step::Field(field)]);
        if owners.iter().all(|owner| *owner == CONTROLLER_MANAGER) {
            self.take(&["spec", field]);
        }
    }

    /// Takes the selector and the labels that the API server generates for a Job, unless the person wrote
    /// the selector.
    fn job(&mut self) {
        if self
            .at(&["spec", "manualSelector"])
            .and_then(Value::as_bool)
            == Some(true)
        {
            return;
        }
        self.take(&["spec", "selector"]);
        for label in [
            "controller-uid",
            "job-name",
            "batch.kubernetes.io/controller-uid",
            "batch.kubernetes.io/job-name",
        ] {
            self.take(&["spec", "template", "metadata", "labels", label]);
            self.take(&["metadata", "labels", label]);
        }
    }

    fn webhooks(&mut self) {
        let count = self
            .at(&["webhooks"])
            .and_then(Value::as_array)
            .map_or(0, Vec::len);
        for index in 0..count {
            self.take(&["webhooks", &index.to_string(), "clientConfig", "caBundle"]);
        }
    }

    fn ca_is_injected(&self) -> bool {
        let annotations = self.metadata.get("annotations").and_then(Value::as_object);
        annotations.is_some_and(|annotations| {
            CA_INJECTORS
                .iter()
                .any(|key| annotations.contains_key(*key))
        })
    }

    fn is_allocated(&self, field: &str) -> bool {
        owners(self.metadata, &[Step::Field("spec"), Step::Field(field)]).is_empty()
    }

    fn at(&self, path: &[&str]) -> Option<&Value> {
        let (first, rest) = path.split_first()?;
        rest.iter()
            .try_fold(self.value.get(*first)?, |value, key| step(value, key))
    }

    /// Moves the value at the path into `withheld`, and drops the maps that it leaves empty.
    fn take(&mut self, path: &[&str]) {
        if let Some(value) = remove(self.value, path) {
            let path = path.iter().map(ToString::to_string).collect();
            self.withheld.push(WithheldField { path, value });
        }
    }
}

fn step<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    match value {
        Value::Array(items) => items.get(key.parse::<usize>().ok()?),
        other => other.get(key),
    }
}

fn remove(map: &mut Map<String, Value>, path: &[&str]) -> Option<Value> {
    let (first, rest) = path.split_first()?;
    if rest.is_empty() {
        return map.remove(*first);
    }
    let child = map.get_mut(*first)?;
    let (removed, empty) = match child {
        Value::Object(below) => (remove(below, rest), below.is_empty()),
        Value::Array(items) => {
            let item = items
                .get_mut(rest.first()?.parse::<usize>().ok()?)?
                .as_object_mut()?;
            (remove(item, rest.get(1..)?), false)
        }
        _ => (None, false),
    };
    if removed.is_some() && empty {
        map.remove(*first);
    }
    removed
}
