//! What every object loses from its metadata, whatever its kind.

use serde_json::{Map, Value};

use crate::object::WithheldField;

/// Metadata that only the server writes. A document that holds one of these keeps it untouched.
pub const SERVER_OWNED_METADATA: &[&str] = &[
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
    "managedFields",
    "ownerReferences",
    "generateName",
];

/// Labels that controllers keep their books in, by prefix.
const LABEL_PREFIXES: &[&str] = &[
    "kustomize.toolkit.fluxcd.io/",
    "kro.run/",
    "applyset.kubernetes.io/",
];
/// Labels that controllers keep their books in, by key.
const LABEL_KEYS: &[&str] = &[
    "helm.toolkit.fluxcd.io/name",
    "helm.toolkit.fluxcd.io/namespace",
    "kubernetes.io/metadata.name",
];
/// Annotations that controllers keep their books in, by prefix.
const ANNOTATION_PREFIXES: &[&str] = &[
    "kubectl.kubernetes.io/",
    "control-plane.alpha.kubernetes.io/",
    "deployment.kubernetes.io/",
    "autoscaling.alpha.kubernetes.io/",
    "applyset.kubernetes.io/",
    "pv.kubernetes.io/",
    "meta.helm.sh/",
];
/// Annotations that controllers keep their books in, by key. What a person sets under Flux's prefix
/// (`prune`, `ssa`, `reconcile`, `force`, `substitute`) is not among them.
const ANNOTATION_KEYS: &[&str] = &[
    "kustomize.toolkit.fluxcd.io/name",
    "kustomize.toolkit.fluxcd.io/namespace",
    "kustomize.toolkit.fluxcd.io/checksum",
    "reconcile.fluxcd.io/requestedAt",
    "argocd.argoproj.io/tracking-id",
    "argocd.argoproj.io/installation-id",
    "kcp.io/cluster",
    "batch.kubernetes.io/job-tracking",
    "deprecated.daemonset.template.generation",
    "volume.kubernetes.io/selected-node",
    "volume.kubernetes.io/storage-provisioner",
    "volume.beta.kubernetes.io/storage-provisioner",
];

/// Says whether a label is a controller's bookkeeping, so it never reaches Git.
pub fn is_bookkeeping_label(key: &str) -> bool {
    LABEL_KEYS.contains(&key) || LABEL_PREFIXES.iter().any(|prefix| key.starts_with(prefix))
}

/// Says whether an annotation is a controller's bookkeeping, so it never reaches Git.
pub fn is_bookkeeping_annotation(key: &str) -> bool {
    ANNOTATION_KEYS.contains(&key)
        || ANNOTATION_PREFIXES
            .iter()
            .any(|prefix| key.starts_with(prefix))
}

/// Takes server-owned fields and bookkeeping out. Finalizers are withheld: a person may set them, so a
/// document that holds them is still compared.
pub(super) fn clean(value: &mut Map<String, Value>, withheld: &mut Vec<WithheldField>) {
    let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) else {
        return;
    };
    for key in SERVER_OWNED_METADATA {
        metadata.remove(*key);
    }
    if let Some(finalizers) = metadata.remove("finalizers") {
        withheld.push(WithheldField {
            path: vec!["metadata".to_owned(), "finalizers".to_owned()],
            value: finalizers,
        });
    }
    strip(metadata, "labels", is_bookkeeping_label);
    strip(metadata, "annotations", is_bookkeeping_annotation);
    for (key, below) in value {
        if key != "metadata" {
            clean_templates(below);
        }
    }
}

/// Takes the creation time out of the metadata of templates, where older clients and servers write that there
/// is none.
fn clean_templates(value: &mut Value) {
    match value {
        Value::Object(map) => {
            let emptied = match map.get_mut("metadata") {
                Some(Value::Object(metadata))
                    if metadata.get("creationTimestamp") == Some(&Value::Null) =>
                {
                    metadata.remove("creationTimestamp");
                    metadata.is_empty()
                }
                _ => false,
            };
            if emptied {
                map.remove("metadata");
            }
            map.values_mut().for_each(clean_templates);
        }
        Value::Array(items) => items.iter_mut().for_each(clean_templates),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Removes the matching keys, and the map itself once it is empty (PJ-4).
fn strip(metadata: &mut Map<String, Value>, map: &str, matches: fn(&str) -> bool) {
    let empty = match metadata.get_mut(map) {
        None => false,
        Some(Value::Object(entries)) => {
            entries.retain(|key, _| !matches(key));
            entries.is_empty()
        }
        Some(_) => true,
    };
    if empty {
        metadata.remove(map);
    }
}
