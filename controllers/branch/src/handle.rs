//! How everybody else talks to the branch writer.

use std::sync::Arc;

use board::IntakeState;
use model::{Delivery, Snapshot};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};

use crate::message::BranchMessage;
use crate::shell::Clock;

/// How many payload messages may wait.
pub(crate) const PAYLOAD_ROOM: usize = 128;
/// How many places are kept free for messages that must never wait for payload.
pub(crate) const LIFECYCLE_ROOM: usize = 32;

/// The branch writer is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the branch writer has ended")]
pub struct Closed;

/// Talks to one branch writer. Cloning is cheap.
#[derive(Clone)]
pub struct BranchHandle {
    pub(crate) inbox: mpsc::Sender<Envelope>,
    pub(crate) room: Arc<Semaphore>,
    pub(crate) intake: watch::Receiver<IntakeState>,
    pub(crate) clock: Arc<dyn Clock>,
}

/// A message on its way, with the room that it takes up.
pub(crate) struct Envelope {
    pub(crate) arrived: model::Now,
    pub(crate) letter: Letter,
    /// Told once the letter is in the machine, and a change in the journal as well.
    pub(crate) taken: Option<oneshot::Sender<()>>,
    /// Given back when the letter is in the machine.
    pub(crate) room: Option<OwnedSemaphorePermit>,
}

/// What an envelope holds.
pub(crate) enum Letter {
    /// A change, which gets its number when it is taken.
    Delivery(Box<Delivery>),
    /// A message for the machine.
    Message(BranchMessage),
    /// A new way to reach the remote, for the shell: it holds credentials, which the machine never sees.
    Remote(Box<dyn repository::Remote>),
}

impl BranchHandle {
    /// Hands over one change. Waits while the branch takes nothing in and while the inbox is full; once it
    /// returns, the change is in the journal and in the machine. A future that is dropped meanwhile leaves open
    /// whether it is.
    ///
    /// # Errors
    /// Returns [`Closed`] when the branch writer has ended.
    pub async fn offer(&self, delivery: Delivery) -> Result<(), Closed> {
        self.enqueue(delivery).await?.await
    }

    /// Hands over one change in the manner of [`offer`](Self::offer), and returns as soon as its place in the order is
    /// fixed. The change is accepted when the future that it returns is done.
    ///
    /// # Errors
    /// Returns [`Closed`] when the branch writer has ended.
    pub async fn enqueue(
        &self,
        delivery: Delivery,
    ) -> Result<impl Future<Output = Result<(), Closed>> + Send + use<>, Closed> {
        self.payload(Letter::Delivery(Box::new(delivery))).await
    }

    /// Hands over the complete set of a collection, in the manner of [`offer`](Self::offer).
    ///
    /// # Errors
    /// Returns [`Closed`] when the branch writer has ended.
    pub async fn snapshot(&self, snapshot: Snapshot) -> Result<(), Closed> {
        let message = BranchMessage::Snapshot(Box::new(snapshot));
        self.payload(Letter::Message(message)).await?.await
    }

    /// Tells the branch writer something that carries no content. Never waits for payload.
    ///
    /// # Errors
    /// Returns [`Closed`] when the branch writer has ended.
    pub async fn tell(&self, message: BranchMessage) -> Result<(), Closed> {
        debug_assert!(
            !message.is_payload(),
            "payload goes through offer or snapshot"
        );
        self.send(Letter::Message(message), None, None).await
    }

    /// Replaces the way to the remote, after a credential changed; the next cycle uses it.
    ///
    /// # Errors
    /// Returns [`Closed`] when the branch writer has ended.
    pub async fn use_remote(&self, remote: Box<dyn repository::Remote>) -> Result<(), Closed> {
        self.send(Letter::Remote(remote), None, None).await
    }

    /// Says whether the branch takes nothing in at the moment.
    pub fn intake_paused(&self) -> bool {
        *self.intake.borrow() == IntakeState::Paused
    }

    async fn payload(
        &self,
        letter: Letter,
    ) -> Result<impl Future<Output = Result<(), Closed>> + Send + use<>, Closed> {
        let mut intake = self.intake.clone();
        intake
            .wait_for(|state| *state == IntakeState::Open)
            .await
            .map_err(|_| Closed)?;
        let room = Arc::clone(&self.room)
            .acquire_owned()
            .await
            .map_err(|_| Closed)?;
        let (taken, answer) = oneshot::channel();
        self.send(letter, Some(taken), Some(room)).await?;
        Ok(async move { answer.await.map_err(|_| Closed) })
    }

    async fn send(
        &self,
        letter: Letter,
        taken: Option<oneshot::Sender<()>>,
        room: Option<OwnedSemaphorePermit>,
    ) -> Result<(), Closed> {
        let envelope = Envelope {
            arrived: self.clock.now(),
            letter,
            taken,
            room,
        };
        self.inbox.send(envelope).await.map_err(|_| Closed)
    }
}
