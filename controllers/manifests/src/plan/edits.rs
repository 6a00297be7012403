//! The actions of a batch on one file, and the text that comes out.
//!
//! Edits come first, in one pass over the text; then removals; then new documents, ordered by identity. So the
//! result does not depend on the order in which the wishes came (MD-3). An action that fails is refused by
//! itself and leaves the others alone (D53).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::{DesiredObject, Refusal, RepoPath, ResourceId};
use serde_json::{Map, Value};

use super::refuse;
use super::wanted::leave_namespace_out;
use crate::folder::Document;
use crate::placement::Unplaced;
use crate::yaml;

/// What is to be done to one file.
#[derive(Default)]
pub(crate) struct FileWork {
    /// Documents that get another value, by their position.
    pub(crate) edits: BTreeMap<usize, Edit>,
    /// Documents that go, by their position; builds can make several objects of one.
    pub(crate) removals: BTreeMap<usize, BTreeSet<ResourceId>>,
    /// Documents that come, in the order of their objects' identities, each once.
    pub(crate) additions: Vec<Addition>,
}

impl FileWork {
    /// Returns the part of the work that is for some objects.
    pub(crate) fn only(&self, ids: &BTreeSet<ResourceId>) -> Self {
        let edits = self.edits.iter().filter(|(_, edit)| ids.contains(&edit.id));
        let removals = self.removals.iter().filter_map(|(at, gone)| {
            let gone: BTreeSet<ResourceId> = gone.intersection(ids).cloned().collect();
            (!gone.is_empty()).then_some((*at, gone))
        });
        let additions = self.additions.iter();
        let additions = additions.filter(|addition| ids.contains(addition.object.id()));
        Self {
            edits: edits.map(|(at, edit)| (*at, edit.clone())).collect(),
            removals: removals.collect(),
            additions: additions.cloned().collect(),
        }
    }

    /// Says whether there is nothing to do.
    pub(crate) fn is_empty(&self) -> bool {
        self.edits.is_empty() && self.removals.is_empty() && self.additions.is_empty()
    }

    /// Returns the objects that the work is for.
    pub(crate) fn ids(&self) -> impl Iterator<Item = &ResourceId> {
        let edits = self.edits.values().map(|edit| &edit.id);
        edits
            .chain(self.removals.values().flatten())
            .chain(self.additions.iter().map(|one| one.object.id()))
    }
}

/// A document that comes. What it says is read when it is written, so that of many none but one is held in parts.
#[derive(Clone)]
pub(crate) struct Addition {
    pub(crate) object: Arc<DesiredObject>,
    /// Whether it names no namespace.
    pub(crate) is_bare: bool,
}

impl Addition {
    /// Returns what the document says.
    pub(crate) fn value(&self) -> Map<String, Value> {
        let mut value = self.object.value();
        if self.is_bare {
            leave_namespace_out(&mut value);
        }
        value
    }
}

/// A document and what it should say.
#[derive(Clone)]
pub(crate) struct Edit {
    pub(crate) id: ResourceId,
    pub(crate) wanted: Value,
}

/// The text that a file gets.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum NewText {
    Text(String),
    Removed,
}

/// What came of the work on one file.
pub(crate) struct Done {
    pub(crate) text: NewText,
    /// The work without what was refused.
    pub(crate) work: FileWork,
    /// The objects that could not be served, with the reason.
    pub(crate) refused: BTreeMap<ResourceId, Refusal>,
}

/// Does the work on one file.
pub(crate) fn apply(
    path: &RepoPath,
    text: Option<&str>,
    documents: &[Document],
    mut work: FileWork,
) -> Done {
    let mut refused = BTreeMap::new();
    let before = text.unwrap_or_default();
    let edited = edit(before, documents, &mut work, &mut refused);
    let all_go = !documents.is_empty() && work.removals.len() == documents.len();
    let kept = if all_go {
        String::new()
    } else {
        remove(edited, documents, &mut work, &mut refused)
    };
    let added = add(path, kept, &mut work, &mut refused);
    let gone = all_go && work.additions.is_empty();
    Done {
        text: if gone {
            NewText::Removed
        } else {
            NewText::Text(added)
        },
        work,
        refused,
    }
}

/// Edits all documents at once, and one by one where that fails, to find the ones that cannot be.
fn edit(
    text: &str,
    documents: &[Document],
    work: &mut FileWork,
    refused: &mut BTreeMap<ResourceId, Refusal>,
) -> String {
    let all: Vec<(usize, &Value)> = work
        .edits
        .iter()
        .map(|(index, edit)| (*index, &edit.wanted))
        .collect();
    if let Ok(edited) = yaml::edit(text, &all) {
        return edited;
    }
    let mut current = text.to_owned();
    work.edits.retain(
        |index, edit| match yaml::edit(&current, &[(*index, &edit.wanted)]) {
            Ok(edited) => {
                current = edited;
                true
            }
            Err(error) => {
                let refusal = refuse::not_expressible(&edit.id, &documents[*index], &error);
                refused.insert(edit.id.clone(), refusal);
                false
            }
        },
    );
    current
}

fn remove(
    text: String,
    documents: &[Document],
    work: &mut FileWork,
    refused: &mut BTreeMap<ResourceId, Refusal>,
) -> String {
    if work.removals.is_empty() {
        return text;
    }
    let positions: Vec<usize> = work.removals.keys().copied().collect();
    match yaml::remove(&text, &positions) {
        Ok(kept) => kept,
        Err(error) => {
            for (index, gone) in std::mem::take(&mut work.removals) {
                for id in gone {
                    let refusal = refuse::not_expressible(&id, &documents[index], &error);
                    refused.insert(id, refusal);
                }
            }
            text
        }
    }
}

fn add(
    path: &RepoPath,
    mut text: String,
    work: &mut FileWork,
    refused: &mut BTreeMap<ResourceId, Refusal>,
) -> String {
    work.additions.retain(|addition| {
        match yaml::append(&text, &yaml::canonical(&addition.value())) {
            Ok(longer) => {
                text = longer;
                true
            }
            Err(_) => {
                let (id, path) = (addition.object.id(), path.clone());
                let refusal = Unplaced::MultiDocumentTarget { path }.refusal(id);
                refused.insert(id.clone(), refusal);
                false
            }
        }
    });
    text
}
