//! A person with the real `sops`.
#![allow(
    clippy::disallowed_methods,
    reason = "the test runs sops as a person does"
)]

use std::path::PathBuf;
use std::process::{Command, Output};

use sealing::NewIdentity;
use serde_json::{Map, Value};
use testkit::{Tool, Tools, Workbench};

/// A folder, the program and a private key.
pub(crate) struct RealSops {
    program: PathBuf,
    bench: Workbench,
    key: String,
}

impl RealSops {
    pub(crate) fn new(identity: &NewIdentity) -> Self {
        let tools = Tools::ensure(&[Tool::Sops]).unwrap();
        let entry = identity.entry();
        Self {
            program: tools.path(Tool::Sops).unwrap().to_owned(),
            bench: Workbench::new("sops").unwrap(),
            key: entry.expose().lines().last().unwrap().to_owned(),
        }
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        self.bench.write(name, text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.bench.path(name)).unwrap()
    }

    /// Runs the program and returns what it printed.
    pub(crate) fn run(&self, arguments: &[&str]) -> String {
        let output = self.output(arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "sops {arguments:?}: {said}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Says whether the program succeeds.
    pub(crate) fn succeeds(&self, arguments: &[&str]) -> bool {
        self.output(arguments).status.success()
    }

    /// Opens a file and applies a sed script to its plaintext, as a person does in an editor.
    pub(crate) fn edit(&self, name: &str, script: &str) {
        let editor = self.bench.write(
            "editor",
            format!("#!/bin/sh\nexec sed -i '{script}' \"$1\"\n"),
        );
        let editor = editor.unwrap();
        let mut command = self.command(&["edit", name]);
        command.env("EDITOR", format!("/bin/sh {}", editor.display()));
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
    }

    /// Decrypts a text and reads what comes out. As JSON, because what the tool prints as YAML is not always
    /// YAML: text that starts with blanks gets a wrong header.
    pub(crate) fn decrypt(&self, text: &str) -> Map<String, Value> {
        self.write("decrypt.yaml", text);
        let plain = self.run(&["decrypt", "--output-type", "json", "decrypt.yaml"]);
        serde_json::from_str(&plain).unwrap()
    }

    fn output(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(arguments)
            .current_dir(self.bench.folder())
            .env_remove("SOPS_AGE_RECIPIENTS")
            .env("SOPS_AGE_KEY", &self.key)
            .env("SOPS_DISABLE_VERSION_CHECK", "true")
            .env("HOME", self.bench.folder())
            .env("XDG_CONFIG_HOME", self.bench.folder());
        command
    }
}
