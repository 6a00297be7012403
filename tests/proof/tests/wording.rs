//! A template of a commit message prints what Go prints, or nothing.
#![allow(
    clippy::print_stdout,
    reason = "a test prints what it counted, and the seed"
)]

use anyhow::{Result, bail};
use proof::dice::Dice;
use proof::wording::oracle::Oracle;
use proof::wording::{commit, source};

const SEED: u64 = 20_261_130;
/// How many templates are asked about; `WORDING_CASES` asks for more.
const CASES: usize = 20_000;

fn number<T: std::str::FromStr>(variable: &str, otherwise: T) -> T {
    std::env::var(variable)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(otherwise)
}

#[test]
fn d12_a_template_prints_what_go_prints_or_is_refused() -> Result<()> {
    let (seed, cases) = (number("WORDING_SEED", SEED), number("WORDING_CASES", CASES));
    let mut dice = Dice::new(seed);
    let mut oracle = Oracle::start()?;
    let (mut equal, mut blank, mut refused, mut both_fail) = (0, 0, 0, 0);
    let mut left = cases;
    while left > 0 {
        let round = left.min(2_000);
        left -= round;
        let asked: Vec<_> = (0..round)
            .map(|_| (source(&mut dice), commit(&mut dice)))
            .collect();
        for ((source, commit), theirs) in asked.iter().zip(oracle.word(&asked)?) {
            match (commit.word(source), theirs) {
                (Ok(ours), Ok(theirs)) if ours == theirs => equal += 1,
                // A commit needs words.
                (Err(_), Ok(theirs)) if theirs.trim().is_empty() => blank += 1,
                (Err(_), Ok(_)) => refused += 1,
                (Err(_), Err(_)) => both_fail += 1,
                (ours, theirs) => {
                    bail!(
                        "seed {seed}: {source:?}\n  ours: {ours:?}\n  theirs: {theirs:?}\n  of {commit:?}"
                    )
                }
            }
        }
    }
    println!(
        "seed {seed}: {equal} equal, {blank} blank, {refused} refused, {both_fail} fail here and there"
    );
    // Templates that Go takes and we refuse are the exception, or the comparison would say little.
    assert!(
        equal > 5 * refused && equal * 3 > cases,
        "{equal}, {refused}"
    );
    Ok(())
}
