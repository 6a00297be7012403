//! Flags about naming the person behind a change.

use std::time::Duration;

use clap::ArgAction::Set;
use clap::{Args, ValueEnum};

use super::BOOL;
use super::value::{duration, go_bool, positive_count, positive_duration, trimmed};

/// Whether authors are looked up in audit events, and how long a change waits for its own.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Attribution")]
pub struct AttributionFlags {
    /// Name the author of a commit from the audit events of the cluster.
    #[arg(long, value_name = BOOL, default_value = "true", value_parser = go_bool, action = Set)]
    pub author_attribution: bool,

    /// What carries audit facts to the watches; memory loses them at a restart and serves one replica.
    #[arg(long, value_name = "TRANSPORT", default_value = "redis")]
    pub author_attribution_transport: Transport,

    /// How long a fact waits for the change that it explains.
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = positive_duration)]
    pub author_attribution_ttl: Duration,

    /// How long a change waits for its fact before it goes on without a name.
    #[arg(long, value_name = "DURATION", default_value = "3s", value_parser = duration)]
    pub author_attribution_grace: Duration,

    /// Most facts that are held for one type; the oldest go first.
    #[arg(long, value_name = "COUNT", default_value = "4096", value_parser = positive_count)]
    pub author_attribution_max_facts_per_type: u32,

    /// Most facts that are held in all.
    #[arg(long, value_name = "COUNT", default_value = "65536", value_parser = positive_count)]
    pub author_attribution_max_facts: u32,

    /// How long after a delete of a whole collection a removal in it is credited to that delete.
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = positive_duration)]
    pub author_attribution_collection_window: Duration,

    /// Most object uids that the fact of a collection's delete carries.
    #[arg(long, value_name = "COUNT", default_value = "10000", value_parser = positive_count)]
    pub author_attribution_collection_uid_cap: u32,

    /// Annotation of an audit event that names its route; opens the shared audit endpoint.
    #[arg(long, value_name = "KEY", default_value = "", value_parser = trimmed)]
    pub author_attribution_audit_route_annotation_key: String,
}

/// What carries audit facts from the listener to the watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Transport {
    /// Redis streams.
    Redis,
    /// A ring buffer in this process.
    Memory,
}
