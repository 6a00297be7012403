//! What the API server fills in by itself, drops, or spells in its own way (D27).
//!
//! The built-in kinds come from a record that `cargo xtask generate` takes from a real API server; custom kinds
//! come from the schema of their CRD. What depends on other fields is no data and stands in `dependent`.
//!
//! Reading order: `shape` is the tree that a document is walked with, `record` reads the built-in kinds into
//! it, `crd` the custom ones.

mod crd;
pub mod record;
mod shape;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use model::{ServedType, TypeId};
use serde_json::Value;

pub(crate) use shape::{Shape, Slot, Spelling};

/// What one API server, version 1.36, answers for every kind that it brings along.
static BUILTIN: LazyLock<Defaults> = LazyLock::new(|| {
    let types = record::read(include_str!("../../../data/defaults.jsonl"))
        .expect("because a test reads the record that is compiled in");
    Defaults {
        types: Arc::new(types),
    }
});

/// The shape of each type, by the version that it is served in.
type Types = BTreeMap<TypeId, BTreeMap<String, Arc<Shape>>>;

/// The defaults of each type: a field that a document lacks, and whose live value is the default, is no
/// difference. A type that is not known has no defaults, so that every live field counts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Defaults {
    types: Arc<Types>,
}

impl Defaults {
    /// Knows every kind that the API server brings along.
    pub fn builtin() -> Self {
        BUILTIN.clone()
    }

    /// Says whether both know the same, at no cost: two that were read apart are not the same to it.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.types, &other.types)
    }

    /// Adds the kind that a CRD defines, in every version that it serves. What is no CRD adds nothing.
    pub fn add_crd(&mut self, crd: &Value) {
        let Some((type_id, versions)) = crd::shapes(crd) else {
            return;
        };
        Arc::make_mut(&mut self.types).insert(type_id, versions);
    }

    /// Adds a custom kind in one version by the schema that the API server's OpenAPI document gives for it, for
    /// callers that may not read its CRD.
    pub fn add_schema(&mut self, type_id: &TypeId, version: &str, schema: &Value) {
        let shape = Arc::new(crd::root(schema));
        let types = Arc::make_mut(&mut self.types);
        let versions = types.entry(type_id.clone()).or_default();
        versions.insert(version.to_owned(), shape);
    }

    /// Forgets a custom kind whose CRD is gone.
    pub fn remove(&mut self, type_id: &TypeId) {
        if self.types.contains_key(type_id) {
            Arc::make_mut(&mut self.types).remove(type_id);
        }
    }

    /// Returns what is known of a type in the version that it was read in.
    pub(crate) fn of(&self, served: &ServedType) -> Option<&Shape> {
        let versions = self.types.get(&served.type_id)?;
        versions.get(&served.version).map(Arc::as_ref)
    }
}
