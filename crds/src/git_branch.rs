//! GitBranch: one branch of a repository, held for every GitTarget that writes it.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::CustomResource;
use kube::core::Rule;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::columns::Column;
use crate::grants::BranchWriterGrant;
use crate::references::NamespacedReference;
use crate::schema;
use crate::words::words;

/// What `kubectl get` shows.
pub(crate) const COLUMNS: &[Column] = &[
    Column::text("Provider", ".spec.gitProviderRef.name"),
    Column::text("ProviderNamespace", ".spec.gitProviderRef.namespace"),
    Column::text("Branch", ".spec.branch"),
    Column::text("Commit", ".status.remote.commit"),
    Column::READY,
    Column::REASON.wide(),
    Column::text("Repository", ".status.repository").wide(),
    Column::number("Targets", ".status.gitTargetCount").wide(),
    Column::age("Verified", ".status.remote.lastVerifiedAt").wide(),
    Column::MESSAGE,
];

/// What a GitBranch asks for.
#[derive(CustomResource, Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "configbutler.ai",
    version = "v1alpha3",
    kind = "GitBranch",
    plural = "gitbranches",
    namespaced,
    status = "GitBranchStatus",
    derive = "PartialEq",
    doc = "GitBranch is one branch of a GitProvider's repository, and holds it for every GitTarget that writes it."
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [schema::immutable_optional("parentBranch")]))]
pub struct GitBranchSpec {
    /// The GitProvider whose repository and credential write this branch. One of its grants has to admit
    /// this namespace and this branch.
    #[schemars(extend("x-kubernetes-validations" = [schema::immutable("gitProviderRef")]))]
    pub git_provider_ref: NamespacedReference,
    /// The branch to write, without refs/heads/. One GitBranch at a time holds a branch of a repository.
    #[schemars(
        length(min = 1, max = 244),
        extend("x-kubernetes-validations" = [schema::immutable("branch"), branch_name()])
    )]
    pub branch: String,
    /// The branch from which a branch that the remote does not have yet is created; it is only read.
    /// Omitted, it is the remote's default branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 244), extend("x-kubernetes-validations" = [branch_name()]))]
    pub parent_branch: Option<String>,
    /// Which namespaces' GitTargets may write through this branch. Omitted, this branch's own namespace; an
    /// empty list admits nobody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(max = 64),
        extend(
            "x-kubernetes-list-type" = "atomic",
            "default" = json!([{"consumerNamespaces": {"from": "Same"}}])
        )
    )]
    pub allowed_git_targets: Option<Vec<BranchWriterGrant>>,
}

/// Git's own rules for the name of a branch, so that a name it would refuse is refused here, with a
/// sentence, before anything waits for it.
fn branch_name() -> Rule {
    Rule::new(
        concat!(
            "self != '@' && self != 'HEAD' && !self.startsWith('-') && !self.endsWith('.') && ",
            r"!self.matches('[\\x00-\\x20\\x7f~^:?*\\[\\\\]|\\.\\.|@\\{|//|^/|/$|(^|/)\\.|\\.lock(/|$)')",
        ),
    )
    .message("not a name that Git accepts for a branch")
}

/// What is known about a GitBranch.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GitBranchStatus {
    /// What holds and what does not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::conditions")]
    pub conditions: Vec<Condition>,
    /// The generation of the spec that this status speaks about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The repository in its normalised spelling, one half of the key that one GitBranch holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// Where the branch is on the remote, as last proved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<Remote>,
    /// How many GitTargets name this GitBranch, from any namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub git_target_count: Option<i32>,
    /// When a GitReceiver last delivered a push to this branch. It records receipt, not what was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_push_notice_at: Option<Time>,
    /// The last value of the annotation reconcile.configbutler.ai/requestedAt that was acted on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_handled_reconcile_at: Option<String>,
}

/// Where a branch is on its remote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Remote {
    /// The commit that the branch is at; empty while the branch is not on the remote.
    pub commit: String,
    /// When that was last proved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_verified_at: Option<Time>,
    /// What proved it: Push is a ref update of ours that the server accepted, Fetch is a look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified_by: Option<VerifiedBy>,
    /// What the branch would be created from; only while the branch is not on the remote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
}

words! {
    /// What proved where a branch is.
    pub enum VerifiedBy {
        /// The server accepted a ref update of ours.
        Push = "Push",
        /// A look at the remote.
        Fetch = "Fetch",
    }
}

/// What a branch that does not exist yet would be created from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Parent {
    /// Found is a branch to build on, Missing is one that the remote does not have, Unborn is an empty
    /// repository in which the first commit starts the history.
    pub state: ParentState,
    /// The parent branch: the configured one, or the remote's default branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The commit that the first commit would build on; only when Found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

words! {
    /// Whether a parent branch can be built on.
    pub enum ParentState {
        /// It is on the remote.
        Found = "Found",
        /// It is not on the remote.
        Missing = "Missing",
        /// The repository has no refs at all.
        Unborn = "Unborn",
    }
}
