//! Our chart, rendered: what an installation would create, and how it would start the operator.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::helm::{Helm, Release};

/// The kinds that give an identity its rights, in the order in which they are applied.
const ACCESS_KINDS: [&str; 5] = [
    "ServiceAccount",
    "ClusterRole",
    "ClusterRoleBinding",
    "Role",
    "RoleBinding",
];

/// What the chart renders for one set of values.
#[derive(Clone, Debug)]
pub struct RenderedChart {
    /// Every object, the kinds in `crds/` excepted.
    pub manifests: Vec<Value>,
    /// The namespace of the release.
    pub namespace: String,
    /// The ServiceAccount that the operator runs as.
    pub service_account: String,
    /// The arguments of the operator. A caller may append some, because the last of a flag wins.
    pub args: Vec<String>,
    /// The operator's environment, without what comes from Secrets.
    pub env: BTreeMap<String, String>,
}

/// Returns the folder of the chart.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../charts/gitops-reverser")
}

/// Renders the chart.
pub fn render(helm: &Helm, release: &Release, values: &Value) -> Result<RenderedChart> {
    let text = helm.template(&folder(), release, values)?;
    RenderedChart::read(&objects(&text)?, release)
}

/// Reads a stream of YAML documents.
pub fn objects(text: &str) -> Result<Vec<Value>> {
    serde_yaml::Deserializer::from_str(text)
        .map(|document| Value::deserialize(document).context("a manifest is no YAML"))
        .filter(|object| !matches!(object, Ok(Value::Null)))
        .collect()
}

impl RenderedChart {
    fn read(manifests: &[Value], release: &Release) -> Result<Self> {
        let deployment = manifests
            .iter()
            .find(|object| object["kind"] == "Deployment")
            .context("the chart renders no Deployment")?;
        let pod = &deployment["spec"]["template"]["spec"];
        let container = &pod["containers"][0];
        let args = container["args"]
            .as_array()
            .context("the container has no arguments")?;
        Ok(Self {
            namespace: release.namespace.clone(),
            service_account: text(&pod["serviceAccountName"])?,
            args: args.iter().map(text).collect::<Result<_>>()?,
            env: environment(&container["env"], release)?,
            manifests: manifests.to_vec(),
        })
    }

    /// Returns an object, or fails when the chart does not render it.
    pub fn object(&self, kind: &str, name: &str) -> Result<&Value> {
        let is_it = |object: &&Value| object["kind"] == kind && object["metadata"]["name"] == name;
        self.manifests
            .iter()
            .find(is_it)
            .with_context(|| format!("the chart renders no {kind} {name}"))
    }

    /// Returns the ServiceAccount with its roles and bindings as one list that can be applied: everything
    /// that lets the operator run outside the cluster with the rights that it has inside.
    pub fn access(&self) -> Value {
        let of_kind = |kind: &'static str| {
            self.manifests
                .iter()
                .filter(move |object| object["kind"] == kind)
                .cloned()
        };
        let items: Vec<Value> = ACCESS_KINDS.into_iter().flat_map(of_kind).collect();
        json!({ "apiVersion": "v1", "kind": "List", "items": items })
    }
}

/// Resolves what the kubelet would resolve.
fn environment(entries: &Value, release: &Release) -> Result<BTreeMap<String, String>> {
    let mut environment = BTreeMap::new();
    for entry in entries.as_array().into_iter().flatten() {
        let name = text(&entry["name"])?;
        let source = &entry["valueFrom"];
        let value = match (
            entry["value"].as_str(),
            source["fieldRef"]["fieldPath"].as_str(),
        ) {
            (Some(value), _) => value.to_owned(),
            (None, Some("metadata.name")) => format!("{}-0", release.name),
            (None, Some("metadata.namespace")) => release.namespace.clone(),
            (None, Some(other)) => bail!("{name} comes from {other}, which only a kubelet knows"),
            (None, None) if source["secretKeyRef"].is_object() => continue,
            (None, None) => bail!("{name} has no value"),
        };
        environment.insert(name, value);
    }
    Ok(environment)
}

fn text(value: &Value) -> Result<String> {
    Ok(value
        .as_str()
        .with_context(|| format!("{value} is no text"))?
        .to_owned())
}

/// Returns the values for an operator that runs beside the cluster instead of in it: the API server reaches
/// the extension API at `localhost` and this port, and the other servers take free ports.
pub fn outside_the_cluster(api_port: u16) -> Value {
    json!({
        "service": {
            "type": "ExternalName",
            "externalName": "localhost",
            "ports": {"api": api_port},
        },
        "servers": {
            "api": {"bindAddress": format!("127.0.0.1:{api_port}"), "port": api_port},
            "healthProbe": {"bindAddress": "127.0.0.1:0"},
            "metrics": {"bindAddress": "127.0.0.1:0"},
        },
    })
}

/// Lays values over others, maps key by key, as Helm does with several files.
pub fn overlay(mut under: Value, over: &Value) -> Value {
    match (under.as_object_mut(), over.as_object()) {
        (Some(map), Some(over)) => {
            for (key, value) in over {
                let below = map.remove(key).unwrap_or(Value::Null);
                map.insert(key.clone(), overlay(below, value));
            }
            under
        }
        _ => over.clone(),
    }
}
