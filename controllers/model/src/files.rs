//! What a commit holds below a path, as plain values.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::path::RepoPath;

/// The entries of one commit, keyed by their path from the root of the repository.
pub type Files = BTreeMap<RepoPath, FileEntry>;

/// One entry of a commit's tree. Directories do not appear: Git has none without a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileEntry {
    /// A regular file with its content.
    Regular {
        /// The content, shared by every reader of the same commit.
        bytes: Arc<[u8]>,
        /// Whether the mode is `100755`; an edit keeps it.
        executable: bool,
    },
    /// A regular file above the size limit, which is never read.
    TooLarge {
        /// The size in bytes.
        size: u64,
    },
    /// A symbolic link, which is never followed.
    Symlink,
    /// A submodule (gitlink), whose content is elsewhere.
    Submodule,
}

impl FileEntry {
    /// Returns the content of a regular file.
    pub fn bytes(&self) -> Option<&Arc<[u8]>> {
        match self {
            Self::Regular { bytes, .. } => Some(bytes),
            Self::TooLarge { .. } | Self::Symlink | Self::Submodule => None,
        }
    }
}
