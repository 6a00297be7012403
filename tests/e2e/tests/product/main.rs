//! The whole product on a real control plane and a real Git host, used as a person uses it.
//!
//! `dice`, `documents` and `plan` are shared; each other module is one promise. Every test starts its own stage, so they can run side by side.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test and its helpers report a failure by panicking"
)]

mod commits;
mod dice;
mod documents;
mod plan;

mod audit;
mod bursts;
mod contention;
mod defaults;
mod edit;
mod fleet;
mod gitea;
mod hosts;
mod journal;
mod kills;
mod kustomize;
mod leaks;
mod namespaces;
mod needles;
mod peer;
mod proxy;
mod record;
mod recovery;
mod rivals;
mod sealed;
mod soak;
mod ssh;
mod verbs;
mod views;
mod wire;
mod worded;
