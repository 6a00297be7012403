//! Ctrl-C: noticed at once, acted on at the next step, so that nothing is left half removed.

use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};

const PAUSE: Duration = Duration::from_millis(50);

/// Whether a person asked us to end.
#[derive(Clone, Debug)]
pub(super) struct Interrupt {
    asked: Arc<AtomicBool>,
}

/// The outcome of a run that a person ended before it was through.
#[derive(Debug)]
pub(super) struct Interrupted;

impl Display for Interrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("interrupted")
    }
}

impl std::error::Error for Interrupted {}

impl Interrupt {
    /// Listens for SIGINT and SIGTERM from now on.
    pub(super) fn listen() -> Result<Self> {
        let failed = "cannot listen for Ctrl-C";
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .context(failed)?;
        let (mut interrupt, mut terminate) = {
            let _inside = runtime.enter();
            (
                signal(SignalKind::interrupt()).context(failed)?,
                signal(SignalKind::terminate()).context(failed)?,
            )
        };
        let asked = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&asked);
        thread::spawn(move || {
            runtime.block_on(async move {
                loop {
                    tokio::select! {
                        _ = interrupt.recv() => {}
                        _ = terminate.recv() => {}
                    }
                    if flag.swap(true, Ordering::Relaxed) {
                        eprintln!("Still cleaning up; nothing is left behind after that.");
                    }
                }
            });
        });
        Ok(Self { asked })
    }

    /// Returns whether a person asked us to end.
    fn asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// Returns whether a failure is a consequence of that: the terminal tells our children, too, and they
    /// may have ended a moment before we heard of it.
    pub(super) fn explains_failure(&self) -> bool {
        thread::sleep(2 * PAUSE);
        self.asked()
    }

    /// Fails when a person asked us to end.
    pub(super) fn check(&self) -> Result<()> {
        if self.asked() {
            return Err(Interrupted.into());
        }
        Ok(())
    }

    /// Waits for a moment, or fails when a person asks us to end.
    pub(super) fn pause(&self) -> Result<()> {
        self.check()?;
        thread::sleep(PAUSE);
        Ok(())
    }

    /// Calls `probe` until it returns a value; fails when it fails, when the deadline passes, or when a
    /// person interrupts.
    ///
    /// `what` completes the sentence "gave up waiting for ...".
    pub(super) fn until<T>(
        &self,
        what: impl Display,
        deadline: Duration,
        mut probe: impl FnMut() -> Result<Option<T>>,
    ) -> Result<T> {
        let started = Instant::now();
        loop {
            if let Some(value) = probe()? {
                return Ok(value);
            }
            if started.elapsed() >= deadline {
                bail!("gave up after {} s waiting for {what}", deadline.as_secs());
            }
            self.pause()?;
        }
    }
}
