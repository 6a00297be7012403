//! What a commit holds, as plain values: entries by path, and their content on demand.
//!
//! [`Files`] shares every folder that two commits have in common, so that taking the next commit costs what
//! changed and not what there is. Content is not held: whoever needs the bytes of a file asks [`Contents`].

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use std::iter::Peekable;
use std::slice;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::path::{FolderPath, RepoPath};

/// The hash that a store knows an object by. Equal ids mean equal content.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentId {
    length: u8,
    bytes: [u8; 32],
}

/// One entry of a commit's tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileEntry {
    /// A regular file.
    Regular {
        /// What it holds.
        content: ContentId,
        /// Whether the mode is `100755`; an edit keeps it.
        executable: bool,
    },
    /// A symbolic link, which is never followed.
    Symlink,
    /// A submodule (gitlink), whose content is elsewhere.
    Submodule,
}

/// A folder of a commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Directory {
    /// The hash that the store knows the folder by, where it does. Two folders with one id are equal.
    pub id: Option<ContentId>,
    /// What it holds, sorted by name, each name once.
    pub nodes: Vec<(Arc<str>, Node)>,
    /// How many entries in it and below have a name that no path of ours can hold, or are nested too deep.
    /// They are in the commit and stay there; nothing of ours sees them.
    pub left_out: usize,
}

/// One name in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// A file, a link or a submodule.
    Entry(FileEntry),
    /// A folder. Git has none without a file.
    Folder(Arc<Directory>),
}

/// The entries of one commit, by their path from the root of the repository.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Files {
    root: Arc<Directory>,
}

/// What became of a path between two commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The path.
    pub path: RepoPath,
    /// What is there now; `None` when nothing is.
    pub entry: Option<FileEntry>,
}

/// What a file holds.
#[derive(Clone, PartialEq, Eq)]
pub enum Content {
    /// These bytes.
    Bytes(Arc<[u8]>),
    /// More than is ever read.
    TooLarge {
        /// The size in bytes.
        size: u64,
    },
}

/// A content that could not be read. The write that needed it fails and is tried again (PI-8).
#[derive(Debug, thiserror::Error)]
#[error("cannot read {id:?}")]
pub struct ReadError {
    /// What was asked for.
    pub id: ContentId,
    /// What went wrong below.
    #[source]
    pub source: Box<dyn std::error::Error + Send + Sync>,
}

/// Reads the content of files.
pub trait Contents {
    /// Returns what a file holds.
    ///
    /// # Errors
    /// Returns what went wrong where the content cannot be read.
    fn read(&self, id: &ContentId) -> Result<Content, ReadError>;
}

/// The entries of a commit with the way to their content.
#[derive(Clone, Copy)]
pub struct FileTree<'a> {
    /// The entries.
    pub files: &'a Files,
    /// Where their content is.
    pub contents: &'a dyn Contents,
}

/// A set of files with their content, held in memory.
#[derive(Debug, Clone, Default)]
pub struct FilesInMemory {
    /// The entries.
    pub files: Files,
    contents: BTreeMap<ContentId, Arc<[u8]>>,
}

impl ContentId {
    /// Takes a hash of 1 to 32 bytes; what is longer is cut.
    pub fn new(hash: &[u8]) -> Self {
        let mut bytes = [0; 32];
        let length = hash.len().min(bytes.len());
        bytes[..length].copy_from_slice(&hash[..length]);
        Self {
            length: u8::try_from(length).unwrap_or(32),
            bytes,
        }
    }

    /// Returns the hash.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

impl Node {
    fn entry(&self) -> Option<&FileEntry> {
        match self {
            Self::Entry(entry) => Some(entry),
            Self::Folder(_) => None,
        }
    }

    fn folder(&self) -> Option<&Arc<Directory>> {
        match self {
            Self::Entry(_) => None,
            Self::Folder(folder) => Some(folder),
        }
    }
}

impl Directory {
    /// Returns what has this name.
    pub fn get(&self, name: &str) -> Option<&Node> {
        self.position(name).ok().map(|at| &self.nodes[at].1)
    }

    /// Says whether two folders are one, without looking into them.
    fn is(self: &Arc<Self>, other: &Arc<Self>) -> bool {
        Arc::ptr_eq(self, other) || (self.id.is_some() && self.id == other.id)
    }

    fn position(&self, name: &str) -> Result<usize, usize> {
        self.nodes
            .binary_search_by(|(other, _)| (**other).cmp(name))
    }

    /// Returns the entry or folder at a path below this folder.
    fn find(&self, below: &str) -> Option<&Node> {
        let mut at = self;
        let mut parts = below.split('/');
        let mut node = at.get(parts.next()?)?;
        for part in parts {
            let Node::Folder(folder) = node else {
                return None;
            };
            at = folder;
            node = at.get(part)?;
        }
        Some(node)
    }

    fn visit(&self, prefix: &str, visit: &mut impl FnMut(&RepoPath, &FileEntry)) {
        for (name, node) in &self.nodes {
            let path = joined(prefix, name);
            match node {
                Node::Entry(entry) => visit(&RepoPath::trusted(path), entry),
                Node::Folder(folder) => folder.visit(&path, visit),
            }
        }
    }
}

impl Files {
    /// Takes a folder and what is below it. `path` is where the folder is in the repository.
    pub fn new(path: &FolderPath, directory: Arc<Directory>) -> Self {
        let mut root = directory;
        let parts: Vec<&str> = path
            .as_repo_path()
            .map(RepoPath::parts)
            .into_iter()
            .flatten()
            .collect();
        for part in parts.into_iter().rev() {
            root = Arc::new(Directory {
                id: None,
                left_out: root.left_out,
                nodes: vec![(part.into(), Node::Folder(root))],
            });
        }
        Self { root }
    }

    /// Returns what is at a path.
    pub fn get(&self, path: &RepoPath) -> Option<&FileEntry> {
        match self.root.find(path.as_str())? {
            Node::Entry(entry) => Some(entry),
            Node::Folder(_) => None,
        }
    }

    /// Returns the folder at a path.
    pub fn folder(&self, path: &FolderPath) -> Option<&Arc<Directory>> {
        let Some(path) = path.as_repo_path() else {
            return Some(&self.root);
        };
        match self.root.find(path.as_str())? {
            Node::Folder(folder) => Some(folder),
            Node::Entry(_) => None,
        }
    }

    /// Says whether something lies below the path.
    pub fn is_folder(&self, path: &RepoPath) -> bool {
        matches!(self.root.find(path.as_str()), Some(Node::Folder(_)))
    }

    /// Says whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Counts the entries. Visits all of them.
    pub fn len(&self) -> usize {
        let mut count = 0;
        self.visit(|_, _| count += 1);
        count
    }

    /// Puts an entry, and the folders above it.
    pub fn put(&mut self, path: &RepoPath, entry: FileEntry) {
        let parts: Vec<&str> = path.parts().collect();
        put(&mut self.root, &parts, entry);
    }

    /// Takes an entry away, and every folder that becomes empty.
    pub fn remove(&mut self, path: &RepoPath) {
        let parts: Vec<&str> = path.parts().collect();
        remove(&mut self.root, &parts);
    }

    /// Returns the paths of all entries.
    pub fn paths(&self) -> Vec<RepoPath> {
        let mut paths = Vec::new();
        self.visit(|path, _| paths.push(path.clone()));
        paths
    }

    /// Visits every entry, folder by folder, each in the order of its names.
    pub fn visit(&self, mut visit: impl FnMut(&RepoPath, &FileEntry)) {
        self.root.visit("", &mut visit);
    }

    /// Returns what differs from an earlier commit. Folders that both share are not looked into.
    pub fn changes_since(&self, before: &Self) -> Vec<FileChange> {
        let mut changes = Vec::new();
        compare(Some(&before.root), Some(&self.root), "", &mut changes);
        changes
    }

    /// Returns what differs below one folder. What stands elsewhere is not looked at.
    pub fn changes_since_below(&self, before: &Self, folder: &FolderPath) -> Vec<FileChange> {
        let mut changes = Vec::new();
        let prefix = folder.as_repo_path().map_or("", RepoPath::as_str);
        let (old, new) = (before.folder(folder), self.folder(folder));
        compare(old, new, prefix, &mut changes);
        changes
    }
}

fn compare(
    before: Option<&Arc<Directory>>,
    after: Option<&Arc<Directory>>,
    prefix: &str,
    changes: &mut Vec<FileChange>,
) {
    if let (Some(before), Some(after)) = (before, after)
        && before.is(after)
    {
        return;
    }
    let (mut old, mut new) = (nodes(before), nodes(after));
    loop {
        let order = match (old.peek(), new.peek()) {
            (None, None) => return,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some((old, _)), Some((new, _))) if Arc::ptr_eq(old, new) => Ordering::Equal,
            (Some((old, _)), Some((new, _))) => old.cmp(new),
        };
        let earlier = order.is_le().then(|| old.next()).flatten();
        let later = order.is_ge().then(|| new.next()).flatten();
        let Some((name, _)) = earlier.or(later) else {
            return;
        };
        let (earlier, later) = (earlier.map(|(_, node)| node), later.map(|(_, node)| node));
        let same = match (earlier, later) {
            (Some(Node::Entry(earlier)), Some(Node::Entry(later))) => earlier == later,
            (Some(Node::Folder(earlier)), Some(Node::Folder(later))) => earlier.is(later),
            _ => false,
        };
        if !same {
            compare_nodes(earlier, later, joined(prefix, name), changes);
        }
    }
}

fn nodes(folder: Option<&Arc<Directory>>) -> Peekable<slice::Iter<'_, (Arc<str>, Node)>> {
    let nodes = folder.map_or(&[][..], |folder| &folder.nodes);
    nodes.iter().peekable()
}

fn compare_nodes(
    before: Option<&Node>,
    after: Option<&Node>,
    path: String,
    changes: &mut Vec<FileChange>,
) {
    let (old, new) = (before.and_then(Node::entry), after.and_then(Node::entry));
    let folders = (before.and_then(Node::folder), after.and_then(Node::folder));
    if folders.0.is_some() || folders.1.is_some() {
        compare(folders.0, folders.1, &path, changes);
    }
    if old != new {
        changes.push(FileChange {
            path: RepoPath::trusted(path),
            entry: new.cloned(),
        });
    }
}

fn joined(prefix: &str, name: &str) -> String {
    if prefix.is_empty() {
        name.to_owned()
    } else {
        format!("{prefix}/{name}")
    }
}

impl FilesInMemory {
    /// Returns the files as a tree to read from.
    pub fn tree(&self) -> FileTree<'_> {
        FileTree {
            files: &self.files,
            contents: self,
        }
    }

    /// Puts a regular file.
    pub fn put(&mut self, path: &RepoPath, bytes: impl Into<Arc<[u8]>>) {
        self.put_file(path, bytes, false);
    }

    /// Puts a regular file, executable or not.
    pub fn put_file(&mut self, path: &RepoPath, bytes: impl Into<Arc<[u8]>>, executable: bool) {
        let bytes = bytes.into();
        let content = ContentId::new(&Sha256::digest(&bytes));
        self.contents.insert(content, bytes);
        self.put_entry(
            path,
            FileEntry::Regular {
                content,
                executable,
            },
        );
    }

    /// Puts an entry without content.
    pub fn put_entry(&mut self, path: &RepoPath, entry: FileEntry) {
        self.files.put(path, entry);
    }

    /// Takes an entry away, and every folder that becomes empty.
    pub fn remove(&mut self, path: &RepoPath) {
        self.files.remove(path);
    }

    /// Returns the bytes of a regular file.
    pub fn bytes(&self, path: &RepoPath) -> Option<&Arc<[u8]>> {
        match self.files.get(path)? {
            FileEntry::Regular { content, .. } => self.contents.get(content),
            FileEntry::Symlink | FileEntry::Submodule => None,
        }
    }
}

fn put(directory: &mut Arc<Directory>, parts: &[&str], entry: FileEntry) {
    let directory = Arc::make_mut(directory);
    directory.id = None;
    let Some((name, rest)) = parts.split_first() else {
        return;
    };
    let at = directory.position(name).unwrap_or_else(|at| {
        let folder = Node::Folder(Arc::default());
        directory.nodes.insert(at, ((*name).into(), folder));
        at
    });
    let node = &mut directory.nodes[at].1;
    if rest.is_empty() {
        *node = Node::Entry(entry);
        return;
    }
    if let Node::Entry(_) = node {
        *node = Node::Folder(Arc::default());
    }
    if let Node::Folder(folder) = node {
        put(folder, rest, entry);
    }
}

fn remove(directory: &mut Arc<Directory>, parts: &[&str]) {
    let directory = Arc::make_mut(directory);
    directory.id = None;
    let Some((name, rest)) = parts.split_first() else {
        return;
    };
    let Ok(at) = directory.position(name) else {
        return;
    };
    let is_gone = match &mut directory.nodes[at].1 {
        Node::Folder(folder) if !rest.is_empty() => {
            remove(folder, rest);
            folder.nodes.is_empty()
        }
        Node::Entry(_) | Node::Folder(_) => rest.is_empty(),
    };
    if is_gone {
        directory.nodes.remove(at);
    }
}

impl<B: Into<Arc<[u8]>>> FromIterator<(RepoPath, B)> for FilesInMemory {
    fn from_iter<I: IntoIterator<Item = (RepoPath, B)>>(files: I) -> Self {
        let mut made = Self::default();
        for (path, bytes) in files {
            made.put(&path, bytes);
        }
        made
    }
}

impl PartialEq for FilesInMemory {
    /// Compares the entries; equal entries have equal content.
    fn eq(&self, other: &Self) -> bool {
        self.files == other.files
    }
}

impl Contents for FilesInMemory {
    fn read(&self, id: &ContentId) -> Result<Content, ReadError> {
        match self.contents.get(id) {
            Some(bytes) => Ok(Content::Bytes(Arc::clone(bytes))),
            None => Err(ReadError {
                id: *id,
                source: "it was never put there".into(),
            }),
        }
    }
}

impl fmt::Debug for ContentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.as_bytes() {
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for FileTree<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FileTree({} entries)", self.files.len())
    }
}

impl fmt::Debug for Content {
    /// Shows the size only: a file may hold a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => write!(f, "Bytes({})", bytes.len()),
            Self::TooLarge { size } => write!(f, "TooLarge({size})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> RepoPath {
        RepoPath::new(text).unwrap()
    }

    fn changed(before: &FilesInMemory, after: &FilesInMemory) -> Vec<(String, bool)> {
        after
            .files
            .changes_since(&before.files)
            .into_iter()
            .map(|change| (change.path.to_string(), change.entry.is_some()))
            .collect()
    }

    #[test]
    fn entries_are_found_by_their_path() {
        let files = FilesInMemory::from_iter([(path("a/b.yaml"), *b"1"), (path("c"), *b"2")]);
        assert_eq!(files.files.len(), 2);
        assert_eq!(files.bytes(&path("a/b.yaml")).unwrap()[..], *b"1");
        assert_eq!(files.files.get(&path("a")), None);
        assert_eq!(files.files.get(&path("c/d")), None);
        let folder = files.files.folder(&FolderPath::new("a").unwrap()).unwrap();
        assert_eq!(folder.nodes.len(), 1);
        let moved = Files::new(&FolderPath::new("x/y").unwrap(), Arc::clone(folder));
        assert!(moved.get(&path("x/y/b.yaml")).is_some());
    }

    #[test]
    fn changes_below_a_folder_are_those_of_the_whole_that_lie_in_it() {
        let files = |files: &[(&str, &[u8])]| -> FilesInMemory {
            let files = files.iter().map(|(at, bytes)| (path(at), *bytes));
            files.collect()
        };
        let states = [
            files(&[]),
            files(&[("a/b/c", b"1"), ("a/d", b"1"), ("e", b"1")]),
            files(&[("a/b/c", b"2"), ("a/b/x/y", b"2"), ("a/bc", b"2")]),
            files(&[("a/b", b"3"), ("e/f", b"3")]),
        ];
        for folder in [".", "a", "a/b", "e", "nowhere"] {
            let folder = FolderPath::new(folder).unwrap();
            for (before, after) in states
                .iter()
                .flat_map(|a| states.iter().map(move |b| (a, b)))
            {
                let mut all = after.files.changes_since(&before.files);
                all.retain(|change| folder.contains(&change.path));
                let below = after.files.changes_since_below(&before.files, &folder);
                assert_eq!(below, all, "{folder}");
            }
        }
    }

    #[test]
    fn only_what_differs_is_a_change() {
        let before = FilesInMemory::from_iter([
            (path("a/b.yaml"), *b"1"),
            (path("a/c.yaml"), *b"2"),
            (path("d"), *b"3"),
        ]);
        let mut after = before.clone();
        assert_eq!(changed(&before, &after), []);
        after.put(&path("a/b.yaml"), *b"9");
        after.put(&path("d/e"), *b"3");
        after.remove(&path("a/c.yaml"));
        let expected = [
            ("a/b.yaml", true),
            ("a/c.yaml", false),
            ("d/e", true),
            ("d", false),
        ];
        let expected = expected.map(|(path, there)| (path.to_owned(), there));
        assert_eq!(changed(&before, &after), expected);
        after.remove(&path("a/b.yaml"));
        assert_eq!(after.files.folder(&FolderPath::new("a").unwrap()), None);
    }
}
