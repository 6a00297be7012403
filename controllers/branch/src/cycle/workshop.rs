//! What the Git job works with: the way to the remote, the local store, the folders of the targets.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use manifests::plan::Defaults;
use manifests::{Encryption, Folder, Intent, Mode, Outcome, Policy, Sealing, TypeCatalog};
use model::{CommitId, FileTree, FolderPath, Now, ServedType, Signature, TargetKey};
use rand::Rng as _;
use repository::{Attempt, ObjectFormat, Remote, SigningKey, Store};

use super::Fault;
use super::fault::{from_read, from_remote, from_store, store_fault, store_is_closed};
use super::keep::Kept;
use crate::journal::Sent;
use crate::message::TargetConfig;
use crate::state::{BranchIdentity, WriteId};

/// How long a new store is not tried again after one could not be begun.
const RENEW_AGAIN: Duration = Duration::from_secs(60 * 60);
/// The name of a store that is about to take the place of another.
const RENEWED: &str = "renewed";

/// Knows which kinds the cluster of a target serves.
pub trait Catalogs: Send + Sync {
    /// Returns the kinds, as they are known now.
    fn of(&self, target: &TargetKey) -> Arc<TypeCatalog>;

    /// Returns what the cluster fills in by itself; as far as nothing is known of it, what every cluster does.
    fn defaults(&self, _target: &TargetKey) -> Defaults {
        Defaults::builtin()
    }
}

/// Knows for whom each target's sensitive objects are encrypted, and what commits are signed with. Keys have a way of
/// their own, because messages may be recorded.
pub trait Keyring: Send + Sync {
    /// Returns for whom, as it is known now; `None` refuses sensitive objects.
    fn encryption(&self, target: &TargetKey) -> Option<Arc<Encryption>>;

    /// Returns the key that commits are signed with from now on; `None` leaves them unsigned. Called before commits
    /// are made; may block.
    ///
    /// # Errors
    /// Says why there is no key although commits are to be signed. Nothing is committed then.
    fn signing(&self) -> Result<Option<Arc<SigningKey>>, String> {
        Ok(None)
    }
}

/// Is told of every push before its first byte goes out, so that a process that starts again can find out what became
/// of it. Asked from the job, so it may block.
pub trait Ledger: Send {
    /// Notes a commit. Returns once the note lasts, or is known to be impossible.
    ///
    /// # Errors
    /// Fails when nobody keeps the ledger any more: then nothing may be sent.
    fn note(&self, sent: &Sent) -> Result<(), LedgerClosed>;
}

/// Nobody keeps the ledger any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the branch writer has ended, so nothing is sent")]
pub struct LedgerClosed;

/// Owns everything that the Git job changes. Handed to the job by value and back.
pub struct Workshop {
    pub(super) identity: BranchIdentity,
    pub(super) remote: Box<dyn Remote>,
    pub(super) catalogs: Arc<dyn Catalogs>,
    pub(super) keyring: Arc<dyn Keyring>,
    pub(super) folder: PathBuf,
    pub(super) store: Option<Store>,
    pub(super) ground: Option<Ground>,
    pub(super) projection: Option<Projection>,
    /// What is known of each target's folder. Brought from commit to commit at the cost of what differs.
    pub(super) folders: Folders,
    /// Before when no new store is begun, because that failed.
    pub(super) renew_after: Option<Instant>,
    /// Where pushes are noted; `None` notes nothing.
    pub(super) ledger: Option<Box<dyn Ledger>>,
}

/// The folders of a branch's targets, as they were last read.
#[derive(Default)]
pub(super) struct Folders(BTreeMap<FolderPath, Folder>);

impl Folders {
    /// Plans on what a commit holds.
    pub(super) fn plan(
        &mut self,
        tree: FileTree<'_>,
        intents: &[Intent],
        policy: &Policy,
        keys: Option<Keys>,
    ) -> Result<Outcome, Fault> {
        let folder = self.known(&policy.folder);
        let mut random = |bytes: &mut [u8]| rand::rng().fill_bytes(bytes);
        let sealing = keys.as_ref().map(|keys| Sealing {
            encryption: &keys.encryption,
            random: &mut random,
            now: keys.sealed_at.wall,
        });
        manifests::plan(folder, tree, intents, policy, Mode::Apply, sealing)
            .map_err(|error| from_read(&error))
    }

    /// Judges what a commit holds and plans nothing.
    pub(super) fn inspect(
        &mut self,
        tree: FileTree<'_>,
        policy: &Policy,
    ) -> Result<Outcome, Fault> {
        let folder = self.known(&policy.folder);
        manifests::plan(folder, tree, &[], policy, Mode::Inspect, None)
            .map_err(|error| from_read(&error))
    }

    /// Returns what is known of a folder.
    pub(super) fn known(&mut self, path: &FolderPath) -> &mut Folder {
        self.0
            .entry(path.clone())
            .or_insert_with(|| Folder::new(path.clone()))
    }

    /// Forgets the folders that no target has any more.
    pub(super) fn keep(&mut self, is_used: impl Fn(&FolderPath) -> bool) {
        self.0.retain(|path, _| is_used(path));
    }
}

/// What sensitive objects of one write are sealed with.
pub(super) struct Keys {
    pub(super) encryption: Arc<Encryption>,
    /// The moment of the write, which sealed files state as their last change.
    pub(super) sealed_at: Now,
}

/// What is built on: the branch's tip, or its parent while the branch is not on the remote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ground {
    /// The branch's tip on the remote.
    pub tip: Option<CommitId>,
    /// The commit that the next one builds on; `None` starts a history.
    pub root: Option<CommitId>,
    /// What the branch would be created from.
    pub parent: Option<board::ParentView>,
}

/// The pending writes made into commits on one ground. Rebuilt on another, never patched.
pub(super) struct Projection {
    pub root: Option<CommitId>,
    pub writes: Vec<WriteId>,
    pub attempt: Attempt,
    /// As whom the commits were made; `None` before the first.
    pub made_by: Option<MadeBy>,
    /// What can be done on another ground without planning it.
    pub kept: BTreeMap<WriteId, Kept>,
}

/// As whom commits are made. Commits of another one are made anew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MadeBy {
    pub committer: Signature,
    /// The public half of the key that they are signed with.
    pub key: Option<String>,
}

impl Workshop {
    /// Sets the job up. Nothing is read or written before the first cycle.
    pub fn new(
        identity: BranchIdentity,
        remote: Box<dyn Remote>,
        catalogs: Arc<dyn Catalogs>,
        keyring: Arc<dyn Keyring>,
        folder: &Path,
    ) -> Self {
        Self {
            identity,
            remote,
            catalogs,
            keyring,
            folder: folder.to_owned(),
            store: None,
            ground: None,
            projection: None,
            folders: Folders::default(),
            renew_after: None,
            ledger: None,
        }
    }

    /// Notes every push from now on.
    pub fn use_ledger(&mut self, ledger: Box<dyn Ledger>) {
        self.ledger = Some(ledger);
    }

    /// Replaces the way to the remote.
    pub fn use_remote(&mut self, remote: Box<dyn Remote>) {
        self.remote = remote;
    }

    /// Opens the local store, or starts a new one. It is a cache: what cannot be opened is fetched again.
    pub(super) fn open_store(&mut self, format: ObjectFormat) -> Result<&mut Store, Fault> {
        if self
            .store
            .as_ref()
            .is_some_and(|store| store.object_format() != format)
        {
            self.drop_store();
        }
        let store = match self.store.take() {
            Some(store) => store,
            None => match Store::open(&self.folder) {
                Ok(store) if store.object_format() == format => store,
                Ok(_) | Err(_) => {
                    remove_folder(&self.folder)?;
                    Store::create(&self.folder, format).map_err(|error| from_store(&error))?
                }
            },
        };
        Ok(self.store.insert(store))
    }

    pub(super) fn opened_store(&mut self) -> Result<&mut Store, Fault> {
        self.store.as_mut().ok_or_else(store_is_closed)
    }

    /// Begins a new store in place of one that has grown too much: nothing in a store is ever collected. The old one
    /// stays until the new one holds what is built on, so a remote that cannot be reached takes nothing away.
    /// Says whether it did.
    pub(super) fn renew_worn_store(&mut self) -> bool {
        let (Some(store), Some(ground)) = (&self.store, &self.ground) else {
            return false;
        };
        if self.renew_after.is_some_and(|after| Instant::now() < after) {
            return false;
        }
        let Some(root) = ground.root.clone().filter(|_| store.is_worn()) else {
            return false;
        };
        let branch = self.identity.key.clone();
        match self.fetch_beside(store.object_format(), &root) {
            Ok(()) => {
                tracing::info!(%branch, "the local store had grown and was begun anew");
                true
            }
            Err(fault) => {
                tracing::warn!(%branch, "cannot begin a new local store: {}", fault.message);
                self.renew_after = Some(Instant::now() + RENEW_AGAIN);
                false
            }
        }
    }

    /// Fetches a commit into a new store and takes that one from now on.
    fn fetch_beside(&mut self, format: ObjectFormat, root: &CommitId) -> Result<(), Fault> {
        let beside = self.folder.join(RENEWED);
        remove_folder(&beside)?;
        let mut renewed = Store::create(&beside, format).map_err(|error| from_store(&error))?;
        let fetched = self.remote.fetch(&mut renewed, root, None);
        fetched.map_err(|error| from_remote(&error))?;
        drop(renewed);
        self.projection = None;
        self.store = None;
        // Out of the old folder first, so that there is one store of this name at any time, or none.
        let aside = self.folder.with_extension(RENEWED);
        remove_folder(&aside)?;
        move_folder(&beside, &aside)?;
        let old = self.folder.with_extension("worn");
        remove_folder(&old)?;
        move_folder(&self.folder, &old)?;
        move_folder(&aside, &self.folder)?;
        remove_folder(&old)?;
        self.open_store(format).map(drop)
    }

    pub(super) fn drop_store(&mut self) {
        self.store = None;
        self.projection = None;
        self.ground = None;
        self.folders = Folders::default();
        if let Err(fault) = remove_folder(&self.folder) {
            tracing::warn!(branch = %self.identity.key, "{}", fault.message);
        }
    }

    /// Returns what is planned under for a target. `types` are those of the objects at hand: discovery may not
    /// know them yet, or no more.
    pub(super) fn policy(
        &self,
        target: &TargetConfig,
        prune: manifests::PruneMode,
        types: &[Arc<ServedType>],
    ) -> Policy {
        let mut catalog = self.catalogs.of(&target.key);
        for served in types {
            if catalog.find(&served.type_id.group, &served.kind).is_none() {
                Arc::make_mut(&mut catalog).insert(served);
            }
        }
        let mut policy = Policy::new(target.folder.clone(), catalog);
        policy.prune = prune;
        policy.defaults = self.catalogs.defaults(&target.key);
        policy.serialize_namespace = target.serialize_namespace;
        policy.placement = target.placement.clone();
        policy.bootstrap = true;
        policy
    }
}

fn move_folder(from: &Path, to: &Path) -> Result<(), Fault> {
    std::fs::rename(from, to).map_err(|error| {
        store_fault(format!(
            "cannot move the local store {} to {}: {error}",
            from.display(),
            to.display()
        ))
    })
}

/// Removes a store, or whatever else stands in its place.
fn remove_folder(folder: &Path) -> Result<(), Fault> {
    let removed = match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {
            std::fs::remove_file(folder)
        }
        other => other,
    };
    match removed {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(store_fault(format!(
            "cannot remove the local store {}: {error}",
            folder.display()
        ))),
    }
}
