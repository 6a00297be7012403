//! A build before and after documents come and go.

use std::collections::{BTreeMap, BTreeSet};

use model::{RepoPath, ResourceId};
use serde_json::Value;

use super::built::is_as_wanted;
use super::explain::first_gap;
use super::wanted::without_namespace;
use crate::folder::AcceptedFolder;
use crate::kustomize::{Render, Rendered};
use crate::yaml::FieldPath;

/// What builds make differently.
#[derive(Default)]
pub(super) struct Expected<'w> {
    /// Objects that go.
    pub(super) gone: BTreeSet<&'w ResourceId>,
    /// Objects that come, each with all that it says and the file that says it.
    pub(super) come: BTreeMap<&'w ResourceId, (Value, &'w RepoPath)>,
    /// Objects whose document is encrypted, so that nobody knows what it says (SE-6).
    pub(super) unchecked: BTreeSet<&'w ResourceId>,
}

/// In what a build is not as expected.
pub(super) struct Problem {
    pub(super) message: String,
    /// The position of an object of the build, and its field.
    pub(super) at: Option<(usize, FieldPath)>,
}

impl Expected<'_> {
    /// Says whether a build makes something that goes, or that nobody can read.
    pub(super) fn concerns(&self, folder: AcceptedFolder<'_>, render: &Render) -> bool {
        let mut objects = render.objects.iter();
        objects.any(|object| {
            let id = folder.identify(object);
            id.is_some_and(|id| {
                self.gone.contains(&id)
                    || self.unchecked.contains(&id)
                    || self.come.contains_key(&id)
            })
        })
    }
}

/// Says in what a build is not as expected.
pub(super) fn compare(
    folder: AcceptedFolder<'_>,
    before: Option<&Render>,
    after: &Render,
    expected: &Expected<'_>,
    new: &BTreeSet<RepoPath>,
) -> Option<Problem> {
    let spoken_of = |id: &Option<ResourceId>| {
        id.as_ref().is_some_and(|id| {
            expected.gone.contains(id)
                || expected.come.contains_key(id)
                || expected.unchecked.contains(id)
        })
    };
    let identify = |render: &Render| -> Vec<Option<ResourceId>> {
        let objects = render.objects.iter();
        objects.map(|object| folder.identify(object)).collect()
    };
    let ids = identify(after);
    let mut found: BTreeSet<&ResourceId> = BTreeSet::new();
    for (at, (object, id)) in after.objects.iter().zip(&ids).enumerate() {
        let Some(id) = id else { continue };
        if expected.gone.contains(id) {
            return Some(whole(format!("{id} would still be built")));
        }
        if let Some((wanted, _)) = expected.come.get(id) {
            if !is_as_wanted(object, wanted) {
                let field = difference(object, wanted);
                let of = field
                    .as_ref()
                    .map_or_else(String::new, |field| format!("{field} of "));
                return Some(Problem {
                    message: format!(
                        "{of}{id} would be built otherwise than it is live, by what the kustomization adds or overrides"
                    ),
                    at: field.map(|field| (at, field)),
                });
            }
            found.insert(id);
        }
    }
    let mut come = expected.come.iter();
    let missing = come.find(|(id, (_, path))| new.contains(*path) && !found.contains(*id));
    if let Some((id, _)) = missing {
        return Some(whole(format!(
            "{id} would not be built, or in another namespace"
        )));
    }
    let before = before?;
    let old_ids = identify(before);
    let mut old = before
        .objects
        .iter()
        .zip(&old_ids)
        .filter(|(_, id)| !spoken_of(id));
    let mut now = after
        .objects
        .iter()
        .zip(&ids)
        .filter(|(_, id)| !spoken_of(id));
    loop {
        match (old.next(), now.next()) {
            (None, None) => return None,
            (Some((old, _)), Some((now, _))) if old.id == now.id => {
                if !old.node.says_as(&now.node) {
                    return Some(whole(format!("{} would change too", now.title())));
                }
            }
            (Some((object, _)), _) | (None, Some((object, _))) => {
                let message = format!("{} would come, go or move too", object.title());
                return Some(whole(message));
            }
        }
    }
}

fn whole(message: String) -> Problem {
    Problem { message, at: None }
}

/// Returns the first field in which an object is not as wanted, apart from its namespace.
fn difference(object: &Rendered, wanted: &Value) -> Option<FieldPath> {
    let built = without_namespace(object.node.to_value());
    first_gap(&built, &without_namespace(wanted.clone()))
}
