//! Builds of small folders. What kustomize itself makes of each was recorded from its release 5.8.1.

mod features;
mod generators;
mod graph;
mod layout;
mod manifests;
mod patches;
mod suppliers;
mod transformers;

use model::files::FilesInMemory;
use model::{FolderPath, RepoPath};
use serde_json::Value;

use super::{BuildError, Issue, Render, build};

/// Makes a repository of `path` and content.
fn repository(files: &[(&str, &str)]) -> FilesInMemory {
    let files = files.iter();
    files
        .map(|(path, text)| (RepoPath::new(*path).unwrap(), text.as_bytes().to_vec()))
        .collect()
}

fn folder(path: &str) -> FolderPath {
    FolderPath::new(path).unwrap()
}

fn rendered(files: &[(&str, &str)], root: &str) -> Render {
    build(repository(files).tree(), &folder(root)).unwrap()
}

/// Builds `app` and returns the objects.
fn objects(files: &[(&str, &str)]) -> Vec<Value> {
    let render = rendered(files, "app");
    render
        .objects
        .iter()
        .map(|object| object.node.to_value())
        .collect()
}

/// Builds a kustomization that reads one file, `r.yaml`, and returns the objects.
fn of_one(kustomization: &str, manifests: &str) -> Vec<Value> {
    let kustomization = format!("resources: [r.yaml]\n{kustomization}");
    objects(&[
        ("app/kustomization.yaml", &kustomization),
        ("app/r.yaml", manifests),
    ])
}

fn refused(files: &[(&str, &str)], root: &str) -> Vec<Issue> {
    match build(repository(files).tree(), &folder(root)) {
        Ok(render) => panic!("it builds {} objects", render.objects.len()),
        Err(BuildError::Refused(issues)) => {
            assert!(!issues.is_empty());
            assert!(issues.iter().all(|issue| !issue.remedy.is_empty()));
            issues
        }
        Err(BuildError::Unreadable(error)) => panic!("{error}"),
    }
}

/// Returns the issues as `feature path:line`.
fn told(issues: &[Issue]) -> Vec<String> {
    let place = |issue: &Issue| {
        let line = issue
            .at
            .line
            .map_or(String::new(), |line| format!(":{line}"));
        format!("{} {}{line}", issue.feature, issue.at.path)
    };
    issues.iter().map(place).collect()
}

/// Builds a kustomization that reads one file, `r.yaml`, and returns its issues.
fn refused_one(kustomization: &str, manifests: &str) -> Vec<String> {
    let kustomization = format!("resources: [r.yaml]\n{kustomization}");
    told(&refused(
        &[
            ("app/kustomization.yaml", &kustomization),
            ("app/r.yaml", manifests),
        ],
        "app",
    ))
}

const CONFIG_MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n";

const DEPLOYMENT: &str = "apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 1
  template:
    spec:
      containers:
        - name: web
          image: nginx:1.0
";
