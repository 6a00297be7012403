//! Unified diffs read back: what a preview shows is applied to the files, and must give what the deed gives.

use std::collections::BTreeMap;

use model::{FilesInMemory, RepoPath};

/// What a preview does to one file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// The file has this text then; none where it goes.
    Text(Option<String>),
    /// Only that it changes is shown.
    Hidden,
}

/// Applies a unified diff of several files.
pub(crate) fn apply(
    before: &FilesInMemory,
    diff: &str,
) -> Result<BTreeMap<RepoPath, Shown>, String> {
    let mut shown = BTreeMap::new();
    let mut lines = diff.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let old = name(line, "--- ").ok_or_else(|| format!("no file begins with {line:?}"))?;
        let new = lines.next().and_then(|line| name(line, "+++ "));
        let new = new.ok_or("a file has no second name")?;
        let path = if new == "/dev/null" { old } else { new };
        let path = path.split_once('/').map(|(_, path)| path).unwrap_or(path);
        let path = RepoPath::new(path).map_err(|error| format!("{path}: {error}"))?;
        let mut part = Vec::new();
        while let Some(line) = lines.next_if(|line| !is_header(line)) {
            part.push(line);
        }
        if part
            .first()
            .is_some_and(|line| line.ends_with(" differs\n"))
        {
            shown.insert(path, Shown::Hidden);
            continue;
        }
        let bytes = before.bytes(&path).map(|bytes| bytes.to_vec());
        let text = String::from_utf8(bytes.unwrap_or_default()).map_err(|_| "no text")?;
        let text = patched(&text, &part).ok_or_else(|| format!("{path} does not fit the diff"))?;
        let gone = new == "/dev/null";
        if gone && !text.is_empty() {
            return Err(format!("{path} goes, and something is left"));
        }
        shown.insert(path, Shown::Text((!gone).then_some(text)));
    }
    Ok(shown)
}

/// Says whether a line begins the part of a file: a removed line that looks like it has a hunk above it, so only
/// names that the product gives count.
fn is_header(line: &str) -> bool {
    line.starts_with("--- a/live/") || line == "--- /dev/null\n" || line.starts_with("--- a/other/")
}

fn name<'l>(line: &'l str, sign: &str) -> Option<&'l str> {
    line.strip_prefix(sign)?.strip_suffix('\n')
}

/// Applies the hunks of one file. A line without an end is followed by a remark that says so.
fn patched(text: &str, hunks: &[&str]) -> Option<String> {
    let old: Vec<&str> = text.split_inclusive('\n').collect();
    let mut new = String::new();
    let mut at = 0;
    for (index, line) in hunks.iter().enumerate() {
        if let Some(header) = line.strip_prefix("@@ -") {
            let range = header.split(' ').next()?;
            let (start, count) = range.split_once(',').unwrap_or((range, "1"));
            let start: usize = start.parse().ok()?;
            let start = if count == "0" {
                start
            } else {
                start.checked_sub(1)?
            };
            new.push_str(&old.get(at..start)?.concat());
            at = start;
            continue;
        }
        if line.starts_with('\\') {
            continue;
        }
        let open = hunks
            .get(index + 1)
            .is_some_and(|next| next.starts_with('\\'));
        let body = &line[1..];
        let body = if open { body.strip_suffix('\n')? } else { body };
        match line.chars().next()? {
            ' ' => {
                (*old.get(at)? == body).then_some(())?;
                new.push_str(body);
                at += 1;
            }
            '-' => {
                (*old.get(at)? == body).then_some(())?;
                at += 1;
            }
            '+' => new.push_str(body),
            _ => return None,
        }
    }
    new.push_str(&old.get(at..)?.concat());
    Some(new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e6_a_diff_is_read_back() {
        let hunks = [
            "@@ -1,2 +1,2 @@\n",
            "-a\n",
            "+b\n",
            " c\n",
            "\\ No newline at end of file\n",
        ];
        assert_eq!(patched("a\nc", &hunks).as_deref(), Some("b\nc"));
        assert_eq!(patched("x\nc", &hunks), None);
        let new = ["@@ -0,0 +1 @@\n", "+b\n"];
        assert_eq!(patched("", &new).as_deref(), Some("b\n"));
    }
}
