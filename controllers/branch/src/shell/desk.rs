//! Writes the journal beside the loop: one job at a time, which takes everything that waits and syncs once.

use std::sync::Arc;

use board::JournalState;
use model::{FolderPath, GitBranchKey, Millis};
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};
use tokio::task::JoinHandle;

use super::Clock;
use crate::cycle::{Ledger, LedgerClosed};
use crate::journal::{
    Appended, DeliveryNumber, Durability, Entry, Journal, JournalError, Sent, Settled,
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

    /// Returns what has to be written down.
    fn entries(&self) -> Vec<Entry<'_>> {
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
            .collect()
    }
}

/// A push that the Git job is about to make. It waits for the answer.
struct Note {
    sent: Sent,
    noted: oneshot::Sender<()>,
}

/// Owns the journal while nothing is written.
pub(super) struct Desk {
    /// `None` while a job holds it, and where no journal is kept.
    journal: Option<Box<dyn Journal>>,
    job: Option<JoinHandle<Done>>,
    next: DeliveryNumber,
    notes: mpsc::Receiver<Note>,
    /// Notes that were received and not written.
    taken_notes: Vec<Note>,
    note_sender: mpsc::Sender<Note>,
    settled: Vec<Settled>,
    state: JournalState,
    /// The monotonic moment at which a journal that failed is mended.
    mend_at: Option<Millis>,
    branch: GitBranchKey,
    clock: Arc<dyn Clock>,
    metrics: BranchMetrics,
}

/// What one job writes.
struct Work {
    batch: Batch,
    notes: Vec<Note>,
    settled: Vec<Settled>,
    must_mend: bool,
}

/// What came of it.
struct Done {
    journal: Box<dyn Journal>,
    batch: Batch,
    /// What has to be written another time.
    unsettled: Vec<Settled>,
    result: Result<Appended, JournalError>,
}

impl Desk {
    pub(super) fn new(
        journal: Option<Box<dyn Journal>>,
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
            next: DeliveryNumber(1),
            notes,
            taken_notes: Vec::new(),
            note_sender,
            settled: Vec::new(),
            state,
            mend_at: None,
            branch,
            clock,
            metrics,
        }
    }

    /// Reads what an earlier writer left, as the event that tells the machine of it.
    pub(super) async fn recover(&mut self) -> Option<Event> {
        let mut journal = self.journal.take()?;
        let read = tokio::task::spawn_blocking(move || {
            let recovered = journal.recover();
            (journal, recovered)
        });
        let (journal, recovered) = joined(read.await).await;
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
            return self.written().await;
        }
        let has_settled = self.has_settled();
        tokio::select! { biased;
            Some(note) = self.notes.recv() => self.taken_notes.push(note),
            () = std::future::ready(()), if has_settled => {}
            () = super::sleep_until(self.mend_at, clock) => {}
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
        let work = Work {
            batch,
            notes,
            settled: std::mem::take(&mut self.settled),
            must_mend: self.mend_at.is_some(),
        };
        self.job = Some(tokio::task::spawn_blocking(move || work.carry_out(journal)));
        None
    }

    /// Waits for the running job and returns the batch that is written.
    async fn written(&mut self) -> Batch {
        let Some(job) = &mut self.job else {
            return std::future::pending().await;
        };
        let done = joined(job.await).await;
        self.job = None;
        self.journal = Some(done.journal);
        self.settled.splice(0..0, done.unsettled);
        let deliveries = u64::try_from(done.batch.folders.len()).unwrap_or(u64::MAX);
        match done.result {
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
        done.batch
    }

    /// Writes what is settled and lets go of the journal.
    pub(super) async fn close(mut self) {
        if self.is_busy() {
            self.written().await;
        }
        if self.has_settled() && self.write(Batch::default()).is_none() {
            self.written().await;
        }
    }

    fn fail(&mut self, error: &JournalError) {
        let now = self.clock.now();
        let since = match &self.state {
            JournalState::Failing { since, .. } => *since,
            JournalState::Off | JournalState::Healthy => {
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
    fn carry_out(self, mut journal: Box<dyn Journal>) -> Done {
        let result = self.append(journal.as_mut());
        // Whether or not it could be noted, the push goes on: mirroring does not stop with the disk.
        self.notes.into_iter().for_each(Note::answer);
        let unsettled = match &result {
            Ok(_) => Vec::new(),
            Err(_) => self.settled,
        };
        let result = result.and_then(|appended| journal.tidy().map(|()| appended));
        Done {
            journal,
            batch: self.batch,
            unsettled,
            result,
        }
    }

    fn append(&self, journal: &mut dyn Journal) -> Result<Appended, JournalError> {
        if self.must_mend {
            journal.mend()?;
        }
        // What is settled first, so that a record of a push never stands before the end of the one before it.
        let mut entries: Vec<_> = self.settled.iter().map(Entry::Settled).collect();
        entries.extend(self.batch.entries());
        entries.extend(self.notes.iter().map(|note| Entry::Sent(&note.sent)));
        if entries.is_empty() {
            return Ok(Appended::default());
        }
        let somebody_waits = self.batch.has_deliveries() || !self.notes.is_empty();
        let durability = if somebody_waits {
            Durability::Synced
        } else {
            Durability::Written
        };
        journal.append(&entries, durability)
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
