//! Tries a change out: the same plan once more, over a tree or a policy that has it.

use std::collections::BTreeMap;

use model::{FileTree, ReadError, RepoPath};

use super::super::intent::Intent;
use super::super::policy::{Mode, Policy};
use crate::folder::{Folder, Joining};
use crate::kustomize::overlay::Overlay;

/// Answers whether changes help, without making them.
pub(super) struct Trial<'a> {
    tree: FileTree<'a>,
    policy: &'a Policy,
    /// A copy of the planned folder, which goes from one changed tree to the next at the cost of the change.
    folder: Folder,
    joining: Joining,
    answered: Option<(RepoPath, String, usize)>,
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
        let changed = changed(self.tree, path, text);
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
        let changed = changed(self.tree, path, text);
        self.folder.update(changed.tree(), &self.joining)?;
        let count = self.folder.accept().err().map_or(0, |issues| issues.len());
        self.answered = Some((path.clone(), text.to_owned(), count));
        Ok(count)
    }
}

/// Lays one file over a tree.
fn changed<'t>(tree: FileTree<'t>, path: &RepoPath, text: &str) -> Overlay<'t> {
    Overlay::new(
        tree,
        &BTreeMap::from([(path.clone(), Some(text.as_bytes().to_vec()))]),
    )
}
