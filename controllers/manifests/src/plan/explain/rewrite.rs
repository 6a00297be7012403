//! A document written so that its object can land: one reason for a refusal after the other taken out of the text.

use std::iter::once_with;

use serde_json::Value;

use super::{Case, other_version};
use crate::fidelity::{Divergence, divergences};
use crate::yaml::{self, RepairKind, Step};

/// A text that a file could have, and what makes the difference.
pub(super) struct Candidate {
    pub(super) action: String,
    pub(super) text: String,
}

/// Returns the texts that take one thing out of the way, the smallest change first, and behind them the one that
/// takes out everything. Each is made when it is asked for.
pub(super) fn candidates<'a>(case: &'a Case<'a>) -> impl Iterator<Item = Candidate> + 'a {
    let known = case.open.text.as_deref().zip(case.values);
    known.into_iter().flat_map(|(text, (held, live))| {
        let rewrite = Rewrite { case, live };
        once_with(move || rewrite.written_out(text, held))
            .chain(once_with(move || rewrite.in_version(text, held)))
            .flatten()
            .chain(once_with(move || rewrite.repaired(text)).flatten())
            .chain(once_with(move || rewrite.everything(text)).flatten())
    })
}

/// The document of a case, and what it would have to say.
#[derive(Clone, Copy)]
struct Rewrite<'a> {
    case: &'a Case<'a>,
    live: &'a Value,
}

impl Rewrite<'_> {
    fn index(&self) -> usize {
        self.case.document.map_or(0, |document| document.index)
    }

    fn path(&self) -> String {
        let document = self.case.document;
        document.map_or_else(String::new, |document| document.path.to_string())
    }

    /// Writes the live values over the tokens that stand for them.
    fn written_out(&self, text: &str, held: &Value) -> Option<Candidate> {
        let tokens = divergences(held, self.live);
        let mut value = held.clone();
        // What goes is taken out from the back, so that items before it keep their position.
        let (stay, go): (Vec<_>, Vec<_>) = tokens.iter().partition(|token| token.live.is_some());
        for token in stay.iter().chain(go.iter().rev()) {
            put(&mut value, token.field.steps(), token.live);
        }
        let line = |token: &Divergence<'_>| self.case.open.line_of(self.index(), &token.field);
        let mut lines: Vec<u32> = tokens.iter().filter_map(line).collect();
        lines.sort_unstable();
        lines.dedup();
        let (lines, path) = (counted(&lines), self.path());
        self.edited(
            text,
            &value,
            format!("write the live value out in {lines} of {path}"),
        )
    }

    /// Writes the document in the version that the object was read in.
    fn in_version(&self, text: &str, held: &Value) -> Option<Candidate> {
        let read = other_version(self.case)?;
        let mut value = held.clone();
        value["apiVersion"] = Value::String(read.clone());
        let action = format!("write the document of {} as {read}", self.path());
        self.edited(text, &value, action)
    }

    /// Makes a change, if it is one.
    fn edited(&self, text: &str, value: &Value, action: String) -> Option<Candidate> {
        let edited = yaml::edit(text, &[(self.index(), value)]).ok()?;
        let is_change = edited != text;
        is_change.then_some(Candidate {
            action,
            text: edited,
        })
    }

    /// Writes the document so that it can be edited.
    fn repaired(&self, text: &str) -> Vec<Candidate> {
        let path = self.path();
        let line = self.case.document.map_or(0, |document| document.line);
        let repairs = yaml::repairs(text, self.index()).into_iter();
        repairs
            .map(|repair| Candidate {
                action: match repair.how {
                    RepairKind::WithoutOverridden { lines } => format!(
                        "take out {} of {path}, which a later line overrides",
                        counted(&lines)
                    ),
                    RepairKind::WrittenAnew => format!(
                        "write the document in line {line} of {path} in its plain form, without comments"
                    ),
                },
                text: repair.text,
            })
            .collect()
    }

    /// Takes out of the way whatever is in it.
    fn everything(&self, text: &str) -> Option<Candidate> {
        let mut text = text.to_owned();
        let is_editable = self.case.document?.problem.is_none();
        if !is_editable {
            text = self.repaired(&text).into_iter().next()?.text;
        }
        for step in [Self::in_version, Self::written_out] {
            let held = yaml::values(&text).ok()?.into_iter().nth(self.index())?;
            if let Some(next) = step(self, &text, &held) {
                text = next.text;
            }
        }
        let action = format!(
            "change the document in line {} of {} as shown; several things are in the way",
            self.case.document?.line,
            self.path()
        );
        Some(Candidate { action, text })
    }
}

/// Sets a value, or takes it out.
fn put(value: &mut Value, steps: &[Step], new: Option<&Value>) {
    let Some((first, rest)) = steps.split_first() else {
        *value = new.cloned().unwrap_or_default();
        return;
    };
    match (value, first) {
        (Value::Object(map), Step::Key(key)) if rest.is_empty() && new.is_none() => {
            map.remove(key);
        }
        (Value::Object(map), Step::Key(key)) => {
            put(map.entry(key.as_str()).or_insert(Value::Null), rest, new);
        }
        (Value::Array(items), Step::Item(index)) if *index < items.len() => {
            if rest.is_empty() && new.is_none() {
                items.remove(*index);
            } else {
                put(&mut items[*index], rest, new);
            }
        }
        _ => {}
    }
}

/// Words a set of lines.
fn counted(lines: &[u32]) -> String {
    let numbers: Vec<String> = lines.iter().map(u32::to_string).collect();
    match numbers.split_last() {
        Some((last, [])) => format!("line {last}"),
        Some((last, others)) => format!("lines {} and {last}", others.join(", ")),
        None => "the document".to_owned(),
    }
}
