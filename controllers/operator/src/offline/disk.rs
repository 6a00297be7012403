//! A folder on disk as the files of a commit.
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
    /// Lists everything below `folder` of the repository at `root`. A folder that is missing holds nothing.
    pub(super) fn read(root: &Path, folder: &FolderPath) -> Result<Self> {
        let below = folder.as_repo_path().map(RepoPath::as_str);
        let place = below.map_or_else(|| root.to_owned(), |below| root.join(below));
        let mut listing = Listing { paths: Vec::new() };
        if let Some(way) = listing.way(root, folder)? {
            return Ok(Self {
                files: way,
                paths: Vec::new(),
            });
        }
        let prefix = below.unwrap_or_default();
        let directory = match fs::symlink_metadata(&place) {
            Ok(_) => listing.directory(&place, prefix, DEEPEST)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Directory::default(),
            Err(error) => return Err(error).with_context(|| cannot_read(&place)),
        };
        let mut files = Files::new(folder, Arc::new(directory));
        listing.configs_above(root, folder, &mut files);
        Ok(Self {
            files,
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
    /// Returns what stands in the way where a part of the folder's own path is no folder.
    fn way(&mut self, root: &Path, folder: &FolderPath) -> Result<Option<Files>> {
        let mut at = root.to_owned();
        let parts = folder.as_repo_path().map(RepoPath::parts);
        let mut path = String::new();
        for part in parts.into_iter().flatten() {
            at.push(part);
            path = if path.is_empty() {
                part.to_owned()
            } else {
                format!("{path}/{part}")
            };
            let metadata = match fs::symlink_metadata(&at) {
                Ok(metadata) => metadata,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(error).with_context(|| cannot_read(&at)),
            };
            if !metadata.is_dir() {
                let entry = self.entry(&at, &metadata);
                let (above, name) = path.rsplit_once('/').unwrap_or((".", &path));
                let directory = Directory {
                    nodes: vec![(name.into(), Node::Entry(entry))],
                    ..Directory::default()
                };
                let above = FolderPath::new(above)?;
                return Ok(Some(Files::new(&above, Arc::new(directory))));
            }
        }
        Ok(None)
    }

    /// Adds the configurations of SOPS that stand above the folder, because they count in it too.
    fn configs_above(&mut self, root: &Path, folder: &FolderPath, files: &mut Files) {
        let mut above = folder.as_repo_path().map(RepoPath::parent);
        while let Some(folder) = above {
            if let Ok(path) = folder.join(".sops.yaml")
                && let place = root.join(path.as_str())
                && let Ok(metadata) = fs::symlink_metadata(&place)
            {
                let entry = self.entry(&place, &metadata);
                files.put(&path, entry);
            }
            above = folder.as_repo_path().map(RepoPath::parent);
        }
    }

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
