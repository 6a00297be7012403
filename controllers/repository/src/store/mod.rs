//! The local object store of one branch: a bare directory without a worktree, a cache and nothing more.
//!
//! `objects` reads and checks objects and holds those that are not on disk yet, `tree_edit` makes new
//! trees, `commit` encodes commits, `pack` packs objects for sending, a large tree as its `delta`, `history` walks
//! commits, `wear` says when a store has grown so much that a new one is better. Nothing here keeps a secret or the
//! address of a remote, and no configuration outside the directory is read.

mod commit;
mod delta;
mod ends;
mod history;
mod objects;
mod pack;
mod tree_edit;
mod wear;

use std::cell::Cell;
use std::fs;
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use gix::ObjectId;
use gix::odb::store::init::Slots;
use gix::progress::DynNestedProgress;
use gix::refs::transaction::PreviousValue;
use model::{CommitId, Content, ContentId, Contents, FolderPath, ReadError};

use crate::advertisement::ObjectFormat;
use crate::attempt::Attempt;
use crate::error::StoreError;
use crate::sign::SigningKey;
use crate::snapshot::{self, Snapshots, TreeSnapshot};
use crate::text;

pub use commit::CommitText;
pub(crate) use ends::{common_end, common_start};
pub use history::History;
pub(crate) use objects::{Base, Objects, object_id};
pub use pack::Pack;
pub(crate) use pack::Receiver;
pub use tree_edit::TreeEdit;
use wear::Wear;

/// The one ref of a store: what the next process builds on. It also makes `git fsck` on the directory readable.
const BASE_REF: &str = "refs/reverser/base";
/// How many packs can be open at once. Each incremental fetch adds one.
const PACK_SLOTS: u16 = 1024;
/// How many bytes of accepted objects wait in memory. Written together they cost one pack with the changes of a
/// large folder; written one by one they would cost the whole folder each time.
const MOST_WAITING: u64 = 4 << 20;
/// How many objects of the size of the largest one wait all the same.
const LARGEST_WAITING: u64 = 8;
/// The largest object that a fetched pack may need in memory.
const LARGEST_ALLOCATION: usize = 64 << 20;

/// The object store of one branch. One owner, no locks; dropping its directory loses nothing that the
/// remote does not have.
pub struct Store {
    repository: gix::Repository,
    objects: Objects,
    snapshots: Snapshots,
    /// The last accepted commit, while it waits to be written.
    waiting: Option<CommitId>,
    wear: Cell<Wear>,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("dir", &self.dir()).finish()
    }
}

impl Store {
    /// Creates an empty store. The directory must not exist or be empty; nobody else may read it.
    ///
    /// # Errors
    /// Fails when the directory cannot be created.
    pub fn create(dir: &Path, format: ObjectFormat) -> Result<Self, StoreError> {
        let io_error = |what| {
            move |source| StoreError::Io {
                dir: dir.to_owned(),
                what,
                source,
            }
        };
        fs::create_dir_all(dir).map_err(io_error("creating the directory"))?;
        make_private(dir).map_err(io_error("making the directory private"))?;
        let options = gix::create::Options {
            object_hash: Some(hash_of(format)),
            ..gix::create::Options::default()
        };
        gix::create::into(dir, gix::create::Kind::Bare, options)
            .map_err(|error| io_error("creating the store")(io_cause(&error)))?;
        // Samples that nothing runs; a store holds objects only.
        remove_if_there(&dir.join("hooks")).map_err(io_error("removing sample hooks"))?;
        Self::open(dir)
    }

    /// Opens a store.
    ///
    /// # Errors
    /// Fails with [`StoreError::Damaged`] when the directory is not a whole store.
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        let options = gix::open::Options::isolated()
            .open_path_as_is(true)
            .object_store_slots(Slots::Given(PACK_SLOTS));
        let repository = gix::open_opts(dir, options)
            .map_err(|error| damaged(dir, text::shown(error.to_string().as_bytes())))?;
        let objects = Objects::new(dir.into(), repository.objects.clone());
        let store = Self {
            repository,
            objects,
            snapshots: Snapshots::default(),
            waiting: None,
            wear: Cell::new(Wear::of(&packs_of(dir))),
        };
        store.objects.check_present()?;
        // A store has one owner, so a lock is what a killed process left behind.
        for lock in ["shallow.lock", "refs/reverser/base.lock"] {
            match fs::remove_file(dir.join(lock)) {
                Err(source) if source.kind() != io::ErrorKind::NotFound => {
                    return Err(StoreError::Io {
                        dir: dir.to_owned(),
                        what: "removing a stale lock",
                        source,
                    });
                }
                Ok(()) | Err(_) => {}
            }
        }
        Ok(store)
    }

    /// Returns where the store is.
    pub fn dir(&self) -> &Path {
        self.objects.dir()
    }

    /// Says whether the store has grown so much since its first fetch that a new one is smaller and faster. Nothing
    /// in it is ever collected: it holds one commit with its tree and what came since.
    pub fn is_worn(&self) -> bool {
        self.wear.get().is_much()
    }

    /// Returns the hash that the store names its objects by.
    pub fn object_format(&self) -> ObjectFormat {
        match self.repository.object_hash() {
            gix::hash::Kind::Sha256 => ObjectFormat::Sha256,
            _ => ObjectFormat::Sha1,
        }
    }

    /// Says whether the store holds the commit.
    ///
    /// # Errors
    /// Fails when the store is damaged.
    pub fn has(&self, id: &CommitId) -> Result<bool, StoreError> {
        self.objects.has_commit(id)
    }

    /// Reads a commit for a folder. What did not change since an earlier snapshot, of this folder or another, is
    /// shared with it and not read again.
    ///
    /// # Errors
    /// Fails when the commit is not in the store, the folder is none, or the store is damaged.
    pub fn snapshot(
        &mut self,
        commit: &CommitId,
        folder: &FolderPath,
    ) -> Result<TreeSnapshot, StoreError> {
        self.snapshots.read(&self.objects, Some(commit), folder)
    }

    /// Lists the commits that `tip` has and `base` has not, at most `limit`.
    ///
    /// # Errors
    /// Fails when `tip` is not in the store or the store is damaged.
    pub fn history_between(
        &self,
        tip: &CommitId,
        base: &CommitId,
        limit: usize,
    ) -> Result<History, StoreError> {
        history::between(&self.objects, &self.shallow_file(), tip, base, limit)
    }

    /// Says whether `ancestor` is `tip` or one of the `limit` commits before it.
    ///
    /// # Errors
    /// Fails when `tip` is not in the store or the store is damaged.
    pub fn is_descendant(
        &self,
        tip: &CommitId,
        ancestor: &CommitId,
        limit: usize,
    ) -> Result<bool, StoreError> {
        history::is_descendant(&self.objects, &self.shallow_file(), tip, ancestor, limit)
    }

    /// Takes the objects of a pack, as a remote does that somebody pushed to.
    ///
    /// # Errors
    /// Fails when the pack is broken or cannot be written.
    pub fn take_pack(&mut self, pack: &Pack) -> Result<(), StoreError> {
        let bytes = pack.encode(Receiver::HasBases)?;
        let never = AtomicBool::new(false);
        let written = self.write_pack(&mut bytes.as_slice(), &mut gix::progress::Discard, &never);
        written.map_err(|error| self.write_error("taking a pack", &error))
    }

    /// Takes the commits of an attempt that the remote has accepted, so that later work can build on them. They
    /// are written together with those that follow, before the next fetch, or when the store is dropped; what a
    /// killed process had not written is fetched again.
    ///
    /// # Errors
    /// Fails when they cannot be written; the remote has its commits.
    pub fn accept(&mut self, attempt: Attempt) -> Result<(), StoreError> {
        self.objects.check_present()?;
        let (objects, snapshots, tip) = attempt.into_parts();
        self.objects.accept(objects);
        self.snapshots = snapshots;
        self.waiting = tip.or(self.waiting.take());
        let (bytes, largest) = self.objects.accepted_bytes();
        if bytes > MOST_WAITING.max(LARGEST_WAITING * largest) {
            self.write_accepted()?;
        }
        Ok(())
    }

    /// Writes what was accepted and waits for it.
    ///
    /// # Errors
    /// Fails when it cannot be written.
    pub fn write_accepted(&mut self) -> Result<(), StoreError> {
        let Some(tip) = self.waiting.clone() else {
            return Ok(());
        };
        let pack = Pack::of_accepted(&self.objects)?;
        self.take_pack(&pack)?;
        self.objects.forget_accepted();
        self.remember(&tip)?;
        self.waiting = None;
        Ok(())
    }

    /// Starts an attempt's view: the same objects, and room for new ones.
    pub(crate) fn fork(&self) -> (Objects, Snapshots) {
        (self.objects.fork(), self.snapshots.clone())
    }

    /// Returns the last commit that is known to be on disk with all that belongs to it.
    pub(crate) fn remembered(&self) -> Option<CommitId> {
        let mut base = self.repository.try_find_reference(BASE_REF).ok()??;
        let id = base.peel_to_id().ok()?;
        Some(commit_id(&id))
    }

    /// Points the store's one ref at a commit.
    pub(crate) fn remember(&self, tip: &CommitId) -> Result<(), StoreError> {
        self.objects.check_present()?;
        let id = object_id(tip)?;
        self.repository
            .reference(BASE_REF, id, PreviousValue::Any, "base")
            .map(drop)
            .map_err(|error| self.write_error("writing the base ref", &error))
    }

    /// Returns the file that lists the commits whose parents are left out.
    pub(crate) fn shallow_file(&self) -> PathBuf {
        self.dir().join("shallow")
    }

    /// Writes a pack that a server sends, with its index.
    pub(crate) fn write_pack(
        &self,
        pack: &mut dyn BufRead,
        progress: &mut dyn DynNestedProgress,
        interrupt: &AtomicBool,
    ) -> gix::Result<()> {
        let written = gix_pack::Bundle::write_to_directory(
            pack,
            Some(&packs_of(self.dir())),
            progress,
            interrupt,
            Some(self.repository.objects.clone()),
            self.repository.object_hash(),
            gix_pack::bundle::write::Options {
                thread_limit: Some(1),
                iteration_mode: gix_pack::data::input::Mode::Verify,
                index_version: gix_pack::index::Version::default(),
                alloc_limit_bytes: Some(LARGEST_ALLOCATION),
                compression: gix::zlib::Compression::BEST_SPEED,
            },
        )?;
        // The mark protects a pack from garbage collection, which a store does not have.
        if let Some(keep) = written.keep_path {
            fs::remove_file(keep).map_err(gix::Error::from_error)?;
        }
        if let Some(pack) = written.data_path {
            let bytes = fs::metadata(pack).map_err(gix::Error::from_error)?.len();
            let mut wear = self.wear.get();
            wear.note_pack(bytes);
            self.wear.set(wear);
        }
        Ok(())
    }

    /// Turns an error of a fetch that is not the network's into ours.
    pub(crate) fn explain(&self, error: &gix::Error) -> crate::RemoteError {
        let disk = error
            .downcast_any_ref::<io::Error>()
            .is_some_and(|error| is_of_the_disk(error.kind()));
        if disk || self.objects.check_present().is_err() {
            return self.write_error("writing fetched objects", error).into();
        }
        crate::RemoteError::protocol(with_cause(error))
    }

    fn write_error(&self, what: &'static str, error: &gix::Error) -> StoreError {
        if let Err(damage) = self.objects.check_present() {
            return damage;
        }
        StoreError::Io {
            dir: self.dir().to_owned(),
            what,
            source: io_cause(error),
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // A cache: what cannot be written is fetched again, as after a job that broke down.
        if !std::thread::panicking() {
            self.write_accepted().ok();
        }
    }
}

impl Contents for Store {
    fn read(&self, id: &ContentId) -> Result<Content, ReadError> {
        snapshot::content(&self.objects, id)
    }
}

/// Returns where the packs of a store are.
fn packs_of(dir: &Path) -> PathBuf {
    dir.join("objects").join("pack")
}

fn hash_of(format: ObjectFormat) -> gix::hash::Kind {
    match format {
        ObjectFormat::Sha1 => gix::hash::Kind::Sha1,
        ObjectFormat::Sha256 => gix::hash::Kind::Sha256,
    }
}

fn damaged(dir: &Path, what: impl Into<String>) -> StoreError {
    StoreError::Damaged {
        dir: dir.to_owned(),
        what: what.into(),
    }
}

fn commit_id(id: &gix::hash::oid) -> CommitId {
    CommitId::new(id.to_string()).expect("because an object id prints as 40 or 64 hex digits")
}

/// Finds the system's error below one of gix, whose errors do not fit into the standard trait.
fn io_cause(error: &gix::Error) -> io::Error {
    let text = with_cause(error);
    let kind = error
        .downcast_any_ref::<io::Error>()
        .map_or(io::ErrorKind::Other, io::Error::kind);
    io::Error::new(kind, text)
}

/// Joins what gix was doing with what went wrong below.
fn with_cause(error: &gix::Error) -> String {
    let (doing, cause) = (error.to_string(), error.probable_cause().to_string());
    if doing == cause {
        return text::shown(doing.as_bytes());
    }
    text::shown(format!("{doing}: {cause}").as_bytes())
}

fn is_of_the_disk(kind: io::ErrorKind) -> bool {
    matches!(
        kind,
        io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::ReadOnlyFilesystem
            | io::ErrorKind::PermissionDenied
            | io::ErrorKind::NotFound
    )
}

fn make_private(dir: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(dir, fs::Permissions::from_mode(0o700))
}

fn remove_if_there(dir: &Path) -> io::Result<()> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Parses an id of ours, which is valid by its type, for gix.
fn parse_id(id: &CommitId) -> Option<ObjectId> {
    ObjectId::from_hex(id.as_str().as_bytes()).ok()
}

/// Adds a commit on top of `parent`, signed if there is a key; `None` when the edits change nothing.
pub(crate) fn add_commit(
    objects: &mut Objects,
    parent: Option<&CommitId>,
    edits: &[TreeEdit],
    text: &CommitText,
    key: Option<&SigningKey>,
) -> Result<Option<CommitId>, StoreError> {
    objects.check_present()?;
    let before = parent.map(|parent| objects.commit(parent)).transpose()?;
    let before = before.map(|links| links.tree);
    let empty = ObjectId::empty_tree(objects.hash_kind());
    let root = before.filter(|tree| *tree != empty);
    let after = tree_edit::apply(objects, root, edits)?;
    if after == root {
        return Ok(None);
    }
    let tree = match after {
        Some(tree) => tree,
        None => tree_edit::add_empty(objects)?,
    };
    let parent = parent.map(object_id).transpose()?;
    commit::add(objects, tree, parent, text, key).map(|id| Some(commit_id(&id)))
}

/// Packs all new objects.
pub(crate) fn pack_new(objects: &Objects) -> Result<Pack, StoreError> {
    Pack::of_new(objects)
}
