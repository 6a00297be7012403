//! Two resources to test with: namespaced widgets and cluster-scoped racks.

use std::sync::Arc;

use aggregation::openapi::schema_of;
use aggregation::table::age;
use aggregation::{
    ApiGroup, Column, ColumnType, Definition, Object, ObjectKey, Resource, Revisions, Scope,
    Snapshot, SnapshotPublisher, SnapshotReader, Verb,
};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde_json::{Value, json};

pub(crate) fn now() -> Timestamp {
    "2026-03-01T12:00:00Z".parse().unwrap()
}

#[derive(JsonSchema)]
#[allow(dead_code)]
struct WidgetBody {
    /// What the widget shall be.
    spec: WidgetSpec,
    /// What the widget is.
    status: Option<WidgetStatus>,
}

#[derive(JsonSchema)]
#[allow(dead_code)]
struct WidgetSpec {
    /// The number of cogs, for example 3.
    size: u32,
    /// The title on the lid.
    title: Option<String>,
}

#[derive(JsonSchema)]
#[allow(dead_code)]
struct WidgetStatus {
    /// One of several phases.
    phase: Phase,
    /// When it last turned.
    turned: Option<Vec<String>>,
}

#[derive(JsonSchema)]
#[allow(dead_code)]
enum Phase {
    /// It turns.
    Turning,
    /// It rests.
    Resting,
}

#[derive(JsonSchema)]
#[allow(dead_code)]
struct RackBody {
    /// How many shelves.
    shelves: u32,
}

pub(crate) struct Fixed {
    definition: Definition,
    reader: SnapshotReader,
}

impl Resource for Fixed {
    fn definition(&self) -> &Definition {
        &self.definition
    }

    fn snapshot(&self) -> Arc<Snapshot> {
        self.reader.now()
    }

    fn cells(&self, object: &Object, now: Timestamp) -> Vec<Value> {
        if self.definition.kind == "Rack" {
            return vec![object.body["shelves"].clone()];
        }
        vec![
            object.body["spec"]["size"].clone(),
            object.body["status"]["phase"].clone(),
            json!(object.created.map(|created| age(created, now))),
        ]
    }

    fn field(&self, object: &Object, label: &str) -> Option<String> {
        (label == "status.phase")
            .then(|| object.body["status"]["phase"].as_str().map(str::to_owned))?
    }

    fn warnings(&self) -> Vec<String> {
        if self.definition.kind == "Rack" {
            vec!["racks are \"old\"".to_owned()]
        } else {
            vec![]
        }
    }
}

pub(crate) fn widget(namespace: &str, name: &str, size: u32, phase: &str) -> Object {
    let body = json!({"spec": {"size": size}, "status": {"phase": phase}});
    let key = ObjectKey::namespaced(namespace, name);
    let mut object = Object::new(
        key,
        format!("uid-{namespace}-{name}"),
        body.as_object().unwrap().clone(),
    );
    object.created = Some("2026-03-01T09:55:00Z".parse().unwrap());
    object.generation = Some(2);
    object
        .labels
        .insert("team".to_owned(), namespace.to_owned());
    object
}

pub(crate) fn group() -> ApiGroup {
    let revisions = Arc::new(Revisions::new());
    let mut widgets = SnapshotPublisher::new(revisions.clone(), now());
    widgets.publish(
        vec![
            widget("blue", "b", 1, "Turning"),
            widget("red", "a", 3, "Resting"),
            widget("red", "b", 2, "Turning"),
        ],
        now(),
    );
    let mut racks = SnapshotPublisher::new(revisions, now());
    let body = json!({"shelves": 4}).as_object().unwrap().clone();
    racks.publish(
        vec![Object::new(ObjectKey::cluster("main"), "uid-main", body)],
        now(),
    );
    ApiGroup::new(
        "example.test",
        "v1",
        vec![
            Arc::new(Fixed {
                definition: widget_definition(),
                reader: widgets.reader(),
            }),
            Arc::new(Fixed {
                definition: rack_definition(),
                reader: racks.reader(),
            }),
        ],
    )
}

fn widget_definition() -> Definition {
    const fn column(
        name: &'static str,
        column_type: ColumnType,
        description: &'static str,
        priority: u8,
    ) -> Column {
        Column {
            name,
            column_type,
            description,
            priority,
        }
    }
    const COLUMNS: &[Column] = &[
        column("Size", ColumnType::Integer, "The number of cogs.", 0),
        column("Phase", ColumnType::String, "Whether it turns.", 1),
        column("Age", ColumnType::String, "The time since it was made.", 0),
    ];
    Definition {
        kind: "Widget",
        plural: "widgets",
        singular: "widget",
        short_names: &["wg"],
        categories: &["things"],
        scope: Scope::Namespaced,
        verbs: &[Verb::Get, Verb::List],
        description: "A thing with cogs.",
        columns: COLUMNS,
        selectable_fields: &["status.phase"],
        schema: schema_of::<WidgetBody>(),
    }
}

fn rack_definition() -> Definition {
    Definition {
        kind: "Rack",
        plural: "racks",
        singular: "rack",
        short_names: &[],
        categories: &[],
        scope: Scope::Cluster,
        verbs: &[Verb::List],
        description: "A place for widgets.",
        columns: &[Column {
            name: "Shelves",
            column_type: ColumnType::Integer,
            description: "How many shelves.",
            priority: 0,
        }],
        selectable_fields: &[],
        schema: schema_of::<RackBody>(),
    }
}
