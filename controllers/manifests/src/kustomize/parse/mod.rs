//! A kustomization file as a value: what is modelled, with its places, and the name of everything that is not.
//!
//! A kustomization is read as Kubernetes reads YAML, strictly: an unknown field, a value of another type or a key
//! that stands twice refuses it. All that is wrong with a file is reported at once.
//!
//! Reading order: the types here, `reader` (typed fields), `fields` (one field of the file after another),
//! `entries` (images, replicas, labels), `patch` and `generator`, `expression` (what stands for several names).

mod entries;
mod expression;
mod fields;
mod generator;
mod patch;
mod reader;

pub use entries::{ImageEntry, LabelEntry, ReplicaEntry};
pub use generator::{ConfigMapEntry, GeneratorOptions};
pub use patch::{PatchEntry, Target};

pub(crate) use expression::Expression;
pub(crate) use fields::parse;

use super::issue::Issue;

/// The names that a kustomization file may have, in the order in which they are looked for.
pub const FILE_NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// A value of the file and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Where it starts, in bytes from the start of the file.
    pub at: u32,
    /// Its line, counted from 1.
    pub line: u32,
}

/// Keys with texts, in the order of the file.
pub type Pairs = Vec<(String, Located<String>)>;

/// What a kustomization file says.
#[derive(Debug, Clone, Default)]
pub struct Kustomization {
    /// `namespace:`, where it is not empty.
    pub namespace: Option<Located<String>>,
    /// `resources:` and what `bases:` adds to them.
    pub resources: Vec<Located<String>>,
    /// `patches:`.
    pub patches: Vec<PatchEntry>,
    /// `labels:`.
    pub labels: Vec<LabelEntry>,
    /// `commonLabels:`.
    pub common_labels: Pairs,
    /// `commonAnnotations:`.
    pub common_annotations: Pairs,
    /// `replicas:`.
    pub replicas: Vec<ReplicaEntry>,
    /// `images:`.
    pub images: Vec<ImageEntry>,
    /// `configMapGenerator:`.
    pub config_maps: Vec<ConfigMapEntry>,
    /// `generatorOptions:`.
    pub generator_options: GeneratorOptions,
    /// All that forbids to render it. What could not be read is left out above.
    pub issues: Vec<Issue>,
}
