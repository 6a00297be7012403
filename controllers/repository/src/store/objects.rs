//! Objects on disk, and those that are in memory only: new ones, and ones that a remote has accepted and that
//! wait to be written.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use gix::ObjectId;
use gix::objs::tree::EntryRef;
use gix::objs::{CommitRefIter, Find as _, FindHeader as _, Kind, TreeRef, TreeRefIter};
use model::CommitId;

use super::{damaged, parse_id};
use crate::error::StoreError;
use crate::text;

/// An object that is in memory only.
#[derive(Debug, Clone)]
pub(crate) struct NewObject {
    pub(super) kind: Kind,
    pub(super) bytes: Arc<[u8]>,
    /// The tree that this one was made from, where that is so.
    pub(super) base: Option<Base>,
}

/// A tree with its name.
#[derive(Debug, Clone)]
pub(crate) struct Base {
    pub(crate) id: ObjectId,
    pub(crate) bytes: Arc<[u8]>,
}

/// Reads objects, those in memory first, and takes new ones into memory.
pub(crate) struct Objects {
    dir: Arc<Path>,
    disk: gix::OdbHandle,
    accepted: Arc<BTreeMap<ObjectId, NewObject>>,
    new: BTreeMap<ObjectId, NewObject>,
}

/// A commit as far as reading needs it.
#[derive(Debug)]
pub(crate) struct CommitLinks {
    pub(crate) tree: ObjectId,
    pub(crate) parents: Vec<ObjectId>,
}

impl Objects {
    pub(super) fn new(dir: Arc<Path>, disk: gix::OdbHandle) -> Self {
        Self {
            dir,
            disk,
            accepted: Arc::default(),
            new: BTreeMap::new(),
        }
    }

    /// Returns a view of the same objects with nothing that is new.
    pub(super) fn fork(&self) -> Self {
        Self {
            accepted: Arc::clone(&self.accepted),
            ..Self::new(Arc::clone(&self.dir), self.disk.clone())
        }
    }

    /// Takes over what is new in a fork.
    pub(super) fn accept(&mut self, fork: Self) {
        let Self { new, accepted, .. } = fork;
        // So that there is one owner, and nothing is copied.
        drop(accepted);
        Arc::make_mut(&mut self.accepted).extend(new);
    }

    /// Forgets what was accepted, once it is on disk.
    pub(super) fn forget_accepted(&mut self) {
        self.accepted = Arc::default();
    }

    /// Returns what was accepted and is not on disk yet.
    pub(super) fn accepted(&self) -> &BTreeMap<ObjectId, NewObject> {
        &self.accepted
    }

    fn in_memory(&self, id: &ObjectId) -> Option<&NewObject> {
        self.new.get(id).or_else(|| self.accepted.get(id))
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn hash_kind(&self) -> gix::hash::Kind {
        self.disk.store_ref().object_hash()
    }

    /// Notices a directory that somebody deleted: open packs would hide that for a while.
    pub(crate) fn check_present(&self) -> Result<(), StoreError> {
        for part in ["HEAD", "objects"] {
            if !self.dir.join(part).exists() {
                return Err(self.damage(format!("{part} is missing")));
            }
        }
        Ok(())
    }

    pub(crate) fn has_commit(&self, id: &CommitId) -> Result<bool, StoreError> {
        self.check_present()?;
        let Some(id) = parse_id(id).filter(|id| id.kind() == self.hash_kind()) else {
            return Ok(false);
        };
        if self.in_memory(&id).is_some() {
            return Ok(true);
        }
        let header = self
            .disk
            .try_header(&id)
            .map_err(|error| self.unreadable(&error))?;
        Ok(header.is_some_and(|header| header.kind == Kind::Commit))
    }

    /// Returns tree and parents of a commit that somebody asked for by its id.
    pub(crate) fn commit(&self, id: &CommitId) -> Result<CommitLinks, StoreError> {
        if !self.has_commit(id)? {
            return Err(StoreError::UnknownCommit { id: id.clone() });
        }
        let id = object_id(id)?;
        self.read_commit(&id)?.ok_or_else(|| self.missing(&id))
    }

    /// Returns tree and parents of a commit, or `None` when it is not here.
    pub(crate) fn read_commit(&self, id: &ObjectId) -> Result<Option<CommitLinks>, StoreError> {
        let mut buffer = Vec::new();
        let Some(data) = self.find(id, Kind::Commit, &mut buffer)? else {
            return Ok(None);
        };
        let mut tokens = CommitRefIter::from_bytes(data, self.hash_kind());
        let tree = tokens
            .tree_id()
            .map_err(|_| self.damage(format!("commit {id} has no tree")))?;
        let parents = CommitRefIter::from_bytes(data, self.hash_kind())
            .parent_ids()
            .collect();
        Ok(Some(CommitLinks { tree, parents }))
    }

    /// Reads a tree and hands it to `read`.
    pub(crate) fn tree<T>(
        &self,
        id: &ObjectId,
        read: impl FnOnce(&TreeRef<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut buffer = Vec::new();
        let data = self
            .find(id, Kind::Tree, &mut buffer)?
            .ok_or_else(|| self.missing(id))?;
        read(&self.parse_tree(id, data)?)
    }

    /// Returns a tree that is in memory, and the one that it was made from.
    pub(crate) fn made_from(&self, id: &ObjectId) -> Option<(Base, &Base)> {
        let object = self.in_memory(id)?;
        let tree = Base {
            id: *id,
            bytes: Arc::clone(&object.bytes),
        };
        Some((tree, object.base.as_ref()?))
    }

    /// Returns a tree as it is encoded.
    pub(super) fn encoded_tree(&self, id: &ObjectId) -> Result<Base, StoreError> {
        let mut buffer = Vec::new();
        let bytes = match self.in_memory(id) {
            Some(object) => Arc::clone(&object.bytes),
            None => self
                .find(id, Kind::Tree, &mut buffer)?
                .map(Arc::from)
                .ok_or_else(|| self.missing(id))?,
        };
        Ok(Base { id: *id, bytes })
    }

    /// Reads the entries of a tree one by one, each with where it ends.
    pub(crate) fn tree_entries<'a>(
        &self,
        tree: &'a Base,
    ) -> impl Iterator<Item = Result<(EntryRef<'a>, usize), StoreError>> {
        let mut entries = TreeRefIter::from_bytes(&tree.bytes, self.hash_kind());
        std::iter::from_fn(move || match entries.next()? {
            Ok(entry) => Some(Ok((entry, entries.offset_to_next_entry(&tree.bytes)))),
            Err(_) => Some(Err(self.unparsable(&tree.id))),
        })
    }

    pub(super) fn parse_tree<'a>(
        &self,
        id: &ObjectId,
        bytes: &'a [u8],
    ) -> Result<TreeRef<'a>, StoreError> {
        TreeRef::from_bytes(bytes, self.hash_kind()).map_err(|_| self.unparsable(id))
    }

    /// Returns the size of a file without reading it.
    pub(crate) fn blob_size(&self, id: &ObjectId) -> Result<u64, StoreError> {
        if let Some(object) = self.in_memory(id) {
            return Ok(u64::try_from(object.bytes.len()).unwrap_or(u64::MAX));
        }
        let header = self
            .disk
            .try_header(id)
            .map_err(|error| self.unreadable(&error))?;
        let header = header.ok_or_else(|| self.missing(id))?;
        Ok(header.size)
    }

    /// Returns the content of a file.
    pub(crate) fn blob(&self, id: &ObjectId) -> Result<Arc<[u8]>, StoreError> {
        if let Some(object) = self.in_memory(id) {
            return Ok(Arc::clone(&object.bytes));
        }
        let mut buffer = Vec::new();
        self.find(id, Kind::Blob, &mut buffer)?
            .map(Arc::from)
            .ok_or_else(|| self.missing(id))
    }

    /// Takes new objects into memory; those that are there already are not new.
    pub(super) fn add(&mut self, staged: BTreeMap<ObjectId, NewObject>) -> Result<(), StoreError> {
        for (id, object) in staged {
            if self.in_memory(&id).is_some() {
                continue;
            }
            let on_disk = self
                .disk
                .try_header(&id)
                .map_err(|error| self.unreadable(&error))?;
            if on_disk.is_none() {
                self.new.insert(id, object);
            }
        }
        Ok(())
    }

    /// Returns the new objects.
    pub(super) fn new_objects(&self) -> &BTreeMap<ObjectId, NewObject> {
        &self.new
    }

    /// Returns the bytes that the new objects take in memory.
    pub(crate) fn new_bytes(&self) -> u64 {
        bytes_of(&self.new)
    }

    /// Returns the bytes that the accepted objects take in memory, and those of the largest one.
    pub(super) fn accepted_bytes(&self) -> (u64, u64) {
        let sizes = self.accepted.values().map(|object| object.bytes.len());
        let largest = sizes.max().unwrap_or(0);
        let largest = u64::try_from(largest).unwrap_or(u64::MAX);
        (bytes_of(&self.accepted), largest)
    }

    pub(crate) fn damage(&self, what: impl Into<String>) -> StoreError {
        damaged(&self.dir, what)
    }

    /// Finds an object and checks that its content has the hash it is named by: a damaged cache must not
    /// become a commit.
    fn find<'a>(
        &'a self,
        id: &ObjectId,
        kind: Kind,
        buffer: &'a mut Vec<u8>,
    ) -> Result<Option<&'a [u8]>, StoreError> {
        if let Some(object) = self.in_memory(id) {
            return Ok(Some(&object.bytes));
        }
        let found = self
            .disk
            .try_find(id, buffer)
            .map_err(|error| damaged(&self.dir, text::shown(error.to_string().as_bytes())))?;
        let Some(data) = found else {
            return Ok(None);
        };
        if data.kind != kind {
            return Err(damaged(&self.dir, format!("object {id} is no {kind}")));
        }
        data.verify_checksum(id)
            .map_err(|_| damaged(&self.dir, format!("object {id} has another content")))?;
        Ok(Some(data.data))
    }

    fn unparsable(&self, id: &ObjectId) -> StoreError {
        self.damage(format!("tree {id} cannot be parsed"))
    }

    fn missing(&self, id: &ObjectId) -> StoreError {
        self.damage(format!("object {id} is missing"))
    }

    fn unreadable(&self, error: &gix::Error) -> StoreError {
        self.damage(text::shown(error.to_string().as_bytes()))
    }
}

fn bytes_of(objects: &BTreeMap<ObjectId, NewObject>) -> u64 {
    let total: usize = objects.values().map(|object| object.bytes.len()).sum();
    u64::try_from(total).unwrap_or(u64::MAX)
}

/// Parses an id of ours for gix.
pub(crate) fn object_id(id: &CommitId) -> Result<ObjectId, StoreError> {
    parse_id(id).ok_or_else(|| StoreError::UnknownCommit { id: id.clone() })
}
