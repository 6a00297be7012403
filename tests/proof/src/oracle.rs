//! The reader that Kubernetes uses, in a process of its own.

use std::io::{BufRead, BufReader, BufWriter, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;

use anyhow::{Context, Result, bail};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use testkit::{Tool, Tools};

/// The oracle, running.
#[derive(Debug)]
pub struct Oracle(Program);

/// What a text means to Kubernetes.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// It has these documents, none of which has a key twice.
    Strict(Vec<Value>),
    /// It has these documents, and at least one has a key twice, perhaps through a merge.
    Lenient(Vec<Value>),
    /// It cannot be read.
    Unreadable(String),
}

impl Answer {
    /// Returns the documents, where there are any.
    pub fn documents(&self) -> Option<&[Value]> {
        match self {
            Self::Strict(documents) | Self::Lenient(documents) => Some(documents),
            Self::Unreadable(_) => None,
        }
    }
}

#[derive(Deserialize)]
struct Line {
    documents: Option<Vec<Value>>,
    strict: bool,
    #[serde(default)]
    error: String,
}

impl Oracle {
    /// Builds the oracle where it is missing, and starts it.
    ///
    /// # Errors
    /// Returns what is missing to build or start it.
    pub fn start() -> Result<Self> {
        Program::start(Tool::YamlOracle, &[]).map(Self)
    }

    /// Asks about some texts and returns the answers in the same order.
    ///
    /// # Errors
    /// Returns that the oracle died or does not make sense.
    pub fn ask(&mut self, texts: &[&str]) -> Result<Vec<Answer>> {
        let answers: Vec<Line> = self.0.ask(texts)?;
        let answers = answers.into_iter().map(|line| match line.documents {
            Some(documents) if line.strict => Answer::Strict(documents),
            Some(documents) => Answer::Lenient(documents),
            None => Answer::Unreadable(line.error),
        });
        Ok(answers.collect())
    }
}

/// A running program that answers each line with a line. It ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Program {
    process: Child,
    questions: BufWriter<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Program {
    /// Builds a program where it is missing, and starts it. It inherits no environment.
    pub(crate) fn start(tool: Tool, arguments: &[&str]) -> Result<Self> {
        let tools = Tools::ensure(&[tool])?;
        let mut process = Command::new(tools.path(tool)?)
            .args(arguments)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {tool}"))?;
        let questions = process.stdin.take().context("the oracle has no input")?;
        let answers = process.stdout.take().context("the oracle has no output")?;
        Ok(Self {
            process,
            questions: BufWriter::new(questions),
            answers: BufReader::new(answers),
        })
    }

    /// Asks some questions and returns the answers in the same order.
    pub(crate) fn ask<Question, Answer>(&mut self, asked: &[Question]) -> Result<Vec<Answer>>
    where
        Question: Serialize + Sync,
        Answer: DeserializeOwned,
    {
        let Self {
            questions, answers, ..
        } = self;
        // Both pipes have an end: whoever only writes first waits for ever.
        thread::scope(|scope| {
            let writer = scope.spawn(move || -> Result<()> {
                for question in asked {
                    serde_json::to_writer(&mut *questions, question)?;
                    questions.write_all(b"\n")?;
                }
                questions.flush().context("the oracle takes no questions")
            });
            let answers = asked.iter().map(|_| answer(answers)).collect();
            match writer.join() {
                Ok(written) => written.and(answers),
                Err(_) => bail!("the thread that asks the oracle panicked"),
            }
        })
    }
}

fn answer<Answer: DeserializeOwned>(from: &mut BufReader<ChildStdout>) -> Result<Answer> {
    let mut line = String::new();
    from.read_line(&mut line)
        .context("cannot read the oracle's answer")?;
    if line.is_empty() {
        bail!("the oracle ended without an answer");
    }
    serde_json::from_str(&line).context("the oracle's answer is no JSON")
}

impl Drop for Program {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}
