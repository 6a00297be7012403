//! Texts cut into documents and lines, by nothing but their separators.

/// A text of several documents.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cut<'t> {
    /// The byte order mark.
    pub(super) mark: &'t str,
    /// What stands above the first separator and is no document.
    pub(super) head: &'t str,
    /// The documents.
    pub(super) documents: Vec<Piece<'t>>,
}

/// One document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece<'t> {
    /// The line above it.
    pub(super) separator: &'t str,
    /// Its lines.
    pub(super) body: &'t str,
}

/// Cuts a text where a line begins with three dashes.
pub(super) fn cut(text: &str) -> Cut<'_> {
    let (mark, text) = match text.strip_prefix('\u{feff}') {
        Some(rest) => (&text[..3], rest),
        None => ("", text),
    };
    let mut documents = Vec::new();
    let mut separator = "";
    let mut start = 0;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let behind = line.strip_prefix("---").map(str::trim_end);
        if behind.is_some_and(|behind| behind.is_empty() || behind.starts_with([' ', '\t'])) {
            documents.push(Piece {
                separator,
                body: &text[start..at],
            });
            separator = line;
            start = at + line.len();
        }
        at += line.len();
    }
    documents.push(Piece {
        separator,
        body: &text[start..],
    });
    let mut head = "";
    if documents.len() > 1 && documents[0].body.lines().all(is_idle) {
        head = documents.remove(0).body;
    }
    Cut {
        mark,
        head,
        documents,
    }
}

/// Says whether a line holds no content.
pub(super) fn is_idle(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#') || line.starts_with('%')
}

/// Returns how many lines two texts do not share: those that go and those that come.
pub(crate) fn distance(before: &str, after: &str) -> usize {
    let before: Vec<&str> = before.lines().collect();
    let after: Vec<&str> = after.lines().collect();
    before.len() + after.len() - 2 * common(&before, &after)
}

/// Returns the length of the longest common subsequence.
pub(super) fn common<T: PartialEq>(before: &[T], after: &[T]) -> usize {
    let same = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let (before, after) = (&before[same..], &after[same..]);
    let ends = before.iter().rev().zip(after.iter().rev());
    let tail = ends.take_while(|(a, b)| a == b).count();
    let (before, after) = (&before[..before.len() - tail], &after[..after.len() - tail]);
    let mut row = vec![0; after.len() + 1];
    for a in before {
        let mut corner = 0;
        for (index, b) in after.iter().enumerate() {
            let above = row[index + 1];
            row[index + 1] = if a == b {
                corner + 1
            } else {
                above.max(row[index])
            };
            corner = above;
        }
    }
    same + tail + row[after.len()]
}

/// Says whether every line ends as on Windows.
pub(super) fn is_crlf(text: &str) -> bool {
    let ends = text.matches('\n').count();
    ends > 0 && ends == text.matches("\r\n").count()
}
