//! Which lists are merged element by element, by type: the published OpenAPI that kustomize carries with it.
//!
//! The record is what `cargo xtask generate` takes from the library of the kustomize that we follow. A type that
//! stands in no line has no such list below it, and neither has a kind that is not built in.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

static BUILTIN: LazyLock<Types> = LazyLock::new(|| {
    Types::read(include_str!("../../../data/merge_keys.jsonl"))
        .expect("because a test reads the record that is compiled in")
});

/// What is known of the value at some place.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape {
    /// A mapping with these fields.
    Object(&'static Fields),
    /// A mapping whose every value is such an object.
    Map(&'static Fields),
    /// A list whose elements are merged when they agree in the keys.
    Keyed {
        keys: &'static [String],
        element: Option<&'static Fields>,
    },
    /// A list of scalars that holds each only once.
    Set,
}

impl Shape {
    /// Returns the shape of an object by its apiVersion and its kind.
    pub(super) fn of_kind(api_version: &str, kind: &str) -> Option<Self> {
        let name = format!("{api_version} {kind}");
        BUILTIN.by_kind.get(&name).map(Self::Object)
    }

    /// Returns the shape of a field.
    pub(super) fn field(self, name: &str) -> Option<Self> {
        match self {
            Self::Object(fields) => fields.get(name).map(Self::of),
            Self::Map(fields) => Some(Self::Object(fields)),
            Self::Keyed { .. } | Self::Set => None,
        }
    }

    fn of(field: &'static Field) -> Self {
        match field {
            Field::Set { .. } => Self::Set,
            Field::Keyed { keys, list } => Self::Keyed {
                keys,
                element: list.as_deref().and_then(named),
            },
            Field::Map { map } => named(map).map_or(Self::Object(&NOTHING), Self::Map),
            Field::Object { object } => Self::Object(named(object).unwrap_or(&NOTHING)),
        }
    }
}

static NOTHING: Fields = Fields::new();

fn named(name: &str) -> Option<&'static Fields> {
    BUILTIN.by_name.get(name)
}

/// The fields of a type below which a list is merged.
pub(super) type Fields = BTreeMap<String, Field>;

struct Types {
    by_name: BTreeMap<String, Fields>,
    by_kind: BTreeMap<String, Fields>,
}

/// A line of the record.
#[derive(Deserialize)]
struct Line {
    #[serde(rename = "type")]
    name: String,
    #[serde(default)]
    kinds: Vec<String>,
    fields: Fields,
}

/// What the record says of a field.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(super) enum Field {
    Object {
        object: String,
    },
    Map {
        map: String,
    },
    Keyed {
        keys: Vec<String>,
        list: Option<String>,
    },
    Set {
        #[serde(rename = "set")]
        _set: bool,
    },
}

impl Types {
    fn read(record: &str) -> Result<Self, serde_json::Error> {
        let mut by_name = BTreeMap::new();
        let mut by_kind = BTreeMap::new();
        for line in record.lines() {
            let line: Line = serde_json::from_str(line)?;
            for kind in line.kinds {
                by_kind.insert(kind, line.fields.clone());
            }
            by_name.insert(line.name, line.fields);
        }
        Ok(Self { by_name, by_kind })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_record_knows_the_lists_of_a_pod() {
        let pod = Shape::of_kind("v1", "Pod").unwrap();
        let containers = pod.field("spec").unwrap().field("containers").unwrap();
        let Shape::Keyed { keys, element } = containers else {
            panic!("{containers:?}");
        };
        assert_eq!(keys, ["name"]);
        let Some(Field::Keyed { keys, .. }) = element.unwrap().get("ports") else {
            panic!("{element:?}");
        };
        assert_eq!(keys, &["containerPort", "protocol"]);
        let finalizers = pod.field("metadata").unwrap().field("finalizers").unwrap();
        assert!(matches!(finalizers, Shape::Set));
        assert!(pod.field("spec").unwrap().field("tolerations").is_none());
    }

    #[test]
    fn what_is_not_built_in_has_no_such_list() {
        assert!(Shape::of_kind("example.com/v1", "Pod").is_none());
    }
}
