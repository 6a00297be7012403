//! Records which kinds a real API server brings along, each in the version that it prefers.

use anyhow::{Context, Result};
use serde::Serialize;
use serde_json::Value;
use testkit::{ControlPlane, Kubectl};

/// The generated file.
pub(super) const PATH: &str = "controllers/manifests/data/kinds.jsonl";

/// A line of the file.
#[derive(Serialize)]
struct Line<'a> {
    group: &'a str,
    resource: &'a str,
    kind: &'a str,
    version: &'a str,
    namespaced: bool,
}

/// Asks an API server and returns the text of the record. What cannot be watched is an answer or an order and no
/// stored object.
pub(super) fn record(control_plane: &ControlPlane) -> Result<String> {
    let kubectl = control_plane.as_admin()?;
    let mut versions = vec![(String::new(), "v1".to_owned())];
    let groups = get(&kubectl, "/apis")?;
    for group in items(&groups, "groups") {
        versions.push((
            text(group, "/name")?.to_owned(),
            text(group, "/preferredVersion/version")?.to_owned(),
        ));
    }
    versions.sort();
    let mut lines = String::new();
    for (group, version) in versions {
        let path = match group.as_str() {
            "" => format!("/api/{version}"),
            group => format!("/apis/{group}/{version}"),
        };
        let list = get(&kubectl, &path)?;
        let mut resources: Vec<&Value> = items(&list, "resources").filter(is_followed).collect();
        resources.sort_by_key(|resource| resource["name"].as_str());
        for resource in resources {
            let line = Line {
                group: &group,
                resource: text(resource, "/name")?,
                kind: text(resource, "/kind")?,
                version: &version,
                namespaced: resource["namespaced"] == true,
            };
            lines.push_str(&serde_json::to_string(&line)?);
            lines.push('\n');
        }
    }
    Ok(lines)
}

fn is_followed(resource: &&Value) -> bool {
    let can = |verb: &str| items(resource, "verbs").any(|known| known == verb);
    can("list") && can("watch")
}

fn get(kubectl: &Kubectl, path: &str) -> Result<Value> {
    let answer = kubectl.run(&["get", "--raw", path])?;
    serde_json::from_str(&answer).with_context(|| format!("{path} is not JSON"))
}

fn items<'a>(value: &'a Value, field: &str) -> impl Iterator<Item = &'a Value> {
    value[field].as_array().into_iter().flatten()
}

fn text<'a>(value: &'a Value, pointer: &str) -> Result<&'a str> {
    let found = value.pointer(pointer).and_then(Value::as_str);
    found.with_context(|| format!("an API server's discovery has no {pointer}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repository::root;

    #[test]
    fn d27_the_kinds_are_those_of_the_api_server() {
        let recorded = record(&ControlPlane::start().unwrap()).unwrap();
        let committed = std::fs::read_to_string(root().join(PATH)).unwrap();
        assert_eq!(
            recorded, committed,
            "run `cargo xtask generate` and look at what it changes"
        );
    }
}
