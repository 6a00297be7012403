//! Runs rows, lets kustomize's library judge all their folders in one go, and counts what comes of them.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::{Result, ensure};

use super::Row;
use super::case::{Case, Supplier};
use super::judge::{self, Looked};
use crate::dice::Dice;
use crate::kustomize::archive;
use crate::kustomize::oracle::{Answer, Oracle, Version};
use crate::rows::table::Effort;

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
    accepted: BTreeMap<Supplier, usize>,
    refused: BTreeMap<&'static str, usize>,
    wrong: Vec<String>,
}

/// Runs rows.
///
/// # Errors
/// Returns that the library failed, or that a row draws no cases; whatever is wrong with a row is in the table.
pub fn run(rows: &[Row], effort: Effort) -> Result<Table> {
    let mut oracle = Oracle::start(Version::Followed)?;
    let lines = rows.iter().map(|row| line(*row, effort, &mut oracle));
    let lines = lines.collect::<Result<_>>()?;
    Ok(Table { effort, lines })
}

fn line(row: Row, effort: Effort, oracle: &mut Oracle) -> Result<Line> {
    let mut line = Line {
        row,
        folders: 0,
        edits: 0,
        accepted: BTreeMap::new(),
        refused: BTreeMap::new(),
        wrong: Vec::new(),
    };
    let base = Dice::of(row.rules.as_bytes()).number() ^ effort.seed;
    let mut looked: Vec<(Case, Looked)> = Vec::new();
    let mut number = 0;
    while line.edits < effort.cases {
        number += 1;
        // A folder that is not built proves nothing.
        let most = 20 + 4 * u64::try_from(line.folders)?;
        ensure!(number < most, "{} draws no cases", row.rules);
        let mut dice = Dice::new(base.wrapping_add(number << 32));
        let Some(mut case) = (row.draw)(&mut dice) else {
            continue;
        };
        case.number = number;
        line.folders += 1;
        line.edits += case.happenings.len();
        match judge::look(&case) {
            Ok(it) => looked.push((case, it)),
            Err(problem) => line.wrong.push(story(&case, &problem)),
        }
    }
    // Before an edit the folder builds to what our renderer says, or the objects that stay would differ after it.
    let questions = looked.iter().flat_map(|(case, it)| {
        let roots = case.roots.iter();
        roots.map(move |root| (&it.after, *root))
    });
    let mut answers = oracle.build(questions)?.into_iter();
    for (case, looked) in &looked {
        let of_roots: Result<Vec<_>, _> = answers.by_ref().take(case.roots.len()).collect();
        let after: Answer = of_roots.map(|objects| objects.concat());
        match judge::read(case, looked, after) {
            Ok(()) => line.count(looked),
            Err(problem) => {
                let after = archive::text(&looked.after);
                let story = story(case, &format!("{problem}\nafter:\n{after}"));
                line.wrong.push(story);
            }
        }
    }
    Ok(line)
}

impl Line {
    fn count(&mut self, looked: &Looked) {
        for happening in &looked.landed {
            let supplier = happening.promise.supplier();
            if let Some(supplier) = supplier {
                *self.accepted.entry(supplier).or_default() += 1;
            }
        }
        for (_, refusal) in &looked.refused {
            let reason = refusal.issue.map(|issue| issue.as_str());
            let reason = reason.unwrap_or(refusal.code.as_str());
            *self.refused.entry(reason).or_default() += 1;
        }
    }
}

/// Tells a case that went wrong.
fn story(case: &Case, problem: &str) -> String {
    let number = case.number;
    let deeds: Vec<String> = case
        .happenings
        .iter()
        .map(|it| format!("{:?}", it.deed))
        .collect();
    format!(
        "case {number}: {problem}\nbefore:\n{}\nhappens:\n{}",
        archive::text(&case.files),
        deeds.join("\n")
    )
}

impl Table {
    /// Fails when anything is wrong, and tells the shortest of each row.
    ///
    /// # Panics
    /// When anything is wrong.
    pub fn assert_nothing_wrong(&self) {
        let wrong = self.lines.iter().filter(|line| !line.wrong.is_empty());
        let told: Vec<String> = wrong
            .map(|line| {
                let shortest = line.wrong.iter().min_by_key(|story| story.len());
                format!(
                    "{}: {} wrong, the shortest\n{}",
                    line.row.rules,
                    line.wrong.len(),
                    shortest.map_or("", String::as_str)
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
            "seed {}, {} edits a row\n{:<18} {:<66} {:>7} {:>6} {:>8}  refused",
            self.effort.seed, self.effort.cases, "rules", "row", "folders", "edits", "accepted"
        )?;
        let mut shares: BTreeMap<Supplier, usize> = BTreeMap::new();
        for line in &self.lines {
            let refused: Vec<String> = line
                .refused
                .iter()
                .map(|(reason, count)| format!("{count} {reason}"))
                .collect();
            let refused = match refused.is_empty() {
                true => "none".to_owned(),
                false => refused.join(", "),
            };
            for (supplier, count) in &line.accepted {
                *shares.entry(*supplier).or_default() += count;
            }
            let accepted: usize = line.accepted.values().sum();
            writeln!(
                f,
                "{:<18} {:<66} {:>7} {:>6} {:>8}  {refused}",
                line.row.rules, line.row.what, line.folders, line.edits, accepted
            )?;
        }
        let all: usize = shares.values().sum();
        let edits: usize = self.lines.iter().map(|line| line.edits).sum();
        let share = 100 * all / edits.max(1);
        writeln!(f, "accepted {all} of {edits} edits ({share} %)")?;
        let shares: Vec<String> = shares
            .iter()
            .map(|(supplier, count)| {
                let share = 100 * count / all.max(1);
                format!("{} {share} % ({count})", supplier.as_str())
            })
            .collect();
        writeln!(f, "accepted by supplier: {}", shares.join(", "))
    }
}
