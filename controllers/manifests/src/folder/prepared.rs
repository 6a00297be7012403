//! Files that were scanned before their folder is put together, so that a caller can use several threads.

use std::collections::HashMap;

use model::{Content, Contents, FileChange, FileEntry, FolderPath, ReadError, RepoPath};

use super::scan::{Read, ScannedFile, needs_content, scan};

/// Files of one folder that are scanned already.
#[derive(Debug, Default)]
pub struct Prepared(HashMap<RepoPath, ScannedFile>);

impl Prepared {
    /// Scans some files of a folder. One that cannot be read is left out: it may be one that ignore rules hide.
    pub fn scan(folder: &FolderPath, files: &[FileChange], contents: &dyn Contents) -> Self {
        let scanned = files.iter().filter_map(|FileChange { path, entry }| {
            let below = folder.strip(path)?;
            let file = read_file(folder, path, below, entry.as_ref()?, contents);
            Some((path.clone(), file.ok()?))
        });
        Self(scanned.collect())
    }

    /// Adds the files that somebody else scanned.
    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    pub(super) fn take(&mut self, path: &RepoPath) -> Option<ScannedFile> {
        self.0.remove(path)
    }
}

/// Reads and scans one file of a folder; `below` is its path in it.
pub(super) fn read_file(
    folder: &FolderPath,
    path: &RepoPath,
    below: &str,
    entry: &FileEntry,
    contents: &dyn Contents,
) -> Result<ScannedFile, ReadError> {
    let content = match entry {
        FileEntry::Regular { content, .. } if needs_content(below, entry) => {
            Some(contents.read(content)?)
        }
        FileEntry::Regular { .. } | FileEntry::Symlink | FileEntry::Submodule => None,
    };
    let read = match &content {
        Some(Content::Bytes(bytes)) => Read::Bytes(bytes),
        Some(Content::TooLarge { .. }) => Read::TooLarge,
        None => Read::Bytes(&[]),
    };
    Ok(scan(folder, path, below, entry, read))
}
