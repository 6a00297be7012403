//! Runs the machine: inbox, clock, timers, the Git job. No decisions.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use board::{BranchView, IntakeState, Publisher, Reader};
use model::Now;
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::cycle::{CycleOutcome, CycleRequest, Workshop};
use crate::effect::{Effect, Occurrence};
use crate::handle::{BranchHandle, Envelope, LIFECYCLE_ROOM, Letter, PAYLOAD_ROOM};
use crate::message::{BranchMessage, Event};
use crate::metrics::BranchMetrics;
use crate::record::{Line, Recorder, effects_without_content, without_content};
use crate::state::{BranchIdentity, BranchState, Settings};

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
    intake: watch::Sender<IntakeState>,
    publisher: Publisher<BranchView>,
    clock: Arc<dyn Clock>,
    occurrences: mpsc::Sender<Occurrence>,
    metrics: BranchMetrics,
    recorder: Option<(Recorder, String)>,
    job: Option<JoinHandle<(Workshop, CycleOutcome)>>,
    /// A cycle was asked for and there is nothing to run it with.
    cannot_start: bool,
    spare: Box<dyn Fn() -> Option<Workshop> + Send>,
}

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
            intake,
            publisher,
            clock: around.clock,
            occurrences: around.occurrences,
            metrics: around.metrics,
            recorder: around.recorder.map(|recorder| (recorder, name)),
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
        // The first step makes the machine look at the remote before anybody sends anything.
        let mut ended = self.feed(Event::Deadline);
        while ended.is_none() {
            let events = tokio::select! { biased;
                () = shutdown.cancelled(), if !asked => {
                    asked = true;
                    self.wind_down(Event::ShutDown)
                }
                () = std::future::ready(()), if self.cannot_start => {
                    self.cannot_start = false;
                    vec![Event::CycleLost]
                }
                outcome = join(&mut self.job), if self.job.is_some() => vec![self.take_back(outcome)],
                envelope = self.inbox.recv(), if !self.inbox.is_closed() => match envelope {
                    Some(envelope) => self.open(envelope),
                    // Everybody let go of the handle: nothing more will come.
                    None => self.wind_down(Event::ShutDown),
                },
                () = sleep_until(self.state.next_deadline(), self.clock.as_ref()) => vec![Event::Deadline],
            };
            for event in events {
                ended = ended.or(self.feed(event));
            }
        }
        ended.unwrap_or_default()
    }

    /// Takes nothing more in. What was handed over before is served first, because whoever handed it over was
    /// told that it is taken.
    fn wind_down(&mut self, last: Event) -> Vec<Event> {
        self.inbox.close();
        let mut events = Vec::new();
        while let Ok(envelope) = self.inbox.try_recv() {
            events.push(self.read(envelope));
        }
        events.push(last);
        events
    }

    fn open(&mut self, envelope: Envelope) -> Vec<Event> {
        match self.read(envelope) {
            retire @ Event::Received {
                message: BranchMessage::Retire,
                ..
            } => self.wind_down(retire),
            event => vec![event],
        }
    }

    fn read(&mut self, envelope: Envelope) -> Event {
        let arrived = envelope.arrived;
        match envelope.letter {
            Letter::Message(message) => Event::Received { arrived, message },
            Letter::Remote(remote) => {
                self.next_remote = Some(remote);
                Event::Received {
                    arrived,
                    message: BranchMessage::CredentialChanged,
                }
            }
        }
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
                Effect::RunCycle(request) => self.start(*request),
                Effect::Announce(occurrence) => self.announce(*occurrence),
                Effect::Stopped { unpublished } => ended = Some(unpublished),
            }
        }
        self.intake.send_if_modified(|current| {
            let changed = *current != self.state.intake();
            *current = self.state.intake();
            changed
        });
        self.publisher.set(self.state.view());
        ended
    }

    fn start(&mut self, request: CycleRequest) {
        let workshop = self.workshop.take().or_else(|| (self.spare)());
        let Some(mut workshop) = workshop else {
            self.cannot_start = true;
            return;
        };
        if let Some(remote) = self.next_remote.take() {
            workshop.use_remote(remote);
        }
        let metrics = self.metrics.clone();
        self.job = Some(tokio::task::spawn_blocking(move || {
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
        }));
    }

    fn take_back(
        &mut self,
        outcome: Result<(Workshop, CycleOutcome), tokio::task::JoinError>,
    ) -> Event {
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

async fn join(
    job: &mut Option<JoinHandle<(Workshop, CycleOutcome)>>,
) -> Result<(Workshop, CycleOutcome), tokio::task::JoinError> {
    match job {
        Some(job) => job.await,
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
