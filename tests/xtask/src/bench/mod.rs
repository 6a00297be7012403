//! `cargo xtask bench`: measures what planning, or the whole operator, costs, in an optimised build.
//!
//! Planning alone is measured by the program `bench`. `operator` measures the running product, with `folder`
//! as what it mirrors and `api` as the way to change it.

mod api;
mod folder;
mod operator;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;

use crate::repository::cargo;

/// Measure what planning costs in folders of growing size.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Measure the whole running operator instead, between a real API server and a real Git server.
    #[arg(long)]
    operator: bool,
    /// Measure it with this many documents only.
    #[arg(long, requires = "operator")]
    documents: Vec<usize>,
    /// Measure it with the documents spread like this only.
    #[arg(long, requires = "operator")]
    layout: Vec<folder::Layout>,
    /// Measure this program, such as that of another commit, instead of building one.
    #[arg(long, requires = "operator")]
    program: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    if arguments.operator {
        operator::run(
            &arguments.documents,
            &arguments.layout,
            arguments.program.as_deref(),
        )?;
        return Ok(ExitCode::SUCCESS);
    }
    let status = cargo()
        .args(["run", "--quiet", "--release", "--package", "bench"])
        .status()
        .context("cannot run cargo")?;
    Ok(if status.success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
