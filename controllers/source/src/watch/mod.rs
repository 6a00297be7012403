//! The watch of one collection for one target.
//!
//! Read [`session`] first: the pure machine that says what each event means. [`memory`] is what it remembers
//! of what was handed over, [`replay`] how initial events become an object set, [`judge`] what a single
//! object means. [`run`] is the loop around it, [`connection`] the only place that knows HTTP, [`pace`] when
//! to try again, [`progress`] what the board is told, and [`author`] whom a change is credited to.

pub(crate) mod author;
pub(crate) mod connection;
mod judge;
mod memory;
mod pace;
pub(crate) mod progress;
mod replay;
pub(crate) mod run;
mod session;

#[cfg(test)]
mod run_tests;
#[cfg(test)]
mod session_properties;
#[cfg(test)]
mod session_tests;
