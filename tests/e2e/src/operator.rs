//! The built operator as a process beside the cluster, with the rights and arguments of an installation.
#![allow(
    clippy::disallowed_methods,
    reason = "tests and the demo start the operator as a container does"
)]

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use testkit::{Kubeconfig, Process, Workbench};

use crate::chart::RenderedChart;

/// Returns the program, which whoever runs us has built together with us.
///
/// It is not built here: cargo would choose other features for one package than for the workspace, and
/// build everything again.
pub fn program() -> Result<PathBuf> {
    // Tests lie one folder below the programs of their profile.
    let own = env::current_exe().context("cannot tell where this program is")?;
    own.ancestors()
        .skip(1)
        .take(3)
        .map(|folder| folder.join("gitops-reverser"))
        .find(|path| path.is_file())
        .context("the operator is not built; run `cargo build --workspace --bins` first")
}

/// Starts the built operator as the user of `kubeconfig`, with its data in the workbench and with nothing of our
/// environment. `more` arguments come last and therefore win; `name` names its log.
pub fn start(
    program: &Path,
    name: &str,
    workbench: &Workbench,
    chart: &RenderedChart,
    kubeconfig: &Kubeconfig,
    more: &[String],
) -> Result<Process> {
    // Within the workbench, so that whoever searches it for secrets finds temporary files as well.
    let temporary = workbench.path("tmp");
    std::fs::create_dir_all(&temporary)?;
    let mut command = Command::new(program);
    command
        .args(&chart.args)
        .arg(format!("--data-dir={}", data_folder(workbench).display()))
        .args(more)
        .env_clear()
        .envs(&chart.env)
        .env("KUBECONFIG", kubeconfig.path())
        .env("TMPDIR", &temporary)
        // No program of the machine: the operator must not need one.
        .env("PATH", "/nonexistent");
    workbench.start(name, &mut command)
}

/// Returns the folder that the operator keeps its stores in.
pub fn data_folder(workbench: &Workbench) -> PathBuf {
    workbench.path("data")
}
