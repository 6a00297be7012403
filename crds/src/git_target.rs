//! GitTarget: which cluster is mirrored into which folder of a branch, and how.

use std::collections::BTreeMap;

use kube::CustomResource;
use kube::core::Rule;
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::columns::Column;
use crate::conditions::ConditionType;
use crate::duration::GoDuration;
use crate::grants::CommitRequestGrant;
use crate::references::{NamespacedReference, SecretReference};
use crate::schema;
use crate::words::words;

mod status;

pub use status::{
    GitTargetStatus, Placement as PlacementStatus, PlacementMode, Retention, Streams,
};

/// What `kubectl get` shows.
pub(crate) const COLUMNS: &[Column] = &[
    Column::READY,
    Column::REASON,
    Column::text("Branch", ".status.branch"),
    Column::text("Path", ".spec.path"),
    Column::text("Commit", ".status.commit"),
    Column::number("Pending", ".status.pendingWrites"),
    Column::AGE,
    Column::MESSAGE,
    Column::text("Streams", ".status.streams.summary").wide(),
    Column::status("StreamsRunning", ConditionType::StreamsRunning).wide(),
    Column::status("GitPathAccepted", ConditionType::GitPathAccepted).wide(),
    Column::status("RenderMatchesLive", ConditionType::RenderMatchesLive).wide(),
    Column::reason("SourceReachable", ConditionType::SourceClusterReachable).wide(),
    Column::status("GitBranchReady", ConditionType::GitBranchReady).wide(),
    Column::status("KubeProviderReady", ConditionType::KubeProviderReady).wide(),
    Column::reason("Encryption", ConditionType::EncryptionConfigured).wide(),
    Column::text("GitBranch", ".spec.gitBranchRef.name").wide(),
    Column::text("KubeProvider", ".spec.kubeProviderRef.name").wide(),
];

/// What a GitTarget asks for.
#[derive(CustomResource, Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "configbutler.ai",
    version = "v1alpha3",
    kind = "GitTarget",
    plural = "gittargets",
    namespaced,
    status = "GitTargetStatus",
    derive = "PartialEq",
    doc = "GitTarget mirrors a source cluster into one folder of a GitBranch."
)]
#[serde(rename_all = "camelCase")]
#[schemars(
    extend("x-kubernetes-validations" = [
        Rule::new("!has(self.onRefusal) || self.onRefusal != 'Reapply' || has(self.applierClaimRef)")
            .message("onRefusal: Reapply needs applierClaimRef: without a claim nothing can be asked to reapply")
            .field_path(".onRefusal"),
    ]),
    transform = forbid_branch_fields
)]
pub struct GitTargetSpec {
    /// The GitBranch that this target writes. Its grants have to admit this namespace.
    #[schemars(extend("x-kubernetes-validations" = [schema::immutable("gitBranchRef")]))]
    pub git_branch_ref: NamespacedReference,
    /// The KubeProvider to mirror from. Its grants have to admit this namespace.
    #[schemars(extend("x-kubernetes-validations" = [schema::immutable("kubeProviderRef")]))]
    pub kube_provider_ref: NamespacedReference,
    /// The folder to write, relative to the root of the repository; . is the root itself.
    #[schemars(length(min = 1, max = 4096), extend("x-kubernetes-validations" = path_rules()))]
    pub path: String,
    /// How writes become commits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitSettings>,
    /// Which CommitRequests may save this target's windows. Omitted, those of this target's own namespace;
    /// an empty list admits none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(max = 64),
        extend(
            "x-kubernetes-list-type" = "atomic",
            "default" = json!([{"consumerNamespaces": {"from": "Same"}}])
        )
    )]
    pub allowed_commit_requests: Option<Vec<CommitRequestGrant>>,
    /// Where a resource that has no document yet is written. An existing document stays where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
    /// Whether documents carry their own metadata.namespace. Omitted, it follows from the folder for each
    /// document; an explicit false admits one source namespace only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serialize_namespace: Option<bool>,
    /// Which deletions reach Git.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prune: Option<Prune>,
    /// The claim in this namespace that holds the applier of this folder, which is then asked to apply.
    /// Omitted, an applier applies on its own schedule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applier_claim_ref: Option<ApplierClaimReference>,
    /// What follows when an edit has no legal destination. Reapply asks the applier to put Git back over it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "Ignore"))]
    pub on_refusal: Option<OnRefusal>,
    /// Encrypts sensitive resources. Omitted, they are refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encryption: Option<Encryption>,
    /// Stops writing without deleting the target. Watches and scans go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub suspend: Option<bool>,
}

fn path_rules() -> [Rule; 4] {
    [
        schema::immutable("path"),
        Rule::new("!self.startsWith('/') && !self.endsWith('/')").message(
            "path is relative to the repository and has no slash at either end; . is its root",
        ),
        Rule::new(r"self == '.' || !self.matches('(^|/)\\.{1,2}(/|$)|//')")
            .message("path has no empty, '.' or '..' part; . alone is the root of the repository"),
        Rule::new(r"!self.matches('[\\x00-\\x1f\\x7f\\\\]')")
            .message("path has no backslash and no control character"),
    ]
}

/// Refuses what belongs to the GitBranch, by name.
fn forbid_branch_fields(schema: &mut Schema) {
    for (field, shape) in [
        ("gitProviderRef", reference_shape()),
        (
            "branch",
            text_shape("Always refused: the branch is named by the GitBranch in gitBranchRef."),
        ),
        (
            "parentBranch",
            text_shape("Always refused: the parent is named by the GitBranch in gitBranchRef."),
        ),
    ] {
        let rule = Rule::new(format!("!has(self.{field})"))
            .message(kube::core::Message::Message(format!(
                "{field} belongs to the GitBranch: name a GitBranch in spec.gitBranchRef"
            )))
            .field_path(format!(".{field}"));
        schema::forbid(schema, field, shape, rule);
    }
}

fn text_shape(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

fn reference_shape() -> Value {
    json!({
        "type": "object",
        "description": "Always refused: the provider is named by the GitBranch in gitBranchRef.",
        "x-kubernetes-preserve-unknown-fields": true,
    })
}

/// How writes become commits.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommitSettings {
    /// When a commit window closes. A window takes these timers when it opens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Window>,
    /// How commits are phrased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<MessageTemplates>,
}

/// The two timers of a commit window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [schema::idle_within_max()]))]
pub struct Window {
    /// Closes a window after this much silence; 0s commits every write on its own. Omitted, it is 5s or
    /// maxDuration, whichever is shorter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-validations" = [schema::at_most("24h")]))]
    pub idle_timeout: Option<GoDuration>,
    /// Closes a window this long after it opened, however much keeps arriving.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "1m", "x-kubernetes-validations" = [schema::at_most("24h")]))]
    pub max_duration: Option<GoDuration>,
}

/// Go templates for commit messages, checked when the target is reconciled.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageTemplates {
    /// For a window of live writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live_template: Option<String>,
    /// For a snapshot or a resync.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reconcile_template: Option<String>,
    /// For a window that a CommitRequest attached to; it frames the request's own message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_template: Option<String>,
}

/// Where new documents are written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Placement {
    /// Path templates for exact types. The key is [GROUP/]VERSION/RESOURCE, without a group for core types.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("maxProperties" = 256))]
    pub by_type: Option<BTreeMap<String, String>>,
    /// Path template for every type that byType does not name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// Creates a kustomization.yaml at path when none governs a new document. A new document joins one that
    /// does in any case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub use_kustomize: Option<bool>,
}

/// Which deletions reach Git.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Prune {
    /// Never keeps every document. OnEvent removes a document when a delete was seen. Always also removes
    /// what a complete snapshot does not hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "OnEvent"))]
    pub mode: Option<PruneMode>,
}

words! {
    /// Which deletions reach Git.
    pub enum PruneMode {
        /// None.
        Never = "Never",
        /// Those that were seen.
        OnEvent = "OnEvent",
        /// Those, and what a snapshot lacks.
        Always = "Always",
    }
}

/// Names an applier claim in the same namespace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApplierClaimReference {
    /// Kind of the claim.
    pub kind: ApplierClaimKind,
    /// Name of the claim.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
}

words! {
    /// The kinds that hold an applier.
    pub enum ApplierClaimKind {
        /// Holds a Flux Kustomization.
        FluxClaim = "FluxClaim",
        /// Holds an Argo CD Application.
        ArgoCdClaim = "ArgoCDClaim",
    }
}

words! {
    /// What follows a refused edit.
    pub enum OnRefusal {
        /// It is reported, and nothing else happens.
        Ignore = "Ignore",
        /// The applier is asked to apply Git over it.
        Reapply = "Reapply",
    }
}

/// How sensitive resources are encrypted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Encryption {
    /// The format of encrypted files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "sops"))]
    pub provider: Option<EncryptionProvider>,
    /// Secret in this namespace with age keys, in entries that end in .agekey.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<SecretReference>,
    /// Encryption for age recipients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age: Option<Age>,
}

words! {
    /// Formats of encrypted files.
    pub enum EncryptionProvider {
        /// SOPS.
        Sops = "sops",
    }
}

/// Encryption for age recipients.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Age {
    /// Turns it on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub enabled: Option<bool>,
    /// Who can decrypt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipients: Option<AgeRecipients>,
}

/// Who can decrypt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgeRecipients {
    /// Public keys, written out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64), inner(length(min = 1, max = 4096)))]
    pub public_keys: Option<Vec<String>>,
    /// Adds the public halves of the keys in secretRef.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub extract_from_secret: Option<bool>,
    /// Creates a key in secretRef when it holds none. It needs extractFromSecret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub generate_when_missing: Option<bool>,
}
