//! The built-in wording.

use std::fmt::Write as _;

use model::{Collection, Delivery, Scope};

/// How many objects the body of a message lists before it only counts the rest.
const LISTED: usize = 200;

/// Words a commit of one author's changes: a subject with the count, then one line for each object.
pub(super) fn live(entries: &[&Delivery]) -> String {
    let count = entries.len();
    let mut text = format!(
        "chore: sync {count} resource{}\n",
        if count == 1 { "" } else { "s" }
    );
    for entry in entries.iter().take(LISTED) {
        let served = entry.change.served();
        let id = entry.object_id();
        let namespace = id
            .namespace
            .as_ref()
            .map_or("_cluster", model::Namespace::as_str);
        let operation = entry.change.operation().as_str();
        let line = format!(
            "\n- [{operation}] {}/{}/{namespace}/{}",
            served.api_version(),
            served.type_id.resource,
            id.name
        );
        text.push_str(&line);
    }
    if count > LISTED {
        let _ = write!(text, "\n- and {} more", count - LISTED);
    }
    text
}

/// Words a commit of a snapshot.
pub(super) fn reconcile(collection: &Collection, changed: usize, resource_version: &str) -> String {
    let mut text = format!("chore: reconcile {changed} {}", collection.type_id.resource);
    if let Scope::Namespace(namespace) = &collection.scope {
        let _ = write!(text, " in {namespace}");
    }
    if !resource_version.is_empty() {
        let _ = write!(text, " (last resourceVersion: {resource_version})");
    }
    text
}
