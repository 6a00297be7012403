//! Polling with a deadline, so that no test sleeps for a fixed time.

use std::fmt::Display;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};

/// A deadline that only a broken product misses, also on a small and busy machine.
pub const GENEROUS: Duration = Duration::from_secs(120);

const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(250);

/// Calls `probe` until it returns a value, or fails once `deadline` has passed.
///
/// `what` completes the sentence "gave up waiting for ...".
pub fn until<T>(
    what: impl Display,
    deadline: Duration,
    mut probe: impl FnMut() -> Option<T>,
) -> Result<T> {
    poll(what, deadline, || probe().ok_or(None))
}

/// Calls `probe` until it succeeds; when `deadline` has passed the last error says why it did not.
pub fn until_ok<T>(
    what: impl Display,
    deadline: Duration,
    mut probe: impl FnMut() -> Result<T>,
) -> Result<T> {
    poll(what, deadline, || probe().map_err(Some))
}

fn poll<T>(
    what: impl Display,
    deadline: Duration,
    mut probe: impl FnMut() -> Result<T, Option<anyhow::Error>>,
) -> Result<T> {
    let started = Instant::now();
    let mut pause = FIRST_PAUSE;
    loop {
        let last_error = match probe() {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        if started.elapsed() >= deadline {
            let gave_up = format!("gave up after {} s waiting for {what}", deadline.as_secs());
            return Err(match last_error {
                Some(error) => error.context(gave_up),
                None => anyhow!(gave_up),
            });
        }
        thread::sleep(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_ends_the_wait() {
        let mut calls = 0;
        let value = until("the third call", GENEROUS, || {
            calls += 1;
            (calls == 3).then_some(calls)
        });
        assert_eq!(value.unwrap(), 3);
    }

    #[test]
    fn the_last_error_is_told_when_the_deadline_passes() {
        let error = until_ok("a miracle", Duration::ZERO, || -> Result<()> {
            Err(anyhow!("no miracle today"))
        })
        .unwrap_err();
        let text = format!("{error:#}");
        assert!(text.contains("waiting for a miracle"), "{text}");
        assert!(text.contains("no miracle today"), "{text}");
    }
}
