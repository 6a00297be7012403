//! Writes the journal beside the loop: one job at a time, which takes everything that waits and syncs once.

use std::sync::Arc;

use board::JournalState;
use model::{FolderPath, GitBranchKey, Millis, Sensitivity};
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};
use tokio::task::JoinHandle;

use super::Clock;
use crate::cycle::{Ledger, LedgerClosed};
use crate::journal::{
    Appended, DeliveryNumber, Durability, Entry, Journal, JournalError, Recovered, Sent, Settled,
};
use crate::message::{BranchMessage, Event};
use crate::metrics::BranchMetrics;

/// How long a journal that failed is left alone, in milliseconds.
const MEND_AFTER: Millis = 10_000;
/// How many notes may wait. There is one Git job, and it waits for each.
const NOTES: usize = 4;

/// Events that are served together, and who waits for that.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) events: Vec<Event>,
    /// The folder that the target of each delivery has, in their order.
    pub(super) folders: Vec<Option<FolderPath>>,
    /// Told once the events are in the machine.
    pub(super) taken: Vec<oneshot::Sender<()>>,
    /// Given back at the same time.
    pub(super) room: Vec<OwnedSemaphorePermit>,
}

impl From<Event> for Batch {
    fn from(event: Event) -> Self {
        Self {
            events: vec![event],
            ..Self::default()
        }
    }
}

impl Batch {
    pub(super) fn has_deliveries(&self) -> bool {
        !self.folders.is_empty()
    }
}

/// A push that the Git job is about to make. It waits for the answer.
struct Note {
    sent: Sent,
    noted: oneshot::Sender<()>,
}

/// A journal, and what an earlier writer left in it.
pub(super) type Read = (Box<dyn Journal>, Recovered);

/// Owns the journal while nothing is written.
pub(super) struct Desk {
    /// `None` while a job holds it, and where no journal is kept.
    journal: Option<Box<dyn Journal>>,
    job: Option<Job>,
    /// A job that has not come back in time. Nobody waits for it; it brings the journal back if it ever ends.
    lost: Option<JoinHandle<Done>>,
    next: DeliveryNumber,
    notes: mpsc::Receiver<Note>,
    /// Notes that were received and not written.
    taken_notes: Vec<Note>,
    note_sender: mpsc::Sender<Note>,
    settled: Vec<Settled>,
    state: JournalState,
    /// The monotonic moment at which a journal that failed is mended.
    mend_at: Option<Millis>,
    sensitivity: Sensitivity,
    /// How long one job may take before nobody waits for it, in milliseconds.
    patience: Millis,
    branch: GitBranchKey,
    clock: Arc<dyn Clock>,
    metrics: BranchMetrics,
}

/// A job that writes, and what waits for it.
struct Job {
    handle: JoinHandle<Done>,
    /// What is written; its events are in `work`.
    batch: Batch,
    notes: Vec<Note>,
    work: Arc<Work>,
    /// The monotonic moment from which it is waited for no longer.
    silent_at: Millis,
}

/// What one job writes.
struct Work {
    events: Vec<Event>,
    folders: Vec<Option<FolderPath>>,
    sent: Vec<Sent>,
    settled: Vec<Settled>,
    must_mend: bool,
}

/// What came of it.
struct Done {
    journal: Box<dyn Journal>,
    /// Whether all of it is written down, whatever became of the journal afterwards.
    is_written: bool,
    result: Result<Appended, JournalError>,
}

impl Desk {
    pub(super) fn new(
        journal: Option<Box<dyn Journal>>,
        sensitivity: Sensitivity,
        patience: Millis,
        branch: GitBranchKey,
        clock: Arc<dyn Clock>,
        metrics: BranchMetrics,
    ) -> Self {
        let (note_sender, notes) = mpsc::channel(NOTES);
        let state = match journal {
            Some(_) => JournalState::Healthy,
            None => JournalState::Off,
        };
        Self {
            journal,
            job: None,
            lost: None,
            next: DeliveryNumber(1),
            notes,
            taken_notes: Vec::new(),
            note_sender,
            settled: Vec::new(),
            state,
            mend_at: None,
            sensitivity,
            patience,
            branch,
            clock,
            metrics,
        }
    }

    /// Starts to read what an earlier writer left.
    pub(super) fn read(&mut self) -> Option<JoinHandle<Read>> {
        let mut journal = self.journal.take()?;
        Some(tokio::task::spawn_blocking(move || {
            let recovered = journal.recover();
            (journal, recovered)
        }))
    }

    /// Says that what an earlier writer left has not been read for too long.
    pub(super) fn tell_unread(&mut self) {
        tracing::error!(branch = %self.branch, "the journal cannot be read, and nothing is written before it is");
        let since = self.clock.now().wall;
        self.state = JournalState::Unread { since };
    }

    pub(super) fn silent_at(&self) -> Millis {
        let now = self.clock.now().monotonic;
        now.saturating_add(self.patience)
    }

    /// Takes what was read, as the event that tells the machine of it.
    pub(super) async fn take_read(
        &mut self,
        read: Result<Read, tokio::task::JoinError>,
    ) -> Option<Event> {
        let (journal, mut recovered) = joined(read).await;
        self.state = JournalState::Healthy;
        self.mend_at = None;
        for recovered in &mut recovered.deliveries {
            recovered.delivery.change.judge(&self.sensitivity);
        }
        self.journal = Some(journal);
        self.next = recovered.next;
        for loss in &recovered.losses {
            tracing::warn!(branch = %self.branch, "journal: {loss}");
        }
        self.metrics
            .note_recovered(recovered.deliveries.len(), recovered.losses.len());
        if let Some(trouble) = recovered.trouble {
            self.fail(&trouble);
        }
        if recovered.deliveries.is_empty() {
            return None;
        }
        let (writes, pushes) = (recovered.deliveries.len(), recovered.sent.len());
        tracing::info!(branch = %self.branch, writes, pushes, "an earlier writer left accepted writes");
        Some(Event::Recovered {
            deliveries: recovered.deliveries,
            sent: recovered.sent,
        })
    }

    /// Returns where the Git job notes its pushes; `None` where no journal is kept.
    pub(super) fn ledger(&self) -> Option<Box<dyn Ledger>> {
        let notes = DeskLedger(self.note_sender.clone());
        (self.state != JournalState::Off).then(|| Box::new(notes) as Box<dyn Ledger>)
    }

    pub(super) fn state(&self) -> &JournalState {
        &self.state
    }

    /// Returns the number of the next change that is accepted.
    pub(super) fn number(&mut self) -> DeliveryNumber {
        let number = self.next;
        self.next = number.next();
        number
    }

    pub(super) fn settle(&mut self, settled: Vec<Settled>) {
        if self.state != JournalState::Off {
            self.settled.extend(settled);
        }
    }

    pub(super) fn is_busy(&self) -> bool {
        self.job.is_some()
    }

    /// Waits for the next thing that is the desk's own to do, and does it: a job that ends, a push to note, the time to
    /// mend, or writes that are settled. Returns the batch that is written, if that was it.
    pub(super) async fn next(&mut self, clock: &dyn Clock) -> Batch {
        if self.is_busy() {
            return self.written(clock).await;
        }
        let has_settled = self.has_settled();
        let mend_at = self.mend_at.filter(|_| self.lost.is_none());
        tokio::select! { biased;
            journal = found(&mut self.lost) => {
                self.lost = None;
                self.journal = Some(journal);
                self.mend_at = Some(clock.now().monotonic);
            }
            Some(note) = self.notes.recv() => self.taken_notes.push(note),
            () = std::future::ready(()), if has_settled => {}
            () = super::sleep_until(mend_at, clock) => {}
        }
        self.write(Batch::default()).unwrap_or_default()
    }

    /// Says whether something waits to be written that nobody waits for.
    fn has_settled(&self) -> bool {
        !self.settled.is_empty() && self.mend_at.is_none()
    }

    /// Starts to write whatever waits, and the batch. Returns the batch when there is nothing to wait for: no journal
    /// is kept, or it failed and its time has not come.
    pub(super) fn write(&mut self, batch: Batch) -> Option<Batch> {
        while let Ok(note) = self.notes.try_recv() {
            self.taken_notes.push(note);
        }
        let notes = std::mem::take(&mut self.taken_notes);
        let now = self.clock.now().monotonic;
        let waits = self.mend_at.is_some_and(|at| now < at);
        let journal = self.journal.take_if(|_| !waits);
        let Some(journal) = journal else {
            let unprotected = u64::try_from(batch.folders.len()).unwrap_or(u64::MAX);
            self.metrics.note_journalled(0, unprotected);
            notes.into_iter().for_each(Note::answer);
            return Some(batch);
        };
        let mut batch = batch;
        let work = Arc::new(Work {
            events: std::mem::take(&mut batch.events),
            folders: batch.folders.clone(),
            sent: notes.iter().map(|note| note.sent.clone()).collect(),
            settled: std::mem::take(&mut self.settled),
            must_mend: self.mend_at.is_some(),
        });
        let shared = Arc::clone(&work);
        self.job = Some(Job {
            handle: tokio::task::spawn_blocking(move || shared.carry_out(journal)),
            batch,
            notes,
            work,
            silent_at: self.silent_at(),
        });
        None
    }

    /// Waits for the running job, or until it has been silent for too long, and returns its batch.
    async fn written(&mut self, clock: &dyn Clock) -> Batch {
        let Some(job) = &mut self.job else {
            return std::future::pending().await;
        };
        let silent_at = Some(job.silent_at);
        let done = tokio::select! { biased;
            ended = &mut job.handle => Some(joined(ended).await),
            () = super::sleep_until(silent_at, clock) => None,
        };
        let Some(job) = self.job.take() else {
            return Batch::default();
        };
        // Whether or not it could be noted, the push goes on: mirroring does not stop with the disk.
        job.notes.into_iter().for_each(Note::answer);
        let mut batch = job.batch;
        let deliveries = u64::try_from(batch.folders.len()).unwrap_or(u64::MAX);
        let (is_written, result) = match done {
            Some(done) => {
                self.journal = Some(done.journal);
                (done.is_written, done.result)
            }
            None => {
                self.lost = Some(job.handle);
                let seconds = self.patience / 1000;
                (false, Err(JournalError::Silent { seconds }))
            }
        };
        let work = Arc::try_unwrap(job.work).unwrap_or_else(|shared| shared.again());
        batch.events = work.events;
        if !is_written {
            self.settled.splice(0..0, work.settled);
        }
        match result {
            Ok(appended) => {
                self.metrics
                    .note_journalled(appended.kept, appended.unkeyed);
                if self.mend_at.take().is_some() {
                    tracing::info!(branch = %self.branch, "the journal works again");
                }
                self.state = JournalState::Healthy;
            }
            Err(error) => {
                self.metrics.note_journalled(0, deliveries);
                self.fail(&error);
            }
        }
        batch
    }

    /// Writes what is settled and lets go of the journal.
    pub(super) async fn close(mut self, clock: &dyn Clock) {
        if self.is_busy() {
            self.written(clock).await;
        }
        if self.has_settled() && self.write(Batch::default()).is_none() {
            self.written(clock).await;
        }
    }

    fn fail(&mut self, error: &JournalError) {
        let now = self.clock.now();
        let since = match &self.state {
            JournalState::Failing { since, .. } => *since,
            JournalState::Off | JournalState::Healthy | JournalState::Unread { .. } => {
                tracing::error!(branch = %self.branch, %error, "the journal fails; changes are mirrored without it");
                now.wall
            }
        };
        self.state = JournalState::Failing {
            since,
            message: error.to_string(),
        };
        self.mend_at = Some(now.monotonic.saturating_add(MEND_AFTER));
    }
}

impl Work {
    fn carry_out(&self, mut journal: Box<dyn Journal>) -> Done {
        let result = self.append(journal.as_mut());
        let is_written = result.is_ok();
        let result = result.and_then(|appended| journal.tidy().map(|()| appended));
        Done {
            journal,
            is_written,
            result,
        }
    }

    fn append(&self, journal: &mut dyn Journal) -> Result<Appended, JournalError> {
        if self.must_mend {
            journal.mend()?;
        }
        // What is settled first, so that a record of a push never stands before the end of the one before it.
        let mut entries: Vec<_> = self.settled.iter().map(Entry::Settled).collect();
        entries.extend(self.accepted());
        entries.extend(self.sent.iter().map(Entry::Sent));
        if entries.is_empty() {
            return Ok(Appended::default());
        }
        let somebody_waits = !self.folders.is_empty() || !self.sent.is_empty();
        let durability = if somebody_waits {
            Durability::Synced
        } else {
            Durability::Written
        };
        journal.append(&entries, durability)
    }

    fn accepted(&self) -> impl Iterator<Item = Entry<'_>> {
        let deliveries = self.events.iter().filter_map(|event| match event {
            Event::Received {
                message: BranchMessage::Deliver(accepted),
                ..
            } => Some(accepted),
            _ => None,
        });
        deliveries
            .zip(&self.folders)
            .map(|(accepted, folder)| Entry::Accepted {
                number: accepted.number,
                folder: folder.clone(),
                delivery: &accepted.delivery,
            })
    }

    /// Returns what is needed elsewhere of work that still goes on.
    fn again(&self) -> Self {
        Self {
            events: self.events.clone(),
            folders: Vec::new(),
            sent: Vec::new(),
            settled: self.settled.clone(),
            must_mend: self.must_mend,
        }
    }
}

impl Note {
    fn answer(self) {
        // A job that was cut off does not wait any more.
        let _gone = self.noted.send(());
    }
}

/// The desk, as the Git job sees it.
struct DeskLedger(mpsc::Sender<Note>);

impl Ledger for DeskLedger {
    fn note(&self, sent: &Sent) -> Result<(), LedgerClosed> {
        let (noted, answer) = oneshot::channel();
        let note = Note {
            sent: sent.clone(),
            noted,
        };
        self.0.blocking_send(note).map_err(|_| LedgerClosed)?;
        answer.blocking_recv().map_err(|_| LedgerClosed)
    }
}

/// Waits for a job that nobody waited for any more, and returns its journal.
async fn found(lost: &mut Option<JoinHandle<Done>>) -> Box<dyn Journal> {
    match lost {
        Some(lost) => joined(lost.await).await.journal,
        None => std::future::pending().await,
    }
}

/// Goes on with what a job returned. A job that broke down takes the branch writer with it, for it held what was to be
/// accepted; nobody was told that it is, and the writer that follows reads the journal.
async fn joined<T>(ended: Result<T, tokio::task::JoinError>) -> T {
    match ended {
        Ok(value) => value,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime ends, and this task with it.
            Err(_) => std::future::pending().await,
        },
    }
}
