//! Runs the machine: inbox, clock, timers, the Git job, the journal. No decisions.

mod desk;

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use board::{BranchView, IntakeState, Publisher, Reader};
use model::{Millis, Now, Sensitivity};
use tokio::sync::{Semaphore, SemaphorePermit, mpsc, watch};
use tokio::task::JoinError;
use tokio_util::sync::CancellationToken;

use crate::cycle::{CycleOutcome, CycleRequest, Workshop};
use crate::effect::{Effect, Occurrence};
use crate::handle::{BranchHandle, Envelope, LIFECYCLE_ROOM, Letter, PAYLOAD_ROOM};
use crate::journal::Journal;
use crate::message::{Accepted, BranchMessage, Event};
use crate::metrics::BranchMetrics;
use crate::record::{Line, Recorder, effects_without_content, without_content};
use crate::state::{BranchIdentity, BranchState, Settings};
use crate::turns::{Turn, Turns, TurnsAtHost};
use desk::{Batch, Desk};

/// How many Git jobs run at once, in all branches. Each takes a thread of the runtime's pool, of which there are 512,
/// and may wait for another one: to write the journal, or to read a key. So they must not take them all.
static GIT_JOBS: Semaphore = Semaphore::const_new(256);

/// Tells the time. Tests move it by hand.
pub trait Clock: Send + Sync {
    /// Returns this moment.
    fn now(&self) -> Now;
}

/// The clocks of the machine that the process runs on.
#[derive(Debug)]
pub struct SystemClock {
    started: Instant,
}

impl SystemClock {
    /// Starts the monotonic clock at zero.
    pub fn start() -> Self {
        Self {
            started: Instant::now(),
        }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Now {
        let millis = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        let wall = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Now {
            monotonic: millis(self.started.elapsed()),
            wall: millis(wall),
        }
    }
}

/// Everything that a branch writer is started with.
pub struct BranchActor {
    state: BranchState,
    workshop: Option<Workshop>,
    /// A way to the remote that waits for the running job to end.
    next_remote: Option<Box<dyn repository::Remote>>,
    inbox: mpsc::Receiver<Envelope>,
    /// What the inbox held and nobody has opened.
    waiting: VecDeque<Envelope>,
    /// What is fed once nothing waits any more. From then on nothing is taken in.
    last: Option<Event>,
    takes_in: bool,
    desk: Desk,
    intake: watch::Sender<IntakeState>,
    publisher: Publisher<BranchView>,
    clock: Arc<dyn Clock>,
    occurrences: mpsc::Sender<Occurrence>,
    metrics: BranchMetrics,
    recorder: Option<(Recorder, String)>,
    turns: TurnsAtHost,
    /// A turn that was asked for.
    coming: Option<Coming>,
    /// The turn that came, until a job has it.
    leave: Option<Leave>,
    job: Option<Job>,
    /// A cycle was asked for and there is nothing to run it with.
    cannot_start: bool,
    spare: Box<dyn Fn() -> Option<Workshop> + Send>,
}

/// What a Git job needs before it may begin: a turn at the host, and a thread.
type Leave = (Turn, Option<SemaphorePermit<'static>>);
type Coming = Pin<Box<dyn Future<Output = Leave> + Send>>;

/// A Git job that runs.
type Job = Pin<Box<dyn Future<Output = JobEnd> + Send>>;
type JobEnd = Result<(Workshop, CycleOutcome), JoinError>;

/// What joins a branch writer to the rest of the process.
pub struct Surroundings {
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Where people are told what happened; a full channel drops and counts.
    pub occurrences: mpsc::Sender<Occurrence>,
    /// What is counted.
    pub metrics: BranchMetrics,
    /// Where steps are written down, if anywhere.
    pub recorder: Option<Recorder>,
    /// Where accepted writes are kept until they are settled, if anywhere.
    pub journal: Option<Box<dyn Journal>>,
    /// How long the journal may take to be written before changes are taken without it, in milliseconds (usually
    /// 30,000).
    pub disk_patience: Millis,
    /// Which types are sensitive now; what an earlier writer accepted may have been judged by another list.
    pub sensitivity: Sensitivity,
    /// What all branch writers of the process share, so that not all of them speak with one host at once.
    pub turns: Arc<Turns>,
    /// Makes a new workshop after a job broke down and took the old one with it.
    pub spare: Box<dyn Fn() -> Option<Workshop> + Send>,
}

impl BranchActor {
    /// Prepares a branch writer and the handle to talk to it. It does nothing until it is [`run`](Self::run).
    pub fn new(
        identity: BranchIdentity,
        settings: Settings,
        committer: model::Signature,
        workshop: Workshop,
        around: Surroundings,
    ) -> (Self, BranchHandle, Reader<BranchView>) {
        let name = identity.key.to_string();
        if let Some(recorder) = &around.recorder {
            recorder.append(&Line::Started {
                identity: identity.clone(),
                settings: settings.clone(),
                committer: committer.clone(),
            });
        }
        let desk = Desk::new(
            around.journal,
            around.sensitivity,
            around.disk_patience,
            identity.key.clone(),
            Arc::clone(&around.clock),
            around.metrics.clone(),
        );
        let turns = around.turns.at_host_of(&identity.repository);
        let state = BranchState::new(identity, settings, committer);
        let (sender, inbox) = mpsc::channel(PAYLOAD_ROOM + LIFECYCLE_ROOM);
        let (intake, intake_reader) = watch::channel(IntakeState::Open);
        let publisher = Publisher::new(state.view());
        let reader = publisher.reader();
        let handle = BranchHandle {
            inbox: sender,
            room: Arc::new(Semaphore::new(PAYLOAD_ROOM)),
            intake: intake_reader,
            clock: Arc::clone(&around.clock),
        };
        let actor = Self {
            state,
            workshop: Some(workshop),
            next_remote: None,
            inbox,
            waiting: VecDeque::new(),
            last: None,
            takes_in: true,
            desk,
            intake,
            publisher,
            clock: around.clock,
            occurrences: around.occurrences,
            metrics: around.metrics,
            recorder: around.recorder.map(|recorder| (recorder, name)),
            turns,
            coming: None,
            leave: None,
            job: None,
            cannot_start: false,
            spare: around.spare,
        };
        (actor, handle, reader)
    }

    /// Runs until the machine has stopped. Cancelling the token asks it to publish what it has and stop.
    /// Returns how many writes could not be published.
    pub async fn run(mut self, shutdown: CancellationToken) -> usize {
        let mut asked = false;
        let Some(first) = self.recover(&shutdown).await else {
            return 0;
        };
        let mut ended = self.feed(first);
        while ended.is_none() {
            let batch = tokio::select! { biased;
                () = shutdown.cancelled(), if !asked => {
                    asked = true;
                    self.wind_down(Event::ShutDown);
                    Batch::default()
                }
                () = std::future::ready(()), if self.cannot_start => {
                    self.cannot_start = false;
                    Event::CycleLost.into()
                }
                leave = join(&mut self.coming), if self.coming.is_some() => {
                    self.coming = None;
                    self.leave = Some(leave);
                    Event::TurnCame.into()
                }
                outcome = join(&mut self.job), if self.job.is_some() => self.take_back(outcome).into(),
                batch = self.desk.next(self.clock.as_ref()) => batch,
                () = std::future::ready(()), if self.can_take_waiting() => self.take_waiting(),
                envelope = self.inbox.recv(), if self.takes_in && !self.desk.is_busy() => {
                    self.receive(envelope);
                    Batch::default()
                }
                () = sleep_until(self.state.next_deadline(), self.clock.as_ref()) => {
                    Event::Deadline.into()
                }
            };
            for event in batch.events {
                ended = ended.or(self.feed(event));
            }
            for taken in batch.taken {
                // Whoever handed it over may have stopped waiting.
                let _gone = taken.send(());
            }
            self.publish();
        }
        // A turn that may still come is somebody else's.
        self.coming = None;
        self.leave = None;
        self.desk.close(self.clock.as_ref()).await;
        ended.unwrap_or_default()
    }

    /// Reads what an earlier writer left, which comes before everything else, and returns the first event. Nothing is
    /// written before that: what it holds is older than what comes in. While the disk is silent people are told, letters
    /// are taken and wait, and a process that stops does not wait.
    async fn recover(&mut self, shutdown: &CancellationToken) -> Option<Event> {
        let Some(mut reading) = self.desk.read() else {
            return Some(Event::Deadline);
        };
        let silent_at = Some(self.desk.silent_at());
        let mut is_told = false;
        let clock = Arc::clone(&self.clock);
        let read = loop {
            tokio::select! { biased;
                read = &mut reading => break read,
                () = shutdown.cancelled(), if is_told => return None,
                () = sleep_until(silent_at, clock.as_ref()), if !is_told => {
                    is_told = true;
                    self.desk.tell_unread();
                    self.publish();
                }
                envelope = self.inbox.recv(), if self.takes_in => self.receive(envelope),
            }
        };
        let recovered = self.desk.take_read(read).await;
        Some(recovered.unwrap_or(Event::Deadline))
    }

    /// Takes nothing more in. What was handed over before is served first, and the event last of all.
    fn wind_down(&mut self, last: Event) {
        self.inbox.close();
        self.takes_in = false;
        while let Ok(envelope) = self.inbox.try_recv() {
            self.waiting.push_back(envelope);
        }
        // A process that stops does not wait for a branch that is given up.
        self.last = Some(last);
    }

    /// Notes what the inbox holds, in order.
    fn receive(&mut self, envelope: Option<Envelope>) {
        let Some(envelope) = envelope else {
            // Everybody let go of the handle: nothing more will come.
            return self.wind_down(Event::ShutDown);
        };
        self.waiting.push_back(envelope);
        while let Ok(envelope) = self.inbox.try_recv() {
            self.waiting.push_back(envelope);
        }
    }

    fn can_take_waiting(&self) -> bool {
        !self.desk.is_busy() && (!self.waiting.is_empty() || self.last.is_some())
    }

    /// Takes what waits, as much of it as the disk is written for at once. Returns what needs no disk.
    fn take_waiting(&mut self) -> Batch {
        let mut batch = Batch::default();
        while let Some(envelope) = self.waiting.pop_front() {
            // The folder of a target has to be known before a change for it is written down.
            let is_settings = matches!(
                envelope.letter,
                Letter::Message(BranchMessage::ConfigureTarget(_))
            );
            if is_settings && batch.has_deliveries() {
                self.waiting.push_front(envelope);
                break;
            }
            self.put(envelope, &mut batch);
            if is_settings {
                break;
            }
        }
        let ready = if batch.has_deliveries() {
            self.desk.write(batch)
        } else {
            Some(batch)
        };
        let mut ready = ready.unwrap_or_default();
        if self.waiting.is_empty() && !self.desk.is_busy() {
            ready.events.extend(self.last.take());
        }
        ready
    }

    fn put(&mut self, envelope: Envelope, batch: &mut Batch) {
        let arrived = envelope.arrived;
        let message = match envelope.letter {
            Letter::Delivery(delivery) => {
                let folder = self.state.folder_of(&delivery.target);
                batch.folders.push(folder);
                let number = self.desk.number();
                let delivery = *delivery;
                BranchMessage::Deliver(Box::new(Accepted { number, delivery }))
            }
            Letter::Message(message) => message,
            Letter::Remote(remote) => {
                self.next_remote = Some(remote);
                BranchMessage::CredentialChanged
            }
        };
        let event = Event::Received { arrived, message };
        if matches!(
            event,
            Event::Received {
                message: BranchMessage::Retire,
                ..
            }
        ) {
            return self.wind_down(event);
        }
        batch.events.push(event);
        batch.taken.extend(envelope.taken);
        batch.room.extend(envelope.room);
    }

    fn feed(&mut self, event: Event) -> Option<usize> {
        let now = self.clock.now();
        let recorded = self.recorder.as_ref().map(|_| without_content(&event));
        let effects = self.state.step(now, event);
        if let (Some((recorder, branch)), Some(event)) = (&self.recorder, recorded) {
            let effects = effects_without_content(&effects);
            recorder.append(&Line::Step {
                branch: branch.clone(),
                now,
                event,
                effects,
            });
        }
        let mut ended = None;
        for effect in effects {
            match effect {
                Effect::AskForTurn => self.ask_for_turn(),
                Effect::RunCycle(request) => self.start(*request),
                Effect::Announce(occurrence) => self.announce(*occurrence),
                Effect::Settle(settled) => self.desk.settle(settled),
                Effect::Stopped { unpublished } => ended = Some(unpublished),
            }
        }
        self.intake.send_if_modified(|current| {
            let changed = *current != self.state.intake();
            *current = self.state.intake();
            changed
        });
        ended
    }

    fn publish(&self) {
        let mut view = self.state.view();
        view.journal = self.desk.state().clone();
        self.publisher.set(view);
    }

    fn ask_for_turn(&mut self) {
        let turn = self.turns.clone().wait();
        self.coming = Some(Box::pin(async move {
            let turn = turn.await;
            // It is never closed; without one the job would run all the same.
            (turn, GIT_JOBS.acquire().await.ok())
        }));
    }

    fn start(&mut self, request: CycleRequest) {
        let leave = self.leave.take();
        let workshop = self.workshop.take().or_else(|| (self.spare)());
        let (Some(mut workshop), Some((turn, thread))) = (workshop, leave) else {
            self.cannot_start = true;
            return;
        };
        if let Some(remote) = self.next_remote.take() {
            workshop.use_remote(remote);
        }
        if let Some(ledger) = self.desk.ledger() {
            workshop.use_ledger(ledger);
        }
        let metrics = self.metrics.clone();
        let work = move || {
            // A job goes on when nobody waits for it any more, and has its thread until then.
            let _held = thread;
            let started = Instant::now();
            let may_push = request.publish;
            let drafts = request.drafts.clone();
            let outcome = workshop.run(request);
            metrics.note_cycle(&outcome, may_push, started.elapsed());
            for decided in &outcome.drafts {
                if let Some(draft) = drafts.iter().find(|draft| draft.id == decided.id) {
                    metrics.note_draft(draft, &decided.result);
                }
            }
            (workshop, outcome)
        };
        let work = tokio::task::spawn_blocking(work);
        self.job = Some(Box::pin(turn.during(work)));
    }

    fn take_back(&mut self, outcome: JobEnd) -> Event {
        self.job = None;
        match outcome {
            Ok((workshop, outcome)) => {
                self.workshop = Some(workshop);
                if let Some(fault) = &outcome.fault {
                    let branch = &self.state.identity().key;
                    tracing::warn!(%branch, kind = ?fault.kind, "cannot publish: {}", fault.message);
                }
                Event::CycleDone(Box::new(outcome))
            }
            Err(error) => {
                tracing::error!(branch = %self.state.identity().key, %error, "the Git job broke down");
                Event::CycleLost
            }
        }
    }

    fn announce(&self, occurrence: Occurrence) {
        let branch = &self.state.identity().key;
        match &occurrence {
            Occurrence::Published {
                target,
                commit,
                count,
                subject,
                ..
            } => {
                tracing::info!(%branch, %target, %commit, objects = count, %subject, "published");
            }
            Occurrence::Refused { target, refusal } => {
                tracing::warn!(%branch, %target, code = %refusal.code, "not written: {refusal}");
            }
        }
        if self.occurrences.try_send(occurrence).is_err() {
            self.metrics.note_dropped_announcement();
        }
    }
}

async fn join<T>(awaited: &mut Option<Pin<Box<dyn Future<Output = T> + Send>>>) -> T {
    match awaited {
        Some(awaited) => awaited.await,
        None => std::future::pending().await,
    }
}

async fn sleep_until(deadline: Option<u64>, clock: &dyn Clock) {
    match deadline {
        None => std::future::pending().await,
        Some(at) => {
            let wait = at.saturating_sub(clock.now().monotonic);
            tokio::time::sleep(Duration::from_millis(wait)).await;
        }
    }
}

/// Returns who a record's branch works for, how it behaves and who commits, for replaying it.
pub fn restart(line: &Line) -> Option<BranchState> {
    match line {
        Line::Started {
            identity,
            settings,
            committer,
        } => Some(BranchState::new(
            identity.clone(),
            settings.clone(),
            committer.clone(),
        )),
        Line::Step { .. } => None,
    }
}
