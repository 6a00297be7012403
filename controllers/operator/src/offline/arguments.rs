//! The command lines of the offline commands.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// What `analyze --help` says about the way it ends.
const ANALYZE_CODES: &str = "Exit codes:
  0  the folder is accepted
  1  failed
  2  what was given is wrong
  3  the folder is refused";

/// What `plan --help` says about the way it ends.
const PLAN_CODES: &str = "Exit codes:
  0  everything is planned, also when nothing changes
  1  failed
  2  what was given is wrong; nothing was planned
  3  something is refused; the rest is planned, and written with --write";

/// What `analyze` is asked.
#[derive(Debug, Clone, Args)]
#[command(after_help = ANALYZE_CODES)]
pub struct Analyze {
    /// The folder to judge, usually a clone of a repository or a folder in it.
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// CustomResourceDefinitions of the kinds that Kubernetes itself does not have; - reads standard input.
    #[arg(long, value_name = "FILE")]
    pub crds: Vec<PathBuf>,
    /// A type whose objects must be encrypted, beside Secrets, as RESOURCE or GROUP/RESOURCE.
    #[arg(long, value_name = "TYPE")]
    pub sensitive: Vec<String>,
    /// How to answer.
    #[arg(short, long, value_enum, default_value_t = AnalyzeOutput::Text)]
    pub output: AnalyzeOutput,
}

/// How `analyze` answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AnalyzeOutput {
    /// For people.
    Text,
    /// For programs.
    Json,
    /// For programs.
    Yaml,
}

/// What `plan` is asked.
#[derive(Debug, Clone, Args)]
#[command(after_help = PLAN_CODES)]
pub struct Plan {
    /// The root of the repository on disk.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub repository: PathBuf,
    /// The folder that is mirrored into, from the root of the repository; . is the root. Without it, the one of
    /// --target.
    #[arg(long, value_name = "PATH")]
    pub path: Option<String>,
    /// Objects that exist, as kubectl prints them: YAML or JSON, several documents or a List; - reads standard input.
    #[arg(long, value_name = "FILE")]
    pub upsert: Vec<PathBuf>,
    /// Objects that were removed, as they were.
    #[arg(long, value_name = "FILE")]
    pub remove: Vec<PathBuf>,
    /// Everything that was observed of a collection; what the file lacks is swept under the prune mode. Pairs up
    /// with --collection, in order.
    #[arg(long, value_name = "FILE")]
    pub snapshot: Vec<PathBuf>,
    /// The collection of a --snapshot.
    #[arg(long, value_name = "RESOURCE[.GROUP][@NAMESPACE]")]
    pub collection: Vec<String>,
    /// A GitTarget manifest whose settings apply; without it the defaults.
    #[arg(long, value_name = "FILE")]
    pub target: Option<PathBuf>,
    /// CustomResourceDefinitions of the kinds that Kubernetes itself does not have.
    #[arg(long, value_name = "FILE")]
    pub crds: Vec<PathBuf>,
    /// A type whose objects must be encrypted, beside Secrets, as RESOURCE or GROUP/RESOURCE.
    #[arg(long, value_name = "TYPE")]
    pub sensitive: Vec<String>,
    /// The applier that holds the folder: objects that another one owns are left alone.
    #[arg(long, value_name = "KIND/NAMESPACE/NAME")]
    pub applier: Option<String>,
    /// Whom new encrypted files are sealed for, as age1…; with it, sensitive objects are encrypted.
    #[arg(long, value_name = "KEY")]
    pub age_recipient: Vec<String>,
    /// Private keys that open encrypted files, so that only what changes is encrypted anew; - reads standard input.
    #[arg(long, value_name = "FILE")]
    pub age_identity: Vec<PathBuf>,
    /// Change the files instead of only printing what would change.
    #[arg(long)]
    pub write: bool,
    /// How to answer.
    #[arg(short, long, value_enum, default_value_t = PlanOutput::Diff)]
    pub output: PlanOutput,
}

/// How `plan` answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PlanOutput {
    /// The change as a diff on standard output; everything else on standard error.
    Diff,
    /// Everything, for programs.
    Json,
}
