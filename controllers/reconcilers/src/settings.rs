//! The settings of the reconcilers.

use std::time::Duration;

use model::{Namespace, ObjectName, Sensitivity};
use policy::InClusterConsent;
use repository::{Limits, ProxyPolicy};

/// How the reconcilers work.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How often an object is looked at when nothing happens (usually 5 min).
    pub steady: Duration,
    /// How often an object is looked at while it converges or is refused (usually 10 s).
    pub converging: Duration,
    /// The KubeProviders that may use the operator's own identity.
    pub in_cluster: InClusterConsent,
    /// What a kubeconfig may do.
    pub kubeconfig: KubeConfigPolicy,
    /// The types that hold secrets; a GitTarget must place them apart.
    pub sensitivity: Sensitivity,
    /// Whether a credential may travel over plain HTTP.
    pub allow_git_http: bool,
    /// The ConfigMap of the operator's namespace with host keys for providers that bring none.
    pub default_known_hosts: Option<ObjectName>,
    /// Whether an SSH host is reached when no host key is given anywhere.
    pub allow_missing_known_hosts: bool,
    /// Whether Git servers are reached through a proxy.
    pub git_proxy: ProxyPolicy,
    /// The bounds on one conversation with a Git server.
    pub git_limits: Limits,
    /// The namespace that the operator runs in; it keeps a key of its own there.
    pub namespace: Namespace,
    /// The name of this process, as Events report it.
    pub instance: String,
}

/// What a kubeconfig may do that is refused by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KubeConfigPolicy {
    /// Run a program of the operator's Pod to obtain a credential.
    pub allow_exec: bool,
    /// Skip the verification of the server's certificate.
    pub allow_insecure_tls: bool,
}
