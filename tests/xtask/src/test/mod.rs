//! `cargo xtask test`: everything that has to hold, from a bare machine to one line of totals.
//!
//! `set_up` installs what tests need, `tally` reads what the test programs print, `long` has what does
//! not fit into an ordinary run, and this file has the stages in their order.

mod long;
mod set_up;
mod tally;

use std::io::{BufRead, BufReader};
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use clap::Args;
use testkit::{Tool, Tools};

use self::tally::Tally;
use crate::generate;
use crate::repository::cargo;

/// Run every check and every test, with all set-up.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Run also what takes long: a Git host as people run it, more cases of each property, ten minutes of noise,
    /// more kills, ten minutes of steady use, and the check of licences.
    #[arg(long)]
    long: bool,
    /// Run only the tests whose names contain this, and none of the other checks.
    filter: Option<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let mut report = Report::default();
    run_stages(arguments, &mut report);
    report.print();
    Ok(if report.tally.failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Runs the stages; one that others cannot do without ends the run when it fails.
fn run_stages(arguments: &Arguments, report: &mut Report) {
    if !report.stage("set-up", |_| set_up::openssh_server()) {
        return;
    }
    if !report.stage("build", |_| build(arguments)) {
        return;
    }
    if arguments.filter.is_none() {
        report.stage("format", |_| {
            succeed(cargo().args(["fmt", "--all", "--check"]))
        });
        report.stage("clippy", |_| succeed(&mut clippy()));
    }
    report.stage("tests", |tally| run_tests(arguments, tally));
    if arguments.filter.is_none() {
        report.stage("docs", |_| succeed(&mut docs()));
        report.stage("generated", |_| match generate::check()? {
            true => Ok(()),
            false => Err(anyhow!(
                "run `cargo xtask generate` and look at what it changes"
            )),
        });
    }
    if arguments.long && arguments.filter.is_none() {
        report.stage("properties", long::properties);
        report.stage("rows", long::rows);
        report.stage("kustomize", long::kustomize);
        report.stage("fuzz", long::fuzz);
        report.stage("kills", long::kills);
        report.stage("wire", long::wire);
        report.stage("contention", long::contention);
        report.stage("fleet", long::fleet);
        report.stage("journal", long::journal);
        report.stage("soak", long::soak);
        report.stage("licences", |_| long::licences());
    }
}

/// Builds the Rust and the Go programs side by side: the linker and the network leave room.
fn build(arguments: &Arguments) -> Result<()> {
    let mut wanted = Tool::ALL.to_vec();
    // Only tests that an ordinary run leaves out start it.
    wanted.retain(|tool| *tool != Tool::Gitea || arguments.long);
    let tools = thread::spawn(move || Tools::ensure(&wanted).map(drop));
    let workspace = succeed(cargo().args(["build", "--workspace", "--all-targets"]));
    let tools = tools
        .join()
        .map_err(|_| anyhow!("the build of the control plane panicked"))?;
    workspace.and(tools)
}

fn clippy() -> Command {
    let mut command = cargo();
    command.args([
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "--deny",
        "warnings",
    ]);
    command
}

fn docs() -> Command {
    let mut command = cargo();
    command
        .args(["doc", "--workspace", "--no-deps"])
        .arg("--document-private-items")
        .env("RUSTDOCFLAGS", "-D warnings");
    command
}

/// Runs the tests of the workspace.
fn run_tests(arguments: &Arguments, tally: &mut Tally) -> Result<()> {
    let mut command = cargo();
    command.args(["test", "--workspace", "--no-fail-fast"]);
    command.args(&arguments.filter);
    if arguments.long {
        command.args(["--", "--include-ignored"]);
    }
    count(&mut command, tally)
}

/// Runs a test command, shows what it prints, and counts its results.
fn count(command: &mut Command, tally: &mut Tally) -> Result<()> {
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot run cargo test")?;
    let output = child.stdout.take().context("cargo test has no output")?;
    let failed_before = tally.failed;
    for line in BufReader::new(output).split(b'\n') {
        let line = line.context("cannot read what cargo test prints")?;
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        tally.read(&line);
    }
    let status = child.wait().context("cannot wait for cargo test")?;
    // A program that could not be built, or died, has printed no result to count.
    if !status.success() && tally.failed == failed_before {
        return Err(anyhow!(
            "cargo test ended with {status}, and no test says that it failed"
        ));
    }
    Ok(())
}

fn succeed(command: &mut Command) -> Result<()> {
    let status = command.status().context("cannot run cargo")?;
    if status.success() {
        Ok(())
    } else {
        Err(anyhow!("it ended with {status}"))
    }
}

#[derive(Default)]
struct Report {
    stages: Vec<(&'static str, Duration, bool)>,
    tally: Tally,
}

impl Report {
    /// Runs a stage and returns whether it succeeded; a failure counts as one failed test.
    fn stage(&mut self, name: &'static str, run: impl FnOnce(&mut Tally) -> Result<()>) -> bool {
        println!("== {name}");
        let started = Instant::now();
        let failed_before = self.tally.failed;
        if let Err(error) = run(&mut self.tally) {
            eprintln!("error: {name}: {error:#}");
            self.tally.failed += 1;
        }
        let succeeded = self.tally.failed == failed_before;
        self.stages.push((name, started.elapsed(), succeeded));
        succeeded
    }

    fn print(&self) {
        println!("== summary");
        for (name, duration, succeeded) in &self.stages {
            let verdict = if *succeeded { "ok" } else { "FAILED" };
            println!("{name:<10} {:>7.1} s  {verdict}", duration.as_secs_f64());
        }
        if self.tally.ignored > 0 {
            println!(
                "{} tests take long and were left out: --long runs them",
                self.tally.ignored
            );
        }
        println!("{} passed, {} failed", self.tally.passed, self.tally.failed);
    }
}
