//! What is mirrored: ConfigMaps, and the documents that a person wrote for them.

use anyhow::Result;
use e2e::api::{Api, config_map};
use e2e::stage::{FOLDER, TEAM};
use serde_json::{Value, json};

/// How the documents are spread over files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Layout {
    /// A file each, all in the folder that the built-in path names: the largest tree that a commit can touch.
    Flat,
    /// A file each, a hundred in a folder.
    Split,
    /// All in one file.
    OneFile,
}

const PER_FOLDER: usize = 100;

impl Layout {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Flat => "flat",
            Self::Split => "split",
            Self::OneFile => "one file",
        }
    }

    /// Returns the file that holds a document.
    pub(super) fn path(self, index: usize) -> String {
        match self {
            Self::Flat => format!("{FOLDER}/{TEAM}/configmaps/{}.yaml", name(index)),
            Self::Split => format!("{FOLDER}/part-{}/{}.yaml", index / PER_FOLDER, name(index)),
            Self::OneFile => format!("{FOLDER}/all.yaml"),
        }
    }

    /// Returns every file with its text.
    pub(super) fn files(self, documents: usize) -> Vec<(String, String)> {
        if self == Self::OneFile {
            let texts: Vec<String> = (0..documents).map(document).collect();
            return vec![(self.path(0), texts.join("---\n"))];
        }
        (0..documents)
            .map(|index| (self.path(index), document(index)))
            .collect()
    }
}

pub(super) fn name(index: usize) -> String {
    format!("config-{index:05}")
}

/// Returns the line of a document that an edit changes.
pub(super) fn round_line(index: usize, round: usize) -> String {
    format!("  round: \"{round}\" # of {}", name(index))
}

fn document(index: usize) -> String {
    format!(
        "# The settings of service {index}; ask the team before you change them.\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {}\n  namespace: {TEAM}\n  labels:\n    app.kubernetes.io/name: service-{index}\n    app.kubernetes.io/part-of: platform\ndata:\n  # How much is logged.\n  logLevel: info\n{}\n  endpoint: https://service-{index}.example.com/api\n  limits.conf: |\n    max-connections = 100\n    timeout = 30s\n    retries = 3\n",
        name(index),
        round_line(index, 0)
    )
}

/// Returns the object that the document describes.
pub(super) fn object(index: usize) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {
            "name": name(index), "namespace": TEAM,
            "labels": {
                "app.kubernetes.io/name": format!("service-{index}"),
                "app.kubernetes.io/part-of": "platform",
            },
        },
        "data": {
            "logLevel": "info", "round": "0",
            "endpoint": format!("https://service-{index}.example.com/api"),
            "limits.conf": "max-connections = 100\ntimeout = 30s\nretries = 3\n",
        },
    })
}

/// Changes one value of an object, and returns when the API server has it.
pub(super) fn edit(api: &Api, index: usize, round: usize) -> Result<()> {
    let patch = json!({"data": {"round": round.to_string()}});
    api.merge(&config_map(TEAM, &name(index)), &patch)
}
