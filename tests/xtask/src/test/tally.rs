//! Counting: the `test result:` lines of all test programs, added up.

/// How many tests passed, failed and were left out.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) passed: u64,
    pub(super) failed: u64,
    pub(super) ignored: u64,
}

impl Tally {
    /// Adds the numbers of a line such as `test result: ok. 3 passed; 0 failed; 1 ignored; ...`.
    pub(super) fn read(&mut self, line: &str) {
        let Some((_, numbers)) = line
            .strip_prefix("test result: ")
            .and_then(|result| result.split_once(". "))
        else {
            return;
        };
        for entry in numbers.split("; ") {
            let Some((number, what)) = entry.split_once(' ') else {
                continue;
            };
            let counter = match what {
                "passed" => &mut self.passed,
                "failed" => &mut self.failed,
                "ignored" => &mut self.ignored,
                _ => continue,
            };
            *counter += number.parse::<u64>().unwrap_or(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_all_programs_are_added_up() {
        let mut tally = Tally::default();
        let lines = [
            "running 3 tests",
            "test a ... ok",
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; \
             finished in 0.03s",
            "test result: FAILED. 9 passed; 2 failed; 0 ignored; 0 measured; 5 filtered out; \
             finished in 1.04s",
            "a test printed: 7 passed; 7 failed",
        ];
        for line in lines {
            tally.read(line);
        }
        assert_eq!(
            tally,
            Tally {
                passed: 12,
                failed: 2,
                ignored: 1
            }
        );
    }
}
