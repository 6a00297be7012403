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
        /// Whether that is long enough for people to hear of it.
        is_told: bool,
    },
    /// A cycle runs.
    Runs,
}

impl CycleState {
    /// Begins to wait for a turn.
    pub(super) fn waits(since: Now) -> Self {
        Self::Waits {
            since,
            is_told: false,
        }
    }

    /// Notes that time has passed: a turn may have been waited for so long that people are told.
    pub(super) fn pass(&mut self, now: Now) {
        if self.told_at().is_some_and(|at| at <= now.monotonic)
            && let Self::Waits { is_told, .. } = self
        {
            *is_told = true;
        }
    }

    /// Returns since when a turn is waited for, once people are told.
    pub(super) fn told_since(self) -> Option<Now> {
        match self {
            Self::Waits {
                since,
                is_told: true,
            } => Some(since),
            Self::Waits { .. } | Self::Rests | Self::Runs => None,
        }
    }

    /// Returns when people are to be told that a turn is waited for; `None` once they are.
    pub(super) fn told_at(self) -> Option<Millis> {
        match self {
            Self::Waits {
                since,
                is_told: false,
            } => Some(since.monotonic.saturating_add(PATIENCE)),
            Self::Waits { .. } | Self::Rests | Self::Runs => None,
        }
    }
}
