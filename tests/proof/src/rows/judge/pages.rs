//! The documents of one file: which keep their bytes, which say something else now, and in how many lines.

use model::RepoPath;
use serde_json::Value;

use super::measure::{follow, lines};
use super::text::{Cut, Piece, cut, distance, is_crlf};
use super::{Looked, Question, form, text_of};
use crate::rows::case::{Case, Page};
use crate::rows::hand::{Remark, Step, is_plain, step_to};

/// So many lines may change beside those that a change needs: braces that open, a dash that moves up.
const SLACK: usize = 4;

/// Compares a file with the pages that it was to have.
pub(super) fn compare(
    case: &Case,
    path: &RepoPath,
    wanted: &[Page],
    after: Option<String>,
    looked: &mut Looked,
) -> Result<(), String> {
    let before = text_of(&case.before, path);
    let left: Vec<&Page> = wanted
        .iter()
        .filter(|page| !matches!(page, Page::Removed(..)))
        .collect();
    let Some(after) = after else {
        return left
            .is_empty()
            .then_some(())
            .ok_or_else(|| "it is missing".to_owned());
    };
    if left.is_empty() {
        return Err(format!("it is still there:\n{after}"));
    }
    let untouched = wanted.iter().all(|page| matches!(page, Page::Kept(_)));
    if untouched && before.as_deref() != Some(&after) {
        return Err(format!("it changes to\n{after}"));
    }
    let old = cut(before.as_deref().unwrap_or_default());
    let new = cut(&after);
    let shown = || format!("\n{}\nto\n{after}", before.as_deref().unwrap_or_default());
    if new.documents.len() != left.len() {
        return Err(format!(
            "it has {} documents:{}",
            new.documents.len(),
            shown()
        ));
    }
    // A file that loses all that it had goes, and what comes begins another one.
    let stays = left.iter().any(|page| !matches!(page, Page::New(_)));
    if before.is_some() && stays {
        frame(&old, &new, before.as_deref().unwrap_or_default(), &after)
            .map_err(|problem| format!("{problem}:{}", shown()))?;
    }
    if let Some(before) = &before {
        ask_before(case, path, before.clone(), looked);
    }
    let mut question = Question {
        name: path.to_string(),
        text: after.clone(),
        count: left.len(),
        wanted: Vec::new(),
    };
    for (index, (page, piece)) in left.iter().zip(&new.documents).enumerate() {
        let places = Places {
            is_first: index == 0,
            is_last: index + 1 == left.len(),
            old_count: old.documents.len(),
        };
        let found = match page {
            Page::Kept(at) => kept(&old.documents[*at], *at, piece, places),
            Page::Edited(at, value) => {
                question.wanted.push((index, value.clone()));
                let key = (path.clone(), *at);
                let remarks = case.remarks.get(&key).map_or(&[][..], Vec::as_slice);
                let held = case.values.get(&key).unwrap_or(&Value::Null);
                let spread = case.spread.get(&key).copied().unwrap_or(1);
                let change = Change {
                    held,
                    wanted: value,
                    remarks,
                    spread,
                };
                edited(&old.documents[*at], piece, change, places)
            }
            Page::New(value) => {
                question.wanted.push((index, value.clone()));
                written(piece, value, places)
            }
            Page::Removed(..) => Ok(()),
        };
        found.map_err(|problem| format!("document {index}: {problem}:{}", shown()))?;
    }
    looked.questions.push(question);
    Ok(())
}

/// Where a document stands.
#[derive(Clone, Copy)]
struct Places {
    is_first: bool,
    is_last: bool,
    old_count: usize,
}

/// Has the drafted text read too: a case that does not say what it means proves nothing.
fn ask_before(case: &Case, path: &RepoPath, text: String, looked: &mut Looked) {
    let of_path = case
        .values
        .range((path.clone(), 0)..=(path.clone(), usize::MAX));
    let wanted: Vec<(usize, Value)> = of_path
        .map(|((_, index), value)| (*index, value.clone()))
        .collect();
    looked.questions.push(Question {
        name: format!("{path} as drafted"),
        text,
        count: wanted.len(),
        wanted,
    });
}

fn frame(old: &Cut<'_>, new: &Cut<'_>, before: &str, after: &str) -> Result<(), String> {
    if old.mark != new.mark {
        return Err("the byte order mark changes".to_owned());
    }
    if old.head != new.head {
        return Err("what stands above the documents changes".to_owned());
    }
    if is_crlf(before) && !is_crlf(after) && after.contains('\n') {
        return Err("the line ends change".to_owned());
    }
    Ok(())
}

/// Says whether two texts differ in the end of their last line at most.
fn same_but_end(a: &str, b: &str) -> bool {
    a.trim_end_matches(['\r', '\n']) == b.trim_end_matches(['\r', '\n'])
        && a.len().abs_diff(b.len()) <= 2
}

fn same_separator(old: &Piece<'_>, new: &Piece<'_>, places: Places) -> bool {
    old.separator == new.separator || (places.is_first && new.separator.is_empty())
}

fn kept(old: &Piece<'_>, at: usize, new: &Piece<'_>, places: Places) -> Result<(), String> {
    let was_last = at + 1 == places.old_count;
    let same = if was_last == places.is_last {
        old.body == new.body
    } else {
        same_but_end(old.body, new.body)
    };
    if !same {
        return Err("it loses its bytes".to_owned());
    }
    if !same_separator(old, new, places) {
        return Err("its separator changes".to_owned());
    }
    Ok(())
}

/// What a document said, what it must say, and what is known of its text.
#[derive(Clone, Copy)]
struct Change<'c> {
    held: &'c Value,
    wanted: &'c Value,
    remarks: &'c [Remark],
    spread: usize,
}

fn edited(
    old: &Piece<'_>,
    new: &Piece<'_>,
    change: Change<'_>,
    places: Places,
) -> Result<(), String> {
    let Change { held, wanted, .. } = change;
    if !same_separator(old, new, places) {
        return Err("its separator changes".to_owned());
    }
    let mut lost = 0;
    for remark in change.remarks {
        match new.body.matches(&remark.text).count() {
            0 if must_stay(remark, held, wanted) => {
                return Err(format!("{:?} is lost", remark.text));
            }
            0 => lost += 1,
            1 => in_its_place(remark, old, new, held, wanted)?,
            _ => return Err(format!("{:?} is there twice", remark.text)),
        }
    }
    form::keeps(old.body, new.body, held, wanted)?;
    let needed = lines(held, wanted) * change.spread + 2 * lost + SLACK;
    let changed = distance(old.body, new.body);
    if changed > needed {
        return Err(format!("{changed} lines change, and {needed} would do"));
    }
    let shorter = new.body.lines().count() < old.body.lines().count();
    let opened = !old.body.ends_with('\n') && new.body.ends_with('\n') && places.is_last;
    // Where the last lines go, those before them have the ends that they had.
    let opened = opened && !shorter;
    if opened && old.body.lines().last() == new.body.lines().last() {
        return Err("its last line gets an end".to_owned());
    }
    Ok(())
}

/// A remark in a line of its own stays as long as anything of what it stands among does; one behind a value goes
/// with it.
fn must_stay(remark: &Remark, held: &Value, wanted: &Value) -> bool {
    let (Some(old), Some(new)) = (follow(held, &remark.at), follow(wanted, &remark.at)) else {
        return false;
    };
    let is_tree = |value: &Value| value.is_object() || value.is_array();
    match (remark.own_line, new) {
        (true, Value::Object(map)) => old
            .as_object()
            .is_some_and(|old| map.keys().any(|key| old.contains_key(key))),
        (true, Value::Array(new)) => old.as_array().is_some_and(|old| {
            let stays = |item: &Value| {
                new.iter()
                    .any(|other| step_to(other, new) == step_to(item, old))
            };
            old.iter().any(stays)
        }),
        (true, _) => false,
        (false, _) => is_tree(old) == is_tree(new),
    }
}

/// Returns how a number may be written: one that was octal or hexadecimal stays so.
fn spellings(number: &serde_json::Number) -> Vec<String> {
    let mut all = vec![number.to_string()];
    if let Some(whole) = number.as_u64() {
        all.extend([
            format!("0{whole:o}"),
            format!("0o{whole:o}"),
            format!("0x{whole:X}"),
            format!("0x{whole:x}"),
        ]);
    }
    all
}

/// A remark behind a value stays in the line of the value.
fn in_its_place(
    remark: &Remark,
    old: &Piece<'_>,
    new: &Piece<'_>,
    held: &Value,
    wanted: &Value,
) -> Result<(), String> {
    let line_in = |text: &str| -> String {
        let line = text.lines().find(|line| line.contains(&remark.text));
        line.unwrap_or_default()
            .trim()
            .trim_start_matches("- ")
            .trim_start()
            .to_owned()
    };
    let (before, after) = (line_in(old.body), line_in(new.body));
    if before == after || remark.own_line || !must_stay(remark, held, wanted) {
        return Ok(());
    }
    if let Some(Step::Key(key)) = remark.at.last()
        && !after.contains(key)
    {
        return Err(format!("{:?} moves to {after:?}", remark.text));
    }
    let spelled = match follow(wanted, &remark.at) {
        Some(Value::String(text)) if is_plain(text, false) => vec![text.clone()],
        Some(Value::Number(number)) => spellings(number),
        _ => return Ok(()),
    };
    let number = follow(wanted, &remark.at).and_then(Value::as_f64);
    let reads_so = |word: &str| number.is_some() && word.parse::<f64>().ok() == number;
    let is_there =
        spelled.iter().any(|text| after.contains(text)) || after.split_whitespace().any(reads_so);
    if follow(held, &remark.at) != follow(wanted, &remark.at) && !is_there {
        return Err(format!("{:?} moves to {after:?}", remark.text));
    }
    Ok(())
}

/// A new document is read alike by a reader of YAML 1.2, and stands behind one plain separator.
fn written(piece: &Piece<'_>, wanted: &Value, places: Places) -> Result<(), String> {
    let separator = piece.separator.trim_end();
    if separator != if places.is_first { "" } else { "---" } {
        return Err(format!("it stands behind {separator:?}"));
    }
    let read: Value = serde_yaml::from_str(piece.body).map_err(|error| error.to_string())?;
    if !super::measure::same(&read, wanted) {
        return Err(format!("another reader reads {read} and not {wanted}"));
    }
    Ok(())
}
