//! The supervisor with branch writers that cannot start or that hang. Sources need an API server, so they are
//! tested where there is one.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use board::metrics::Registrar;
use branch::{BranchIdentity, SystemClock};
use model::{
    BranchName, CommitId, GitProviderKey, Namespace, ObjectName, RepositoryUrl, Signature, Uid,
};
use repository::{Advertisement, PushOutcome, PushRequest, Remote, RemoteError, Store};

use super::*;
use crate::order::RemoteFactory;

fn settings(data_dir: &Path, budget: Duration) -> Settings {
    let mut registrar = Registrar::new("test");
    let directory = DirectoryWriter::new().reader();
    Settings {
        data_dir: data_dir.to_owned(),
        branch: branch::Settings {
            buffer_limit: 1 << 20,
            item_charge: 1024,
            push_cooldown: 0,
            retry_first: 1_000,
            retry_longest: 1_000,
            refresh_interval: None,
            cycle_budget: 60_000,
            jitter_seed: 1,
        },
        source: source::Settings::documented(model::Sensitivity::default(), Vec::new()),
        clock: Arc::new(SystemClock::start()),
        occurrences: mpsc::channel(8).0,
        branch_metrics: branch::metrics::Metrics::register(&mut registrar, &directory).unwrap(),
        source_metrics: source::Metrics::register(&mut registrar, &directory).unwrap(),
        recorder: None,
        shutdown_budget: budget,
    }
}

fn key() -> GitBranchKey {
    GitBranchKey::new(
        Namespace::new("team-a").unwrap(),
        ObjectName::new("live").unwrap(),
    )
}

fn order(remote: RemoteFactory) -> BranchOrder {
    BranchOrder {
        identity: BranchIdentity {
            key: key(),
            repository: RepositoryUrl::new("https://git.example/config")
                .unwrap()
                .id(),
            branch: BranchName::new("main").unwrap(),
            parent: None,
        },
        uid: Uid::new("incarnation-1").unwrap(),
        created_at: 0,
        provider: GitProviderKey::new(key().namespace, ObjectName::new("repo").unwrap()),
        provider_uid: Uid::new("provider-1").unwrap(),
        committer: Signature::default(),
        signing: None,
        journal_key: None,
        remote_stamp: "1".to_owned(),
        remote,
    }
}

/// Makes no remote and counts how often it was asked to.
fn broken() -> (RemoteFactory, Arc<AtomicUsize>) {
    let tries = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&tries);
    let remote: RemoteFactory = Arc::new(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        Err("it is broken".to_owned())
    });
    (remote, tries)
}

struct Running {
    handle: FleetHandle,
    shutdown: CancellationToken,
    task: JoinSet<()>,
}

impl Running {
    fn start(settings: Settings) -> Self {
        let (fleet, handle) = Fleet::new(settings, DirectoryWriter::new());
        let shutdown = CancellationToken::new();
        let mut task = JoinSet::new();
        task.spawn(fleet.run(shutdown.clone()));
        Self {
            handle,
            shutdown,
            task,
        }
    }

    /// Returns once everything that was asked for, and everything that follows from it, is done.
    async fn stop(mut self) {
        while self.handle.commands.capacity() < self.handle.commands.max_capacity() {
            tokio::task::yield_now().await;
        }
        self.shutdown.cancel();
        while self.task.join_next().await.is_some() {}
    }
}

#[tokio::test(start_paused = true)]
async fn asking_again_for_a_writer_that_cannot_start_does_not_start_it_sooner() {
    let data = tempfile::tempdir().unwrap();
    let fleet = Running::start(settings(data.path(), Duration::from_secs(1)));
    let (remote, tries) = broken();
    for _ in 0..5 {
        fleet
            .handle
            .keep_branch(order(Arc::clone(&remote)))
            .await
            .unwrap();
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(tries.load(Ordering::SeqCst), 1);
    let (newer, newer_tries) = broken();
    fleet.handle.keep_branch(order(newer)).await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let both = (
        tries.load(Ordering::SeqCst),
        newer_tries.load(Ordering::SeqCst),
    );
    assert_eq!(both, (1, 1), "the restart follows the last order");
    fleet.stop().await;
}

#[tokio::test]
async fn b018_a_store_goes_with_its_writer_and_one_of_nobody_is_dropped() {
    let data = tempfile::tempdir().unwrap();
    let store = |name: &str| data.path().join("branches").join(name);
    for name in ["incarnation-1", "existing", "gone"] {
        std::fs::create_dir_all(store(name)).unwrap();
    }
    let fleet = Running::start(settings(data.path(), Duration::from_secs(60)));
    fleet.handle.keep_branch(order(broken().0)).await.unwrap();
    let live = BTreeSet::from([Uid::new("existing").unwrap()]);
    fleet.handle.drop_stray_stores(live.clone()).await.unwrap();
    fleet.stop().await;
    let found = ["incarnation-1", "existing", "gone"].map(|name| store(name).exists());
    assert_eq!(
        found,
        [true, true, false],
        "a writer that waits keeps its store"
    );

    let fleet = Running::start(settings(data.path(), Duration::from_secs(60)));
    fleet.handle.keep_branch(order(broken().0)).await.unwrap();
    fleet.handle.retire_branch(&key()).await.unwrap();
    fleet.stop().await;
    let left = std::fs::read_dir(data.path().join("branches")).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["existing"]);
}

/// A remote that answers only when it is cut off.
struct Hanging {
    cancel: CancellationToken,
    state: Arc<Talk>,
}

#[derive(Default)]
struct Talk {
    begun: AtomicBool,
    cut_off: AtomicBool,
}

impl Hanging {
    fn hang(&self) -> RemoteError {
        self.state.begun.store(true, Ordering::SeqCst);
        futures::executor::block_on(self.cancel.cancelled());
        self.state.cut_off.store(true, Ordering::SeqCst);
        RemoteError::Unreachable {
            detail: "cut off".to_owned(),
        }
    }
}

impl Remote for Hanging {
    fn look(&mut self) -> Result<Advertisement, RemoteError> {
        Err(self.hang())
    }

    fn prove_push(&mut self) -> Result<Advertisement, RemoteError> {
        Err(self.hang())
    }

    fn fetch(
        &mut self,
        _: &mut Store,
        _: &CommitId,
        _: Option<&CommitId>,
    ) -> Result<(), RemoteError> {
        Err(self.hang())
    }

    fn push(&mut self, _: &PushRequest) -> PushOutcome {
        PushOutcome::Failed(self.hang())
    }
}

#[tokio::test]
async fn a_conversation_that_hangs_is_cut_off_when_the_fleet_ends() {
    let data = tempfile::tempdir().unwrap();
    let fleet = Running::start(settings(data.path(), Duration::from_millis(50)));
    let talk = Arc::new(Talk::default());
    let state = Arc::clone(&talk);
    let remote: RemoteFactory = Arc::new(move |cancel| {
        let state = Arc::clone(&state);
        Ok(Box::new(Hanging { cancel, state }))
    });
    fleet.handle.keep_branch(order(remote)).await.unwrap();
    let wait = |what: fn(&Talk) -> &AtomicBool| {
        let talk = Arc::clone(&talk);
        let reached = async move {
            while !what(&talk).load(Ordering::SeqCst) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), reached)
    };
    wait(|talk| &talk.begun).await.unwrap();
    fleet.stop().await;
    wait(|talk| &talk.cut_off).await.unwrap();
}
