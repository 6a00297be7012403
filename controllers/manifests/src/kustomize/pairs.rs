//! Labels and annotations that a kustomization adds: one text at several places of an object.
//!
//! What kustomize adds at several places of one object in one go stays tied together: when one of those places is
//! overwritten later, all of them are.

use serde_json::Value;

use super::field_spec::{FieldSpec, Make, WrongShape, node_at};
use super::node::{Content, Node, Supplier};
use super::object::{Object, Trail, Way};
use super::parse::Located;

/// Sets a key to a text at every field that the tables name for an object.
pub(crate) fn set(
    object: &mut Object,
    fields: &[&FieldSpec],
    key: &str,
    text: &Located<String>,
    supplier: &Supplier,
) -> Result<(), WrongShape> {
    let value = Node::scalar(text.value.clone(), supplier.clone());
    let (mut added, mut replaced) = (Vec::new(), Vec::new());
    for field in fields {
        let mut visit = |node: &mut Node, trail: Trail<'_>| match &mut node.content {
            Content::Scalar(Value::Null) => Ok(()),
            Content::Scalar(_) | Content::Sequence(_) => Err(WrongShape::at(trail, "a mapping")),
            Content::Mapping(pairs) => {
                let way = Trail::Key(&trail, key).way();
                match pairs.insert(key.to_owned(), value.clone()) {
                    Some(_) => replaced.push(way),
                    None => added.push(way),
                }
                Ok(())
            }
        };
        field.walk(&mut object.node, &Make::Mapping(supplier), &mut visit)?;
    }
    replaced.retain(|way| !added.contains(way));
    for way in &replaced {
        follow(object, way);
    }
    for tie in &mut object.ties {
        tie.retain(|way| !added.contains(way));
    }
    if added.len() > 1 {
        object.ties.push(added);
    }
    Ok(())
}

/// Gives everything that is tied to a place what stands there now.
pub(crate) fn follow(object: &mut Object, way: &Way) {
    let tied: Vec<Way> = object
        .ties
        .iter()
        .filter(|tie| tie.contains(way))
        .flatten()
        .filter(|other| *other != way)
        .cloned()
        .collect();
    if tied.is_empty() {
        return;
    }
    let Some(value) = node_at(&mut object.node, way).map(|node| node.clone()) else {
        return;
    };
    for other in tied {
        if let Some(node) = node_at(&mut object.node, &other) {
            *node = value.clone();
        }
    }
}
