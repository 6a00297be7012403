//! The ConfigMaps of the mirrored namespace beside their documents.

use std::collections::{BTreeMap, BTreeSet};

use e2e::stage::{FOLDER, Stage, TEAM};
use serde_json::{Value, json};

/// Checks that every live object equals its document field by field, and returns the names of the documents
/// that have no object.
pub(crate) fn compare(stage: &Stage) -> BTreeSet<String> {
    let live = stage
        .admin
        .json(&["get", "configmaps", "-n", TEAM])
        .unwrap();
    let mut documents = documents(stage);
    for object in live["items"].as_array().unwrap() {
        let metadata = &object["metadata"];
        let name = metadata["name"].as_str().unwrap();
        let document = documents
            .remove(name)
            .unwrap_or_else(|| panic!("{name} has no document"));
        let wanted = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": TEAM, "labels": metadata["labels"]},
            "data": object["data"],
        });
        assert_eq!(document, wanted, "{name}");
    }
    documents.into_keys().collect()
}

/// Returns where the built-in path puts the document of an object.
pub(crate) fn path(name: &str) -> String {
    format!("{FOLDER}/team-a/configmaps/{name}.yaml")
}

fn documents(stage: &Stage) -> BTreeMap<String, Value> {
    let folder = format!("{FOLDER}/team-a/configmaps/");
    let files = stage.repository.files("main").unwrap();
    files
        .iter()
        .filter(|file| file.starts_with(&folder))
        .map(|file| {
            let text = stage.repository.file("main", file).unwrap();
            let document: Value = serde_yaml::from_str(&text).unwrap();
            (
                document["metadata"]["name"].as_str().unwrap().to_owned(),
                document,
            )
        })
        .collect()
}
