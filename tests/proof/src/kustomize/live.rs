//! Live objects that are not what a folder builds to any more, and what becomes of the folder.

use std::collections::BTreeMap;

use manifests::kustomize::change::{Changed, ObjectKey, Wish, change};
use manifests::kustomize::{Cache, Render, Rendered};
use model::FolderPath;
use serde_json::{Map, Value, json};

use super::archive::Files;
use super::ours;
use crate::dice::Dice;

/// A folder with objects that were changed live.
#[derive(Debug, Clone)]
pub struct Live {
    /// The files.
    pub files: Files,
    /// Where files may be written.
    pub writable: FolderPath,
    /// The objects of the build.
    pub before: Vec<Value>,
    /// The objects that were changed, by their positions in the build.
    pub wishes: BTreeMap<usize, Wish>,
}

/// What a folder and its objects have to be after a change.
#[derive(Debug)]
pub struct Outcome {
    /// The files.
    pub files: Files,
    /// The objects that they have to build to.
    pub expected: Vec<Value>,
    /// How many changed objects the folder builds to now.
    pub landed: usize,
    /// What was refused and why, in words.
    pub refused: Vec<String>,
}

impl Live {
    /// Changes a few values of some objects; nothing where there is none to change.
    pub fn new(files: &Files, render: &Render, dice: &mut Dice, root: &str) -> Option<Self> {
        let before: Vec<Value> = render.objects.iter().map(|it| it.node.to_value()).collect();
        let writable = match dice.below(3) {
            0 => FolderPath::new(root).ok()?,
            _ => FolderPath::root(),
        };
        let mut wanted: BTreeMap<usize, Value> = BTreeMap::new();
        for _ in 0..=dice.below(3) {
            let at = dice.below(before.len());
            let object = before.get(at)?;
            let pointer = dice.pick(&pointers(object))?.clone();
            let new = other(object.pointer(&pointer)?, &pointer, dice);
            // Often whatever has the same value at the same place becomes the same, as a roll-out does it.
            let is_wide = dice.once_in(2);
            for (index, other) in before.iter().enumerate() {
                let is_same = other.pointer(&pointer) == object.pointer(&pointer);
                if index == at || (is_wide && is_same) {
                    let wanted = wanted.entry(index).or_insert_with(|| other.clone());
                    put(wanted, &pointer, new.clone());
                }
            }
        }
        let wishes = wanted.into_iter().filter_map(|(at, wanted)| {
            let object = key(&render.objects[at])?;
            let wish = Wish {
                object,
                wanted,
                names_namespace: None,
            };
            Some((at, wish))
        });
        Some(Self {
            files: files.clone(),
            writable,
            wishes: wishes.collect(),
            before,
        })
    }

    /// Lets the folder follow the objects.
    ///
    /// # Errors
    /// Returns why the folder is not rendered, in words, that a file was written that must not be, or that the order of
    /// the objects made a difference.
    pub fn follow(&self, root: &str) -> Result<Outcome, String> {
        let tree = ours::tree(&self.files)?;
        let mut wishes: Vec<Wish> = self.wishes.values().cloned().collect();
        let root = FolderPath::new(root).map_err(|error| error.to_string())?;
        let mut cache = Cache::default();
        let changed = change(tree.tree(), &root, &self.writable, &wishes, &mut cache);
        let changed: Changed = changed.map_err(|error| error.to_string())?;
        wishes.reverse();
        let again = change(tree.tree(), &root, &self.writable, &wishes, &mut cache);
        if again.map_err(|error| error.to_string())? != changed {
            return Err("another order of the objects makes another change".to_owned());
        }
        let mut files = self.files.clone();
        for (path, bytes) in changed.files {
            if !self.writable.contains(&path) || !files.contains_key(path.as_str()) {
                return Err(format!("{path} is written"));
            }
            files.insert(path.to_string(), bytes);
        }
        let refused: BTreeMap<&ObjectKey, _> = changed
            .refused
            .iter()
            .map(|(key, refusal)| (key, refusal))
            .collect();
        let mut expected = self.before.clone();
        let mut landed = 0;
        for (at, wish) in &self.wishes {
            if !refused.contains_key(&wish.object) {
                expected[*at] = wish.wanted.clone();
                landed += 1;
            }
        }
        Ok(Outcome {
            files,
            expected,
            landed,
            refused: refused.values().map(ToString::to_string).collect(),
        })
    }
}

fn key(object: &Rendered) -> Option<ObjectKey> {
    let text = |key: &str| Some(object.node.get(key)?.as_str()?.to_owned());
    Some(ObjectKey {
        api_version: text("apiVersion")?,
        kind: text("kind")?,
        namespace: object.namespace().map(str::to_owned),
        name: object.id.name.clone(),
    })
}

/// Returns the ways to every value but those that say which object it is.
fn pointers(object: &Value) -> Vec<String> {
    let mut found = Vec::new();
    gather(object, String::new(), &mut found);
    let identity = [
        "/apiVersion",
        "/kind",
        "/metadata",
        "/metadata/name",
        "/metadata/namespace",
    ];
    found.retain(|pointer| !pointer.is_empty() && !identity.contains(&pointer.as_str()));
    found
}

fn gather(value: &Value, pointer: String, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                let key = key.replace('~', "~0").replace('/', "~1");
                gather(value, format!("{pointer}/{key}"), found);
            }
        }
        Value::Array(items) => {
            for (at, value) in items.iter().enumerate() {
                gather(value, format!("{pointer}/{at}"), found);
            }
        }
        _ => {}
    }
    found.push(pointer);
}

/// Returns what becomes of a value; nothing where it goes.
fn other(value: &Value, pointer: &str, dice: &mut Dice) -> Option<Value> {
    if dice.once_in(6) {
        return None;
    }
    Some(match value {
        Value::String(text) if pointer.ends_with("/image") => {
            let name = text.split(['@', ':']).next().unwrap_or_default();
            let suffix = dice.one(&[":7", ":1.10", "", "@sha256:ab", ":7@sha256:ab"]);
            let name = if dice.once_in(4) { "live/name" } else { name };
            format!("{name}{suffix}").into()
        }
        Value::String(_) => dice.one(&["live", "on", "1.0", "two\nlines\n", ""]).into(),
        Value::Number(_) => dice.below(9).into(),
        Value::Bool(flag) => (!flag).into(),
        Value::Null => "live".into(),
        Value::Array(items) => {
            let mut items = items.clone();
            match dice.below(3) {
                0 => items.reverse(),
                1 => items.insert(dice.below(items.len() + 1), like(items.first())),
                _ => items.push(like(items.first())),
            }
            items.into()
        }
        Value::Object(fields) => {
            let mut fields = fields.clone();
            fields.insert("live".to_owned(), "new".into());
            fields.into()
        }
    })
}

/// Returns an item for a list that begins with another one.
fn like(item: Option<&Value>) -> Value {
    match item {
        Some(Value::Object(fields)) => {
            let mut fields: Map<String, Value> = fields.clone();
            if fields.contains_key("name") {
                fields.insert("name".to_owned(), "live".into());
            }
            for key in ["containerPort", "port"] {
                if fields.contains_key(key) {
                    fields.insert(key.to_owned(), 4711.into());
                }
            }
            fields.into()
        }
        Some(Value::Number(_)) => 4711.into(),
        _ => json!("live"),
    }
}

fn put(object: &mut Value, pointer: &str, new: Option<Value>) {
    let Some((above, last)) = pointer.rsplit_once('/') else {
        return;
    };
    let last = last.replace("~1", "/").replace("~0", "~");
    match (object.pointer_mut(above), new) {
        (Some(Value::Object(fields)), Some(new)) => {
            fields.insert(last, new);
        }
        (Some(Value::Object(fields)), None) => {
            fields.remove(&last);
        }
        (Some(Value::Array(items)), new) => {
            let at = last.parse().unwrap_or(usize::MAX);
            match new {
                Some(new) if at < items.len() => items[at] = new,
                None if at < items.len() => {
                    items.remove(at);
                }
                _ => {}
            }
        }
        _ => {}
    }
}
