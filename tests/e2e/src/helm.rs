//! The package manager, with nothing of the machine's own configuration.
#![allow(
    clippy::disallowed_methods,
    reason = "tests and the demo start the package manager as a person does"
)]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use testkit::{Kubeconfig, Tool, Tools, Workbench};

/// The version that rendering without a cluster assumes.
const KUBERNETES: &str = "1.36.0";

/// Runs Helm. Its caches and its release files stay in a folder that goes with this value.
#[derive(Debug)]
pub struct Helm {
    program: PathBuf,
    workbench: Workbench,
}

impl Helm {
    /// Builds Helm where that has not happened yet.
    pub fn new() -> Result<Self> {
        let program = Tools::ensure(&[Tool::Helm])?.path(Tool::Helm)?.to_owned();
        Ok(Self {
            program,
            workbench: Workbench::new("helm")?,
        })
    }

    /// Renders a chart without a cluster and returns the manifests as text.
    pub fn template(&self, chart: &Path, release: &Release, values: &Value) -> Result<String> {
        let values = self.values_file(values)?;
        let arguments = [
            OsStr::new("template"),
            OsStr::new(&release.name),
            chart.as_os_str(),
            OsStr::new("--namespace"),
            OsStr::new(&release.namespace),
            OsStr::new("--kube-version"),
            OsStr::new(KUBERNETES),
            OsStr::new("--values"),
            values.as_os_str(),
        ];
        self.run(None, &arguments)
    }

    /// Installs a chart as the user of `kubeconfig`. `more` are further arguments, such as a dry run.
    pub fn install(
        &self,
        kubeconfig: &Kubeconfig,
        chart: &Path,
        release: &Release,
        values: &Value,
        more: &[&str],
    ) -> Result<String> {
        let values = self.values_file(values)?;
        let mut arguments = vec![
            OsStr::new("install"),
            OsStr::new(&release.name),
            chart.as_os_str(),
            OsStr::new("--namespace"),
            OsStr::new(&release.namespace),
            OsStr::new("--values"),
            values.as_os_str(),
        ];
        arguments.extend(more.iter().map(OsStr::new));
        self.run(Some(kubeconfig), &arguments)
    }

    /// Uninstalls a release.
    pub fn uninstall(&self, kubeconfig: &Kubeconfig, release: &Release) -> Result<String> {
        let arguments = [
            "uninstall",
            &release.name,
            "--namespace",
            &release.namespace,
        ];
        self.run(Some(kubeconfig), &arguments)
    }

    /// Runs Helm and returns its standard output, or fails with what it complained about.
    pub fn run<A: AsRef<OsStr>>(
        &self,
        kubeconfig: Option<&Kubeconfig>,
        arguments: &[A],
    ) -> Result<String> {
        let output = self.output(kubeconfig, arguments)?;
        if !output.status.success() {
            bail!(
                "helm {} failed:\n{}{}",
                arguments
                    .first()
                    .map(|word| word.as_ref().to_string_lossy())
                    .unwrap_or_default(),
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            );
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn output<A: AsRef<OsStr>>(
        &self,
        kubeconfig: Option<&Kubeconfig>,
        arguments: &[A],
    ) -> Result<Output> {
        let mut command = Command::new(&self.program);
        command
            .args(arguments)
            .env("HELM_CACHE_HOME", self.workbench.path("cache"))
            .env("HELM_CONFIG_HOME", self.workbench.path("config"))
            .env("HELM_DATA_HOME", self.workbench.path("data"))
            .env("HOME", self.workbench.folder())
            .stdin(Stdio::null());
        match kubeconfig {
            Some(kubeconfig) => command.env("KUBECONFIG", kubeconfig.path()),
            None => command.env("KUBECONFIG", self.workbench.path("no-cluster")),
        };
        command
            .output()
            .with_context(|| format!("cannot run {}", self.program.display()))
    }

    fn values_file(&self, values: &Value) -> Result<PathBuf> {
        // JSON is YAML.
        self.workbench.write("values.yaml", values.to_string())
    }
}

/// Where and under which name a chart is installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    /// The name of the release.
    pub name: String,
    /// The namespace of the release.
    pub namespace: String,
}

impl Default for Release {
    /// Returns the names that the documents use.
    fn default() -> Self {
        Self {
            name: "gitops-reverser".to_owned(),
            namespace: "gitops-reverser".to_owned(),
        }
    }
}
