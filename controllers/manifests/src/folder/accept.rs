//! The gate: a folder is written as a whole or not at all.

use std::collections::BTreeMap;

use model::{Refusal, RepoPath, ResourceId};

use super::document::{Document, Join};
use super::issue::sort;
use super::read::{Folder, ManagedFile};
use crate::plan::FolderFacts;

/// A folder that may be written. [`Folder::accept`] is the only way to get one.
#[derive(Debug, Clone)]
pub struct AcceptedFolder {
    files: BTreeMap<RepoPath, ManagedFile>,
    index: BTreeMap<ResourceId, (RepoPath, usize)>,
    is_empty: bool,
}

impl Folder {
    /// Judges the folder.
    ///
    /// # Errors
    /// Returns every issue at once, sorted by path, line and kind.
    pub fn accept(self) -> Result<AcceptedFolder, Vec<Refusal>> {
        let mut issues = self.issues;
        if !issues.is_empty() {
            sort(&mut issues);
            return Err(issues);
        }
        let mut index = BTreeMap::new();
        for (path, file) in &self.files {
            for (position, document) in file.documents.iter().enumerate() {
                if let Some(id) = document.id() {
                    index.insert(id.clone(), (path.clone(), position));
                }
            }
        }
        Ok(AcceptedFolder {
            files: self.files,
            index,
            is_empty: self.is_empty,
        })
    }
}

impl AcceptedFolder {
    /// Returns the document of an object.
    pub fn find(&self, id: &ResourceId) -> Option<&Document> {
        let (path, position) = self.index.get(id)?;
        self.files.get(path)?.documents.get(*position)
    }

    /// Returns a YAML file of the folder.
    pub fn file(&self, path: &RepoPath) -> Option<&ManagedFile> {
        self.files.get(path)
    }

    /// Returns every document, by path and position.
    pub fn documents(&self) -> impl Iterator<Item = &Document> {
        self.files.values().flat_map(|file| &file.documents)
    }

    /// Says whether the folder holds no file at all, or does not exist.
    pub fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// Counts what the folder holds.
    pub fn facts(&self) -> FolderFacts {
        let mut facts = FolderFacts::default();
        for document in self.documents() {
            facts.documents += 1;
            facts.unknown_kinds += usize::from(document.join == Join::UnknownKind);
            facts.without_namespace += usize::from(document.join == Join::NoNamespace);
            facts.encrypted += usize::from(document.encrypted);
        }
        facts.files = self
            .files
            .values()
            .filter(|file| !file.documents.is_empty())
            .count();
        facts
    }
}
