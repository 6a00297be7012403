//! A repository on disk as the files of a commit.
//!
//! What is there is listed at once and read when it is asked for. Links are not followed, a repository inside of
//! another one is not looked into, and `.git` is left out.

use std::fs::{self, DirEntry, File, Metadata};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result};
use model::{
    Content, ContentId, Contents, Directory, FileEntry, FileTree, Files, FolderPath, Node,
    ReadError, RepoPath,
};

/// The largest file whose content is read, as in the operator.
const LARGEST_FILE: u64 = repository::LARGEST_FILE;
/// Room for most files, so that they are read at once.
const TYPICAL_FILE: usize = 8 << 10;
/// The deepest nesting that is looked into.
const DEEPEST: usize = 128;

/// Files on disk.
pub(super) struct Disk {
    files: Files,
    paths: Vec<PathBuf>,
}

impl Disk {
    /// Lists everything below the root of a repository.
    pub(super) fn read(root: &Path) -> Result<Self> {
        let mut listing = Listing { paths: Vec::new() };
        let directory = listing.directory(root, "", DEEPEST)?;
        Ok(Self {
            files: Files::new(&FolderPath::root(), Arc::new(directory)),
            paths: listing.paths,
        })
    }

    pub(super) fn tree(&self) -> FileTree<'_> {
        FileTree {
            files: &self.files,
            contents: self,
        }
    }
}

struct Listing {
    paths: Vec<PathBuf>,
}

impl Listing {
    fn directory(&mut self, place: &Path, prefix: &str, depth: usize) -> Result<Directory> {
        let mut found = Directory::default();
        let failed = || cannot_read(place);
        for entry in fs::read_dir(place).with_context(failed)? {
            let entry = entry.with_context(failed)?;
            if entry.file_name() == ".git" {
                continue;
            }
            match self.node(&entry, prefix, depth)? {
                Some((name, node)) => {
                    if let Node::Folder(folder) = &node {
                        found.left_out += folder.left_out;
                    }
                    found.nodes.push((name, node));
                }
                None => found.left_out += 1,
            }
        }
        found.nodes.sort_by(|(a, _), (b, _)| a.cmp(b));
        Ok(found)
    }

    /// Returns an entry, or `None` where its name is none that a path of ours can hold.
    fn node(
        &mut self,
        entry: &DirEntry,
        prefix: &str,
        depth: usize,
    ) -> Result<Option<(Arc<str>, Node)>> {
        let place = entry.path();
        let name = entry.file_name();
        let Some(name) = name.to_str() else {
            return Ok(None);
        };
        let path = if prefix.is_empty() {
            name.to_owned()
        } else {
            format!("{prefix}/{name}")
        };
        if depth == 0 || RepoPath::new(path.as_str()).is_err() {
            return Ok(None);
        }
        let metadata = entry.metadata().with_context(|| cannot_read(&place))?;
        let node = if !metadata.is_dir() {
            Node::Entry(self.entry(&place, &metadata))
        } else if place.join(".git").exists() {
            Node::Entry(FileEntry::Submodule)
        } else {
            Node::Folder(Arc::new(self.directory(&place, &path, depth - 1)?))
        };
        Ok(Some((name.into(), node)))
    }

    fn entry(&mut self, place: &Path, metadata: &Metadata) -> FileEntry {
        if !metadata.is_file() {
            return FileEntry::Symlink;
        }
        let number = self.paths.len() as u64;
        self.paths.push(place.to_owned());
        FileEntry::Regular {
            content: ContentId::new(&number.to_be_bytes()),
            executable: is_executable(metadata),
        }
    }
}

impl Contents for Disk {
    fn read(&self, id: &ContentId) -> Result<Content, ReadError> {
        let number = id.as_bytes().try_into().map(u64::from_be_bytes);
        let path = number
            .ok()
            .and_then(|number| self.paths.get(usize::try_from(number).ok()?));
        let read = || -> io::Result<Content> {
            let path = path.ok_or(io::ErrorKind::NotFound)?;
            let file = File::open(path)?;
            let mut bytes = Vec::with_capacity(TYPICAL_FILE);
            // One byte more than may be, to tell a file that is too large, or grows while it is read.
            (&file).take(LARGEST_FILE + 1).read_to_end(&mut bytes)?;
            if bytes.len() as u64 > LARGEST_FILE {
                let size = file.metadata()?.len();
                return Ok(Content::TooLarge { size });
            }
            Ok(Content::Bytes(bytes.into()))
        };
        read().map_err(|error| ReadError {
            id: *id,
            source: match path {
                Some(path) => format!("{}: {error}", path.display()).into(),
                None => error.into(),
            },
        })
    }
}

fn is_executable(metadata: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    metadata.permissions().mode() & 0o100 != 0
}

fn cannot_read(place: &Path) -> String {
    format!("cannot read {}", place.display())
}
