//! WatchRule: which namespaced resources reach a GitTarget.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector};
use kube::CustomResource;
use kube::core::Rule;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::columns::Column;
use crate::conditions::ConditionType;
use crate::references::{LocalReference, label_selector};
use crate::schema;

/// What `kubectl get` shows.
pub(crate) const COLUMNS: &[Column] = &[
    Column::text("Target", ".spec.gitTargetRef.name"),
    Column::READY,
    Column::REASON,
    Column::text("Streams", ".status.streams.summary"),
    Column::AGE,
    Column::status("GitTargetReady", ConditionType::GitTargetReady).wide(),
    Column::status("StreamsRunning", ConditionType::StreamsRunning).wide(),
    Column::status("SourceAuthorized", ConditionType::SourceNamespaceAuthorized).wide(),
    Column::MESSAGE,
];

/// What a WatchRule asks for.
#[derive(CustomResource, Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "configbutler.ai",
    version = "v1alpha3",
    kind = "WatchRule",
    plural = "watchrules",
    namespaced,
    status = "WatchRuleStatus",
    derive = "PartialEq",
    doc = "WatchRule selects namespaced resources of a source cluster and writes them to a GitTarget."
)]
#[serde(rename_all = "camelCase")]
pub struct WatchRuleSpec {
    /// The GitTarget in this namespace that these rules feed.
    pub git_target_ref: LocalReference,
    /// What to watch. A resource that any of the rules selects is watched.
    #[schemars(length(min = 1, max = 64))]
    pub rules: Vec<ResourceRule>,
}

/// One selection of namespaced resources.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResourceRule {
    /// Plural names of the resources, such as configmaps, or * for all. Subresources cannot be watched.
    #[schemars(schema_with = "resources")]
    pub resources: Vec<String>,
    /// API groups; "" is the core group and * is every group. Omitted, the group follows from the name, and
    /// a name that several groups serve selects nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64), inner(length(max = 253)))]
    pub api_groups: Option<Vec<String>>,
    /// API versions; * is every served version. Omitted, it is the preferred served version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64), inner(length(max = 63)))]
    pub api_versions: Option<Vec<String>>,
    /// The namespace of the source cluster to watch, or * for every one that the credential can read.
    /// Omitted, it is this rule's own namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(max = 63),
        extend("x-kubernetes-validations" = [
            Rule::new("self == '*' || self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')")
                .message("not a namespace name: lower-case letters, digits and inner dashes, or * alone"),
        ])
    )]
    pub source_namespace: Option<String>,
    /// Label selector that the API server applies to this item's list and watch. Omitted, every object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "label_selector")]
    pub object_selector: Option<LabelSelector>,
}

/// Describes a list of plural resource names.
pub(crate) fn resources(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "minItems": 1,
        "maxItems": 64,
        "items": {
            "type": "string",
            "minLength": 1,
            "maxLength": 63,
            "x-kubernetes-validations": [
                Rule::new("!self.contains('/')")
                    .message("subresources cannot be watched: name the resource itself"),
            ],
        },
    })
}

/// What is known about a WatchRule or a ClusterWatchRule.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WatchRuleStatus {
    /// What holds and what does not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::conditions")]
    pub conditions: Vec<Condition>,
    /// The generation of the spec that this status speaks about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// How many watches this rule has and how far they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streams: Option<RuleStreams>,
    /// The last value of the annotation reconcile.configbutler.ai/requestedAt that was acted on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_handled_reconcile_at: Option<String>,
}

/// The watches of one rule, counted by what they are doing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuleStreams {
    /// All of them.
    #[schemars(range(min = 0))]
    pub total: i32,
    /// Past their initial replay.
    #[schemars(range(min = 0))]
    pub ready: i32,
    /// Replaying what exists.
    #[schemars(range(min = 0))]
    pub replaying: i32,
    /// Waiting for something to be repaired.
    #[schemars(range(min = 0))]
    pub blocked: i32,
    /// Ready ones of all, for the column.
    pub summary: String,
    /// Up to five of those that are not ready, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 5))]
    pub pending_sample: Vec<String>,
}
