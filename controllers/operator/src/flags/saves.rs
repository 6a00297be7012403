//! Flags about `CommitRequest` objects.

use std::time::Duration;

use clap::Args;

use super::value::duration;

/// How long finished requests stay.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Saves")]
pub struct SaveFlags {
    /// Time after which a finished CommitRequest is deleted; 0 keeps it.
    #[arg(long, value_name = "DURATION", default_value = "48h", value_parser = duration)]
    pub commit_request_ttl: Duration,
}
