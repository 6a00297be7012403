//! The OpenAPI documents, in version 3 (one per group) and version 2 (one for all).
//!
//! They are real, if small: the aggregation layer merges them into the cluster's own every minute,
//! and one broken document breaks the merge for everybody. They name nothing but this group's paths
//! and schemas. Shared schemas carry a prefix of this group, so that none takes the place of, or
//! collides with, a schema of the cluster.

mod schema;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

pub use schema::schema_of;

use crate::resource::{ApiGroup, Definition, Scope, Verb};
use schema::{for_version_2, list_meta_schema, object_meta_schema};

/// A static JSON document with the tag by which clients ask whether it changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// The JSON text.
    pub body: bytes::Bytes,
    /// A digest of the text, without quotes.
    pub tag: String,
}

impl Document {
    /// Renders a document.
    pub fn new(value: &Value) -> Self {
        let text = value.to_string();
        let tag = Sha256::digest(text.as_bytes())
            .iter()
            .map(|byte| format!("{byte:02X}"))
            .collect();
        Self {
            body: text.into(),
            tag,
        }
    }

    /// Returns the tag as headers carry it.
    pub fn etag(&self) -> String {
        format!("\"{}\"", self.tag)
    }
}

/// Returns the path of the version 3 document of the group.
pub fn version_3_path(group: &ApiGroup) -> String {
    format!("/openapi/v3/apis/{}", group.group_version())
}

/// Returns the index of version 3 documents. It lists this group alone: an entry for another group
/// would take that group's place in the whole cluster.
pub fn version_3_index(group: &ApiGroup, document: &Document) -> Value {
    let url = format!("{}?hash={}", version_3_path(group), document.tag);
    let mut paths = Map::new();
    paths.insert(
        format!("apis/{}", group.group_version()),
        json!({"serverRelativeURL": url}),
    );
    json!({"paths": paths})
}

/// Returns the version 3 document.
pub fn version_3(group: &ApiGroup) -> Value {
    let dialect = Dialect::Version3;
    json!({
        "openapi": "3.0.0",
        "info": {"title": group.name(), "version": group.version()},
        "paths": paths(group, dialect),
        "components": {"schemas": schemas(group, dialect)},
    })
}

/// Returns the version 2 document.
pub fn version_2(group: &ApiGroup) -> Value {
    let dialect = Dialect::Version2;
    json!({
        "swagger": "2.0",
        "info": {"title": group.name(), "version": group.version()},
        "paths": paths(group, dialect),
        "definitions": schemas(group, dialect),
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Version2,
    Version3,
}

impl Dialect {
    fn reference(self, name: &str) -> Value {
        match self {
            Self::Version2 => json!({"$ref": format!("#/definitions/{name}")}),
            Self::Version3 => json!({"$ref": format!("#/components/schemas/{name}")}),
        }
    }

    /// A reference beside other keywords: version 3.0 ignores those, so it goes into an `allOf`.
    fn described_reference(self, name: &str, description: &str) -> Value {
        match self {
            Self::Version2 => {
                let mut reference = self.reference(name);
                reference["description"] = json!(description);
                reference
            }
            Self::Version3 => {
                json!({"allOf": [self.reference(name)], "description": description, "default": {}})
            }
        }
    }

    fn parameter(self, name: &str, place: &str, kind: &str, description: &str) -> Value {
        let mut parameter = json!({"name": name, "in": place, "description": description});
        match self {
            Self::Version2 => {
                parameter["type"] = json!(kind);
                parameter["uniqueItems"] = json!(true);
            }
            Self::Version3 => parameter["schema"] = json!({"type": kind, "uniqueItems": true}),
        }
        if place == "path" {
            parameter["required"] = json!(true);
        }
        parameter
    }

    fn success(self, schema: Value) -> Value {
        match self {
            Self::Version2 => json!({"200": {"description": "OK", "schema": schema}}),
            Self::Version3 => json!({"200": {
                "description": "OK",
                "content": {"application/json": {"schema": schema}},
            }}),
        }
    }
}

/// The prefix of this group's schema names: the group's labels reversed, then the version.
fn prefix(group: &ApiGroup) -> String {
    let mut labels: Vec<&str> = group.name().split('.').collect();
    labels.reverse();
    format!("{}.{}", labels.join("."), group.version())
}

fn kind_extension(group: &ApiGroup, kind: &str) -> Value {
    json!({"group": group.name(), "version": group.version(), "kind": kind})
}

fn schemas(group: &ApiGroup, dialect: Dialect) -> Map<String, Value> {
    let prefix = prefix(group);
    let mut schemas = Map::new();
    for resource in group.resources() {
        let definition = resource.definition();
        schemas.insert(
            format!("{prefix}.{}", definition.kind),
            object_schema(group, definition, dialect),
        );
        schemas.insert(
            format!("{prefix}.{}List", definition.kind),
            list_schema(group, definition, dialect),
        );
    }
    schemas.insert(format!("{prefix}.ObjectMeta"), object_meta_schema());
    schemas.insert(format!("{prefix}.ListMeta"), list_meta_schema());
    if dialect == Dialect::Version2 {
        schemas.values_mut().for_each(for_version_2);
    }
    schemas
}

fn object_schema(group: &ApiGroup, definition: &Definition, dialect: Dialect) -> Value {
    let mut schema = definition.schema.clone();
    if !schema.is_object() {
        schema = json!({});
    }
    schema["type"] = json!("object");
    schema["description"] = json!(definition.description);
    schema["x-kubernetes-group-version-kind"] = json!([kind_extension(group, definition.kind)]);
    let mut properties = type_properties();
    properties.insert(
        "metadata".to_owned(),
        dialect.described_reference(
            &format!("{}.ObjectMeta", prefix(group)),
            "Name, namespace, labels and the other standard metadata of the object.",
        ),
    );
    if let Some(own) = schema.get("properties").and_then(Value::as_object) {
        properties.extend(own.clone());
    }
    schema["properties"] = Value::Object(properties);
    schema
}

fn list_schema(group: &ApiGroup, definition: &Definition, dialect: Dialect) -> Value {
    let prefix = prefix(group);
    let mut properties = type_properties();
    properties.insert(
        "metadata".to_owned(),
        dialect.described_reference(
            &format!("{prefix}.ListMeta"),
            "The standard metadata of the list.",
        ),
    );
    properties.insert(
        "items".to_owned(),
        json!({
            "type": "array",
            "description": "The objects.",
            "items": dialect.reference(&format!("{prefix}.{}", definition.kind)),
        }),
    );
    let kind = format!("{}List", definition.kind);
    json!({
        "type": "object",
        "description": format!("A list of {} objects.", definition.kind),
        "required": ["items"],
        "properties": properties,
        "x-kubernetes-group-version-kind": [kind_extension(group, &kind)],
    })
}

fn type_properties() -> Map<String, Value> {
    let property = |description: &str| json!({"type": "string", "description": description});
    Map::from_iter([
        (
            "apiVersion".to_owned(),
            property("The group and version of this representation."),
        ),
        (
            "kind".to_owned(),
            property("The kind of this representation."),
        ),
    ])
}

fn paths(group: &ApiGroup, dialect: Dialect) -> Map<String, Value> {
    let root = format!("/apis/{}", group.group_version());
    let namespace = || {
        dialect.parameter(
            "namespace",
            "path",
            "string",
            "The namespace of the objects.",
        )
    };
    let name = |kind: &str| {
        dialect.parameter(
            "name",
            "path",
            "string",
            &format!("The name of the {kind}."),
        )
    };
    let mut paths = Map::new();
    for resource in group.resources() {
        let definition = resource.definition();
        let plural = definition.plural;
        let (base, parameters, infix) = match definition.scope {
            Scope::Namespaced => (
                format!("{root}/namespaces/{{namespace}}/{plural}"),
                vec![namespace()],
                "Namespaced",
            ),
            Scope::Cluster => (format!("{root}/{plural}"), vec![], ""),
        };
        if definition.serves(Verb::List) {
            let operation = list_operation(group, definition, dialect, infix, "");
            paths.insert(
                base.clone(),
                json!({"get": operation, "parameters": parameters}),
            );
            if definition.scope == Scope::Namespaced {
                let operation = list_operation(group, definition, dialect, "", "ForAllNamespaces");
                paths.insert(format!("{root}/{plural}"), json!({"get": operation}));
            }
        }
        if definition.serves(Verb::Get) {
            let mut parameters = parameters;
            parameters.insert(0, name(definition.kind));
            let operation = get_operation(group, definition, dialect, infix);
            paths.insert(
                format!("{base}/{{name}}"),
                json!({"get": operation, "parameters": parameters}),
            );
        }
    }
    paths
}

fn list_operation(
    group: &ApiGroup,
    definition: &Definition,
    dialect: Dialect,
    infix: &str,
    suffix: &str,
) -> Value {
    let schema = dialect.reference(&format!("{}.{}List", prefix(group), definition.kind));
    let parameters = [
        ("labelSelector", "string", "Restricts the list by labels."),
        ("fieldSelector", "string", "Restricts the list by fields."),
        ("limit", "integer", "Accepted; the list is always complete."),
        ("resourceVersion", "string", "How new the list must be."),
        (
            "resourceVersionMatch",
            "string",
            "How resourceVersion is compared.",
        ),
    ]
    .map(|(name, kind, text)| dialect.parameter(name, "query", kind, text));
    let mut operation = operation(group, definition, dialect, "list", schema);
    operation["description"] = json!(format!("Lists objects of kind {}.", definition.kind));
    operation["operationId"] = json!(format!(
        "{}{}",
        operation_id(group, "list", infix, definition.kind),
        suffix
    ));
    operation["parameters"] = json!(parameters);
    operation
}

fn get_operation(
    group: &ApiGroup,
    definition: &Definition,
    dialect: Dialect,
    infix: &str,
) -> Value {
    let schema = dialect.reference(&format!("{}.{}", prefix(group), definition.kind));
    let mut operation = operation(group, definition, dialect, "get", schema);
    operation["description"] = json!(format!("Reads one {}.", definition.kind));
    operation["operationId"] = json!(operation_id(group, "read", infix, definition.kind));
    operation
}

fn operation(
    group: &ApiGroup,
    definition: &Definition,
    dialect: Dialect,
    action: &str,
    schema: Value,
) -> Value {
    let mut operation = json!({
        "tags": [operation_id(group, "", "", "")],
        "responses": dialect.success(schema),
        "x-kubernetes-action": action,
        "x-kubernetes-group-version-kind": kind_extension(group, definition.kind),
    });
    if dialect == Dialect::Version2 {
        operation["produces"] = json!(["application/json"]);
        operation["schemes"] = json!(["https"]);
    }
    operation
}

/// Operation ids must be unique in the whole cluster's document, hence the group and version.
fn operation_id(group: &ApiGroup, action: &str, infix: &str, kind: &str) -> String {
    let words = group.name().split(['.', '-']).chain([group.version()]);
    let place: String = words
        .map(|word| {
            let mut letters = word.chars();
            let first = letters.next().map(|letter| letter.to_ascii_uppercase());
            first.into_iter().chain(letters).collect::<String>()
        })
        .collect();
    format!("{action}{place}{infix}{kind}")
}
