//! What the schemas share: rules that recur, the conditions list, and the last touches before printing.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps,
};
use kube::CustomResourceExt;
use kube::core::{Message, Rule};
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

use crate::columns::Column;
use crate::duration;

/// The schema keyword that holds CEL rules.
const RULES: &str = "x-kubernetes-validations";

/// Says that a required field never changes.
pub(crate) fn immutable(field: &str) -> Rule {
    Rule::new("self == oldSelf").message(Message::Message(format!(
        "{field} is immutable: delete this object and create a new one"
    )))
}

/// Says that an optional field never changes, comes or goes.
///
/// The rule belongs to the parent: a rule on the field itself does not run when the field is added or
/// removed.
pub(crate) fn immutable_optional(field: &str) -> Rule {
    let same_presence = format!("has(self.{field}) == has(oldSelf.{field})");
    let same_value = format!("(!has(self.{field}) || self.{field} == oldSelf.{field})");
    Rule::new(format!("{same_presence} && {same_value}"))
        .message(Message::Message(format!(
            "{field} is immutable, adding or removing it included: delete this object and create a new one"
        )))
        .field_path(format!(".{field}"))
}

/// Bounds a duration from above.
pub(crate) fn at_most(limit: &str) -> Rule {
    duration_rule("self", &format!("duration(self) <= duration('{limit}')"))
        .message(Message::Message(format!("must be at most {limit}")))
}

/// Says that a window's silence cannot be longer than the window, for the struct that holds both timers.
pub(crate) fn idle_within_max() -> Rule {
    let both = "has(self.idleTimeout) && has(self.maxDuration)";
    let readable = format!(
        "{} && {}",
        is_duration("self.idleTimeout"),
        is_duration("self.maxDuration")
    );
    Rule::new(format!(
        "!({both} && {readable}) || duration(self.idleTimeout) <= duration(self.maxDuration)"
    ))
    .message("idleTimeout may not exceed maxDuration")
    .field_path(".idleTimeout")
}

/// Makes a rule about one duration that stays silent when the text is no duration: the grammar has its own
/// error, and a failed conversion beside it would only confuse.
pub(crate) fn duration_rule(operand: &str, rule: &str) -> Rule {
    Rule::new(format!("!{} || {rule}", is_duration(operand)))
}

fn is_duration(operand: &str) -> String {
    format!("{operand}.matches(r'{}')", duration::PATTERN)
}

/// Declares a field that belongs elsewhere, so that setting it is refused with a sentence.
///
/// Without the declaration the API server would drop the field before any rule could see it.
pub(crate) fn forbid(schema: &mut Schema, field: &str, shape: Value, rule: Rule) {
    let object = schema.ensure_object();
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        properties.insert(field.to_owned(), shape);
    }
    let rule = serde_json::to_value(rule).expect("because a rule holds only strings");
    if let Value::Array(rules) = object
        .entry(RULES)
        .or_insert_with(|| Value::Array(Vec::new()))
    {
        rules.push(rule);
    }
}

/// Describes `status.conditions`: one entry for each type, within the bounds that Kubernetes gives them.
pub(crate) fn conditions(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
        "maxItems": 32,
        "items": {
            "type": "object",
            "required": ["lastTransitionTime", "message", "reason", "status", "type"],
            "properties": {
                "type": {
                    "type": "string",
                    "description": "What the condition is about.",
                    "maxLength": 316,
                    "pattern": "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?\
                                (([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$",
                },
                "status": {
                    "type": "string",
                    "description": "Whether it holds.",
                    "enum": ["True", "False", "Unknown"],
                },
                "reason": {
                    "type": "string",
                    "description": "Why, in one word for programs.",
                    "minLength": 1,
                    "maxLength": 1024,
                    "pattern": "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
                },
                "message": {
                    "type": "string",
                    "description": "Why, in a sentence for people.",
                    "maxLength": 32768,
                },
                "lastTransitionTime": {
                    "type": "string",
                    "format": "date-time",
                    "description": "When the status last changed from one value to another.",
                },
                "observedGeneration": {
                    "type": "integer",
                    "format": "int64",
                    "minimum": 0,
                    "description": "The generation of the spec that the condition speaks about.",
                },
            },
        },
    })
}

/// Returns the CRD of a kind as it is printed and installed.
pub(crate) fn crd<K: CustomResourceExt>(columns: &[Column]) -> CustomResourceDefinition {
    let mut crd = K::crd();
    for version in &mut crd.spec.versions {
        let columns = columns.iter().copied().map(Column::definition).collect();
        version.additional_printer_columns = Some(columns);
        let schema = version
            .schema
            .as_mut()
            .and_then(|schema| schema.open_api_v3_schema.as_mut());
        if let Some(schema) = schema {
            *schema = tidy(schema);
        }
    }
    crd
}

fn tidy(schema: &JSONSchemaProps) -> JSONSchemaProps {
    let mut value = serde_json::to_value(schema).expect("because a schema is plain data");
    tidy_value(&mut value);
    serde_json::from_value(value).expect("because only keywords and descriptions were changed")
}

/// Takes out what the derive adds and Kubernetes must not see.
///
/// `nullable` above all: with it an explicit `null` would be kept instead of being dropped before
/// defaulting, and an optional list would have a third state that no rule speaks about.
fn tidy_value(schema: &mut Value) {
    let Value::Object(schema) = schema else {
        return;
    };
    schema.remove("nullable");
    schema.remove("title");
    if let Some(Value::Array(words)) = schema.get_mut("enum") {
        words.retain(|word| !word.is_null());
    }
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = one_line_per_paragraph(text);
    }
    append_default(schema);
    for child in children(schema) {
        tidy_value(child);
    }
}

/// Tells the default in the description as well: `kubectl explain` prints the one and not the other.
fn append_default(schema: &mut Map<String, Value>) {
    let Some(default) = schema.get("default") else {
        return;
    };
    let sentence = format!("Default: {default}.");
    if let Some(Value::String(text)) = schema.get_mut("description") {
        text.push(' ');
        text.push_str(&sentence);
    }
}

fn children(schema: &mut Map<String, Value>) -> Vec<&mut Value> {
    let mut children = Vec::new();
    for (keyword, value) in schema {
        match (keyword.as_str(), value) {
            ("properties", Value::Object(properties)) => children.extend(properties.values_mut()),
            ("items" | "additionalProperties", child) => children.push(child),
            _ => {}
        }
    }
    children
}

/// Joins the lines of a doc comment, so that `kubectl explain` wraps them by its own width.
fn one_line_per_paragraph(text: &str) -> String {
    text.split("\n\n")
        .map(|paragraph| paragraph.replace('\n', " "))
        .collect::<Vec<_>>()
        .join("\n\n")
}
