//! Runs rows and counts what comes of them.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::{Context, Result};

use super::case::Case;
use super::judge::{self, Looked, Question};
use super::{Proof, Row};
use crate::dice::Dice;
use crate::oracle::Oracle;

/// How many cases of each row are drawn, and from what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// Where the choices come from.
    pub seed: u64,
    /// So many cases for each row that cases can exercise.
    pub cases: usize,
}

/// What came of some rows.
#[derive(Debug)]
pub struct Table {
    effort: Effort,
    lines: Vec<Line>,
}

#[derive(Debug)]
struct Line {
    row: Row,
    folders: usize,
    edits: usize,
    accepted: usize,
    refused: BTreeMap<&'static str, usize>,
    wrong: Vec<String>,
}

impl Effort {
    /// Reads the effort from the environment: `ROWS_SEED` and `ROWS_CASES`.
    ///
    /// # Errors
    /// Returns which of them is no number.
    pub fn from_environment() -> Result<Self> {
        let number = |name: &str, default: u64| match std::env::var(name) {
            Ok(text) => text.parse().with_context(|| format!("{name} is no number")),
            Err(_) => Ok(default),
        };
        Ok(Self {
            seed: number("ROWS_SEED", 1)?,
            cases: usize::try_from(number("ROWS_CASES", 200)?)?,
        })
    }
}

/// Runs rows.
///
/// # Errors
/// Returns that another reader failed; whatever is wrong with a row is in the table.
pub fn run(rows: &[Row], effort: Effort) -> Result<Table> {
    let mut oracle = Oracle::start()?;
    let lines = rows
        .iter()
        .map(|row| line(*row, effort, &mut oracle))
        .collect::<Result<_>>()?;
    Ok(Table { effort, lines })
}

fn line(row: Row, effort: Effort, oracle: &mut Oracle) -> Result<Line> {
    let mut line = Line {
        row,
        folders: 0,
        edits: 0,
        accepted: 0,
        refused: BTreeMap::new(),
        wrong: Vec::new(),
    };
    match row.proof {
        Proof::Drawn(draw) => drawn(&mut line, draw, effort, oracle)?,
        Proof::Twins(check) => {
            line.folders = 2;
            line.wrong.extend(check().err());
        }
    }
    Ok(line)
}

/// A case that was looked at, and what is still to be asked of it.
struct Asked {
    case: Case,
    questions: Vec<Question>,
}

fn drawn(
    line: &mut Line,
    draw: fn(&mut Dice) -> Option<Case>,
    effort: Effort,
    oracle: &mut Oracle,
) -> Result<()> {
    let base = Dice::of(line.row.rules.as_bytes()).number() ^ effort.seed;
    let mut asked = Vec::new();
    let mut number = 0;
    while asked.len() + line.wrong.len() < effort.cases {
        number += 1;
        let mut dice = Dice::new(base.wrapping_add(number << 32));
        let Some(mut case) = draw(&mut dice) else {
            anyhow::ensure!(number < 200_000, "{} draws no cases", line.row.rules);
            continue;
        };
        case.number = number;
        line.folders += 1;
        match judge::look(&case) {
            Ok(looked) => {
                let questions = line.count(looked, &case);
                asked.push(Asked { case, questions });
            }
            Err(problem) => line.wrong.push(story(&case, &problem)),
        }
    }
    let texts: Vec<&str> = asked
        .iter()
        .flat_map(|asked| &asked.questions)
        .map(|question| question.text.as_str())
        .collect();
    let answers = oracle.ask(&texts)?;
    let mut at = 0;
    for asked in &asked {
        let own = &answers[at..at + asked.questions.len()];
        at += asked.questions.len();
        if let Err(problem) = judge::read(&asked.questions, own) {
            line.wrong.push(story(&asked.case, &problem));
        }
    }
    Ok(())
}

impl Line {
    fn count(&mut self, looked: Looked, case: &Case) -> Vec<Question> {
        self.edits += looked.edits;
        self.accepted += looked.edits - looked.refused.len();
        for code in looked.refused {
            *self.refused.entry(code.as_str()).or_default() += 1;
        }
        if self.row.promised && !looked.surprises.is_empty() {
            let problem = format!("refused: {}", looked.surprises.join("; "));
            self.wrong.push(story(case, &problem));
        }
        looked.questions
    }
}

/// Tells a case that went wrong.
fn story(case: &Case, problem: &str) -> String {
    let (number, intents) = (case.number, &case.intents);
    let mut story = format!("case {number}: {problem}\nintents {intents:?}\n");
    for path in case.before.files.paths() {
        let bytes = case.before.bytes(&path).map(|bytes| bytes.to_vec());
        let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
        story.push_str(&format!("== {path}\n{text}\n"));
    }
    story.chars().take(6000).collect()
}

impl Table {
    /// Fails when anything is wrong, and tells the first of each row.
    ///
    /// # Panics
    /// When anything is wrong.
    pub fn assert_nothing_wrong(&self) {
        let wrong = self.lines.iter().filter(|line| !line.wrong.is_empty());
        let told: Vec<String> = wrong
            .map(|line| {
                let first = line.wrong.first().map_or("", String::as_str);
                format!(
                    "{}: {} wrong, first\n{first}",
                    line.row.rules,
                    line.wrong.len()
                )
            })
            .collect();
        assert!(told.is_empty(), "{self}\n{}", told.join("\n\n"));
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "seed {}, {} cases a row\n{:<18} {:<62} {:>7} {:>6} {:>8}  refused",
            self.effort.seed, self.effort.cases, "rules", "row", "folders", "edits", "accepted"
        )?;
        for line in &self.lines {
            let refused: Vec<String> = line
                .refused
                .iter()
                .map(|(code, count)| format!("{count} {code}"))
                .collect();
            let refused = if refused.is_empty() {
                "none".to_owned()
            } else {
                refused.join(", ")
            };
            writeln!(
                f,
                "{:<18} {:<62} {:>7} {:>6} {:>8}  {refused}",
                line.row.rules, line.row.what, line.folders, line.edits, line.accepted
            )?;
        }
        Ok(())
    }
}
