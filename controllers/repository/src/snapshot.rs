//! Immutable reads of one commit, each seen from one folder of it.
//!
//! A commit is read as a whole, because what counts for a folder may stand outside of it: a base that it builds on,
//! a kustomization that reads a file of it, a configuration of SOPS above it. A snapshot shares every directory with
//! an earlier one that has the same id, so its cost follows what changed and not what there is, and a second folder
//! of the same commit costs nothing. It holds no content; the store or the attempt that it came from is asked for
//! that.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use gix::ObjectId;
use gix::objs::tree::EntryKind;
use model::{
    CommitId, Content, ContentId, Directory, FileEntry, Files, FolderPath, Node, ReadError,
    RepoPath,
};

use crate::error::StoreError;
use crate::store::{Base, Objects, common_end, common_start};

/// The largest file whose content is read.
pub const LARGEST_FILE: u64 = 1 << 20;
/// The deepest nesting that is read, far above what people make and below what a stack holds.
const DEEPEST: usize = 128;
/// How many roots are kept for comparing with the next: what is published, what waits for publication, and a few
/// that a replay goes through again.
const KEPT: usize = 4;

/// The id of a tree, by which two equal folders are recognised.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreeId(String);

/// One commit, seen from one folder. Shared, never changed.
#[derive(Clone)]
pub struct TreeSnapshot {
    /// The commit. `None` is the state before a first commit.
    pub commit: Option<CommitId>,
    /// The folder's tree. `None` when the commit has no such folder.
    pub tree: Option<TreeId>,
    /// The entries of the whole commit, inside and outside of the folder.
    pub files: Files,
    /// How many entries of the folder have a name that no path of ours can hold, or are nested too deep. They are
    /// in the commit and stay there; nothing of ours sees them.
    pub left_out: usize,
}

/// The roots that were asked for last, newest last.
#[derive(Debug, Clone, Default)]
pub(crate) struct Snapshots(VecDeque<Arc<Directory>>);

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
            .field("left_out", &self.left_out)
            .finish()
    }
}

impl Snapshots {
    /// Reads a commit, or the state before a first one, for a folder.
    pub(crate) fn read(
        &mut self,
        objects: &Objects,
        commit: Option<&CommitId>,
        folder: &FolderPath,
    ) -> Result<TreeSnapshot, StoreError> {
        objects.check_present()?;
        let files = match commit {
            Some(commit) => {
                let root = self.root(objects, objects.commit(commit)?.tree)?;
                Files::new(&FolderPath::root(), root)
            }
            None => Files::default(),
        };
        check_way(&files, folder)?;
        let seen = files.folder(folder);
        Ok(TreeSnapshot {
            commit: commit.cloned(),
            tree: seen.and_then(|directory| tree_id(directory)),
            left_out: seen.map_or(0, |directory| directory.left_out),
            files,
        })
    }

    /// Reads a root, or finds it among those that were read before.
    fn root(&mut self, objects: &Objects, id: ObjectId) -> Result<Arc<Directory>, StoreError> {
        let wanted = Some(ContentId::new(id.as_bytes()));
        let known = self.0.iter().position(|root| root.id == wanted);
        let root = match known.and_then(|at| self.0.remove(at)) {
            Some(root) => root,
            // The newest is the one that this one was most probably made from.
            None => directory(objects, id, "", DEEPEST, self.0.back())?,
        };
        if self.0.len() == KEPT {
            self.0.pop_front();
        }
        self.0.push_back(Arc::clone(&root));
        Ok(root)
    }
}

fn tree_id(directory: &Directory) -> Option<TreeId> {
    let id = ObjectId::try_from(directory.id?.as_bytes()).ok()?;
    Some(TreeId(id.to_string()))
}

/// Refuses a folder whose own path leads through something that is no folder, or deeper than is read.
fn check_way(files: &Files, folder: &FolderPath) -> Result<(), StoreError> {
    let depth = folder.as_repo_path().map_or(0, |path| path.parts().count());
    let mut is_blocked = depth > DEEPEST;
    let mut way = folder.as_repo_path().cloned();
    while let Some(path) = way {
        is_blocked |= files.get(&path).is_some();
        way = path.parent().as_repo_path().cloned();
    }
    if is_blocked {
        let path = folder.clone();
        return Err(StoreError::NotAFolder { path });
    }
    Ok(())
}

/// Reads a folder, or takes the one before where it is the same.
fn directory(
    objects: &Objects,
    id: ObjectId,
    prefix: &str,
    depth: usize,
    before: Option<&Arc<Directory>>,
) -> Result<Arc<Directory>, StoreError> {
    let content_id = ContentId::new(id.as_bytes());
    if let Some(before) = before
        && before.id == Some(content_id)
    {
        return Ok(Arc::clone(before));
    }
    if let Some(before) = before
        && let Some(directory) = spliced(objects, &id, prefix, before)?
    {
        return Ok(Arc::new(directory));
    }
    let mut directory = Directory {
        id: Some(content_id),
        ..Directory::default()
    };
    objects.tree(&id, |tree| {
        directory.nodes.reserve(tree.entries.len());
        let mut known = Known::among(before);
        for entry in &tree.entries {
            let Some((name, old)) = named(entry.filename, prefix, &mut known) else {
                directory.left_out += 1;
                continue;
            };
            let id = entry.oid.to_owned();
            let node = match entry.mode.kind() {
                EntryKind::Tree if depth == 0 => {
                    directory.left_out += 1;
                    continue;
                }
                EntryKind::Tree => {
                    let old = match old {
                        Some(Node::Folder(old)) => Some(old),
                        Some(Node::Entry(_)) | None => None,
                    };
                    let below = joined(prefix, &name);
                    let folder = self::directory(objects, id, &below, depth - 1, old)?;
                    directory.left_out += folder.left_out;
                    Node::Folder(folder)
                }
                kind @ (EntryKind::Link
                | EntryKind::Commit
                | EntryKind::Blob
                | EntryKind::BlobExecutable) => Node::Entry(file_entry(kind, &id)),
            };
            directory.nodes.push((name, node));
        }
        Ok(())
    })?;
    // Git sorts a folder as if its name ended with a slash.
    directory.nodes.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(Arc::new(directory))
}

/// Returns what stands under a name that is no folder.
fn file_entry(kind: EntryKind, id: &ObjectId) -> FileEntry {
    match kind {
        EntryKind::Link => FileEntry::Symlink,
        EntryKind::Commit | EntryKind::Tree => FileEntry::Submodule,
        EntryKind::Blob | EntryKind::BlobExecutable => FileEntry::Regular {
            content: ContentId::new(id.as_bytes()),
            executable: kind == EntryKind::BlobExecutable,
        },
    }
}

/// Makes a folder out of the one before, where it was made from that by edits of ours: only the entries between
/// what both start and end with are read. Answers `None` where a folder is among the entries, since Git sorts
/// those in another way, or a name that we cannot hold.
fn spliced(
    objects: &Objects,
    id: &ObjectId,
    prefix: &str,
    before: &Directory,
) -> Result<Option<Directory>, StoreError> {
    let Some((after, base)) = objects.made_from(id) else {
        return Ok(None);
    };
    if before.id != Some(ContentId::new(base.id.as_bytes())) || before.left_out > 0 {
        return Ok(None);
    }
    // A mode of six digits, a space, the name, a zero byte and an id.
    let length = |(name, _): &(Arc<str>, Node)| 6 + 1 + name.len() + 1 + id.as_bytes().len();
    let is_file = |(_, node): &(Arc<str>, Node)| matches!(node, Node::Entry(_));
    let nodes = &before.nodes;
    let total: usize = nodes.iter().map(length).sum();
    if !nodes.iter().all(is_file) || total != base.bytes.len() {
        return Ok(None);
    }
    let start = common_start(&base.bytes, &after.bytes);
    let end = common_end(&base.bytes[start..], &after.bytes[start..]);
    let (first, from) = whole(nodes.iter().map(length), start);
    let (last, until) = whole(nodes.iter().rev().map(length), end);
    let middle = Base {
        id: *id,
        bytes: after.bytes[from..after.bytes.len() - until].into(),
    };
    let mut spliced = Vec::with_capacity(nodes.len() + 1);
    spliced.extend_from_slice(&nodes[..first]);
    for entry in objects.tree_entries(&middle) {
        let (entry, _) = entry?;
        let name = std::str::from_utf8(entry.filename);
        let kind = entry.mode.kind();
        let (Ok(name), true) = (name, kind != EntryKind::Tree) else {
            return Ok(None);
        };
        if !is_legal(prefix, name) {
            return Ok(None);
        }
        let id = entry.oid.to_owned();
        spliced.push((name.into(), Node::Entry(file_entry(kind, &id))));
    }
    spliced.extend_from_slice(&nodes[nodes.len() - last..]);
    Ok(Some(Directory {
        id: Some(ContentId::new(id.as_bytes())),
        nodes: spliced,
        left_out: 0,
    }))
}

/// Counts how many lengths fit into a total, and how much of it they take.
fn whole(lengths: impl Iterator<Item = usize>, total: usize) -> (usize, usize) {
    let (mut count, mut taken) = (0, 0);
    for length in lengths {
        if taken + length > total {
            break;
        }
        count += 1;
        taken += length;
    }
    (count, taken)
}

/// The names of a folder that were looked at before.
struct Known<'a> {
    nodes: &'a [(Arc<str>, Node)],
    /// Where the next one probably is, because both sides have nearly the same order.
    next: usize,
}

impl<'a> Known<'a> {
    fn among(before: Option<&'a Arc<Directory>>) -> Self {
        Self {
            nodes: before.map_or(&[], |before| &before.nodes),
            next: 0,
        }
    }

    fn find(&mut self, name: &[u8]) -> Option<&'a (Arc<str>, Node)> {
        let compare = |(other, _): &(Arc<str>, Node)| other.as_bytes().cmp(name);
        let is_next = self
            .nodes
            .get(self.next)
            .is_some_and(|node| compare(node).is_eq());
        let at = if is_next {
            self.next
        } else {
            self.nodes.binary_search_by(compare).ok()?
        };
        self.next = at + 1;
        Some(&self.nodes[at])
    }
}

/// Returns a name of a folder with what stood there before, or `None` where no path of ours can hold it.
fn named<'a>(
    name: &[u8],
    prefix: &str,
    known: &mut Known<'a>,
) -> Option<(Arc<str>, Option<&'a Node>)> {
    if let Some((name, old)) = known.find(name) {
        return Some((Arc::clone(name), Some(old)));
    }
    let name = std::str::from_utf8(name).ok()?;
    is_legal(prefix, name).then(|| (Arc::from(name), None))
}

fn is_legal(prefix: &str, name: &str) -> bool {
    RepoPath::new(joined(prefix, name)).is_ok()
}

fn joined(prefix: &str, name: &str) -> String {
    if prefix.is_empty() {
        name.to_owned()
    } else {
        format!("{prefix}/{name}")
    }
}

/// Reads the content of a file for whoever plans.
pub(crate) fn content(objects: &Objects, id: &ContentId) -> Result<Content, ReadError> {
    let read = || {
        let id = ObjectId::try_from(id.as_bytes())
            .map_err(|_| objects.damage("an id has a length that no object has"))?;
        let size = objects.blob_size(&id)?;
        if size > LARGEST_FILE {
            return Ok(Content::TooLarge { size });
        }
        objects.blob(&id).map(Content::Bytes)
    };
    read().map_err(|error: StoreError| ReadError {
        id: *id,
        source: Box::new(error),
    })
}
