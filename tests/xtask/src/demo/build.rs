//! Building: the Rust and the Go programs side by side, with a sign of life while it takes long.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStderr, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use testkit::{Tool, Tools};

use super::interrupt::Interrupt;
use super::terminal::{say, seconds};
use crate::repository::cargo;

const SIGN_OF_LIFE: Duration = Duration::from_secs(15);

/// Builds what is not built yet, and returns the tools.
pub(super) fn everything(wanted: &'static [Tool], interrupt: &Interrupt) -> Result<Tools> {
    let started = Instant::now();
    let mut tools = Some(thread::spawn(move || Tools::ensure(wanted)));
    let mut found = None;
    let mut rust = RustBuild::start()?;
    let mut next_sign = SIGN_OF_LIFE;
    loop {
        // A Go that is missing or too old is told now, and not after minutes of Rust.
        if let Some(thread) = tools.take_if(|thread| thread.is_finished()) {
            found = Some(finish(thread)?);
        }
        if let Some(status) = rust.ended()? {
            rust.succeeded(status)?;
            break;
        }
        if started.elapsed() >= next_sign {
            say(&format!(
                "Rust: {}, {}",
                rust.progress(),
                seconds(started.elapsed())
            ));
            next_sign += SIGN_OF_LIFE;
        }
        interrupt.pause()?;
    }
    while let Some(thread) = tools.take() {
        if thread.is_finished() {
            found = Some(finish(thread)?);
            break;
        }
        tools = Some(thread);
        interrupt.pause()?;
    }
    say(&format!("ready after {}", seconds(started.elapsed())));
    found.context("the tools are built or the build failed")
}

fn finish(thread: JoinHandle<Result<Tools>>) -> Result<Tools> {
    let built = thread.join();
    built.map_err(|_| anyhow!("the build of the tools panicked"))?
}

/// Cargo at work; what it prints is shown only when it fails.
struct RustBuild {
    child: Child,
    output: Arc<Mutex<String>>,
    compiled: Arc<AtomicUsize>,
    reader: Option<JoinHandle<()>>,
}

impl RustBuild {
    fn start() -> Result<Self> {
        let mut child = cargo()
            .args(["build", "--workspace", "--bins"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .context("cannot run cargo")?;
        let pipe = child.stderr.take().context("cargo has no output")?;
        let (output, compiled) = (Arc::default(), Arc::default());
        let reader = thread::spawn({
            let (output, compiled) = (Arc::clone(&output), Arc::clone(&compiled));
            move || read(pipe, &output, &compiled)
        });
        Ok(Self {
            child,
            output,
            compiled,
            reader: Some(reader),
        })
    }

    fn ended(&mut self) -> Result<Option<ExitStatus>> {
        self.child.try_wait().context("cannot wait for cargo")
    }

    fn progress(&self) -> String {
        match self.compiled.load(Ordering::Relaxed) {
            // Cargo says so before it compiles anything.
            0 if self.output().contains("Blocking waiting for file lock") => {
                "another cargo is at work in this folder".to_owned()
            }
            crates => format!("{crates} crates compiled"),
        }
    }

    fn output(&self) -> MutexGuard<'_, String> {
        self.output.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn succeeded(&mut self, status: ExitStatus) -> Result<()> {
        if status.success() {
            return Ok(());
        }
        if let Some(reader) = self.reader.take() {
            reader.join().ok();
        }
        bail!("cargo build ended with {status}:\n{}", self.output());
    }
}

impl Drop for RustBuild {
    fn drop(&mut self) {
        // An error means that it has ended, which is what we want.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn read(pipe: ChildStderr, output: &Mutex<String>, compiled: &AtomicUsize) {
    for line in BufReader::new(pipe).lines().map_while(Result::ok) {
        if line.trim_start().starts_with("Compiling") {
            compiled.fetch_add(1, Ordering::Relaxed);
        }
        let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
        output.push_str(&line);
        output.push('\n');
    }
}
