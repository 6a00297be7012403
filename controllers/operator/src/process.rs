//! The life of the process: from the words on the command line to the exit code.

use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::environment::Environment;
use crate::flags::{Command, Page, Parsed, ValidationError, parse};
use crate::settings::Settings;
use crate::{build_info, docs, logging, offline, wiring};

/// Something failed while running.
pub(crate) const FAILED: u8 = 1;

/// The command line or the environment is wrong.
pub(crate) const WRONG_INPUT: u8 = 2;

/// How many threads serve everything that waits, at most. What takes long has threads of its own, so that more of these on
/// a large machine would cost memory and wake each other for nothing.
const WORKERS: usize = 4;

/// How long jobs on threads of their own may take to end after everything else has.
const LAST_JOBS: Duration = Duration::from_secs(3);

/// Does what the command line asks for and returns how it ended.
pub fn run(words: impl IntoIterator<Item = String>, environment: &Environment) -> ExitCode {
    match parse(words, environment) {
        Parsed::Print(text) => print(&text),
        Parsed::Refuse(problems) => refuse(&problems),
        Parsed::Act(line, not_built) => match line.command {
            Some(Command::Docs { page: Page::Flags }) => print(&docs::flags()),
            Some(Command::Docs {
                page: Page::Metrics,
            }) => match docs::metrics() {
                Ok(text) => print(&text),
                Err(error) => fail(&error.into()),
            },
            Some(Command::Analyze(arguments)) => offline::analyze(&arguments),
            Some(Command::Plan(arguments)) => offline::plan(&arguments),
            None => {
                let started = logging::install(&line.flags.logging).and_then(|()| {
                    let settings = Settings::new(&line.flags, environment, not_built)?;
                    serve(settings)
                });
                match started {
                    Ok(()) => ExitCode::SUCCESS,
                    Err(error) => fail(&error),
                }
            }
        },
    }
}

/// Runs the operator until a signal or a failure ends it.
fn serve(settings: Settings) -> anyhow::Result<()> {
    tracing::info!(
        version = build_info::VERSION,
        commit = build_info::COMMIT,
        namespace = %settings.identity.namespace,
        "starting"
    );
    for notice in &settings.not_built {
        tracing::warn!(
            flag = notice.flag,
            instead = notice.instead,
            "a flag has no effect yet"
        );
    }
    if rustls::crypto::ring::default_provider()
        .install_default()
        .is_err()
    {
        anyhow::bail!("another TLS provider was installed before ours");
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(cores.min(WORKERS))
        .enable_all()
        .build()?;
    let ended = runtime.block_on(async {
        let shutdown = CancellationToken::new();
        let mut signals = JoinSet::new();
        signals.spawn(listen_for_signals(shutdown.clone()));
        let ended = wiring::run(settings, shutdown).await;
        signals.shutdown().await;
        ended
    });
    // Git jobs were told to end; one that hangs in the disk or the resolver does not keep the process.
    runtime.shutdown_timeout(LAST_JOBS);
    ended?;
    tracing::info!("stopped");
    Ok(())
}

/// Cancels at the first signal and ends the process at the second, for who cannot wait for the drain.
async fn listen_for_signals(shutdown: CancellationToken) {
    let signals = signal(SignalKind::terminate())
        .and_then(|terminate| Ok((terminate, signal(SignalKind::interrupt())?)));
    let (mut terminate, mut interrupt) = match signals {
        Ok(signals) => signals,
        Err(error) => {
            tracing::error!(%error, "signals cannot be received, so stopping will not drain");
            return;
        }
    };
    for attempt in 0..2 {
        let name = tokio::select! {
            _ = terminate.recv() => "SIGTERM",
            _ = interrupt.recv() => "SIGINT",
        };
        if attempt == 0 {
            tracing::info!(
                signal = name,
                "stopping; a second signal stops without draining"
            );
            shutdown.cancel();
        }
    }
    tracing::error!("stopped without draining");
    std::process::exit(i32::from(FAILED));
}

fn print(text: &str) -> ExitCode {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(FAILED),
    }
}

fn refuse(problems: &[ValidationError]) -> ExitCode {
    for problem in problems {
        complain(&problem.to_string());
    }
    complain("nothing was started; see gitops-reverser --help");
    ExitCode::from(WRONG_INPUT)
}

fn fail(error: &anyhow::Error) -> ExitCode {
    tracing::error!("{error:#}");
    complain(&format!("failed: {error:#}"));
    ExitCode::from(FAILED)
}

/// Writes a line to standard error. When even that fails there is nobody left to tell.
pub(crate) fn complain(text: &str) {
    let mut out = std::io::stderr().lock();
    drop(writeln!(out, "{text}"));
}
