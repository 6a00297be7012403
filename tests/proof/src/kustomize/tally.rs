//! What came of the comparisons, and the smallest difference.

use std::fmt;

use anyhow::{Error, Result};
use serde_json::Value;

use super::archive::{self, Files};
use super::effort::Effort;
use super::oracle::Answer;
use super::shrink::shrink;

/// What came of some comparisons.
#[derive(Debug, Default)]
pub struct Tally {
    equal: usize,
    failed: usize,
    refused: Vec<String>,
    differences: Vec<Difference>,
}

/// A folder that builds to something else, or does not build.
#[derive(Debug)]
struct Difference {
    folder: Files,
    ours: Answer,
    theirs: Answer,
}

/// Differences that are accepted: parts of the reasons for which we refuse what kustomize builds.
#[derive(Debug, Clone, Copy)]
pub enum Accepted {
    /// Each of them has to occur, or it is to be taken out.
    Exactly(&'static [&'static str]),
    /// Chance decides which of them occur.
    Among(&'static [&'static str]),
}

impl Tally {
    /// Holds what we make of a folder against what the library makes of it.
    pub fn compare(&mut self, folder: &Files, ours: Answer, theirs: Answer) {
        match (ours, theirs) {
            (Ok(ours), Ok(theirs)) if are_equal(&ours, &theirs) => self.equal += 1,
            (Err(_), Err(_)) => self.failed += 1,
            (Err(reason), Ok(_)) => self.refused.push(reason),
            (ours, theirs) => self.differences.push(Difference {
                folder: folder.clone(),
                ours,
                theirs,
            }),
        }
    }

    /// Makes the smallest folder that differs even smaller; both are asked again and again.
    ///
    /// # Errors
    /// Returns that one of them could not be asked.
    pub fn shrink(
        &mut self,
        mut both: impl FnMut(&Files) -> Result<(Answer, Answer)>,
    ) -> Result<()> {
        self.differences.sort_by_key(Difference::size);
        let Some(smallest) = self.differences.first_mut() else {
            return Ok(());
        };
        let folder = shrink(&smallest.folder, |files| {
            Ok::<_, Error>(match both(files)? {
                (Ok(ours), Ok(theirs)) => !are_equal(&ours, &theirs),
                (Ok(_), Err(_)) => true,
                (Err(_), _) => false,
            })
        })?;
        let (ours, theirs) = both(&folder)?;
        *smallest = Difference {
            folder,
            ours,
            theirs,
        };
        Ok(())
    }

    /// Prints the counts.
    ///
    /// # Panics
    /// When there was a difference that is not accepted, or nothing was compared.
    #[allow(clippy::print_stdout, reason = "a test prints what it counted")]
    pub fn assert_equal(mut self, what: &str, effort: Effort, accepted: Accepted) {
        println!(
            "{what}, seed {}: {} equal, {} failed in both, {} refused",
            effort.seed,
            self.equal,
            self.failed,
            self.refused.len()
        );
        self.differences.sort_by_key(Difference::size);
        assert!(
            self.differences.is_empty(),
            "{} {what} differ, seed {}; the smallest:\n{}",
            self.differences.len(),
            effort.seed,
            self.differences[0]
        );
        assert!(self.equal + self.failed > 0, "no {what} were compared");
        self.assert_accepted(what, accepted);
    }

    fn assert_accepted(&self, what: &str, accepted: Accepted) {
        let (Accepted::Exactly(reasons) | Accepted::Among(reasons)) = accepted;
        let strange = self
            .refused
            .iter()
            .find(|refused| !reasons.iter().any(|reason| refused.contains(reason)));
        assert_eq!(
            strange, None,
            "one of the {what} is refused for no accepted reason"
        );
        if matches!(accepted, Accepted::Exactly(_)) {
            let gone = reasons
                .iter()
                .find(|reason| !self.refused.iter().any(|refused| refused.contains(*reason)));
            assert_eq!(
                gone, None,
                "none of the {what} is refused for this any more"
            );
        }
    }
}

/// Whether two lists of objects are the same in the same order, `8.0` and `8` being one number.
pub fn are_equal(ours: &[Value], theirs: &[Value]) -> bool {
    ours.len() == theirs.len()
        && ours
            .iter()
            .zip(theirs)
            .all(|(one, other)| is_same(one, other))
}

fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            one == other || one.as_f64() == other.as_f64()
        }
        (Value::Array(one), Value::Array(other)) => are_equal(one, other),
        (Value::Object(one), Value::Object(other)) => {
            let same = |(key, value)| other.get(key).is_some_and(|other| is_same(value, other));
            one.len() == other.len() && one.iter().all(same)
        }
        _ => one == other,
    }
}

impl Difference {
    fn size(&self) -> usize {
        self.folder.values().map(Vec::len).sum()
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let folder = archive::text(&self.folder);
        write!(
            f,
            "{folder}\nours: {}\ntheirs: {}",
            told(&self.ours),
            told(&self.theirs)
        )
    }
}

fn told(answer: &Answer) -> String {
    match answer {
        Ok(objects) => Value::from(objects.clone()).to_string(),
        Err(error) => error.clone(),
    }
}
