//! A folder of manifests as plain values, and whether it may be written at all.
//!
//! [`Folder`] gives every file one role and every document its identity, and is brought from commit to commit by
//! reading only what differs; [`Folder::accept`] turns it into an [`AcceptedFolder`] or into every issue at once.
//! Only an accepted folder is ever planned on. Nothing here looks at what is wanted: a folder is judged by its own
//! bytes. Documents that kustomizations build stand for the objects that they are built to.
//!
//! Reading order: `role` (what a file is), [`document`](Document) (what a document is), `helm` (the values files it names),
//! `scan` (one file), `prepared` (files scanned ahead), `builds` (what kustomizations make of files), `index`
//! (the whole folder), `judge` (what forbids to write it), `accepted` (what a plan asks); `issue` words the issues,
//! `digest` stands for what documents say, `texts` holds equal texts once.

mod accepted;
mod builds;
mod catalog;
mod digest;
mod document;
mod helm;
mod index;
mod issue;
mod judge;
mod prepared;
mod role;
mod scan;
#[cfg(test)]
mod tests;
mod texts;

pub(crate) use builds::Made;
pub use catalog::{KnownType, TypeCatalog, built_in_types, custom_type};
pub use digest::Digest;
pub use document::{Document, Join, Joining};
pub(crate) use index::Shadow;
pub use index::{AcceptedFolder, Folder};
pub use prepared::Prepared;
pub(crate) use role::is_kustomization;
