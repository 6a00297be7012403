//! When actors that ended by themselves, or could not be started, are started again. Knows no actor.

use std::collections::BTreeMap;
use std::time::Duration;

use model::{GitBranchKey, KubeProviderKey};
use tokio::time::Instant;

/// The first and the longest wait before an actor is started again.
const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(60);
/// How long an actor has to run before its earlier failures are forgotten.
const STEADY: Duration = Duration::from_secs(600);

/// Who an actor works for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Who {
    Branch(GitBranchKey),
    Source(KubeProviderKey),
}

/// The starts that are waited for, each with what is to be started.
#[derive(Debug)]
pub(crate) struct Restarts<T> {
    waiting: BTreeMap<Who, (Instant, T)>,
    failures: BTreeMap<Who, u32>,
}

impl<T> Default for Restarts<T> {
    fn default() -> Self {
        Self {
            waiting: BTreeMap::new(),
            failures: BTreeMap::new(),
        }
    }
}

impl<T> Restarts<T> {
    /// Starts it later: the more often it failed in a row, the later. `ran` is how long it ran before.
    pub(crate) fn later(&mut self, who: Who, what: T, ran: Duration, now: Instant) {
        let failures = self.failures.entry(who.clone()).or_default();
        *failures = if ran >= STEADY {
            1
        } else {
            failures.saturating_add(1)
        };
        let wait = FIRST
            .saturating_mul(1 << (*failures - 1).min(10))
            .min(LONGEST);
        self.waiting.insert(who, (now + wait, what));
    }

    /// Replaces what is started, without bringing the start forward. Gives it back if no start is waited for.
    pub(crate) fn replace(&mut self, who: &Who, what: T) -> Option<T> {
        match self.waiting.get_mut(who) {
            None => Some(what),
            Some((_, waiting)) => {
                *waiting = what;
                None
            }
        }
    }

    /// Forgets that it ever failed, and returns what is not started any more.
    pub(crate) fn forget(&mut self, who: &Who) -> Option<T> {
        self.failures.remove(who);
        self.waiting.remove(who).map(|(_, what)| what)
    }

    /// Returns when the next start is due.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.waiting.values().map(|(at, _)| *at).min()
    }

    /// Takes out everything that is due.
    pub(crate) fn due(&mut self, now: Instant) -> Vec<T> {
        let due = self.waiting.extract_if(.., |_, (at, _)| *at <= now);
        due.map(|(_, (_, what))| what).collect()
    }

    /// Returns everything that is waited for.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.waiting.values().map(|(_, what)| what)
    }
}

#[cfg(test)]
mod tests {
    use model::{Namespace, ObjectName};

    use super::*;

    fn live() -> Who {
        Who::Branch(GitBranchKey::new(
            Namespace::new("team-a").unwrap(),
            ObjectName::new("live").unwrap(),
        ))
    }

    /// Returns the wait of each failure of a row, where each run lasts that long.
    fn waits(runs: &[Duration]) -> Vec<u64> {
        let mut restarts = Restarts::default();
        let now = Instant::now();
        let wait = |ran: &Duration| {
            restarts.later(live(), (), *ran, now);
            restarts.next().map(|at| (at - now).as_secs())
        };
        runs.iter().filter_map(wait).collect()
    }

    #[test]
    fn each_failure_in_a_row_doubles_the_wait_up_to_a_minute() {
        assert_eq!(waits(&[Duration::ZERO; 8]), [1, 2, 4, 8, 16, 32, 60, 60]);
    }

    #[test]
    fn a_long_run_makes_the_failures_before_it_forgotten() {
        let short = Duration::from_secs(599);
        assert_eq!(waits(&[short, short, STEADY, short]), [1, 2, 1, 2]);
    }

    #[test]
    fn another_order_does_not_bring_the_start_forward() {
        let mut restarts = Restarts::default();
        let now = Instant::now();
        assert_eq!(restarts.replace(&live(), "new"), Some("new"));
        restarts.later(live(), "old", Duration::ZERO, now);
        let at = restarts.next();
        assert_eq!(restarts.replace(&live(), "new"), None);
        assert_eq!(restarts.next(), at);
        assert!(restarts.due(now).is_empty());
        assert_eq!(restarts.due(now + FIRST), ["new"]);
        assert_eq!(restarts.next(), None);
    }

    #[test]
    fn who_is_forgotten_is_not_started_and_begins_with_the_first_wait() {
        let mut restarts = Restarts::default();
        let now = Instant::now();
        restarts.later(live(), "one", Duration::ZERO, now);
        restarts.later(live(), "two", Duration::ZERO, now);
        assert_eq!(restarts.forget(&live()), Some("two"));
        assert_eq!(restarts.next(), None);
        restarts.later(live(), "three", Duration::ZERO, now);
        assert_eq!(restarts.next(), Some(now + FIRST));
    }
}
