//! The `kubectl` that was built for the tests, in the hands of one user.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::kubeconfig::Kubeconfig;

/// Runs kubectl as one user; cheap to clone, and usable from any thread.
#[derive(Clone, Debug)]
pub struct Kubectl {
    program: PathBuf,
    kubeconfig: PathBuf,
    home: PathBuf,
}

impl Kubectl {
    /// Uses `program` as the user of `kubeconfig`; caches go below `home`.
    pub fn new(
        program: impl Into<PathBuf>,
        kubeconfig: &Kubeconfig,
        home: impl Into<PathBuf>,
    ) -> Self {
        Self {
            program: program.into(),
            kubeconfig: kubeconfig.path().to_owned(),
            home: home.into(),
        }
    }

    /// Returns the program, for a person who wants to type the commands.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Returns a command without arguments, for what the methods below do not cover.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .env("KUBECONFIG", &self.kubeconfig)
            .env("HOME", &self.home);
        command.stdin(Stdio::null());
        command
    }

    /// Runs kubectl and returns whatever came out, also when it failed.
    pub fn output<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Result<Output> {
        self.command()
            .args(arguments)
            .output()
            .with_context(|| format!("cannot run {}", self.program.display()))
    }

    /// Runs kubectl and returns its standard output, or fails with what it complained about.
    pub fn run<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Result<String> {
        finish(arguments, &self.output(arguments)?)
    }

    /// Runs kubectl, expects it to fail, and returns what it complained about.
    pub fn refused<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Result<String> {
        let output = self.output(arguments)?;
        if output.status.success() {
            bail!(
                "{} was expected to fail and printed:\n{}",
                shown(arguments),
                text(&output.stdout)
            );
        }
        Ok(text(&output.stderr))
    }

    /// Runs kubectl with `-o json` and returns what it printed.
    pub fn json<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Result<Value> {
        let mut all: Vec<&OsStr> = arguments.iter().map(AsRef::as_ref).collect();
        all.extend([OsStr::new("-o"), OsStr::new("json")]);
        let printed = self.run(&all)?;
        serde_json::from_str(&printed)
            .with_context(|| format!("{} did not print JSON:\n{printed}", shown(&all)))
    }

    /// Runs kubectl with text on its standard input, for arguments such as `apply -f -`.
    pub fn run_with_input<A: AsRef<OsStr>>(&self, arguments: &[A], input: &str) -> Result<String> {
        finish(arguments, &self.output_with_input(arguments, input)?)
    }

    /// Does the same, and returns whatever came out, also when it failed.
    pub fn output_with_input<A: AsRef<OsStr>>(
        &self,
        arguments: &[A],
        input: &str,
    ) -> Result<Output> {
        let failed = || format!("cannot run {}", self.program.display());
        let mut child = self
            .command()
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(failed)?;
        let mut pipe = child.stdin.take().with_context(failed)?;
        // A kubectl that has seen enough closes the pipe, and says why on standard error.
        pipe.write_all(input.as_bytes()).ok();
        drop(pipe);
        child.wait_with_output().with_context(failed)
    }

    /// Applies manifests given as YAML or JSON.
    pub fn apply(&self, manifests: &str) -> Result<String> {
        self.run_with_input(&["apply", "-f", "-"], manifests)
    }

    /// Sends a GET request for a path of the API and returns the body.
    pub fn get_raw(&self, path: &str) -> Result<String> {
        self.run(&["get", "--raw", path])
    }
}

fn finish<A: AsRef<OsStr>>(arguments: &[A], output: &Output) -> Result<String> {
    if !output.status.success() {
        bail!(
            "{} failed ({}):\n{}{}",
            shown(arguments),
            output.status,
            text(&output.stdout),
            text(&output.stderr)
        );
    }
    Ok(text(&output.stdout))
}

fn shown<A: AsRef<OsStr>>(arguments: &[A]) -> String {
    let words: Vec<_> = arguments
        .iter()
        .map(|argument| argument.as_ref().to_string_lossy())
        .collect();
    format!("kubectl {}", words.join(" "))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
