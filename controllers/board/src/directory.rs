//! Who publishes at the moment.

use std::collections::BTreeMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use model::{BranchName, GitBranchKey, GitProviderKey, KubeProviderKey, Millis, RepositoryId, Uid};
use tokio::sync::watch;

use crate::branch_view::BranchView;
use crate::publish::Reader;
use crate::source_view::SourceView;

/// One branch actor that is running.
#[derive(Debug, Clone)]
pub struct BranchEntry {
    /// The incarnation of the `GitBranch`.
    pub uid: Uid,
    /// When the `GitBranch` was created, in wall-clock milliseconds since 1970.
    pub created_at: Millis,
    /// The provider whose credential it uses.
    pub provider: GitProviderKey,
    /// The repository that it writes.
    pub repository: RepositoryId,
    /// The branch that it writes.
    pub branch: BranchName,
    /// What it last published.
    pub view: Reader<BranchView>,
}

/// One source actor that is running.
#[derive(Debug, Clone)]
pub struct SourceEntry {
    /// What it last published.
    pub view: Reader<SourceView>,
}

/// Every actor that is running, by the object that it works for.
#[derive(Debug, Clone, Default)]
pub struct Directory {
    /// Branch actors.
    pub branches: BTreeMap<GitBranchKey, BranchEntry>,
    /// Source actors.
    pub sources: BTreeMap<KubeProviderKey, SourceEntry>,
}

/// The side of the directory that the fleet writes.
#[derive(Debug)]
pub struct DirectoryWriter {
    current: Arc<ArcSwap<Directory>>,
    revision: watch::Sender<u64>,
}

/// The side of the directory that everybody may read.
#[derive(Debug, Clone)]
pub struct DirectoryReader {
    current: Arc<ArcSwap<Directory>>,
    revision: watch::Receiver<u64>,
}

impl DirectoryWriter {
    /// Starts with nobody.
    pub fn new() -> Self {
        Self {
            current: Arc::default(),
            revision: watch::Sender::new(0),
        }
    }

    /// Replaces the directory and wakes those who wait for a change.
    pub fn set(&self, directory: Directory) {
        self.current.store(Arc::new(directory));
        self.revision.send_modify(|revision| *revision += 1);
    }

    /// Returns a new reader.
    pub fn reader(&self) -> DirectoryReader {
        DirectoryReader {
            current: Arc::clone(&self.current),
            revision: self.revision.subscribe(),
        }
    }
}

impl Default for DirectoryWriter {
    fn default() -> Self {
        Self::new()
    }
}

impl DirectoryReader {
    /// Returns the directory as it is now.
    pub fn now(&self) -> Arc<Directory> {
        self.current.load_full()
    }

    /// Waits until an actor comes or goes. Returns `false` once the writer is gone.
    pub async fn changed(&mut self) -> bool {
        self.revision.changed().await.is_ok()
    }
}
