//! What came out of many edits.

use std::collections::BTreeMap;
use std::fmt;

/// Counts of what came out, and everything that came out wrong.
#[derive(Debug, Default)]
pub struct Report {
    /// What was looked at.
    pub name: String,
    /// How many texts.
    pub texts: usize,
    /// How many of them neither reader takes.
    pub unreadable: usize,
    /// How many of them only we do not take, by reason.
    pub not_taken: BTreeMap<String, usize>,
    /// How many documents the others have.
    pub documents: usize,
    /// How many edits were asked for.
    pub edits: usize,
    /// How many edits came out as another reader expects.
    pub accepted: usize,
    /// The edits that were refused, by reason.
    pub refused: BTreeMap<String, Vec<String>>,
    /// What is wrong, in words.
    pub wrong: Vec<String>,
}

impl Report {
    /// Starts to count.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            ..Self::default()
        }
    }

    /// Returns how many edits were refused.
    pub fn refusals(&self) -> usize {
        self.refused.values().map(Vec::len).sum()
    }

    /// Fails when anything is wrong, and shows the first of it.
    ///
    /// # Panics
    /// When anything is wrong.
    pub fn assert_nothing_wrong(&self) {
        assert!(
            self.wrong.is_empty(),
            "{self}\n{} wrong, among them:\n{}",
            self.wrong.len(),
            self.wrong
                .iter()
                .take(5)
                .cloned()
                .collect::<Vec<_>>()
                .join("\n\n")
        );
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}: {} texts ({} unreadable), {} documents, {} edits: {} accepted, {} refused, {} wrong",
            self.name,
            self.texts,
            self.unreadable,
            self.documents,
            self.edits,
            self.accepted,
            self.refusals(),
            self.wrong.len()
        )?;
        for (reason, edits) in &self.refused {
            let first = edits.first().map_or("", String::as_str);
            writeln!(f, "  {:>6} refused: {reason}, first {first}", edits.len())?;
        }
        for (reason, count) in &self.not_taken {
            writeln!(f, "  {count:>6} texts not taken: {reason}")?;
        }
        Ok(())
    }
}
