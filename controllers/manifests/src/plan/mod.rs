//! From wishes to bytes: the one pure function that every caller uses.
//!
//! [`plan`] reads the folder, has it judged, matches each wish to one document or one new place, edits the
//! documents in memory, checks the result by reading it again, and answers with the files that change. It
//! starts no build and encrypts nothing.
//!
//! Reading order: [`Intent`] and [`Outcome`] are the two ends, [`Policy`] is the frame; `wishes` makes one wish of
//! all that the intents say about an object, `planner` turns wishes into work on files, `wanted` says what a
//! document should hold (with `defaults`, `dependent` and `equivalent`, which `settle` walks with), `edits`
//! makes the text, `check` reads it once more, `refuse` words the refusals.

mod bootstrap;
mod check;
pub mod defaults;
mod dependent;
mod edits;
mod equivalent;
mod intent;
mod outcome;
mod planner;
mod policy;
mod refuse;
mod settle;
#[cfg(test)]
mod tests;
mod wanted;
mod wishes;

use model::{Files, Refusal, ResourceId};

use crate::folder::Folder;
use planner::Planner;
use wishes::Wishes;

pub use defaults::Defaults;
pub use intent::{DecidedActions, DecidedRemoval, Intent, RemovalCause};
pub use outcome::{
    Decision, FileContent, FileEdit, FolderFacts, FolderVerdict, ObjectDecision, Outcome,
    PlacementSource, Retained, RetainedReason,
};
pub use policy::{Mode, Policy, PruneMode};

/// Plans a batch of intents on the files of one commit. Files outside the policy's folder are not looked at.
pub fn plan(files: &Files, intents: &[Intent], policy: &Policy, mode: Mode) -> Outcome {
    let mut wishes = wishes::named(intents);
    let namespaces = wishes::source_namespaces(&wishes, intents);
    let catalog = wishes::complete_catalog(&policy.catalog, &wishes);
    let bare = policy.serialize_namespace == Some(false);
    let single = match namespaces.iter().next() {
        Some(Some(namespace)) if bare && namespaces.len() == 1 => Some(namespace),
        _ => None,
    };
    let folder = match Folder::read(files, &policy.folder, &catalog, single).accept() {
        Ok(folder) => folder,
        Err(issues) => return refused(issues, &wishes, mode),
    };
    if mode == Mode::Inspect {
        return Planner::new(files, &folder, policy).plan(&Wishes::new());
    }
    if bare && (namespaces.len() > 1 || namespaces.contains(&None)) {
        return Outcome {
            folder: FolderVerdict::Accepted(folder.facts()),
            decisions: decide_all(&wishes, refuse::several_namespaces),
            ..Outcome::nothing()
        };
    }
    wishes::add_swept(&mut wishes, intents, &folder);
    Planner::new(files, &folder, policy).plan(&wishes)
}

/// Answers for a folder that is not accepted: its issues, and a refusal for each object (D51).
fn refused(issues: Vec<Refusal>, wishes: &Wishes, mode: Mode) -> Outcome {
    let decisions = match mode {
        Mode::Inspect => Vec::new(),
        Mode::Apply | Mode::Preview => decide_all(wishes, |id| refuse::folder(id, &issues)),
    };
    Outcome {
        folder: FolderVerdict::Refused(issues),
        decisions,
        ..Outcome::nothing()
    }
}

fn decide_all(wishes: &Wishes, refuse: impl Fn(&ResourceId) -> Refusal) -> Vec<ObjectDecision> {
    wishes
        .keys()
        .map(|id| ObjectDecision {
            id: id.clone(),
            decision: Decision::Refused(refuse(id)),
        })
        .collect()
}
