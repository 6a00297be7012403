//! Objects that go although they have no document of their own in what may be written, and come back.
//!
//! What a generator of the folder makes goes with the generator's entry ([`generated()`]). What a base makes that is
//! never written goes by a patch of the overlay ([`inherited()`]), which is ours as long as its file holds exactly what
//! was written, and which goes again when the object is back ([`restore()`]). Entries that would be for nothing
//! afterwards break the build; [`orphans`] finds them, and [`without_orphans`] takes those out that can go.
//!
//! Everything is read from the tree that is given, which may hold other changes of the same batch; the graph and the
//! render may be those of before the batch. Nothing is built here but to see what a patch keeps away: whoever calls
//! builds before and after, and compares (DL-9, DP-5).
//!
//! Reading order: the types here, `rewrite` (files on their way), `entries` (lists of a kustomization), `generated`,
//! `patch` (the file that takes one object away), `inherited`, `restore`, `orphan`, `refuse`.

mod entries;
mod generated;
mod inherited;
mod orphan;
mod patch;
mod refuse;
mod restore;
mod rewrite;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use model::{Refusal, RepoPath};

pub use generated::generated;
pub use inherited::inherited;
pub use orphan::{Entry, Going, Orphan, orphans, without_orphans};
pub use restore::restore;

/// Files with what they shall hold; nothing where a file goes.
pub type Changes = BTreeMap<RepoPath, Option<Vec<u8>>>;

/// Either files that change or why they stay. A refusal names no object.
pub type Attempt = Result<Changes, Box<Refusal>>;

/// What has to be written for objects to go, and which of them stay.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Removed {
    /// The files that change.
    pub files: Changes,
    /// The positions of the objects that stay, and why. A refusal names no object.
    pub refused: Vec<(usize, Refusal)>,
}
