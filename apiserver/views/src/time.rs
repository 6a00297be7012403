//! Moments as people and clients read them.

use jiff::Timestamp;
use model::Millis;

/// Returns the moment, or the epoch for one that no calendar holds.
pub(crate) fn timestamp(at: Millis) -> Timestamp {
    i64::try_from(at)
        .ok()
        .and_then(|at| Timestamp::from_millisecond(at).ok())
        .unwrap_or_default()
}

/// Returns the moment to the second, as Kubernetes writes times.
pub(crate) fn text(at: Millis) -> String {
    timestamp(at).strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
