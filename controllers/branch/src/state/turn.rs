//! Whether a cycle runs, or waits for its turn at the host.
//!
//! A cycle is asked for only when its turn has come: what it is asked to do is then as new as it can be.

use model::{Millis, Now};

/// How long a cycle waits for its turn before people are told, in milliseconds.
const PATIENCE: Millis = 10_000;

/// Where the machine is with its cycles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CycleState {
    /// No cycle is wanted, or not yet.
    Rests,
    /// A turn was asked for.
    Waits {
        /// Since when.
        since: Now,
    },
    /// A cycle runs.
    Runs,
}

impl CycleState {
    /// Returns since when a turn is waited for, if that is long enough for people to hear of it.
    pub(super) fn waits_long_since(self, now: Now) -> Option<Now> {
        match self {
            Self::Waits { since } if told_at(since) <= now.monotonic => Some(since),
            Self::Waits { .. } | Self::Rests | Self::Runs => None,
        }
    }

    /// Returns when people are to be told that a turn is waited for.
    pub(super) fn told_at(self) -> Option<Millis> {
        match self {
            Self::Waits { since } => Some(told_at(since)),
            Self::Rests | Self::Runs => None,
        }
    }
}

fn told_at(since: Now) -> Millis {
    since.monotonic.saturating_add(PATIENCE)
}
