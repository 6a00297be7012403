//! Go's `text/template`, in a process of its own.

use anyhow::Result;
use serde::{Deserialize, Serialize};
use testkit::Tool;

use super::{Commit, Told};
use crate::oracle::Program;

/// A running oracle.
#[derive(Debug)]
pub struct Oracle(Program);

#[derive(Serialize)]
struct Question<'a> {
    source: &'a str,
    live: &'a Told,
}

#[derive(Deserialize)]
struct Line {
    text: String,
    #[serde(default)]
    error: String,
}

impl Oracle {
    /// Builds the oracle where it is missing, and starts it.
    ///
    /// # Errors
    /// Returns what is missing to build or start it.
    pub fn start() -> Result<Self> {
        Program::start(Tool::TemplateOracle, &[]).map(Self)
    }

    /// Asks what each template prints of its commit; the error is why it prints nothing.
    ///
    /// # Errors
    /// Returns that the oracle died or does not make sense.
    pub fn word(&mut self, asked: &[(String, Commit)]) -> Result<Vec<Result<String, String>>> {
        let questions: Vec<_> = asked
            .iter()
            .map(|(source, commit)| Question {
                source,
                live: &commit.told,
            })
            .collect();
        let lines: Vec<Line> = self.0.ask(&questions)?;
        let answers = lines.into_iter().map(|line| {
            if line.error.is_empty() {
                Ok(line.text)
            } else {
                Err(line.error)
            }
        });
        Ok(answers.collect())
    }
}
