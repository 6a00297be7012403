use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use board::metrics::Registrar;
use board::{StreamState, StreamView};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, future, stream};
use kube::core::Status;
use model::{
    Change, Collection, Delivery, Namespace, Now, ObjectName, Scope, Selector, Sensitivity,
    ServedType, Snapshot, TargetKey, TypeId,
};
use serde_json::{Map, Value, json};
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::author::AuthorResolver;
use super::connection::{CollectionApi, EventStream, Page};
use super::progress::Progress;
use super::run::{CollectionWatch, WatchEnd};
use super::session::{Opening, WatchEvent};
use crate::fault::Fault;
use crate::metrics::Metrics;
use crate::settings::Settings;
use crate::sink::{Acceptance, Handover, Sink};

/// How one request is answered.
enum Answer {
    /// A stream with these events, which then stays silent.
    Stream(Vec<WatchEvent>),
    /// A stream with these events, which then ends.
    Closing(Vec<WatchEvent>),
    /// A stream with these events, and an error at its end.
    Breaking(Vec<WatchEvent>, Fault),
    /// An error instead of a stream.
    Fault(Fault),
    /// A page of a list.
    Page(Page),
}

/// An API server that answers by the script and notes what it is asked. Behind the script it is silent.
#[derive(Clone, Default)]
struct Script {
    answers: Arc<Mutex<VecDeque<Answer>>>,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Script {
    fn next(&self, request: String) -> Option<Answer> {
        self.requests.lock().unwrap().push(request);
        self.answers.lock().unwrap().pop_front()
    }

    fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

impl CollectionApi for Script {
    fn watch(&self, opening: Opening) -> BoxFuture<'_, Result<EventStream, Fault>> {
        let request = match opening {
            Opening::Replay => "replay".to_owned(),
            Opening::Resume { resource_version } => format!("resume {resource_version}"),
        };
        let events = |events: Vec<WatchEvent>| stream::iter(events.into_iter().map(Ok));
        let answer = match self.next(request) {
            Some(Answer::Stream(script)) => Ok(events(script).chain(stream::pending()).boxed()),
            Some(Answer::Closing(script)) => Ok(events(script).boxed()),
            Some(Answer::Breaking(script, fault)) => {
                let end = stream::iter([Err(fault)]);
                Ok(events(script).chain(end).boxed())
            }
            Some(Answer::Fault(fault)) => Err(fault),
            Some(Answer::Page(_)) => panic!("a page for a watch"),
            None => return future::pending().boxed(),
        };
        future::ready(answer).boxed()
    }

    fn list(&self, after: Option<String>) -> BoxFuture<'_, Result<Page, Fault>> {
        let answer = match self.next(format!("list {}", after.unwrap_or_default())) {
            Some(Answer::Page(page)) => Ok(page),
            Some(Answer::Fault(fault)) => Err(fault),
            _ => panic!("no page for a list"),
        };
        future::ready(answer).boxed()
    }
}

/// A branch that tells what it is given.
struct Branch {
    told: mpsc::UnboundedSender<String>,
    paused: AtomicBool,
    resumed: Notify,
    closed: AtomicBool,
    /// Changes that are enqueued and not accepted; `None` accepts at once.
    waiting: Mutex<Option<Vec<oneshot::Sender<()>>>>,
}

impl Branch {
    async fn take(&self, what: String) -> Handover {
        while self.paused.load(Ordering::SeqCst) {
            self.resumed.notified().await;
        }
        if self.closed.load(Ordering::SeqCst) {
            return Handover::Closed;
        }
        self.told.send(what).unwrap();
        Handover::Accepted
    }
}

impl Sink for Branch {
    fn offer(&self, delivery: Delivery) -> BoxFuture<'_, Handover> {
        let id = delivery.object_id().name.to_string();
        let what = match &delivery.change {
            Change::Upsert { operation, .. } => format!("{} {id}", operation.as_str()),
            Change::Remove { .. } => format!("DELETE {id}"),
        };
        self.take(what).boxed()
    }

    fn enqueue(&self, delivery: Delivery) -> BoxFuture<'_, Acceptance> {
        async move {
            let handed = self.offer(delivery).await;
            let mut waiting = self.waiting.lock().unwrap();
            let Some(waiting) = waiting.as_mut() else {
                return Acceptance::of(future::ready(handed));
            };
            let (accept, accepted) = oneshot::channel();
            waiting.push(accept);
            Acceptance::of(async move {
                accepted.await.unwrap();
                handed
            })
        }
        .boxed()
    }

    fn snapshot(&self, snapshot: Snapshot) -> BoxFuture<'_, Handover> {
        let names: Vec<_> = snapshot
            .objects
            .iter()
            .map(|object| object.id().name.to_string())
            .collect();
        let version = snapshot.resource_version;
        self.take(format!("snapshot [{}] at {version}", names.join(" ")))
            .boxed()
    }

    fn forget(&self, _target: TargetKey, collection: Collection) -> BoxFuture<'_, Handover> {
        self.take(format!("forget {collection}")).boxed()
    }

    fn intake_paused(&self) -> bool {
        self.paused.load(Ordering::SeqCst)
    }
}

/// A running watch, and everything that a test looks at.
struct Bench {
    api: Script,
    branch: Arc<Branch>,
    told: mpsc::UnboundedReceiver<String>,
    view: watch::Receiver<StreamView>,
    resync: Arc<Notify>,
    cancel: CancellationToken,
    registry: prometheus::Registry,
    watch: JoinSet<WatchEnd>,
}

impl Bench {
    fn start(answers: impl IntoIterator<Item = Answer>) -> Self {
        let api = Script::default();
        api.answers.lock().unwrap().extend(answers);
        let (told, receiver) = mpsc::unbounded_channel();
        let branch = Arc::new(Branch {
            told,
            paused: AtomicBool::new(false),
            resumed: Notify::new(),
            closed: AtomicBool::new(false),
            waiting: Mutex::new(None),
        });
        let namespace = Namespace::new("a").unwrap();
        let type_id = TypeId::new("", "configmaps");
        let served = ServedType {
            type_id: type_id.clone(),
            version: "v1".to_owned(),
            kind: "ConfigMap".to_owned(),
            namespaced: true,
            sensitive: false,
        };
        let target = TargetKey::new(namespace.clone(), ObjectName::new("apps").unwrap());
        let mut registrar = Registrar::new("test");
        let directory = board::DirectoryWriter::new().reader();
        let metrics = Metrics::register(&mut registrar, &directory).unwrap();
        let (registry, _) = registrar.finish();
        let progress = Progress::new(Arc::default());
        let view = progress.reader();
        let resync = Arc::new(Notify::new());
        let cancel = CancellationToken::new();
        let watch = CollectionWatch {
            metrics: metrics.watch(&target, &served),
            target,
            collection: Collection {
                type_id,
                scope: Scope::Namespace(namespace),
                selector: Selector::everything(),
            },
            served: Arc::new(served),
            api: api.clone(),
            sink: Arc::clone(&branch) as Arc<dyn Sink>,
            author: AuthorResolver::Operator,
            settings: Arc::new(Settings::documented(Sensitivity::default(), Vec::new())),
            clock: Arc::new(|| Now {
                monotonic: 0,
                wall: 7,
            }),
            progress,
            resync: Arc::clone(&resync),
            cancel: cancel.clone(),
        };
        let mut running = JoinSet::new();
        running.spawn(watch.run());
        Self {
            api,
            branch,
            told: receiver,
            view,
            resync,
            cancel,
            registry,
            watch: running,
        }
    }

    async fn told(&mut self) -> String {
        self.told.recv().await.unwrap()
    }

    /// Waits for a state, which is the only thing that can fail to come.
    async fn state(&mut self, wanted: impl Fn(&StreamState) -> bool) -> StreamState {
        let patience = Duration::from_secs(3_600);
        let found = self.view.wait_for(|view| wanted(&view.state));
        let view = tokio::time::timeout(patience, found).await;
        view.expect("the state comes").unwrap().state.clone()
    }

    async fn stopped(mut self) -> WatchEnd {
        self.cancel.cancel();
        self.ended().await
    }

    async fn ended(&mut self) -> WatchEnd {
        self.watch.join_next().await.unwrap().unwrap()
    }

    fn counted(&self, family: &str, label: &str) -> f64 {
        let families = self.registry.gather();
        let family = format!("test_{family}");
        let family = families.iter().find(|found| found.name() == family);
        let metrics = family.map(|family| family.get_metric()).unwrap_or_default();
        metrics
            .iter()
            .filter(|metric| metric.get_label().iter().any(|pair| pair.value() == label))
            .map(|metric| metric.get_counter().get_value())
            .sum()
    }
}

fn object(name: &str, version: u64) -> Map<String, Value> {
    let value = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "a", "uid": name, "resourceVersion": version.to_string()},
        "data": {"version": version.to_string()},
    });
    value.as_object().unwrap().clone()
}

fn added(name: &str, version: u64) -> WatchEvent {
    WatchEvent::Added(object(name, version))
}

fn modified(name: &str, version: u64) -> WatchEvent {
    WatchEvent::Modified(object(name, version))
}

fn end(version: u64) -> WatchEvent {
    WatchEvent::Bookmark {
        resource_version: version.to_string(),
        ends_initial_events: true,
    }
}

fn fault(code: u16, field: &str) -> Fault {
    let status: Status = serde_json::from_value(json!({
        "code": code,
        "message": "told by the server",
        "details": {"causes": [{"field": field}]},
    }))
    .unwrap();
    Fault::from_status(&status)
}

fn is_blocked(reason: &str) -> impl Fn(&StreamState) -> bool + '_ {
    move |state| matches!(state, StreamState::Blocked { reason: given, .. } if given == reason)
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_ends_goes_on_where_it_was() {
    let mut bench = Bench::start([
        Answer::Closing(vec![added("b", 1), added("a", 2), end(3), modified("a", 4)]),
        Answer::Breaking(vec![modified("a", 5)], Fault::unavailable("broken")),
        Answer::Stream(vec![modified("a", 6)]),
    ]);
    assert_eq!(bench.told().await, "snapshot [a b] at 3");
    for _ in 0..3 {
        assert_eq!(bench.told().await, "UPDATE a");
    }
    assert_eq!(bench.api.requests(), ["replay", "resume 4", "resume 5"]);
    assert_eq!(bench.counted("watch_recovery_total", "cursor_resume"), 2.0);
    assert_eq!(bench.counted("watch_events_total", "routed"), 3.0);
    assert_eq!(bench.stopped().await, WatchEnd::Stopped);
}

#[tokio::test(start_paused = true)]
async fn d33_a_watch_reads_on_before_acceptance_and_resumes_only_after_it() {
    let mut bench = Bench::start([
        Answer::Closing(vec![end(3), added("a", 4), added("b", 5)]),
        Answer::Stream(Vec::new()),
    ]);
    *bench.branch.waiting.lock().unwrap() = Some(Vec::new());
    assert_eq!(bench.told().await, "snapshot [] at 3");
    assert_eq!(bench.told().await, "CREATE a");
    assert_eq!(bench.told().await, "CREATE b");
    // Longer than any wait before a stream is opened again; the clock of this test stands still otherwise.
    tokio::time::sleep(Duration::from_secs(600)).await;
    assert_eq!(bench.api.requests(), ["replay"], "nothing is accepted yet");
    assert_eq!(bench.counted("watch_events_total", "routed"), 0.0);
    let waiting = bench.branch.waiting.lock().unwrap().take().unwrap();
    assert_eq!(waiting.len(), 2);
    for accept in waiting {
        accept.send(()).unwrap();
    }
    bench.state(|state| *state == StreamState::Streaming).await;
    tokio::time::sleep(Duration::from_secs(600)).await;
    assert_eq!(bench.api.requests()[..2], ["replay", "resume 5"]);
    assert_eq!(bench.counted("watch_events_total", "routed"), 2.0);
    assert_eq!(bench.stopped().await, WatchEnd::Stopped);
}

#[tokio::test(start_paused = true)]
async fn an_expired_stream_is_replayed() {
    let mut bench = Bench::start([
        Answer::Closing(vec![added("a", 1), end(2)]),
        Answer::Fault(fault(410, "")),
        Answer::Breaking(vec![added("a", 5), added("b", 6), end(7)], fault(410, "")),
        Answer::Stream(vec![end(9), added("c", 10)]),
    ]);
    assert_eq!(bench.told().await, "snapshot [a] at 2");
    assert_eq!(bench.told().await, "snapshot [a b] at 7");
    assert_eq!(bench.told().await, "snapshot [] at 9");
    assert_eq!(bench.told().await, "CREATE c");
    assert_eq!(
        bench.api.requests(),
        ["replay", "resume 2", "replay", "replay"]
    );
    assert_eq!(bench.counted("watch_sessions_ended_total", "expired"), 2.0);
}

#[tokio::test(start_paused = true)]
async fn a_server_without_initial_events_is_listed_page_by_page() {
    let page = |name: &str, next: Option<&str>| {
        Answer::Page(Page {
            objects: vec![object(name, 1)],
            resource_version: "9".to_owned(),
            next: next.map(str::to_owned),
        })
    };
    let mut bench = Bench::start([
        Answer::Fault(fault(422, "sendInitialEvents")),
        page("b", Some("more")),
        page("a", None),
        Answer::Breaking(vec![modified("a", 10)], fault(410, "")),
        page("a", None),
        Answer::Stream(vec![]),
    ]);
    assert_eq!(bench.told().await, "snapshot [a b] at 9");
    assert_eq!(bench.told().await, "UPDATE a");
    assert_eq!(bench.told().await, "snapshot [a] at 9");
    bench.state(|state| *state == StreamState::Streaming).await;
    assert_eq!(
        bench.api.requests(),
        [
            "replay",
            "list ",
            "list more",
            "resume 9",
            "list ",
            "resume 9"
        ]
    );
    assert_eq!(bench.counted("watch_recovery_total", "list_fallback"), 2.0);
}

#[tokio::test(start_paused = true)]
async fn what_is_forbidden_is_told_and_tried_again() {
    let mut bench = Bench::start([
        Answer::Fault(fault(403, "")),
        Answer::Fault(fault(401, "")),
        Answer::Fault(fault(404, "")),
    ]);
    let blocked = bench.state(is_blocked("WatchNotPermitted")).await;
    let StreamState::Blocked { message, since, .. } = blocked else {
        panic!("{blocked:?}");
    };
    assert!(message.contains("403: told by the server"), "{message}");
    assert_eq!(since, 7);
    bench.state(is_blocked("WatchError")).await;
    let granted = Answer::Stream(vec![added("a", 1), end(2)]);
    bench.api.answers.lock().unwrap().push_back(granted);
    assert_eq!(bench.told().await, "snapshot [a] at 2");
    bench.state(|state| *state == StreamState::Streaming).await;
}

#[tokio::test(start_paused = true)]
async fn a_paused_intake_is_shown_and_loses_nothing() {
    let script = vec![end(1), added("a", 2), added("b", 3)];
    let mut bench = Bench::start([Answer::Stream(script)]);
    bench.branch.paused.store(true, Ordering::SeqCst);
    bench.state(is_blocked("BranchIntakePaused")).await;
    bench.branch.paused.store(false, Ordering::SeqCst);
    bench.branch.resumed.notify_one();
    assert_eq!(bench.told().await, "snapshot [] at 1");
    assert_eq!(bench.told().await, "CREATE a");
    assert_eq!(bench.told().await, "CREATE b");
    bench.state(|state| *state == StreamState::Streaming).await;
    assert_eq!(
        bench.api.requests(),
        ["replay"],
        "it waited and did not connect again"
    );
}

#[tokio::test(start_paused = true)]
async fn a_watch_ends_with_its_branch() {
    let mut bench = Bench::start([Answer::Stream(vec![added("a", 1), end(2)])]);
    bench.branch.closed.store(true, Ordering::SeqCst);
    assert_eq!(bench.ended().await, WatchEnd::BranchGone);
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_waits_can_be_stopped() {
    let mut bench = Bench::start([Answer::Stream(vec![added("a", 1), end(2)])]);
    bench.branch.paused.store(true, Ordering::SeqCst);
    bench.state(is_blocked("BranchIntakePaused")).await;
    assert_eq!(bench.stopped().await, WatchEnd::Stopped);
}

#[tokio::test(start_paused = true)]
async fn a_resync_reads_what_is_left_and_replays() {
    let mut bench = Bench::start([
        Answer::Stream(vec![end(1), added("a", 2), added("b", 3)]),
        Answer::Stream(vec![added("a", 2), end(5)]),
    ]);
    bench.resync.notify_one();
    assert_eq!(bench.told().await, "snapshot [] at 1");
    assert_eq!(bench.told().await, "CREATE a");
    assert_eq!(bench.told().await, "CREATE b");
    assert_eq!(bench.told().await, "snapshot [a] at 5");
    assert_eq!(bench.api.requests(), ["replay", "replay"]);
    assert_eq!(bench.counted("watch_recovery_total", "type_reconcile"), 1.0);
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_went_silent_is_opened_again() {
    let mut bench = Bench::start([
        Answer::Stream(vec![added("a", 1), end(2)]),
        Answer::Stream(vec![modified("a", 3)]),
    ]);
    assert_eq!(bench.told().await, "snapshot [a] at 2");
    assert_eq!(bench.told().await, "UPDATE a");
    assert_eq!(bench.api.requests(), ["replay", "resume 2"]);
}
