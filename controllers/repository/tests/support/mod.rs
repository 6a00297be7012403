//! What the tests of this crate share: a real Git server, a store, and short ways to say what happens.
#![allow(dead_code, reason = "each test file uses a part")]

pub(crate) mod ssh;

use std::sync::Arc;

use model::{
    BranchName, CommitId, Content, Contents, FileEntry, FolderPath, RepoPath, RepositoryUrl,
    Signature,
};
use repository::{
    Advertisement, Attempt, CommitText, Credential, Endpoint, HostKeyTrust, HttpRemote, Limits,
    ObjectFormat, ProxyPolicy, PushOutcome, PushRequest, Remote, Store, TlsTrust, TreeEdit,
    TreeSnapshot,
};
use tempfile::TempDir;
use testkit::{GitServer, Repository};
use tokio_util::sync::CancellationToken;

/// A server with one repository `app`, and a place for stores.
pub(crate) struct Bench {
    pub(crate) server: GitServer,
    pub(crate) origin: Repository,
    pub(crate) cancel: CancellationToken,
    pub(crate) runtime: tokio::runtime::Runtime,
    dir: TempDir,
}

impl Bench {
    /// Starts with an empty repository.
    pub(crate) fn empty() -> Self {
        let server = GitServer::start().unwrap();
        let origin = server.create_repository("app").unwrap();
        Self::with(server, origin)
    }

    /// Starts with one commit of these files on `main`.
    pub(crate) fn seeded(files: &[(&str, &str)]) -> Self {
        let bench = Self::empty();
        bench.origin.seed(files).unwrap();
        bench
    }

    pub(crate) fn with(server: GitServer, origin: Repository) -> Self {
        // Another test of the process may have installed it already, which is as good.
        drop(rustls::crypto::ring::default_provider().install_default());
        Self {
            server,
            origin,
            cancel: CancellationToken::new(),
            runtime: tokio::runtime::Builder::new_multi_thread()
                .worker_threads(1)
                .enable_all()
                .build()
                .unwrap(),
            dir: TempDir::new().unwrap(),
        }
    }

    pub(crate) fn endpoint(&self) -> Endpoint {
        endpoint(&self.server.url("app"))
    }

    pub(crate) fn remote(&self) -> HttpRemote {
        self.remote_at(&self.endpoint())
    }

    pub(crate) fn remote_at(&self, endpoint: &Endpoint) -> HttpRemote {
        let runtime = self.runtime.handle().clone();
        HttpRemote::new(endpoint, runtime, self.cancel.clone()).unwrap()
    }

    pub(crate) fn store_dir(&self) -> std::path::PathBuf {
        self.dir.path().join("store")
    }

    pub(crate) fn store(&self) -> Store {
        Store::create(&self.store_dir(), ObjectFormat::Sha1).unwrap()
    }

    pub(crate) fn dir_store(&self, name: &str, format: ObjectFormat) -> Store {
        Store::create(&self.dir.path().join(name), format).unwrap()
    }

    pub(crate) fn another_store(&self, name: &str) -> Store {
        Store::create(&self.dir.path().join(name), ObjectFormat::Sha1).unwrap()
    }

    /// Returns a remote, and a store that has what `main` is at.
    pub(crate) fn fetched(&self) -> (HttpRemote, Store, CommitId) {
        let mut remote = self.remote();
        let mut store = self.store();
        let tip = tip_of(&remote.look().unwrap(), "main");
        remote.fetch(&mut store, &tip, None).unwrap();
        (remote, store, tip)
    }

    /// Fails when the origin or the store has a broken or missing object.
    pub(crate) fn check_objects(&self) {
        self.origin.git(&["fsck", "--full", "--strict"]).unwrap();
        let dir = format!("--git-dir={}", self.store_dir().display());
        self.origin.git(&[&dir, "fsck", "--full"]).unwrap();
    }
}

pub(crate) fn endpoint(url: &str) -> Endpoint {
    Endpoint {
        url: RepositoryUrl::new(url).unwrap(),
        credential: Credential::Anonymous,
        trust: TlsTrust::System,
        host_keys: HostKeyTrust::Nobody,
        proxy: ProxyPolicy::Direct,
        limits: Limits::RECOMMENDED,
    }
}

pub(crate) fn branch(name: &str) -> BranchName {
    BranchName::new(name).unwrap()
}

pub(crate) fn folder(path: &str) -> FolderPath {
    FolderPath::new(path).unwrap()
}

pub(crate) fn path(path: &str) -> RepoPath {
    RepoPath::new(path).unwrap()
}

pub(crate) fn commit_id(id: &str) -> CommitId {
    CommitId::new(id).unwrap()
}

pub(crate) fn tip_of(advertisement: &Advertisement, name: &str) -> CommitId {
    advertisement.branch(&branch(name)).unwrap().clone()
}

pub(crate) fn write(at: &str, content: &str) -> TreeEdit {
    TreeEdit {
        path: path(at),
        content: Some(content.as_bytes().to_vec()),
    }
}

pub(crate) fn remove(at: &str) -> TreeEdit {
    TreeEdit {
        path: path(at),
        content: None,
    }
}

/// A commit's text at a fixed time.
pub(crate) fn text(message: &str) -> CommitText {
    CommitText {
        message: message.to_owned(),
        author: Signature::cleaned("Alice", "alice@example.com"),
        committer: Signature::default(),
        time_ms: 1_700_000_000_123,
    }
}

/// Makes an attempt with one commit.
pub(crate) fn attempt(
    store: &Store,
    base: Option<&CommitId>,
    edits: &[TreeEdit],
) -> (Attempt, CommitId) {
    let mut attempt = Attempt::new(store, base).unwrap();
    let commit = attempt.commit(edits, &text("edit")).unwrap().unwrap();
    (attempt, commit)
}

/// Makes the request to move `main` from the attempt's base to its tip.
pub(crate) fn request(attempt: &Attempt) -> PushRequest {
    PushRequest {
        branch: branch("main"),
        expected: attempt.base().cloned(),
        new: attempt.tip().unwrap().clone(),
        pack: attempt.pack().unwrap(),
        parent_check: None,
        must_be_empty: false,
    }
}

pub(crate) fn assert_landed(outcome: &PushOutcome, expected: &CommitId) {
    match outcome {
        PushOutcome::Landed { tip } => assert_eq!(tip, expected),
        other => panic!("not landed: {other:?}"),
    }
}

/// Returns the content of a file of a snapshot.
pub(crate) fn content(
    contents: &dyn Contents,
    snapshot: &TreeSnapshot,
    at: &str,
) -> Option<Arc<[u8]>> {
    let FileEntry::Regular { content, .. } = snapshot.files.get(&path(at))? else {
        return None;
    };
    match contents.read(content).unwrap() {
        Content::Bytes(bytes) => Some(bytes),
        Content::TooLarge { .. } => None,
    }
}
