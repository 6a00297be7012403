//! The files of a commit with some of them replaced and some gone, to be built before anything is written.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::files::{Content, ReadError};
use model::{ContentId, Contents, FileEntry, FileTree, Files, RepoPath};
use sha2::{Digest, Sha256};

/// Files over those of a commit. What holds the same in both is shared.
pub(crate) struct Overlay<'t> {
    files: Files,
    contents: BTreeMap<ContentId, Arc<[u8]>>,
    below: FileTree<'t>,
}

impl<'t> Overlay<'t> {
    /// Lays files over others: each holds these bytes, or is gone.
    pub(crate) fn new(below: FileTree<'t>, changed: &BTreeMap<RepoPath, Option<Vec<u8>>>) -> Self {
        let mut overlay = Self {
            files: below.files.clone(),
            contents: BTreeMap::new(),
            below,
        };
        for (path, bytes) in changed {
            match bytes {
                Some(bytes) => overlay.put(path, bytes),
                None => overlay.files.remove(path),
            }
        }
        overlay
    }

    fn put(&mut self, path: &RepoPath, bytes: &[u8]) {
        let content = ContentId::new(&Sha256::digest(bytes));
        let executable = matches!(
            self.files.get(path),
            Some(FileEntry::Regular {
                executable: true,
                ..
            })
        );
        let entry = FileEntry::Regular {
            content,
            executable,
        };
        self.files.put(path, entry);
        self.contents.insert(content, bytes.into());
    }

    /// Returns the files as a tree to read from.
    pub(crate) fn tree(&self) -> FileTree<'_> {
        FileTree {
            files: &self.files,
            contents: self,
        }
    }
}

impl Contents for Overlay<'_> {
    fn read(&self, id: &ContentId) -> Result<Content, ReadError> {
        match self.contents.get(id) {
            Some(bytes) => Ok(Content::Bytes(bytes.clone())),
            None => self.below.contents.read(id),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::FilesInMemory;

    fn path(path: &str) -> RepoPath {
        RepoPath::new(path).unwrap()
    }

    fn held(tree: FileTree<'_>, at: &str) -> Option<Vec<u8>> {
        let Some(FileEntry::Regular { content, .. }) = tree.files.get(&path(at)) else {
            return None;
        };
        match tree.contents.read(content).unwrap() {
            Content::Bytes(bytes) => Some(bytes.to_vec()),
            Content::TooLarge { .. } => None,
        }
    }

    #[test]
    fn files_are_replaced_made_and_gone_and_the_others_stay() {
        let files = ["a/kept", "a/replaced", "b/gone"].map(|it| (path(it), b"before".to_vec()));
        let below = FilesInMemory::from_iter(files);
        let changed = BTreeMap::from([
            (path("a/replaced"), Some(b"after".to_vec())),
            (path("c/made"), Some(b"new".to_vec())),
            (path("b/gone"), None),
            (path("never"), None),
        ]);
        let overlay = Overlay::new(below.tree(), &changed);
        let after = |at: &str| held(overlay.tree(), at);
        assert_eq!(after("a/kept").as_deref(), Some(&b"before"[..]));
        assert_eq!(after("a/replaced").as_deref(), Some(&b"after"[..]));
        assert_eq!(after("c/made").as_deref(), Some(&b"new"[..]));
        assert_eq!(after("b/gone"), None);
        assert!(
            !overlay.tree().files.is_folder(&path("b")),
            "a folder of nothing"
        );
        assert_eq!(
            held(below.tree(), "b/gone").as_deref(),
            Some(&b"before"[..])
        );
    }
}
