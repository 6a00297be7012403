//! Immutable reads of one folder of one commit.
//!
//! A snapshot keeps, beside the plain files that planning needs, the folders it was read from with their
//! ids. The next snapshot of the same folder compares ids and reads only what differs, so that its cost
//! follows what changed and not what there is.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;

use gix::ObjectId;
use gix::objs::tree::EntryKind;
use model::{CommitId, FileEntry, Files, FolderPath, RepoPath};

use crate::error::StoreError;
use crate::store::Objects;

/// The largest file whose content is read.
pub const LARGEST_FILE: u64 = 1 << 20;
/// The most bytes of files that one snapshot may hold.
pub const LARGEST_FOLDER: u64 = 256 << 20;
/// The deepest nesting that is read, far above what people make and below what a stack holds.
const DEEPEST: usize = 128;
/// How many snapshots are kept for comparing with the next.
const KEPT: usize = 64;

/// The id of a tree, by which two equal folders are recognised.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreeId(String);

/// Everything below one folder of one commit. Shared, never changed.
#[derive(Clone)]
pub struct TreeSnapshot {
    /// The commit. `None` is the state before a first commit.
    pub commit: Option<CommitId>,
    /// The folder's tree. `None` when the commit has no such folder.
    pub tree: Option<TreeId>,
    /// The entries below the folder, by their path from the root of the repository.
    pub files: Arc<Files>,
    /// How many entries have a name that no path of ours can hold, or are nested too deep. They are in the
    /// commit and stay there; nothing of ours sees them.
    pub left_out: usize,
    root: Option<Arc<Directory>>,
}

/// The last snapshots, newest last.
#[derive(Debug, Clone, Default)]
pub(crate) struct Snapshots(VecDeque<(FolderPath, Arc<TreeSnapshot>)>);

/// A folder as it was read.
#[derive(Debug)]
struct Directory {
    id: ObjectId,
    nodes: BTreeMap<String, Node>,
    left_out: usize,
    bytes: u64,
}

#[derive(Debug, Clone)]
enum Node {
    File {
        id: ObjectId,
        kind: EntryKind,
        bytes: u64,
    },
    Folder(Arc<Directory>),
}

impl Node {
    /// Returns the bytes of files that it holds in memory.
    fn bytes(&self) -> u64 {
        match self {
            Self::File { bytes, .. } => *bytes,
            Self::Folder(folder) => folder.bytes,
        }
    }
}

impl TreeId {
    /// Returns the id in hex.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TreeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for TreeSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TreeSnapshot")
            .field("commit", &self.commit)
            .field("tree", &self.tree)
            .field("files", &self.files.len())
            .field("left_out", &self.left_out)
            .finish()
    }
}

impl Snapshots {
    /// Reads a folder of a commit, or of the state before a first commit.
    pub(crate) fn read(
        &mut self,
        objects: &Objects,
        commit: Option<&CommitId>,
        folder: &FolderPath,
    ) -> Result<Arc<TreeSnapshot>, StoreError> {
        objects.check_present()?;
        let tree = match commit {
            Some(commit) => find_folder(objects, objects.commit(commit)?.tree, folder)?,
            None => None,
        };
        let previous = self
            .0
            .iter()
            .rev()
            .filter(|(of, _)| of == folder)
            .map(|(_, snapshot)| snapshot)
            .max_by_key(|snapshot| snapshot.root.as_ref().map(|root| root.id) == tree);
        let same = |snapshot: &&Arc<TreeSnapshot>| {
            snapshot.commit.as_ref() == commit && snapshot.root.as_ref().map(|root| root.id) == tree
        };
        if let Some(snapshot) = previous.filter(same) {
            return Ok(Arc::clone(snapshot));
        }
        let previous = previous.map(Arc::as_ref);
        let snapshot = Arc::new(build(objects, commit, tree, folder, previous)?);
        self.keep(folder, &snapshot);
        Ok(snapshot)
    }

    fn keep(&mut self, folder: &FolderPath, snapshot: &Arc<TreeSnapshot>) {
        let older: Vec<usize> = (0..self.0.len())
            .filter(|index| self.0[*index].0 == *folder)
            .collect();
        // Two of each folder: the published state, and the one that waits for publication.
        if older.len() > 1 {
            self.0.remove(older[0]);
        }
        if self.0.len() == KEPT {
            self.0.pop_front();
        }
        self.0.push_back((folder.clone(), Arc::clone(snapshot)));
    }
}

fn find_folder(
    objects: &Objects,
    root: ObjectId,
    folder: &FolderPath,
) -> Result<Option<ObjectId>, StoreError> {
    let mut tree = root;
    let parts = folder.as_repo_path().map(RepoPath::parts);
    for part in parts.into_iter().flatten() {
        match objects.tree_entry(&tree, part)? {
            None => return Ok(None),
            Some((EntryKind::Tree, id)) => tree = id,
            Some(_) => {
                let path = folder.clone();
                return Err(StoreError::NotAFolder { path });
            }
        }
    }
    Ok(Some(tree))
}

fn build(
    objects: &Objects,
    commit: Option<&CommitId>,
    tree: Option<ObjectId>,
    folder: &FolderPath,
    previous: Option<&TreeSnapshot>,
) -> Result<TreeSnapshot, StoreError> {
    let mut reading = Reading {
        objects,
        folder,
        changes: Vec::new(),
    };
    let before = previous.and_then(|snapshot| snapshot.root.as_ref());
    let prefix = folder.as_repo_path().map_or("", RepoPath::as_str);
    let root = match tree {
        Some(tree) => Some(reading.directory(tree, prefix, DEEPEST, before)?),
        None => {
            if let Some(before) = before {
                reading.removed(before, prefix);
            }
            None
        }
    };
    Ok(TreeSnapshot {
        commit: commit.cloned(),
        tree: tree.map(|id| TreeId(id.to_string())),
        files: reading.files(previous),
        left_out: root.as_ref().map_or(0, |root| root.left_out),
        root,
    })
}

/// Reads folders and notes what differs from the ones before.
struct Reading<'a> {
    objects: &'a Objects,
    folder: &'a FolderPath,
    changes: Vec<(RepoPath, Option<FileEntry>)>,
}

impl Reading<'_> {
    /// Returns the files of the snapshot before with the changes made.
    fn files(self, previous: Option<&TreeSnapshot>) -> Arc<Files> {
        match previous {
            Some(previous) if self.changes.is_empty() => Arc::clone(&previous.files),
            None if self.changes.is_empty() => Arc::default(),
            previous => {
                let mut files = previous.map_or_else(Files::new, |before| (*before.files).clone());
                for (path, entry) in self.changes {
                    match entry {
                        Some(entry) => drop(files.insert(path, entry)),
                        None => drop(files.remove(&path)),
                    }
                }
                Arc::new(files)
            }
        }
    }

    fn directory(
        &mut self,
        id: ObjectId,
        prefix: &str,
        depth: usize,
        before: Option<&Arc<Directory>>,
    ) -> Result<Arc<Directory>, StoreError> {
        if let Some(before) = before
            && before.id == id
        {
            return Ok(Arc::clone(before));
        }
        let listed = self.list(&id)?;
        let mut directory = Directory {
            id,
            nodes: BTreeMap::new(),
            left_out: 0,
            bytes: 0,
        };
        for (name, kind, id) in listed {
            let path = name
                .and_then(|name| Some((RepoPath::new(joined(prefix, &name)).ok()?, name)))
                .filter(|_| depth > 0);
            let Some((path, name)) = path else {
                directory.left_out += 1;
                continue;
            };
            let old = before.and_then(|before| before.nodes.get(&name));
            let node = self.node(path, kind, id, depth, old)?;
            if let Node::Folder(folder) = &node {
                directory.left_out += folder.left_out;
            }
            directory.bytes += node.bytes();
            if directory.bytes > LARGEST_FOLDER {
                return Err(StoreError::FolderTooLarge {
                    path: self.folder.clone(),
                    limit: LARGEST_FOLDER,
                });
            }
            directory.nodes.insert(name, node);
        }
        for (name, node) in before.into_iter().flat_map(|before| &before.nodes) {
            if !directory.nodes.contains_key(name) {
                self.removed_node(node, &joined(prefix, name));
            }
        }
        Ok(Arc::new(directory))
    }

    /// Lists a tree; a name that is not UTF-8 is `None`.
    fn list(
        &self,
        id: &ObjectId,
    ) -> Result<Vec<(Option<String>, EntryKind, ObjectId)>, StoreError> {
        self.objects.tree(id, |tree| {
            Ok(tree
                .entries
                .iter()
                .map(|entry| {
                    let name = std::str::from_utf8(entry.filename).ok().map(str::to_owned);
                    (name, entry.mode.kind(), entry.oid.to_owned())
                })
                .collect())
        })
    }

    fn node(
        &mut self,
        path: RepoPath,
        kind: EntryKind,
        id: ObjectId,
        depth: usize,
        old: Option<&Node>,
    ) -> Result<Node, StoreError> {
        if kind == EntryKind::Tree {
            let old = match old {
                Some(Node::Folder(old)) => Some(old),
                Some(Node::File { .. }) => {
                    self.changes.push((path.clone(), None));
                    None
                }
                None => None,
            };
            let folder = self.directory(id, path.as_str(), depth - 1, old)?;
            return Ok(Node::Folder(folder));
        }
        match old {
            Some(
                same @ Node::File {
                    id: old_id,
                    kind: old_kind,
                    ..
                },
            ) if *old_id == id && *old_kind == kind => return Ok(same.clone()),
            Some(Node::Folder(old)) => self.removed(old, path.as_str()),
            Some(Node::File { .. }) | None => {}
        }
        let entry = self.entry(kind, &id)?;
        let bytes = entry.bytes().map_or(0, |bytes| bytes.len());
        self.changes.push((path, Some(entry)));
        Ok(Node::File {
            id,
            kind,
            bytes: u64::try_from(bytes).unwrap_or(u64::MAX),
        })
    }

    fn entry(&self, kind: EntryKind, id: &ObjectId) -> Result<FileEntry, StoreError> {
        match kind {
            EntryKind::Link => return Ok(FileEntry::Symlink),
            EntryKind::Commit | EntryKind::Tree => return Ok(FileEntry::Submodule),
            EntryKind::Blob | EntryKind::BlobExecutable => {}
        }
        let size = self.objects.blob_size(id)?;
        if size > LARGEST_FILE {
            return Ok(FileEntry::TooLarge { size });
        }
        Ok(FileEntry::Regular {
            bytes: self.objects.blob(id)?,
            executable: kind == EntryKind::BlobExecutable,
        })
    }

    fn removed(&mut self, directory: &Directory, prefix: &str) {
        for (name, node) in &directory.nodes {
            self.removed_node(node, &joined(prefix, name));
        }
    }

    fn removed_node(&mut self, node: &Node, path: &str) {
        match node {
            Node::Folder(folder) => self.removed(folder, path),
            Node::File { .. } => {
                if let Ok(path) = RepoPath::new(path) {
                    self.changes.push((path, None));
                }
            }
        }
    }
}

fn joined(prefix: &str, name: &str) -> String {
    if prefix.is_empty() {
        name.to_owned()
    } else {
        format!("{prefix}/{name}")
    }
}
