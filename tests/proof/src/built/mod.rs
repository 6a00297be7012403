//! The contract of folders that kustomize builds, construct by construct: what people keep, what happens to the
//! objects that are built, and which input must say so.
//!
//! A [`Row`] stands for one rule or some; its cases are drawn from a seed. Kustomize's own library judges: it builds the
//! folder before and after, and what it builds is what is live, or the edit was refused and no byte changed. Reading
//! order: [`case`] is what happens, [`draft`] makes a folder in many hands, [`judge`] compares, [`table`] runs and
//! counts. The rows themselves stand in one file for each section of the contract.

mod absence;
mod context;
mod generators;
mod images;
mod listing;
mod mixed;
mod namespaces;
mod replicas;

pub mod case;
pub mod draft;
pub mod judge;
pub mod table;

use crate::dice::Dice;
use case::Case;

pub use absence::rows as absence;
pub use context::rows as context;
pub use generators::rows as generators;
pub use images::rows as images;
pub use listing::rows as listing;
pub use mixed::rows as mixed;
pub use namespaces::rows as namespaces;
pub use replicas::rows as replicas;

/// Returns every row.
pub fn all() -> Vec<Row> {
    let sections = [
        images(),
        replicas(),
        generators(),
        context(),
        namespaces(),
        listing(),
        absence(),
        mixed(),
    ];
    sections.concat()
}

/// One line of the contract.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The rules that it stands for.
    pub rules: &'static str,
    /// What they promise, in a few words.
    pub what: &'static str,
    /// Draws a case; nothing where the draw gives none.
    pub draw: fn(&mut Dice) -> Option<Case>,
}

impl Row {
    /// A row of cases, each of which says what must come of it.
    pub const fn new(
        rules: &'static str,
        what: &'static str,
        draw: fn(&mut Dice) -> Option<Case>,
    ) -> Self {
        Self { rules, what, draw }
    }
}
