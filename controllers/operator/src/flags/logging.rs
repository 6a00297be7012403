//! Flags about logging, named as in other operators so that one habit serves all.

use clap::ArgAction::Set;
use clap::{Args, ValueEnum};

use super::BOOL;
use super::value::{Disallowed, go_bool};

/// What is logged, and in which form.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Logging")]
pub struct LoggingFlags {
    /// Least important line that is logged; a number above zero is debug and more.
    #[arg(long, value_name = "LEVEL", default_value = "info", value_parser = log_level)]
    pub zap_log_level: LogLevel,

    /// For development: console lines unless a form is given, and debug in the place of info.
    #[arg(long, value_name = BOOL, default_value = "false", value_parser = go_bool, action = Set)]
    pub zap_devel: bool,

    /// Form of a line; json unless in development.
    #[arg(long, value_name = "FORM")]
    pub zap_encoder: Option<Encoder>,

    /// Accepted for compatibility: a line carries the chain of causes, never a stack trace.
    #[arg(long, value_name = "LEVEL", default_value = "error")]
    pub zap_stacktrace_level: StackLevel,

    /// Form of the time in a line.
    #[arg(long, value_name = "FORM", default_value = "rfc3339nano")]
    pub zap_time_encoding: TimeEncoding,
}

/// The least important line that is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogLevel {
    /// Everything, with the steps of protocols.
    Trace,
    /// With details for people who look for a fault.
    Debug,
    /// What an administrator wants to know.
    Info,
    /// Only what went wrong.
    Error,
    /// Nothing but a crash, so in practice nothing.
    Panic,
}

/// Reads a level by name, or a number above zero as Go's leveled loggers count verbosity.
fn log_level(text: &str) -> Result<LogLevel, Disallowed> {
    match (text, text.parse::<u8>()) {
        ("debug", _) | (_, Ok(1)) => Ok(LogLevel::Debug),
        ("info", _) => Ok(LogLevel::Info),
        ("error", _) => Ok(LogLevel::Error),
        ("panic", _) => Ok(LogLevel::Panic),
        (_, Ok(2..)) => Ok(LogLevel::Trace),
        _ => Err(Disallowed {
            allowed: "debug, info, error, panic, or a whole number from 1 to 255".to_owned(),
        }),
    }
}

/// The form of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Encoder {
    /// One JSON object a line.
    Json,
    /// Text for people.
    Console,
}

/// The level from which other operators add stack traces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StackLevel {
    /// From information on.
    Info,
    /// From errors on.
    Error,
    /// Only when it crashes.
    Panic,
}

/// The form of the time in a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TimeEncoding {
    /// Seconds since 1970, with a fraction.
    Epoch,
    /// Milliseconds since 1970.
    Millis,
    /// Nanoseconds since 1970.
    Nano,
    /// ISO 8601 with milliseconds.
    Iso8601,
    /// RFC 3339 in whole seconds.
    Rfc3339,
    /// RFC 3339 with nanoseconds.
    Rfc3339nano,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_a_name_or_a_verbosity() {
        let cases = [
            ("debug", LogLevel::Debug),
            ("1", LogLevel::Debug),
            ("5", LogLevel::Trace),
            ("info", LogLevel::Info),
            ("error", LogLevel::Error),
            ("panic", LogLevel::Panic),
        ];
        for (text, level) in cases {
            assert_eq!(log_level(text), Ok(level), "{text}");
        }
        for text in ["0", "-1", "warn", "INFO", "", "256"] {
            assert!(log_level(text).is_err(), "{text}");
        }
    }
}
