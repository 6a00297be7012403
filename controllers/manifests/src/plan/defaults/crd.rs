//! The defaults of a custom kind, read from the structural schema of its CRD.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::TypeId;
use serde_json::{Map, Value};

use super::shape::{Shape, Slot, Spelling};

/// Schemas nest no deeper than the API server allows objects to; a hostile one is cut off here.
const MAX_DEPTH: usize = 64;

/// Returns the shapes of the kind in each version that is served. A version whose schema has no defaults is
/// there too, with an empty shape: its fields are known to have none.
pub(super) fn shapes(crd: &Value) -> Option<(TypeId, BTreeMap<String, Arc<Shape>>)> {
    let text = |pointer: &str| crd.pointer(pointer).and_then(Value::as_str);
    if text("/kind") != Some("CustomResourceDefinition") {
        return None;
    }
    let type_id = TypeId::new(text("/spec/group")?, text("/spec/names/plural")?);
    let versions = crd.pointer("/spec/versions")?.as_array()?;
    let served = versions
        .iter()
        .filter(|version| version.get("served") != Some(&Value::Bool(false)));
    let shapes = served.filter_map(|version| {
        let name = version.get("name")?.as_str()?;
        let schema = version.pointer("/schema/openAPIV3Schema");
        let shape = schema.map(root).unwrap_or_default();
        Some((name.to_owned(), Arc::new(shape)))
    });
    Some((type_id, shapes.collect()))
}

/// Returns the shape of a whole object.
pub(super) fn root(schema: &Value) -> Shape {
    let mut shape = shape(schema, MAX_DEPTH);
    // The server takes care of these itself, whatever the schema says.
    for key in ["apiVersion", "kind", "metadata", "status"] {
        shape.fields.remove(key);
    }
    shape
}

fn shape(schema: &Value, depth: usize) -> Shape {
    if depth == 0 {
        return Shape::default();
    }
    let known = |schema: &Value| Some(slot(schema, depth - 1)).filter(|slot| !slot.is_empty());
    let properties = schema.get("properties").and_then(Value::as_object);
    Shape {
        name: String::new(),
        fields: properties
            .into_iter()
            .flatten()
            .filter_map(|(key, schema)| Some((key.clone(), known(schema)?)))
            .collect(),
        items: schema.get("items").and_then(known),
        entries: schema.get("additionalProperties").and_then(known),
    }
}

fn slot(schema: &Value, depth: usize) -> Slot {
    let below = shape(schema, depth);
    let default = schema.get("default").map(|default| {
        let mut default = default.clone();
        fill(&mut default, &below);
        default
    });
    let int_or_string = schema.get("x-kubernetes-int-or-string") == Some(&Value::Bool(true));
    Slot {
        default,
        dropped: false,
        spelling: if int_or_string {
            Spelling::IntOrString
        } else {
            Spelling::Exact
        },
        below: (!below.is_empty()).then(|| Arc::new(below)),
    }
}

/// Fills the defaults in that lie inside of a value, as the server does with a default that it filled in.
fn fill(value: &mut Value, shape: &Shape) {
    match value {
        Value::Object(map) => {
            for (key, slot) in &shape.fields {
                fill_field(map, key, slot);
            }
            for (key, value) in map.iter_mut() {
                let slot = shape.field(key);
                if let Some(below) = slot.and_then(|slot| slot.below.as_ref()) {
                    fill(value, below);
                }
            }
        }
        Value::Array(items) => {
            let below = shape.items.as_ref().and_then(|slot| slot.below.as_ref());
            for (item, below) in items.iter_mut().zip(below.into_iter().cycle()) {
                fill(item, below);
            }
        }
        _ => {}
    }
}

fn fill_field(map: &mut Map<String, Value>, key: &str, slot: &Slot) {
    if let (None, Some(default)) = (map.get(key), &slot.default) {
        map.insert(key.to_owned(), default.clone());
    }
}
