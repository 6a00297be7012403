//! Judges how YAML is read and edited, from outside: through the public functions, with other readers' opinions.
//!
//! It makes texts, changes and noise from a seed, asks, and counts; it knows nothing of how the editor works.
//! Reading order: [`vectors`] are edits with their exact bytes; [`dice`] and [`change`] make random edits;
//! [`oracle`] is the reader that Kubernetes uses; [`corpus`] has the texts and puts the three together; [`fuzz`]
//! turns bytes into questions, with no other reader at hand.
#![allow(
    clippy::disallowed_methods,
    reason = "the oracle is a program, started on behalf of tests"
)]

pub mod built;
pub mod change;
pub mod corpus;
pub mod dice;
pub mod fuzz;
pub mod kustomize;
pub mod oracle;
pub mod rows;
pub mod vectors;
pub mod wording;
