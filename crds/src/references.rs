//! How one object names another.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::words::words;

/// Names an object in the namespace of the object that refers to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LocalReference {
    /// Name of the object, in this object's own namespace.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
}

/// Names an object in the referrer's namespace, or in another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NamespacedReference {
    /// Name of the object.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Namespace of the object. Omitted, it is this object's own namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub namespace: Option<String>,
}

impl NamespacedReference {
    /// Returns the namespace that is meant when the referrer lives in `own`.
    pub fn namespace_or<'a>(&'a self, own: &'a str) -> &'a str {
        self.namespace.as_deref().unwrap_or(own)
    }
}

/// Names an object whose namespace has to be said, because the referrer has none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FullReference {
    /// Name of the object.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Namespace of the object.
    #[schemars(length(min = 1, max = 63))]
    pub namespace: String,
}

/// Names a Secret in the same namespace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecretReference {
    /// API group of the referenced object; only the core group holds Secrets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = [""], "default" = ""))]
    pub group: Option<String>,
    /// Kind of the referenced object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "Secret"))]
    pub kind: Option<SecretKind>,
    /// Name of the Secret, in this object's own namespace.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
}

words! {
    /// The one kind that holds a credential.
    pub enum SecretKind {
        /// A Secret.
        Secret = "Secret",
    }
}

/// Names the ConfigMap or Secret that holds SSH host keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KnownHostsReference {
    /// Kind of the object that holds the host keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "ConfigMap"))]
    pub kind: Option<KnownHostsKind>,
    /// Name of the object, in this object's own namespace.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
}

words! {
    /// What may hold SSH host keys.
    pub enum KnownHostsKind {
        /// Host keys are public, so a ConfigMap is the usual place.
        ConfigMap = "ConfigMap",
        /// A Secret, for host keys that are kept beside a credential.
        Secret = "Secret",
    }
}

/// Describes a label selector, which server-side apply replaces as a whole.
///
/// Only its shape is checked here. Operators, values and label syntax are checked when it is used, by the
/// rules that Kubernetes itself applies.
pub(crate) fn label_selector(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "x-kubernetes-map-type": "atomic",
        "properties": {
            "matchLabels": {
                "type": "object",
                "description": "Labels and the value that each has to have.",
                "maxProperties": 64,
                "additionalProperties": { "type": "string" },
            },
            "matchExpressions": {
                "type": "array",
                "description": "Further requirements. All of them, and all of matchLabels, have to hold.",
                "maxItems": 64,
                "items": {
                    "type": "object",
                    "required": ["key", "operator"],
                    "properties": {
                        "key": { "type": "string", "description": "The label." },
                        "operator": {
                            "type": "string",
                            "description": "In, NotIn, Exists or DoesNotExist.",
                        },
                        "values": {
                            "type": "array",
                            "description": "The values to compare with; only for In and NotIn.",
                            "maxItems": 256,
                            "items": { "type": "string" },
                        },
                    },
                },
            },
        },
    })
}
