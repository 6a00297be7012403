//! Flags about the clusters that are mirrored from.

use clap::ArgAction::Set;
use clap::Args;
use model::Sensitivity;

use super::BOOL;
use super::value::{KubeProviderList, go_bool, kube_provider_list, sensitive_types};

/// Which connections may be used, and which types are secret.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Source clusters")]
pub struct SourceFlags {
    /// KubeProviders that may use the operator's own identity with `spec.inCluster`, by exact name.
    #[arg(long, value_name = "NAMESPACE/NAME,...", default_value = "", value_parser = kube_provider_list)]
    pub in_cluster_kube_providers: KubeProviderList,

    /// Types beside core Secrets that reach Git only encrypted, in every served version.
    #[arg(long, value_name = "[GROUP/]RESOURCE,...", default_value = "", value_parser = sensitive_types)]
    pub additional_sensitive_resources: Sensitivity,

    /// Allow kubeconfigs that run an authentication program inside the operator's container.
    #[arg(long, value_name = BOOL, default_value = "false", value_parser = go_bool, action = Set)]
    pub insecure_kubeconfig_exec: bool,

    /// Allow kubeconfigs that do not check the certificate of the API server.
    #[arg(long, value_name = BOOL, default_value = "false", value_parser = go_bool, action = Set)]
    pub insecure_kubeconfig_tls: bool,
}
