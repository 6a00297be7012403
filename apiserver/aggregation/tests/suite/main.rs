//! Tests of the public interface, with a group of two small resources.
//!
//! `documents` compares with the files in `golden` (set `UPDATE_GOLDEN=1` to rewrite them, and read
//! the difference); `answers` and `authentication` are tables over pure functions; `loopback` talks
//! real TLS to a real server.

#![allow(clippy::unwrap_used, clippy::panic)] // Everything here is a test.

mod answers;
mod authentication;
mod authority;
mod documents;
mod loopback;
mod widgets;
