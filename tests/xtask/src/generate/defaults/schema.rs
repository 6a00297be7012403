//! The API server's OpenAPI documents: which kinds there are, and what they are made of.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use manifests::plan::defaults::record::Spelling;
use serde_json::{Map, Value};
use testkit::Kubectl;

/// A kind in one of its versions.
#[derive(Debug, Clone)]
pub(super) struct Kind {
    pub(super) group: String,
    pub(super) version: String,
    pub(super) resource: String,
    pub(super) kind: String,
    pub(super) namespaced: bool,
    /// The name of its schema.
    pub(super) schema: String,
}

impl Kind {
    pub(super) fn api_version(&self) -> String {
        match self.group.as_str() {
            "" => self.version.clone(),
            group => format!("{group}/{}", self.version),
        }
    }

    /// Returns the path that lists the objects.
    pub(super) fn path(&self) -> String {
        let root = if self.group.is_empty() { "api" } else { "apis" };
        let namespace = if self.namespaced {
            "namespaces/default/"
        } else {
            ""
        };
        format!(
            "/{root}/{}/{namespace}{}",
            self.api_version(),
            self.resource
        )
    }
}

/// Every kind, and the schemas of all groups.
#[derive(Debug, Default)]
pub(super) struct OpenApi {
    pub(super) kinds: Vec<Kind>,
    schemas: BTreeMap<String, Value>,
}

impl OpenApi {
    pub(super) fn fetch(kubectl: &Kubectl) -> Result<Self> {
        let json = |path: &str| -> Result<Value> {
            let text = kubectl.get_raw(path)?;
            serde_json::from_str(&text).with_context(|| format!("{path} is no JSON"))
        };
        let mut openapi = Self::default();
        let index = json("/openapi/v3")?;
        let paths = index["paths"]
            .as_object()
            .context("there are no documents")?;
        for path in paths.keys() {
            // A group has its kinds in the documents of its versions: `api/v1`, `apis/apps/v1`.
            let (group, version) = match path.split('/').collect::<Vec<_>>()[..] {
                ["api", version] => ("", version),
                ["apis", group, version] => (group, version),
                _ => continue,
            };
            let document = json(&format!("/openapi/v3/{path}"))?;
            openapi.add(group, version, &document);
        }
        Ok(openapi)
    }

    fn add(&mut self, group: &str, version: &str, document: &Value) {
        let schemas = document
            .pointer("/components/schemas")
            .and_then(Value::as_object);
        for (name, schema) in schemas.into_iter().flatten() {
            self.schemas.insert(name.clone(), schema.clone());
        }
        let paths = document["paths"].as_object().into_iter().flatten();
        for (path, operations) in paths {
            self.kinds.extend(kind(group, version, path, operations));
        }
    }

    /// Returns what a schema describes.
    pub(super) fn resolve<'a>(&'a self, schema: &'a Value) -> Form<'a> {
        let reference = schema
            .get("$ref")
            .or_else(|| schema.pointer("/allOf/0/$ref"));
        let Some(reference) = reference.and_then(Value::as_str) else {
            return form(schema);
        };
        let name = reference.rsplit('/').next().unwrap_or_default();
        self.named(name)
    }

    /// Returns what the schema of that name describes.
    pub(super) fn named<'a>(&'a self, name: &'a str) -> Form<'a> {
        match name.rsplit('.').next().unwrap_or_default() {
            "Quantity" => return Form::Scalar(Scalar::Spelled(Spelling::Quantity)),
            "IntOrString" => return Form::Scalar(Scalar::Spelled(Spelling::IntOrString)),
            // They hold what the schema says nothing of.
            "JSONSchemaProps" | "RawExtension" | "FieldsV1" => return Form::Opaque,
            _ => {}
        }
        match self.schemas.get(name).map(form) {
            Some(Form::Object {
                fields, required, ..
            }) => Form::Object {
                name: Some(name),
                fields,
                required,
            },
            Some(form) => form,
            None => Form::Opaque,
        }
    }
}

/// What a schema describes, as far as it matters here.
#[derive(Debug, Clone, Copy)]
pub(super) enum Form<'a> {
    Object {
        name: Option<&'a str>,
        fields: &'a Map<String, Value>,
        required: Option<&'a Vec<Value>>,
    },
    Map(&'a Value),
    List(&'a Value),
    Scalar(Scalar<'a>),
    Opaque,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Scalar<'a> {
    Text,
    Choice(&'a Vec<Value>),
    Time,
    Integer,
    Number,
    Boolean,
    Spelled(Spelling),
}

fn form(schema: &Value) -> Form<'_> {
    let text = |key: &str| schema.get(key).and_then(Value::as_str);
    if let Some(fields) = schema.get("properties").and_then(Value::as_object) {
        return Form::Object {
            name: None,
            fields,
            required: schema.get("required").and_then(Value::as_array),
        };
    }
    let scalar = match (text("type"), text("format")) {
        (Some("object"), _) => {
            return match schema.get("additionalProperties") {
                Some(entries) => Form::Map(entries),
                None => Form::Opaque,
            };
        }
        (Some("array"), _) => return schema.get("items").map_or(Form::Opaque, Form::List),
        (Some("string"), Some("byte")) => Scalar::Spelled(Spelling::Bytes),
        (Some("string"), Some("date-time")) => Scalar::Time,
        (Some("string"), _) => match schema.get("enum").and_then(Value::as_array) {
            Some(choices) if !choices.is_empty() => Scalar::Choice(choices),
            _ => Scalar::Text,
        },
        (Some("integer"), _) => Scalar::Integer,
        (Some("number"), _) => Scalar::Number,
        (Some("boolean"), _) => Scalar::Boolean,
        _ => return Form::Opaque,
    };
    Form::Scalar(scalar)
}

/// Reads a kind from the path where its objects are created.
fn kind(group: &str, version: &str, path: &str, operations: &Value) -> Option<Kind> {
    let root = if group.is_empty() {
        format!("/api/{version}/")
    } else {
        format!("/apis/{group}/{version}/")
    };
    let below = path.strip_prefix(&root)?;
    let (resource, namespaced) = match below.strip_prefix("namespaces/{namespace}/") {
        Some(resource) => (resource, true),
        None => (below, false),
    };
    let create = operations.get("post")?;
    if resource.contains('/') {
        return None;
    }
    let kind = create
        .pointer("/x-kubernetes-group-version-kind/kind")?
        .as_str()?;
    let body = create.pointer("/requestBody/content")?.as_object()?;
    let reference = body.values().next()?.pointer("/schema/$ref")?.as_str()?;
    Some(Kind {
        group: group.to_owned(),
        version: version.to_owned(),
        resource: resource.to_owned(),
        kind: kind.to_owned(),
        namespaced,
        schema: reference.rsplit('/').next()?.to_owned(),
    })
}
