//! The installed `git`, cut off from the configuration of the machine and of its user.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};

/// Runs git in one folder.
#[derive(Clone, Debug)]
pub(super) struct Git {
    folder: PathBuf,
    home: PathBuf,
    variables: Vec<(String, OsString)>,
}

impl Git {
    pub(super) fn new(folder: impl Into<PathBuf>, home: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            home: home.into(),
            variables: Vec::new(),
        }
    }

    /// Sets an environment variable for every run.
    pub(super) fn variable(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.variables.push((name.to_owned(), value.into()));
        self
    }

    /// Returns the same git in another folder.
    pub(super) fn in_folder(&self, folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            ..self.clone()
        }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn command(&self) -> Command {
        let mut command = Command::new("git");
        isolate(&mut command, &self.home);
        command.current_dir(&self.folder).stdin(Stdio::null());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    pub(super) fn output<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Result<Output> {
        self.command()
            .args(arguments)
            .output()
            .context("cannot run git")
    }

    /// Runs git and returns its standard output without the last line break.
    pub(super) fn run<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Result<String> {
        let output = self.output(arguments)?;
        if !output.status.success() {
            bail!(
                "{} failed ({}):\n{}{}",
                shown(arguments),
                output.status,
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            );
        }
        Ok(String::from_utf8_lossy(&output.stdout)
            .trim_end_matches('\n')
            .to_owned())
    }

    /// Runs git, expects it to fail, and returns what it complained about.
    pub(super) fn refused<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Result<String> {
        let output = self.output(arguments)?;
        if output.status.success() {
            bail!("{} was expected to fail", shown(arguments));
        }
        Ok(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// Gives a command no variable of ours but `PATH`, and no configuration but what is below `home`.
///
/// That the configuration is not simply `/dev/null` has a reason: a program that writes one, as Gitea does, would put a
/// file in the place of the device.
pub(super) fn isolate(command: &mut Command, home: &Path) {
    command
        .env_clear()
        .env("PATH", env::var_os("PATH").unwrap_or_default())
        .env("HOME", home)
        .env("LC_ALL", "C")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        // Without an answer git fails, instead of waiting for one.
        .env("GIT_TERMINAL_PROMPT", "0");
}

fn shown<A: AsRef<OsStr>>(arguments: &[A]) -> String {
    let words: Vec<_> = arguments
        .iter()
        .map(|argument| argument.as_ref().to_string_lossy())
        .collect();
    format!("git {}", words.join(" "))
}
