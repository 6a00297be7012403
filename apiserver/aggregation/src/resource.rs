//! What a served resource declares, and the group that gathers them.
//!
//! Discovery, OpenAPI, routing, tables and reads all follow from a [`Definition`]; there is no HTTP
//! code per resource.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;

use crate::snapshot::{Object, Snapshot};

/// One kind of computed object, served read-only.
///
/// Every method must answer from memory at once: a reader waits for it.
pub trait Resource: Send + Sync {
    /// Returns the static description; it must not change while the server runs.
    fn definition(&self) -> &Definition;

    /// Returns what was last published. The machinery filters, sorts and renders it.
    fn snapshot(&self) -> Arc<Snapshot>;

    /// Returns one table row: a cell for each of [`Definition::columns`], in order. The name column
    /// is added by the machinery. `now` is for ages.
    fn cells(&self, object: &Object, now: Timestamp) -> Vec<Value>;

    /// Returns the value of one of [`Definition::selectable_fields`].
    fn field(&self, _object: &Object, _label: &str) -> Option<String> {
        None
    }

    /// Returns sentences that a reader should see beside the data, such as how old it is.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The static description of a resource.
#[derive(Debug, Clone)]
pub struct Definition {
    /// The kind, in upper camel case.
    pub kind: &'static str,
    /// The plural name, which is the path segment.
    pub plural: &'static str,
    /// The singular name.
    pub singular: &'static str,
    /// Abbreviations that command-line users may type.
    pub short_names: &'static [&'static str],
    /// Names that stand for several resources at once.
    pub categories: &'static [&'static str],
    /// Whether objects live in namespaces.
    pub scope: Scope,
    /// The verbs served; discovery advertises exactly these.
    pub verbs: &'static [Verb],
    /// One sentence for people, shown by `kubectl explain`.
    pub description: &'static str,
    /// The columns after the name.
    pub columns: &'static [Column],
    /// Field selectors beyond `metadata.name` and `metadata.namespace`.
    pub selectable_fields: &'static [&'static str],
    /// The schema of the object without `apiVersion`, `kind` and `metadata`, which are added; see
    /// [`crate::openapi::schema_of`].
    pub schema: Value,
}

impl Definition {
    /// Tells whether the verb is served.
    pub fn serves(&self, verb: Verb) -> bool {
        self.verbs.contains(&verb)
    }
}

/// Whether objects of a resource live in namespaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Each object has a namespace.
    Namespaced,
    /// No object has one.
    Cluster,
}

/// A verb that this server can serve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verb {
    /// Read one object.
    Get,
    /// Read a collection.
    List,
}

impl Verb {
    /// Returns the verb as discovery and access reviews spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
        }
    }
}

/// One table column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// The heading; clients print it in capitals.
    pub name: &'static str,
    /// The type of the cells.
    pub column_type: ColumnType,
    /// One sentence for people.
    pub description: &'static str,
    /// `0` is always shown, anything above only in wide output.
    pub priority: u8,
}

/// The type of a column's cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    /// Text, and anything rendered here, such as an age.
    String,
    /// Whole numbers.
    Integer,
    /// Truth values.
    Boolean,
}

impl ColumnType {
    /// Returns the type as table column definitions spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Integer => "integer",
            Self::Boolean => "boolean",
        }
    }
}

/// The resources of one group and version.
#[derive(Clone)]
pub struct ApiGroup {
    name: &'static str,
    version: &'static str,
    resources: Vec<Arc<dyn Resource>>,
}

impl ApiGroup {
    /// Gathers the resources. The list is served from the first request on and never changes: an
    /// empty or growing resource list would make unrelated commands of the whole cluster complain.
    pub fn new(
        name: &'static str,
        version: &'static str,
        resources: Vec<Arc<dyn Resource>>,
    ) -> Self {
        debug_assert!(
            !resources.is_empty(),
            "an empty resource list breaks discovery for everyone"
        );
        Self {
            name,
            version,
            resources,
        }
    }

    /// Returns the group's name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the version served.
    pub fn version(&self) -> &'static str {
        self.version
    }

    /// Returns `group/version`.
    pub fn group_version(&self) -> String {
        format!("{}/{}", self.name, self.version)
    }

    /// Returns the resources in the order given.
    pub fn resources(&self) -> impl Iterator<Item = &dyn Resource> {
        self.resources.iter().map(AsRef::as_ref)
    }

    /// Finds a resource by its plural name.
    pub fn resource(&self, plural: &str) -> Option<&dyn Resource> {
        self.resources()
            .find(|resource| resource.definition().plural == plural)
    }
}
