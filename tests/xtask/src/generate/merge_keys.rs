//! Records which lists kustomize merges by key, from the OpenAPI that its library carries with it.

use std::process::Command;

use anyhow::{Context, Result, ensure};
use testkit::{Tool, Tools};

/// The generated file.
pub(super) const PATH: &str = "controllers/manifests/data/merge_keys.jsonl";

/// Asks the library of the kustomize that we follow and returns the text of the record.
pub(super) fn record() -> Result<String> {
    let tools = Tools::ensure(&[Tool::KustomizeOracle])?;
    let output = Command::new(tools.path(Tool::KustomizeOracle)?)
        .arg("schema")
        .output()
        .context("cannot ask kustomize's library for its schema")?;
    ensure!(
        output.status.success(),
        "kustomize's library does not give its schema: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).context("the schema of kustomize's library is no text")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repository::root;

    #[test]
    fn d29_the_merge_keys_are_those_of_kustomize() {
        let committed = std::fs::read_to_string(root().join(PATH)).unwrap();
        assert_eq!(
            record().unwrap(),
            committed,
            "run `cargo xtask generate` and look at what it changes"
        );
    }
}
