//! A temporary folder, the programs that work in it, and a guardian that outlives us.
//!
//! A [`Workbench`] removes its folder when it is dropped, and a [`Process`] is stopped with all its
//! children when it is dropped, also while a panic unwinds. Neither helps when this process itself
//! is killed or interrupted, or when the value sits in a `static`. For that there is the guardian:
//! a shell that waits on a pipe of ours, and cleans up when the pipe closes without a goodbye.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use std::{env, thread};

use anyhow::{Context, Result, anyhow, bail};
use rustix::process::{Pid, Signal, kill_process_group};
use tempfile::TempDir;

use crate::wait;

/// The environment variable that keeps every folder, with the logs in it.
pub const KEEP: &str = "TESTKIT_KEEP";

/// Kills every process group that it was told to watch once its input ends, then removes a folder.
const GUARDIAN: &str = r#"
groups=
while read -r verb group; do
    case $verb in
    watch) groups="$groups $group" ;;
    forget)
        rest=
        for known in $groups; do
            [ "$known" = "$group" ] || rest="$rest $known"
        done
        groups=$rest
        ;;
    esac
done
for group in $groups; do
    kill -KILL "-$group" 2>/dev/null
done
rm -rf -- "$1" || { sleep 1; rm -rf -- "$1"; }
"#;

/// A temporary folder with the programs that were started in it.
#[derive(Debug)]
pub struct Workbench {
    guardian: Arc<Guardian>,
    folder: Option<TempDir>,
}

impl Workbench {
    /// Creates the folder, named after `purpose`, and starts the guardian.
    pub fn new(purpose: &str) -> Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix(&format!("testkit-{purpose}-"))
            .tempdir()
            .context("cannot create a temporary folder")?;
        let guardian = Arc::new(Guardian::start(folder.path())?);
        Ok(Self {
            guardian,
            folder: Some(folder),
        })
    }

    /// Returns the folder, which exists as long as this value does.
    pub fn folder(&self) -> &Path {
        self.folder
            .as_ref()
            .expect("because only drop takes the folder away")
            .path()
    }

    /// Returns the path of a file or folder of that name in the folder.
    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder().join(name)
    }

    /// Writes a file into the folder, at once and only for us, and returns its path.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> Result<PathBuf> {
        let path = self.path(name);
        replace_file(&path, content.as_ref())?;
        Ok(path)
    }

    /// Starts a program whose output goes to `NAME.log` in the folder.
    ///
    /// The program gets a process group of its own: an interrupt at the terminal does not reach
    /// it, and stopping it stops what it started.
    pub fn start(&self, name: &str, command: &mut Command) -> Result<Process> {
        let log_path = self.path(format!("{name}.log"));
        let log = File::options()
            .create(true)
            .append(true)
            .open(&log_path)
            .with_context(|| format!("cannot open {}", log_path.display()))?;
        let child = command
            .stdin(Stdio::null())
            .stdout(log.try_clone().context("cannot share a log file")?)
            .stderr(log)
            .process_group(0)
            .spawn()
            .with_context(|| format!("cannot start {}", command.get_program().display()))?;
        self.guardian.tell("watch", child.id());
        Ok(Process {
            name: name.to_owned(),
            child,
            log_path,
            guardian: Arc::clone(&self.guardian),
            ended: None,
            killed: false,
        })
    }
}

impl Drop for Workbench {
    fn drop(&mut self) {
        self.guardian.dismiss();
        let Some(folder) = self.folder.take() else {
            return;
        };
        if thread::panicking() || env::var_os(KEEP).is_some() {
            eprintln!("testkit: logs are kept in {}", folder.keep().display());
        }
    }
}

/// Writes a file under another name first, so that whoever reads `path` sees all of it or the old
/// one.
pub(crate) fn replace_file(path: &Path, content: &[u8]) -> Result<()> {
    let failed = || format!("cannot write {}", path.display());
    let folder = path.parent().with_context(failed)?;
    fs::create_dir_all(folder).with_context(failed)?;
    // A NamedTempFile is readable by its owner only, which suits the keys among our files.
    let mut file = tempfile::NamedTempFile::new_in(folder).with_context(failed)?;
    file.write_all(content).with_context(failed)?;
    file.persist(path).with_context(failed)?;
    Ok(())
}

/// A program that runs until it is stopped or dropped.
#[derive(Debug)]
pub struct Process {
    name: String,
    child: Child,
    log_path: PathBuf,
    guardian: Arc<Guardian>,
    ended: Option<ExitStatus>,
    killed: bool,
}

impl Process {
    /// Returns the process id, which is also the id of its process group.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns the file that holds what the program printed.
    pub fn log_path(&self) -> &Path {
        &self.log_path
    }

    /// Returns what the program printed so far.
    pub fn log(&self) -> String {
        fs::read(&self.log_path)
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default()
    }

    /// Returns how the program ended, or nothing while it runs.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>> {
        if self.ended.is_none() {
            self.ended = self
                .child
                .try_wait()
                .with_context(|| format!("cannot ask whether {} still runs", self.name))?;
        }
        Ok(self.ended)
    }

    /// Fails, with the end of the log, when the program no longer runs.
    pub fn check_running(&mut self) -> Result<()> {
        match self.ended()? {
            None => Ok(()),
            Some(status) => bail!("{} ended with {status}:\n{}", self.name, self.log_tail()),
        }
    }

    /// Asks the program to end, waits for it, and returns how it ended.
    pub fn terminate(&mut self, deadline: Duration) -> Result<ExitStatus> {
        self.signal(Signal::TERM);
        let name = self.name.clone();
        let ended = wait::until_ok(format!("{name} to end"), deadline, || {
            self.ended()?.ok_or_else(|| anyhow!("it still runs"))
        })
        .with_context(|| format!("the log ends with:\n{}", self.log_tail()))?;
        self.kill();
        Ok(ended)
    }

    /// Kills the program with everything in its process group, and waits until it is gone.
    pub fn kill(&mut self) {
        if self.killed {
            // By now another program may have the same id.
            return;
        }
        self.killed = true;
        self.signal(Signal::KILL);
        if self.ended.is_none() {
            self.ended = self.child.wait().ok();
        }
        self.guardian.tell("forget", self.child.id());
    }

    fn signal(&self, signal: Signal) {
        let group = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(group) = group {
            // An error means that nobody is left in the group, which is what we want.
            kill_process_group(group, signal).ok();
        }
    }

    /// Returns the last lines of what the program printed.
    pub fn log_tail(&self) -> String {
        tail(&self.log(), 25)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Returns the last lines of a text.
pub(crate) fn tail(text: &str, lines: usize) -> String {
    let all: Vec<&str> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}

#[derive(Debug)]
struct Guardian {
    child: Mutex<Child>,
    input: Mutex<ChildStdin>,
}

impl Guardian {
    fn start(folder: &Path) -> Result<Self> {
        let mut child = Command::new("sh")
            .args(["-c", GUARDIAN, "guardian"])
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .context("cannot start sh")?;
        let input = child.stdin.take().context("the guardian has no input")?;
        Ok(Self {
            child: Mutex::new(child),
            input: Mutex::new(input),
        })
    }

    fn tell(&self, verb: &str, group: u32) {
        let mut input = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        // Without a guardian only the clean-up after our own violent death is lost.
        writeln!(input, "{verb} {group}").ok();
    }

    /// Ends the guardian before its input ends, so that it leaves everything as it is.
    fn dismiss(&self) {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        child.kill().ok();
        child.wait().ok();
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    fn sleep() -> Command {
        let mut command = Command::new("sleep");
        command.arg("1000");
        command
    }

    #[test]
    fn a_dropped_process_is_gone() {
        let workbench = Workbench::new("test").unwrap();
        let mut process = workbench.start("sleep", &mut sleep()).unwrap();
        process.check_running().unwrap();
        let id = process.id();
        drop(process);
        assert!(!Path::new(&format!("/proc/{id}")).exists());
    }

    #[test]
    fn an_ended_process_is_told_with_its_log() {
        let workbench = Workbench::new("test").unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "echo no such flag; exit 3"]);
        let mut process = workbench.start("program", &mut command).unwrap();
        wait::until("the end", wait::GENEROUS, || process.ended().unwrap()).unwrap();
        let error = process.check_running().unwrap_err().to_string();
        assert!(error.contains("no such flag"), "{error}");
    }

    #[test]
    fn the_guardian_cleans_up_when_its_input_ends() {
        let folder = tempfile::tempdir().unwrap();
        let guardian = Guardian::start(folder.path()).unwrap();
        let mut forgotten = sleep().process_group(0).spawn().unwrap();
        let mut watched = sleep().process_group(0).spawn().unwrap();
        guardian.tell("watch", forgotten.id());
        guardian.tell("watch", watched.id());
        guardian.tell("forget", forgotten.id());

        let Guardian { child, input } = guardian;
        drop(input);
        child.into_inner().unwrap().wait().unwrap();

        assert_eq!(watched.wait().unwrap().signal(), Some(9));
        assert!(forgotten.try_wait().unwrap().is_none());
        assert!(!folder.path().exists());
        forgotten.kill().unwrap();
        forgotten.wait().unwrap();
    }
}
