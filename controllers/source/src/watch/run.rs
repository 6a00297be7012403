//! The loop around a session: opens streams, feeds events, hands over, waits.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use board::StreamState;
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesOrdered;
use model::{Change, Collection, Delivery, ServedType, Snapshot, TargetKey};
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::author::AuthorResolver;
use super::connection::{CollectionApi, EventStream};
use super::pace;
use super::progress::Progress;
use super::replay::ObjectSet;
use super::session::{Opening, Receipt, Session, Skip, Step, WatchEvent};
use crate::actor::Clock;
use crate::fault::{Fault, FaultKind};
use crate::metrics::{EventOutcome, Recovery, SessionEnd, WatchMetrics};
use crate::settings::Settings;
use crate::sink::{Handover, Sink};

/// How often a watch that waits for its branch looks whether the branch takes changes in.
const INTAKE_CHECK: Duration = Duration::from_millis(250);
/// How many changes of one watch may wait to be accepted. A disk is synced once for all of them.
const ON_THEIR_WAY: usize = 64;
/// How much longer than agreed a connection may stay silent before it is taken for dead.
const SILENCE_MARGIN: Duration = Duration::from_secs(15);

/// One collection, watched for one target.
pub(crate) struct CollectionWatch<A> {
    pub(crate) target: TargetKey,
    pub(crate) collection: Collection,
    pub(crate) served: Arc<ServedType>,
    pub(crate) api: A,
    pub(crate) sink: Arc<dyn Sink>,
    pub(crate) author: AuthorResolver,
    pub(crate) settings: Arc<Settings>,
    pub(crate) clock: Clock,
    pub(crate) metrics: WatchMetrics,
    pub(crate) progress: Progress,
    /// Somebody wants the state observed anew. Looked at only when no event is waiting to be read.
    pub(crate) resync: Arc<Notify>,
    pub(crate) cancel: CancellationToken,
}

/// Why a watch ended for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WatchEnd {
    /// It was told to.
    Stopped,
    /// Its branch is gone.
    BranchGone,
}

/// Why one connection ended.
#[derive(Debug)]
enum Ended {
    ForGood(WatchEnd),
    /// The server ended the stream, or the connection broke.
    Closed,
    ResyncWanted,
    Fault(Fault),
}

impl From<Fault> for Ended {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// How the state is observed where there is nothing to resume from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Observation {
    InitialEvents,
    /// The server offers no initial events on this collection.
    List,
}

/// Ends the connection when it is an error, and goes on when it is not.
type Flow<T = ()> = Result<T, Ended>;

/// The session, and what it handed over that is not accepted yet.
struct Handing {
    session: Session,
    on_their_way: FuturesOrdered<BoxFuture<'static, Handover>>,
}

/// Where a watch is across its connections, beside what its session knows.
#[derive(Debug)]
struct Course {
    observation: Observation,
    /// Why the next replay is made.
    recovery: Recovery,
    attempt: u64,
}

impl<A: CollectionApi> CollectionWatch<A> {
    /// Watches until it is told to stop or its branch is gone.
    pub(crate) async fn run(self) -> WatchEnd {
        let mut handing = Handing {
            session: Session::new(Arc::clone(&self.served)),
            on_their_way: FuturesOrdered::new(),
        };
        let mut course = Course {
            observation: Observation::InitialEvents,
            recovery: Recovery::Replay,
            attempt: 0,
        };
        loop {
            let opened_at = Instant::now();
            let resumed = handing.session.opening() != Opening::Replay;
            let Err(mut ended) = self.attend(&mut handing, &course).await;
            // Where the next stream begins depends on what is accepted.
            if let Err(end) = self.all_accepted(&mut handing).await {
                ended = end;
            }
            let session = &mut handing.session;
            let lasted = opened_at.elapsed();
            course.attempt += 1;
            course.recovery = Recovery::Replay;
            let wait = match self.settle(session, &mut course, ended, resumed, lasted) {
                Ok(wait) => wait,
                Err(end) => return end,
            };
            if self.wait(wait).await.is_err() {
                return WatchEnd::Stopped;
            }
        }
    }

    /// Draws the conclusions from the end of a connection, and says how long to wait before the next one.
    fn settle(
        &self,
        session: &mut Session,
        course: &mut Course,
        ended: Ended,
        resumed: bool,
        lasted: Duration,
    ) -> Result<Duration, WatchEnd> {
        let jitter = pace::jitter((&self.target, &self.collection), course.attempt);
        let delay = self.settings.reconnect_delay;
        match ended {
            Ended::ForGood(end) => {
                self.metrics.session_ended(SessionEnd::Stopped);
                Err(end)
            }
            Ended::Closed => {
                self.metrics.session_ended(SessionEnd::Closed);
                session.disconnected();
                Ok(pace::after_close(delay, jitter, lasted))
            }
            Ended::ResyncWanted => {
                self.metrics.session_ended(SessionEnd::Stopped);
                session.restart();
                course.recovery = Recovery::TypeReconcile;
                Ok(Duration::ZERO)
            }
            Ended::Fault(fault) => Ok(match (fault.kind, session.opening()) {
                (FaultKind::Expired, Opening::Resume { .. }) => {
                    self.metrics.session_ended(SessionEnd::Expired);
                    session.restart();
                    // A replay that expires as soon as it is complete would otherwise spin.
                    let lasted = if resumed { delay } else { lasted };
                    pace::after_close(delay, jitter, lasted)
                }
                (FaultKind::StreamingUnsupported, Opening::Replay)
                    if course.observation == Observation::InitialEvents =>
                {
                    course.observation = Observation::List;
                    Duration::ZERO
                }
                _ => {
                    self.give_way(&fault, lasted);
                    session.disconnected();
                    pace::after_fault(delay, jitter, fault.retry_after)
                }
            }),
        }
    }

    /// Tells about a fault. A stream that broke after a while is opened again without a word; if that does
    /// not work either, its own fault is told.
    fn give_way(&self, fault: &Fault, lasted: Duration) {
        self.metrics.session_ended(SessionEnd::Error);
        self.metrics.event(EventOutcome::StreamError);
        tracing::debug!(git_target = %self.target, collection = %self.collection, %fault, "watch broke");
        let was_streaming = self.progress.state() == StreamState::Streaming;
        if !was_streaming || lasted < self.settings.reconnect_delay {
            self.progress.blocked_by(fault, (self.clock)().wall);
        }
    }

    async fn wait(&self, time: Duration) -> Flow {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(Ended::ForGood(WatchEnd::Stopped)),
            () = tokio::time::sleep(time) => Ok(()),
        }
    }

    /// Opens one stream and works through it until it ends.
    async fn attend(&self, handing: &mut Handing, course: &Course) -> Flow<Infallible> {
        let started = Instant::now();
        match (handing.session.opening(), course.observation) {
            (Opening::Resume { .. }, _) => self.metrics.recovered(Recovery::CursorResume),
            (Opening::Replay, Observation::InitialEvents) => {
                self.metrics.recovered(course.recovery);
            }
            (Opening::Replay, Observation::List) => {
                self.metrics.recovered(Recovery::ListFallback);
                self.observe_by_list(handing, started).await?;
            }
        }
        let opening = handing.session.opening();
        let mut stream = self.answer(self.api.watch(opening.clone())).await?;
        match opening {
            Opening::Replay => self.progress.replaying(0),
            Opening::Resume { .. } => self.progress.streaming(),
        }
        loop {
            let event = self.next(&mut stream, handing).await?;
            let began = Instant::now();
            self.handle(handing, event, started).await?;
            self.metrics.handled(began.elapsed());
        }
    }

    /// Reads the whole collection page by page, as if its objects were initial events. The stream that is
    /// opened next goes on from the version of the list, so nothing that happens meanwhile is missed.
    async fn observe_by_list(&self, handing: &mut Handing, started: Instant) -> Flow {
        self.progress.replaying(0);
        let mut after = None;
        loop {
            let page = self.answer(self.api.list(after)).await?;
            for object in page.objects {
                self.handle(handing, WatchEvent::Added(object), started)
                    .await?;
            }
            let Some(next) = page.next else {
                let end = WatchEvent::Bookmark {
                    resource_version: page.resource_version,
                    ends_initial_events: true,
                };
                return self.handle(handing, end, started).await;
            };
            after = Some(next);
        }
    }

    /// Waits for the first byte of an answer.
    async fn answer<T>(&self, call: BoxFuture<'_, Result<T, Fault>>) -> Flow<T> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(Ended::ForGood(WatchEnd::Stopped)),
            answer = tokio::time::timeout(self.settings.answer_limit, call) => match answer {
                Ok(answer) => Ok(answer?),
                Err(_) => Err(Fault::unavailable("the API server did not answer in time").into()),
            }
        }
    }

    /// Reads the next event. What the stream still holds is read before a resync is looked at, because a
    /// removal that was not read is no observed removal any more.
    async fn next(&self, stream: &mut EventStream, handing: &mut Handing) -> Flow<WatchEvent> {
        let silence = self.settings.session_limit + SILENCE_MARGIN;
        loop {
            tokio::select! {
                biased;
                () = self.cancel.cancelled() => return Err(Ended::ForGood(WatchEnd::Stopped)),
                Some(handed) = handing.on_their_way.next() => {
                    self.conclude(&mut handing.session, handed)?;
                }
                event = tokio::time::timeout(silence, stream.next()) => return match event {
                    Ok(Some(event)) => Ok(event?),
                    Ok(None) => Err(Ended::Closed),
                    Err(_) => Err(Fault::unavailable("the connection to the API server went silent").into()),
                },
                () = self.resync.notified() => return Err(Ended::ResyncWanted),
            }
        }
    }

    async fn handle(&self, handing: &mut Handing, event: WatchEvent, started: Instant) -> Flow {
        match handing.session.on_event(event) {
            Step::Collected { received } => self.progress.replaying(received),
            Step::Skipped(skip) => self.metrics.event(outcome(skip)),
            Step::Deliver(change, receipt) => self.deliver(handing, change, receipt).await?,
            Step::Snapshot {
                set,
                resource_version,
                receipt,
            } => {
                self.deliver_snapshot(&mut handing.session, set, resource_version, receipt)
                    .await?;
                self.metrics.replayed(started.elapsed());
                while let Some((change, receipt)) = handing.session.next_deferred() {
                    self.deliver(handing, change, receipt).await?;
                }
            }
        }
        Ok(())
    }

    /// Hands a change over, and reads on before it is accepted unless too many are on their way.
    async fn deliver(&self, handing: &mut Handing, change: Change, receipt: Receipt) -> Flow {
        let author = self.author.author(&change);
        let delivery = Delivery {
            target: self.target.clone(),
            collection: self.collection.clone(),
            change,
            author,
        };
        let acceptance = self.hand_over(self.sink.enqueue(delivery)).await?;
        handing.session.handed_over(receipt);
        handing.on_their_way.push_back(acceptance.0);
        if handing.on_their_way.len() >= ON_THEIR_WAY {
            self.oldest_accepted(handing).await?;
        }
        Ok(())
    }

    /// Waits until everything that was handed over is accepted.
    async fn all_accepted(&self, handing: &mut Handing) -> Flow {
        while !handing.on_their_way.is_empty() {
            self.oldest_accepted(handing).await?;
        }
        Ok(())
    }

    async fn oldest_accepted(&self, handing: &mut Handing) -> Flow {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(Ended::ForGood(WatchEnd::Stopped)),
            Some(handed) = handing.on_their_way.next() => {
                self.conclude(&mut handing.session, handed)
            }
            else => Ok(()),
        }
    }

    fn conclude(&self, session: &mut Session, handed: Handover) -> Flow {
        self.check(handed)?;
        session.accepted_one();
        self.metrics.event(EventOutcome::Routed);
        Ok(())
    }

    async fn deliver_snapshot(
        &self,
        session: &mut Session,
        set: ObjectSet,
        resource_version: String,
        receipt: Receipt,
    ) -> Flow {
        if let Some(count) = set.left_out.get("cluster_generated") {
            tracing::info!(
                git_target = %self.target, collection = %self.collection, count,
                "left out cluster-generated objects on purpose"
            );
        }
        let left_out = set.left_out;
        let snapshot = Snapshot {
            target: self.target.clone(),
            collection: self.collection.clone(),
            served: Arc::clone(&self.served),
            objects: set.objects,
            protected: set.protected,
            resource_version,
        };
        let handed = self.hand_over(self.sink.snapshot(snapshot)).await?;
        self.check(handed)?;
        session.accepted(receipt);
        self.progress.snapshot(left_out);
        self.progress.streaming();
        Ok(())
    }

    /// Waits until the sink has taken something, and shows when it takes nothing at all.
    async fn hand_over<T>(&self, mut handover: BoxFuture<'_, T>) -> Flow<T> {
        let before = self.progress.state();
        let mut check = tokio::time::interval(INTAKE_CHECK);
        let handed = loop {
            tokio::select! {
                biased;
                () = self.cancel.cancelled() => {
                    self.metrics.event(EventOutcome::Shutdown);
                    return Err(Ended::ForGood(WatchEnd::Stopped));
                }
                handed = &mut handover => break handed,
                _ = check.tick() => if self.sink.intake_paused() {
                    self.progress.paused((self.clock)().wall);
                },
            }
        };
        self.progress.set(before);
        Ok(handed)
    }

    fn check(&self, handed: Handover) -> Flow {
        match handed {
            Handover::Accepted => Ok(()),
            Handover::Closed => {
                self.metrics.event(EventOutcome::RouteFailed);
                Err(Ended::ForGood(WatchEnd::BranchGone))
            }
        }
    }
}

fn outcome(skip: Skip) -> EventOutcome {
    match skip {
        Skip::Unchanged => EventOutcome::Unchanged,
        Skip::ClusterGenerated => EventOutcome::ClusterGenerated,
        Skip::ControllerOwned => EventOutcome::ControllerOwned,
        Skip::Malformed => EventOutcome::NotObject,
        Skip::Bookmark => EventOutcome::Bookmark,
    }
}
