//! `cargo xtask demo`: the whole product on a real cluster, edits by two people, and what became of them.
//!
//! Nothing of the product is faked: `e2e::stage` starts what an installation has. Reading order:
//! `preflight` and `build` before anything runs, `story` for what happens, `checks` for what has to be
//! true then, `playground` for the time after, `existing` for somebody else's cluster.

mod build;
mod checks;
mod existing;
mod interrupt;
mod playground;
mod preflight;
mod story;
mod terminal;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Args;
use e2e::cluster::Cluster;
use e2e::stage::{FOLDER, OPERATOR_NAMESPACE, REPOSITORY, Setting, Stage};
use testkit::{ControlPlane, Tool, Tools};

use self::existing::Existing;
use self::interrupt::Interrupt;
use self::story::{Editor, WRITTEN, WRITTEN_FILE};
use self::terminal::{entry, heading, say, seconds};

const API_SERVICE: &str = "v1alpha1.views.configbutler.ai";
/// What a process gives back that Ctrl-C ended before it was through.
const INTERRUPTED: u8 = 130;

/// Show the product at work: a cluster, a Git server, the operator, and edits by two people.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// End after the edits, and fail when something is not as it should be.
    #[arg(long)]
    once: bool,
    /// Use the cluster of this kubeconfig, and leave nothing behind in it.
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// Let the operator take this port and the two after it, instead of free ones.
    #[arg(long, value_name = "PORT")]
    first_port: Option<u16>,
    /// Take the operator as it was built last, instead of asking cargo.
    #[arg(long)]
    no_build: bool,
}

/// How far a run came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Through,
    Interrupted,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    preflight::check(arguments)?;
    let interrupt = Interrupt::listen()?;
    println!("GitOps Reverser: edits in a cluster become commits");
    let ending = match &arguments.kubeconfig {
        None => in_own_cluster(arguments, &interrupt),
        Some(path) => in_existing_cluster(arguments, path, &interrupt),
    };
    Ok(match ending? {
        Ending::Through => ExitCode::SUCCESS,
        Ending::Interrupted => {
            println!("\nInterrupted; nothing is left behind.");
            ExitCode::from(INTERRUPTED)
        }
    })
}

fn in_own_cluster(arguments: &Arguments, interrupt: &Interrupt) -> Result<Ending> {
    const WANTED: &[Tool] = &[Tool::Etcd, Tool::KubeApiserver, Tool::Kubectl, Tool::Helm];
    let prepared = build(arguments, WANTED, interrupt).and_then(|_| {
        heading("Starting");
        let started = Instant::now();
        let control_plane = ControlPlane::start()?;
        let value = format!("{}, {}", control_plane.url(), seconds(started.elapsed()));
        entry("Kubernetes", &value);
        interrupt.check()?;
        Stage::prepare(&setting(arguments)?, control_plane)
    });
    let mut stage = match prepared {
        Ok(stage) => stage,
        Err(error) => return or_interrupted(Err(error), interrupt),
    };
    let performed = perform(arguments, &mut stage, &[], interrupt);
    let stopped = stop(&mut stage);
    let ending = or_interrupted(performed, interrupt)?;
    stopped.map(|()| ending)
}

/// Ends the operator and looks whether it took its registration along.
fn stop(stage: &mut Stage) -> Result<()> {
    heading("Stopping");
    stage.stop_operator()?;
    let left = ["get", "apiservice", API_SERVICE, "--ignore-not-found"];
    let left = stage.admin.run(&left)?;
    ensure!(
        left.is_empty(),
        "the operator left its APIService behind: {left}"
    );
    say("the operator took its API registration along and ended with 0");
    Ok(())
}

fn in_existing_cluster(
    arguments: &Arguments,
    kubeconfig: &Path,
    interrupt: &Interrupt,
) -> Result<Ending> {
    const WANTED: &[Tool] = &[Tool::Kubectl, Tool::Helm];
    // The API server there cannot reach us, and would report an API that it cannot reach as broken.
    let more = ["--api-bind-address=0", "--api-registration=none"].map(str::to_owned);
    let kubeconfig = fs::canonicalize(kubeconfig)
        .with_context(|| format!("cannot find {}", kubeconfig.display()))?;
    let entered =
        build(arguments, WANTED, interrupt).and_then(|tools| Existing::enter(&kubeconfig, tools));
    let existing = match entered {
        Ok(existing) => existing,
        Err(error) => return or_interrupted(Err(error), interrupt),
    };
    heading("Starting");
    entry("Kubernetes", &format!("that of {}", kubeconfig.display()));
    let prepared = setting(arguments).and_then(|setting| Stage::prepare(&setting, &existing));
    let mut stopped = Ok(());
    let performed = match prepared {
        Err(error) => Err(error),
        Ok(mut stage) => {
            let performed = perform(arguments, &mut stage, &more, interrupt);
            heading("Stopping");
            let released = existing.release_branches(stage.check_operator().is_ok());
            stopped = stage.stop_operator().and(released);
            performed
        }
    };
    // Whatever happened before, and before it is reported.
    existing
        .leave()
        .context("something of the demo may be left in the cluster")?;
    say("the operator ended, and the cluster is as it was");
    let ending = or_interrupted(performed, interrupt)?;
    stopped.map(|()| ending)
}

/// Takes a failure for a consequence of Ctrl-C when there was one: it also reached what we had started.
fn or_interrupted(outcome: Result<()>, interrupt: &Interrupt) -> Result<Ending> {
    match outcome {
        Ok(()) => Ok(Ending::Through),
        Err(_) if interrupt.explains_failure() => Ok(Ending::Interrupted),
        Err(error) => Err(error),
    }
}

fn build(arguments: &Arguments, wanted: &'static [Tool], interrupt: &Interrupt) -> Result<Tools> {
    if arguments.no_build {
        return Tools::ensure(wanted);
    }
    heading("Building what is not built yet");
    build::everything(wanted, interrupt)
}

fn setting(arguments: &Arguments) -> Result<Setting> {
    let mut setting = Setting {
        ports: preflight::ports(arguments)?,
        ..Setting::default()
    };
    let path = format!("{FOLDER}/{WRITTEN_FILE}");
    setting.seed.push((path, WRITTEN.to_owned()));
    Ok(setting)
}

/// Plays everything on a stage that was prepared; `more` are further arguments of the operator.
fn perform<C: Cluster>(
    arguments: &Arguments,
    stage: &mut Stage<C>,
    more: &[String],
    interrupt: &Interrupt,
) -> Result<()> {
    let played = play(arguments, stage, more, interrupt);
    if played.is_err() && !interrupt.explains_failure() {
        eprintln!("\n{}\n", stage.explain("demo"));
    }
    played
}

fn play<C: Cluster>(
    arguments: &Arguments,
    stage: &mut Stage<C>,
    more: &[String],
    interrupt: &Interrupt,
) -> Result<()> {
    let views = more.is_empty();
    entry("Git", &stage.git.url(REPOSITORY));
    interrupt.check()?;
    stage.apply_mirror(&setting(arguments)?)?;
    let editors = [Editor::new(stage, "alice")?, Editor::new(stage, "bob")?];
    editors[0].kubectl.apply(WRITTEN)?;
    interrupt.check()?;
    let started = Instant::now();
    stage.start_operator_with(more)?;
    let account = format!("{OPERATOR_NAMESPACE}:{}", stage.chart.service_account);
    let identity = format!("as system:serviceaccount:{account}, without git on its PATH");
    entry("operator", &identity);
    story::wait_ready(stage, "", interrupt)?;
    entry(
        "ready",
        &format!("{} after its start", seconds(started.elapsed())),
    );

    let told = story::tell(stage, &editors, interrupt)?;
    story::show_status(stage, views, interrupt)?;
    heading("Why the commits name neither alice nor bob");
    say(&format!(
        "Only the audit log knows who edits; until attribution is set up, {} commits.",
        checks::AUTHOR
    ));
    if arguments.once {
        checks::check(stage, &told)
    } else {
        playground::stay_up(stage, &editors, views, interrupt)
    }
}
