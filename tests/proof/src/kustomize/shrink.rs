//! Makes a repository smaller while it still shows something.

use super::archive::Files;

/// Takes out whatever can go: whole files, and lines with all that is indented below them.
///
/// # Errors
/// Returns why it could not be found out whether a repository still shows it.
pub fn shrink<E>(
    files: &Files,
    mut shows: impl FnMut(&Files) -> Result<bool, E>,
) -> Result<Files, E> {
    let mut smallest = files.clone();
    let mut shrunk = true;
    while shrunk {
        shrunk = false;
        for path in smallest.clone().keys() {
            let mut smaller = smallest.clone();
            smaller.remove(path);
            if shows(&smaller)? {
                smallest = smaller;
                shrunk = true;
            }
        }
        for path in smallest.clone().keys() {
            let mut at = 0;
            while let Some(smaller) = without_block(&smallest, path, at) {
                if shows(&smaller)? {
                    smallest = smaller;
                    shrunk = true;
                } else {
                    at += 1;
                }
            }
        }
    }
    Ok(smallest)
}

/// Returns the files without a line of one of them and what is below it.
fn without_block(files: &Files, path: &str, at: usize) -> Option<Files> {
    let text = String::from_utf8_lossy(files.get(path)?).into_owned();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let depth = depth(lines.get(at)?);
    let below = lines[at + 1..]
        .iter()
        .take_while(|line| self::depth(line) > depth)
        .count();
    let kept = [&lines[..at], &lines[at + 1 + below..]].concat();
    let mut smaller = files.clone();
    smaller.insert(path.to_owned(), kept.concat().into_bytes());
    Some(smaller)
}

/// Returns how far a line is indented; an item of a list counts as below what its dash stands under.
fn depth(line: &str) -> usize {
    let indent = line.len() - line.trim_start_matches(' ').len();
    2 * indent + usize::from(line.trim_start().starts_with("- "))
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;
    use crate::kustomize::archive;

    #[test]
    fn what_does_not_matter_goes() {
        let files = archive::files("== a\nx:\n  y: 1\n  z:\n  - 2\n  - 3\nw: 4\n== b\nq: 5\n");
        let shows = |files: &Files| -> Result<bool, Infallible> {
            Ok(archive::text(files).contains("- 3"))
        };
        let Ok(smallest) = shrink(&files, shows);
        assert_eq!(archive::text(&smallest), "== a\nx:\n  z:\n  - 3\n");
    }
}
