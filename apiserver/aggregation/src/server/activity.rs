//! Whether a connection is in use.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Counts the requests of one connection and remembers when the last one ended.
#[derive(Debug)]
pub(super) struct Activity {
    opened: Instant,
    /// Milliseconds from `opened` to the end of the last request.
    last_end: AtomicU64,
    under_way: AtomicUsize,
    total: AtomicUsize,
}

/// A request under way; dropping it ends the request, also when its client went away.
#[derive(Debug)]
pub(super) struct UnderWay(Arc<Activity>);

impl Activity {
    pub(super) fn new() -> Self {
        Self {
            opened: Instant::now(),
            last_end: AtomicU64::new(0),
            under_way: AtomicUsize::new(0),
            total: AtomicUsize::new(0),
        }
    }

    /// Begins a request.
    pub(super) fn begin(self: Arc<Self>) -> UnderWay {
        self.under_way.fetch_add(1, Ordering::SeqCst);
        self.total.fetch_add(1, Ordering::SeqCst);
        UnderWay(self)
    }

    /// Tells whether no request ever began.
    pub(super) fn was_never_used(&self) -> bool {
        self.total.load(Ordering::SeqCst) == 0
    }

    /// Returns once there was no request for this long.
    pub(super) async fn idle_for(&self, limit: Duration) {
        while let Some(rest) = self.until_idle(limit, self.opened.elapsed()) {
            tokio::time::sleep(rest).await;
        }
    }

    /// The time until the limit could be reached, or `None` if it is. `age` is the connection's.
    fn until_idle(&self, limit: Duration, age: Duration) -> Option<Duration> {
        if self.under_way.load(Ordering::SeqCst) > 0 {
            return Some(limit);
        }
        let last_end = Duration::from_millis(self.last_end.load(Ordering::SeqCst));
        let idle = age.saturating_sub(last_end);
        limit.checked_sub(idle).filter(|rest| !rest.is_zero())
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let age = u64::try_from(self.0.opened.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.0.last_end.fetch_max(age, Ordering::SeqCst);
        self.0.under_way.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_is_idle_after_its_last_request_and_never_during_one() {
        let seconds = Duration::from_secs;
        let activity = Arc::new(Activity::new());
        assert!(activity.was_never_used());
        assert_eq!(
            activity.until_idle(seconds(10), seconds(4)),
            Some(seconds(6))
        );
        assert_eq!(activity.until_idle(seconds(10), seconds(10)), None);
        let request = activity.clone().begin();
        assert!(!activity.was_never_used());
        assert_eq!(
            activity.until_idle(seconds(10), seconds(99)),
            Some(seconds(10))
        );
        drop(request);
        activity.last_end.store(95_000, Ordering::SeqCst);
        assert_eq!(
            activity.until_idle(seconds(10), seconds(99)),
            Some(seconds(6))
        );
        assert_eq!(activity.until_idle(seconds(10), seconds(105)), None);
    }
}
