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

/// What an API server makes of the skeletons of every kind.
pub(super) struct Answers {
    openapi: OpenApi,
    exchanges: Vec<(Kind, Vec<Exchange>)>,
}

/// An object, and what the API server makes of it. Both have the same name and namespace.
struct Exchange {
    sent: Value,
    returned: Value,
}

impl Answers {
    /// Asks an API server about every kind.
    pub(super) fn of(control_plane: &ControlPlane) -> Result<Self> {
        let openapi = OpenApi::fetch(&control_plane.as_admin()?)?;
        let mut exchanges = Vec::new();
        for kind in &openapi.kinds {
            if NOT_STORED.contains(&kind.kind.as_str()) {
                continue;
            }
            let asked = ask_about(control_plane, &openapi, kind);
            let asked = asked.with_context(|| {
                format!("cannot record {} in {}", kind.kind, kind.api_version())
            })?;
            exchanges.push((kind.clone(), asked));
        }
        Ok(Self { openapi, exchanges })
    }

    /// Returns the text of the record.
    pub(super) fn record(&self) -> Result<String> {
        let mut lines = write::Lines::default();
        for (kind, exchanges) in &self.exchanges {
            let mut found = Found::default();
            for exchange in exchanges {
                let Exchange { sent, returned } = exchange;
                compare::object(&self.openapi, kind, sent, returned, &mut found);
            }
            lines.add(kind, &found);
        }
        lines.text()
    }
}

fn ask_about(
    control_plane: &ControlPlane,
    openapi: &OpenApi,
    kind: &Kind,
) -> Result<Vec<Exchange>> {
    let Some(objects) = sent::objects(&kind.kind) else {
        return plant(control_plane, kind, skeleton::all(openapi, kind));
    };
    let kubectl = control_plane.as_admin()?;
    let exchange = |mut sent: Value| {
        sent["apiVersion"] = kind.api_version().into();
        sent["kind"] = kind.kind.as_str().into();
        let returned = sent::send(&kubectl, kind, &sent)?;
        Ok(Exchange { sent, returned })
    };
    objects.into_iter().map(exchange).collect()
}

/// Plants skeletons of a kind, and reads what the API server takes them for.
fn plant(
    control_plane: &ControlPlane,
    kind: &Kind,
    mut skeletons: Vec<Value>,
) -> Result<Vec<Exchange>> {
    let stored = STORED_ELSEWHERE
        .iter()
        .find(|(resource, _)| *resource == kind.resource);
    let stored = stored.map_or(kind.resource.as_str(), |(_, path)| path);
    let namespace = if kind.namespaced { "default/" } else { "" };
    for (index, skeleton) in skeletons.iter_mut().enumerate() {
        let name = format!("skeleton-{index}");
        skeleton["metadata"] = json!({"name": name});
        if kind.namespaced {
            skeleton["metadata"]["namespace"] = "default".into();
        }
        control_plane.plant(&format!("{stored}/{namespace}{name}"), skeleton)?;
    }
    let listed = control_plane.as_admin()?.get_raw(&kind.path())?;
    let listed: Value = serde_json::from_str(&listed).context("the list is no JSON")?;
    let items = listed["items"]
        .as_array()
        .context("the list has no items")?;
    let exchange = |sent: Value| {
        let name = &sent["metadata"]["name"];
        let found = items.iter().find(|item| item["metadata"]["name"] == *name);
        let mut returned = found
            .with_context(|| format!("the API server does not return {name}"))?
            .clone();
        // The items of a list do not say what they are.
        returned["apiVersion"] = sent["apiVersion"].clone();
        returned["kind"] = sent["kind"].clone();
        Ok(Exchange { sent, returned })
    };
    skeletons.into_iter().map(exchange).collect()
}
