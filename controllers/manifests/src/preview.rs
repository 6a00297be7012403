//! The difference that an outcome makes, for people to read.

use model::{Content, FileEntry, FileTree, ReadError, RepoPath};
use similar::TextDiff;

use crate::plan::{FileContent, FileEdit};

/// Returns the unified diff of the edits against the tree they were planned on, in the form that Git prints.
///
/// # Errors
/// Returns the content that could not be read.
pub fn diff(tree: FileTree<'_>, edits: &[FileEdit]) -> Result<String, ReadError> {
    edits.iter().map(|edit| diff_file(tree, edit)).collect()
}

/// Returns the unified diff of one file. What is encrypted, or should be, is not shown, only that it
/// changes.
///
/// # Errors
/// Returns the content that could not be read.
pub fn diff_file(tree: FileTree<'_>, edit: &FileEdit) -> Result<String, ReadError> {
    let content = match tree.files.get(&edit.path) {
        Some(FileEntry::Regular { content, .. }) => Some(tree.contents.read(content)?),
        Some(FileEntry::Symlink | FileEntry::Submodule) | None => None,
    };
    let before = match &content {
        Some(Content::Bytes(bytes)) => Some(bytes),
        Some(Content::TooLarge { .. }) | None => None,
    };
    let after = match &edit.content {
        FileContent::Plain(bytes) => Some(bytes.as_slice()),
        FileContent::Sealed(_) | FileContent::Removed => None,
    };
    let old = before.map_or_else(String::new, |bytes| {
        String::from_utf8_lossy(bytes).into_owned()
    });
    let new = after.map_or_else(String::new, |bytes| {
        String::from_utf8_lossy(bytes).into_owned()
    });
    let name = |side: char, present: bool, path: &RepoPath| {
        if present {
            format!("{side}/{path}")
        } else {
            "/dev/null".to_owned()
        }
    };
    let hidden = match edit.content {
        FileContent::Sealed(_) => Some("Encrypted content differs"),
        FileContent::Plain(_) | FileContent::Removed if edit.held_secret => {
            Some("Content with a secret differs")
        }
        FileContent::Plain(_) | FileContent::Removed => None,
    };
    if let Some(hidden) = hidden {
        let old = name('a', before.is_some(), &edit.path);
        let is_there = edit.content != FileContent::Removed;
        let new = name('b', is_there, &edit.path);
        return Ok(format!("--- {old}\n+++ {new}\n{hidden}\n"));
    }
    // A line ends where Git ends it: a carriage return alone is part of one.
    let [old, new] = [&old, &new].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
    Ok(TextDiff::configure()
        .newline_terminated(true)
        .diff_slices(&old, &new)
        .unified_diff()
        .context_radius(3)
        .header(
            &name('a', before.is_some(), &edit.path),
            &name('b', after.is_some(), &edit.path),
        )
        .to_string())
}

#[cfg(test)]
mod tests {
    use model::FilesInMemory;

    use super::*;

    fn path(text: &str) -> RepoPath {
        RepoPath::new(text).unwrap()
    }

    #[test]
    fn e6_a_carriage_return_alone_ends_no_line() {
        let files = FilesInMemory::from_iter([(path("a.env"), *b"A=1\nB=2\n")]);
        let edit = FileEdit {
            path: path("a.env"),
            content: FileContent::Plain(b"A=x\ry\nB=2\n".to_vec()),
            held_secret: false,
        };
        assert_eq!(
            diff_file(files.tree(), &edit).unwrap(),
            "--- a/a.env\n+++ b/a.env\n@@ -1,2 +1,2 @@\n-A=1\n+A=x\ry\n B=2\n"
        );
    }

    #[test]
    fn e6_a_preview_names_what_comes_and_what_goes() {
        let files = FilesInMemory::from_iter([(path("old.yaml"), *b"a: 1\n")]);
        let edits = [
            FileEdit {
                path: path("new.yaml"),
                content: FileContent::Plain(b"b: 2".to_vec()),
                held_secret: false,
            },
            FileEdit {
                path: path("old.yaml"),
                content: FileContent::Removed,
                held_secret: false,
            },
        ];
        assert_eq!(
            diff(files.tree(), &edits).unwrap(),
            "--- /dev/null\n+++ b/new.yaml\n@@ -0,0 +1 @@\n+b: 2\n\\ No newline at end of file\n--- a/old.yaml\n+++ /dev/null\n@@ -1 +0,0 @@\n-a: 1\n"
        );
    }
}
