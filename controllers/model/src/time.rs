//! Time as a value: deciding takes it as an argument.

use serde::{Deserialize, Serialize};

/// A span of time in milliseconds.
pub type Millis = u64;

/// One moment on both clocks. It can be written to a file and read back, so a recorded run can be replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Now {
    /// Milliseconds since the process started; never goes back. Deadlines are computed from it.
    pub monotonic: Millis,
    /// Milliseconds since 1970 UTC; shown to people and written into commits.
    pub wall: Millis,
}

impl Now {
    /// Returns the moment `by` milliseconds later on both clocks.
    pub fn after(self, by: Millis) -> Self {
        Self {
            monotonic: self.monotonic.saturating_add(by),
            wall: self.wall.saturating_add(by),
        }
    }
}
