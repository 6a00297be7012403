//! What `helm install` would do for an operator that runs on this machine: kinds, rights, objects.

use std::fs;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use testkit::Kubectl;

use crate::chart::{self, RenderedChart};

/// The ports of the operator on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ports {
    /// The extension API.
    pub api: u16,
    /// The probes.
    pub health: u16,
    /// The metrics.
    pub metrics: u16,
}

/// The values of an installation whose operator runs outside the cluster, on this machine.
pub(crate) fn values(ports: Ports) -> Value {
    let local = |port: u16| json!({"bindAddress": format!("127.0.0.1:{port}"), "port": port});
    let more = json!({
        "servers": {"healthProbe": local(ports.health), "metrics": local(ports.metrics)},
        "controllerManager": {"insecureAllowGitHTTP": true},
        "kubeProvider": {
            "allowedGitTargets": [
                {"consumerNamespaces": {"from": "All"}, "sourceNamespaces": ["{consumer.namespace}"]},
            ],
        },
    });
    chart::overlay(chart::outside_the_cluster(ports.api), &more)
}

/// Installs the kinds that are missing and everything of the chart except what only a node can run.
pub(crate) fn install(admin: &Kubectl, chart: &RenderedChart) -> Result<()> {
    for crd in missing_kinds(admin)? {
        let file = chart::folder().join("crds").join(file_of(&crd));
        admin.run(&["apply", "--server-side", "-f", &file.display().to_string()])?;
    }
    let mut wait = [
        "wait",
        "--for=condition=Established",
        "--timeout=60s",
        "crd",
    ]
    .map(str::to_owned)
    .to_vec();
    wait.extend(kinds()?);
    admin.run(&wait)?;
    admin.run(&["create", "namespace", &chart.namespace])?;
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

/// Returns the names of our CustomResourceDefinitions that the cluster does not have.
pub fn missing_kinds(admin: &Kubectl) -> Result<Vec<String>> {
    let present = admin.run(&["get", "crds", "-o", "name"])?;
    let is_missing = |crd: &String| {
        let listed = format!("customresourcedefinition.apiextensions.k8s.io/{crd}");
        present.lines().all(|line| line != listed)
    };
    Ok(kinds()?.into_iter().filter(is_missing).collect())
}

/// Returns the names of our CustomResourceDefinitions; the chart has one file for each.
pub fn kinds() -> Result<Vec<String>> {
    let folder = chart::folder().join("crds");
    let failed = || format!("cannot list {}", folder.display());
    let mut kinds = Vec::new();
    for entry in fs::read_dir(&folder).with_context(failed)? {
        let name = entry.with_context(failed)?.file_name();
        let plural = name.to_string_lossy();
        let plural = plural.strip_suffix(".yaml").with_context(failed)?;
        kinds.push(format!("{plural}{GROUP}"));
    }
    kinds.sort();
    Ok(kinds)
}

const GROUP: &str = ".configbutler.ai";

fn file_of(crd: &str) -> String {
    format!("{}.yaml", crd.trim_end_matches(GROUP))
}
