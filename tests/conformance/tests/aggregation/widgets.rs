//! The demo resource: widgets in namespaces.

use std::sync::Arc;

use aggregation::openapi::schema_of;
use aggregation::table::age;
use aggregation::{
    Column, ColumnType, Definition, Object, ObjectKey, Resource, Scope, Snapshot, SnapshotReader,
    Verb,
};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde_json::{Value, json};

pub(crate) const GROUP: &str = "example.test";
pub(crate) const VERSION: &str = "v1";

#[derive(JsonSchema)]
#[allow(dead_code)]
struct WidgetBody {
    /// What the widget shall be.
    spec: WidgetSpec,
}

#[derive(JsonSchema)]
#[allow(dead_code)]
struct WidgetSpec {
    /// The number of cogs, for example 3.
    size: u32,
    /// The colour of the lid, if it has one.
    colour: Option<String>,
}

pub(crate) struct Widgets {
    definition: Definition,
    reader: SnapshotReader,
}

impl Widgets {
    pub(crate) fn new(reader: SnapshotReader) -> Self {
        const COLUMNS: &[Column] = &[
            Column {
                name: "Size",
                column_type: ColumnType::Integer,
                description: "The number of cogs.",
                priority: 0,
            },
            Column {
                name: "Age",
                column_type: ColumnType::String,
                description: "The time since it was made.",
                priority: 0,
            },
            Column {
                name: "Colour",
                column_type: ColumnType::String,
                description: "The colour of the lid.",
                priority: 1,
            },
        ];
        let definition = Definition {
            kind: "Widget",
            plural: "widgets",
            singular: "widget",
            short_names: &["wg"],
            categories: &["things"],
            scope: Scope::Namespaced,
            verbs: &[Verb::Get, Verb::List],
            description: "A thing with cogs.",
            columns: COLUMNS,
            selectable_fields: &["spec.colour"],
            schema: schema_of::<WidgetBody>(),
        };
        Self { definition, reader }
    }
}

impl Resource for Widgets {
    fn definition(&self) -> &Definition {
        &self.definition
    }

    fn snapshot(&self) -> Arc<Snapshot> {
        self.reader.now()
    }

    fn cells(&self, object: &Object, now: Timestamp) -> Vec<Value> {
        let spec = &object.body["spec"];
        let created = object.created.map(|created| age(created, now));
        vec![spec["size"].clone(), json!(created), spec["colour"].clone()]
    }

    fn field(&self, object: &Object, _: &str) -> Option<String> {
        object.body["spec"]["colour"].as_str().map(str::to_owned)
    }

    fn warnings(&self) -> Vec<String> {
        vec!["widgets are only a demonstration".to_owned()]
    }
}

pub(crate) fn widget(namespace: &str, name: &str, size: u32, colour: &str) -> Object {
    let body = json!({"spec": {"size": size, "colour": colour}})
        .as_object()
        .unwrap()
        .clone();
    let uid = format!("uid-{namespace}-{name}");
    let mut object = Object::new(ObjectKey::namespaced(namespace, name), uid, body);
    object.created = Some("2026-01-01T00:00:00Z".parse().unwrap());
    object
        .labels
        .insert("team".to_owned(), namespace.to_owned());
    object
}
