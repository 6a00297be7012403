//! Other spellings of a document that mean the same and can be edited.

use serde_json::Value;

use super::compose;
use super::emit::canonical;
use super::splice::{self, Splice};
use super::text::{Prepared, line_start, next_line, starts_line};
use super::tree::{Document, Entry, Kind, Node, ProblemKind};

/// A document written in another way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Repair {
    /// The whole text.
    pub(crate) text: String,
    /// What was done to the document.
    pub(crate) how: RepairKind,
}

/// A way to write a document differently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RepairKind {
    /// The keys in these lines, which a later one overrides, are gone.
    WithoutOverridden { lines: Vec<u32> },
    /// The document has the layout of one that is written new; its comments are gone.
    WrittenAnew,
}

/// Returns spellings of a document that mean what it means now and hold nothing that makes an edit unsafe, the
/// smallest change first. What cannot be read for certain has none.
pub(crate) fn repairs(text: &str, index: usize) -> Vec<Repair> {
    let prepared = Prepared::new(text);
    let Ok(documents) = compose::parse(&prepared.body, prepared.padded) else {
        return Vec::new();
    };
    let Some(document) = documents.get(index) else {
        return Vec::new();
    };
    let is_certain = document.problem.as_ref().is_none_or(|problem| {
        matches!(
            problem.kind,
            ProblemKind::DuplicateKey { .. } | ProblemKind::ExplicitKey
        )
    });
    if !is_certain {
        return Vec::new();
    }
    let body: &str = &prepared.body;
    let candidates = [without_overridden(body, document), anew(body, document)];
    let right = |text: &String| means_the_same(text, &documents, index);
    candidates
        .into_iter()
        .flatten()
        .map(|(text, how)| (prepared.restore(text), how))
        .filter(|(text, _)| right(text))
        .map(|(text, how)| Repair { text, how })
        .collect()
}

fn without_overridden(body: &str, document: &Document) -> Option<(String, RepairKind)> {
    let mut overridden = Vec::new();
    collect_overridden(&document.root, &mut overridden);
    if overridden.is_empty()
        || !overridden
            .iter()
            .all(|entry| starts_line(body, entry.start()))
    {
        return None;
    }
    overridden.sort_by_key(|entry| entry.start());
    let line = |entry: &&Entry| super::event::line_of(body, entry.start());
    let lines = overridden.iter().map(line).collect();
    let splices = overridden
        .iter()
        .map(|entry| Splice {
            range: line_start(body, entry.start())..next_line(body, entry.end()),
            text: String::new(),
        })
        .collect();
    let text = splice::apply(body, splices)?;
    Some((text, RepairKind::WithoutOverridden { lines }))
}

/// Collects the entries whose key stands once more behind them.
fn collect_overridden<'a>(node: &'a Node, found: &mut Vec<&'a Entry>) {
    match &node.kind {
        Kind::Mapping { entries, .. } => {
            for (index, entry) in entries.iter().enumerate() {
                let same =
                    |other: &Entry| other.merge == entry.merge && other.name() == entry.name();
                if entries[index + 1..].iter().any(same) {
                    found.push(entry);
                } else {
                    collect_overridden(&entry.value, found);
                }
            }
        }
        Kind::Sequence { items, .. } => {
            for item in items {
                collect_overridden(item, found);
            }
        }
        Kind::Scalar { .. } | Kind::Alias { .. } => {}
    }
}

fn anew(body: &str, document: &Document) -> Option<(String, RepairKind)> {
    let Value::Object(value) = document.root.to_value() else {
        return None;
    };
    let splice = Splice {
        range: document.root.outer_start()..document.root.outer_end(),
        text: canonical(&value).trim_end_matches('\n').to_owned(),
    };
    let text = splice::apply(body, vec![splice])?;
    Some((text, RepairKind::WrittenAnew))
}

fn means_the_same(text: &str, before: &[Document], index: usize) -> bool {
    let prepared = Prepared::new(text);
    let Ok(after) = compose::parse(&prepared.body, prepared.padded) else {
        return false;
    };
    after.len() == before.len()
        && after[index].problem.is_none()
        && after
            .iter()
            .zip(before)
            .all(|(new, old)| new.root.to_value() == old.root.to_value())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e5_the_smallest_spelling_that_can_be_edited_comes_first() {
        let text = "a: 1\n---\n# c\na:\n  x: 1\n  z: 2\n  x: 3 # counts\nb: 0\nb: 1";
        let found = repairs(text, 1);
        assert_eq!(
            found[0].text,
            "a: 1\n---\n# c\na:\n  z: 2\n  x: 3 # counts\nb: 1"
        );
        let lines = vec![5, 8];
        assert_eq!(found[0].how, RepairKind::WithoutOverridden { lines });
        assert_eq!(found[1].text, "a: 1\n---\n# c\na:\n  x: 3\n  z: 2\nb: 1");
        assert_eq!(repairs("? a\n: 1\n", 0)[0].text, "a: 1\n");
        for uncertain in ["a: !x 1\n", "a: *b\n", "a: !!binary aGk=\n", "~: 1\n"] {
            assert_eq!(repairs(uncertain, 0), [], "{uncertain}");
        }
    }
}
