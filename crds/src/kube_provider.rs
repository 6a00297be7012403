//! KubeProvider: the cluster that is mirrored, and who may use the credential for it.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use kube::core::Rule;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::columns::Column;
use crate::conditions::ConditionType;
use crate::grants::{ApplierGrant, SourceGrant};
use crate::schema;
use crate::words::words;

/// What `kubectl get` shows.
pub(crate) const COLUMNS: &[Column] = &[
    Column::READY,
    Column::REASON,
    Column::status("FactsReceived", ConditionType::AuditFactsReceived),
    Column::AGE,
    Column::text("Route", ".status.auditRoute").wide(),
    Column::reason("Saves", ConditionType::CommitRequestsServed).wide(),
    Column::status("Validated", ConditionType::Validated).wide(),
    Column::MESSAGE,
];

/// What a KubeProvider asks for.
#[derive(CustomResource, Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "configbutler.ai",
    version = "v1alpha3",
    kind = "KubeProvider",
    plural = "kubeproviders",
    namespaced,
    status = "KubeProviderStatus",
    derive = "PartialEq",
    doc = "KubeProvider is a Kubernetes cluster to mirror from, with the credential that reads it, and says who may use it."
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    Rule::new("has(self.secretRef) != has(self.inCluster)")
        .message("set exactly one of secretRef and inCluster"),
    schema::immutable_optional("secretRef"),
    schema::immutable_optional("inCluster"),
    Rule::new("!has(self.client) || !has(self.inCluster)")
        .message("client cannot be set beside inCluster: the operator's own client is shared")
        .field_path(".client"),
    Rule::new("!has(self.inCluster) || !has(self.commitRequests) || self.commitRequests == 'Ignore'")
        .message("an inCluster provider takes only Ignore: the requests of the operator's own cluster are always served")
        .field_path(".commitRequests"),
]))]
pub struct KubeProviderSpec {
    /// Secret in this namespace with a kubeconfig of the cluster. Set this or inCluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<KubeConfigReference>,
    /// Uses the operator's own identity in the cluster that it runs in, for a provider that the installation
    /// lists. Set this or secretRef.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_cluster: Option<InCluster>,
    /// Which namespaces' GitTargets may mirror through this provider, and what. Omitted, this provider's own
    /// namespace mirrors the namespace of the same name; an empty list admits nobody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(max = 64),
        extend(
            "x-kubernetes-list-type" = "atomic",
            "default" = json!([{
                "consumerNamespaces": {"from": "Same"},
                "sourceNamespaces": ["{consumer.namespace}"],
            }])
        )
    )]
    pub allowed_git_targets: Option<Vec<SourceGrant>>,
    /// Which namespaces' applier claims may hold an applier through this provider, and where it may live.
    /// Omitted, this provider's own namespace, for appliers in the namespace of the same name; an empty list
    /// admits nobody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(max = 64),
        extend(
            "x-kubernetes-list-type" = "atomic",
            "default" = json!([{
                "applierNamespaces": ["{consumer.namespace}"],
                "consumerNamespaces": {"from": "Same"},
            }])
        )
    )]
    pub allowed_applier_claims: Option<Vec<ApplierGrant>>,
    /// Limits of the client for this cluster. Not beside inCluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientLimits>,
    /// How this cluster's audit facts are found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attribution: Option<Attribution>,
    /// Whether CommitRequests made on this cluster are served, and finished ones deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "Ignore"))]
    pub commit_requests: Option<ServeCommitRequests>,
}

/// Names a Secret and the key in it that holds a kubeconfig.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KubeConfigReference {
    /// Name of the Secret, in this object's own namespace.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Key in the Secret. Omitted, value is read, then value.yaml.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub key: Option<String>,
}

/// The operator's own identity: a choice without settings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InCluster {}

/// Limits of a client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClientLimits {
    /// Requests a second in the long run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1), extend("default" = 20))]
    pub qps: Option<i32>,
    /// Requests that may go out at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1), extend("default" = 30))]
    pub burst: Option<i32>,
}

/// Where audit facts of a cluster arrive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Attribution {
    /// The route on which this cluster's audit events are delivered. One namespace holds a route. Omitted,
    /// it is NAMESPACE.NAME of this object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(max = 253),
        extend("x-kubernetes-validations" = [
            Rule::new(r"self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')")
                .message("an audit route is lower-case labels joined by dots, as in a DNS name"),
        ])
    )]
    pub audit_route: Option<String>,
}

words! {
    /// What becomes of the CommitRequests of a source cluster.
    pub enum ServeCommitRequests {
        /// Nothing.
        Ignore = "Ignore",
        /// They are served and stay.
        Reconcile = "Reconcile",
        /// They are served, and finished ones are deleted after their time.
        ReconcileAndDeleteFinished = "ReconcileAndDeleteFinished",
    }
}

/// What is known about a KubeProvider.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KubeProviderStatus {
    /// What holds and what does not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::conditions")]
    pub conditions: Vec<Condition>,
    /// The generation of the spec that this status speaks about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The audit route in effect, to which AuditFactsReceived belongs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audit_route: Option<String>,
    /// How the CommitRequests of this cluster are served; absent while they are ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit_requests: Option<CommitRequestsServing>,
    /// The last value of the annotation reconcile.configbutler.ai/requestedAt that was acted on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_handled_reconcile_at: Option<String>,
}

/// Where the CommitRequests of a source cluster are watched.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommitRequestsServing {
    /// The namespaces that are watched; * alone is one watch across the cluster.
    #[serde(default)]
    pub namespaces: Vec<String>,
}
