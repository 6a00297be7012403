//! Where log lines go and what they look like.
//!
//! Lines go to standard error, one event each. Nothing is filtered out of a value here: what must not be
//! logged is held in [`model::Secret`], which prints no content.

mod time;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::Directive;

use crate::flags::logging::{Encoder, LogLevel, LoggingFlags};
use time::Clock;

/// Libraries whose own steps are worth reading only while looking for a fault in them.
const QUIET: [&str; 6] = [
    "hyper",
    "hyper_util",
    "rustls",
    "tower",
    "kube_client",
    "h2",
];

/// Installs the log for the whole process.
///
/// # Errors
/// Returns an error when a log was installed before.
pub fn install(flags: &LoggingFlags) -> anyhow::Result<()> {
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter(level(flags)))
        .with_writer(std::io::stderr)
        .with_timer(Clock(flags.zap_time_encoding))
        .with_ansi(false);
    let installed = match encoder(flags) {
        Encoder::Json => builder
            .json()
            .flatten_event(true)
            .with_current_span(false)
            .try_init(),
        Encoder::Console => builder.try_init(),
    };
    installed.map_err(|error| anyhow::anyhow!(error).context("the log cannot be installed"))
}

/// Development changes the defaults, and a default that was written out counts as one.
fn level(flags: &LoggingFlags) -> LevelFilter {
    match flags.zap_log_level {
        LogLevel::Trace => LevelFilter::TRACE,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Info if flags.zap_devel => LevelFilter::DEBUG,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Panic => LevelFilter::OFF,
    }
}

fn encoder(flags: &LoggingFlags) -> Encoder {
    let default = if flags.zap_devel {
        Encoder::Console
    } else {
        Encoder::Json
    };
    flags.zap_encoder.unwrap_or(default)
}

fn filter(level: LevelFilter) -> EnvFilter {
    let quiet = if level == LevelFilter::TRACE {
        LevelFilter::DEBUG
    } else {
        level.min(LevelFilter::INFO)
    };
    let filter = EnvFilter::default().add_directive(Directive::from(level));
    QUIET.iter().fold(filter, |filter, library| {
        match format!("{library}={quiet}").parse::<Directive>() {
            Ok(directive) => filter.add_directive(directive),
            Err(_) => filter,
        }
    })
}

#[cfg(test)]
mod tests {
    use clap::FromArgMatches;

    use super::*;
    use crate::flags::{CommandLine, command};

    fn flags(words: &[&str]) -> LoggingFlags {
        let line = std::iter::once(&"program").chain(words);
        let matches = command().try_get_matches_from(line).unwrap();
        CommandLine::from_arg_matches(&matches)
            .unwrap()
            .flags
            .logging
    }

    #[test]
    fn development_changes_what_is_not_said_otherwise() {
        let production = flags(&[]);
        assert_eq!(
            (level(&production), encoder(&production)),
            (LevelFilter::INFO, Encoder::Json)
        );
        let development = flags(&["--zap-devel"]);
        assert_eq!(level(&development), LevelFilter::DEBUG);
        assert_eq!(encoder(&development), Encoder::Console);
        let both = flags(&["--zap-devel", "--zap-log-level=error", "--zap-encoder=json"]);
        assert_eq!(
            (level(&both), encoder(&both)),
            (LevelFilter::ERROR, Encoder::Json)
        );
    }

    #[test]
    fn panic_is_silence() {
        assert_eq!(level(&flags(&["--zap-log-level=panic"])), LevelFilter::OFF);
    }

    #[test]
    fn libraries_stay_quiet_while_the_operator_is_debugged() {
        let filter = filter(LevelFilter::DEBUG).to_string();
        assert!(filter.contains("hyper=info"), "{filter}");
        assert!(filter.contains("debug"), "{filter}");
    }
}
