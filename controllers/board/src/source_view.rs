//! What a source actor says about its cluster and about each target that mirrors from it.

use std::collections::BTreeMap;

use model::{Collection, Millis, RuleKey, TargetKey};

/// Everything that readers may know about one source cluster. Times are wall-clock milliseconds since 1970.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SourceView {
    /// Whether the cluster answers.
    pub api: ApiHealth,
    /// The targets that mirror from it.
    pub targets: BTreeMap<TargetKey, TargetStreams>,
}

/// Whether a cluster answers.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum ApiHealth {
    /// Nothing was asked yet.
    #[default]
    AwaitingDiscovery,
    /// Discovery answered.
    Reachable {
        /// How many types can be followed.
        followable_types: usize,
    },
    /// Discovery did not answer.
    Unreachable {
        /// Since when.
        since: Millis,
        /// What happened, safe to show.
        message: String,
    },
    /// The cluster does not know the credential.
    AuthenticationFailed {
        /// What happened, safe to show.
        message: String,
    },
    /// The credential may not read what it must.
    AccessDenied {
        /// What happened, safe to show.
        message: String,
    },
}

/// The streams that feed one target.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TargetStreams {
    /// Which declaration of the target this answers; readers compare it with what they declared.
    pub generation: u64,
    /// One stream for each collection of the plan.
    pub streams: BTreeMap<Collection, StreamView>,
    /// What each rule resolved to.
    pub rules: BTreeMap<RuleKey, RuleResolution>,
}

/// One stream.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamView {
    /// What the stream is doing.
    pub state: StreamState,
    /// Objects that were left out on purpose in the last snapshot, by reason.
    pub left_out: BTreeMap<String, u64>,
}

/// What a stream is doing.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamState {
    /// The plan holds the stream and it has not started.
    Pending,
    /// The initial events are being read.
    Replaying {
        /// How many objects have arrived.
        received: usize,
    },
    /// The snapshot was handed over and live events follow.
    Streaming,
    /// The stream cannot run; it is tried again.
    Blocked {
        /// `WatchError`, `WatchNotPermitted` or `BranchIntakePaused`.
        reason: String,
        /// What happened, safe to show.
        message: String,
        /// Since when.
        since: Millis,
    },
}

/// What one rule resolved to.
#[derive(Debug, Clone, PartialEq)]
pub enum RuleResolution {
    /// The collections that the rule selects; may be none.
    Resolved {
        /// The collections.
        collections: Vec<Collection>,
        /// Names that select nothing, each with the reason.
        unresolved: Vec<String>,
    },
    /// The rule overlaps an older one, so nothing of it is watched.
    Overlaps {
        /// Both rules and both scopes, for a person.
        message: String,
    },
}

impl TargetStreams {
    /// Counts the streams that are streaming.
    pub fn streaming(&self) -> usize {
        self.streams
            .values()
            .filter(|stream| stream.state == StreamState::Streaming)
            .count()
    }
}
