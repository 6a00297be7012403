//! Edits with the exact bytes that must come out: one text, one change, one result.

use manifests::yaml;
use serde::Deserialize;
use serde_json::Value;

/// One edit and what it must give.
#[derive(Debug, Clone, Deserialize)]
pub struct Vector {
    /// What it is called.
    pub name: String,
    /// The text.
    pub before: String,
    /// What is done.
    pub op: Operation,
    /// Where, with keys as Kubernetes reads them.
    pub path: Vec<Step>,
    /// The new value; without meaning for a deletion.
    #[serde(default)]
    pub value: Value,
    /// The text that must come out; `None` where the edit must be refused.
    pub after: Option<String>,
    /// The document, counted from 0.
    #[serde(default)]
    pub doc: usize,
}

/// What a vector does at its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// Gives a scalar another value.
    Set,
    /// Gives a mapping or list another value.
    Replace,
    /// Takes a key or an item out.
    Delete,
    /// Puts a key in, the last step of the path.
    Add,
    /// Puts an item behind the others of the list at the path.
    Append,
    /// Puts an item in before the one that the last step names.
    Insert,
}

/// One step down.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Step {
    /// To an item, counted from 0.
    Index(usize),
    /// To the value of a key.
    Key(String),
}

/// A vector that cannot be run: it asks for something that its text does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the vector {vector} has no place for its change in document {document} of its text")]
pub struct BadVector {
    vector: String,
    document: usize,
}

/// Reads vectors from JSON.
///
/// # Errors
/// Returns where the text is no list of vectors.
pub fn parse(text: &str) -> Result<Vec<Vector>, serde_json::Error> {
    serde_json::from_str(text)
}

impl Vector {
    /// Makes the edit. `None` says that it was refused.
    ///
    /// # Errors
    /// Returns that the text reads well and has no such place.
    pub fn run(&self) -> Result<Option<String>, BadVector> {
        let Ok(mut readings) = yaml::read(&self.before) else {
            return Ok(None);
        };
        let bad = || BadVector {
            vector: self.name.clone(),
            document: self.doc,
        };
        let reading = readings.get_mut(self.doc).ok_or_else(bad)?;
        if self.change(&mut reading.value).is_none() {
            // What a document with a problem means is not certain, so neither is what it has a place for.
            return reading.problem.as_ref().map(|_| None).ok_or_else(bad);
        }
        Ok(yaml::edit(&self.before, &[(self.doc, &reading.value)]).ok())
    }

    /// Applies the change to what the document means.
    fn change(&self, root: &mut Value) -> Option<()> {
        let (last, parents) = self.path.split_last()?;
        let value = self.value.clone();
        if self.op == Operation::Append {
            down(root, &self.path)?.as_array_mut()?.push(value);
            return Some(());
        }
        let parent = down(root, parents)?;
        match (self.op, last) {
            (Operation::Set | Operation::Replace, Step::Index(index)) => {
                *parent.get_mut(index)? = value;
            }
            (Operation::Set | Operation::Replace | Operation::Add, Step::Key(key)) => {
                parent.as_object_mut()?.insert(key.clone(), value);
            }
            (Operation::Delete, Step::Key(key)) => {
                parent.as_object_mut()?.remove(key)?;
            }
            (Operation::Delete, Step::Index(index)) => {
                let items = parent.as_array_mut()?;
                (*index < items.len()).then(|| items.remove(*index))?;
            }
            (Operation::Insert, Step::Index(index)) => {
                let items = parent.as_array_mut()?;
                (*index <= items.len()).then(|| items.insert(*index, value))?;
            }
            (Operation::Add, Step::Index(_))
            | (Operation::Insert, Step::Key(_))
            | (Operation::Append, _) => return None,
        }
        Some(())
    }
}

fn down<'a>(root: &'a mut Value, path: &[Step]) -> Option<&'a mut Value> {
    path.iter().try_fold(root, |at, step| match step {
        Step::Index(index) => at.get_mut(index),
        Step::Key(key) => at.get_mut(key),
    })
}
