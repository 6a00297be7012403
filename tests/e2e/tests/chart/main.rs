//! The chart: what it renders, that the operator understands it, and that it comes and goes cleanly.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test and its helpers report a failure by panicking"
)]

mod cluster;
mod flags;
mod lifetime;
mod values;
