//! A branch writer with its local store and its journal, before a real Git server.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test reports a failure by panicking, and starts the process that it kills"
)]

mod bursts;
mod history;
mod kills;
mod order;
mod support;
mod trace;
mod turns;
