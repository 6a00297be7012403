//! Git's protocol as parsers over bounded input: no connection, no clock, nothing of gix but ids.
//!
//! Reading order: [`packet`] (lines with a length), [`refs`] (advertisements of both protocol
//! generations), [`report`] (what became of a push).

pub(crate) mod packet;
pub(crate) mod refs;
pub(crate) mod report;

#[cfg(test)]
mod hostile_tests;
