//! GitProvider: a repository, its credential, and who may claim its branches.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::CustomResource;
use kube::core::Rule;
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::columns::Column;
use crate::grants::GitBranchGrant;
use crate::references::{KnownHostsReference, SecretReference};
use crate::schema;

/// What `kubectl get` shows.
pub(crate) const COLUMNS: &[Column] = &[
    Column::text("URL", ".spec.url"),
    Column::READY,
    Column::REASON,
    Column::AGE,
    Column::age("Verified", ".status.lastVerifiedAt").wide(),
    Column::MESSAGE,
];

/// What a GitProvider asks for.
#[derive(CustomResource, Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "configbutler.ai",
    version = "v1alpha3",
    kind = "GitProvider",
    plural = "gitproviders",
    namespaced,
    status = "GitProviderStatus",
    derive = "PartialEq",
    doc = "GitProvider is a Git repository with the credential that writes it, and says who may claim its branches."
)]
#[serde(rename_all = "camelCase")]
pub struct GitProviderSpec {
    /// URL of the repository, over SSH or HTTPS.
    #[schemars(
        length(min = 1, max = 2048),
        extend("x-kubernetes-validations" = [schema::immutable("url")])
    )]
    pub url: String,
    /// Which namespaces' GitBranches may claim which branches with this credential. Omitted or empty it
    /// admits nobody, this object's own namespace included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub allowed_git_branches: Option<Vec<GitBranchGrant>>,
    /// Secret in this namespace with the credential that writes the repository. Omitted, the access is
    /// anonymous.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<SecretReference>,
    /// ConfigMap or Secret in this namespace with SSH host keys that several providers share. Host keys in
    /// the credential Secret come first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known_hosts_ref: Option<KnownHostsReference>,
    /// Under which identity this connection commits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitIdentity>,
}

/// The identity that a connection commits under.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = forbid_message)]
pub struct CommitIdentity {
    /// Who is written as the Git committer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub committer: Option<Committer>,
    /// Signs commits with an SSH key. Omitted, commits are not signed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signing: Option<Signing>,
}

fn forbid_message(schema: &mut Schema) {
    schema::forbid(
        schema,
        "message",
        json!({
            "type": "object",
            "description": "Always refused: the wording of commits belongs to the folder, GitTarget spec.commit.message.",
            "x-kubernetes-preserve-unknown-fields": true,
        }),
        Rule::new("!has(self.message)")
            .message("commit messages are set where the folder is: use spec.commit.message of the GitTarget")
            .field_path(".message"),
    );
}

/// The committer that is written into every commit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Committer {
    /// Name of the committer. Omitted, it is GitOps Reverser.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256))]
    pub name: Option<String>,
    /// Email address of the committer. Omitted, it is noreply@configbutler.ai.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256))]
    pub email: Option<String>,
}

/// Where the signing key is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Signing {
    /// Secret in this namespace with the key signing.key and, for an encrypted key, passphrase.
    pub secret_ref: SecretReference,
    /// Creates the Secret with a new key when it does not exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub generate_when_missing: Option<bool>,
}

/// What is known about a GitProvider.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GitProviderStatus {
    /// What holds and what does not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::conditions")]
    pub conditions: Vec<Condition>,
    /// The generation of the spec that this status speaks about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// When the credential and the repository were last proved together. A failure leaves it as it is, so it
    /// tells when the provider last worked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_verified_at: Option<Time>,
    /// Public half of the signing key, to be registered with the Git host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signing_public_key: Option<String>,
    /// The last value of the annotation reconcile.configbutler.ai/requestedAt that was acted on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_handled_reconcile_at: Option<String>,
}
