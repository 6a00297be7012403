//! Tries a change out: the same plan once more, over a tree or a policy that has it.

use model::{Content, ContentId, Contents, FileEntry, FileTree, Files, ReadError, RepoPath};
use sha2::{Digest as _, Sha256};

use super::super::intent::Intent;
use super::super::policy::{Mode, Policy};
use crate::folder::{Folder, Joining};

/// Answers whether changes help, without making them.
pub(super) struct Trial<'a> {
    tree: FileTree<'a>,
    policy: &'a Policy,
    /// A copy of the planned folder, which goes from one changed tree to the next at the cost of the change.
    folder: Folder,
    joining: Joining,
    answered: Option<(RepoPath, String, usize)>,
}

/// A tree in which one file is another one.
struct Changed<'a> {
    files: Files,
    id: ContentId,
    bytes: Vec<u8>,
    others: &'a dyn Contents,
}

impl<'a> Trial<'a> {
    pub(super) fn new(tree: FileTree<'a>, policy: &'a Policy, folder: &Folder) -> Self {
        Self {
            tree,
            policy,
            folder: folder.clone(),
            joining: folder.joining().clone(),
            answered: None,
        }
    }

    /// Says whether the wish is granted once the file has this text.
    pub(super) fn text_helps(
        &mut self,
        path: &RepoPath,
        text: &str,
        wish: &Intent,
    ) -> Result<bool, ReadError> {
        let changed = Changed::new(self.tree, path, text);
        self.helps(changed.tree(), self.policy, wish)
    }

    /// Says whether the wish is granted under this policy.
    pub(super) fn policy_helps(
        &mut self,
        policy: &Policy,
        wish: &Intent,
    ) -> Result<bool, ReadError> {
        self.helps(self.tree, policy, wish)
    }

    fn helps(
        &mut self,
        tree: FileTree<'_>,
        policy: &Policy,
        wish: &Intent,
    ) -> Result<bool, ReadError> {
        let wishes = std::slice::from_ref(wish);
        let folder = &mut self.folder;
        let outcome = super::super::plan(folder, tree, wishes, policy, Mode::Preview, None)?;
        Ok(outcome.folder.is_accepted() && outcome.refusals().next().is_none())
    }

    /// Returns how many issues the folder has once the file has this text. Asked again about the same text, it
    /// answers from memory: a change of the ignore rules has the whole folder read.
    pub(super) fn issues(&mut self, path: &RepoPath, text: &str) -> Result<usize, ReadError> {
        if let Some((of, with, count)) = &self.answered
            && of == path
            && with == text
        {
            return Ok(*count);
        }
        let changed = Changed::new(self.tree, path, text);
        self.folder.update(changed.tree(), &self.joining)?;
        let count = self.folder.accept().err().map_or(0, |issues| issues.len());
        self.answered = Some((path.clone(), text.to_owned(), count));
        Ok(count)
    }
}

impl<'a> Changed<'a> {
    fn new(tree: FileTree<'a>, path: &RepoPath, text: &str) -> Self {
        let id = ContentId::new(&Sha256::digest(text));
        let executable = match tree.files.get(path) {
            Some(FileEntry::Regular { executable, .. }) => *executable,
            Some(FileEntry::Symlink | FileEntry::Submodule) | None => false,
        };
        let mut files = tree.files.clone();
        let entry = FileEntry::Regular {
            content: id,
            executable,
        };
        files.put(path, entry);
        Self {
            files,
            id,
            bytes: text.as_bytes().to_vec(),
            others: tree.contents,
        }
    }

    fn tree(&self) -> FileTree<'_> {
        FileTree {
            files: &self.files,
            contents: self,
        }
    }
}

impl Contents for Changed<'_> {
    fn read(&self, id: &ContentId) -> Result<Content, ReadError> {
        if *id == self.id {
            return Ok(Content::Bytes(self.bytes.as_slice().into()));
        }
        self.others.read(id)
    }
}
