//! The writer, its one target, and the changes that it is given.

use std::path::Path;
use std::sync::Arc;

use board::metrics::Registrar;
use board::{BranchView, DirectoryWriter, Reader};
use branch::cycle::{Catalogs, Keyring, Workshop};
use branch::journal::{FileJournal, Journal, Owner};
use branch::metrics::{BranchMetrics, Metrics};
use branch::shell::{Clock, Surroundings, SystemClock};
use branch::{
    BranchActor, BranchHandle, BranchIdentity, BranchMessage, CommitWindow, Settings, TargetConfig,
    Turns,
};
use manifests::{Encryption, PruneMode, TypeCatalog};
use model::sanitize::sanitize;
use model::{
    Author, BranchName, Change, Collection, Delivery, FolderPath, GitBranchKey, GitProviderKey,
    Identity, LiveObject, Namespace, ObjectName, Operation, RepositoryUrl, Scope, Selector,
    Sensitivity, ServedType, Signature, TargetKey, TypeId, Uid,
};
use repository::{
    Credential, Endpoint, HostKeyTrust, HttpRemote, Limits, ProxyPolicy, Remote, TlsTrust,
};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// A writer that runs.
pub(crate) struct Writer {
    pub(crate) handle: BranchHandle,
    pub(crate) view: Reader<BranchView>,
    stop: CancellationToken,
    actor: JoinSet<usize>,
}

/// The two folders of a writer below its data folder.
pub(crate) struct Places<'a> {
    pub(crate) data: &'a Path,
    pub(crate) url: &'a str,
}

impl Places<'_> {
    pub(crate) fn journal(&self) -> FileJournal {
        let owner = Owner {
            uid: Uid::new("a-uid").unwrap(),
            provider_uid: Uid::new("b-uid").unwrap(),
            repository: self.identity().repository,
            branch: BranchName::new("main").unwrap(),
        };
        FileJournal::new(&self.data.join("journal"), owner, None)
    }

    fn identity(&self) -> BranchIdentity {
        BranchIdentity {
            key: key(),
            repository: RepositoryUrl::new(self.url).unwrap().id(),
            branch: BranchName::new("main").unwrap(),
            parent: None,
        }
    }

    fn workshop(&self) -> Workshop {
        let endpoint = Endpoint {
            url: RepositoryUrl::new(self.url).unwrap(),
            credential: Credential::Anonymous,
            trust: TlsTrust::System,
            host_keys: HostKeyTrust::Nobody,
            proxy: ProxyPolicy::Direct,
            limits: Limits::RECOMMENDED,
        };
        // Another test of this process may have been faster.
        let _installed = rustls::crypto::ring::default_provider().install_default();
        let runtime = tokio::runtime::Handle::current();
        let remote = HttpRemote::new(&endpoint, runtime, CancellationToken::new()).unwrap();
        let remote: Box<dyn Remote> = Box::new(remote);
        let store = self.data.join("store");
        Workshop::new(
            self.identity(),
            remote,
            Arc::new(Nothing),
            Arc::new(Nothing),
            &store,
        )
    }
}

impl Writer {
    /// Starts a writer on a data folder, with its target configured.
    pub(crate) async fn start(places: &Places<'_>) -> Self {
        let journal = Box::new(places.journal());
        Self::start_with(places, journal, Arc::new(SystemClock::start())).await
    }

    /// Starts one that shares its turns with others.
    pub(crate) async fn start_among(places: &Places<'_>, turns: &Arc<Turns>) -> Self {
        let journal = Box::new(places.journal());
        let clock = Arc::new(SystemClock::start());
        let around = Surroundings {
            turns: Arc::clone(turns),
            ..around(journal, clock)
        };
        Self::start_in(places, around).await
    }

    pub(crate) async fn start_with(
        places: &Places<'_>,
        journal: Box<dyn Journal>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self::start_in(places, around(journal, clock)).await
    }

    pub(crate) async fn start_in(places: &Places<'_>, around: Surroundings) -> Self {
        let (actor, handle, view) = BranchActor::new(
            places.identity(),
            settings(),
            Signature::default(),
            places.workshop(),
            around,
        );
        let stop = CancellationToken::new();
        let mut tasks = JoinSet::new();
        tasks.spawn(actor.run(stop.clone()));
        handle.tell(configured()).await.unwrap();
        Self {
            handle,
            view,
            stop,
            actor: tasks,
        }
    }

    /// Stops the way a process does. Returns how many writes could not be published.
    pub(crate) async fn stop(mut self) -> usize {
        self.stop.cancel();
        self.actor.join_next().await.unwrap().unwrap()
    }
}

/// Returns what joins a writer to the rest of a process.
pub(crate) fn around(journal: Box<dyn Journal>, clock: Arc<dyn Clock>) -> Surroundings {
    let (occurrences, _announced) = tokio::sync::mpsc::channel(4096);
    Surroundings {
        clock,
        occurrences,
        metrics: metrics(),
        recorder: None,
        journal: Some(journal),
        turns: Arc::new(Turns::new(1, branch::turns::LONGEST)),
        disk_patience: 30_000,
        sensitivity: Sensitivity::default(),
        spare: Box::new(|| None),
    }
}

/// Knows no kinds and no keys.
struct Nothing;

impl Catalogs for Nothing {
    fn of(&self, _: &TargetKey) -> Arc<TypeCatalog> {
        Arc::default()
    }
}

impl Keyring for Nothing {
    fn encryption(&self, _: &TargetKey) -> Option<Arc<Encryption>> {
        None
    }
}

fn metrics() -> BranchMetrics {
    let mut registrar = Registrar::new("test");
    let directory = DirectoryWriter::new().reader();
    let provider = GitProviderKey::new(namespace(), ObjectName::new("platform").unwrap());
    Metrics::register(&mut registrar, &directory)
        .unwrap()
        .of(&key(), &provider)
}

fn settings() -> Settings {
    Settings {
        buffer_limit: 8 << 20,
        item_charge: 1024,
        push_cooldown: 0,
        retry_first: 100,
        retry_longest: 500,
        refresh_interval: None,
        cycle_budget: 60_000,
        jitter_seed: 1,
    }
}

fn key() -> GitBranchKey {
    GitBranchKey::new(namespace(), ObjectName::new("main").unwrap())
}

fn namespace() -> Namespace {
    Namespace::new("team-a").unwrap()
}

fn target() -> TargetKey {
    TargetKey::new(namespace(), ObjectName::new("apps").unwrap())
}

fn configured() -> BranchMessage {
    BranchMessage::ConfigureTarget(Box::new(TargetConfig {
        key: target(),
        folder: FolderPath::new("apps").unwrap(),
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
    }))
}

/// One edit of a ConfigMap by a person; no two edits of a run have the same number.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Edit {
    pub(crate) by: String,
    pub(crate) object: String,
    pub(crate) number: u64,
}

impl Edit {
    pub(crate) fn new(by: &str, object: impl Into<String>, number: u64) -> Self {
        Self {
            by: by.to_owned(),
            object: object.into(),
            number,
        }
    }

    pub(crate) fn delivery(&self) -> Delivery {
        let type_id = TypeId::new("", "configmaps");
        let object = serde_json::json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {
                "name": self.object, "namespace": "team-a", "resourceVersion": self.number.to_string(),
            },
            "data": {"edit": format!("e{}", self.number)},
        });
        let live = LiveObject {
            served: Arc::new(ServedType {
                type_id: type_id.clone(),
                version: "v1".to_owned(),
                kind: "ConfigMap".to_owned(),
                namespaced: true,
                sensitive: false,
            }),
            value: object.as_object().unwrap().clone(),
        };
        Delivery {
            target: target(),
            collection: Collection {
                type_id,
                scope: Scope::Namespace(namespace()),
                selector: Selector::everything(),
            },
            change: Change::Upsert {
                object: Arc::new(sanitize(&live).unwrap()),
                operation: Operation::Update,
            },
            author: Author::Actor(Identity {
                username: self.by.clone(),
                display_name: None,
                email: None,
            }),
        }
    }
}
