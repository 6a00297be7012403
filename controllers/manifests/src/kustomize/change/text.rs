//! What inputs shall say, as new bytes.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use model::{Location, RepoPath};
use serde_json::{Map, Value};

use super::delta::spelled;
use super::target::{Edit, Part, Place, Placed, Says, Written};
use crate::kustomize::generator::edit;
use crate::kustomize::image_reference::ImageReference;
use crate::yaml::{self, FieldPath, Places, Step};

/// Why a text does not take an edit.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) at: Location,
    pub(super) problem: String,
}

/// Returns the bytes of a file in which some inputs say something else. Everything else keeps its bytes.
pub(super) fn edited(path: &RepoPath, content: &[u8], edits: &[&Edit]) -> Result<Vec<u8>, Failure> {
    let values: Vec<(&Written, &Says)> = edits
        .iter()
        .filter_map(|edit| match &edit.target.place {
            Place::Value(written) => Some((written, &edit.says)),
            Place::Line(_) | Place::NewLine(_) | Place::Content => None,
        })
        .collect();
    let after = match values.len() {
        0 => input(content, edits).ok_or((None, "the file cannot say the new value".to_owned())),
        count if count == edits.len() => document(content, values),
        _ => Err((
            None,
            "the file is read as manifests and by a generator".to_owned(),
        )),
    };
    after.map_err(|(field, problem)| Failure {
        at: Location {
            path: path.clone(),
            line: None,
            field,
        },
        problem,
    })
}

/// Returns where an input stands.
pub(super) fn place(edit: &Edit, content: &[u8]) -> Location {
    let line = match &edit.target.place {
        Place::Value(written) => std::str::from_utf8(content).ok().and_then(|text| {
            let field = FieldPath::of_steps(written.way.clone());
            Places::read(text).ok()?.line_of(written.document, &field)
        }),
        Place::Line(start) => usize::try_from(*start).ok().and_then(|start| {
            let breaks = content.get(..start)?.iter().filter(|byte| **byte == b'\n');
            u32::try_from(breaks.count() + 1).ok()
        }),
        Place::NewLine(_) => None,
        Place::Content => Some(1),
    };
    Location {
        path: edit.target.file.clone(),
        line,
        field: None,
    }
}

/// Changes what a generator reads, from the end on, so that places hold.
fn input(content: &[u8], edits: &[&Edit]) -> Option<Vec<u8>> {
    let mut edits = edits.to_vec();
    edits.sort_by_key(|edit| match edit.target.place {
        Place::Line(start) => (0, std::cmp::Reverse(start)),
        _ => (1, std::cmp::Reverse(0)),
    });
    edits.iter().try_fold(content.to_vec(), |content, edit| {
        let value = match &edit.says {
            Says::Value(value) => Some(value.as_str()?),
            Says::Nothing => None,
            Says::Items(_) => return None,
        };
        match (&edit.target.place, value) {
            (Place::Line(start), Some(value)) => edit::env_with_value(&content, *start, value),
            (Place::Line(start), None) => edit::env_without(&content, *start),
            (Place::NewLine(key), Some(value)) => edit::env_with_new_line(&content, key, value),
            (Place::Content, Some(value)) => edit::content_with_value(value),
            (Place::Value(_) | Place::NewLine(_) | Place::Content, _) => None,
        }
    })
}

/// Why a document does not take an edit, and at which field.
type Problem = (Option<String>, String);

/// Changes values of YAML.
fn document(content: &[u8], mut edits: Vec<(&Written, &Says)>) -> Result<Vec<u8>, Problem> {
    let text = std::str::from_utf8(content).map_err(|error| (None, error.to_string()))?;
    let values = yaml::values(text).map_err(|error| (None, error.to_string()))?;
    // What lies deeper and further back comes first, so that positions hold.
    edits.sort_by(|(one, _), (other, _)| {
        let order = depth(other).cmp(&depth(one));
        order.then_with(|| one.part.cmp(&other.part))
    });
    let mut wanted: BTreeMap<usize, Value> = BTreeMap::new();
    for (written, says) in edits {
        let value = match wanted.entry(written.document) {
            Entry::Occupied(slot) => slot.into_mut(),
            Entry::Vacant(slot) => {
                let missing = || (None, "the document is not there".to_owned());
                slot.insert(values.get(written.document).ok_or_else(missing)?.clone())
            }
        };
        say(value, &written.way, &written.part, says).ok_or_else(|| {
            let problem = "the file does not have what would have to change";
            (Some(spelled(&written.way)), problem.to_owned())
        })?;
    }
    let changes: Vec<(usize, &Value)> = wanted.iter().map(|(at, value)| (*at, value)).collect();
    let edited = yaml::edit(text, &changes).map_err(|error| (None, error.to_string()))?;
    Ok(edited.into_bytes())
}

fn depth(written: &Written) -> (usize, &[Step]) {
    (written.way.len(), &written.way)
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
