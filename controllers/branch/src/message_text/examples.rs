//! Commits that a template is tried on when its target is reconciled. They have what commits differ in: one object or
//! many, of every operation, with and without namespaces, labels and an author.

use std::collections::BTreeMap;

use model::{ObjectName, Operation};

use super::WordingProblem;
use super::context::{Entry, Live, Reconcile};
use super::template::{Template, Value};

/// What the person of an example asks for. It has what could be taken for a template.
const REQUEST: &str = "Double the {{replicas}} of the shop\n\nfor the sale";

/// Tries a template for a window of live writes.
pub(super) fn try_live(field: &'static str, template: &Template) -> Result<(), WordingProblem> {
    for (example, author, entries) in windows() {
        let live = Live::new(author, &target(), entries, "");
        words(field, template, example, live.into_value())?;
    }
    Ok(())
}

/// Tries a template for a window that somebody's request attached to.
pub(super) fn try_request(field: &'static str, template: &Template) -> Result<(), WordingProblem> {
    for (example, author, entries) in windows() {
        let live = Live::new(author, &target(), entries, REQUEST);
        let text = words(field, template, example, live.into_value())?;
        if !text.contains(REQUEST) {
            return Err(WordingProblem::RequestMessageMissing { example });
        }
    }
    Ok(())
}

/// Tries a template for a snapshot.
pub(super) fn try_reconcile(
    field: &'static str,
    template: &Template,
) -> Result<(), WordingProblem> {
    let of_one = Reconcile {
        count: 1,
        target: target().to_string(),
        group: "apps".to_owned(),
        version: "v1".to_owned(),
        resource: "deployments".to_owned(),
        namespace: "shop".to_owned(),
        resource_version: "4711".to_owned(),
    };
    let of_all = Reconcile {
        count: 12,
        group: String::new(),
        version: String::new(),
        resource: String::new(),
        namespace: String::new(),
        resource_version: String::new(),
        ..of_one.clone()
    };
    let of_core = Reconcile {
        group: String::new(),
        resource: "configmaps".to_owned(),
        namespace: String::new(),
        ..of_one.clone()
    };
    for (example, snapshot) in [
        ("a snapshot of one namespace", of_one),
        ("a snapshot of all namespaces", of_core),
        ("a snapshot of a whole target", of_all),
    ] {
        words(field, template, example, snapshot.into_value())?;
    }
    Ok(())
}

fn words(
    field: &'static str,
    template: &Template,
    example: &'static str,
    value: Value,
) -> Result<String, WordingProblem> {
    match template.run(value) {
        Ok(text) if text.trim().is_empty() => Err(WordingProblem::Blank { field, example }),
        Ok(text) => Ok(text),
        Err(mut error) => {
            error.problem = format!("{} (tried on {example})", error.problem);
            Err(WordingProblem::Template { field, error })
        }
    }
}

fn target() -> ObjectName {
    ObjectName::new("shop").expect("because the text is a name")
}

fn windows() -> [(&'static str, &'static str, Vec<Entry>); 3] {
    let created = entry(Operation::Create, "apps", "deployments", "web");
    let changed = Entry {
        labels: BTreeMap::new(),
        ..entry(Operation::Update, "", "configmaps", "settings")
    };
    let of_cluster = Entry {
        namespace: "_cluster".to_owned(),
        generation: 0,
        ..entry(
            Operation::Update,
            "rbac.authorization.k8s.io",
            "clusterroles",
            "viewer",
        )
    };
    let removed = Entry {
        kind: String::new(),
        labels: BTreeMap::new(),
        generation: 0,
        ..entry(Operation::Delete, "", "services", "web")
    };
    let alone = vec![changed.clone()];
    [
        ("one new object", "alice", vec![created.clone()]),
        (
            "several objects",
            "system:serviceaccount:shop:deployer",
            vec![created, changed, of_cluster, removed],
        ),
        ("one changed object by nobody known", "", alone),
    ]
}

fn entry(operation: Operation, group: &str, resource: &str, name: &str) -> Entry {
    let labels = [("app", "web"), ("team", "shop")];
    Entry {
        operation,
        group: group.to_owned(),
        version: "v1".to_owned(),
        resource: resource.to_owned(),
        kind: "Example".to_owned(),
        namespace: "shop".to_owned(),
        name: name.to_owned(),
        resource_version: "4711".to_owned(),
        generation: 2,
        labels: labels
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into(),
    }
}
