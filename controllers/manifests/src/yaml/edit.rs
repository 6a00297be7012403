//! Changing documents of a text, proved by reading the result again.

use serde_json::Value;

use super::compose;
use super::diff::Differ;
use super::event::SyntaxError;
use super::layout::Layout;
use super::settle::settle;
use super::splice::{self, Splice};
use super::text::Prepared;
use super::tree::Document;

/// Why a document is left as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The text does not parse.
    #[error("the file does not parse")]
    Syntax(#[from] SyntaxError),
    /// There is no such document.
    #[error("the file has no document {0}")]
    NoDocument(usize),
    /// The document holds something that makes an edit unsafe.
    #[error("the document cannot be edited safely: line {line}: {problem}")]
    NotEditable {
        /// The line, counted from 1.
        line: u32,
        /// What it holds.
        problem: String,
    },
    /// No edit was found that reads back as wanted and leaves everything else alone.
    #[error("no edit of the text reads back as the wanted object")]
    NotExpressible,
}

/// How an edit was found, from the smallest change to the largest.
#[derive(Debug, Clone, Copy)]
struct Rung {
    blocks: bool,
    depth: usize,
}

/// The fallbacks: single values, the same without literal blocks, then whole values at depth two and one.
const LADDER: [Rung; 4] = [
    Rung {
        blocks: true,
        depth: usize::MAX,
    },
    Rung {
        blocks: false,
        depth: usize::MAX,
    },
    Rung {
        blocks: true,
        depth: 2,
    },
    Rung {
        blocks: true,
        depth: 1,
    },
];

/// Changes documents, counted from 0, so that each reads back as the wanted value and every other document as
/// before. Returns the text unchanged where nothing differs.
///
/// # Errors
/// Returns why it cannot be done without a risk; nothing is guessed.
pub fn edit(text: &str, changes: &[(usize, &Value)]) -> Result<String, EditError> {
    let prepared = Prepared::new(text);
    let documents = compose::parse(&prepared.body, prepared.padded)?;
    let mut wanted = Vec::new();
    for (index, value) in changes {
        let document = documents.get(*index).ok_or(EditError::NoDocument(*index))?;
        if document.means(value) {
            continue;
        }
        if let Some(problem) = &document.problem {
            return Err(EditError::NotEditable {
                line: problem.line,
                problem: problem.kind.to_string(),
            });
        }
        wanted.push((*index, *value));
    }
    if wanted.is_empty() {
        return Ok(text.to_owned());
    }
    if let Some(edited) = climb(&prepared, &documents, &wanted) {
        return Ok(edited);
    }
    let settled = match documents.split_last() {
        Some((last, before)) if wanted.iter().any(|(index, _)| *index == before.len()) => {
            settle(&prepared, last)
        }
        _ => None,
    };
    let settled = settled.ok_or(EditError::NotExpressible)?;
    let prepared = Prepared::new(&settled);
    let before = documents.iter().map(|document| document.root.to_value());
    let documents = compose::parse(&prepared.body, prepared.padded)?;
    let unchanged = before.eq(documents.iter().map(|document| document.root.to_value()));
    unchanged
        .then(|| climb(&prepared, &documents, &wanted))
        .flatten()
        .ok_or(EditError::NotExpressible)
}

/// Looks for the smallest edit that reads back as wanted.
fn climb(
    prepared: &Prepared<'_>,
    documents: &[Document],
    wanted: &[(usize, &Value)],
) -> Option<String> {
    let body: &str = &prepared.body;
    for rung in LADDER {
        let Some(splices) = splices(body, prepared.eol, documents, wanted, rung) else {
            continue;
        };
        let Some(edited) = splice::apply(body, splices) else {
            continue;
        };
        let right = |edited: &String| reads_back(body, edited, documents, wanted);
        if let Some(edited) = endings(prepared, edited).find(right) {
            return Some(edited);
        }
    }
    None
}

/// Returns the ways in which an edited text may end: as the old one did, and with a line break where that lacked
/// one, because text in a block may have come to the end that needs it.
fn endings(prepared: &Prepared<'_>, edited: String) -> impl Iterator<Item = String> {
    let complete = prepared.padded.then(|| prepared.mark(edited.clone()));
    std::iter::once(prepared.restore(edited)).chain(complete)
}

fn splices(
    body: &str,
    eol: &'static str,
    documents: &[Document],
    wanted: &[(usize, &Value)],
    rung: Rung,
) -> Option<Vec<Splice>> {
    let mut splices = Vec::new();
    for (index, value) in wanted {
        let root = &documents[*index].root;
        let mut layout = Layout::of(body, eol, root);
        layout.blocks = rung.blocks;
        let mut differ = Differ::new(body, layout, rung.depth);
        differ.document(root, value).ok()?;
        splices.extend(differ.splices);
    }
    Some(splices)
}

/// Reads the edited text and compares every document: the changed ones with what is wanted, the others with
/// the bytes they had.
fn reads_back(
    before: &str,
    after: &str,
    documents: &[Document],
    wanted: &[(usize, &Value)],
) -> bool {
    let prepared = Prepared::new(after);
    let Ok(edited) = compose::parse(&prepared.body, prepared.padded) else {
        return false;
    };
    if edited.len() != documents.len() || gained_bare_newline(before, &prepared.body) {
        return false;
    }
    edited
        .iter()
        .zip(documents)
        .enumerate()
        .all(
            |(index, (new, old))| match wanted.iter().find(|(changed, _)| *changed == index) {
                Some((_, value)) => new.problem.is_none() && new.means(value),
                None => {
                    // Only the end of the text can change what the same bytes mean.
                    let is_last = index + 1 == documents.len();
                    new.bytes(&prepared.body) == old.bytes(before)
                        && (!is_last || new.root.to_value() == old.root.to_value())
                }
            },
        )
}

/// Says whether a line break without carriage return got into a text that had none.
fn gained_bare_newline(before: &str, after: &str) -> bool {
    let bare = |text: &str| text.matches('\n').count() - text.matches("\r\n").count();
    before.contains("\r\n") && bare(before) == 0 && bare(after) > 0
}
