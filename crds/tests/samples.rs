//! A sample loses nothing on the way through the types, and the complete ones hold every field.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Every sample of one of our kinds, with the path of its file.
fn samples(folder: &str) -> Vec<(PathBuf, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("samples")
        .join(folder);
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("the folder exists")
        .map(|entry| entry.expect("the folder is readable").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "yaml")
        })
        .collect();
    files.sort();
    let mut samples = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("the file is readable");
        for document in crds::yaml::documents(&text).expect("the file is YAML") {
            if document["kind"] != "Namespace" {
                samples.push((file.clone(), document));
            }
        }
    }
    samples
}

fn through<T: DeserializeOwned + Serialize>(value: &Value) -> Value {
    let typed: T = serde_json::from_value(value.clone()).expect("the object has the type's shape");
    serde_json::to_value(typed).expect("the type prints itself")
}

fn through_its_type(value: &Value) -> Value {
    let kind = value["kind"].as_str().expect("an object has a kind");
    match kind {
        "GitProvider" => through::<crds::GitProvider>(value),
        "GitBranch" => through::<crds::GitBranch>(value),
        "KubeProvider" => through::<crds::KubeProvider>(value),
        "GitTarget" => through::<crds::GitTarget>(value),
        "WatchRule" => through::<crds::WatchRule>(value),
        "ClusterWatchRule" => through::<crds::ClusterWatchRule>(value),
        "GitReceiver" => through::<crds::GitReceiver>(value),
        "CommitRequest" => through::<crds::CommitRequest>(value),
        "FluxClaim" => through::<crds::FluxClaim>(value),
        "ArgoCDClaim" => through::<crds::ArgoCDClaim>(value),
        _ => Value::String(format!("{kind} is none of the ten kinds")),
    }
}

#[test]
fn samples_lose_nothing_in_the_types() {
    for folder in ["", "complete"] {
        for (file, sample) in samples(folder) {
            assert_eq!(through_its_type(&sample), sample, "{}", file.display());
        }
    }
}

#[test]
fn both_sets_hold_all_ten_kinds() {
    let all: BTreeSet<String> = crds::all()
        .into_iter()
        .map(|crd| crd.spec.names.kind)
        .collect();
    assert_eq!(all.len(), 10);
    for folder in ["", "complete"] {
        let found: BTreeSet<String> = samples(folder)
            .iter()
            .map(|(_, sample)| sample["kind"].as_str().unwrap_or_default().to_owned())
            .collect();
        assert_eq!(found, all, "samples/{folder}");
    }
}

/// The paths of a schema's fields, list items as `[]`; what is always refused is left out.
fn schema_paths(schema: &Value, at: &str, into: &mut BTreeSet<String>) {
    if let Some(properties) = schema["properties"].as_object() {
        for (name, child) in properties {
            let refused = child["description"]
                .as_str()
                .is_some_and(|text| text.starts_with("Always refused"));
            if !refused {
                let path = format!("{at}.{name}");
                into.insert(path.clone());
                schema_paths(child, &path, into);
            }
        }
    }
    schema_paths_of_items(schema, at, into);
}

fn schema_paths_of_items(schema: &Value, at: &str, into: &mut BTreeSet<String>) {
    if schema["items"].is_object() {
        schema_paths(&schema["items"], &format!("{at}[]"), into);
    }
}

fn value_paths(value: &Value, at: &str, into: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            for (name, child) in map {
                let path = format!("{at}.{name}");
                into.insert(path.clone());
                value_paths(child, &path, into);
            }
        }
        Value::Array(items) => items
            .iter()
            .for_each(|item| value_paths(item, &format!("{at}[]"), into)),
        _ => {}
    }
}

#[test]
fn complete_samples_hold_every_settable_field() {
    let samples = samples("complete");
    for crd in crds::all() {
        let kind = &crd.spec.names.kind;
        let crd = serde_json::to_value(&crd).expect("a CRD prints itself");
        let schema = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
        let mut settable = BTreeSet::new();
        schema_paths(schema, "spec", &mut settable);
        let mut set = BTreeSet::new();
        for (_, sample) in samples
            .iter()
            .filter(|(_, sample)| sample["kind"] == **kind)
        {
            value_paths(&sample["spec"], "spec", &mut set);
        }
        let missing: Vec<&String> = settable.difference(&set).collect();
        assert!(missing.is_empty(), "the complete {kind} lacks {missing:?}");
    }
}

#[test]
fn a_grant_list_keeps_absent_and_empty_apart() {
    for list in ["allowedGitTargets", "allowedApplierClaims"] {
        let absent = json!({
            "apiVersion": "configbutler.ai/v1alpha3",
            "kind": "KubeProvider",
            "metadata": {"name": "a"},
            "spec": {"inCluster": {}},
        });
        let mut empty = absent.clone();
        empty["spec"][list] = json!([]);
        assert_eq!(through_its_type(&absent), absent);
        assert_eq!(through_its_type(&empty), empty);
    }
}

#[test]
fn a_status_keeps_an_empty_commit_and_a_zero() {
    let branch = json!({
        "apiVersion": "configbutler.ai/v1alpha3",
        "kind": "GitBranch",
        "metadata": {"name": "a"},
        "spec": {"gitProviderRef": {"name": "p"}, "branch": "main"},
        "status": {
            "conditions": [{
                "type": "Ready", "status": "False", "reason": "ParentBranchNotFound", "message": "no main",
                "lastTransitionTime": "2026-01-02T03:04:05Z", "observedGeneration": 3,
            }],
            "observedGeneration": 3,
            "repository": "git.example.org/orchard/config",
            "remote": {
                "commit": "", "lastVerifiedAt": "2026-01-02T03:04:05Z", "verifiedBy": "Fetch",
                "parent": {"state": "Unborn"},
            },
            "gitTargetCount": 0,
            "lastPushNoticeAt": "2026-01-02T03:04:05Z",
            "lastHandledReconcileAt": "now",
        },
    });
    assert_eq!(through_its_type(&branch), branch);
}

#[test]
fn no_schema_allows_null() {
    for (path, content) in crds::files() {
        assert!(!content.contains("nullable"), "{path}");
    }
}
