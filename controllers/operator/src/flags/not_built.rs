//! Flags that ask for something that does not exist yet.
//!
//! The whole command line is declared from the first day, so that an installation can be written once. A
//! flag in this table is read and validated, and says that it has no effect when somebody sets it to more
//! than its default. A row goes when its feature comes.

use std::fmt;

use clap::ArgMatches;
use clap::parser::ValueSource;

/// One thing that was asked for and does not happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotBuilt {
    /// The flag with its dashes.
    pub flag: &'static str,
    /// What happens instead.
    pub instead: &'static str,
}

impl fmt::Display for NotBuilt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is not built yet: {}", self.flag, self.instead)
    }
}

const ATTRIBUTION: &str = "commits carry the configured author, not the person behind the change";
const AUDIT: &str = "no audit events are received";
const REDIS: &str =
    "nothing is kept in Redis, and a restart replays every watch from its beginning";
const RECEIVER: &str = "push notices are not received; idle branches are looked at in intervals";
const SAVES: &str = "CommitRequests are neither served nor deleted";
const METRICS_TLS: &str = "metrics are served without TLS";
const STACKS: &str = "a log line carries the chain of causes instead of a stack trace";

/// Each flag, and what happens instead.
const TABLE: [NotBuilt; 33] = {
    const fn row(flag: &'static str, instead: &'static str) -> NotBuilt {
        NotBuilt { flag, instead }
    }
    [
        row("--author-attribution", ATTRIBUTION),
        row("--author-attribution-transport", ATTRIBUTION),
        row("--author-attribution-ttl", ATTRIBUTION),
        row("--author-attribution-grace", ATTRIBUTION),
        row("--author-attribution-max-facts-per-type", ATTRIBUTION),
        row("--author-attribution-max-facts", ATTRIBUTION),
        row("--author-attribution-collection-window", ATTRIBUTION),
        row("--author-attribution-collection-uid-cap", ATTRIBUTION),
        row(
            "--author-attribution-audit-route-annotation-key",
            ATTRIBUTION,
        ),
        row("--audit-bind-address", AUDIT),
        row("--audit-cert-path", AUDIT),
        row("--audit-cert-name", AUDIT),
        row("--audit-cert-key", AUDIT),
        row("--audit-client-ca-path", AUDIT),
        row("--audit-client-ca-name", AUDIT),
        row("--audit-insecure", AUDIT),
        row("--audit-max-request-body-bytes", AUDIT),
        row("--audit-read-timeout", AUDIT),
        row("--audit-write-timeout", AUDIT),
        row("--audit-idle-timeout", AUDIT),
        row("--redis-addr", REDIS),
        row("--redis-username", REDIS),
        row("--redis-db", REDIS),
        row("--redis-key-prefix", REDIS),
        row("--redis-insecure", REDIS),
        row("--receiver-bind-address", RECEIVER),
        row("--commit-request-ttl", SAVES),
        row("--metrics-cert-path", METRICS_TLS),
        row("--metrics-cert-name", METRICS_TLS),
        row("--metrics-cert-key", METRICS_TLS),
        row(
            "--enable-http2",
            "no listener that it concerns is served yet",
        ),
        row(
            "--replica-count",
            "replicas do not share the work yet, so run exactly one",
        ),
        row("--zap-stacktrace-level", STACKS),
    ]
};

/// Returns what was asked for beyond the defaults, and attribution wherever it is on.
pub(super) fn asked_for(matches: &ArgMatches) -> Vec<NotBuilt> {
    TABLE
        .iter()
        .filter(|row| is_asked_for(row.flag, matches))
        .copied()
        .collect()
}

/// Returns every row.
pub(crate) fn all() -> &'static [NotBuilt] {
    &TABLE
}

fn is_asked_for(flag: &str, matches: &ArgMatches) -> bool {
    let id = flag.trim_start_matches('-').replace('-', "_");
    let values = |id: &str| -> Vec<String> {
        let raw = matches.get_raw(id).into_iter().flatten();
        raw.map(|value| value.to_string_lossy().into_owned())
            .collect()
    };
    // A boolean is asked for where it is true, whether by default or by hand.
    if let Ok(Some(asked)) = matches.try_get_one::<bool>(&id) {
        return *asked;
    }
    if flag == "--redis-addr" {
        // Its default is an address too, so only what a person wrote counts, unless it switches Redis off.
        return given(&id, matches) && values(&id).iter().any(|value| !value.trim().is_empty());
    }
    given(&id, matches) && values(&id) != defaults(&id)
}

fn given(id: &str, matches: &ArgMatches) -> bool {
    matches.value_source(id) == Some(ValueSource::CommandLine)
}

fn defaults(id: &str) -> Vec<String> {
    let command = super::command();
    let argument = command
        .get_arguments()
        .find(|argument| argument.get_id().as_str() == id);
    let values = argument
        .map(clap::Arg::get_default_values)
        .unwrap_or_default();
    values
        .iter()
        .map(|value| value.to_string_lossy().into_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_names_a_flag_that_exists_and_no_flag_twice() {
        let command = crate::flags::command();
        let mut seen = std::collections::BTreeSet::new();
        for row in TABLE {
            let name = row.flag.trim_start_matches('-');
            let known = command
                .get_arguments()
                .any(|argument| argument.get_long() == Some(name));
            assert!(known, "{}", row.flag);
            assert!(seen.insert(row.flag), "{}", row.flag);
        }
    }
}
