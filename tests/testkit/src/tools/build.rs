//! Building: one lock per module, a temporary name, a rename, and the seconds on the terminal.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::Tool;
use super::module::Recipe;
use crate::workbench::tail;

const HEARTBEAT: Duration = Duration::from_secs(15);

/// Returns the path of the tool in the cache, after building it where it is missing.
pub(super) fn ensure(tool: Tool, cache: &Path) -> Result<PathBuf> {
    let recipe = Recipe::of(tool)?;
    let folder = cache.join(&recipe.cache_name);
    let program = folder.join(tool.name());
    if program.exists() {
        return Ok(program);
    }
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let _lock = lock(tool, &folder.with_extension("lock"))?;
    if !program.exists() {
        build(tool, &recipe, &program)?;
    }
    Ok(program)
}

/// Takes the lock that another process holds while it builds tools of the same module.
///
/// The operating system releases it when the file is closed, also when the holder is killed.
fn lock(tool: Tool, path: &Path) -> Result<File> {
    let failed = || format!("cannot lock {}", path.display());
    let file = File::create(path).with_context(failed)?;
    match file.try_lock() {
        Ok(()) => return Ok(file),
        Err(TryLockError::WouldBlock) => {
            tell(&format!(
                "{tool} waits for another process that builds the same module"
            ));
        }
        Err(TryLockError::Error(error)) => return Err(error).with_context(failed),
    }
    file.lock().with_context(failed)?;
    Ok(file)
}

fn build(tool: Tool, recipe: &Recipe, program: &Path) -> Result<()> {
    let started = Instant::now();
    let unfinished = program.with_extension("unfinished");
    let log_path = program.with_extension("log");
    let log =
        File::create(&log_path).with_context(|| format!("cannot create {}", log_path.display()))?;
    tell(&format!("{tool} is being built"));

    let (verb, rest) = recipe
        .arguments
        .split_first()
        .context("a recipe has arguments")?;
    let child = Command::new("go")
        .arg(verb)
        .arg("-o")
        .arg(&unfinished)
        .args(rest)
        .env("CGO_ENABLED", if recipe.with_c { "1" } else { "0" })
        .env("GOWORK", "off")
        .current_dir(&recipe.folder)
        .stdout(log.try_clone().context("cannot share a log file")?)
        .stderr(log)
        .spawn()
        .context("cannot run go")?;
    let status = wait_with_heartbeat(tool, child, started)?;
    if !status.success() {
        let output = fs::read_to_string(&log_path).unwrap_or_default();
        bail!(
            "building {tool} failed ({status}); go said:\n{}",
            tail(&output, 30)
        );
    }
    fs::rename(&unfinished, program)
        .with_context(|| format!("cannot rename {}", unfinished.display()))?;
    tell(&format!(
        "{tool} was built in {} s",
        started.elapsed().as_secs()
    ));
    Ok(())
}

/// Prints a line at once, so that it stays whole when two processes write to one terminal.
fn tell(text: &str) {
    let line = format!("controlplane: {text}\n");
    io::stderr().write_all(line.as_bytes()).ok();
}

fn wait_with_heartbeat(tool: Tool, mut child: Child, started: Instant) -> Result<ExitStatus> {
    let mut next_heartbeat = HEARTBEAT;
    loop {
        if let Some(status) = child.try_wait().context("cannot wait for go")? {
            return Ok(status);
        }
        if started.elapsed() >= next_heartbeat {
            tell(&format!(
                "{tool} is being built, {} s",
                started.elapsed().as_secs()
            ));
            next_heartbeat += HEARTBEAT;
        }
        thread::sleep(Duration::from_millis(100));
    }
}
