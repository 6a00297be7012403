//! A control plane, a Git server and the operator between them, started the way an installation is.
//!
//! The operator runs as its ServiceAccount with the role, the arguments and the environment that the chart
//! renders, as a process of its own without `git` on its `PATH`. Used by the tests of the whole product and
//! by the demo.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use jiff::Timestamp;
use serde_json::{Value, json};
use testkit::control_plane::ControlPlaneBuilder;
use testkit::git::{Access, GitServer, Repository};
use testkit::{ControlPlane, Kubeconfig, Kubectl, Process, Workbench, ports, wait};

use crate::chart::{self, RenderedChart};
use crate::cluster::Cluster;
use crate::conditions::Conditions;
use crate::helm::{Helm, Release};
use crate::installation::{self, Ports};
use crate::mirror::Mirror;
use crate::operator;

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
    /// The operator's ports on this machine; free ones when there are none.
    pub ports: Option<Ports>,
    /// The operator's program; the one that was built beside the running program when there is none.
    pub program: Option<PathBuf>,
}

impl Default for Setting {
    fn default() -> Self {
        Self {
            control_plane: ControlPlane::builder().audit_log(),
            seed: vec![("README.md".to_owned(), "# Platform\n".to_owned())],
            idle_timeout: "1s".to_owned(),
            prune: "OnEvent".to_owned(),
            values: json!({}),
            ports: None,
            program: None,
        }
    }
}

/// Everything that runs, in a cluster of its own or in one that somebody else runs.
pub struct Stage<C = ControlPlane> {
    /// The cluster.
    pub control_plane: C,
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
    program: PathBuf,
    operator_kubeconfig: Kubeconfig,
    operator: Option<Process>,
    starts: u32,
    started_at: Timestamp,
}

impl Stage {
    /// Starts everything: the stage, the objects of a first mirror, and the operator.
    pub fn start(setting: Setting) -> Result<Self> {
        let control_plane = setting.control_plane.clone().start()?;
        let mut stage = Self::prepare(&setting, control_plane)?;
        stage.apply_mirror(&setting)?;
        stage.start_operator()?;
        Ok(stage)
    }
}

impl<C: Cluster> Stage<C> {
    /// Starts the Git host, installs, and prepares the operator's identity; nothing of ours runs yet.
    pub fn prepare(setting: &Setting, control_plane: C) -> Result<Self> {
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
        let admin = control_plane.kubectl_of(control_plane.administrator())?;
        let ports = match setting.ports {
            Some(ports) => ports,
            None => Ports {
                api: ports::free()?,
                health: ports::free()?,
                metrics: ports::free()?,
            },
        };
        let values = chart::overlay(installation::values(ports), &setting.values);
        let release = Release {
            name: OPERATOR_NAMESPACE.to_owned(),
            namespace: OPERATOR_NAMESPACE.to_owned(),
        };
        let chart = chart::render(&Helm::new()?, &release, &values)?;
        installation::install(&admin, &chart)?;
        let operator_kubeconfig =
            control_plane.workload(OPERATOR_NAMESPACE, &chart.service_account)?;
        Ok(Self {
            control_plane,
            git,
            repository,
            chart,
            admin,
            api_port: ports.api,
            health_port: ports.health,
            metrics_port: ports.metrics,
            workbench: Workbench::new("operator")?,
            program: match &setting.program {
                Some(program) => program.clone(),
                None => operator::program()?,
            },
            operator_kubeconfig,
            operator: None,
            starts: 0,
            started_at: Timestamp::UNIX_EPOCH,
        })
    }

    /// Applies the objects of one mirror: the ConfigMaps of one namespace into one folder of `main`.
    pub fn apply_mirror(&self, setting: &Setting) -> Result<()> {
        self.apply_mirror_of(setting, &self.git.url(REPOSITORY))
    }

    /// Applies the objects of one mirror, with another way to the repository.
    pub fn apply_mirror_of(&self, setting: &Setting, url: &str) -> Result<()> {
        self.start_mirror(&self.mirror(setting, url))
    }

    /// Applies the objects of a mirror.
    pub fn start_mirror(&self, mirror: &Mirror) -> Result<()> {
        let list = json!({"apiVersion": "v1", "kind": "List", "items": mirror.objects()});
        self.admin.apply(&list.to_string()).map(drop)
    }

    /// Returns the mirror of a setting.
    pub fn mirror(&self, setting: &Setting, url: &str) -> Mirror {
        Mirror {
            idle_timeout: setting.idle_timeout.clone(),
            prune: setting.prune.clone(),
            ..Mirror::at(url)
        }
    }

    /// Asks for the conditions of an object of that namespace.
    pub fn conditions<'a>(&'a self, namespace: &'a str, object: &'a str) -> Conditions<'a> {
        Conditions {
            kubectl: &self.admin,
            namespace,
            object,
        }
    }

    /// Starts the operator's process, or starts it again after it ended.
    pub fn start_operator(&mut self) -> Result<()> {
        self.start_operator_with(&[])
    }

    /// Starts the operator's process with further arguments; the last of a flag wins.
    pub fn start_operator_with(&mut self, more: &[String]) -> Result<()> {
        self.operator = None;
        self.starts += 1;
        self.started_at = Timestamp::now();
        self.operator = Some(operator::start(
            &self.program,
            &format!("operator-{}", self.starts),
            &self.workbench,
            &self.chart,
            &self.operator_kubeconfig,
            more,
        )?);
        Ok(())
    }

    /// Returns the folder that the operator keeps its stores in.
    pub fn data_folder(&self) -> PathBuf {
        operator::data_folder(&self.workbench)
    }

    /// Returns the folder with the operator's logs.
    pub fn logs(&self) -> &Path {
        self.workbench.folder()
    }

    /// Returns the identity that the operator runs with.
    pub fn operator_kubeconfig(&self) -> &Kubeconfig {
        &self.operator_kubeconfig
    }

    /// Lets the operator use another way to the cluster from its next start on.
    pub fn set_operator_kubeconfig(&mut self, kubeconfig: Kubeconfig) {
        self.operator_kubeconfig = kubeconfig;
    }

    /// Returns when the operator was last started.
    pub fn started_at(&self) -> Timestamp {
        self.started_at
    }

    /// Returns the running operator.
    pub fn operator(&self) -> Result<&Process> {
        self.operator.as_ref().context("the operator does not run")
    }

    /// Fails, with the end of its log, when the operator no longer runs.
    pub fn check_operator(&mut self) -> Result<()> {
        let operator = self.operator.as_mut();
        operator
            .context("the operator does not run")?
            .check_running()
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

    /// Waits until a target is Ready, and shows what it says when that does not happen. After a further start
    /// that may be what the process before left: see [`Stage::wait_current`].
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

    /// Returns kubectl in the hands of a person who may edit what is mirrored.
    pub fn editor(&self, name: &str) -> Result<Kubectl> {
        self.control_plane
            .kubectl_of(&self.editor_kubeconfig(name)?)
    }

    /// Returns a kubeconfig of such a person.
    pub fn editor_kubeconfig(&self, name: &str) -> Result<Kubeconfig> {
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
        self.control_plane.newcomer(name)
    }
}
