//! What comes of a case: bytes and lines, and what kustomize's library builds then.
//!
//! [`look`] plans a case and compares whatever needs no other program; [`read`] compares what the library builds.

use std::collections::{BTreeMap, BTreeSet};

use manifests::plan::{FileContent, FolderVerdict, Mode, Outcome};
use manifests::{Decision, Folder, Intent};
use model::{FilesInMemory, Refusal, ResourceId};
use serde_json::Value;

use super::case::{Case, Deed, Happening, Promise, as_live};
use super::draft::ROOT;
use crate::kustomize::archive::Files;
use crate::kustomize::oracle::Answer;
use crate::kustomize::ours;
use crate::rows::judge::patch::{self, Shown};
use crate::rows::judge::{form, measure, text};
use crate::rows::objects::id_of;

/// So many lines may change for one edit beside those that it needs: the parts of an image, an entry that comes.
const SLACK: usize = 6;

/// What came of a case so far.
#[derive(Debug)]
pub struct Looked {
    /// The files then.
    pub after: Files,
    /// The happenings that landed.
    pub landed: Vec<Happening>,
    /// Those that were refused, and why.
    pub refused: Vec<(Happening, Refusal)>,
}

/// Plans a case and compares the bytes.
///
/// # Errors
/// Returns what is wrong, in words.
pub fn look(case: &Case) -> Result<Looked, String> {
    let before = ours::tree(&case.files)?;
    let intents: Vec<Intent> = case.happenings.iter().map(|it| it.intent.clone()).collect();
    let mut known = Folder::new(case.policy.folder.clone());
    let outcome = plan(case, &before, &intents, Mode::Apply, &mut known)?;
    if let FolderVerdict::Refused(issues) = &outcome.folder {
        return Err(format!("the folder is refused: {issues:?}"));
    }
    let (landed, refused) = sort_out(case, &outcome)?;
    let after = committed(&case.files, &outcome)?;
    if landed.is_empty() && after != case.files {
        return Err(format!(
            "a refused edit writes:\n{}",
            shown(&outcome, &before)
        ));
    }
    compare(case, &landed, &after).map_err(|it| format!("{it}:\n{}", shown(&outcome, &before)))?;
    promises(&refused, &landed, || shown(&outcome, &before))?;
    preview(case, &outcome, &after, &mut known)?;
    settled(case, &landed, &after, &mut known)?;
    Ok(Looked {
        after,
        landed,
        refused,
    })
}

/// Compares what the library builds then with what is live.
///
/// # Errors
/// Returns what is wrong, in words.
pub fn read(case: &Case, looked: &Looked, after: Answer) -> Result<(), String> {
    let is_built = !case.is_plain || !looked.landed.is_empty();
    let mut after = match after {
        Err(error) if is_built => return Err(format!("kustomize does not build it: {error}")),
        Err(_) => return Ok(()),
        Ok(after) => after,
    };
    after.iter_mut().for_each(as_live);
    let mut expected = case.before.clone();
    let mut news = Vec::new();
    for happening in &looked.landed {
        let id = id_of(happening.deed.object());
        match &happening.deed {
            Deed::Becomes { is, .. } => {
                let object = expected.iter_mut().find(|object| id_of(object) == id);
                *object.ok_or("an object that changes is not there")? = is.clone();
            }
            Deed::Goes(_) => expected.retain(|object| id_of(object) != id),
            Deed::Comes(value) => news.push(value.clone()),
        }
    }
    let is_new = |object: &Value| news.iter().any(|new| id_of(new) == id_of(object));
    let (come, rest): (Vec<Value>, Vec<Value>) = after.into_iter().partition(is_new);
    let by_id = |mut objects: Vec<Value>| {
        objects.sort_by_key(id_of);
        objects
    };
    if !alike(&by_id(come), &by_id(news)) {
        return Err("what comes is built otherwise than it is live".to_owned());
    }
    for (found, wanted) in rest.iter().zip(&expected) {
        if !measure::same(found, wanted) {
            return Err(format!("kustomize builds\n{found}\nand live is\n{wanted}"));
        }
    }
    (rest.len() == expected.len())
        .then_some(())
        .ok_or_else(|| format!("{} objects are built, not {}", rest.len(), expected.len()))
}

fn alike(one: &[Value], other: &[Value]) -> bool {
    let pairs = one.iter().zip(other);
    one.len() == other.len()
        && pairs
            .into_iter()
            .all(|(one, other)| measure::same(one, other))
}

fn plan(
    case: &Case,
    files: &FilesInMemory,
    intents: &[Intent],
    mode: Mode,
    folder: &mut Folder,
) -> Result<Outcome, String> {
    manifests::plan(folder, files.tree(), intents, &case.policy, mode, None)
        .map_err(|error| error.to_string())
}

/// Applies the edits, as a commit would.
fn committed(before: &Files, outcome: &Outcome) -> Result<Files, String> {
    let mut after = before.clone();
    for edit in &outcome.edits {
        let path = edit.path.as_str();
        if !path.starts_with(&format!("{ROOT}/")) {
            return Err(format!("{path} is outside of the folder"));
        }
        match &edit.content {
            FileContent::Plain(bytes) => drop(after.insert(path.to_owned(), bytes.clone())),
            FileContent::Removed => drop(after.remove(path)),
            FileContent::Sealed(_) => return Err(format!("{path} is encrypted")),
        }
    }
    Ok(after)
}

/// What landed, and what was refused and why.
type Sorted = (Vec<Happening>, Vec<(Happening, Refusal)>);

fn sort_out(case: &Case, outcome: &Outcome) -> Result<Sorted, String> {
    let decisions: BTreeMap<&ResourceId, &Decision> = outcome
        .decisions
        .iter()
        .map(|it| (&it.id, &it.decision))
        .collect();
    let (mut landed, mut refused) = (Vec::new(), Vec::new());
    for happening in &case.happenings {
        let id = id_of(happening.deed.object());
        let decision = decisions.get(&id).ok_or(format!("{id} is not decided"))?;
        match decision {
            Decision::Refused(refusal) => {
                refused.push((happening.clone(), Refusal::clone(refusal)));
            }
            _ => landed.push(happening.clone()),
        }
    }
    Ok((landed, refused))
}

fn promises(
    refused: &[(Happening, Refusal)],
    landed: &[Happening],
    shown: impl Fn() -> String,
) -> Result<(), String> {
    for (happening, refusal) in refused {
        let id = id_of(happening.deed.object());
        match happening.promise {
            Promise::Lands(_) => return Err(format!("{id} is refused: {refusal}")),
            Promise::Refused(Some(issue)) if refusal.issue != Some(issue) => {
                return Err(format!("{id} is refused for another reason: {refusal:?}"));
            }
            Promise::Refused(_) | Promise::Open(_) => {}
        }
    }
    let lands = landed
        .iter()
        .find(|it| matches!(it.promise, Promise::Refused(_)));
    match lands {
        Some(happening) => {
            let id = id_of(happening.deed.object());
            Err(format!("{id} is not refused:\n{}", shown()))
        }
        None => Ok(()),
    }
}

/// Compares the files with what they were: which may change, in how many lines, and with their remarks.
fn compare(case: &Case, landed: &[Happening], after: &Files) -> Result<(), String> {
    let mut budget = 0;
    let mut gone = 0;
    let mut new_files = 0;
    for happening in landed {
        match &happening.deed {
            Deed::Becomes { was, is } if measure::same(was, is) => {}
            Deed::Becomes { was, is } => {
                let lines = measure::lines(was, is);
                budget += lines + SLACK;
                gone += lines;
            }
            Deed::Comes(_) => {
                budget += SLACK;
                new_files += 1;
            }
            Deed::Goes(value) => {
                let lines = measure::lines(value, &Value::Object(serde_json::Map::new()));
                budget += lines + SLACK;
                gone += lines;
            }
        }
    }
    let paths: BTreeSet<&String> = case.files.keys().chain(after.keys()).collect();
    for path in paths {
        let (old, new) = (case.files.get(path), after.get(path));
        if old == new {
            continue;
        }
        let may_change = case.may_change.contains(path);
        if old.is_none() && new_files > 0 && !may_change {
            new_files -= 1;
            new_text(case, new).map_err(|it| format!("{path}: {it}"))?;
            continue;
        }
        let is_open = case.is_open && !path.contains("/patch-");
        if !is_open && !may_change {
            return Err(format!("{path} changes"));
        }
        let (Some(old), Some(new)) = (old, new) else {
            continue;
        };
        let (old, new) = (utf8(old), utf8(new));
        let distance = text::distance(&old, &new);
        budget = budget
            .checked_sub(distance)
            .ok_or_else(|| format!("{path} changes in {distance} lines"))?;
        let lost = remarks(&old).filter(|remark| !new.contains(remark)).count();
        if lost > gone {
            return Err(format!("{path} loses {lost} remarks"));
        }
        if is_kustomization(path) {
            is_kept(&old, &new).map_err(|it| format!("{path}: {it}"))?;
        }
    }
    Ok(())
}

fn is_kustomization(path: &str) -> bool {
    path.ends_with("/Kustomization") || path.contains("/kustomization.")
}

/// The form of a kustomization stays: quotes, brackets, dashes and the order of its keys. A list that was empty has no
/// form.
fn is_kept(old: &str, new: &str) -> Result<(), String> {
    let has_form = |line: &&str| !line.split(" #").next().unwrap_or_default().ends_with("[]");
    let old: Vec<&str> = old.lines().filter(has_form).collect();
    let old = old.join("\n");
    let read = |text: &str| serde_yaml::from_str::<Value>(text).map_err(|it| it.to_string());
    form::keeps(&old, new, &read(&old)?, &read(new)?)
}

fn new_text(case: &Case, new: Option<&Vec<u8>>) -> Result<(), String> {
    let text = utf8(new.map_or(&[], Vec::as_slice));
    match case.new_text {
        Some((part, is_there)) if text.contains(part) != is_there => Err(format!(
            "{part} is there or not, as it should not be:\n{text}"
        )),
        _ => Ok(()),
    }
}

fn remarks(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let at = line.find("# remark ")?;
        Some(line[at..].trim_end())
    })
}

fn utf8(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn shown(outcome: &Outcome, before: &FilesInMemory) -> String {
    outcome
        .diff(before.tree())
        .unwrap_or_else(|error| error.to_string())
}

/// E6 and PI-6: what a preview shows, in another order and on a folder that is known, is what is done.
fn preview(
    case: &Case,
    outcome: &Outcome,
    after: &Files,
    known: &mut Folder,
) -> Result<(), String> {
    let before = ours::tree(&case.files)?;
    let mut intents: Vec<Intent> = case.happenings.iter().map(|it| it.intent.clone()).collect();
    intents.reverse();
    let middle = intents.len() / 2;
    intents.rotate_left(middle);
    let preview = plan(case, &before, &intents, Mode::Preview, known)?;
    if preview != *outcome {
        return Err(format!(
            "e-6: the preview shows\n{}\nand this is done\n{}\n{:?}\n{:?}",
            shown(&preview, &before),
            shown(outcome, &before),
            preview.decisions,
            outcome.decisions
        ));
    }
    let diff = shown(&preview, &before);
    for (path, shown) in patch::apply(&before, &diff).map_err(|it| format!("e-6: {it}"))? {
        let text = after.get(path.as_str()).map(|bytes| utf8(bytes));
        if shown != Shown::Text(text) {
            return Err(format!("e-6: {diff} does not show {path}"));
        }
    }
    Ok(())
}

/// ST-10: on what came out there is nothing left to do.
fn settled(
    case: &Case,
    landed: &[Happening],
    after: &Files,
    known: &mut Folder,
) -> Result<(), String> {
    let intents: Vec<Intent> = landed.iter().map(|it| it.intent.clone()).collect();
    let after = ours::tree(after)?;
    let again = plan(case, &after, &intents, Mode::Apply, known)?;
    if let Some(refusal) = again.refusals().next() {
        return Err(format!("st-10: what landed is refused then: {refusal}"));
    }
    again
        .is_empty()
        .then_some(())
        .ok_or_else(|| format!("st-10: something is left to do:\n{}", shown(&again, &after)))
}
