//! How others talk to a source.

use model::{Collection, TargetKey};
use tokio::sync::mpsc;

use crate::declaration::TargetDeclaration;

/// How many commands may wait. A sender waits for room; the source never waits for a sender.
const INBOX_SIZE: usize = 32;

/// Creates the two ends of a source's inbox.
pub fn channel() -> (SourceHandle, Inbox) {
    let (sender, receiver) = mpsc::channel(INBOX_SIZE);
    (SourceHandle { sender }, Inbox(receiver))
}

/// The end that a source reads; goes into [`Source::run`](crate::Source::run).
#[derive(Debug)]
pub struct Inbox(pub(crate) mpsc::Receiver<Command>);

/// Talks to a source. Cheap to clone.
#[derive(Debug, Clone)]
pub struct SourceHandle {
    sender: mpsc::Sender<Command>,
}

/// The source has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the source has ended; look up the one that runs now")]
pub struct SourceGone;

/// What a source can be asked to do.
#[derive(Debug)]
pub(crate) enum Command {
    /// Mirror this target as declared.
    Declare(TargetDeclaration),
    /// Stop mirroring the target.
    Withdraw(TargetKey),
    /// Observe one collection of the target anew, or all of them.
    Resync(TargetKey, Option<Collection>),
    /// Ask the cluster now what it serves.
    RefreshDiscovery,
}

impl SourceHandle {
    /// Mirrors a target, or changes what is mirrored for it. Watches that the declaration does not touch run
    /// on.
    ///
    /// # Errors
    /// Fails when the source has ended.
    pub async fn declare(&self, declaration: TargetDeclaration) -> Result<(), SourceGone> {
        self.send(Command::Declare(declaration)).await
    }

    /// Stops every watch of the target. What was not handed over yet is dropped.
    ///
    /// # Errors
    /// Fails when the source has ended.
    pub async fn withdraw(&self, target: TargetKey) -> Result<(), SourceGone> {
        self.send(Command::Withdraw(target)).await
    }

    /// Asks for a fresh snapshot of one collection, or of every collection of the target. A handover that is
    /// under way is finished first.
    ///
    /// # Errors
    /// Fails when the source has ended.
    pub async fn resync(
        &self,
        target: TargetKey,
        collection: Option<Collection>,
    ) -> Result<(), SourceGone> {
        self.send(Command::Resync(target, collection)).await
    }

    /// Asks the cluster now what it serves, for callers who know that it changed.
    ///
    /// # Errors
    /// Fails when the source has ended.
    pub async fn refresh_discovery(&self) -> Result<(), SourceGone> {
        self.send(Command::RefreshDiscovery).await
    }

    async fn send(&self, command: Command) -> Result<(), SourceGone> {
        self.sender.send(command).await.map_err(|_| SourceGone)
    }
}
