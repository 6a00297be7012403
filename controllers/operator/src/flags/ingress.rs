//! Flags about the two doors that others knock at: audit events and push notices.

use std::path::PathBuf;
use std::time::Duration;

use clap::ArgAction::Set;
use clap::Args;

use super::BOOL;
use super::value::{Listen, go_bool, listen, positive_count, positive_duration};

/// Where audit events and push notices are received, and what a sender must show.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Ingress")]
pub struct IngressFlags {
    /// Address at which API servers deliver audit events; served only with attribution.
    #[arg(long, value_name = "ADDRESS", default_value = "0.0.0.0:9444", value_parser = listen)]
    pub audit_bind_address: Listen,

    /// Folder of the audit listener's certificate; needed unless the listener is insecure.
    #[arg(long, value_name = "FOLDER")]
    pub audit_cert_path: Option<PathBuf>,

    /// File name of the certificate in that folder.
    #[arg(long, value_name = "FILE", default_value = "tls.crt")]
    pub audit_cert_name: String,

    /// File name of the key in that folder.
    #[arg(long, value_name = "FILE", default_value = "tls.key")]
    pub audit_cert_key: String,

    /// Folder of the CA that signs the certificates of audit senders.
    #[arg(
        long,
        value_name = "FOLDER",
        default_value = "/tmp/k8s-audit-server/audit-client-ca"
    )]
    pub audit_client_ca_path: PathBuf,

    /// File name of that CA in its folder.
    #[arg(long, value_name = "FILE", default_value = "tls.crt")]
    pub audit_client_ca_name: String,

    /// Receive audit events as plain HTTP from everybody who reaches the port.
    #[arg(long, value_name = BOOL, default_value = "false", value_parser = go_bool, action = Set)]
    pub audit_insecure: bool,

    /// Largest audit request that is read.
    #[arg(long, value_name = "BYTES", default_value = "10485760", value_parser = positive_count)]
    pub audit_max_request_body_bytes: u32,

    /// Longest time to read an audit request.
    #[arg(long, value_name = "DURATION", default_value = "15s", value_parser = positive_duration)]
    pub audit_read_timeout: Duration,

    /// Longest time to answer an audit request.
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = positive_duration)]
    pub audit_write_timeout: Duration,

    /// Longest time an audit connection stays open without a request.
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = positive_duration)]
    pub audit_idle_timeout: Duration,

    /// Address at which Git hosts deliver push notices.
    #[arg(long, value_name = "ADDRESS", default_value = "0", value_parser = listen)]
    pub receiver_bind_address: Listen,
}
