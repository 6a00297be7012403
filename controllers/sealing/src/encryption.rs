//! From an object to the same object with encrypted values.

use serde_json::{Map, Value};

use crate::ciphertext::{DataKey, encrypt};
use crate::document::Sealed;
use crate::random::RandomSource;
use crate::rule::Rule;
use crate::scalar::Scalar;
use crate::tree::Path;

/// A number that the real tool cannot hold.
pub(crate) struct OutOfRange {
    pub(crate) path: String,
}

/// Turns an object into its encrypted form.
pub(crate) struct Encryption<'a> {
    pub(crate) rule: &'a Rule,
    pub(crate) key: &'a DataKey,
    /// What was encrypted before with the same key; each is used once.
    pub(crate) stash: Vec<Sealed>,
    pub(crate) random: &'a mut dyn RandomSource,
}

impl Encryption<'_> {
    /// Encrypts what the rule names and leaves the rest as it is.
    pub(crate) fn object(
        &mut self,
        object: &Map<String, Value>,
        path: &mut Path,
    ) -> Result<Map<String, Value>, OutOfRange> {
        object
            .iter()
            .map(|(key, value)| {
                path.push(key);
                let sealed = self.value(value, path);
                path.pop();
                Ok((key.clone(), sealed?))
            })
            .collect()
    }

    fn value(&mut self, value: &Value, path: &mut Path) -> Result<Value, OutOfRange> {
        match value {
            Value::Null => Ok(Value::Null),
            Value::Object(map) => self.object(map, path).map(Value::Object),
            Value::Array(items) => items.iter().map(|item| self.value(item, path)).collect(),
            Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                let scalar = Scalar::from_json(value).ok_or_else(|| OutOfRange {
                    path: path.display(),
                })?;
                if self.rule.encrypts(path) {
                    Ok(Value::String(self.scalar(&scalar, path)))
                } else {
                    Ok(value.clone())
                }
            }
        }
    }

    fn scalar(&mut self, value: &Scalar, path: &Path) -> String {
        let place = path.additional_data();
        let kept = self
            .stash
            .iter()
            .position(|sealed| sealed.place == place && sealed.value.is_same(value));
        match kept {
            Some(at) => self.stash.remove(at).text,
            None => encrypt(self.key, value, &place, self.random),
        }
    }
}
