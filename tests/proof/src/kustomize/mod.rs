//! Holds our renderer against kustomize's own library.
//!
//! Reading order: [`oracle`] builds folders with the library, [`ours`] with our renderer; [`archive`] writes folders down
//! as one text; [`tally`] compares and counts, [`shrink`] makes what differs smaller, [`effort`] says how much. Where the folders come from: [`cases`] were
//! written by hand, [`matrix`] combines, [`patched`], [`generated`] and [`folders`] are made up, of [`kinds`] and
//! [`written`]. [`mutation`] changes inputs, [`live`] objects; [`removed`] takes objects out.

pub mod archive;
pub mod cases;
pub mod effort;
pub mod folders;
pub mod generated;
pub mod kinds;
pub mod live;
pub mod matrix;
pub mod mutation;
pub mod oracle;
pub mod ours;
pub mod patched;
pub mod removed;
pub mod shrink;
pub mod tally;
pub mod written;
