//! The edit vectors: one text, one change, and the exact bytes that must come out.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of a test fail the test"
)]

use manifests::yaml;
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Vector {
    name: String,
    before: String,
    op: String,
    path: Vec<Value>,
    value: Value,
    after: Option<String>,
    #[serde(default)]
    doc: usize,
}

/// Applies the change of a vector to the value that the document has.
fn wanted(vector: &Vector, mut root: Value) -> Value {
    let (last, parents) = vector.path.split_last().unwrap();
    let mut at = &mut root;
    let steps: &[Value] = if vector.op == "append" {
        &vector.path
    } else {
        parents
    };
    for step in steps {
        at = match step {
            Value::Number(index) => &mut at[usize::try_from(index.as_u64().unwrap()).unwrap()],
            key => &mut at[key.as_str().unwrap()],
        };
    }
    let value = vector.value.clone();
    match (vector.op.as_str(), last) {
        ("append", _) => at.as_array_mut().unwrap().push(value),
        ("insert", Value::Number(index)) => {
            let index = usize::try_from(index.as_u64().unwrap()).unwrap();
            at.as_array_mut().unwrap().insert(index, value);
        }
        ("delete", Value::Number(index)) => {
            let index = usize::try_from(index.as_u64().unwrap()).unwrap();
            at.as_array_mut().unwrap().remove(index);
        }
        ("delete", key) => {
            at.as_object_mut()
                .unwrap()
                .remove(key.as_str().unwrap())
                .unwrap();
        }
        ("set" | "replace" | "add", Value::Number(index)) => {
            at[usize::try_from(index.as_u64().unwrap()).unwrap()] = value;
        }
        ("set" | "replace" | "add", key) => {
            at[key.as_str().unwrap()] = value;
        }
        (op, _) => panic!("unknown operation {op}"),
    }
    root
}

/// Runs one vector; `None` says that the edit was refused.
fn run(vector: &Vector) -> Option<String> {
    let values = yaml::values(&vector.before).ok()?;
    let wanted = wanted(vector, values[vector.doc].clone());
    yaml::edit(&vector.before, &[(vector.doc, &wanted)]).ok()
}

#[test]
fn ed_2_every_vector_gives_its_exact_bytes() {
    let text = include_str!("data/yaml-edit-vectors.json");
    let vectors: Vec<Vector> = serde_json::from_str(text).unwrap();
    let mut wrong = Vec::new();
    for vector in &vectors {
        let after = run(vector);
        if after != vector.after {
            wrong.push(format!(
                "{}\n  want {:?}\n  have {:?}",
                vector.name, vector.after, after
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} wrong:\n{}",
        wrong.len(),
        vectors.len(),
        wrong.join("\n")
    );
    assert_eq!(vectors.len(), 64);
}
