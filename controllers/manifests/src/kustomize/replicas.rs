//! `replicas:`.

use serde_json::Value;

use super::field_spec::{FieldSpec, Make, WrongShape};
use super::node::{Content, FileId, Node, Site, Supplier};
use super::object::{Object, Trail};
use super::parse::ReplicaEntry;

/// The kinds whose count kustomize 5.8.1 writes, whatever their group.
pub(crate) const KINDS: [&str; 4] = [
    "Deployment",
    "ReplicationController",
    "ReplicaSet",
    "StatefulSet",
];

const COUNT: FieldSpec = FieldSpec {
    group: "",
    version: "",
    kind: "",
    path: "spec/replicas",
    create: true,
};

/// Says whether an entry is for an object.
pub(crate) fn is_for(entry: &ReplicaEntry, object: &Object) -> bool {
    entry.name.value == object.name() && KINDS.contains(&object.kind())
}

/// Writes the count of an entry into an object.
pub(crate) fn scale(
    object: &mut Object,
    entry: &ReplicaEntry,
    file: FileId,
) -> Result<(), WrongShape> {
    let supplier = Supplier::Replicas(Site {
        file,
        at: entry.count.at,
    });
    let count = entry.count.value;
    let mut visit = |node: &mut Node, trail: Trail<'_>| {
        let value = match &node.content {
            // What stood in quotes stays in quotes.
            Content::Scalar(Value::String(text)) if !text.is_empty() => {
                Value::String(count.to_string())
            }
            Content::Scalar(_) => Value::from(count),
            Content::Sequence(_) | Content::Mapping(_) => {
                return Err(WrongShape::at(trail, "a number"));
            }
        };
        *node = Node::scalar(value, supplier.clone());
        Ok(())
    };
    COUNT.walk(&mut object.node, &Make::Scalar(&supplier), &mut visit)
}
