//! Commands that need neither a cluster nor a network: what the operator would do with files on disk.
//!
//! `analyze` judges a folder and the folders in it; `plan` shows, and with `--write` does, what mirroring given
//! objects would change. Both call the planner that the operator calls, so they cannot say anything else than it.
//!
//! Reading order: `arguments`, `disk` (files), `objects` (what is given), `plan`, `analyze`, `report`
//! and `explained` (JSON).

mod analyze;
pub mod arguments;
mod disk;
mod explained;
mod objects;
mod plan;
mod report;

use std::io::{self, Write as _};
use std::process::ExitCode;

use crate::process::{FAILED, WRONG_INPUT, complain};

pub use arguments::{Analyze, Plan};

/// Something is refused; the rest is done.
const REFUSED: u8 = 3;

/// How a command ended, when it could do its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Fine,
    Refused,
}

/// Why a command could not do its work.
#[derive(Debug)]
enum Problem {
    /// What was given is wrong; each text is one thing.
    Input(Vec<String>),
    /// The disk or the program failed.
    Failure(anyhow::Error),
}

impl From<anyhow::Error> for Problem {
    fn from(error: anyhow::Error) -> Self {
        Self::Failure(error)
    }
}

impl From<String> for Problem {
    fn from(problem: String) -> Self {
        Self::Input(vec![problem])
    }
}

/// Runs `analyze`.
pub fn analyze(arguments: &Analyze) -> ExitCode {
    exit(analyze::run(arguments))
}

/// Runs `plan`.
pub fn plan(arguments: &Plan) -> ExitCode {
    exit(plan::run(arguments))
}

fn exit(result: Result<Verdict, Problem>) -> ExitCode {
    let code = match result {
        Ok(Verdict::Fine) => return ExitCode::SUCCESS,
        Ok(Verdict::Refused) => REFUSED,
        Err(Problem::Input(problems)) => {
            for problem in problems {
                complain(&problem);
            }
            WRONG_INPUT
        }
        Err(Problem::Failure(error)) => {
            complain(&format!("failed: {error:#}"));
            FAILED
        }
    };
    ExitCode::from(code)
}

/// Writes to standard output. A reader that went away, as `head` does, is no failure.
fn print(text: &str) -> Result<(), Problem> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(anyhow::Error::new(error)
            .context("cannot write the answer")
            .into()),
        Ok(()) | Err(_) => Ok(()),
    }
}
