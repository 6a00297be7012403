//! The one place of this crate that knows a YAML library.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde::de::Deserialize;
use serde_json::Value;

/// The first line of every generated file.
const HEADER: &str =
    "# Generated from the Rust types in crds/src by `cargo xtask generate`; do not edit.\n";

/// Prints a CRD, always in the same bytes.
pub fn print(crd: &CustomResourceDefinition) -> String {
    let body = serde_yaml::to_string(crd).expect("because a CRD is plain data with string keys");
    format!("{HEADER}---\n{body}")
}

/// Reads every document of a YAML text; an empty document is left out.
///
/// # Errors
/// Returns what the YAML library says about the first document that it cannot read.
pub fn documents(text: &str) -> Result<Vec<Value>, InvalidYaml> {
    let mut documents = Vec::new();
    for document in serde_yaml::Deserializer::from_str(text) {
        let value = Value::deserialize(document).map_err(InvalidYaml)?;
        if !value.is_null() {
            documents.push(value);
        }
    }
    Ok(documents)
}

/// A text that is no YAML.
#[derive(Debug, thiserror::Error)]
#[error("not valid YAML")]
pub struct InvalidYaml(#[source] serde_yaml::Error);
