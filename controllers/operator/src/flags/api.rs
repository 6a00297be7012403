//! Flags about the extension API.

use clap::{Args, ValueEnum};

use super::value::{Listen, ServiceReference, listen, name_or_empty, service_reference};

/// Where the extension API is served and how the cluster learns of it.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Extension API")]
pub struct ApiFlags {
    /// Address of the extension API.
    #[arg(long, value_name = "ADDRESS", default_value = ":10250", value_parser = listen)]
    pub api_bind_address: Listen,

    /// Who makes the serving certificate: the operator itself, or the owner of a Secret (not built yet and
    /// refused).
    #[arg(long, value_name = "MODE", default_value = "self")]
    pub api_tls_mode: TlsMode,

    /// Service in front of the extension API; by default `gitops-reverser` in the operator's namespace.
    #[arg(long, value_name = "NAMESPACE/NAME[:PORT]", value_parser = service_reference)]
    pub api_service: Option<ServiceReference>,

    /// Who registers the APIService: the operator while it runs, the chart, or nobody.
    #[arg(long, value_name = "WHO", default_value = "self")]
    pub api_registration: Registration,

    /// ClusterRole that owns the registration, so that it goes with the release in any case.
    #[arg(long, value_name = "NAME", default_value = "", value_parser = name_or_empty)]
    pub api_owner: String,
}

/// Who makes the serving certificate of the extension API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TlsMode {
    /// The operator, which also rotates it.
    #[value(name = "self")]
    OperatorMade,
    /// Somebody else, in a Secret.
    Secret,
}

/// Who registers the `APIService`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Registration {
    /// The operator, when it is ready and until it stops.
    #[value(name = "self")]
    Operator,
    /// The chart; the operator only keeps its `caBundle` right.
    Chart,
    /// Nobody.
    None,
}
