//! Flags about health, metrics and the number of replicas.

use std::path::PathBuf;

use clap::ArgAction::Set;
use clap::Args;

use super::BOOL;
use super::value::{Listen, go_bool, listen, positive_count};

/// Where probes and metrics are served.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Servers")]
pub struct ServerFlags {
    /// Address of `/healthz` and `/readyz`.
    #[arg(long, value_name = "ADDRESS", default_value = ":8081", value_parser = listen)]
    pub health_probe_bind_address: Listen,

    /// Address of `/metrics` and `/build-info`.
    #[arg(long, value_name = "ADDRESS", default_value = "0", value_parser = listen)]
    pub metrics_bind_address: Listen,

    /// Serve metrics as plain HTTP to everybody who reaches the port.
    #[arg(long, value_name = BOOL, default_value = "false", value_parser = go_bool, action = Set)]
    pub metrics_insecure: bool,

    /// Folder of the certificate for metrics.
    #[arg(long, value_name = "FOLDER")]
    pub metrics_cert_path: Option<PathBuf>,

    /// File name of the certificate in that folder.
    #[arg(long, value_name = "FILE", default_value = "tls.crt")]
    pub metrics_cert_name: String,

    /// File name of the key in that folder.
    #[arg(long, value_name = "FILE", default_value = "tls.key")]
    pub metrics_cert_key: String,

    /// Speak HTTP/2 on TLS listeners other than the extension API, which always does.
    #[arg(long, value_name = BOOL, default_value = "false", value_parser = go_bool, action = Set)]
    pub enable_http2: bool,

    /// How many replicas the installation runs; serves only to refuse settings that need one.
    #[arg(long, value_name = "COUNT", default_value = "1", value_parser = positive_count)]
    pub replica_count: u32,
}
