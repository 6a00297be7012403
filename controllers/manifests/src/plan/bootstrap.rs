//! The two files that a first write brings into a folder that did not exist (RP-7, D57).

use model::FolderPath;

use super::outcome::{FileContent, FileEdit};

const README: &str = "\
# Mirrored manifests

GitOps Reverser writes this folder: each file holds Kubernetes objects as somebody last changed them in the
cluster. Editing a file by hand is fine; comments and layout stay when the object changes again.

This file and `.gittargetignore` were written once, with the first object. Both are yours now.
";

const IGNORE: &str = "\
# Files and folders of this folder that GitOps Reverser is to leave alone, in the syntax of .gitignore.
";

/// Returns the files, as edits.
pub(crate) fn files(folder: &FolderPath) -> Vec<FileEdit> {
    [("README.md", README), (".gittargetignore", IGNORE)]
        .into_iter()
        .filter_map(|(name, text)| {
            Some(FileEdit {
                path: folder.join(name).ok()?,
                content: FileContent::Plain(text.as_bytes().to_vec()),
                held_secret: false,
            })
        })
        .collect()
}
