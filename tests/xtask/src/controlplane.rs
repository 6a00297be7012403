//! `cargo xtask controlplane`: builds the programs of the control plane and says where they are.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use testkit::{Tool, Tools};

/// Build the programs that tests and the demo run, once, into a cache outside the clone.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The programs to build; all of them when none is named.
    #[arg(value_name = "TOOL")]
    tools: Vec<Tool>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let wanted = if arguments.tools.is_empty() {
        &Tool::ALL[..]
    } else {
        &arguments.tools
    };
    for (tool, path) in Tools::ensure(wanted)?.iter() {
        println!("{:<24} {}", tool.name(), path.display());
    }
    Ok(ExitCode::SUCCESS)
}
