//! The actor of one source: asks for the types, keeps the plans, starts and stops watches.
//!
//! Read [`state`] for what it knows and `published` for what it tells. This file is the loop: one closed set
//! of events, and after each of them the running watches are brought into line with the plans. It never
//! waits for anything but the next event; discovery and the watches are tasks of their own.

mod published;
mod state;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use board::Publisher;
use kube::Client;
use model::{KubeProviderKey, Now, ServedType};
use tokio::sync::Notify;
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::catalog::schemas::{self, Schemas};
use crate::catalog::{Scan, TypeCatalogView, discovery};
use crate::connection::Connection;
use crate::fault::Fault;
use crate::handle::{Command, Inbox};
use crate::metrics::{Metrics, RefreshOutcome};
use crate::settings::Settings;
use crate::sink::Sink;
use crate::watch::author::AuthorResolver;
use crate::watch::connection::KubeCollection;
use crate::watch::progress::Progress;
use crate::watch::run::{CollectionWatch, WatchEnd};
use state::{State, Stream, StreamKey};

/// Tells the time.
pub type Clock = Arc<dyn Fn() -> Now + Send + Sync>;

/// What a source publishes.
#[derive(Debug)]
pub struct Publishers {
    /// How the cluster and each stream are doing.
    pub view: Publisher<board::SourceView>,
    /// What the cluster serves.
    pub catalog: Publisher<TypeCatalogView>,
}

/// Everything that a source works with.
pub struct Source {
    /// The `KubeProvider` that it works for.
    pub key: KubeProviderKey,
    /// The connection, with the provider's credential.
    pub connection: Connection,
    /// How it works.
    pub settings: Settings,
    /// Where it publishes.
    pub publishers: Publishers,
    /// What the time is.
    pub clock: Clock,
    /// What it counts.
    pub metrics: Metrics,
}

impl Source {
    /// Works until it is cancelled or nobody holds a handle any more; then stops every watch and waits for
    /// it.
    pub async fn run(self, inbox: Inbox, cancel: CancellationToken) {
        Actor::new(self, cancel).run(inbox).await;
    }
}

/// What the loop waits for.
enum Event {
    Command(Command),
    RefreshDue,
    Finished(Id, Finished),
    Failed(JoinError),
    StreamsChanged,
    ShutDown,
}

/// How a task ended.
enum Finished {
    Discovery(Result<(Scan, Schemas), Fault>, Duration),
    Watch(StreamKey, WatchEnd),
    LetGo(StreamKey),
}

struct Actor {
    key: KubeProviderKey,
    client: Client,
    settings: Arc<Settings>,
    publishers: Publishers,
    clock: Clock,
    metrics: Metrics,
    state: State,
    tasks: JoinSet<Finished>,
    /// Which watch a task is, for tasks that end without saying so.
    watches: BTreeMap<Id, StreamKey>,
    discovering: bool,
    schemas: Arc<Schemas>,
    refresh_at: Instant,
    streams_changed: Arc<Notify>,
    cancel: CancellationToken,
}

impl Actor {
    fn new(source: Source, cancel: CancellationToken) -> Self {
        let settings = Arc::new(source.settings);
        Self {
            key: source.key,
            client: source.connection.0,
            state: State::new(&settings),
            settings,
            publishers: source.publishers,
            clock: source.clock,
            metrics: source.metrics,
            tasks: JoinSet::new(),
            watches: BTreeMap::new(),
            discovering: false,
            schemas: Arc::default(),
            refresh_at: Instant::now(),
            streams_changed: Arc::default(),
            cancel,
        }
    }

    async fn run(mut self, mut inbox: Inbox) {
        loop {
            match self.next(&mut inbox).await {
                Event::Command(command) => self.command(command),
                Event::RefreshDue => self.start_discovery(),
                Event::Finished(id, finished) => self.finished(id, finished),
                Event::Failed(error) => self.failed(&error),
                Event::StreamsChanged => {}
                Event::ShutDown => break,
            }
            self.bring_into_line();
            self.publish();
        }
        self.shut_down().await;
    }

    async fn next(&mut self, inbox: &mut Inbox) -> Event {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Event::ShutDown,
            Some(ended) = self.tasks.join_next_with_id() => match ended {
                Ok((id, finished)) => Event::Finished(id, finished),
                Err(error) => Event::Failed(error),
            },
            command = inbox.0.recv() => command.map_or(Event::ShutDown, Event::Command),
            () = tokio::time::sleep_until(self.refresh_at), if !self.discovering => Event::RefreshDue,
            () = self.streams_changed.notified() => Event::StreamsChanged,
        }
    }

    fn command(&mut self, command: Command) {
        match command {
            Command::Declare(declaration) => {
                if self.state.declare(declaration) {
                    self.refresh_at = Instant::now();
                }
            }
            Command::Withdraw(target) => self.state.withdraw(&target),
            Command::Resync(target, collection) => self.state.resync(&target, collection.as_ref()),
            Command::RefreshDiscovery => self.refresh_at = Instant::now(),
        }
    }

    fn start_discovery(&mut self) {
        self.discovering = true;
        // Asked for again meanwhile, it runs again as soon as this round is over.
        self.refresh_at = Instant::now() + self.settings.refresh_interval;
        let client = self.client.clone();
        let limit = self.settings.answer_limit;
        let known = Arc::clone(&self.schemas);
        self.tasks.spawn(async move {
            let started = Instant::now();
            let answer = match discovery::scan(&client, limit).await {
                Ok(scan) => {
                    let schemas = schemas::refresh(&client, limit, &scan, &known).await;
                    Ok((scan, schemas))
                }
                Err(fault) => Err(fault),
            };
            Finished::Discovery(answer, started.elapsed())
        });
    }

    fn finished(&mut self, id: Id, finished: Finished) {
        match finished {
            Finished::Discovery(answer, took) => {
                self.discovering = false;
                self.discovered(answer, took);
            }
            Finished::Watch(key, end) => {
                self.watches.remove(&id);
                match self.state.let_go_by(&key) {
                    Some(sink) if end == WatchEnd::Stopped => self.let_go(key, sink),
                    _ => self.state.ended(&key, end),
                }
            }
            Finished::LetGo(key) => {
                self.watches.remove(&id);
                self.state.ended(&key, WatchEnd::Stopped);
            }
        }
    }

    /// Tells the branch that a collection no longer feeds the target. Until it knows, the watch counts as
    /// running, so that nothing is handed over in its place.
    fn let_go(&mut self, key: StreamKey, sink: Arc<dyn Sink>) {
        let ends_as = key.clone();
        let task = self.tasks.spawn(async move {
            let _gone = sink
                .forget(ends_as.target.clone(), ends_as.collection.clone())
                .await;
            Finished::LetGo(ends_as)
        });
        self.watches.insert(task.id(), key);
    }

    fn discovered(&mut self, answer: Result<(Scan, Schemas), Fault>, took: Duration) {
        let outcome = match answer {
            Ok((scan, schemas)) => {
                let other_schemas = *self.schemas != schemas;
                self.schemas = Arc::new(schemas);
                if self.state.absorb(scan, (self.clock)().monotonic) || other_schemas {
                    self.publish_catalog();
                    RefreshOutcome::Changed
                } else {
                    RefreshOutcome::Unchanged
                }
            }
            Err(fault) => {
                tracing::warn!(source = %self.key, %fault, "discovery failed");
                let retry =
                    Instant::now() + self.state.discovery_failed(&fault, (self.clock)().wall);
                self.refresh_at = self.refresh_at.min(retry);
                RefreshOutcome::Error
            }
        };
        self.metrics.refreshed(&self.key, outcome, took);
        if let Some(numbers) = self.state.catalog_numbers() {
            self.metrics.catalog(&self.key, numbers);
        }
    }

    /// A task that panics is a broken invariant; its watch starts anew with the next round of discovery.
    fn failed(&mut self, error: &JoinError) {
        tracing::error!(source = %self.key, %error, "a task of the source ended unexpectedly");
        match self.watches.remove(&error.id()) {
            Some(key) => self.state.broke(&key, (self.clock)().wall),
            None => self.discovering = false,
        }
    }

    /// Starts and stops watches until the plans are followed as far as they can be now.
    fn bring_into_line(&mut self) {
        for (target, diff) in self.state.differences() {
            for collection in diff.stop {
                self.state.stop(&StreamKey {
                    target: target.clone(),
                    collection,
                });
            }
            let Some(sink) = self.state.sink(&target) else {
                continue;
            };
            for (collection, served) in diff.start {
                let key = StreamKey {
                    target: target.clone(),
                    collection,
                };
                self.start(key, served, Arc::clone(&sink));
            }
        }
    }

    fn start(&mut self, key: StreamKey, served: ServedType, sink: Arc<dyn Sink>) {
        let progress = Progress::new(Arc::clone(&self.streams_changed));
        let stream = Stream {
            served: served.clone(),
            sink: Arc::clone(&sink),
            view: progress.reader(),
            resync: Arc::default(),
            cancel: self.cancel.child_token(),
            stopping: false,
        };
        let watch = CollectionWatch {
            target: key.target.clone(),
            collection: key.collection.clone(),
            api: KubeCollection::new(
                self.client.clone(),
                &key.collection,
                &served,
                &self.settings,
            ),
            metrics: self.metrics.watch(&key.target, &served),
            served: Arc::new(served),
            sink,
            author: AuthorResolver::default(),
            settings: Arc::clone(&self.settings),
            clock: Arc::clone(&self.clock),
            progress,
            resync: Arc::clone(&stream.resync),
            cancel: stream.cancel.clone(),
        };
        let ends_as = key.clone();
        let task = self.tasks.spawn(async move {
            let end = watch.run().await;
            Finished::Watch(ends_as, end)
        });
        self.watches.insert(task.id(), key.clone());
        self.state.started(key, stream);
    }

    fn publish(&self) {
        self.publishers.view.set(published::view(&self.state));
    }

    fn publish_catalog(&self) {
        if let Some(catalog) = self.state.catalog() {
            let mut view = catalog.view();
            view.schemas = self.schemas.list();
            self.publishers.catalog.set(view);
        }
    }

    async fn shut_down(mut self) {
        self.cancel.cancel();
        while let Some(ended) = self.tasks.join_next().await {
            if let Err(error) = ended {
                tracing::error!(source = %self.key, %error, "a task of the source ended unexpectedly");
            }
        }
        self.metrics.forget(&self.key);
    }
}
