//! A cluster that somebody else runs: entered only where nothing of ours is yet, and left as it was.

use std::os::unix::process::CommandExt;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use e2e::cluster::Cluster;
use e2e::installation;
use e2e::stage::{OPERATOR_NAMESPACE, TEAM};
use serde_json::{Value, json};
use testkit::{Kubeconfig, Kubectl, Tool, Tools, Workbench};

const NAMESPACES: [&str; 2] = [OPERATOR_NAMESPACE, TEAM];
const API_SERVICE: &str = "v1alpha1.views.configbutler.ai";
/// What every object of the chart is labelled with.
const LABEL: &str = "app.kubernetes.io/name=gitops-reverser";
/// Where the chart's objects are outside its own namespace.
const OUTSIDE: [&[&str]; 2] = [
    &["clusterroles,clusterrolebindings"],
    &["rolebindings", "--namespace", "kube-system"],
];

/// How often the deletion of the kinds is asked for, each time with ten seconds to wait.
const DELETE_REQUESTS: usize = 12;

/// A cluster that somebody else runs.
pub(super) struct Existing {
    kubeconfig: Kubeconfig,
    tools: Tools,
    workbench: Workbench,
    missing_kinds: Vec<String>,
}

impl Existing {
    /// Enters the cluster, or says in one line why the demo cannot run in it.
    pub(super) fn enter(kubeconfig: &Path, tools: Tools) -> Result<Self> {
        let mut existing = Self {
            kubeconfig: Kubeconfig::existing(kubeconfig),
            tools,
            workbench: Workbench::new("existing")?,
            missing_kinds: Vec::new(),
        };
        let admin = existing.admin()?;
        existing.missing_kinds = installation::missing_kinds(&admin)
            .with_context(|| format!("cannot use the cluster of {}", kubeconfig.display()))?;
        for namespace in NAMESPACES {
            let found = admin.run(&["get", "namespace", namespace, "--ignore-not-found"])?;
            ensure!(
                found.is_empty(),
                "the namespace {namespace} exists in that cluster already, and the demo makes its own"
            );
        }
        existing.refuse_another_installation(&admin)?;
        Ok(existing)
    }

    /// Two operators would fight for the same objects.
    fn refuse_another_installation(&self, admin: &Kubectl) -> Result<()> {
        let mut found = admin.run(&["get", "apiservice", API_SERVICE, "--ignore-not-found"])?;
        for place in OUTSIDE {
            let mut arguments = vec!["get"];
            arguments.extend(place);
            arguments.extend(["-l", LABEL, "-o", "name"]);
            found.push_str(&admin.run(&arguments)?);
        }
        let present = installation::kinds()?
            .into_iter()
            .filter(|kind| !self.missing_kinds.contains(kind));
        for kind in present {
            found.push_str(&admin.run(&["get", &kind, "-A", "-o", "name"])?);
        }
        if let Some(first) = found.lines().next() {
            bail!("GitOps Reverser is used in that cluster already, there is {first}");
        }
        Ok(())
    }

    /// Deletes the branches, which a running operator lets go; without one it is done by hand.
    pub(super) fn release_branches(&self, operator_runs: bool) -> Result<()> {
        let admin = self.admin()?;
        let branches = "gitbranches.configbutler.ai";
        if installation::missing_kinds(&admin)?
            .iter()
            .any(|kind| kind == branches)
        {
            return Ok(());
        }
        let here = ["--namespace", TEAM, "-o", "name"];
        let names = admin.run(&[&["get", branches][..], &here].concat())?;
        for name in names.lines() {
            let delete = ["delete", name, "--namespace", TEAM];
            let wait = if operator_runs {
                "--timeout=30s"
            } else {
                "--wait=false"
            };
            let deleted = undisturbed(&admin, &[&delete[..], &[wait]].concat());
            if deleted.is_err() || !operator_runs {
                let free = r#"{"metadata":{"finalizers":null}}"#;
                let patch = ["--type=merge", "--patch", free];
                undisturbed(
                    &admin,
                    &[&["patch", name, "--namespace", TEAM][..], &patch].concat(),
                )?;
            }
        }
        Ok(())
    }

    /// Removes everything that the demo made; the operator has to be gone by now.
    pub(super) fn leave(&self) -> Result<()> {
        let admin = self.admin()?;
        for place in OUTSIDE {
            let mut arguments = vec!["delete"];
            arguments.extend(place);
            arguments.extend(["-l", LABEL, "--ignore-not-found"]);
            undisturbed(&admin, &arguments)?;
        }
        self.delete_kinds(&admin)?;
        let mut arguments = vec![
            "delete",
            "namespace",
            "--ignore-not-found",
            "--timeout=120s",
        ];
        arguments.extend(NAMESPACES);
        undisturbed(&admin, &arguments)
    }

    /// Deletes the kinds that the demo made.
    ///
    /// An API server that is asked for a kind's deletion while the storage of that kind still
    /// starts (`InstanceDeletionFailed`, `storage is (re)initializing`) tries again after pauses
    /// that grow to minutes. Each further request to delete makes it try at once.
    fn delete_kinds(&self, admin: &Kubectl) -> Result<()> {
        if self.missing_kinds.is_empty() {
            return Ok(());
        }
        let mut arguments = vec!["delete", "crd", "--ignore-not-found", "--timeout=10s"];
        arguments.extend(self.missing_kinds.iter().map(String::as_str));
        let mut deleted = undisturbed(admin, &arguments);
        for _ in 1..DELETE_REQUESTS {
            if deleted.is_ok() {
                break;
            }
            deleted = undisturbed(admin, &arguments);
        }
        deleted
    }

    fn admin(&self) -> Result<Kubectl> {
        self.kubectl_of(&self.kubeconfig)
    }

    /// Writes a kubeconfig that reaches the cluster as the user that `change` makes of the administrator.
    fn write(&self, name: &str, change: impl FnOnce(&mut Value)) -> Result<Kubeconfig> {
        let view = ["config", "view", "--raw", "--minify", "--flatten"];
        let mut config = self.admin()?.json(&view)?;
        let user = config
            .pointer_mut("/users/0/user")
            .context("the kubeconfig has no user")?;
        change(user);
        let path = self
            .workbench
            .write(&format!("{name}.kubeconfig"), config.to_string())?;
        Ok(Kubeconfig::existing(path))
    }
}

impl Cluster for Existing {
    fn administrator(&self) -> &Kubeconfig {
        &self.kubeconfig
    }

    fn kubectl_of(&self, kubeconfig: &Kubeconfig) -> Result<Kubectl> {
        // The home of the person, because a kubeconfig may run a program that keeps its login there.
        let home = std::env::home_dir().context("there is no home directory")?;
        Ok(Kubectl::new(
            self.tools.path(Tool::Kubectl)?,
            kubeconfig,
            home,
        ))
    }

    fn workload(&self, namespace: &str, service_account: &str) -> Result<Kubeconfig> {
        let token = self.admin()?.run(&[
            "create",
            "token",
            service_account,
            "--namespace",
            namespace,
            "--duration=24h",
        ])?;
        self.write(service_account, |user| {
            *user = json!({"token": token.trim()});
        })
    }

    fn newcomer(&self, name: &str) -> Result<Kubeconfig> {
        self.write(name, |user| user["as"] = json!(name))
    }
}

/// Runs kubectl where a second Ctrl-C at the terminal does not reach it.
fn undisturbed(kubectl: &Kubectl, arguments: &[&str]) -> Result<()> {
    let mut command = kubectl.command();
    let output = command.args(arguments).process_group(0).output();
    let output = output.context("cannot run kubectl")?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success(),
        "kubectl {} failed: {complaint}",
        arguments.join(" ")
    );
    Ok(())
}
