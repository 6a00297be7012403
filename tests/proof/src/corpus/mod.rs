//! Many texts, random edits of them, and whether each edit came out right.
//!
//! [`trees`] writes texts in the manner of public repositories, [`modules`] finds those that the sources of the
//! pinned tools hold, and `judge` asks, edits and counts.

mod judge;
mod modules;
mod report;
pub mod trees;

pub use judge::{Effort, judge};
pub use modules::module_texts;
pub use report::Report;

/// A text and what to call it.
#[derive(Debug, Clone)]
pub struct Text {
    /// Where it comes from.
    pub name: String,
    /// What it says.
    pub bytes: String,
}
