//! Kustomize folders, rendered in process, with the input that supplied every value.
//!
//! A build is a pure function over the files of one commit: it reads nothing else, starts no program and fetches
//! nothing. What kustomize cannot build is an error here too, and what is not modelled is refused by its name
//! rather than rendered in part. Nothing here writes; a plan decides from suppliers what to change.
//!
//! Reading order: [`node`] (what a render is made of).

pub mod node;
