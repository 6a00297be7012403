//! The generic API server and its registration, behind the real aggregation layer.
//!
//! [`extension`] runs a small demo group in this process with an account of its own; `reads`, `trust`
//! and `lifetime` are the tests, each with a control plane of its own.
#![allow(clippy::unwrap_used, clippy::panic)] // Everything here is a test.

mod extension;
mod lifetime;
mod reads;
mod trust;
mod widgets;
