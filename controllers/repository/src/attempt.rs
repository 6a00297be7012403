//! Commits that exist in memory only, until a remote has accepted them.

use model::{CommitId, Content, ContentId, Contents, FolderPath, ReadError};

use crate::error::StoreError;
use crate::sign::SigningKey;
use crate::snapshot::{self, Snapshots, TreeSnapshot};
use crate::store::{self, Objects, Store};

pub use crate::store::{CommitText, Pack, TreeEdit};

/// A chain of commits on top of a base, or of nothing. Dropping it is all it takes to undo it; the store
/// that it reads from is not changed by it.
pub struct Attempt {
    objects: Objects,
    snapshots: Snapshots,
    base: Option<CommitId>,
    tip: Option<CommitId>,
}

impl std::fmt::Debug for Attempt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Attempt")
            .field("base", &self.base)
            .field("tip", &self.tip)
            .field("bytes", &self.bytes())
            .finish()
    }
}

impl Attempt {
    /// Starts on a commit of the store; without one, the first commit starts a history.
    ///
    /// # Errors
    /// Fails when the store does not hold the base or is damaged.
    pub fn new(store: &Store, base: Option<&CommitId>) -> Result<Self, StoreError> {
        let (objects, snapshots) = store.fork();
        if let Some(base) = base {
            objects.commit(base)?;
        }
        Ok(Self {
            objects,
            snapshots,
            base: base.cloned(),
            tip: base.cloned(),
        })
    }

    /// Returns what the commits build on.
    pub fn base(&self) -> Option<&CommitId> {
        self.base.as_ref()
    }

    /// Returns the last commit, which is the base until there is one.
    pub fn tip(&self) -> Option<&CommitId> {
        self.tip.as_ref()
    }

    /// Says whether there is no commit yet.
    pub fn is_empty(&self) -> bool {
        self.tip == self.base
    }

    /// Reads the last commit for a folder.
    ///
    /// # Errors
    /// Fails when the folder is none or the store is damaged.
    pub fn snapshot(&mut self, folder: &FolderPath) -> Result<TreeSnapshot, StoreError> {
        self.snapshots
            .read(&self.objects, self.tip.as_ref(), folder)
    }

    /// Adds one commit with these edits, all or none. `None` means that they change nothing.
    ///
    /// # Errors
    /// Fails when an edit is refused or the store is damaged; the attempt is then as it was.
    pub fn commit(
        &mut self,
        edits: &[TreeEdit],
        text: &CommitText,
    ) -> Result<Option<CommitId>, StoreError> {
        self.add(edits, text, None)
    }

    /// Adds one commit as [`commit`](Self::commit) does, signed. Equal inputs make equal commits.
    ///
    /// # Errors
    /// Fails as `commit` does, and when the key makes no signature that holds.
    pub fn commit_signed(
        &mut self,
        edits: &[TreeEdit],
        text: &CommitText,
        key: &SigningKey,
    ) -> Result<Option<CommitId>, StoreError> {
        self.add(edits, text, Some(key))
    }

    fn add(
        &mut self,
        edits: &[TreeEdit],
        text: &CommitText,
        key: Option<&SigningKey>,
    ) -> Result<Option<CommitId>, StoreError> {
        let tip = store::add_commit(&mut self.objects, self.tip.as_ref(), edits, text, key)?;
        if tip.is_some() {
            self.tip.clone_from(&tip);
        }
        Ok(tip)
    }

    /// Packs exactly the objects that the base does not have.
    ///
    /// # Errors
    /// Fails when there are more objects than a pack can hold.
    pub fn pack(&self) -> Result<Pack, StoreError> {
        store::pack_new(&self.objects)
    }

    /// Returns how much memory the new objects take.
    pub fn bytes(&self) -> u64 {
        self.objects.new_bytes()
    }

    pub(crate) fn into_parts(self) -> (Objects, Snapshots, Option<CommitId>) {
        let tip = self.tip.filter(|tip| self.base.as_ref() != Some(tip));
        (self.objects, self.snapshots, tip)
    }
}

impl Contents for Attempt {
    fn read(&self, id: &ContentId) -> Result<Content, ReadError> {
        snapshot::content(&self.objects, id)
    }
}
