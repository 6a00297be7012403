//! `cargo xtask bench`: measures what planning, publishing, or the whole operator costs, in an optimised build.
//!
//! Planning and publishing alone are measured by the program `bench`. `operator` and `load` measure the running
//! product: one edit after the other, and many at once. `folder` is what it mirrors.

mod folder;
mod load;
mod operator;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;
use e2e::stage::Stage;
use testkit::Repository;

use crate::repository::{cargo, root};

/// How often it is looked whether a branch has moved.
const GLANCE: Duration = Duration::from_micros(500);
/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(600);
/// How long the operator may go on with what it has begun.
const LONGEST_WORK: Duration = Duration::from_secs(60);

/// Measure what planning costs in folders of growing size.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Measure what it costs to commit and push instead, beside the `git` command line.
    #[arg(long, conflicts_with_all = ["operator", "load"])]
    git: bool,
    /// Measure the whole running operator instead, between a real API server and a real Git server.
    #[arg(long, conflicts_with = "load")]
    operator: bool,
    /// Measure the whole running operator under load instead: a first mirror, and many edits at once.
    #[arg(long)]
    load: bool,
    /// Measure it with this many documents only.
    #[arg(long)]
    documents: Vec<usize>,
    /// Measure it with the documents spread like this only.
    #[arg(long, requires = "operator")]
    layout: Vec<folder::Layout>,
    /// Measure this program, such as that of another commit, instead of building one.
    #[arg(long)]
    program: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let (documents, program) = (&arguments.documents, arguments.program.as_deref());
    if arguments.operator {
        operator::run(documents, &arguments.layout, program)?;
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.load {
        load::run(documents, program)?;
        return Ok(ExitCode::SUCCESS);
    }
    let program = program_or_build(program, "bench")?;
    let part = if arguments.git { "git" } else { "planning" };
    let status = Command::new(program)
        .arg(part)
        .args(documents.iter().map(usize::to_string))
        .status()
        .context("cannot run the bench")?;
    Ok(if status.success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn program_or_build(program: Option<&Path>, name: &str) -> Result<PathBuf> {
    match program {
        Some(program) => Ok(program.to_owned()),
        None => build(name),
    }
}

/// Builds a program as it is shipped.
fn build(name: &str) -> Result<PathBuf> {
    // For the workspace, because cargo builds a part of it with other features, and so all anew.
    let status = cargo()
        .args(["build", "--release", "--workspace", "--bin", name])
        .status()
        .context("cannot run cargo")?;
    ensure!(status.success(), "{name} could not be built");
    Ok(root().join("target/release").join(name))
}

/// Waits until the operator has used no processor time for a while.
fn wait_idle(stage: &Stage) -> Result<()> {
    let started = Instant::now();
    let mut last = None;
    while started.elapsed() < LONGEST_WORK {
        let processor = stage.operator()?.usage()?.processor;
        if last == Some(processor) && started.elapsed() > Duration::from_secs(3) {
            return Ok(());
        }
        last = Some(processor);
        thread::sleep(Duration::from_millis(500));
    }
    Ok(())
}

/// Returns the processor time that the operator takes meanwhile.
fn spent(stage: &Stage, meanwhile: impl FnOnce() -> Result<()>) -> Result<Duration> {
    let before = stage.operator()?.usage()?.processor;
    meanwhile()?;
    let after = stage.operator()?.usage()?.processor;
    Ok(after.saturating_sub(before))
}

/// Returns what the file of the branch says, which costs the server nothing.
fn tip(repository: &Repository) -> Result<String> {
    fs::read_to_string(repository.path().join("refs/heads/main")).context("no branch main")
}

fn wait_moved(repository: &Repository, before: &str) -> Result<()> {
    let started = Instant::now();
    while tip(repository)? == before {
        ensure!(started.elapsed() < PATIENCE, "the branch does not move");
        thread::sleep(GLANCE);
    }
    Ok(())
}

fn median(mut taken: Vec<Duration>) -> Duration {
    taken.sort_unstable();
    taken.get(taken.len() / 2).copied().unwrap_or_default()
}

fn milliseconds(taken: Duration) -> f64 {
    taken.as_secs_f64() * 1000.0
}
