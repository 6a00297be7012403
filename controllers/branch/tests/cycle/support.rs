//! A server whose faults can be chosen, and a workshop before it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use branch::cycle::{Catalogs, CycleOutcome, CycleRequest, Keyring, Workshop};
use branch::journal::{DeliveryNumber, Numbers};
use branch::state::{Draft, DraftKind, WriteId};
use branch::{BranchIdentity, CommitWindow, TargetConfig};
use manifests::{Encryption, PruneMode, TypeCatalog};
use model::sanitize::sanitize;
use model::{
    Author, BranchName, Change, Collection, CommitId, Content, Contents, Delivery, FileEntry,
    FolderPath, GitBranchKey, LiveObject, Namespace, Now, ObjectName, Operation, RepoPath,
    RepositoryUrl, Scope, Selector, ServedType, Signature, TargetKey, TypeId,
};
use repository::{
    Advertisement, Attempt, CommitText, Head, ObjectFormat, Pack, PushOutcome, PushRequest, Remote,
    RemoteError, SigningKey, Store, TreeEdit,
};
use tempfile::TempDir;

/// What the server does with the next push.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Push {
    Takes,
    /// The peer's file arrives first.
    Loses(&'static str, &'static str),
    /// It takes the push and the answer is lost.
    TakesInSilence,
    /// It takes the push only when [`Server::catch_up`] is called, and never answers.
    TakesLate,
    /// It does not let the branch be moved.
    Refuses,
    /// It shows the branch to readers alone.
    Hides,
}

/// A server: one branch, its objects, and what happens next.
pub(crate) struct Server {
    pub store: Store,
    packs: Vec<Pack>,
    pub branches: BTreeMap<BranchName, CommitId>,
    pub next: Push,
    pub pushes: usize,
    /// Pushes that wait for [`Server::catch_up`].
    late: Vec<PushRequest>,
    /// How many more fetches it serves; nothing where it serves all.
    pub fetches: Option<usize>,
    _folder: TempDir,
}

impl Server {
    pub(crate) fn commit(&mut self, path: &str, content: &str) -> CommitId {
        self.change(path, Some(content))
    }

    /// Commits that a file goes, if it is there.
    pub(crate) fn remove(&mut self, path: &str) {
        let tip = self.branches.get(&main()).cloned();
        let snapshot = tip.map(|tip| self.store.snapshot(&tip, &FolderPath::root()).unwrap());
        let path = RepoPath::new(path).unwrap();
        if snapshot.is_some_and(|snapshot| snapshot.files.get(&path).is_some()) {
            self.change(path.as_str(), None);
        }
    }

    fn change(&mut self, path: &str, content: Option<&str>) -> CommitId {
        let tip = self.branches.get(&main()).cloned();
        let mut attempt = Attempt::new(&self.store, tip.as_ref()).unwrap();
        let edit = TreeEdit {
            path: RepoPath::new(path).unwrap(),
            content: content.map(|content| content.as_bytes().to_vec()),
        };
        let peer = Signature::cleaned("peer", "peer@example.com");
        let text = CommitText {
            message: "peer".to_owned(),
            author: peer.clone(),
            committer: peer,
            time_ms: 1_000,
        };
        let Some(commit) = attempt.commit(&[edit], &text).unwrap() else {
            return tip.unwrap();
        };
        self.packs.push(attempt.pack().unwrap());
        self.store.accept(attempt).unwrap();
        self.branches.insert(main(), commit.clone());
        commit
    }

    /// Takes what waits, as far as the branch is where it was then.
    pub(crate) fn catch_up(&mut self) {
        for request in std::mem::take(&mut self.late) {
            if self.branches.get(&request.branch) == request.expected.as_ref() {
                self.take(&request);
            }
        }
    }

    pub(crate) fn take(&mut self, request: &PushRequest) {
        self.store.take_pack(&request.pack).unwrap();
        self.packs.push(request.pack.clone());
        self.branches
            .insert(request.branch.clone(), request.new.clone());
    }

    pub(crate) fn file(&mut self, path: &str) -> String {
        let tip = self.branches[&main()].clone();
        let snapshot = self.store.snapshot(&tip, &FolderPath::root()).unwrap();
        let entry = snapshot.files.get(&RepoPath::new(path).unwrap()).unwrap();
        let FileEntry::Regular { content, .. } = entry else {
            panic!("{path} is no regular file");
        };
        let Content::Bytes(bytes) = self.store.read(content).unwrap() else {
            panic!("{path} is too large");
        };
        String::from_utf8(bytes.to_vec()).unwrap()
    }
}

#[derive(Clone)]
pub(crate) struct Line(pub Arc<Mutex<Server>>);

impl Remote for Line {
    fn look(&mut self) -> Result<Advertisement, RemoteError> {
        let server = self.0.lock().unwrap();
        Ok(Advertisement {
            branches: server.branches.clone(),
            other_refs: 0,
            head: Some(Head::Branch(main())),
            object_format: ObjectFormat::Sha1,
        })
    }

    fn prove_push(&mut self) -> Result<Advertisement, RemoteError> {
        self.look()
    }

    fn fetch(
        &mut self,
        store: &mut Store,
        _: &CommitId,
        _: Option<&CommitId>,
    ) -> Result<(), RemoteError> {
        let mut server = self.0.lock().unwrap();
        match &mut server.fetches {
            Some(0) => {
                let text = "no more".to_owned();
                return Err(RemoteError::HostSaid { text });
            }
            Some(left) => *left -= 1,
            None => {}
        }
        server
            .packs
            .iter()
            .try_for_each(|pack| store.take_pack(pack))
            .map_err(RemoteError::Store)
    }

    fn push(&mut self, request: &PushRequest) -> PushOutcome {
        let mut server = self.0.lock().unwrap();
        server.pushes += 1;
        let next = std::mem::replace(&mut server.next, Push::Takes);
        if let Push::Loses(path, content) = next {
            server.commit(path, content);
        }
        if next == Push::Refuses {
            let text = "not by you".to_owned();
            return PushOutcome::Refused { text };
        }
        if next == Push::Hides {
            drop(server);
            let mut advertisement = self.look().unwrap();
            advertisement.branches.remove(&request.branch);
            return PushOutcome::Moved {
                now: None,
                advertisement,
            };
        }
        let now = server.branches.get(&request.branch).cloned();
        if now != request.expected {
            drop(server);
            return PushOutcome::Moved {
                now,
                advertisement: self.look().unwrap(),
            };
        }
        if next == Push::TakesLate {
            server.late.push(request.clone());
        } else {
            server.take(request);
        }
        if matches!(next, Push::TakesInSilence | Push::TakesLate) {
            let cause = RemoteError::Protocol {
                detail: "the answer was cut".to_owned(),
            };
            return PushOutcome::Ambiguous {
                sent: request.new.clone(),
                cause,
            };
        }
        PushOutcome::Landed {
            tip: request.new.clone(),
        }
    }
}

pub(crate) struct NoCatalog;

impl Catalogs for NoCatalog {
    fn of(&self, _: &TargetKey) -> Arc<TypeCatalog> {
        Arc::default()
    }
}

/// What commits are signed with, or why they cannot be.
pub(crate) type Signing = Option<Result<Arc<SigningKey>, String>>;

/// The same keys for every target, and they can be taken away.
#[derive(Clone, Default)]
pub(crate) struct Keys(
    pub Arc<Mutex<Option<Arc<Encryption>>>>,
    pub Arc<Mutex<Signing>>,
    /// How often somebody asked for keys to plan with.
    Arc<AtomicUsize>,
);

impl Keys {
    /// Returns how many plans there were.
    pub(crate) fn plans(&self) -> usize {
        self.2.load(Ordering::Relaxed)
    }
}

impl Keyring for Keys {
    fn encryption(&self, _: &TargetKey) -> Option<Arc<Encryption>> {
        self.2.fetch_add(1, Ordering::Relaxed);
        self.0.lock().unwrap().clone()
    }

    fn signing(&self) -> Result<Option<Arc<SigningKey>>, String> {
        self.1.lock().unwrap().clone().transpose()
    }
}

/// A workshop before a server.
pub(crate) struct Scene {
    pub line: Line,
    pub keyring: Keys,
    pub workshop: Workshop,
    pub folder: TempDir,
}

impl Scene {
    pub(crate) fn new(parent: Option<&str>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let server_folder = tempfile::tempdir().unwrap();
        let store =
            Store::create(&server_folder.path().join("server"), ObjectFormat::Sha1).unwrap();
        let server = Server {
            store,
            packs: Vec::new(),
            branches: BTreeMap::new(),
            next: Push::Takes,
            pushes: 0,
            late: Vec::new(),
            fetches: None,
            _folder: server_folder,
        };
        let line = Line(Arc::new(Mutex::new(server)));
        let identity = identity(parent);
        let remote: Box<dyn Remote> = Box::new(line.clone());
        let keyring = Keys::default();
        let workshop = Workshop::new(
            identity,
            remote,
            Arc::new(NoCatalog),
            Arc::new(keyring.clone()),
            &folder.path().join("store"),
        );
        Self {
            line,
            keyring,
            workshop,
            folder,
        }
    }

    /// Begins with a new job and an empty local store, which knows nothing of what was made before.
    pub(crate) fn begin_anew(&mut self) {
        self.begin_with("anew");
    }

    /// Begins with a new job and the local store that is there, as another process does.
    pub(crate) fn start_again(&mut self) {
        self.begin_with("store");
    }

    fn begin_with(&mut self, store: &str) {
        let remote: Box<dyn Remote> = Box::new(self.line.clone());
        self.workshop = Workshop::new(
            identity(None),
            remote,
            Arc::new(NoCatalog),
            Arc::new(self.keyring.clone()),
            &self.folder.path().join(store),
        );
    }

    /// A scene whose branch holds one document of the target `apps`.
    pub(crate) fn with_document() -> Self {
        let scene = Self::new(None);
        scene.server(|server| {
            server.commit(
                "apps/team-a/configmaps/x.yaml",
                &document("x", "1", "# note"),
            )
        });
        scene
    }

    pub(crate) fn server<T>(&self, act: impl FnOnce(&mut Server) -> T) -> T {
        act(&mut self.line.0.lock().unwrap())
    }

    pub(crate) fn run(&mut self, request: CycleRequest) -> CycleOutcome {
        self.workshop.run(request)
    }
}

fn identity(parent: Option<&str>) -> BranchIdentity {
    BranchIdentity {
        key: GitBranchKey::new(namespace(), ObjectName::new("main").unwrap()),
        repository: RepositoryUrl::new("https://git.example.com/x.git")
            .unwrap()
            .id(),
        branch: main(),
        parent: parent.map(|name| BranchName::new(name).unwrap()),
    }
}

pub(crate) fn main() -> BranchName {
    BranchName::new("main").unwrap()
}

pub(crate) fn namespace() -> Namespace {
    Namespace::new("team-a").unwrap()
}

pub(crate) fn target(folder: &str) -> Arc<TargetConfig> {
    Arc::new(TargetConfig {
        key: TargetKey::new(namespace(), ObjectName::new(folder).unwrap()),
        folder: FolderPath::new(folder).unwrap(),
        window: CommitWindow {
            idle: 0,
            longest: 0,
        },
        prune: PruneMode::OnEvent,
        serialize_namespace: None,
        placement: manifests::Placement::default(),
        wording: branch::message_text::Wording::default(),
        encryption: None,
        suspended: false,
    })
}

pub(crate) fn document(name: &str, value: &str, comment: &str) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  namespace: team-a\ndata:\n  {comment}\n  value: \"{value}\"\n"
    )
}

pub(crate) fn served() -> Arc<ServedType> {
    Arc::new(ServedType {
        type_id: TypeId::new("", "configmaps"),
        version: "v1".to_owned(),
        kind: "ConfigMap".to_owned(),
        namespaced: true,
        sensitive: false,
    })
}

pub(crate) fn upsert(name: &str, value: &str) -> Change {
    let object = serde_json::json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "team-a"}, "data": {"value": value},
    });
    let live = LiveObject {
        served: served(),
        value: object.as_object().unwrap().clone(),
    };
    Change::Upsert {
        object: Arc::new(sanitize(&live).unwrap()),
        operation: Operation::Update,
    }
}

pub(crate) fn remove(name: &str) -> Change {
    let Change::Upsert { object, .. } = upsert(name, "") else {
        unreachable!("an upsert was asked for")
    };
    Change::Remove {
        id: object.id().clone(),
        served: served(),
        resource_version: "9".to_owned(),
    }
}

pub(crate) fn draft(id: u64, target: &Arc<TargetConfig>, change: Change) -> Arc<Draft> {
    let collection = Collection {
        type_id: TypeId::new("", "configmaps"),
        scope: Scope::Namespace(namespace()),
        selector: Selector::everything(),
    };
    let entry = Delivery {
        target: target.key.clone(),
        collection,
        change,
        author: Author::Operator,
    };
    Arc::new(Draft {
        id: WriteId(id),
        target: Arc::clone(target),
        closed_at: Now {
            monotonic: 1,
            wall: 1_700_000_000_000,
        },
        kind: DraftKind::Window {
            author: Author::Operator,
            entries: vec![entry],
        },
        numbers: Numbers::one(DeliveryNumber(id)),
        bytes: 1,
    })
}

pub(crate) fn request(targets: &[&Arc<TargetConfig>], drafts: Vec<Arc<Draft>>) -> CycleRequest {
    CycleRequest {
        trusted: false,
        known_tip: None,
        unanswered: Vec::new(),
        doubtful: Vec::new(),
        budget: 60_000,
        publish: true,
        look: false,
        committer: Signature::default(),
        targets: targets.iter().map(|target| Arc::clone(target)).collect(),
        pending: Vec::new(),
        drafts,
    }
}
