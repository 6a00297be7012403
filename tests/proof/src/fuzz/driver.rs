//! Feeds targets, for a time and by a seed.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::Target;
use super::noise::Noise;

/// A run without a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// How many inputs were tried.
    pub inputs: u64,
}

/// An input with a wrong answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The input, made as short as was easy.
    pub input: Vec<u8>,
    /// What is wrong.
    pub message: String,
}

/// No input takes longer than this, on any machine.
const HANGS: Duration = Duration::from_secs(60);

/// Feeds a target with noise for a time.
///
/// # Errors
/// Returns the first input with a wrong answer.
pub fn drive(target: Target, seed: u64, time: Duration) -> Result<Run, Failure> {
    // What is tried now: the count tells the watch whether it is still the same.
    let current = Arc::new(Mutex::new((0_u64, Vec::new())));
    let shared = Arc::clone(&current);
    let worker = thread::spawn(move || feed(target, seed, time, &shared));
    let mut last = (0, Instant::now());
    while !worker.is_finished() {
        thread::sleep(Duration::from_millis(200));
        let now = current.lock().unwrap_or_else(PoisonError::into_inner);
        if now.0 != last.0 {
            last = (now.0, Instant::now());
        } else if last.1.elapsed() > HANGS {
            let input = now.1.clone();
            return Err(Failure {
                input,
                message: "it hangs".to_owned(),
            });
        }
    }
    worker.join().unwrap_or_else(|_| {
        let input = current
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .1
            .clone();
        Err(Failure {
            input,
            message: "the driver panicked".to_owned(),
        })
    })
}

fn feed(
    target: Target,
    seed: u64,
    time: Duration,
    current: &Mutex<(u64, Vec<u8>)>,
) -> Result<Run, Failure> {
    let started = Instant::now();
    let mut noise = Noise::new(seed);
    let mut inputs = 0;
    while started.elapsed() < time {
        let input = noise.next_text();
        inputs += 1;
        *current.lock().unwrap_or_else(PoisonError::into_inner) = (inputs, input.clone());
        if let Err(message) = try_one(target, &input) {
            return Err(shorten(target, Failure { input, message }));
        }
    }
    Ok(Run { inputs })
}

/// Asks once; a panic is a wrong answer.
pub fn try_one(target: Target, input: &[u8]) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(|| target(input))).unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Err(format!("it panics: {}", text.unwrap_or_default()))
    })
}

/// Takes out what the failure does not need: halves, then quarters, down to single bytes.
fn shorten(target: Target, mut failure: Failure) -> Failure {
    let mut size = failure.input.len() / 2;
    while size > 0 {
        let mut at = 0;
        while at < failure.input.len() {
            let mut input = failure.input.clone();
            input.drain(at..(at + size).min(input.len()));
            match try_one(target, &input) {
                Err(message) => failure = Failure { input, message },
                Ok(()) => at += size,
            }
        }
        size /= 2;
    }
    failure
}
