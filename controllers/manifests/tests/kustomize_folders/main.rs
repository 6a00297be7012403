//! Kustomize folders as people write them: odd spellings, several documents and builds, namespaces, secrets, and
//! batches that want several things of one kustomization.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test reports a failure by panicking"
)]

mod batches;
mod namespaces;
mod nested;
mod sealed;
mod spelling;
#[path = "../support/mod.rs"]
mod support;

use manifests::Intent;
use support::{Bed, id};

const ROOT: &str = "apps/kustomization.yaml";

const WEB: &str = "\
apiVersion: apps/v1
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

/// The live Deployment.
fn web(replicas: u32, image: &str) -> String {
    let text = WEB.replace("  name: web\nspec", "  name: web\n  namespace: demo\nspec");
    let text = text.replace("replicas: 1", &format!("replicas: {replicas}"));
    text.replace("nginx:1.0", image)
}

/// A live ConfigMap.
fn config(name: &str, value: &str) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  namespace: demo\ndata:\n  key: {value}\n"
    )
}

/// Its document where the kustomization gives the namespace.
fn bare(name: &str, value: &str) -> String {
    config(name, value).replace("  namespace: demo\n", "")
}

fn removal(name: &str) -> Intent {
    Intent::Remove {
        id: id("", "configmaps", name),
    }
}

/// A folder that is one kustomization of this text, over a Deployment and two ConfigMaps in one file.
fn folder(root: &str) -> Bed {
    Bed::new().with(ROOT, root).with("apps/web.yaml", WEB).with(
        "apps/all.yaml",
        &format!("{}---\n{}", bare("a", "x"), bare("b", "x")),
    )
}
