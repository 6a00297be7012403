//! GitReceiver: the endpoint that a Git host notifies of a push.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::columns::Column;
use crate::references::LocalReference;
use crate::schema;
use crate::words::words;

/// What `kubectl get` shows.
pub(crate) const COLUMNS: &[Column] = &[
    Column::text("Type", ".spec.type"),
    Column::READY,
    Column::REASON,
    Column::AGE,
    Column::text("Path", ".status.webhookPath").wide(),
    Column::MESSAGE,
];

/// What a GitReceiver asks for.
#[derive(CustomResource, Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "configbutler.ai",
    version = "v1alpha3",
    kind = "GitReceiver",
    plural = "gitreceivers",
    namespaced,
    status = "GitReceiverStatus",
    derive = "PartialEq",
    doc = "GitReceiver is the endpoint that a Git host notifies of a push."
)]
#[serde(rename_all = "camelCase")]
pub struct GitReceiverSpec {
    /// How the host signs and shapes what it sends; generic-hmac is for a relay of your own.
    #[serde(rename = "type")]
    pub type_: ReceiverType,
    /// Secret in this namespace whose key token is the webhook secret. The path of the endpoint is derived
    /// from it.
    pub secret_ref: LocalReference,
}

words! {
    /// Whose notices a receiver understands.
    pub enum ReceiverType {
        /// GitHub.
        GitHub = "github",
        /// GitLab.
        GitLab = "gitlab",
        /// Gitea and Forgejo.
        Gitea = "gitea",
        /// A relay that signs the body with an HMAC.
        GenericHmac = "generic-hmac",
    }
}

/// What is known about a GitReceiver.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GitReceiverStatus {
    /// What holds and what does not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::conditions")]
    pub conditions: Vec<Condition>,
    /// The generation of the spec that this status speaks about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Path of the endpoint below the receiver's address; empty while there is no token to derive it from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook_path: Option<String>,
    /// The last value of the annotation reconcile.configbutler.ai/requestedAt that was acted on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_handled_reconcile_at: Option<String>,
}
