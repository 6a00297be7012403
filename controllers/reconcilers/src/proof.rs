//! When a proof against a Git server is made anew. Pure.

use std::time::Duration;

use model::Millis;

/// What a proof found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Proof {
    /// What was proved: the URL and the incarnation of the credential.
    pub(crate) stamp: String,
    /// When, in wall time.
    pub(crate) at: Millis,
    /// What came out.
    pub(crate) result: Result<(), ProofFault>,
    /// How many in a row failed, this one included.
    pub(crate) failures: u32,
}

/// Why a proof failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProofFault {
    /// What happened, safe to show.
    pub(crate) message: String,
    /// Whether it fails until somebody changes something.
    pub(crate) needs_change: bool,
}

/// The longest wait after failures.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

impl Proof {
    /// Returns how long the proof stands before it is made anew: the steady interval while it succeeds, and
    /// from `first` on twice as long each time while it fails, so that a server is not hammered.
    pub(crate) fn stands_for(&self, steady: Duration, first: Duration) -> Duration {
        match self.result {
            Ok(()) => steady,
            Err(_) => {
                let doublings = self.failures.saturating_sub(1).min(8);
                first
                    .saturating_mul(1 << doublings)
                    .min(LONGEST_WAIT)
                    .max(first)
            }
        }
    }

    /// Counts a failure on top of the proof before it.
    pub(crate) fn after(
        before: Option<&Self>,
        stamp: String,
        at: Millis,
        result: Result<(), ProofFault>,
    ) -> Self {
        let earlier = before
            .filter(|before| before.stamp == stamp)
            .map_or(0, |before| before.failures);
        let failures = if result.is_ok() { 0 } else { earlier + 1 };
        Self {
            stamp,
            at,
            result,
            failures,
        }
    }
}

/// Says whether a proof has to be made anew: the credential is another one, somebody asks, or it no longer
/// stands.
pub(crate) fn is_due(
    last: &Proof,
    stamp: &str,
    asked: bool,
    now: Millis,
    steady: Duration,
    first: Duration,
) -> bool {
    let stands = u64::try_from(last.stands_for(steady, first).as_millis()).unwrap_or(u64::MAX);
    // A look comes back on the interval itself, so a little earlier counts as on time.
    let due_at = last.at.saturating_add(stands.saturating_sub(500));
    asked || last.stamp != stamp || now >= due_at || now < last.at
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEADY: Duration = Duration::from_secs(300);
    const FIRST: Duration = Duration::from_secs(10);

    fn failed(failures: u32) -> Proof {
        let fault = ProofFault {
            message: String::new(),
            needs_change: true,
        };
        Proof {
            stamp: "a".to_owned(),
            at: 1_000,
            result: Err(fault),
            failures,
        }
    }

    fn proved() -> Proof {
        Proof {
            stamp: "a".to_owned(),
            at: 1_000,
            result: Ok(()),
            failures: 0,
        }
    }

    #[test]
    fn a_success_stands_for_the_steady_interval_unless_something_changed() {
        let due = |stamp, asked, now| is_due(&proved(), stamp, asked, now, STEADY, FIRST);
        assert!(!due("a", false, 200_000));
        assert!(due("a", false, 301_000));
        assert!(due("b", false, 2_000), "another credential");
        assert!(due("a", true, 2_000), "somebody asks");
    }

    #[test]
    fn failures_wait_longer_each_time_up_to_a_minute() {
        let waits: Vec<u64> = (1..=6)
            .map(|failures| failed(failures).stands_for(STEADY, FIRST).as_secs())
            .collect();
        assert_eq!(waits, [10, 20, 40, 60, 60, 60]);
        let another = Proof::after(Some(&failed(3)), "a".to_owned(), 5, failed(1).result);
        assert_eq!(another.failures, 4);
        let new_credential = Proof::after(Some(&failed(3)), "b".to_owned(), 5, failed(1).result);
        assert_eq!(new_credential.failures, 1);
    }
}
