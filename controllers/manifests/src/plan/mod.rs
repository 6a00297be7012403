//! From wishes to bytes: the one pure function that every caller uses.
//!
//! [`plan`] reads the folder, has it judged, matches each wish to one document, one build or one new place, edits
//! texts in memory, checks the result by reading and building it again, and answers with the files that change. It
//! encrypts through `sealing` only.
//!
//! Reading order: [`Intent`] and [`Outcome`] are the two ends, [`Policy`] is the frame; `wishes` makes one wish of
//! all that the intents say about an object, `planner` turns wishes into work on files, with `sealed` (what is
//! sensitive), `place` (new documents), `built` (objects that builds make) and `absent` (those without a document);
//! `wanted` says what a document should hold (with `defaults`, `dependent` and `equivalent`, which `settle` walks
//! with), `edits` makes the text, `check` reads it once more, `structure` lists what comes and goes and builds again,
//! with `compare` and `readers` (builds elsewhere); `refuse` words the refusals, `explain` adds to them what they
//! leave out.

mod absent;
mod bootstrap;
mod built;
mod check;
mod compare;
pub mod defaults;
mod dependent;
mod edits;
mod equivalent;
mod explain;
mod intent;
mod outcome;
mod place;
mod planner;
mod policy;
mod readers;
mod refuse;
mod seal;
mod sealed;
mod settle;
mod structure;
#[cfg(test)]
mod tests;
mod texts;
mod wanted;
mod wishes;

use model::{FileTree, ReadError, Refusal, ResourceId};

use crate::folder::{Folder, Joining};
use explain::Ground;
use planner::Planner;
use wishes::Wishes;

pub use defaults::Defaults;
pub use explain::{
    Change, Difference, Explanation, Explanations, Fix, Supplier, SupplierKind, Told,
};
pub use intent::{DecidedActions, DecidedRemoval, Intent, RemovalCause};
pub use outcome::{
    Counts, Decision, FileContent, FileEdit, FolderFacts, FolderVerdict, Listing, ObjectDecision,
    Outcome, PlacementSource, Retained, RetainedReason, Scaled, SealReason, SealedObject,
};
pub use policy::{Applier, Mode, Policy, PruneMode};
pub use seal::{Encryption, Sealing};

/// Plans a batch of intents on the files of one commit. `folder` is what is known of the policy's folder from an
/// earlier commit, or [`Folder::new`]; it is brought to this commit, and only what differs is read. Outside
/// of the policy's folder only what is needed is looked at: configurations of SOPS above it, what its kustomizations
/// read, and the kustomizations that read it. Without `sealing` every sensitive object is refused.
///
/// # Errors
/// Returns the content that could not be read; nothing is planned then (PI-8).
pub fn plan(
    folder: &mut Folder,
    tree: FileTree<'_>,
    intents: &[Intent],
    policy: &Policy,
    mode: Mode,
    sealing: Option<Sealing<'_>>,
) -> Result<Outcome, ReadError> {
    if *folder.path() != policy.folder {
        *folder = Folder::new(policy.folder.clone());
    }
    let mut wishes = match mode {
        Mode::Inspect => Wishes::new(),
        Mode::Apply | Mode::Preview | Mode::Explain => wishes::named(intents),
    };
    let namespaces = wishes::source_namespaces(&wishes, intents);
    let bare = policy.serialize_namespace == Some(false);
    let is_mixed = bare && (namespaces.len() > 1 || namespaces.contains(&None));
    let single = namespaces.iter().next().cloned().flatten();
    let joining = Joining {
        catalog: wishes::complete_catalog(&policy.catalog, &wishes),
        namespace: single.filter(|_| bare && !is_mixed),
    };
    folder.update(tree, &joining)?;
    let mut cache = folder.take_cache();
    let can_seal = sealing.is_some();
    let is_planned = mode != Mode::Inspect;
    let mut outcome = match folder.accept() {
        Err(issues) => refused(issues, &wishes),
        Ok(folder) if is_planned && is_mixed => Outcome {
            folder: FolderVerdict::Accepted(folder.facts().clone()),
            decisions: decide_all(&wishes, |id| refuse::several_namespaces(id, &namespaces)),
            ..Outcome::nothing()
        },
        Ok(folder) => {
            if is_planned {
                wishes::add_swept(&mut wishes, intents, folder);
            }
            Planner::new(tree, folder, policy, sealing, &mut cache).plan(&wishes)?
        }
    };
    folder.give_cache(cache);
    outcome.layout = folder.layout();
    if mode == Mode::Explain {
        let ground = Ground {
            tree,
            folder,
            policy,
            can_seal,
        };
        outcome.explanations = explain::explain(&outcome, &wishes, ground)?;
    }
    Ok(outcome)
}

/// Answers for a folder that is not accepted: its issues, and a refusal for each object (D51).
fn refused(issues: Vec<Refusal>, wishes: &Wishes) -> Outcome {
    let decisions = decide_all(wishes, |id| refuse::folder(id, &issues));
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
            decision: Decision::refused(refuse(id)),
        })
        .collect()
}
