//! The two servers beside the extension API: probes and metrics.
//!
//! Both answer from values at hand and wait for nothing. [`listener`] binds an address and serves a
//! function on it; [`readiness`] and [`health`] say whether this process can be sent requests; [`scrape`]
//! prints the metrics.

pub mod health;
pub mod listener;
pub mod readiness;
pub mod scrape;

pub use listener::{Answer, BindError, Bound, bind, serve};
pub use readiness::{Check, Readiness};
