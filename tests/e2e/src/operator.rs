//! The built operator as a process beside the cluster, with the rights and arguments of an installation.
#![allow(
    clippy::disallowed_methods,
    reason = "tests and the demo start the operator as a container does"
)]

use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use testkit::{Kubeconfig, Process, Workbench};

use crate::chart::RenderedChart;

/// Builds the operator where it is not current, and returns the path of the program.
pub fn program() -> Result<PathBuf> {
    let built = Command::new(env!("CARGO"))
        .args([
            "build",
            "--quiet",
            "--package",
            "operator",
            "--bin",
            "gitops-reverser",
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdin(Stdio::null())
        .status()
        .context("cannot run cargo")?;
    ensure!(built.success(), "the operator does not build");
    // Tests and examples lie one folder below the programs of their profile.
    let own = env::current_exe().context("cannot tell where this program is")?;
    let places = own
        .ancestors()
        .skip(1)
        .map(|folder| folder.join("gitops-reverser"));
    places
        .take(3)
        .find(|path| path.is_file())
        .with_context(|| format!("the operator was not built near {}", own.display()))
}

/// Starts the operator as the user of `kubeconfig`, with its data in the workbench and with nothing of our
/// environment. `more` arguments come last and therefore win.
pub fn start(
    workbench: &Workbench,
    chart: &RenderedChart,
    kubeconfig: &Kubeconfig,
    more: &[&str],
) -> Result<Process> {
    let mut command = Command::new(program()?);
    command
        .args(&chart.args)
        .arg(format!("--data-dir={}", workbench.path("data").display()))
        .args(more)
        .env_clear()
        .envs(&chart.env)
        .env("KUBECONFIG", kubeconfig.path());
    workbench.start("operator", &mut command)
}
