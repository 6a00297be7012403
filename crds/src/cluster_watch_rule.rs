//! ClusterWatchRule: which cluster-scoped resources reach a GitTarget.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::columns::Column;
use crate::conditions::ConditionType;
use crate::references::{FullReference, label_selector};
use crate::watch_rule::{WatchRuleStatus, resources};

/// What `kubectl get` shows.
pub(crate) const COLUMNS: &[Column] = &[
    Column::text("Target", ".spec.gitTargetRef.name"),
    Column::READY,
    Column::REASON,
    Column::text("Streams", ".status.streams.summary"),
    Column::AGE,
    Column::text("TargetNamespace", ".spec.gitTargetRef.namespace").wide(),
    Column::status("GitTargetReady", ConditionType::GitTargetReady).wide(),
    Column::status("StreamsRunning", ConditionType::StreamsRunning).wide(),
    Column::MESSAGE,
];

/// What a ClusterWatchRule asks for.
#[derive(CustomResource, Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "configbutler.ai",
    version = "v1alpha3",
    kind = "ClusterWatchRule",
    plural = "clusterwatchrules",
    status = "WatchRuleStatus",
    derive = "PartialEq",
    doc = "ClusterWatchRule selects cluster-scoped resources of a source cluster and writes them to a GitTarget."
)]
#[serde(rename_all = "camelCase")]
pub struct ClusterWatchRuleSpec {
    /// The GitTarget that these rules feed.
    pub git_target_ref: FullReference,
    /// What to watch. A resource that any of the rules selects is watched.
    #[schemars(length(min = 1, max = 64))]
    pub rules: Vec<ClusterResourceRule>,
}

/// One selection of cluster-scoped resources.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterResourceRule {
    /// Plural names of the cluster-scoped resources, such as clusterroles, or * for all.
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
    /// Label selector that the API server applies to this item's list and watch. Omitted, every object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "label_selector")]
    pub object_selector: Option<LabelSelector>,
}
