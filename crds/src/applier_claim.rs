//! What the two applier claims report alike: the operation that was asked of the applier.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::core::Rule;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;
use crate::words::words;

/// Bounds `catchUpAfter`: off, or an interval that neither hurries nor forgets the applier.
pub(crate) fn catch_up_bounds() -> Rule {
    schema::duration_rule(
        "self",
        "duration(self) == duration('0s') || \
         (duration(self) >= duration('10s') && duration(self) <= duration('24h'))",
    )
    .message("must be 0s, or from 10s to 24h")
}

/// One apply that was asked of the applier.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Operation {
    /// How far it is. Requested, Running, Settling and Unresolved are in flight; Succeeded and Failed are
    /// complete.
    pub phase: OperationPhase,
    /// Why it was asked for; absent when the applier was set going by somebody else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<OperationReason>,
    /// The commit that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Identifies the request in the applier's own status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// Flux only: identifies the suspend that follows the apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspend_token: Option<String>,
    /// The revision that the applier says it applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied_revision: Option<String>,
    /// When it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested_at: Option<Time>,
    /// When it was seen to be complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Time>,
}

words! {
    /// How far an operation is.
    pub enum OperationPhase {
        /// Asked for.
        Requested = "Requested",
        /// The applier applies.
        Running = "Running",
        /// Flux only: applied, and not yet seen suspended again.
        Settling = "Settling",
        /// Not complete in time, still followed.
        Unresolved = "Unresolved",
        /// Applied.
        Succeeded = "Succeeded",
        /// Not applied.
        Failed = "Failed",
    }
}

words! {
    /// Why an apply is asked for.
    pub enum OperationReason {
        /// The branch gained a commit that is not ours.
        ForeignCommit = "ForeignCommit",
        /// An edit was refused, and the target asks for Git to be put back.
        Refusal = "Refusal",
        /// An apply wrote over a later edit.
        Repair = "Repair",
        /// The applier's own state is behind the branch.
        CatchUp = "CatchUp",
    }
}
