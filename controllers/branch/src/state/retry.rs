//! When to try again after a failure.

use board::PublicationFault;
use model::{Millis, Now};
use serde::{Deserialize, Serialize};

use super::{BranchState, Settings};
use crate::cycle::Fault;

/// The failure that is being waited out. It does not wait for another change, and a change does not hurry it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetryClock {
    /// When the trouble began.
    pub since: Now,
    /// What kind of trouble.
    pub fault: PublicationFault,
    /// What happened, safe to show.
    pub message: String,
    /// How many attempts failed.
    pub attempts: u32,
    /// When the next one is made.
    pub retry_at: Now,
}

impl BranchState {
    pub(super) fn wait_out(&mut self, now: Now, fault: Fault) {
        let before = self.retry.take();
        let attempts = before.as_ref().map_or(0, |retry| retry.attempts) + 1;
        let wait = wait_after(fault.kind, attempts, &self.settings);
        let wait = wait.max(fault.not_before.unwrap_or(0));
        self.retry = Some(RetryClock {
            since: before.map_or(now, |retry| retry.since),
            fault: fault.kind,
            message: fault.message,
            attempts,
            retry_at: now.after(wait),
        });
    }
}

/// So many times shorter are the waits after lost races: the host is well, and whoever is faster wins.
const HASTE: Millis = 20;

/// Doubles from the first wait to the longest, a tenth shorter or longer so that branches spread out.
fn wait_after(fault: PublicationFault, attempts: u32, settings: &Settings) -> Millis {
    let (first, longest) = match fault {
        PublicationFault::Contended => (settings.retry_first / HASTE, settings.retry_first),
        _ => (settings.retry_first, settings.retry_longest),
    };
    let doubled = first.saturating_mul(1 << attempts.saturating_sub(1).min(20));
    let wait = doubled.min(longest);
    let spread = wait / 5;
    if spread == 0 {
        wait
    } else {
        wait - spread / 2 + scatter(settings.jitter_seed, attempts) % spread
    }
}

/// A small fixed mixing function: the same seed and attempt give the same number on every machine.
fn scatter(seed: u64, attempt: u32) -> u64 {
    let mut mixed = seed ^ u64::from(attempt).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_from_ten_seconds_to_five_minutes() {
        let settings = crate::state::tests::settings();
        let within = |attempts, about: u64| {
            let wait = wait_after(PublicationFault::Unreachable, attempts, &settings);
            assert!(
                (about * 9 / 10..=about * 11 / 10).contains(&wait),
                "attempt {attempts}: {wait}"
            );
        };
        within(1, 10_000);
        within(2, 20_000);
        within(5, 160_000);
        within(6, 300_000);
        within(60, 300_000);
    }

    #[test]
    fn b001_waits_after_lost_races_are_short() {
        let settings = crate::state::tests::settings();
        for (attempts, about) in [(1, 500), (2, 1_000), (5, 8_000), (6, 10_000), (60, 10_000)] {
            let wait = wait_after(PublicationFault::Contended, attempts, &settings);
            assert!(
                (about * 9 / 10..=about * 11 / 10).contains(&wait),
                "attempt {attempts}: {wait}"
            );
        }
    }
}
