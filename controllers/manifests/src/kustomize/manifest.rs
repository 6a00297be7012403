//! The objects of a file of manifests, and why there are none.

use std::collections::VecDeque;

use model::RepoPath;
use serde_json::Value;

use super::issue::{Feature, Issue, location};
use super::node::{Content, Node, Site};

/// An object of a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Manifest {
    /// The position of its document in the file, counted from 0.
    pub(crate) document: u32,
    /// Its line.
    pub(crate) line: u32,
    /// What it says.
    pub(crate) node: Node,
}

/// What the documents of a file mean.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Manifests {
    /// The objects.
    pub(crate) list: Vec<Manifest>,
    /// Nulls that are written as nothing between braces or brackets. Kustomize writes them as empty texts.
    pub(crate) empties: Vec<Site>,
}

/// Something that kustomize would not read, or not as it looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unreadable {
    pub(crate) line: u32,
    pub(crate) field: Option<&'static str>,
    pub(crate) message: String,
    /// Whether it is a list of operations where a patch is expected.
    pub(crate) is_operations: bool,
}

/// Reports a file of manifests that cannot be read.
pub(crate) fn unreadable_manifests(path: &RepoPath, problem: Unreadable) -> Issue {
    let field = problem.field.map(str::to_owned);
    Issue::of_author(
        Feature::RenderFailed,
        location(path, problem.line, field),
        format!(
            "kustomize does not read the file as it looks: {}",
            problem.message
        ),
        "repair the file",
    )
}

/// Reports a file of manifests that is too large.
pub(crate) fn too_large(path: &RepoPath) -> Issue {
    let at = location(path, 1, None);
    let message = "the file is larger than what is read";
    Issue::of_author(Feature::RenderFailed, at, message, "split the file")
}

pub(crate) fn whole(message: &str) -> Unreadable {
    Unreadable {
        line: 1,
        field: None,
        message: message.to_owned(),
        is_operations: false,
    }
}

/// Replaces lists of objects by their items, which come behind everything else, and drops what is empty.
pub(crate) fn take_apart(
    mut found: VecDeque<(u32, u32, Node)>,
) -> Result<Vec<Manifest>, Unreadable> {
    let mut manifests = Vec::with_capacity(found.len());
    while let Some((document, line, mut node)) = found.pop_front() {
        if is_empty(&node) {
            continue;
        }
        if is_list(&node) {
            let items = node.fields_mut().and_then(|fields| fields.remove("items"));
            match items.map(|items| items.content) {
                Some(Content::Sequence(items)) => {
                    found.extend(items.into_iter().map(|item| (document, line, item)));
                }
                Some(Content::Scalar(Value::Null)) | None => {}
                Some(Content::Scalar(_) | Content::Mapping(_)) => {
                    return Err(lacking(line, "items", "the items of a list are no list"));
                }
            }
            continue;
        }
        check_identity(&node, line)?;
        manifests.push(Manifest {
            document,
            line,
            node,
        });
    }
    Ok(manifests)
}

fn is_empty(node: &Node) -> bool {
    match &node.content {
        Content::Scalar(value) => value.is_null(),
        Content::Sequence(items) => items.is_empty(),
        Content::Mapping(fields) => fields.is_empty(),
    }
}

fn is_list(node: &Node) -> bool {
    let kind = node.get("kind").and_then(Node::as_str);
    kind.is_some_and(|kind| kind.ends_with("List")) && node.get("items").is_some()
}

fn lacking(line: u32, field: &'static str, message: &str) -> Unreadable {
    Unreadable {
        line,
        field: Some(field),
        message: message.to_owned(),
        is_operations: false,
    }
}

/// Checks that an object says what it is, in words that kustomize and its readers understand alike.
fn check_identity(node: &Node, line: u32) -> Result<(), Unreadable> {
    if node.fields().is_none() {
        return Err(Unreadable {
            line,
            field: None,
            message: "the document is no Kubernetes object".to_owned(),
            is_operations: node.items().is_some(),
        });
    }
    let text = |node: Option<&Node>| -> Option<String> { Some(node?.as_str()?.to_owned()) };
    let metadata = |key: &str| node.get("metadata").and_then(|metadata| metadata.get(key));
    let of = |field: &str| match field.strip_prefix("metadata.") {
        Some(key) => metadata(key),
        None => node.get(field),
    };
    for field in ["apiVersion", "kind", "metadata.name"] {
        if text(of(field)).is_none_or(|text| text.is_empty()) {
            let message = format!("the document has no {field} that is a text");
            return Err(lacking(line, field, &message));
        }
    }
    let namespace = metadata("namespace");
    if namespace.is_some_and(|namespace| !namespace.is_null() && namespace.as_str().is_none()) {
        let message = "the namespace of the document is no text";
        return Err(lacking(line, "metadata.namespace", message));
    }
    // Kustomize keeps what an object was called in a list with commas between.
    for field in ["kind", "metadata.name", "metadata.namespace"] {
        if text(of(field)).is_some_and(|text| text.contains(',')) {
            return Err(lacking(line, field, &format!("a comma stands in {field}")));
        }
    }
    check_annotations(metadata("annotations"), line)
}

fn check_annotations(annotations: Option<&Node>, line: u32) -> Result<(), Unreadable> {
    let Some(annotations) = annotations.filter(|annotations| !annotations.is_null()) else {
        return Ok(());
    };
    let field = "metadata.annotations";
    let Some(annotations) = annotations.fields() else {
        let message = "the annotations of the document are no mapping";
        return Err(lacking(line, field, message));
    };
    match annotations.keys().find(|key| is_internal(key)) {
        Some(key) => {
            let message = format!("the annotation {key} belongs to kustomize's own bookkeeping");
            Err(lacking(line, field, &message))
        }
        None => Ok(()),
    }
}

/// Says whether kustomize would take the annotation for a note of its own.
fn is_internal(annotation: &str) -> bool {
    annotation.starts_with("internal.config.kubernetes.io/")
}
