//! What the tests of the whole product share with the demo.
//!
//! [`helm`] runs the package manager; [`chart`] renders our chart with it, and [`operator`] starts the built
//! program from that, so that it always runs as the ServiceAccount, with the rights and with the arguments
//! that an installation gives it. [`stage`] puts it between a cluster and a Git host, [`mirror`] describes what is
//! mirrored, [`api`] is the way to change many objects in a short time, and [`judge`] says what Git holds in the end.

pub mod api;
pub mod chart;
pub mod cluster;
pub mod conditions;
pub mod current;
pub mod helm;
pub mod installation;
pub mod judge;
pub mod mirror;
pub mod operator;
pub mod stage;
