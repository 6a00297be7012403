//! What the branch writer is told. Closed enums: whoever adds a case decides what every state does with it.

use model::{Collection, Delivery, FolderPath, Millis, Now, Signature, Snapshot, TargetKey};
use serde::{Deserialize, Serialize};

use crate::cycle::CycleOutcome;
use crate::journal::{DeliveryNumber, RecoveredDelivery, Sent};
use crate::message_text::Wording;

/// One thing that happens to the machine.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Event {
    /// An earlier writer left accepted writes unsettled. Comes before everything else, if at all.
    Recovered {
        /// The writes, in order.
        deliveries: Vec<RecoveredDelivery>,
        /// Commits that were sent with some of them and whose fate is not known, in order.
        sent: Vec<Sent>,
    },
    /// A message that arrived at the given moment. What was due before it is done first.
    Received {
        /// When it arrived, which may be before it is served.
        arrived: Now,
        /// The message.
        message: BranchMessage,
    },
    /// The next deadline has come.
    Deadline,
    /// The turn at the host that was asked for has come: a cycle may run.
    TurnCame,
    /// The cycle that was running has ended.
    CycleDone(Box<CycleOutcome>),
    /// The cycle that was running broke down; its local store is gone.
    CycleLost,
    /// The process stops: publish what is decided and end.
    ShutDown,
}

/// One message to the branch writer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum BranchMessage {
    /// A change of one object.
    Deliver(Box<Accepted>),
    /// The complete set of one collection.
    Snapshot(Box<Snapshot>),
    /// A target is on the branch, with these settings from now on.
    ConfigureTarget(Box<TargetConfig>),
    /// A target is no longer on the branch. What was decided for it is still published.
    WithdrawTarget(TargetKey),
    /// The collection no longer feeds the target. What is known of it no longer counts.
    ForgetCollection {
        /// Which target.
        target: TargetKey,
        /// What was watched for it.
        collection: Collection,
    },
    /// Whose name the commits carry as committer from now on.
    UseCommitter(Signature),
    /// The credential or the remote's address book changed: try at once.
    CredentialChanged,
    /// Somebody says that the branch was pushed to.
    PushNotice,
    /// Look at the remote and at the folders again.
    Look,
    /// The branch is given up: publish or refuse what is left, then end.
    Retire,
}

/// A change that the branch has taken: it is settled one day, and until then it is in the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Accepted {
    /// Its number on this branch.
    pub number: DeliveryNumber,
    /// The change.
    pub delivery: Delivery,
}

/// What the branch writer has to know of one `GitTarget`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetConfig {
    /// Which target.
    pub key: TargetKey,
    /// The folder that it owns.
    pub folder: FolderPath,
    /// When its commit windows close.
    pub window: CommitWindow,
    /// Which removals reach Git.
    pub prune: manifests::PruneMode,
    /// Whether documents carry their namespace; `None` infers it for each document.
    pub serialize_namespace: Option<bool>,
    /// Where new documents go.
    pub placement: manifests::Placement,
    /// How its commits are worded.
    #[serde(default)]
    pub wording: Wording,
    /// Names for whom its sensitive objects are encrypted; `None` refuses them. Shows no private key, and is
    /// another one when the keys are.
    pub encryption: Option<String>,
    /// Whether no new commit is planned for it.
    pub suspended: bool,
}

/// When a commit window closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitWindow {
    /// After this much silence. Zero commits every change on its own.
    pub idle: Millis,
    /// This long after it opened, however much keeps arriving.
    pub longest: Millis,
}

impl BranchMessage {
    /// Returns the bytes that the message adds to the buffer, without the charge for each item.
    pub fn size(&self) -> usize {
        match self {
            Self::Deliver(accepted) => accepted.delivery.size(),
            Self::Snapshot(snapshot) => snapshot.size(),
            _ => 0,
        }
    }

    /// Says whether the message carries content, so it needs room in the buffer.
    pub fn is_payload(&self) -> bool {
        matches!(self, Self::Deliver(_) | Self::Snapshot(_))
    }
}
