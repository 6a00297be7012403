//! What the Git job works with, and the order in which it works.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use board::{ProvedBy, PublicationFault};
use manifests::plan::Defaults;
use manifests::{Encryption, Folder, Intent, Mode, Outcome, Policy, Sealing, TypeCatalog};
use model::{CommitId, FileTree, FolderPath, Now, ServedType, Signature, TargetKey};
use rand::Rng as _;
use repository::{Advertisement, Attempt, ObjectFormat, Remote, SigningKey, Store};

use super::fault::{from_read, from_remote, from_store, store_fault, store_is_closed};
use super::keep::Kept;
use super::{CycleOutcome, CycleRequest, Fault, FetchReason, Unanswered};
use crate::journal::Sent;
use crate::message::TargetConfig;
use crate::state::{BranchIdentity, PendingWrite, WriteId};

/// How often one cycle plans again because the branch moved before its push arrived.
const ATTEMPTS: u32 = 5;

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

/// One run of the job.
pub(super) struct Cycle<'a> {
    pub shop: &'a mut Workshop,
    pub request: CycleRequest,
    pub outcome: CycleOutcome,
    /// What is decided and not on the remote, oldest first; grows as drafts are decided.
    pub pending: Vec<Arc<PendingWrite>>,
    /// Whether the remote was asked in this cycle.
    pub looked: bool,
    /// What its commits are signed with, once the first one asked.
    pub signing: Option<Option<Arc<SigningKey>>>,
}

/// What a push came to, when nothing failed.
pub(super) enum Pushed {
    Landed,
    /// The branch is elsewhere. The push session told where everything is, unless the branch is nowhere: then it also
    /// matters what a reader sees.
    Moved(Option<Box<Advertisement>>),
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

    /// Runs one cycle. Blocks: the network and the disk are in it.
    pub fn run(&mut self, request: CycleRequest) -> CycleOutcome {
        let pending = request.pending.clone();
        let mut cycle = Cycle {
            shop: self,
            request,
            outcome: CycleOutcome::default(),
            pending,
            looked: false,
            signing: None,
        };
        let result = cycle.work();
        cycle.forget_folders();
        if result.is_ok() && cycle.pending.is_empty() && cycle.shop.renew_worn_store() {
            cycle.outcome.fetches.push(FetchReason::Renewal);
        }
        let mut outcome = cycle.outcome;
        if let Err(fault) = result {
            if fault.kind == PublicationFault::Store {
                self.drop_store();
            }
            outcome.fault = Some(fault);
        }
        outcome
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
    fn renew_worn_store(&mut self) -> bool {
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

impl Cycle<'_> {
    fn work(&mut self) -> Result<(), Fault> {
        let deadline = Instant::now() + Duration::from_millis(self.request.budget);
        let must_look = !self.request.trusted
            || self.request.look
            || !self.request.unanswered.is_empty()
            || !self.request.doubtful.is_empty()
            || self.shop.ground.is_none();
        if must_look {
            self.look()?;
            if self.settle_doubtful()? {
                return Ok(());
            }
            self.settle_unanswered()?;
        }
        for attempt in 0..ATTEMPTS {
            if attempt > 0 && Instant::now() >= deadline {
                return Err(contended(
                    "the time for one cycle ran out while the branch kept moving".to_owned(),
                ));
            }
            self.project()?;
            self.decide()?;
            if self.pending.is_empty() {
                // Nothing to push, so no push will tell whether the base still holds: ask, and judge again
                // on what the remote has now.
                if self.looked || self.request.drafts.is_empty() || !self.look()? {
                    return Ok(());
                }
                self.outcome.drafts.clear();
                continue;
            }
            if !self.request.publish {
                return Ok(());
            }
            match self.push()? {
                Pushed::Landed => return Ok(()),
                Pushed::Moved(told) => {
                    self.outcome.lost_races += 1;
                    match told {
                        Some(advertisement) => drop(self.stand_on(&advertisement)?),
                        None => self.look_for_the_absent()?,
                    }
                    // What moved the branch may be a push of ours that a slow server took at last.
                    if self.settle_doubtful()? {
                        self.outcome.drafts.clear();
                        self.outcome.replayed.clear();
                        return Ok(());
                    }
                    self.settle_unanswered()?;
                }
            }
        }
        Err(contended(format!(
            "the branch moved {ATTEMPTS} times before the push arrived"
        )))
    }

    fn forget_folders(&mut self) {
        let targets = &self.request.targets;
        let pending = &self.pending;
        self.shop.folders.keep(|path| {
            targets.iter().any(|target| target.folder == *path)
                || pending.iter().any(|write| write.target.folder == *path)
        });
    }

    /// Finds out which of the pushes that were never answered have landed. A later one stands on the earlier ones, so
    /// the last that landed says how far.
    fn settle_unanswered(&mut self) -> Result<(), Fault> {
        let ground = self.shop.ground.as_ref();
        let Some(tip) = ground.and_then(|ground| ground.tip.clone()) else {
            return Ok(());
        };
        let mut through = None;
        for sent in self.request.unanswered.clone() {
            if tip == sent.commit || self.history_holds(&tip, &sent)? {
                through = through.max(sent.through);
            }
        }
        let is_in = |write: &Arc<PendingWrite>| Some(write.id) <= through;
        let Some(through) = through.filter(|_| self.pending.iter().any(is_in)) else {
            return Ok(());
        };
        self.pending.retain(|write| !is_in(write));
        self.outcome.published = Some(super::Published {
            tip,
            through,
            by: ProvedBy::Fetch,
        });
        Ok(())
    }

    /// Finds out which pushes of an earlier writer have landed. Says whether any has: then the machine has to let go of
    /// what was in it before anything is planned.
    fn settle_doubtful(&mut self) -> Result<bool, Fault> {
        let ground = self.shop.ground.as_ref();
        let Some(tip) = ground.and_then(|ground| ground.tip.clone()) else {
            return Ok(false);
        };
        for sent in self.request.doubtful.clone() {
            if tip == sent.commit || self.history_holds(&tip, &sent)? {
                self.outcome.landed.insert(sent.commit);
            }
        }
        Ok(!self.outcome.landed.is_empty())
    }

    fn history_holds(&mut self, tip: &CommitId, sent: &Unanswered) -> Result<bool, Fault> {
        /// How far back somebody else's pushes are followed to find our commit below them.
        const LIMIT: usize = 1000;
        let store = self.shop.opened_store()?;
        let Some(on) = &sent.on else {
            return Ok(store
                .is_descendant(tip, &sent.commit, LIMIT)
                .unwrap_or(false));
        };
        match store.history_between(tip, on, LIMIT) {
            Ok(history) if history.complete || history.contains(&sent.commit) => {
                Ok(history.contains(&sent.commit))
            }
            // Only what was fetched or accepted is in a store, so ours is in it if it landed further down.
            Ok(_) => store.has(&sent.commit).map_err(|error| from_store(&error)),
            Err(error) if error.is_damage() => Err(from_store(&error)),
            // What it was sent on is not below the new tip: the branch was rewritten, and our commit with it.
            Err(_) => Ok(false),
        }
    }

    /// Asks the remote where the branch is and fetches what is missing. Returns whether the ground moved.
    pub(super) fn look(&mut self) -> Result<bool, Fault> {
        let advertisement = self.shop.remote.look();
        self.stand_on(&advertisement.map_err(|error| from_remote(&error))?)
    }

    /// Looks where the branch is that a push session did not show. When readers see everything where it was, those who
    /// push are shown something else, and asking again would change nothing.
    fn look_for_the_absent(&mut self) -> Result<(), Fault> {
        if self.look()? {
            return Ok(());
        }
        let branch = &self.shop.identity.branch;
        let ground = self.shop.ground.as_ref();
        let words = match ground.and_then(|ground| ground.tip.as_ref()) {
            Some(_) => {
                format!("it shows branch {branch} to readers and hides it from those who push")
            }
            None => format!(
                "it shows those who push other branches than readers, so branch {branch} cannot be begun"
            ),
        };
        Err(super::publish::refused(&words))
    }

    /// Takes what the remote told for the ground and fetches what is missing. Returns whether the ground moved.
    fn stand_on(&mut self, advertisement: &Advertisement) -> Result<bool, Fault> {
        let ground = super::publish::ground(&self.shop.identity, advertisement);
        let known = self
            .shop
            .ground
            .as_ref()
            .and_then(|before| before.root.clone());
        self.shop.open_store(advertisement.object_format)?;
        if let Some(root) = &ground.root {
            self.fetch(root, known.as_ref())?;
        }
        let moved = self.shop.ground.as_ref() != Some(&ground);
        self.looked = true;
        self.outcome.base = Some(super::ProvedBase {
            commit: ground.tip.clone(),
            by: ProvedBy::Fetch,
            parent: ground.parent.clone(),
        });
        self.note_foreign(&ground);
        self.shop.ground = Some(ground.clone());
        super::publish::check_parent(&self.shop.identity, &ground)?;
        if moved || self.request.look {
            let targets = self.request.targets.clone();
            self.scan_folders(&targets)?;
        }
        Ok(moved)
    }

    fn fetch(&mut self, tip: &CommitId, known: Option<&CommitId>) -> Result<(), Fault> {
        let Workshop { remote, store, .. } = &mut *self.shop;
        let store = store.as_mut().ok_or_else(store_is_closed)?;
        if store.has(tip).map_err(|error| from_store(&error))? {
            return Ok(());
        }
        let fetched = remote.fetch(store, tip, known);
        fetched.map_err(|error| from_remote(&error))?;
        self.outcome.fetches.push(match known {
            None => FetchReason::Initial,
            Some(_) if self.outcome.lost_races > 0 => FetchReason::Moved,
            Some(_) => FetchReason::Refresh,
        });
        Ok(())
    }

    /// A tip that is neither the one we knew nor one that we made is somebody else's.
    fn note_foreign(&mut self, ground: &Ground) {
        let Some(tip) = &ground.tip else { return };
        let known = self.request.known_tip.as_ref() == Some(tip);
        let ours = self.pending.iter().any(|write| write.commit == *tip)
            || self
                .request
                .unanswered
                .iter()
                .chain(&self.request.doubtful)
                .any(|sent| sent.commit == *tip);
        if !known && !ours && self.request.known_tip.is_some() {
            self.outcome.foreign = Some(tip.clone());
        }
    }
}

fn contended(message: String) -> Fault {
    Fault {
        kind: PublicationFault::Contended,
        message,
        not_before: None,
        unanswered: None,
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
