//! What inputs shall say, as new bytes.

use std::collections::BTreeMap;

use model::{Location, RepoPath};
use serde_json::{Map, Value};

use super::delta::spelled;
use super::target::{Edit, Part, Place, Placed, Says};
use crate::kustomize::image_reference::ImageReference;
use crate::yaml::{self, Step};

/// Why a text does not take an edit.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) at: Location,
    pub(super) problem: String,
}

/// Returns the text of a file in which some inputs say something else. Everything else keeps its bytes.
pub(super) fn edited(path: &RepoPath, text: &str, edits: &[&Edit]) -> Result<String, Failure> {
    let fail = |field: Option<String>, problem: String| Failure {
        at: Location {
            path: path.clone(),
            line: None,
            field,
        },
        problem,
    };
    let values = yaml::values(text).map_err(|error| fail(None, error.to_string()))?;
    let mut wanted: BTreeMap<usize, Value> = BTreeMap::new();
    let mut edits = edits.to_vec();
    // What lies deeper and further back comes first, so that positions hold.
    edits.sort_by(|one, other| depth(other).cmp(&depth(one)));
    for edit in edits {
        let Place::Value {
            document,
            way,
            part,
        } = &edit.target.place;
        let missing = || fail(Some(spelled(way)), "the document is not there".to_owned());
        let value = match wanted.entry(*document) {
            std::collections::btree_map::Entry::Occupied(slot) => slot.into_mut(),
            std::collections::btree_map::Entry::Vacant(slot) => {
                slot.insert(values.get(*document).ok_or_else(missing)?.clone())
            }
        };
        say(value, way, part, &edit.says).ok_or_else(|| {
            let problem = "the file does not have what would have to change";
            fail(Some(spelled(way)), problem.to_owned())
        })?;
    }
    let changes: Vec<(usize, &Value)> = wanted.iter().map(|(at, value)| (*at, value)).collect();
    yaml::edit(text, &changes).map_err(|error| fail(None, error.to_string()))
}

fn depth(edit: &Edit) -> (usize, &Place) {
    let Place::Value { way, .. } = &edit.target.place;
    (way.len(), &edit.target.place)
}

/// Says something at a way from a value; nothing where there is no such way.
fn say(value: &mut Value, way: &[Step], part: &Part, says: &Says) -> Option<()> {
    if let (Says::Nothing, Part::Whole) = (says, part) {
        let (last, above) = way.split_last()?;
        return remove(find(value, above)?, last);
    }
    let value = make(value, way)?;
    match (says, part) {
        (Says::Value(wanted), Part::Whole) => *value = wanted.clone(),
        (Says::Value(entry), Part::Entry(_)) => list(value)?.push(entry.clone()),
        (Says::Items(items), Part::Items) => {
            let old = value.as_array()?.clone();
            let item = |item: &Placed| match item {
                Placed::Kept(at) => old.get(*at).cloned(),
                Placed::New(value) => Some(value.clone()),
            };
            *value = items.iter().map(item).collect::<Option<Vec<_>>>()?.into();
        }
        (says, part) => {
            let mut reference = ImageReference::read(value.as_str()?);
            let text = match says {
                Says::Value(text) => Some(text.as_str()?.to_owned()),
                Says::Nothing => None,
                Says::Items(_) => return None,
            };
            match part {
                Part::Name => reference.name = text?,
                Part::Tag => reference.tag = text,
                Part::Digest => reference.digest = text,
                Part::Items | Part::Whole | Part::Entry(_) => return None,
            }
            *value = reference.write().into();
        }
    }
    Some(())
}

fn find<'v>(value: &'v mut Value, way: &[Step]) -> Option<&'v mut Value> {
    way.iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.get_mut(key),
        Step::Item(at) => value.get_mut(*at),
    })
}

/// Finds a value, and makes the fields on the way to it that are not there.
fn make<'v>(value: &'v mut Value, way: &[Step]) -> Option<&'v mut Value> {
    way.iter().try_fold(value, |value, step| match step {
        Step::Key(key) => {
            if value.is_null() {
                *value = Value::Object(Map::new());
            }
            Some(value.as_object_mut()?.entry(key).or_insert(Value::Null))
        }
        Step::Item(at) => value.get_mut(*at),
    })
}

fn remove(value: &mut Value, step: &Step) -> Option<()> {
    match step {
        Step::Key(key) => value.as_object_mut()?.remove(key).map(drop),
        Step::Item(at) => {
            let items = value.as_array_mut()?;
            (*at < items.len()).then(|| drop(items.remove(*at)))
        }
    }
}

fn list(value: &mut Value) -> Option<&mut Vec<Value>> {
    if value.is_null() {
        *value = Value::Array(Vec::new());
    }
    value.as_array_mut()
}
