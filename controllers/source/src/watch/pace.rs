//! When a watch connects again.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

/// The longest that a server can ask a watch to wait.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Spreads `delay` over three quarters to five quarters of itself, so that watches that broke together do
/// not come back together. `jitter` is between 0 and 1.
pub(super) fn spread(delay: Duration, jitter: f64) -> Duration {
    delay.mul_f64(0.75 + 0.5 * jitter.clamp(0.0, 1.0))
}

/// Returns how long to wait after a fault; the server may ask for more than the usual delay.
pub(super) fn after_fault(delay: Duration, jitter: f64, asked: Option<Duration>) -> Duration {
    let asked = asked.unwrap_or_default().min(LONGEST_WAIT);
    spread(delay, jitter).max(asked)
}

/// Returns how long to wait after the server ended a stream that lasted `lasted`: it does that regularly, so
/// there is nothing to wait for unless it happens at once.
pub(super) fn after_close(delay: Duration, jitter: f64, lasted: Duration) -> Duration {
    if lasted >= delay {
        Duration::ZERO
    } else {
        spread(delay, jitter)
    }
}

/// Returns a number between 0 and 1 that differs between watches and between their attempts, and is the same
/// whenever both are.
pub(super) fn jitter(of: impl Hash, attempt: u64) -> f64 {
    let mut hasher = DefaultHasher::new();
    (of, attempt).hash(&mut hasher);
    let bits = u32::try_from(hasher.finish() >> 32).unwrap_or_default();
    f64::from(bits) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DELAY: Duration = Duration::from_secs(2);

    #[test]
    fn waits_stay_near_the_delay_and_follow_the_server() {
        assert_eq!(spread(DELAY, 0.0), Duration::from_millis(1500));
        assert_eq!(spread(DELAY, 1.0), Duration::from_millis(2500));
        let asked = Some(Duration::from_secs(9));
        assert_eq!(after_fault(DELAY, 0.5, asked), Duration::from_secs(9));
        let too_long = Some(Duration::from_secs(9_000));
        assert_eq!(after_fault(DELAY, 0.5, too_long), LONGEST_WAIT);
        assert_eq!(after_fault(DELAY, 0.5, None), DELAY);
        assert_eq!(after_close(DELAY, 0.5, DELAY), Duration::ZERO);
        assert_eq!(after_close(DELAY, 0.5, Duration::ZERO), DELAY);
    }

    #[test]
    fn jitter_is_the_same_for_the_same_attempt_only() {
        assert_eq!(jitter("a", 1).to_bits(), jitter("a", 1).to_bits());
        assert_ne!(jitter("a", 1).to_bits(), jitter("a", 2).to_bits());
        assert_ne!(jitter("a", 1).to_bits(), jitter("b", 1).to_bits());
        assert!((0..100).all(|attempt| (0.0..=1.0).contains(&jitter("a", attempt))));
    }
}
