//! Files on their way to what they shall be.

use std::sync::Arc;

use model::files::{Content, ReadError};
use model::{FileEntry, FileTree, RepoPath};

use super::Changes;

/// The files of a tree, and what shall be otherwise.
pub(super) struct Rewrite<'t> {
    tree: FileTree<'t>,
    changes: Changes,
}

/// What is at a path.
pub(super) enum Held {
    Nothing,
    Bytes(Arc<[u8]>),
    /// A folder, a link, a submodule, or more than what is read.
    Other,
}

impl<'t> Rewrite<'t> {
    pub(super) fn new(tree: FileTree<'t>) -> Self {
        Self {
            tree,
            changes: Changes::new(),
        }
    }

    pub(super) fn held(&self, path: &RepoPath) -> Result<Held, ReadError> {
        if let Some(changed) = self.changes.get(path) {
            return Ok(match changed {
                Some(bytes) => Held::Bytes(bytes.as_slice().into()),
                None => Held::Nothing,
            });
        }
        let content = match self.tree.files.get(path) {
            Some(FileEntry::Regular { content, .. }) => content,
            Some(FileEntry::Symlink | FileEntry::Submodule) => return Ok(Held::Other),
            None if self.tree.files.is_folder(path) => return Ok(Held::Other),
            None => return Ok(Held::Nothing),
        };
        Ok(match self.tree.contents.read(content)? {
            Content::Bytes(bytes) => Held::Bytes(bytes),
            Content::TooLarge { .. } => Held::Other,
        })
    }

    /// Returns what a file says, nothing where it is no text.
    pub(super) fn text(&self, path: &RepoPath) -> Result<String, ReadError> {
        Ok(match self.held(path)? {
            Held::Bytes(bytes) => String::from_utf8(bytes.to_vec()).unwrap_or_default(),
            Held::Nothing | Held::Other => String::new(),
        })
    }

    /// Lets a file hold something, which is no change where it holds that already.
    pub(super) fn put(&mut self, path: &RepoPath, bytes: Vec<u8>) -> Result<(), ReadError> {
        let is_there = matches!(self.held(path)?, Held::Bytes(held) if *held == *bytes);
        if !is_there {
            self.changes.insert(path.clone(), Some(bytes));
        }
        Ok(())
    }

    /// Lets a file go.
    pub(super) fn remove(&mut self, path: &RepoPath) {
        if self.tree.files.get(path).is_some() {
            self.changes.insert(path.clone(), None);
        } else {
            self.changes.remove(path);
        }
    }

    pub(super) fn finish(self) -> Changes {
        self.changes
    }
}
