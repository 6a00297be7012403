//! A folder of manifests as plain values, and whether it may be written at all.
//!
//! [`Folder::read`] gives every file one role and every document its identity; [`Folder::accept`] turns the
//! result into an [`AcceptedFolder`] or into every issue at once. Only an accepted folder is ever planned on.
//! Nothing here looks at what is wanted: a folder is judged by its own bytes. Builds (kustomize) and ignore
//! rules are not read yet; a folder that has them is refused by name.
//!
//! Reading order: `role` (what a file is), [`document`](Document) (what a document is), `read`, `issue`, `accept`.

mod accept;
mod catalog;
mod document;
mod issue;
mod read;
mod role;
#[cfg(test)]
mod tests;

pub use accept::AcceptedFolder;
pub use catalog::{KnownType, TypeCatalog};
pub use document::{Document, Join};
pub use read::{Folder, ManagedFile};
