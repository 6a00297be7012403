//! Every accepted write on the disk until it is published or refused (D33).
//!
//! A journal holds what the local store and a replay of the cluster cannot bring back: whose change each one was, and
//! which commits were on their way when the process ended. It decides nothing. The shell appends an [`Entry`] before
//! anybody is told that a write is accepted, or before the first byte of a pack goes out, and once more when it is
//! settled; after a restart the machine is fed what [`Journal::recover`] found.
//!
//! Snapshots are not written down: a watch that starts again brings a newer one, and the operator is their author.
//!
//! Reading order: [`numbers`] (how writes are told apart), `frame` (how one record lies in the file and what is damage),
//! `entry` (what a record says, and the encryption of sensitive content), [`file`](mod@file) (the journal on a disk).

mod entry;
pub mod file;
mod frame;
pub mod numbers;
#[cfg(test)]
mod tests;

use std::io;
use std::path::PathBuf;

use model::{CommitId, Delivery, FolderPath};
use serde::{Deserialize, Serialize};

pub use file::{FileJournal, Owner};
pub use numbers::{DeliveryNumber, Numbers};
pub use sealing::JournalKey;

/// Keeps accepted writes until they are settled. One writer owns it; nothing else touches what it keeps.
pub trait Journal: Send + 'static {
    /// Reads what an earlier writer left unsettled and gets ready to append. Called once, first.
    fn recover(&mut self) -> Recovered;

    /// Appends the entries in order. With [`Durability::Synced`] they outlive a crash of the machine once it returns.
    ///
    /// # Errors
    /// Fails when they may not last. Nothing can be appended until [`mend`](Self::mend) has worked.
    fn append(
        &mut self,
        entries: &[Entry<'_>],
        durability: Durability,
    ) -> Result<Appended, JournalError>;

    /// Makes the journal usable after a failure. What can still be read of the unsettled writes is kept.
    ///
    /// # Errors
    /// Fails while what caused the failure lasts.
    fn mend(&mut self) -> Result<(), JournalError>;

    /// Drops what is settled, when there is enough of it.
    ///
    /// # Errors
    /// Fails as [`append`](Self::append) does.
    fn tidy(&mut self) -> Result<(), JournalError>;
}

/// One thing to write down.
#[derive(Debug, Clone)]
pub enum Entry<'a> {
    /// A write is accepted.
    Accepted {
        /// Its number.
        number: DeliveryNumber,
        /// The folder that its target had at that moment, if it was known.
        folder: Option<FolderPath>,
        /// The write.
        delivery: &'a Delivery,
    },
    /// A commit is about to be sent.
    Sent(&'a Sent),
    /// Writes need nothing more.
    Settled(&'a Settled),
}

/// A commit that is about to be sent, or was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent {
    /// The commit; those below it that are sent along with it are not named.
    pub commit: CommitId,
    /// The tip that it is sent on, below which it cannot be.
    pub on: Option<CommitId>,
    /// The writes that are in it and in the commits sent along with it.
    pub numbers: Numbers,
}

/// Writes that need nothing more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settled {
    /// Which.
    pub numbers: Numbers,
    /// Why not.
    pub how: Settlement,
}

/// Why a write needs nothing more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Settlement {
    /// It is on the remote.
    Published,
    /// The remote holds what it says already.
    Unneeded,
    /// It was judged and cannot be written.
    Refused,
    /// Its target takes nothing, is another one by now, or did not come back. A snapshot brings the state.
    Dropped,
}

/// How far appended entries last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// They outlive the machine.
    Synced,
    /// They outlive the process.
    Written,
}

/// What was appended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Appended {
    /// Accepted writes that are written down.
    pub kept: u64,
    /// Accepted writes of sensitive objects that are not, because there is no key to encrypt them with.
    pub unkeyed: u64,
}

/// What an earlier writer left.
#[derive(Debug, Default)]
pub struct Recovered {
    /// Accepted writes that are not settled, in order.
    pub deliveries: Vec<RecoveredDelivery>,
    /// Commits that were sent with some of them, and whose fate is not known, in order.
    pub sent: Vec<Sent>,
    /// The first number that was never given.
    pub next: DeliveryNumber,
    /// What was lost and why. People are told.
    pub losses: Vec<String>,
    /// Why nothing can be appended, if so.
    pub trouble: Option<JournalError>,
}

/// A write that was accepted by an earlier writer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecoveredDelivery {
    /// Its number.
    pub number: DeliveryNumber,
    /// The folder that it was meant for, if it was known.
    pub folder: Option<FolderPath>,
    /// The write.
    pub delivery: Delivery,
}

/// Why a journal cannot keep what it is given.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The disk failed.
    #[error("{action} {} failed: {source}; free space on the disk or repair it", path.display())]
    Disk {
        /// What was tried.
        action: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// The disk does not answer, neither with success nor with failure.
    #[error("the disk has not answered for {seconds} s; repair it")]
    Silent {
        /// After how many seconds nobody waited any more.
        seconds: u64,
    },
    /// Somebody removed the file.
    #[error("{} was removed while it was in use", path.display())]
    Vanished {
        /// Which file.
        path: PathBuf,
    },
    /// Somebody removed the folder, and another process has begun a journal in the new one.
    #[error(
        "another process writes {}: give each operator a data folder of its own",
        path.display()
    )]
    Taken {
        /// Which file.
        path: PathBuf,
    },
    /// An earlier failure was not mended.
    #[error("{} is not open", path.display())]
    Closed {
        /// Which file.
        path: PathBuf,
    },
}
