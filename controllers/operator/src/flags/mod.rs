//! The command line: one struct of flags for each subject.
//!
//! The structs say name, form, default and meaning of each flag; [`value`] reads single values, [`mod@parse`]
//! collects every problem instead of stopping at the first, [`check`] holds the rules that join several
//! flags, and [`not_built`] says which flags ask for something that does not exist yet. Nothing here starts
//! anything or reads a file: [`crate::settings`] turns the result into what each part needs.

pub mod api;
pub mod attribution;
mod check;
pub mod git;
pub mod ingress;
pub mod logging;
pub(crate) mod not_built;
mod parse;
pub mod redis;
pub mod saves;
pub mod servers;
pub mod source;
pub mod value;

use std::fmt;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

pub use not_built::NotBuilt;
pub use parse::{Parsed, parse};

/// What `--help` says about the way the program ends.
const EXIT_CODES: &str = "Exit codes:
  0  stopped after SIGTERM or SIGINT, or printed what was asked for
  1  failed while running
  2  the command line or the environment is wrong; nothing was started";

/// The name that stands for a value of `true` or `false` in the help, and marks flags that are also
/// understood without a value.
const BOOL: &str = "BOOL";

/// Mirrors Kubernetes objects into Git, as edits of the files that are already there.
///
/// Without a subcommand the operator runs until it is told to stop.
#[derive(Debug, Clone, Parser)]
#[command(
    name = "gitops-reverser",
    version = crate::build_info::VERSION,
    after_help = EXIT_CODES,
    args_override_self = true
)]
pub struct CommandLine {
    /// What to do instead of running.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The flags of the operator.
    #[command(flatten)]
    pub flags: Flags,
}

/// What the program can do instead of running.
#[derive(Debug, Clone, Subcommand)]
pub enum Command {
    /// Judge a folder on disk: can it be mirrored into, and what would have to change.
    Analyze(crate::offline::Analyze),
    /// Show what mirroring given objects would change in a folder on disk.
    Plan(Box<crate::offline::Plan>),
    /// Print a page of the reference.
    #[command(hide = true)]
    Docs {
        /// Which page.
        page: Page,
    },
}

/// A page of the reference that is generated from the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Page {
    /// Every flag.
    Flags,
    /// Every metric.
    Metrics,
}

/// Every flag of the operator, by subject.
#[derive(Debug, Clone, Args)]
pub struct Flags {
    /// The clusters that are mirrored from.
    #[command(flatten)]
    pub source: source::SourceFlags,
    /// The Git side.
    #[command(flatten)]
    pub git: git::GitFlags,
    /// The extension API.
    #[command(flatten)]
    pub api: api::ApiFlags,
    /// Health and metrics.
    #[command(flatten)]
    pub servers: servers::ServerFlags,
    /// Saves.
    #[command(flatten)]
    pub saves: saves::SaveFlags,
    /// Attribution.
    #[command(flatten)]
    pub attribution: attribution::AttributionFlags,
    /// Audit events and push notices.
    #[command(flatten)]
    pub ingress: ingress::IngressFlags,
    /// Redis.
    #[command(flatten)]
    pub redis: redis::RedisFlags,
    /// Logging.
    #[command(flatten)]
    pub logging: logging::LoggingFlags,
}

/// Returns the command line as data: what it accepts and how it documents itself.
pub fn command() -> clap::Command {
    let is_bool = |arg: &clap::Arg| {
        arg.get_value_names()
            .is_some_and(|names| names.iter().any(|name| name.as_str() == BOOL))
    };
    // Go's flag package reads `--x` and `--x=false`, and never takes the next word as the value.
    CommandLine::command().mut_args(|arg| {
        if is_bool(&arg) {
            arg.num_args(0..=1)
                .require_equals(true)
                .default_missing_value("true")
        } else {
            arg
        }
    })
}

/// One thing that is wrong with the command line or the environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValidationError {
    /// The flag with its dashes, or the name of the variable.
    pub field: String,
    /// The value, where there is one and it may be shown.
    pub value: Option<String>,
    /// What would be legal.
    pub allowed: String,
}

impl fmt::Display for ValidationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            Some(value) => write!(
                f,
                "{}: {value:?} is not allowed; allowed: {}",
                self.field, self.allowed
            ),
            None => write!(
                f,
                "{}: not allowed as given; allowed: {}",
                self.field, self.allowed
            ),
        }
    }
}
