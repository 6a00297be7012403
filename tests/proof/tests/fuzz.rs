//! Noise: no panic, no endless loop, no wrong edit.
//!
//! `FUZZ_SECONDS` is how long each target is fed, and `FUZZ_SEED` decides with what. An input that fails is
//! printed, and kept below `data/regressions` so that it is tried in every later run.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test reports a failure by panicking, and says what it tried"
)]

use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::Duration;
use std::{env, fs, panic};

use proof::dice::Dice;
use proof::fuzz::driver::try_one;
use proof::fuzz::{TARGETS, Target, drive};

const SECONDS: u64 = 30;
const SEED: u64 = 1;

fn target(name: &str) -> Target {
    TARGETS
        .into_iter()
        .find(|(known, _)| *known == name)
        .unwrap()
        .1
}

fn regressions(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("data/regressions")
        .join(name)
}

fn number(variable: &str, otherwise: u64) -> u64 {
    env::var(variable).map_or(otherwise, |text| text.parse().unwrap())
}

/// Keeps the panics of the parser crate off the terminal: they are expected, and caught where they happen.
fn quieten_the_parser() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let loud = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let expected = info
                .location()
                .is_some_and(|at| at.file().contains("libyaml-safer"));
            if !expected {
                loud(info);
            }
        }));
    });
}

fn fuzz(name: &str) {
    quieten_the_parser();
    let (seconds, seed) = (number("FUZZ_SECONDS", SECONDS), number("FUZZ_SEED", SEED));
    match drive(target(name), seed, Duration::from_secs(seconds)) {
        Ok(run) => println!("{name}: seed {seed}, {} inputs in {seconds} s", run.inputs),
        Err(failure) => {
            let file =
                regressions(name).join(format!("{:016x}", Dice::of(&failure.input).number()));
            fs::create_dir_all(regressions(name)).unwrap();
            fs::write(&file, &failure.input).unwrap();
            panic!(
                "{name}, seed {seed}: {}\nwith {:?}\nkept in {}",
                failure.message,
                String::from_utf8_lossy(&failure.input),
                file.display()
            );
        }
    }
}

#[test]
fn noise_makes_the_parser_neither_panic_nor_contradict_itself() {
    fuzz("parser");
}

#[test]
fn ed_2_noise_is_edited_right_or_not_at_all() {
    fuzz("patcher");
}

#[test]
fn ed_9_any_value_reads_back_from_its_canonical_text() {
    fuzz("emitter");
}

#[test]
fn noise_makes_a_template_print_what_it_says_or_nothing() {
    fuzz("wording");
}

#[test]
fn what_failed_once_never_fails_again() {
    quieten_the_parser();
    for (name, target) in TARGETS {
        for file in fs::read_dir(regressions(name)).unwrap() {
            let file = file.unwrap().path();
            let outcome = try_one(target, &fs::read(&file).unwrap());
            assert_eq!(outcome, Ok(()), "{}", file.display());
        }
    }
}
