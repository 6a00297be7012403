//! Flags about the optional Redis. Its password comes from the environment only.

use clap::ArgAction::Set;
use clap::Args;

use super::BOOL;
use super::value::{database_number, go_bool, redis_address, redis_key_prefix, trimmed};

/// Where Redis is and how keys are named in it.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Redis")]
pub struct RedisFlags {
    /// Redis or Valkey for audit facts and watch cursors; empty for none.
    #[arg(long, value_name = "HOST:PORT", default_value = "valkey:6379", value_parser = redis_address)]
    pub redis_addr: String,

    /// User to log in as.
    #[arg(long, value_name = "NAME", default_value = "", value_parser = trimmed)]
    pub redis_username: String,

    /// Number of the logical database.
    #[arg(long, value_name = "NUMBER", default_value = "0", value_parser = database_number)]
    pub redis_db: u16,

    /// First part of every key, so that several operators can share one Redis.
    #[arg(long, value_name = "PREFIX", default_value = "gitops-reverser", value_parser = redis_key_prefix)]
    pub redis_key_prefix: String,

    /// Speak to Redis without TLS.
    #[arg(long, value_name = BOOL, default_value = "false", value_parser = go_bool, action = Set)]
    pub redis_insecure: bool,
}
