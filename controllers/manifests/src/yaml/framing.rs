//! Documents put behind and taken out of a text of several documents.

use std::ops::Range;

use super::compose;
use super::edit::EditError;
use super::text::{Prepared, line_start, next_line};
use super::tree::Document;

/// Puts a document behind the others of a text, with one separator. The line break that the text may lack at its
/// end is added, because the separator needs a line of its own.
///
/// # Errors
/// Returns why the text cannot take another document without loss.
pub fn append(text: &str, document: &str) -> Result<String, EditError> {
    let prepared = Prepared::new(text);
    let before = compose::parse(&prepared.body, prepared.padded)?;
    if before.iter().any(Document::is_empty) {
        return Err(EditError::NotExpressible);
    }
    let lines = document.replace('\n', prepared.eol);
    let separator = if before.is_empty() {
        String::new()
    } else {
        format!("---{}", prepared.eol)
    };
    let padding = if prepared.padded { prepared.eol } else { "" };
    let after = format!("{text}{padding}{separator}{lines}");
    let expected: Vec<usize> = (0..before.len()).collect();
    if keeps(&prepared.body, &before, &after, &expected, 1) {
        Ok(after)
    } else {
        Err(EditError::NotExpressible)
    }
}

/// Takes documents, counted from 0, out of a text. The others keep their bytes; where the first one goes, the
/// separator behind it goes too.
///
/// # Errors
/// Returns why the others would not stay as they are.
pub fn remove(text: &str, indexes: &[usize]) -> Result<String, EditError> {
    let prepared = Prepared::new(text);
    let body: &str = &prepared.body;
    let before = compose::parse(body, prepared.padded)?;
    if let Some(index) = indexes.iter().find(|index| **index >= before.len()) {
        return Err(EditError::NoDocument(*index));
    }
    let kept: Vec<usize> = (0..before.len())
        .filter(|index| !indexes.contains(index))
        .collect();
    let mut after = String::with_capacity(body.len());
    after.push_str(&body[..begin(body, &before, 0)]);
    for index in &kept {
        let mut start = begin(body, &before, *index);
        let leads = after.is_empty() && *index > 0 && before[0].marker.is_none();
        if leads {
            start = behind_separator(body, &before[*index]).unwrap_or(start);
        }
        let end = if index + 1 < before.len() {
            begin(body, &before, index + 1)
        } else {
            body.len()
        };
        after.push_str(&body[start..end]);
    }
    let ends_as_before = kept.last() == Some(&(before.len() - 1));
    let after = if ends_as_before {
        prepared.restore(after)
    } else {
        prepared.mark(after)
    };
    if keeps(body, &before, &after, &kept, 0) {
        Ok(after)
    } else {
        Err(EditError::NotExpressible)
    }
}

/// Returns where a document begins: at its separator, or at the start of the text.
fn begin(body: &str, documents: &[Document], index: usize) -> usize {
    match &documents[index].marker {
        Some(marker) => line_start(body, marker.start),
        None => 0,
    }
}

/// Returns the first line of a document behind a separator that holds nothing else.
fn behind_separator(body: &str, document: &Document) -> Option<usize> {
    let Range { start, end } = document.marker.clone()?;
    let next = next_line(body, end);
    let bare = body[start..next].trim_end() == "---";
    bare.then_some(next)
}

/// Says whether the text holds exactly the old documents named, and then so many new ones.
fn keeps(body: &str, before: &[Document], after: &str, kept: &[usize], added: usize) -> bool {
    let prepared = Prepared::new(after);
    let Ok(documents) = compose::parse(&prepared.body, prepared.padded) else {
        return false;
    };
    documents.len() == kept.len() + added
        && kept
            .iter()
            .zip(&documents)
            .all(|(index, document)| same_document(body, &before[*index], &prepared.body, document))
}

/// Compares two documents by their bytes, and by their meaning, which the text behind them may change.
fn same_document(body: &str, old: &Document, after: &str, new: &Document) -> bool {
    new.bytes(after) == old.bytes(body) && new.root.to_value() == old.root.to_value()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn md_5_a_document_is_appended_with_one_separator() {
        assert_eq!(append("a: 1\n", "b: 2\n").unwrap(), "a: 1\n---\nb: 2\n");
        assert_eq!(append("a: 1", "b: 2\n").unwrap(), "a: 1\n---\nb: 2\n");
        assert_eq!(
            append("a: 1\r\n", "b: 2\n").unwrap(),
            "a: 1\r\n---\r\nb: 2\r\n"
        );
        assert_eq!(
            append("# only a comment\n", "b: 2\n").unwrap(),
            "# only a comment\nb: 2\n"
        );
        assert_eq!(
            append("a: 1\n...\n", "b: 2\n").unwrap(),
            "a: 1\n...\n---\nb: 2\n"
        );
    }

    #[test]
    fn md_5_a_text_whose_last_value_would_change_takes_no_document() {
        assert!(append("a: |\n  x", "b: 2\n").is_err());
    }

    #[test]
    fn dl_5_the_other_documents_keep_their_bytes() {
        let text = "# head\na: 1\n---\n# two\nb: 2\n--- # odd\nc: 3\n";
        assert_eq!(
            remove(text, &[0]).unwrap(),
            "# two\nb: 2\n--- # odd\nc: 3\n"
        );
        assert_eq!(
            remove(text, &[1]).unwrap(),
            "# head\na: 1\n--- # odd\nc: 3\n"
        );
        assert_eq!(
            remove(text, &[2]).unwrap(),
            "# head\na: 1\n---\n# two\nb: 2\n"
        );
        assert_eq!(remove(text, &[0, 1]).unwrap(), "--- # odd\nc: 3\n");
        let framed = "# license\n---\na: 1\n---\nb: 2";
        assert_eq!(remove(framed, &[0]).unwrap(), "# license\n---\nb: 2");
        assert_eq!(remove(framed, &[1]).unwrap(), "# license\n---\na: 1\n");
        assert_eq!(
            remove("\u{feff}a: 1\n---\nb: 2\n", &[0]).unwrap(),
            "\u{feff}b: 2\n"
        );
    }
}
