//! The same question once more: in another order on a folder that is known, as a preview; as a replay on one that
//! is not; and on what came out.

use std::collections::BTreeSet;

use manifests::plan::{FileContent, Mode, Outcome};
use manifests::{Folder, Intent};
use model::{FilesInMemory, ResourceId};

use super::patch::{self, Shown};
use super::{committed, plan, text_of};
use crate::rows::case::{Case, Keys};
use crate::rows::keyring;

/// Asks in each way, and in two of them in turns. `known` is the folder as the first question left it.
pub(super) fn all(
    case: &Case,
    outcome: &Outcome,
    after: &FilesInMemory,
    mut known: Option<Folder>,
) -> Result<(), String> {
    preview(case, outcome, after, &mut known)?;
    // Each of these costs as much as the case itself, so they take turns.
    match case.number % 2 {
        0 => replay(case, outcome, after),
        _ => settled(case, after, &mut known),
    }
}

/// PI-6: the order of the intents changes nothing.
fn shuffled(intents: &[Intent]) -> Vec<Intent> {
    let mut intents = intents.to_vec();
    if is_unordered(&intents) {
        intents.reverse();
        let middle = intents.len() / 2;
        intents.rotate_left(middle);
    }
    intents
}

/// Says whether no object is named twice, so that the order has no meaning.
fn is_unordered(intents: &[Intent]) -> bool {
    let mut seen: BTreeSet<ResourceId> = BTreeSet::new();
    intents.iter().all(|intent| match intent {
        Intent::Upsert(object) => seen.insert(object.id().clone()),
        Intent::Remove { id } => seen.insert(id.clone()),
        Intent::Sweep { objects, .. } => objects
            .iter()
            .all(|object| seen.insert(object.id().clone())),
        Intent::Replay(_) => false,
    })
}

/// Compares two outcomes; sealed files by what they hold, since each sealing has keys of its own.
fn same(case: &Case, files: &FilesInMemory, one: &Outcome, other: &Outcome) -> Result<(), String> {
    if case.keys == Keys::None {
        let equal = one == other;
        return equal
            .then_some(())
            .ok_or_else(|| format!("{one:?} is not {other:?}"));
    }
    if one.decisions != other.decisions || one.retained != other.retained {
        return Err(format!("{:?} is not {:?}", one.decisions, other.decisions));
    }
    let (one, other) = (committed(files, one)?, committed(files, other)?);
    same_files(&one, &other)
}

fn same_files(one: &FilesInMemory, other: &FilesInMemory) -> Result<(), String> {
    if one.files.paths() != other.files.paths() {
        return Err("other files".to_owned());
    }
    for path in one.files.paths() {
        let (one, other) = (text_of(one, &path), text_of(other, &path));
        if one == other {
            continue;
        }
        let open = |text: Option<String>| text.as_deref().and_then(keyring::open);
        let (one, other) = (open(one), open(other));
        let equal = one.is_some() && one == other;
        if !equal {
            return Err(format!("{path} is another"));
        }
    }
    Ok(())
}

/// E6 and PI-6: what a preview shows, in another order and on a folder that is known, is what is done.
fn preview(
    case: &Case,
    outcome: &Outcome,
    after: &FilesInMemory,
    known: &mut Option<Folder>,
) -> Result<(), String> {
    let intents = shuffled(&case.intents);
    let shown = plan(case, &case.before, &intents, Mode::Preview, known)?;
    same(case, &case.before, outcome, &shown).map_err(|what| format!("e-6: {what}"))?;
    let tree = case.before.tree();
    let diff = shown.diff(tree).map_err(|error| error.to_string())?;
    let shown = patch::apply(&case.before, &diff).map_err(|what| format!("e-6: {what}"))?;
    let edited: BTreeSet<_> = outcome.edits.iter().map(|edit| &edit.path).collect();
    if shown.keys().collect::<BTreeSet<_>>() != edited {
        return Err(format!("e-6: {diff} shows other files than {edited:?}"));
    }
    for edit in &outcome.edits {
        let hidden = edit.held_secret || matches!(edit.content, FileContent::Sealed(_));
        let right = match &shown[&edit.path] {
            Shown::Hidden => hidden,
            Shown::Text(text) => !hidden && *text == text_of(after, &edit.path),
        };
        if !right {
            return Err(format!("e-6: {diff} does not show {}", edit.path));
        }
    }
    Ok(())
}

/// RP-1: what was decided is done again from the decision alone, on a folder that was never read.
fn replay(case: &Case, outcome: &Outcome, after: &FilesInMemory) -> Result<(), String> {
    let intents = [Intent::Replay(outcome.decided.clone())];
    let replayed = plan(case, &case.before, &intents, Mode::Apply, &mut None)?;
    same_files(&committed(&case.before, &replayed)?, after).map_err(|what| format!("rp-1: {what}"))
}

/// ST-10: on what came out there is nothing left to do.
fn settled(case: &Case, after: &FilesInMemory, known: &mut Option<Folder>) -> Result<(), String> {
    let again = plan(case, after, &case.intents, Mode::Apply, known)?;
    if again.is_empty() {
        return Ok(());
    }
    let diff = again
        .diff(after.tree())
        .map_err(|error| error.to_string())?;
    Err(format!("st-10: there is something left to do:\n{diff}"))
}
