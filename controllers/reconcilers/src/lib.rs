//! Turns configuration objects into running actors, and reports back in their status.
//!
//! Each kind has one folder with the same four files: `observe` reads everything that a decision needs into
//! one struct and judges nothing; `decide` is pure and says which conditions follow and what to ask of the
//! fleet; `apply` writes one status patch and then asks; `watches` says what else wakes the kind and which
//! changes count. Nothing here writes to Git or watches a source cluster: that is the fleet's.
//!
//! Reading order: `place` and `convert` (names, times and grants at the border to the CRD types), `kind`
//! and `schedule` (the loop that every kind runs in), `follow` and `routes` (what wakes it), then
//! `git_provider`, `git_branch`, `kube_provider`, `git_target` and `watch_rule`.

mod convert;
mod place;

mod follow;
mod kind;
mod routes;
mod schedule;

mod board_watch;
mod claims;
mod context;
mod events;
mod failure;
mod fingerprint_key;
mod known_hosts;
mod metrics;
mod proof;
mod remote_access;
mod settings;
mod signing;
mod status;

mod git_branch;
mod git_provider;
pub mod git_target;
mod kube_provider;
mod watch_rule;

#[cfg(test)]
mod fixtures;
mod run;

pub use run::{Reconcilers, Stop, describe_metrics};
pub use settings::{KubeConfigPolicy, Settings};
