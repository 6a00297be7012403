//! Files of one commit for one build, and the record of what was looked at.

use std::cell::{Cell, OnceCell};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use model::files::{Content, ReadError};
use model::{ContentId, FileEntry, FileTree, Files, FolderPath, RepoPath};

use super::cache::Cache;
use super::issue::Issue;
use super::lines::offset;
use super::manifest::{Manifests, too_large, unreadable_manifests};
use super::merge::Texts;
use super::node::{FileId, Site};
use super::parse::{Kustomization, parse};
use super::patches::json6902;
use super::read::{Purpose, manifests};

/// What a build looked at, and what was there. A build of another commit in which the same is there gives the same
/// result.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reads(BTreeMap<RepoPath, Seen>);

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    Nothing,
    Folder,
    File(ContentId),
    /// A symbolic link or a submodule, which is never followed.
    Opaque,
}

impl Reads {
    /// Says whether a build of these files would look at the same.
    pub fn hold_for(&self, files: &Files) -> bool {
        self.0.iter().all(|(path, seen)| see(files, path) == *seen)
    }

    /// Returns every path that was looked at, also those where nothing is.
    pub fn paths(&self) -> impl Iterator<Item = &RepoPath> {
        self.0.keys()
    }

    /// Returns the files that were read.
    pub fn files(&self) -> impl Iterator<Item = &RepoPath> {
        let files = self.0.iter();
        files.filter_map(|(path, seen)| matches!(seen, Seen::File(_)).then_some(path))
    }
}

fn see(files: &Files, path: &RepoPath) -> Seen {
    match files.get(path) {
        Some(FileEntry::Regular { content, .. }) => Seen::File(*content),
        Some(FileEntry::Symlink | FileEntry::Submodule) => Seen::Opaque,
        None if files.is_folder(path) => Seen::Folder,
        None => Seen::Nothing,
    }
}

/// Reads files and remembers which.
pub(crate) struct Loader<'a> {
    tree: FileTree<'a>,
    cache: &'a mut Cache,
    texts: HashMap<FileId, OnceCell<Arc<[u8]>>>,
    reads: Reads,
    /// Why a text could not be read that was asked for where nothing can fail.
    failure: Cell<Option<ReadError>>,
}

impl<'a> Loader<'a> {
    pub(crate) fn new(tree: FileTree<'a>, cache: &'a mut Cache) -> Self {
        Self {
            tree,
            cache,
            texts: HashMap::new(),
            reads: Reads::default(),
            failure: Cell::new(None),
        }
    }

    /// Returns the number that a file has.
    pub(crate) fn id(&mut self, path: &RepoPath) -> FileId {
        let id = self.cache.id(path);
        self.texts.entry(id).or_default();
        id
    }

    pub(crate) fn path(&self, id: FileId) -> Option<&RepoPath> {
        self.cache.path(id)
    }

    /// Returns what is at a path.
    pub(crate) fn see(&mut self, path: &RepoPath) -> Seen {
        if let Some(seen) = self.reads.0.get(path) {
            return *seen;
        }
        let seen = see(self.tree.files, path);
        self.reads.0.insert(path.clone(), seen);
        seen
    }

    /// Returns the first folder on the way to a path that is no folder but a link or a submodule, or the path
    /// itself where it is one.
    pub(crate) fn opaque(&mut self, path: &RepoPath) -> Option<RepoPath> {
        let text = path.as_str();
        let ends = text.match_indices('/').map(|(at, _)| at);
        let ways: Vec<RepoPath> = ends
            .chain([text.len()])
            .filter_map(|end| RepoPath::new(&text[..end]).ok())
            .collect();
        ways.into_iter().find(|way| self.see(way) == Seen::Opaque)
    }

    /// Returns the content of a file; `None` where it is none, or larger than what is ever read.
    pub(crate) fn bytes(&mut self, path: &RepoPath) -> Result<Option<Arc<[u8]>>, ReadError> {
        let Seen::File(content) = self.see(path) else {
            return Ok(None);
        };
        let id = self.id(path);
        let text = self.texts.entry(id).or_default();
        if let Some(bytes) = text.get() {
            return Ok(Some(bytes.clone()));
        }
        Ok(match self.tree.contents.read(&content)? {
            Content::Bytes(bytes) => Some(text.get_or_init(|| bytes).clone()),
            Content::TooLarge { .. } => None,
        })
    }

    /// Returns what the documents of a file mean.
    pub(crate) fn manifests(
        &mut self,
        path: &RepoPath,
        purpose: Purpose,
    ) -> Result<Result<Arc<Manifests>, Box<Issue>>, ReadError> {
        let file = self.id(path);
        let Seen::File(content) = self.see(path) else {
            return Ok(Err(too_large(path).into()));
        };
        if let Some(kept) = self.cache.manifests(file, content, purpose) {
            return Ok(Ok(kept));
        }
        let Some(bytes) = self.bytes(path)? else {
            return Ok(Err(too_large(path).into()));
        };
        Ok(match manifests(&bytes, file, purpose) {
            Ok(read) => {
                let read = Arc::new(read);
                self.cache
                    .keep_manifests(file, content, purpose, read.clone());
                Ok(read)
            }
            Err(problem) if problem.is_operations && purpose == Purpose::Patches => {
                Err(json6902(path).into())
            }
            Err(problem) => Err(unreadable_manifests(path, problem).into()),
        })
    }

    /// Returns what a kustomization file says; `None` where it cannot be read.
    pub(crate) fn kustomization(
        &mut self,
        path: &RepoPath,
    ) -> Result<Option<Arc<Kustomization>>, ReadError> {
        let file = self.id(path);
        let Seen::File(content) = self.see(path) else {
            return Ok(None);
        };
        if let Some(kept) = self.cache.kustomization(file, content) {
            return Ok(Some(kept));
        }
        let Some(bytes) = self.bytes(path)? else {
            return Ok(None);
        };
        let read = Arc::new(parse(path, &bytes));
        self.cache.keep_kustomization(file, content, read.clone());
        Ok(Some(read))
    }

    /// Returns the line of a place in a file.
    pub(crate) fn line_of(&self, site: Site) -> u32 {
        let text = self.text(site.file);
        let end = text
            .len()
            .min(usize::try_from(site.at).unwrap_or(usize::MAX));
        let breaks = text[..end].iter().filter(|byte| **byte == b'\n').count();
        offset(breaks) + 1
    }

    /// Returns the text of a file, which is read where it was not; empty where that fails.
    fn text(&self, file: FileId) -> &[u8] {
        let Some(text) = self.texts.get(&file) else {
            return &[];
        };
        text.get_or_init(|| {
            let seen = self
                .cache
                .path(file)
                .and_then(|path| self.reads.0.get(path).copied());
            let Some(Seen::File(content)) = seen else {
                return Arc::default();
            };
            match self.tree.contents.read(&content) {
                Ok(Content::Bytes(bytes)) => bytes,
                Ok(Content::TooLarge { .. }) => Arc::default(),
                Err(error) => {
                    self.failure.set(Some(error));
                    Arc::default()
                }
            }
        })
    }

    /// Returns why a text could not be read, where one could not.
    pub(crate) fn check(&self) -> Result<(), ReadError> {
        self.failure.take().map_or(Ok(()), Err)
    }

    /// Returns the path of a file in a folder.
    pub(crate) fn in_folder(folder: &FolderPath, name: &str) -> Option<RepoPath> {
        folder.join(name).ok()
    }

    /// Gives up the files and the record.
    pub(crate) fn finish(self) -> (Vec<RepoPath>, Reads) {
        (self.cache.paths().to_vec(), self.reads)
    }
}

impl Texts for Loader<'_> {
    fn text_from(&self, site: Site) -> &[u8] {
        let from = usize::try_from(site.at).unwrap_or(usize::MAX);
        self.text(site.file).get(from..).unwrap_or_default()
    }
}
