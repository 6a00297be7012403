//! A folder as people have it: a file for each object, with comments.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use model::sanitize::sanitize;
use model::{DesiredObject, FilesInMemory, LiveObject, RepoPath, ServedType, TypeId};
use serde_json::json;

pub(crate) struct Generated {
    pub(crate) files: FilesInMemory,
    pub(crate) documents: usize,
    pub(crate) bytes: usize,
}

/// How many objects share a namespace, and so a folder.
const PER_NAMESPACE: usize = 100;

pub(crate) fn generate(documents: usize) -> Generated {
    let mut files = FilesInMemory::default();
    let mut bytes = 0;
    for index in 0..documents {
        let text = text(index);
        bytes += text.len();
        let namespace = namespace(index);
        if let Ok(path) = RepoPath::new(format!("{namespace}/config-{index:05}.yaml")) {
            files.put(&path, text.as_bytes());
        }
    }
    Generated {
        files,
        documents,
        bytes,
    }
}

fn namespace(index: usize) -> String {
    format!("team-{:03}", index / PER_NAMESPACE)
}

fn text(index: usize) -> String {
    let namespace = namespace(index);
    format!(
        "# The settings of service {index}; ask the team before you change them.\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: config-{index:05}\n  namespace: {namespace}\n  labels:\n    app.kubernetes.io/name: service-{index}\n    app.kubernetes.io/part-of: platform\ndata:\n  # How much is logged.\n  logLevel: info\n  round: \"0\" # counted by hand\n  endpoint: https://service-{index}.example.com/api\n  limits.conf: |\n    max-connections = 100\n    timeout = 30s\n    retries = 3\n"
    )
}

/// Returns the object of a document. Round 0 is what the document says.
pub(crate) fn config_map(index: usize, round: usize) -> Result<Arc<DesiredObject>> {
    let value = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {
            "name": format!("config-{index:05}"), "namespace": namespace(index), "uid": format!("uid-{index}"),
            "resourceVersion": round.to_string(),
            "labels": {"app.kubernetes.io/name": format!("service-{index}"), "app.kubernetes.io/part-of": "platform"},
        },
        "data": {
            "logLevel": "info", "round": round.to_string(),
            "endpoint": format!("https://service-{index}.example.com/api"),
            "limits.conf": "max-connections = 100\ntimeout = 30s\nretries = 3\n",
        },
    });
    let live = LiveObject {
        served: Arc::new(ServedType {
            type_id: TypeId::new("", "configmaps"),
            version: "v1".to_owned(),
            kind: "ConfigMap".to_owned(),
            namespaced: true,
            sensitive: false,
        }),
        value: value.as_object().context("no object")?.clone(),
    };
    sanitize(&live)
        .map(Arc::new)
        .map_err(|left_out| anyhow::anyhow!("{left_out:?}"))
}
