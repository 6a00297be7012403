//! `cargo xtask bench`: measures what planning costs, in an optimised build.

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;

use crate::repository::cargo;

/// Measure what planning costs in folders of growing size.
#[derive(Debug, Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(_: &Arguments) -> Result<ExitCode> {
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
