//! The files that a plan touches, read when they are needed.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use model::{Content, FileEntry, FileTree, ReadError, RepoPath};
use serde_json::Value;

use crate::yaml::{self, FieldPath, Places};

/// How many bytes of text are kept for the next question.
const KEPT: usize = 32 << 20;

/// Reads files of a tree, and keeps some of them.
pub(crate) struct Texts<'a> {
    tree: FileTree<'a>,
    open: BTreeMap<RepoPath, Arc<OpenFile>>,
    bytes: usize,
    /// Files that are planned to hold something else.
    replaced: BTreeMap<RepoPath, Arc<OpenFile>>,
}

/// A file as it was read.
#[derive(Default)]
pub(crate) struct OpenFile {
    /// The text, or `None` where there is no file.
    pub(crate) text: Option<String>,
    /// What its documents say.
    pub(crate) values: Vec<Value>,
    /// Where they say it, found when it is asked for.
    places: OnceLock<Option<Places>>,
}

impl OpenFile {
    fn of(bytes: &[u8]) -> Self {
        let Ok(text) = String::from_utf8(bytes.to_vec()) else {
            return Self::default();
        };
        let values = yaml::values(&text).unwrap_or_default();
        Self {
            text: Some(text),
            values,
            places: OnceLock::new(),
        }
    }

    /// Returns the line of a field of a document, or of the nearest thing above it that is written.
    pub(crate) fn line_of(&self, document: usize, field: &FieldPath) -> Option<u32> {
        self.places()?.line_of(document, field)
    }

    /// Returns the first field of a document that begins in a line.
    pub(crate) fn field_in(&self, document: usize, line: u32) -> Option<FieldPath> {
        self.places()?.field_in(document, line)
    }

    fn places(&self) -> Option<&Places> {
        let read = || Places::read(self.text.as_deref()?).ok();
        self.places.get_or_init(read).as_ref()
    }
}

impl<'a> Texts<'a> {
    pub(crate) fn new(tree: FileTree<'a>) -> Self {
        Self {
            tree,
            open: BTreeMap::new(),
            bytes: 0,
            replaced: BTreeMap::new(),
        }
    }

    /// Reads a file of an accepted folder. What is no text, or no YAML, holds no value.
    pub(crate) fn open(&mut self, path: &RepoPath) -> Result<Arc<OpenFile>, ReadError> {
        let kept = self.replaced.get(path).or_else(|| self.open.get(path));
        if let Some(open) = kept {
            return Ok(Arc::clone(open));
        }
        let open = Arc::new(self.read(path)?);
        let bytes = open.text.as_ref().map_or(0, String::len);
        if self.bytes + bytes > KEPT {
            self.open.clear();
            self.bytes = 0;
        }
        self.bytes += bytes;
        self.open.insert(path.clone(), Arc::clone(&open));
        Ok(open)
    }

    /// Reads a file as these bytes from now on, or as none.
    pub(crate) fn replace(&mut self, path: &RepoPath, bytes: Option<&[u8]>) {
        let open = bytes.map_or_else(OpenFile::default, OpenFile::of);
        self.replaced.insert(path.clone(), Arc::new(open));
    }

    /// Reads a file as it is again.
    pub(crate) fn restore(&mut self, path: &RepoPath) {
        self.replaced.remove(path);
    }

    fn read(&self, path: &RepoPath) -> Result<OpenFile, ReadError> {
        let Some(FileEntry::Regular { content, .. }) = self.tree.files.get(path) else {
            return Ok(OpenFile::default());
        };
        let Content::Bytes(bytes) = self.tree.contents.read(content)? else {
            return Ok(OpenFile::default());
        };
        Ok(OpenFile::of(&bytes))
    }
}
