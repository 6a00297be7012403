//! Turns flags and environment into what each part needs to know.
//!
//! One function for each part, so that no other crate reads a flag or a variable. Everything was validated
//! before: these functions only choose and rename.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use model::{KubeProviderKey, Namespace, ObjectName, Sensitivity};

use crate::environment::Environment;
use crate::flags::api::{ApiFlags, Registration};
use crate::flags::git::GitFlags;
use crate::flags::servers::ServerFlags;
use crate::flags::source::SourceFlags;
use crate::flags::value::{Listen, ServiceReference};
use crate::flags::{Flags, NotBuilt};

/// The name of the Service, and of event reporters, where nothing else is said.
const PRODUCT: &str = "gitops-reverser";

/// Everything the operator needs to run.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Who this process is.
    pub identity: IdentitySettings,
    /// The clusters that are mirrored from.
    pub source: SourceSettings,
    /// The Git side.
    pub git: GitSettings,
    /// The extension API.
    pub api: ApiSettings,
    /// Health and metrics.
    pub servers: ServerSettings,
    /// What was asked for and does not exist yet.
    pub not_built: Vec<NotBuilt>,
}

/// Who this process is in its own cluster.
#[derive(Debug, Clone)]
pub struct IdentitySettings {
    /// The operator's namespace.
    pub namespace: Namespace,
    /// The name under which events are reported.
    pub pod_name: String,
}

/// What watching clusters needs.
#[derive(Debug, Clone)]
pub struct SourceSettings {
    /// The `KubeProvider` objects that may use the operator's own identity.
    pub in_cluster_providers: BTreeSet<KubeProviderKey>,
    /// Which types hold secrets.
    pub sensitivity: Sensitivity,
    /// Whether a kubeconfig may run a program.
    pub allow_kubeconfig_exec: bool,
    /// Whether a kubeconfig may leave the API server unchecked.
    pub allow_kubeconfig_insecure_tls: bool,
}

/// What writing to Git needs.
#[derive(Debug, Clone)]
pub struct GitSettings {
    /// Folder of the local stores.
    pub data_folder: PathBuf,
    /// Bytes that one branch may hold in unpublished writes.
    pub branch_buffer_bytes: u64,
    /// Age after which an idle branch is looked at; `None` never looks.
    pub refresh_interval: Option<Duration>,
    /// Longest time for one call.
    pub call_timeout: Duration,
    /// Longest time for one push cycle.
    pub cycle_timeout: Duration,
    /// Whether credentials may travel over `http://`.
    pub allow_http_credentials: bool,
    /// The ConfigMap of SSH host keys in the operator's namespace.
    pub default_known_hosts: Option<ObjectName>,
    /// Whether a host without a known key is accepted.
    pub allow_missing_known_hosts: bool,
    /// Where every step of every branch is recorded.
    pub record_steps: Option<PathBuf>,
}

/// What the extension API needs.
#[derive(Debug, Clone)]
pub struct ApiSettings {
    /// Where it listens.
    pub listen: Listen,
    /// The Service in front of it.
    pub service: ServiceReference,
    /// Who registers it.
    pub registration: Registration,
    /// The ClusterRole that owns the registration.
    pub owner: Option<ObjectName>,
}

/// What the servers for probes and metrics need.
#[derive(Debug, Clone)]
pub struct ServerSettings {
    /// Where probes are answered.
    pub health: Listen,
    /// Where metrics are served, in the open.
    pub metrics: Listen,
}

impl Settings {
    /// Joins the settings of every part.
    ///
    /// # Errors
    /// Returns the rule that `POD_NAMESPACE` breaks; the check of the flags has reported it before.
    pub fn new(
        flags: &Flags,
        environment: &Environment,
        not_built: Vec<NotBuilt>,
    ) -> Result<Self, model::InvalidName> {
        let identity = identity(environment)?;
        Ok(Self {
            source: source(&flags.source),
            git: git(&flags.git),
            api: api(&flags.api, &identity)?,
            servers: servers(&flags.servers),
            identity,
            not_built,
        })
    }
}

fn identity(environment: &Environment) -> Result<IdentitySettings, model::InvalidName> {
    let namespace = environment.pod_namespace.clone().unwrap_or_default();
    Ok(IdentitySettings {
        namespace: Namespace::new(namespace)?,
        pod_name: environment
            .pod_name
            .clone()
            .unwrap_or_else(|| PRODUCT.to_owned()),
    })
}

fn source(flags: &SourceFlags) -> SourceSettings {
    SourceSettings {
        in_cluster_providers: flags.in_cluster_kube_providers.0.clone(),
        sensitivity: flags.additional_sensitive_resources.clone(),
        allow_kubeconfig_exec: flags.insecure_kubeconfig_exec,
        allow_kubeconfig_insecure_tls: flags.insecure_kubeconfig_tls,
    }
}

fn git(flags: &GitFlags) -> GitSettings {
    let interval = flags.git_refresh_interval;
    GitSettings {
        data_folder: flags.data_dir.clone(),
        branch_buffer_bytes: flags.branch_buffer_max_size.bytes(),
        refresh_interval: (!interval.is_zero()).then_some(interval),
        call_timeout: flags.git_call_timeout,
        cycle_timeout: flags.git_cycle_timeout,
        allow_http_credentials: flags.insecure_allow_git_http,
        default_known_hosts: ObjectName::new(flags.default_known_hosts_configmap.as_str()).ok(),
        allow_missing_known_hosts: flags.insecure_allow_missing_known_hosts,
        record_steps: flags.record_steps.clone(),
    }
}

fn api(flags: &ApiFlags, identity: &IdentitySettings) -> Result<ApiSettings, model::InvalidName> {
    let service = match &flags.api_service {
        Some(service) => service.clone(),
        None => ServiceReference {
            namespace: identity.namespace.clone(),
            name: ObjectName::new(PRODUCT)?,
            port: 443,
        },
    };
    Ok(ApiSettings {
        listen: flags.api_bind_address.clone(),
        service,
        registration: flags.api_registration,
        owner: ObjectName::new(flags.api_owner.as_str()).ok(),
    })
}

fn servers(flags: &ServerFlags) -> ServerSettings {
    ServerSettings {
        health: flags.health_probe_bind_address.clone(),
        metrics: flags.metrics_bind_address.clone(),
    }
}
