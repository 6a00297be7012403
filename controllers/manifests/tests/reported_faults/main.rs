//! Faults that users of tools like this one reported, each tried on the planner: `b045_…` proves the entry B045 of
//! `docs/rules.md`. Entries that need the real sops stand with the tests of `sealing`.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test reports a failure by panicking"
)]

#[path = "../support/mod.rs"]
mod support;

mod kustomize;
mod left_out;
mod placement;
mod sealed;
mod yaml;
