//! Where text comes from.

use serde_json::{Map, Value};

/// Writes and edits YAML. It is given encrypted values only, and what it writes is read back and proved, so it
/// cannot make a sealed document by itself.
pub trait Layout {
    /// Writes the entries of a mapping in lines of their own, in the layout of new documents.
    fn write(&self, mapping: &Map<String, Value>) -> String;

    /// Changes the one document of a text so that it means `value`, and keeps everything else: order, comments,
    /// quotes. None where that cannot be done; then the document is written new.
    fn edit(&self, text: &str, value: &Value) -> Option<String>;
}
