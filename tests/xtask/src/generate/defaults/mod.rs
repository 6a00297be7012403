//! Records what a real API server fills in, drops and spells differently, for every kind that it brings along.
//!
//! Skeletons of each kind are made from the API server's own OpenAPI documents and planted in its store; what it
//! returns for them and they do not hold are its defaults. Planted objects meet the same decoding, and so the
//! same defaults, as sent ones, but no validation: a skeleton may hold every optional part at once, all members
//! of a union included, and needs no valid values. What only the handling of a request adds (allocations,
//! admission, strategies) depends on other fields or on the cluster, and is known by name in `manifests`.
//!
//! Reading order: `schema` reads the OpenAPI documents, `skeleton` makes objects of them, `compare` finds out
//! what came back, `write` makes lines of it.

mod compare;
mod schema;
mod sent;
mod skeleton;
#[cfg(test)]
mod tests;
mod write;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use testkit::ControlPlane;

use self::compare::Found;
use self::schema::{Kind, OpenApi};

/// The generated file.
pub(super) const PATH: &str = "controllers/manifests/data/defaults.jsonl";

/// Kinds that cannot be recorded, because they are answers to questions or orders and no stored objects.
const NOT_STORED: [&str; 8] = [
    "Binding",
    "ComponentStatus",
    "LocalSubjectAccessReview",
    "SelfSubjectAccessReview",
    "SelfSubjectReview",
    "SelfSubjectRulesReview",
    "SubjectAccessReview",
    "TokenReview",
];

/// Where the store keeps a resource, when it is not under the resource's own name.
const STORED_ELSEWHERE: [(&str, &str); 5] = [
    ("endpoints", "services/endpoints"),
    ("ingresses", "ingress"),
    ("nodes", "minions"),
    ("replicationcontrollers", "controllers"),
    ("services", "services/specs"),
];

/// Returns the record of an API server.
pub(super) fn record(control_plane: &ControlPlane) -> Result<String> {
    let openapi = OpenApi::fetch(&control_plane.as_admin()?)?;
    let mut lines = write::Lines::default();
    for kind in &openapi.kinds {
        if NOT_STORED.contains(&kind.kind.as_str()) {
            continue;
        }
        let found = ask(control_plane, &openapi, kind)
            .with_context(|| format!("cannot record {} in {}", kind.kind, kind.api_version()))?;

        lines.add(kind, &found);
    }
    lines.text()
}

/// Finds out what the API server makes of a kind.
fn ask(control_plane: &ControlPlane, openapi: &OpenApi, kind: &Kind) -> Result<Found> {
    let mut found = Found::default();
    if let Some(objects) = sent::objects(&kind.kind) {
        let kubectl = control_plane.as_admin()?;
        for mut object in objects {
            object["apiVersion"] = kind.api_version().into();
            object["kind"] = kind.kind.as_str().into();
            let returned = sent::send(&kubectl, kind, &object)?;
            compare::object(openapi, kind, &object, &returned, &mut found);
        }
        return Ok(found);
    }
    let skeletons = skeleton::all(openapi, kind);
    let returned = plant(control_plane, kind, &skeletons)?;
    for (skeleton, returned) in skeletons.iter().zip(&returned) {
        compare::object(openapi, kind, skeleton, returned, &mut found);
    }
    Ok(found)
}

/// Plants skeletons of a kind, and returns what the API server reads them as.
fn plant(control_plane: &ControlPlane, kind: &Kind, skeletons: &[Value]) -> Result<Vec<Value>> {
    let stored = STORED_ELSEWHERE
        .iter()
        .find(|(resource, _)| *resource == kind.resource);
    let stored = stored.map_or(kind.resource.as_str(), |(_, path)| path);
    let namespace = if kind.namespaced { "default/" } else { "" };
    for (index, skeleton) in skeletons.iter().enumerate() {
        let mut object = skeleton.clone();
        let name = name(index);
        object["metadata"] = json!({"name": name, "uid": format!("uid-{index}")});
        if kind.namespaced {
            object["metadata"]["namespace"] = "default".into();
        }
        control_plane.plant(&format!("{stored}/{namespace}{name}"), &object)?;
    }
    let listed = control_plane.as_admin()?.get_raw(&kind.path())?;
    let listed: Value = serde_json::from_str(&listed).context("the list is no JSON")?;
    let items = listed["items"]
        .as_array()
        .context("the list has no items")?;
    let find = |index: usize| {
        let name = name(index);
        let found = items
            .iter()
            .find(|item| item["metadata"]["name"] == name.as_str());
        found
            .cloned()
            .with_context(|| format!("the API server does not return {name}"))
    };
    (0..skeletons.len()).map(find).collect()
}

fn name(index: usize) -> String {
    format!("skeleton-{index}")
}
