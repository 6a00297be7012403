//! Schemas: from Rust types, and from version 3 to version 2.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ListMeta, ObjectMeta};
use kube::core::schema::StructuralSchemaRewriter;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use schemars::transform::AddNullable;
use serde_json::{Map, Value};

/// Returns the OpenAPI 3.0 schema of a type, complete in itself, with doc comments as descriptions.
pub fn schema_of<T: JsonSchema>() -> Value {
    let generator = SchemaSettings::openapi3()
        .with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        })
        .with_transform(AddNullable::default())
        .with_transform(StructuralSchemaRewriter)
        .into_generator();
    let mut schema = Value::from(generator.into_root_schema_for::<T>());
    tidy(&mut schema);
    schema
}

pub(super) fn object_meta_schema() -> Value {
    schema_of::<ObjectMeta>()
}

pub(super) fn list_meta_schema() -> Value {
    schema_of::<ListMeta>()
}

/// Removes what says nothing to a reader of the schema.
fn tidy(schema: &mut Value) {
    visit(schema, &mut |schema| {
        schema.remove("title");
        schema.remove("$schema");
        schema.remove("components");
    });
}

/// Removes what version 2 does not know. What is left describes less, never something else.
pub(super) fn for_version_2(schema: &mut Value) {
    visit(schema, &mut |schema| {
        for keyword in [
            "nullable",
            "oneOf",
            "anyOf",
            "not",
            "examples",
            "deprecated",
            "writeOnly",
        ] {
            schema.remove(keyword);
        }
    });
}

/// Calls the function on a schema and on every schema inside it, and on nothing else: a property may
/// well be called `title`.
fn visit(schema: &mut Value, change: &mut impl FnMut(&mut Map<String, Value>)) {
    let Value::Object(keywords) = schema else {
        return;
    };
    change(keywords);
    for (keyword, value) in keywords {
        match keyword.as_str() {
            "properties" | "patternProperties" | "definitions" => {
                if let Value::Object(properties) = value {
                    properties
                        .values_mut()
                        .for_each(|property| visit(property, change));
                }
            }
            "items" | "additionalProperties" | "not" => visit(value, change),
            "allOf" | "anyOf" | "oneOf" => {
                if let Value::Array(schemas) = value {
                    schemas.iter_mut().for_each(|schema| visit(schema, change));
                }
            }
            _ => {}
        }
    }
}
