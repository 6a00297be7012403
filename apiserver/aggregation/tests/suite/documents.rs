//! The static documents, compared with files that a reviewer can read.

use std::collections::BTreeSet;
use std::path::Path;

use aggregation::openapi::Document;
use aggregation::{discovery, openapi};
use serde_json::Value;

use crate::widgets::group;

fn compare(name: &str, value: &Value) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/suite/golden")
        .join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, format!("{value:#}\n")).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    // As values: the order of keys in the text depends on what else is built beside this.
    let expected: Value = serde_json::from_str(&expected).unwrap_or_default();
    assert_eq!(
        *value, expected,
        "{name} differs; UPDATE_GOLDEN=1 rewrites it"
    );
}

#[test]
fn discovery_is_as_recorded() {
    let group = group();
    compare("groups.json", &discovery::groups(&group));
    compare("group.json", &discovery::one_group(&group));
    compare("resources.json", &discovery::resources(&group));
    compare("aggregated.json", &discovery::aggregated(&group));
}

#[test]
fn openapi_is_as_recorded() {
    let group = group();
    // The metadata schemas are the cluster's own and long; the rest is ours.
    let shorten = |mut document: Value, place: &str| {
        let schemas = document
            .pointer_mut(place)
            .and_then(Value::as_object_mut)
            .unwrap();
        for (name, schema) in schemas {
            if name.ends_with("Meta") {
                assert!(
                    schema["properties"].as_object().unwrap().len() >= 4,
                    "{name}"
                );
                *schema = Value::String("left out".to_owned());
            }
        }
        document
    };
    compare(
        "openapi-v2.json",
        &shorten(openapi::version_2(&group), "/definitions"),
    );
    compare(
        "openapi-v3.json",
        &shorten(openapi::version_3(&group), "/components/schemas"),
    );
    let index = openapi::version_3_index(&group, &Document::new(&openapi::version_3(&group)));
    let paths: Vec<&String> = index["paths"].as_object().unwrap().keys().collect();
    assert_eq!(paths, ["apis/example.test/v1"]);
}

#[test]
fn every_reference_resolves_and_every_field_is_described() {
    let group = group();
    for document in [openapi::version_2(&group), openapi::version_3(&group)] {
        let mut references = BTreeSet::new();
        collect_references(&document, &mut references);
        assert!(references.len() >= 4);
        for reference in references {
            let pointer = reference.trim_start_matches('#');
            assert!(
                document.pointer(pointer).is_some(),
                "{reference} resolves to nothing"
            );
        }
    }
    let document = openapi::version_3(&group);
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        for (field, property) in schema["properties"].as_object().unwrap() {
            assert!(
                property["description"].is_string(),
                "{name}.{field} has no description"
            );
        }
    }
}

#[test]
fn version_2_has_only_what_it_knows() {
    let text = openapi::version_2(&group()).to_string();
    for keyword in ["nullable", "oneOf", "anyOf", "#/components"] {
        assert!(!text.contains(keyword), "{keyword}");
    }
}

fn collect_references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            if let Some(Value::String(reference)) = map.get("$ref") {
                found.insert(reference.clone());
            }
            map.values()
                .for_each(|value| collect_references(value, found));
        }
        Value::Array(values) => values
            .iter()
            .for_each(|value| collect_references(value, found)),
        _ => {}
    }
}
