//! Flags about the Git side.

use std::path::PathBuf;
use std::time::Duration;

use clap::ArgAction::Set;
use clap::Args;

use super::BOOL;
use super::value::{ByteSize, byte_size, duration, go_bool, name_or_empty, positive_duration};

/// Where local stores live, how long a host may take, and which shortcuts are allowed.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Git")]
pub struct GitFlags {
    /// Folder of the local object stores and of the journals of accepted changes.
    #[arg(
        long,
        value_name = "FOLDER",
        default_value = "/var/lib/gitops-reverser"
    )]
    pub data_dir: PathBuf,

    /// Memory that one branch may hold in writes that are not published yet.
    #[arg(long, value_name = "QUANTITY", default_value = "8Mi", value_parser = byte_size)]
    pub branch_buffer_max_size: ByteSize,

    /// Age after which an idle branch is looked at again; 0 never looks.
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = duration)]
    pub git_refresh_interval: Duration,

    /// Longest time for one call to a Git host.
    #[arg(long, value_name = "DURATION", default_value = "2m", value_parser = positive_duration)]
    pub git_call_timeout: Duration,

    /// Time after which a push cycle begins no further attempt; also the budget for shutting down.
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = positive_duration)]
    pub git_cycle_timeout: Duration,

    /// Send credentials to `http://` repositories too, where anybody on the way can read them.
    #[arg(long, value_name = BOOL, default_value = "false", value_parser = go_bool, action = Set)]
    pub insecure_allow_git_http: bool,

    /// ConfigMap in the operator's namespace with SSH host keys for providers that bring none.
    #[arg(long, value_name = "NAME", default_value = "", value_parser = name_or_empty)]
    pub default_known_hosts_configmap: String,

    /// Connect to SSH hosts unchecked when no host key is given anywhere.
    #[arg(long, value_name = BOOL, default_value = "false", value_parser = go_bool, action = Set)]
    pub insecure_allow_missing_known_hosts: bool,

    /// Debugging: append what every branch was told, and when, to this file, without sensitive content.
    #[arg(long, value_name = "FILE")]
    pub record_steps: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Only {
        #[command(flatten)]
        git: GitFlags,
    }

    #[test]
    fn d36_without_flags_a_call_has_two_minutes_a_cycle_five_and_a_first_fetch_fifteen() {
        let git = Only::parse_from(["operator"]).git;
        let minutes = |count: u64| Duration::from_secs(60 * count);
        assert_eq!(git.git_call_timeout, minutes(2));
        assert_eq!(git.git_cycle_timeout, minutes(5));
        let limits = repository::Limits::RECOMMENDED;
        assert_eq!(limits.call_timeout, minutes(2));
        assert_eq!(limits.first_fetch_timeout, minutes(15));
        assert_eq!(limits.idle_timeout, minutes(2));
    }
}
