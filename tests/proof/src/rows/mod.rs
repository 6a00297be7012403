//! The contract of plain folders, rule by rule: folders that people keep, what happens to their objects, and what
//! must come of it.
//!
//! A [`Row`] stands for one rule or some. Where an edit can exercise it, cases are drawn from a seed: [`hand`]
//! writes the documents in many styles, [`objects`] and [`tweak`] are the objects and what happens to them, and
//! [`case`] puts them together and says what each document must become. The judge then has them planned and
//! compares bytes, lines, remarks and what other readers read. Where no edit can, one case and its twin are
//! checked. The rows themselves stand in one file for each section of the contract. [`table`] runs and counts.

mod deleting;
mod editing;
mod namespaces;
mod placing;
mod repeating;
mod sealed;
mod sharing;
mod style;
mod templates;
mod tokens;

pub mod case;
pub mod hand;
pub(crate) mod judge;
pub mod keyring;
pub mod objects;
pub mod table;
pub mod tweak;

use crate::dice::Dice;
use case::Case;

pub use deleting::rows as deleting;
pub use editing::rows as editing;
pub use namespaces::rows as namespaces;
pub use placing::rows as placing;
pub use repeating::rows as repeating;
pub use sealed::{held_ones as sealed_and_held, new_ones as sealed_and_new};
pub use sharing::rows as sharing;
pub use style::rows as style;
pub use templates::rows as templates;
pub use tokens::rows as tokens;

/// One line of the contract.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The rules that it stands for.
    pub rules: &'static str,
    /// What they promise, in a few words.
    pub what: &'static str,
    /// Whether the guide promises it, so that a refusal that nobody asked for is a fault.
    pub promised: bool,
    /// How it is proved.
    pub proof: Proof,
}

/// How a row is proved.
#[derive(Debug, Clone, Copy)]
pub enum Proof {
    /// By many cases; a draw that gives none is repeated.
    Drawn(fn(&mut Dice) -> Option<Case>),
    /// By one case and its twin; what is wrong with them is returned.
    Twins(fn() -> Result<(), String>),
}

impl Row {
    /// A row that the guide promises.
    pub const fn promised(
        rules: &'static str,
        what: &'static str,
        draw: fn(&mut Dice) -> Option<Case>,
    ) -> Self {
        Self {
            rules,
            what,
            promised: true,
            proof: Proof::Drawn(draw),
        }
    }

    /// A row in which the planner may refuse what it cannot do.
    pub const fn allowed(
        rules: &'static str,
        what: &'static str,
        draw: fn(&mut Dice) -> Option<Case>,
    ) -> Self {
        Self {
            rules,
            what,
            promised: false,
            proof: Proof::Drawn(draw),
        }
    }

    /// A row that no edit can exercise.
    pub const fn twins(
        rules: &'static str,
        what: &'static str,
        check: fn() -> Result<(), String>,
    ) -> Self {
        Self {
            rules,
            what,
            promised: true,
            proof: Proof::Twins(check),
        }
    }
}
