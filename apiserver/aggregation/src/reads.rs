//! Get and list over a snapshot: selecting, the rules of versions, and the representations.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::list_options::{Freshness, ListOptions};
use crate::negotiation::{MetaVersion, Representation};
use crate::resource::{ApiGroup, Definition, Resource};
use crate::snapshot::{Object, ObjectKey, Snapshot, Versioned};
use crate::status::Status;
use crate::table::{TableRequest, table};

/// How a read is to be answered.
#[derive(Debug, Clone, Copy)]
pub struct ReadRequest<'a> {
    /// The query.
    pub options: &'a ListOptions,
    /// The representation that was agreed on.
    pub representation: Representation,
    /// The time that ages are counted to.
    pub now: Timestamp,
}

/// Answers a list.
pub fn list(
    group: &ApiGroup,
    resource: &dyn Resource,
    namespace: Option<&str>,
    request: ReadRequest<'_>,
) -> Result<Value, Status> {
    let definition = resource.definition();
    check_fields(definition, request.options)?;
    let snapshot = snapshot_for(resource, request.options.freshness)?;
    let entries: Vec<&Versioned> = snapshot
        .in_namespace(namespace)
        .filter(|entry| selects(resource, &entry.object, request.options))
        .collect();
    let revision = snapshot.revision();
    let metadata = json!({"resourceVersion": revision.to_string()});
    Ok(match request.representation {
        Representation::Plain => json!({
            "kind": format!("{}List", definition.kind),
            "apiVersion": group.group_version(),
            "metadata": metadata,
            "items": entries
                .iter()
                .map(|entry| full_object(group, definition, entry))
                .collect::<Vec<_>>(),
        }),
        Representation::Partial(version) => json!({
            "kind": "PartialObjectMetadataList",
            "apiVersion": version.api_version(),
            "metadata": metadata,
            "items": entries
                .iter()
                .map(|entry| partial_object(entry, version))
                .collect::<Vec<_>>(),
        }),
        Representation::Table(version) => table(
            group,
            resource,
            &entries,
            revision,
            table_request(version, request),
        ),
    })
}

/// Answers a get.
pub fn get(
    group: &ApiGroup,
    resource: &dyn Resource,
    key: &ObjectKey,
    request: ReadRequest<'_>,
) -> Result<Value, Status> {
    let definition = resource.definition();
    let snapshot = snapshot_for(resource, request.options.freshness)?;
    let entry = snapshot
        .get(key)
        .ok_or_else(|| Status::object_not_found(group.name(), definition.plural, &key.name))?;
    Ok(match request.representation {
        Representation::Plain => full_object(group, definition, entry),
        Representation::Partial(version) => partial_object(entry, version),
        Representation::Table(version) => {
            let request = table_request(version, request);
            table(group, resource, &[entry], entry.revision, request)
        }
    })
}

/// Returns the object as it is.
pub fn full_object(group: &ApiGroup, definition: &Definition, entry: &Versioned) -> Value {
    let mut object = json!({
        "apiVersion": group.group_version(),
        "kind": definition.kind,
        "metadata": entry.object.metadata(entry.revision),
    });
    if let Some(object) = object.as_object_mut() {
        for (key, value) in &entry.object.body {
            object.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
    object
}

/// Returns the object's metadata alone.
pub fn partial_object(entry: &Versioned, version: MetaVersion) -> Value {
    json!({
        "kind": "PartialObjectMetadata",
        "apiVersion": version.api_version(),
        "metadata": entry.object.metadata(entry.revision),
    })
}

fn table_request(version: MetaVersion, request: ReadRequest<'_>) -> TableRequest {
    TableRequest {
        version,
        include_object: request.options.include_object,
        now: request.now,
    }
}

fn snapshot_for(resource: &dyn Resource, freshness: Freshness) -> Result<Arc<Snapshot>, Status> {
    let snapshot = resource.snapshot();
    let current = snapshot.revision();
    match freshness {
        Freshness::NotOlderThan(wanted) | Freshness::Exact(wanted) if wanted > current => {
            Err(Status::version_too_large(wanted, current))
        }
        Freshness::Exact(wanted) if wanted < current => Err(Status::expired(wanted)),
        Freshness::Any | Freshness::NotOlderThan(_) | Freshness::Exact(_) => Ok(snapshot),
    }
}

fn check_fields(definition: &Definition, options: &ListOptions) -> Result<(), Status> {
    for term in &options.fields.0 {
        let field = term.field.as_str();
        let known = ["metadata.name", "metadata.namespace"].contains(&field)
            || definition.selectable_fields.contains(&field);
        if !known {
            return Err(Status::bad_request(format!(
                "field label not supported: {field}"
            )));
        }
    }
    Ok(())
}

fn selects(resource: &dyn Resource, object: &Object, options: &ListOptions) -> bool {
    options.labels.matches(&object.labels)
        && options.fields.matches(|field| match field {
            "metadata.name" => object.key.name.clone(),
            "metadata.namespace" => object.key.namespace.clone().unwrap_or_default(),
            declared => resource.field(object, declared).unwrap_or_default(),
        })
}
