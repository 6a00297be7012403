//! The habits of a document, so that new lines look like the old ones.

use super::event::Style;
use super::text::column;
use super::tree::{Entry, Kind, Node};

/// How a document is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The line break.
    pub(crate) eol: &'static str,
    /// Columns from a key to the keys below it.
    pub(crate) step: usize,
    /// Columns from a key to the dashes of the list below it.
    pub(crate) list_offset: usize,
    /// The quotes that the document prefers, where it uses any.
    pub(crate) quote: Option<Quote>,
    /// Whether text of several lines may be written as a block.
    pub(crate) blocks: bool,
}

/// A kind of quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quote {
    Single,
    Double,
}

/// What all the items of a list have in common, so that a new one has it too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ItemStyle {
    /// Nothing: each is written in its own way.
    Own,
    /// The quotes around each.
    Quoted(Quote),
    /// Braces or brackets on one line each.
    Flow {
        /// Whether the keys are in double quotes.
        json: bool,
    },
}

impl Layout {
    /// The layout of documents that nobody wrote before.
    pub(crate) fn canonical() -> Self {
        Self {
            eol: "\n",
            step: 2,
            list_offset: 2,
            quote: None,
            blocks: true,
        }
    }

    /// Reads the habits of a document; where it has none, the canonical layout decides.
    pub(crate) fn of(text: &str, eol: &'static str, root: &Node) -> Self {
        let mut habits = Habits::default();
        habits.look(text, root, 0);
        let canonical = Self::canonical();
        let further = majority(&habits.list_offsets);
        let step = majority(&habits.steps)
            .or(further)
            .unwrap_or(canonical.step);
        let list_offset = if habits.indentless > habits.list_offsets.len() {
            0
        } else {
            further.unwrap_or(step)
        };
        let quote = match (habits.single, habits.double) {
            (0, 0) => None,
            (single, double) if single > double => Some(Quote::Single),
            _ => Some(Quote::Double),
        };
        Self {
            eol,
            step,
            list_offset,
            quote,
            blocks: true,
        }
    }
}

#[derive(Default)]
struct Habits {
    steps: Vec<usize>,
    indentless: usize,
    list_offsets: Vec<usize>,
    single: usize,
    double: usize,
}

impl Habits {
    fn look(&mut self, text: &str, node: &Node, parent: usize) {
        match &node.kind {
            Kind::Scalar { style, .. } => match style {
                Style::Single => self.single += 1,
                Style::Double => self.double += 1,
                Style::Plain | Style::Literal | Style::Folded => {}
            },
            Kind::Alias { .. } => {}
            Kind::Sequence { items, flow } => {
                let own = if *flow {
                    parent
                } else {
                    column(text, node.start)
                };
                for item in items {
                    self.look(text, item, own);
                }
            }
            Kind::Mapping { entries, flow } => {
                let own = if *flow {
                    parent
                } else {
                    column(text, node.start)
                };
                for entry in entries {
                    if !flow {
                        self.look_below(text, entry, own);
                    }
                    self.look(text, &entry.key, own);
                    self.look(text, &entry.value, own);
                }
            }
        }
    }

    /// Notes how far the value of a key is indented below it.
    fn look_below(&mut self, text: &str, entry: &Entry, own: usize) {
        if !entry.value.is_block_collection() {
            return;
        }
        let below = column(text, entry.value.start);
        if matches!(entry.value.kind, Kind::Mapping { .. }) {
            if below > own {
                self.steps.push(below - own);
            }
        } else if below > own {
            self.list_offsets.push(below - own);
        } else {
            self.indentless += 1;
        }
    }
}

/// Returns the most frequent number, the smallest of several.
fn majority(numbers: &[usize]) -> Option<usize> {
    let count = |number: usize| numbers.iter().filter(|other| **other == number).count();
    let mut distinct: Vec<usize> = numbers.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    distinct
        .into_iter()
        .max_by_key(|number| (count(*number), std::cmp::Reverse(*number)))
}
