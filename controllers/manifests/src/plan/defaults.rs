//! Values that the API server fills in by itself (D27).

use std::collections::BTreeMap;

use model::TypeId;
use serde_json::Value;

/// The defaults of each type: a field that a document lacks, and whose live value is the default, is no
/// difference. Without entries every live field counts, which is right for types that have no defaults.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Defaults {
    fields: BTreeMap<(TypeId, String), Value>,
}

impl Defaults {
    /// Adds the default of one field. The path joins keys with dots; the step into the items of a list is `[]`,
    /// as in `spec.ports.[].protocol`.
    pub fn insert(&mut self, type_id: TypeId, path: impl Into<String>, value: Value) {
        self.fields.insert((type_id, path.into()), value);
    }

    /// Says whether the API server fills in exactly this value where the field is missing.
    pub fn fills(&self, type_id: &TypeId, path: &[&str], value: &Value) -> bool {
        if self.fields.is_empty() {
            return false;
        }
        self.fields.get(&(type_id.clone(), path.join("."))) == Some(value)
    }
}
