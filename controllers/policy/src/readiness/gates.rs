//! What each gate of a GitTarget knows.

use model::Refusal;

/// Whether an object that the target uses is Ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadyGate {
    /// It is.
    Ready,
    /// It is not, for this reason, in its own words.
    NotReady {
        /// What it says about itself.
        message: String,
    },
    /// The target may not use it, so nobody looked.
    NotChecked,
}

/// Whether sensitive objects can be encrypted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EncryptionGate {
    /// No encryption is turned on.
    NotRequired,
    /// The recipients are known.
    Ready {
        /// For whom, and what a person still has to do.
        message: String,
    },
    /// It is configured and does not work.
    Problem {
        /// What kind of problem.
        kind: EncryptionProblem,
        /// What to do about it.
        message: String,
    },
    /// Nobody looked.
    NotChecked,
}

/// Why encryption does not work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EncryptionProblem {
    /// The Secret does not exist.
    MissingSecret,
    /// The Secret or the settings hold something that is no recipient.
    InvalidConfig,
    /// The Secret does not exist and may not be made.
    SecretCreateDisabled,
}

/// Whether the source cluster answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceGate {
    /// It is the operator's own cluster.
    LocalCluster,
    /// It answers.
    Reachable,
    /// It does not.
    Unreachable {
        /// What happened.
        message: String,
    },
    /// It refuses the credential.
    AuthenticationFailed {
        /// What it said.
        message: String,
    },
    /// The credential may not read what it must.
    AccessDenied {
        /// What it said.
        message: String,
    },
    /// Its types are not read yet.
    AwaitingDiscovery,
    /// Nobody looked.
    NotChecked,
}

/// How the watches of the target do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamGate {
    /// No rule names the target.
    NoRules,
    /// Rules name it and select nothing that the source cluster serves.
    NothingServed,
    /// There are watches.
    Streams {
        /// How many collections are watched.
        tracked: usize,
        /// How many are past their initial replay.
        running: usize,
        /// What is in the way of those that cannot run.
        blocked: Vec<StreamTrouble>,
        /// Whether they wait because the branch takes nothing in.
        intake_paused: bool,
    },
    /// Nothing is watched yet.
    NotStarted,
}

/// Why a watch cannot run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamTrouble {
    /// The connection fails; it is tried again.
    Failing {
        /// Which watch, and what happened.
        message: String,
    },
    /// The credential may not watch it; only a person can change that.
    NotPermitted {
        /// Which watch, and what the server said.
        message: String,
    },
}

/// Whether the folder can be managed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathGate {
    /// The last scan accepted it.
    Accepted,
    /// It did not; the first refusal names the reason.
    Refused {
        /// The first refusal.
        first: Box<Refusal>,
        /// How many more there are.
        more: usize,
    },
    /// It is not scanned yet.
    NotChecked,
}

/// Whether Git and the cluster agree where they must.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RenderGate {
    /// They do.
    Matches,
    /// They do not.
    Differs {
        /// Where, and who can change it.
        message: String,
    },
    /// A collection is new or replaying, so it is not known.
    Rechecking,
}

/// Since when nothing can be published, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outage {
    /// When it began, in RFC 3339.
    pub since: String,
    /// What failed.
    pub failed: String,
    /// Whether new changes are kept waiting at their source.
    pub intake_paused: bool,
    /// When the next attempt is, in RFC 3339.
    pub retry_at: Option<String>,
}

/// How far the first replay is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FirstReplay {
    /// Collections are being read from the source cluster.
    Reading {
        /// How many are complete.
        complete: usize,
        /// How many there are.
        collections: usize,
    },
    /// Complete collections are being compared and committed.
    Committing {
        /// How many are settled.
        settled: usize,
        /// How many there are.
        collections: usize,
    },
    /// Everything is committed, and the push is not accepted yet.
    Pushing,
    /// It is in Git.
    InGit,
}

impl Outage {
    /// Returns since when, what failed, whether intake is paused, and when the next attempt is.
    pub fn message(&self) -> String {
        let intake = if self.intake_paused {
            "intake of new changes is paused"
        } else {
            "new changes are still taken in"
        };
        let retry = match &self.retry_at {
            Some(at) => format!("; next attempt at {at}"),
            None => String::new(),
        };
        format!(
            "nothing could be published since {}: {}; {intake}{retry}",
            self.since, self.failed
        )
    }
}
