//! Where the document of a new object goes.
//!
//! Only the built-in path is known so far; declared templates and the folder's one kustomization come before it
//! on the ladder. Where other objects of the type live is never looked at (PL-2).

mod builtin;
mod segment;

pub(crate) use builtin::builtin;
