//! ArgoCDClaim: the Argo CD Application that is asked to sync a folder.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::applier_claim::{Operation, catch_up_bounds};
use crate::columns::Column;
use crate::conditions::ConditionType;
use crate::duration::GoDuration;
use crate::references::NamespacedReference;
use crate::schema;

/// What `kubectl get` shows.
pub(crate) const COLUMNS: &[Column] = &[
    Column::text("Application", ".spec.applicationRef.name"),
    Column::READY,
    Column::REASON,
    Column::reason("InControl", ConditionType::InControl),
    Column::text("Operation", ".status.operation.phase"),
    Column::AGE,
    Column::text("KubeProvider", ".spec.kubeProviderRef.name").wide(),
    Column::text("Branch", ".status.source.branch").wide(),
    Column::text("Applied", ".status.operation.appliedRevision").wide(),
    Column::reason("Configured", ConditionType::Configured).wide(),
    Column::MESSAGE,
];

/// What an ArgoCDClaim asks for.
#[derive(CustomResource, Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "configbutler.ai",
    version = "v1alpha3",
    kind = "ArgoCDClaim",
    plural = "argocdclaims",
    namespaced,
    status = "ArgoCDClaimStatus",
    derive = "PartialEq",
    doc = "ArgoCDClaim holds an Argo CD Application, so that GitOps Reverser decides when it syncs."
)]
#[serde(rename_all = "camelCase")]
pub struct ArgoCDClaimSpec {
    /// The KubeProvider whose cluster holds the Application. Its grants have to admit this namespace.
    #[schemars(extend("x-kubernetes-validations" = [schema::immutable("kubeProviderRef")]))]
    pub kube_provider_ref: NamespacedReference,
    /// The Application that syncs the folders of the GitTargets that name this claim.
    #[schemars(extend("x-kubernetes-validations" = [schema::immutable("applicationRef")]))]
    pub application_ref: NamespacedReference,
    /// How long the Application may stay behind the branch after a push of our own before it is asked to
    /// catch up. 0s never asks for that: a sync runs the Application's hooks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "0s", "x-kubernetes-validations" = [catch_up_bounds()]))]
    pub catch_up_after: Option<GoDuration>,
}

/// What is known about an ArgoCDClaim.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ArgoCDClaimStatus {
    /// What holds and what does not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::conditions")]
    pub conditions: Vec<Condition>,
    /// The generation of the spec that this status speaks about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// What the Application syncs, as last read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<ArgoCDSource>,
    /// The last sync that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<Operation>,
    /// Whether a sync wrote over a later edit, so that the cluster runs the older value until a Repair.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repair_pending: Option<bool>,
    /// The last value of the annotation reconcile.configbutler.ai/requestedAt that was acted on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_handled_reconcile_at: Option<String>,
}

/// What an Application syncs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ArgoCDSource {
    /// URL of the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The branch that it follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
}
