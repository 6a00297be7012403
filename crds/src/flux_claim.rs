//! FluxClaim: the Flux Kustomization that is asked to apply a folder.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::applier_claim::{Operation, catch_up_bounds};
use crate::columns::Column;
use crate::conditions::ConditionType;
use crate::duration::GoDuration;
use crate::references::{FullReference, NamespacedReference};
use crate::schema;

/// What `kubectl get` shows.
pub(crate) const COLUMNS: &[Column] = &[
    Column::text("Kustomization", ".spec.kustomizationRef.name"),
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

/// What a FluxClaim asks for.
#[derive(CustomResource, Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "configbutler.ai",
    version = "v1alpha3",
    kind = "FluxClaim",
    plural = "fluxclaims",
    namespaced,
    status = "FluxClaimStatus",
    derive = "PartialEq",
    doc = "FluxClaim holds a Flux Kustomization, so that GitOps Reverser decides when it applies."
)]
#[serde(rename_all = "camelCase")]
pub struct FluxClaimSpec {
    /// The KubeProvider whose cluster holds the Kustomization. Its grants have to admit this namespace.
    #[schemars(extend("x-kubernetes-validations" = [schema::immutable("kubeProviderRef")]))]
    pub kube_provider_ref: NamespacedReference,
    /// The Kustomization that applies the folders of the GitTargets that name this claim.
    #[schemars(extend("x-kubernetes-validations" = [schema::immutable("kustomizationRef")]))]
    pub kustomization_ref: NamespacedReference,
    /// How long the Kustomization may stay behind the branch after a push of our own before it is asked to
    /// catch up. 0s never asks for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "1m", "x-kubernetes-validations" = [catch_up_bounds()]))]
    pub catch_up_after: Option<GoDuration>,
}

/// What is known about a FluxClaim.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FluxClaimStatus {
    /// What holds and what does not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::conditions")]
    pub conditions: Vec<Condition>,
    /// The generation of the spec that this status speaks about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// What the Kustomization applies, as last read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<FluxSource>,
    /// The last apply that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<Operation>,
    /// Whether an apply wrote over a later edit, so that the cluster runs the older value until a Repair.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repair_pending: Option<bool>,
    /// The last value of the annotation reconcile.configbutler.ai/requestedAt that was acted on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_handled_reconcile_at: Option<String>,
}

/// What a Kustomization applies.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FluxSource {
    /// The GitRepository that it fetches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_repository: Option<FullReference>,
    /// URL of that repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The branch that it follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// What else applies the same GitRepository and is held by no FluxClaim. For information only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub also_applied_by: Option<Vec<OtherApplier>>,
}

/// An applier that nobody holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OtherApplier {
    /// Its kind.
    pub kind: String,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}
