//! Objects made from a schema: valid in form, not in meaning.
//!
//! Defaults of a part show only while its parent is there, and the default of a parent only while it is not. So
//! a kind gets a skeleton for each depth, in which everything down to that depth is there and nothing below.

use manifests::plan::defaults::record::Spelling;
use serde_json::{Map, Value, json};

use super::schema::{Form, Kind, OpenApi, Scalar};

/// No kind nests deeper.
const MAX_DEPTH: usize = 30;
/// Fields that the server takes care of itself.
pub(super) const NOT_WRITTEN: [&str; 4] = ["apiVersion", "kind", "metadata", "status"];
/// What people write of the metadata of an embedded object.
const EMBEDDED_METADATA: [&str; 2] = ["annotations", "labels"];
/// A field with more choices has no default for each of them.
const MAX_CHOICES: usize = 8;

/// What a skeleton holds.
#[derive(Debug, Clone, Copy)]
struct Build {
    /// How deep optional parts are there.
    depth: usize,
    /// Whether what lies just below that depth is there and empty, instead of absent.
    empty: bool,
    /// Whether optional scalars are there and zero.
    zeros: bool,
    /// Which choice optional enumerations take; none when they are absent.
    choice: Option<usize>,
    /// Tells skeletons apart that have different values in what is required.
    seed: usize,
}

/// Returns all skeletons of a kind, without metadata.
pub(super) fn all(openapi: &OpenApi, kind: &Kind) -> Vec<Value> {
    let plain = Build {
        depth: 0,
        empty: false,
        zeros: false,
        choice: None,
        seed: 0,
    };
    let full = Build {
        depth: MAX_DEPTH,
        ..plain
    };
    let levels = (0..=MAX_DEPTH).flat_map(|depth| {
        [false, true].map(|empty| Build {
            depth,
            empty,
            ..plain
        })
    });
    let zeros = Build {
        zeros: true,
        ..full
    };
    let choices = (0..MAX_CHOICES).map(|choice| Build {
        choice: Some(choice),
        seed: choice,
        ..full
    });
    let mut skeletons: Vec<Value> = Vec::new();
    for build in levels.chain([zeros]).chain(choices) {
        let mut skeleton = Skeleton {
            openapi,
            build,
            open: Vec::new(),
        };
        let mut object = skeleton.named(&kind.schema, 0);
        object["apiVersion"] = kind.api_version().into();
        object["kind"] = kind.kind.as_str().into();
        if !skeletons.contains(&object) {
            skeletons.push(object);
        }
    }
    skeletons
}

struct Skeleton<'a> {
    openapi: &'a OpenApi,
    build: Build,
    /// The schemas around the current one: a schema that contains itself is followed once.
    open: Vec<&'a str>,
}

impl<'a> Skeleton<'a> {
    fn named(&mut self, name: &'a str, level: usize) -> Value {
        match self.openapi.named(name) {
            Form::Object {
                name,
                fields,
                required,
            } => self.object(name, fields, required, level),
            _ => json!({}),
        }
    }

    fn object(
        &mut self,
        name: Option<&'a str>,
        fields: &'a Map<String, Value>,
        required: Option<&Vec<Value>>,
        level: usize,
    ) -> Value {
        let is_required = |key: &str| required.is_some_and(|keys| keys.iter().any(|k| k == key));
        self.open.extend(name);
        let mut object = Map::new();
        for (key, schema) in fields {
            let is_metadata = name.is_some_and(|name| name.ends_with("ObjectMeta"));
            let is_written = if is_metadata {
                EMBEDDED_METADATA.contains(&key.as_str())
            } else {
                level > 0 || !NOT_WRITTEN.contains(&key.as_str())
            };
            if !is_written {
                continue;
            }
            let value = self.value(schema, level + 1, is_required(key));
            object.extend(value.map(|value| (key.clone(), value)));
        }
        if name.is_some() {
            self.open.pop();
        }
        Value::Object(object)
    }

    fn value(&mut self, schema: &'a Value, level: usize, required: bool) -> Option<Value> {
        let form = self.openapi.resolve(schema);
        if let Form::Scalar(scalar) = form {
            return self.scalar(scalar, required);
        }
        let again =
            matches!(form, Form::Object { name: Some(name), .. } if self.open.contains(&name));
        let there = level <= self.build.depth && !again;
        if !there && !required {
            let just_below = level == self.build.depth + 1 && !again && self.build.empty;
            return just_below.then(|| self.least(form, level));
        }
        Some(match form {
            Form::Object {
                name,
                fields,
                required,
            } if !again => self.object(name, fields, required, level),
            Form::List(items) if there => {
                Value::Array(self.value(items, level + 1, true).into_iter().collect())
            }
            Form::List(_) => json!([]),
            Form::Map(entries) if there => match self.value(entries, level + 1, true) {
                Some(entry) => json!({"key": entry}),
                None => json!({}),
            },
            _ => json!({}),
        })
    }

    /// Returns the emptiest value of that form.
    fn least(&mut self, form: Form<'a>, level: usize) -> Value {
        match form {
            Form::Object {
                name,
                fields,
                required,
            } => {
                let build = self.build;
                self.build.empty = false;
                let object = self.object(name, fields, required, level);
                self.build = build;
                object
            }
            Form::List(_) => json!([]),
            _ => json!({}),
        }
    }

    fn scalar(&self, scalar: Scalar<'_>, required: bool) -> Option<Value> {
        let seed = self.build.seed;
        if let (Scalar::Choice(choices), Some(choice)) = (scalar, self.build.choice) {
            return Some(choices[choice % choices.len()].clone());
        }
        if !required {
            return self.build.zeros.then(|| zero(scalar)).flatten();
        }
        Some(match scalar {
            Scalar::Text => json!(format!("text-{seed}")),
            Scalar::Choice(choices) => choices[seed % choices.len()].clone(),
            Scalar::Time => json!("2026-01-01T00:00:00.000000Z"),
            Scalar::Integer | Scalar::Number => json!(seed + 1),
            Scalar::Boolean => json!(seed % 2 == 1),
            Scalar::Spelled(Spelling::Quantity) => json!((seed + 1).to_string()),
            Scalar::Spelled(Spelling::Bytes) => json!("YQ=="),
            Scalar::Spelled(Spelling::IntOrString | Spelling::Exact) => json!(seed + 1),
        })
    }
}

/// Returns the value that a field has when nothing was said, where there is one.
fn zero(scalar: Scalar<'_>) -> Option<Value> {
    Some(match scalar {
        Scalar::Text | Scalar::Choice(_) => json!(""),
        Scalar::Integer | Scalar::Number => json!(0),
        Scalar::Boolean => json!(false),
        Scalar::Time | Scalar::Spelled(_) => return None,
    })
}
