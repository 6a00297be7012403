//! A control plane, a Git server and the operator between them, started the way an installation is.
//!
//! The operator runs as its ServiceAccount with the role, the arguments and the environment that the chart
//! renders, as a process of its own without `git` on its `PATH`. Used by the tests of the whole product and
//! by the demo.
#![allow(
    clippy::disallowed_methods,
    reason = "tests and the demo start the operator as a kubelet does"
)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use testkit::control_plane::ControlPlaneBuilder;
use testkit::git::{Access, GitServer, Repository};
use testkit::{ControlPlane, Kubeconfig, Kubectl, Person, Process, Workbench, ports, wait};

use crate::chart::{self, RenderedChart};
use crate::helm::{Helm, Release};

/// The namespace that the operator runs in.
pub const OPERATOR_NAMESPACE: &str = "gitops-reverser";
/// The namespace that is mirrored.
pub const TEAM: &str = "team-a";
/// The folder that the mirror writes.
pub const FOLDER: &str = "clusters/demo";
/// The user name of the Git credential.
pub const GIT_USER: &str = "reverser";
/// The password of the Git credential; long and odd, so that a search for it finds nothing else.
pub const GIT_PASSWORD: &str = "kestrel-7f1c9e-violet-password";
/// The name of the repository.
pub const REPOSITORY: &str = "platform";

/// What a stage is set up with.
pub struct Setting {
    /// How the control plane is started.
    pub control_plane: ControlPlaneBuilder,
    /// Files that a person committed before the operator came.
    pub seed: Vec<(String, String)>,
    /// When a commit window closes after silence, as the target spells it.
    pub idle_timeout: String,
    /// The prune mode of the target.
    pub prune: String,
    /// Further values for the chart.
    pub values: Value,
}

impl Default for Setting {
    fn default() -> Self {
        Self {
            control_plane: ControlPlane::builder().audit_log(),
            seed: vec![("README.md".to_owned(), "# Platform\n".to_owned())],
            idle_timeout: "1s".to_owned(),
            prune: "OnEvent".to_owned(),
            values: json!({}),
        }
    }
}

/// Everything that runs.
pub struct Stage {
    /// The cluster.
    pub control_plane: ControlPlane,
    /// The Git host.
    pub git: GitServer,
    /// The repository on it.
    pub repository: Repository,
    /// The chart as it was rendered.
    pub chart: RenderedChart,
    /// The administrator of the cluster.
    pub admin: Kubectl,
    /// The port of the extension API on this machine.
    pub api_port: u16,
    /// The port of probes on this machine.
    pub health_port: u16,
    /// The port of metrics on this machine.
    pub metrics_port: u16,
    workbench: Workbench,
    operator_kubeconfig: Kubeconfig,
    operator: Option<Process>,
    starts: u32,
}

impl Stage {
    /// Starts the cluster and the Git host and prepares the operator's identity; nothing of ours runs yet.
    pub fn prepare(setting: &Setting, control_plane: ControlPlane) -> Result<Self> {
        let git = GitServer::builder()
            .access(Access::basic(GIT_USER, GIT_PASSWORD))
            .start()?;
        let repository = git.create_repository(REPOSITORY)?;
        repository.require_fast_forwards()?;
        let seed: Vec<_> = setting
            .seed
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
            .collect();
        if !seed.is_empty() {
            repository.seed(&seed)?;
        }
        let admin = control_plane.as_admin()?;
        let (api_port, health_port, metrics_port) =
            (ports::free()?, ports::free()?, ports::free()?);
        let values = merge(
            chart_values(api_port, health_port, metrics_port),
            &setting.values,
        );
        let release = Release {
            name: OPERATOR_NAMESPACE.to_owned(),
            namespace: OPERATOR_NAMESPACE.to_owned(),
        };
        let chart = chart::render(&Helm::new()?, &release, &values)?;
        install(&admin, &chart)?;
        let operator_kubeconfig = control_plane.service_account(
            OPERATOR_NAMESPACE,
            &chart.service_account,
            Some(Duration::from_secs(86_400)),
        )?;
        Ok(Self {
            control_plane,
            git,
            repository,
            chart,
            admin,
            api_port,
            health_port,
            metrics_port,
            workbench: Workbench::new("operator")?,
            operator_kubeconfig,
            operator: None,
            starts: 0,
        })
    }

    /// Starts everything: the stage, the objects of a first mirror, and the operator.
    pub fn start(setting: Setting) -> Result<Self> {
        let control_plane = setting.control_plane.clone().start()?;
        let mut stage = Self::prepare(&setting, control_plane)?;
        stage.apply_mirror(&setting)?;
        stage.start_operator()?;
        Ok(stage)
    }

    /// Applies the objects of one mirror: the ConfigMaps of one namespace into one folder of `main`.
    pub fn apply_mirror(&self, setting: &Setting) -> Result<()> {
        let url = self.git.url(REPOSITORY);
        let (user, password, idle, prune) = (
            GIT_USER,
            GIT_PASSWORD,
            &setting.idle_timeout,
            &setting.prune,
        );
        self.admin.apply(&format!(
            r#"
apiVersion: v1
kind: Namespace
metadata: {{name: {TEAM}}}
---
apiVersion: v1
kind: Secret
metadata: {{name: git-credential, namespace: {TEAM}}}
stringData: {{username: {user}, password: {password}}}
---
apiVersion: configbutler.ai/v1alpha3
kind: GitProvider
metadata: {{name: platform, namespace: {TEAM}}}
spec:
  url: {url}
  secretRef: {{name: git-credential}}
  allowedGitBranches:
    - consumerNamespaces: {{from: Same}}
      branchPatterns: ["*"]
---
apiVersion: configbutler.ai/v1alpha3
kind: GitBranch
metadata: {{name: main, namespace: {TEAM}}}
spec:
  gitProviderRef: {{name: platform}}
  branch: main
---
apiVersion: configbutler.ai/v1alpha3
kind: GitTarget
metadata: {{name: demo, namespace: {TEAM}}}
spec:
  gitBranchRef: {{name: main}}
  kubeProviderRef: {{name: local, namespace: {OPERATOR_NAMESPACE}}}
  path: {FOLDER}
  prune: {{mode: {prune}}}
  commit: {{window: {{idleTimeout: "{idle}"}}}}
---
apiVersion: configbutler.ai/v1alpha3
kind: WatchRule
metadata: {{name: configmaps, namespace: {TEAM}}}
spec:
  gitTargetRef: {{name: demo}}
  rules:
    - apiGroups: [""]
      resources: [configmaps]
"#
        ))?;
        Ok(())
    }

    /// Starts the operator's process, or starts it again after it ended.
    pub fn start_operator(&mut self) -> Result<()> {
        self.start_operator_with(&[])
    }

    /// Starts the operator's process with further arguments; the last of a flag wins.
    pub fn start_operator_with(&mut self, more: &[String]) -> Result<()> {
        self.operator = None;
        self.starts += 1;
        let mut command = Command::new(operator_binary()?);
        command
            .args(&self.chart.args)
            .arg(format!("--data-dir={}", self.data_folder().display()))
            .args(more)
            .env_clear()
            .envs(&self.chart.env)
            .env("KUBECONFIG", self.operator_kubeconfig.path())
            // No program of the machine: the operator must not need one.
            .env("PATH", "/nonexistent");
        let name = format!("operator-{}", self.starts);
        self.operator = Some(self.workbench.start(&name, &mut command)?);
        Ok(())
    }

    /// Returns the folder that the operator keeps its stores in.
    pub fn data_folder(&self) -> PathBuf {
        self.workbench.path("data")
    }

    /// Returns the folder with the operator's logs.
    pub fn logs(&self) -> &Path {
        self.workbench.folder()
    }

    /// Returns the identity that the operator runs with.
    pub fn operator_kubeconfig(&self) -> &Kubeconfig {
        &self.operator_kubeconfig
    }

    /// Returns the running operator.
    pub fn operator(&self) -> Result<&Process> {
        self.operator.as_ref().context("the operator does not run")
    }

    /// Ends the operator as `kubectl delete pod` does, and waits for it.
    pub fn stop_operator(&mut self) -> Result<()> {
        if let Some(mut operator) = self.operator.take() {
            let status = operator.terminate(Duration::from_secs(60))?;
            ensure!(
                status.success(),
                "the operator ended with {status}: {}",
                operator.log()
            );
        }
        Ok(())
    }

    /// Ends the operator as a power cut does.
    pub fn kill_operator(&mut self) {
        if let Some(mut operator) = self.operator.take() {
            operator.kill();
        }
    }

    /// Waits until a target is Ready, and shows what it says when that does not happen.
    pub fn wait_ready(&self, target: &str) -> Result<()> {
        let condition = "--for=condition=Ready";
        let waited = self.admin.run(&[
            "wait",
            "gittarget",
            target,
            "-n",
            TEAM,
            condition,
            "--timeout=60s",
        ]);
        waited.map(drop).with_context(|| self.explain(target))
    }

    /// Returns what there is to know of a target when something went wrong.
    pub fn explain(&self, target: &str) -> String {
        let show = |arguments: &[&str]| {
            self.admin
                .run(arguments)
                .unwrap_or_else(|error| error.to_string())
        };
        let log = self.operator.as_ref().map(Process::log).unwrap_or_default();
        let tail: Vec<&str> = log.lines().rev().take(30).collect();
        format!(
            "{}\n{}\n{}",
            show(&["get", "gittarget", target, "-n", TEAM, "-o", "yaml"]),
            show(&[
                "get",
                "gitproviders,gitbranches,kubeproviders,watchrules",
                "-A"
            ]),
            tail.into_iter().rev().collect::<Vec<_>>().join("\n"),
        )
    }

    /// Waits until the branch holds what `wanted` accepts.
    pub fn wait_file(&self, path: &str, wanted: impl Fn(&str) -> bool) -> Result<String> {
        let file = format!("{FOLDER}/{path}");
        wait::until(format!("{file} on the branch"), wait::GENEROUS, || {
            self.repository
                .file("main", &file)
                .ok()
                .filter(|text| wanted(text))
        })
    }

    /// Returns a kubeconfig of a person who may edit what is mirrored.
    pub fn editor(&self, name: &str) -> Result<Kubectl> {
        self.admin.apply(&format!(
            r#"
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {{name: editor, namespace: {TEAM}}}
rules:
  - apiGroups: [""]
    resources: [configmaps]
    verbs: [get, list, watch, create, update, patch, delete]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {{name: editor-{name}, namespace: {TEAM}}}
roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: Role, name: editor}}
subjects: [{{kind: User, name: {name}, apiGroup: rbac.authorization.k8s.io}}]
"#
        ))?;
        let kubeconfig = self.control_plane.person(&Person::named(name))?;
        self.control_plane.kubectl(&kubeconfig)
    }
}

/// Returns the operator that this workspace built.
fn operator_binary() -> Result<PathBuf> {
    let exe = std::env::current_exe()?;
    let beside = exe
        .ancestors()
        .skip(1)
        .take(3)
        .map(|folder| folder.join("gitops-reverser"));
    beside
        .into_iter()
        .find(|path| path.is_file())
        .context("the operator is not built; run `cargo build --workspace` first")
}

/// The values of an installation whose operator runs outside the cluster, on this machine.
fn chart_values(api_port: u16, health_port: u16, metrics_port: u16) -> Value {
    let local = |port: u16| format!("127.0.0.1:{port}");
    json!({
        "service": {"type": "ExternalName", "externalName": "localhost", "ports": {"api": api_port}},
        "servers": {
            "api": {"bindAddress": local(api_port), "port": api_port},
            "healthProbe": {"bindAddress": local(health_port), "port": health_port},
            "metrics": {"bindAddress": local(metrics_port), "port": metrics_port},
        },
        "controllerManager": {"insecureAllowGitHTTP": true},
        "kubeProvider": {
            "allowedGitTargets": [
                {"consumerNamespaces": {"from": "All"}, "sourceNamespaces": ["{consumer.namespace}"]},
            ],
        },
    })
}

fn merge(mut base: Value, more: &Value) -> Value {
    match (&mut base, more) {
        (Value::Object(base), Value::Object(more)) => {
            for (key, value) in more {
                let merged = merge(base.remove(key).unwrap_or(Value::Null), value);
                base.insert(key.clone(), merged);
            }
        }
        (base, more) => *base = more.clone(),
    }
    base
}

/// Installs what `helm install` would, except the Deployment, which is run by hand.
fn install(admin: &Kubectl, chart: &RenderedChart) -> Result<()> {
    let crds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../charts/gitops-reverser/crds");
    admin.run(&["apply", "--server-side", "-f", &crds.display().to_string()])?;
    admin.run(&[
        "wait",
        "--for=condition=Established",
        "crd",
        "--all",
        "--timeout=60s",
    ])?;
    admin.run(&["create", "namespace", OPERATOR_NAMESPACE])?;
    let runs_elsewhere = |object: &&Value| {
        !matches!(
            object["kind"].as_str(),
            Some("Deployment" | "PodDisruptionBudget")
        )
    };
    let items: Vec<&Value> = chart.manifests.iter().filter(runs_elsewhere).collect();
    admin.apply(&json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string())?;
    Ok(())
}
