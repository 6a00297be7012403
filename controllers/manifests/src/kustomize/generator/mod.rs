//! What an entry of `configMapGenerator:` generates, and how its inputs say something else.
//!
//! The content of the inputs is given; nothing is read here. Names with a hash of the content and the behaviours
//! `merge` and `replace` are refused before an entry gets here.
//!
//! Reading order: [`generate`]; `source` (how keys and values are read out of the inputs); [`edit`] (the way back).

pub mod edit;
mod source;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use thiserror::Error;

pub use self::source::{SourceProblem, file_source};
use super::node::{Content, FileId, Node, Site, Supplier};

/// A text of a kustomization, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// What it says.
    pub value: String,
    /// Where it stands.
    pub site: Site,
}

/// An entry of `configMapGenerator:`.
#[derive(Debug, Clone)]
pub struct GeneratorEntry<'b> {
    /// Where the entry stands.
    pub site: Site,
    /// The name of the object.
    pub name: Text,
    /// The namespace of the object.
    pub namespace: Option<Text>,
    /// Items of the form `key=value`.
    pub literals: Vec<Text>,
    /// Files with a key and a value on each line.
    pub envs: Vec<Input<'b>>,
    /// Files that are a value as a whole.
    pub files: Vec<Input<'b>>,
    /// What the entry says of its own object.
    pub options: GeneratorOptions,
}

/// A file that a generator reads.
#[derive(Debug, Clone)]
pub struct Input<'b> {
    /// What the kustomization says: a path, for a value perhaps with a key before it.
    pub spec: Text,
    /// The file.
    pub file: FileId,
    /// What it holds.
    pub bytes: &'b [u8],
}

/// What an entry, or `generatorOptions:` for all of them, says of generated objects.
#[derive(Debug, Clone, Default)]
pub struct GeneratorOptions {
    /// Labels for them.
    pub labels: BTreeMap<String, Text>,
    /// Annotations for them.
    pub annotations: BTreeMap<String, Text>,
    /// Where it says that they never change.
    pub immutable: Option<Site>,
}

/// Why an entry generates nothing.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{problem}")]
pub struct GeneratorError {
    /// Where the cause stands.
    pub site: Site,
    /// The cause.
    pub problem: GeneratorProblem,
}

/// What is wrong with an entry.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum GeneratorProblem {
    /// The name is empty.
    #[error("an entry of configMapGenerator needs a name")]
    NoName,
    /// Two inputs have the same key.
    #[error("the key `{0}` is given twice; take one of the two out")]
    RepeatedKey(String),
    /// An input does not have the form that it needs.
    #[error(transparent)]
    Source(SourceProblem),
}

/// Generates the object of an entry. The entry's own options win over those that all entries share.
///
/// # Errors
/// Returns what kustomize would not generate either.
pub fn generate(
    entry: &GeneratorEntry<'_>,
    shared: &GeneratorOptions,
) -> Result<Node, GeneratorError> {
    if entry.name.value.is_empty() {
        return Err(GeneratorError {
            site: entry.name.site,
            problem: GeneratorProblem::NoName,
        });
    }
    let mut object = Fields::default();
    object.put("apiVersion", "v1", Supplier::Synthesised);
    object.put("kind", "ConfigMap", Supplier::Synthesised);
    object.nest("metadata", metadata(entry, shared), Supplier::Synthesised);
    let (data, binary_data) = data(entry)?;
    object.nest("data", data, Supplier::Entry(entry.site));
    object.nest("binaryData", binary_data, Supplier::Entry(entry.site));
    if let Some(site) = entry.options.immutable.or(shared.immutable) {
        object.put("immutable", true, Supplier::Entry(site));
    }
    Ok(object.into_node(Supplier::Synthesised))
}

fn metadata(entry: &GeneratorEntry<'_>, shared: &GeneratorOptions) -> Fields {
    let mut metadata = Fields::default();
    let name = &entry.name;
    metadata.put("name", name.value.as_str(), Supplier::Entry(name.site));
    let namespace = entry.namespace.as_ref();
    if let Some(namespace) = namespace.filter(|namespace| !namespace.value.is_empty()) {
        let supplier = Supplier::Entry(namespace.site);
        metadata.put("namespace", namespace.value.as_str(), supplier);
    }
    let own = &entry.options;
    let labels = joined(&own.labels, &shared.labels, Supplier::Label);
    metadata.nest("labels", labels, Supplier::Synthesised);
    let annotations = joined(&own.annotations, &shared.annotations, Supplier::Annotation);
    metadata.nest("annotations", annotations, Supplier::Synthesised);
    metadata
}

fn joined(
    own: &BTreeMap<String, Text>,
    shared: &BTreeMap<String, Text>,
    supplier: fn(Site) -> Supplier,
) -> Fields {
    let mut joined = Fields::default();
    for (key, text) in shared.iter().chain(own) {
        joined.put(key, text.value.as_str(), supplier(text.site));
    }
    joined
}

/// Returns what is text, and what is not.
fn data(entry: &GeneratorEntry<'_>) -> Result<(Fields, Fields), GeneratorError> {
    let mut data = Fields::default();
    let mut binary_data = Fields::default();
    for given in source::pairs(entry)? {
        if data.0.contains_key(&given.key) || binary_data.0.contains_key(&given.key) {
            return Err(GeneratorError {
                site: given.site,
                problem: GeneratorProblem::RepeatedKey(given.key),
            });
        }
        if !source::is_key(&given.key) {
            return Err(GeneratorError {
                site: given.site,
                problem: GeneratorProblem::Source(SourceProblem::Key(given.key)),
            });
        }
        match str::from_utf8(given.value) {
            Ok(text) if source::is_unbuildable(text) => {
                return Err(GeneratorError {
                    site: given.site,
                    problem: GeneratorProblem::Source(SourceProblem::TabFirst(given.key)),
                });
            }
            Ok(text) => data.put(&given.key, text, given.supplier),
            // Kustomize breaks long lines, which the API server undoes.
            Err(_) => binary_data.put(&given.key, STANDARD.encode(given.value), given.supplier),
        }
    }
    Ok((data, binary_data))
}

/// The fields of a mapping that is being made.
#[derive(Default)]
struct Fields(BTreeMap<String, Node>);

impl Fields {
    fn put(&mut self, key: &str, value: impl Into<Value>, supplier: Supplier) {
        let content = Content::Scalar(value.into());
        self.0.insert(key.to_owned(), Node { supplier, content });
    }

    /// Puts a mapping, unless it is empty.
    fn nest(&mut self, key: &str, fields: Self, supplier: Supplier) {
        if !fields.0.is_empty() {
            self.0.insert(key.to_owned(), fields.into_node(supplier));
        }
    }

    fn into_node(self, supplier: Supplier) -> Node {
        let content = Content::Mapping(self.0);
        Node { supplier, content }
    }
}
