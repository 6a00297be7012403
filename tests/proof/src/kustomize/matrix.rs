//! Folders for every combination of what one feature depends on.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::archive::{self, Files};

/// Kinds as kustomize's transformers know or do not know them.
const KINDS: [(&str, &str); 25] = [
    ("v1", "Namespace"),
    ("v1", "ConfigMap"),
    ("v1", "Service"),
    ("v1", "ServiceAccount"),
    ("v1", "PersistentVolume"),
    ("v1", "PersistentVolumeClaim"),
    ("v1", "Node"),
    ("apps/v1", "Deployment"),
    ("batch/v1", "CronJob"),
    ("rbac.authorization.k8s.io/v1", "ClusterRole"),
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"),
    ("rbac.authorization.k8s.io/v1", "Role"),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
    ("apiregistration.k8s.io/v1", "APIService"),
    ("storage.k8s.io/v1", "StorageClass"),
    ("storage.k8s.io/v1", "CSIStorageCapacity"),
    ("scheduling.k8s.io/v1", "PriorityClass"),
    ("networking.k8s.io/v1", "IngressClass"),
    ("networking.k8s.io/v1", "NetworkPolicy"),
    ("flowcontrol.apiserver.k8s.io/v1", "FlowSchema"),
    (
        "admissionregistration.k8s.io/v1",
        "ValidatingAdmissionPolicy",
    ),
    ("gateway.networking.k8s.io/v1", "GatewayClass"),
    ("cert-manager.io/v1", "ClusterIssuer"),
    ("example.com/v1", "Widget"),
    ("policy/v1beta1", "PodSecurityPolicy"),
];

/// Every kind without a namespace, with the one that is set, and with another.
pub fn namespaces() -> Vec<Files> {
    let mut folders = Vec::new();
    for (api_version, kind) in KINDS {
        for namespace in ["", ", namespace: new", ", namespace: old"] {
            folders.push(archive::files(&format!(
                "== kustomization.yaml\nnamespace: new\nresources: [all.yaml]\n== all.yaml\n\
                 apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: one{namespace}}}\n"
            )));
        }
    }
    folders
}

const DIGEST: &str = "sha256:0123456789012345678901234567890123456789012345678901234567890123";

/// References to images as they are in manifests.
const REFERENCES: [&str; 20] = [
    "web",
    "web:1",
    "web:1.2.3-alpine_x",
    "web:1+build",
    "web:${TAG}",
    "web:",
    "webs",
    "my-web:1",
    "web/web:1",
    "library/web:1",
    "docker.io/library/web:1",
    "registry.example.com/web",
    "registry.example.com:5000/web",
    "registry.example.com:5000/web:1",
    "registry.example.com:5000/team/web:1",
    "localhost:5000/web",
    "web@DIGEST",
    "web:1@DIGEST",
    "registry.example.com:5000/web:1@DIGEST",
    "WEB:1",
];

/// Entries of `images:`, without the braces.
const ENTRIES: [&str; 15] = [
    "name: web, newTag: \"2\"",
    "name: web, newName: front",
    "name: web, newName: front, newTag: v2",
    "name: web, digest: \"DIGEST\"",
    "name: web, newTag: v2, digest: \"DIGEST\"",
    "name: web, newName: \"registry.example.com:5000/front\"",
    "name: \"we.\", newTag: v2",
    "name: \".*\", newTag: v2",
    "name: \"web:1\", newTag: v2",
    "name: registry.example.com/web, newTag: v2",
    "name: \"registry.example.com:5000/web\", newName: web",
    "name: \"\", newTag: v2",
    "name: other, newTag: v2",
    "name: web",
    "name: \"(web|library/web)\", newName: both, newTag: v3",
];

/// Every reference under every entry, and under every two of them.
pub fn images() -> Vec<Files> {
    let containers: Vec<String> = REFERENCES
        .iter()
        .enumerate()
        .map(|(at, reference)| format!("{{name: c{at}, image: \"{reference}\"}}"))
        .collect();
    let containers = containers.join(", ").replace("DIGEST", DIGEST);
    let folder = |entries: &[&str]| {
        let entries: Vec<String> = entries.iter().map(|entry| format!("{{{entry}}}")).collect();
        let entries = entries.join(", ").replace("DIGEST", DIGEST);
        archive::files(&format!(
            "== kustomization.yaml\nresources: [all.yaml]\nimages: [{entries}]\n== all.yaml\n\
             apiVersion: v1\nkind: Pod\nmetadata: {{name: one}}\nspec: {{containers: [{containers}]}}\n"
        ))
    };
    let mut folders: Vec<Files> = ENTRIES.iter().map(|entry| folder(&[entry])).collect();
    for first in ENTRIES {
        folders.extend(ENTRIES.iter().map(|second| folder(&[first, second])));
    }
    folders
}

/// Kinds with places for labels: the way to each place, as it is nested in the document.
const LABELLED: [(&str, &str, &str); 14] = [
    (
        "apps/v1",
        "Deployment",
        "spec: {SELECTOR template: {metadata: {labels: {k: v}}, spec: {POD}}}",
    ),
    (
        "apps/v1",
        "StatefulSet",
        "spec: {SELECTOR template: {metadata: {}, spec: {POD}}, volumeClaimTemplates: [{metadata: {name: v}}]}",
    ),
    (
        "apps/v1",
        "DaemonSet",
        "spec: {SELECTOR template: {metadata: {labels: {k: v}}}}",
    ),
    (
        "apps/v1",
        "ReplicaSet",
        "spec: {SELECTOR template: {metadata: {labels: {k: v}}}}",
    ),
    (
        "v1",
        "ReplicationController",
        "spec: {PLAIN template: {metadata: {labels: {k: v}}}}",
    ),
    (
        "batch/v1",
        "Job",
        "spec: {SELECTOR template: {metadata: {labels: {k: v}}}}",
    ),
    (
        "batch/v1",
        "CronJob",
        "spec: {jobTemplate: {metadata: {}, spec: {SELECTOR template: {metadata: {labels: {k: v}}, spec: {POD}}}}}",
    ),
    ("v1", "Pod", "spec: {POD}"),
    ("v1", "Service", "spec: {PLAIN ports: []}"),
    (
        "policy/v1",
        "PodDisruptionBudget",
        "spec: {SELECTOR minAvailable: 1}",
    ),
    (
        "networking.k8s.io/v1",
        "NetworkPolicy",
        "spec: {podSelector: {matchLabels: {k: v}}, ingress: [{from: [{podSelector: {matchLabels: {k: v}}}]}]}",
    ),
    (
        "v1",
        "PodTemplate",
        "template: {metadata: {labels: {k: v}}}",
    ),
    (
        "argoproj.io/v1alpha1",
        "Rollout",
        "spec: {SELECTOR template: {metadata: {labels: {k: v}}}}",
    ),
    ("v1", "ConfigMap", "data: {a: b}"),
];

/// What writes labels and annotations.
const LABELLERS: [&str; 6] = [
    "labels: [{pairs: {new: label}}]",
    "labels: [{pairs: {new: label}, includeTemplates: true}]",
    "labels: [{pairs: {new: label}, includeSelectors: true}]",
    "labels: [{pairs: {new: label}, includeSelectors: true, includeTemplates: true}]",
    "commonLabels: {new: label, k: other}",
    "commonAnnotations: {new: annotation}",
];

const AFFINITY: &str = "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: \
     [{topologyKey: t, labelSelector: {matchLabels: {k: v}}}]}}, topologySpreadConstraints: [{maxSkew: 1, \
     topologyKey: t, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {k: v}}}]";

/// Every kind under every labeller, with a selector and without.
pub fn labels() -> Vec<Files> {
    let mut folders = Vec::new();
    for (api_version, kind, body) in LABELLED {
        for labeller in LABELLERS {
            for is_selected in [true, false] {
                let (selector, plain, pod) = if is_selected {
                    (
                        "selector: {matchLabels: {k: v}},",
                        "selector: {k: v},",
                        AFFINITY,
                    )
                } else {
                    ("", "", "")
                };
                let body = body.replace("SELECTOR", selector);
                let body = body.replace("PLAIN", plain).replace("POD", pod);
                folders.push(archive::files(&format!(
                    "== kustomization.yaml\nresources: [all.yaml]\n{labeller}\n== all.yaml\n\
                     apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: one}}\n{body}\n"
                )));
            }
        }
    }
    folders
}

/// Scalars that readers disagree about.
const SCALARS: [&str; 60] = [
    "yes",
    "no",
    "on",
    "off",
    "y",
    "n",
    "Y",
    "NO",
    "true",
    "True",
    "TRUE",
    "false",
    "null",
    "Null",
    "~",
    "0",
    "1",
    "-1",
    "+1",
    "0777",
    "08",
    "0o777",
    "0x1F",
    "0b101",
    "1_000",
    "1__0",
    "12:30",
    "190:20:30",
    "1.0",
    "1.",
    ".5",
    "-.5",
    "1e3",
    "1E3",
    "1e+3",
    "1e-3",
    "1.5e10",
    "1e400",
    ".inf",
    "-.inf",
    ".nan",
    "2001-01-01",
    "2001-01-01T00:00:00Z",
    "2001-01-01T10:00:00.5+02:00",
    "2001-1-1",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551616",
    "123456789012345678901234",
    "0.1",
    "0.10",
    "100000000000000000000.0",
    "1.0e6",
    "1000000.0",
    "12345678.9",
    "=",
    "<<",
    "text",
    "v1.0",
    "0xZZ",
];

/// Where each of them is put.
const PLACES: [&str; 5] = [
    "metadata:\n  name: one\n  annotations:\n    a: SCALAR\n",
    "metadata:\n  name: one\n  labels:\n    a: SCALAR\n",
    "metadata:\n  name: one\nspec:\n  a: SCALAR\n  list:\n  - SCALAR\n",
    "metadata:\n  name: one\nspec: {a: SCALAR, b: [SCALAR]}\n",
    "metadata:\n  name: one\nspec:\n  SCALAR: a\n",
];

/// Every scalar, plain and quoted, in every place.
pub fn scalars() -> Vec<Files> {
    let mut folders = Vec::new();
    for scalar in SCALARS {
        for written in [scalar.to_owned(), format!("'{scalar}'")] {
            folders.extend(PLACES.map(|place| {
                let place = place.replace("SCALAR", &written);
                archive::files(&format!(
                    "== kustomization.yaml\nresources: [all.yaml]\n== all.yaml\n\
                     apiVersion: example.com/v1\nkind: Widget\n{place}"
                ))
            }));
        }
    }
    folders
}

/// The record of which lists are merged by what.
const MERGE_KEYS: &str = "../../controllers/manifests/data/merge_keys.jsonl";
/// Deeper lists are lists of the same types again.
const MAX_DEPTH: usize = 9;

/// A line of the record.
#[derive(Deserialize)]
struct Line {
    #[serde(rename = "type")]
    name: String,
    #[serde(default)]
    kinds: Vec<String>,
    fields: BTreeMap<String, Field>,
}

#[derive(Deserialize)]
struct Field {
    object: Option<String>,
    list: Option<String>,
    #[serde(default)]
    keys: Vec<String>,
}

/// A step of a way to a list: the key, and what tells the elements apart where there are any.
type Way = Vec<(String, Vec<String>)>;

/// Every list of every built-in kind that is merged by keys: two elements, patched by one of them and a new one.
///
/// # Errors
/// Returns that the record cannot be read.
pub fn merged_lists() -> Result<Vec<Files>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(MERGE_KEYS);
    let record = fs::read_to_string(&path).with_context(|| format!("cannot read {MERGE_KEYS}"))?;
    let lines: Vec<Line> = record
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()
        .with_context(|| format!("cannot understand {MERGE_KEYS}"))?;
    let types: BTreeMap<&str, &Line> = lines
        .iter()
        .map(|line| (line.name.as_str(), line))
        .collect();
    let mut folders = Vec::new();
    for line in &lines {
        let mut ways = Vec::new();
        find_lists(line, &types, &mut Way::new(), &mut ways);
        for kind in line
            .kinds
            .iter()
            .filter(|kind| !kind.ends_with(" Kustomization"))
        {
            folders.extend(ways.iter().map(|way| patched_list(kind, way)));
        }
    }
    Ok(folders)
}

fn find_lists(line: &Line, types: &BTreeMap<&str, &Line>, way: &mut Way, found: &mut Vec<Way>) {
    for (key, field) in &line.fields {
        way.push((key.clone(), field.keys.clone()));
        if !field.keys.is_empty() {
            found.push(way.clone());
        }
        let below = field.object.as_deref().or(field.list.as_deref());
        if let Some(below) = below.and_then(|below| types.get(below))
            && way.len() < MAX_DEPTH
        {
            find_lists(below, types, way, found);
        }
        way.pop();
    }
}

fn patched_list(kind: &str, way: &Way) -> Files {
    let object = |elements: [(&str, &str); 2]| {
        let last = way
            .last()
            .map(|(_, keys)| keys.as_slice())
            .unwrap_or_default();
        let elements = elements.map(|(name, content)| {
            let mut element = element(last, name);
            element.insert("content".to_owned(), content.into());
            Value::Object(element)
        });
        let mut value = Value::from(elements.to_vec());
        for (at, (key, _)) in way.iter().enumerate().rev() {
            let mut around = match at.checked_sub(1).map(|above| way[above].1.as_slice()) {
                Some(keys) if !keys.is_empty() => element(keys, "same"),
                _ => Map::new(),
            };
            around.insert(key.clone(), value);
            value = match at.checked_sub(1) {
                Some(above) if !way[above].1.is_empty() => Value::from(vec![Value::Object(around)]),
                _ => Value::Object(around),
            };
        }
        let (api_version, kind) = kind.split_once(' ').unwrap_or(("v1", kind));
        value["apiVersion"] = api_version.into();
        value["kind"] = kind.into();
        value["metadata"]["name"] = "it".into();
        value.to_string()
    };
    let base = object([("a", "base"), ("b", "base")]);
    let patch = object([("b", "patch"), ("c", "patch")]);
    archive::files(&format!(
        "== kustomization.yaml\nresources: [base.json]\npatches: [{{path: patch.json}}]\n\
         == base.json\n{base}\n== patch.json\n{patch}\n"
    ))
}

fn element(keys: &[String], name: &str) -> Map<String, Value> {
    let keys = keys.iter().enumerate();
    // Only the first key differs.
    let text = |at| if at == 0 { name } else { "other" };
    keys.map(|(at, key)| (key.clone(), Value::from(text(at))))
        .collect()
}

/// References that lead out of the repository.
const REMOTE: [&str; 40] = [
    "https://example.com/x",
    "https://github.com/org/repo",
    "https://github.com/org/repo//path?ref=v1",
    "http://example.com/x.yaml",
    "ssh://git@example.com/org/repo",
    "ssh://example.com/org/repo.git",
    "git://example.com/org/repo",
    "git::https://example.com/org/repo",
    "git::ssh://git@example.com/org/repo",
    "git::example.com/org/repo",
    "git@github.com:org/repo",
    "git@github.com:org/repo.git",
    "git@example.com:org/repo//path",
    "user@example.com:org/repo",
    "github.com/org/repo",
    "github.com/org/repo?ref=v1",
    "github.com/org/repo//path",
    "github.com:org/repo",
    "gitlab.com/org/repo",
    "bitbucket.org/org/repo",
    "example.com/org/repo.git",
    "example.com/org/repo.git//path?ref=v1",
    "example.com:org/repo",
    "host:a/b",
    "file:///tmp/repo",
    "file:///tmp/repo//path",
    "s3::https://example.com/x",
    "s3://bucket/x",
    "gcs://bucket/x",
    "oci://example.com/x",
    "hg::https://example.com/x",
    "org/repo.git",
    "repo.git",
    "repo?ref=v1",
    "repo?version=v1",
    "repo//path?ref=v1",
    "dev.azure.com/org/project/_git/repo",
    "https://dev.azure.com/org/project/_git/repo",
    "https://user@dev.azure.com/org/project/_git/repo",
    "raw.githubusercontent.com/org/repo/main/x.yaml",
];

/// A folder that names each of them among its resources.
pub fn remote() -> Vec<Files> {
    let folders = REMOTE.iter().map(|reference| {
        archive::files(&format!(
            "== kustomization.yaml\nresources: [\"{reference}\"]\n"
        ))
    });
    folders.collect()
}
