//! Edits of texts, held against what another reader makes of the text before and after.

use anyhow::Result;
use manifests::yaml::{self, EditError, Reading};
use serde_json::Value;

use super::{Report, Text};
use crate::change::Change;
use crate::dice::Dice;
use crate::oracle::{Answer, Oracle};

/// How many edits each document gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// One of each kind of change.
    Every,
    /// So many, of kinds drawn by chance.
    Some(usize),
}

/// So many bytes of text are put to the oracle at once.
const BATCH: usize = 4_000_000;

/// Reads and edits every document of the texts, and has each result judged.
///
/// # Errors
/// Returns that the oracle failed; whatever is wrong with an edit is in the report.
pub fn judge(
    texts: &[Text],
    effort: Effort,
    seed: u64,
    oracle: &mut Oracle,
    report: &mut Report,
) -> Result<()> {
    let mut start = 0;
    while start < texts.len() {
        let mut bytes = 0;
        let more = texts[start..].iter().take_while(|text| {
            let fits = bytes < BATCH;
            bytes += text.bytes.len();
            fits
        });
        let end = start + more.count();
        let batch = &texts[start..end];
        let questions: Vec<&str> = batch.iter().map(|text| text.bytes.as_str()).collect();
        let answers = oracle.ask(&questions)?;
        for (index, (text, answer)) in batch.iter().zip(&answers).enumerate() {
            let index = u64::try_from(start + index).unwrap_or_default();
            let dice = Dice::new(seed ^ index.wrapping_mul(0x1_0000_0001));
            Judge {
                text,
                oracle,
                report,
                dice,
            }
            .text(answer, effort)?;
        }
        start = end;
    }
    Ok(())
}

struct Judge<'a> {
    text: &'a Text,
    oracle: &'a mut Oracle,
    report: &'a mut Report,
    dice: Dice,
}

/// An edit that was made and has to be judged.
struct Edited {
    what: String,
    after: String,
    wanted: Vec<Value>,
}

impl Judge<'_> {
    fn wrong(&mut self, what: &str) {
        let what: String = what.chars().take(2000).collect();
        self.report
            .wrong
            .push(format!("{}: {what}", self.text.name));
    }

    fn text(mut self, answer: &Answer, effort: Effort) -> Result<()> {
        self.report.texts += 1;
        let fields: [&[&str]; 2] = [&["metadata", "name"], &["spec"]];
        let read = yaml::read_with(&self.text.bytes, &fields);
        if read != yaml::parse_with(&self.text.bytes, &fields) {
            self.wrong("what is read without the parser is not what the parser reads");
        }
        let readings = match yaml::read(&self.text.bytes) {
            Ok(readings) => readings,
            Err(error) => {
                match answer.documents() {
                    None => self.report.unreadable += 1,
                    Some(_) => *self.report.not_taken.entry(error.problem).or_default() += 1,
                }
                return Ok(());
            }
        };
        let has_problem = readings.iter().any(|reading| reading.problem.is_some());
        let Some(documents) = answer.documents() else {
            if has_problem {
                self.report.unreadable += 1;
            } else {
                self.wrong(&format!("only we take it: {answer:?}"));
            }
            return Ok(());
        };
        if !self.agrees(&readings, documents) {
            return Ok(());
        }
        let mut edited = Vec::new();
        for index in 0..readings.len() {
            self.document(index, documents, effort, &mut edited);
        }
        for chunk in edited.chunks(64) {
            let questions: Vec<&str> = chunk.iter().map(|edited| edited.after.as_str()).collect();
            let answers = self.oracle.ask(&questions)?;
            for (edited, answer) in chunk.iter().zip(answers) {
                self.compare(edited, &answer);
            }
        }
        Ok(())
    }

    /// Compares what we read with what the oracle reads, wherever we claim to know.
    fn agrees(&mut self, readings: &[Reading], documents: &[Value]) -> bool {
        if readings.len() != documents.len() {
            self.wrong(&format!(
                "we see {} documents of {}",
                readings.len(),
                documents.len()
            ));
            return false;
        }
        for (index, (reading, document)) in readings.iter().zip(documents).enumerate() {
            if reading.problem.is_none() && !yaml::same(&reading.value, document) {
                self.wrong(&format!(
                    "document {index} is {}, and we read {}",
                    document, reading.value
                ));
                return false;
            }
        }
        true
    }

    /// Edits one document in several ways.
    fn document(
        &mut self,
        index: usize,
        documents: &[Value],
        effort: Effort,
        edited: &mut Vec<Edited>,
    ) {
        self.report.documents += 1;
        let text = &self.text.bytes;
        match yaml::edit(text, &[(index, &documents[index])]) {
            Ok(after) if after == *text => {}
            // A document with a problem may mean something else to us, and is left alone.
            Err(EditError::NotEditable { .. }) => {}
            other => self.wrong(&format!(
                "nothing to do in document {index} gives {other:?}"
            )),
        }
        let kinds: Vec<Change> = match effort {
            Effort::Every => Change::ALL.to_vec(),
            Effort::Some(count) => (0..count).map(|_| self.dice.one(&Change::ALL)).collect(),
        };
        for kind in kinds {
            let Some(wanted) = kind.apply(&documents[index], &mut self.dice) else {
                continue;
            };
            self.report.edits += 1;
            match yaml::edit(text, &[(index, &wanted)]) {
                Ok(after) => {
                    let mut all = documents.to_vec();
                    all[index] = wanted;
                    let what = format!("{kind:?} in document {index}");
                    edited.push(Edited {
                        what,
                        after,
                        wanted: all,
                    });
                }
                Err(error) => {
                    let reason = match &error {
                        EditError::NotEditable { problem, .. } => problem.clone(),
                        other => other.to_string(),
                    };
                    let edit = format!("{kind:?} in document {index} of {}", self.text.name);
                    self.report.refused.entry(reason).or_default().push(edit);
                }
            }
        }
    }

    /// Judges one edit.
    fn compare(&mut self, edited: &Edited, answer: &Answer) {
        let before = &self.text.bytes;
        let Edited {
            what,
            after,
            wanted,
        } = edited;
        let same = answer.documents().is_some_and(|documents| {
            documents.len() == wanted.len()
                && documents.iter().zip(wanted).all(|(a, b)| yaml::same(a, b))
        });
        let bare = |text: &str| text.matches('\n').count() - text.matches("\r\n").count();
        let mixed = before.contains("\r\n") && bare(before) == 0 && bare(after) > 0;
        let mark = |text: &str| text.starts_with('\u{feff}');
        if !same {
            self.wrong(&format!(
                "{what} gives {answer:?}\nwanted {wanted:?}\nfrom {before:?}\nto {after:?}"
            ));
        } else if mixed || mark(before) != mark(after) {
            self.wrong(&format!(
                "{what} changes the form of {before:?}\nto {after:?}"
            ));
        } else {
            self.report.accepted += 1;
        }
    }
}
