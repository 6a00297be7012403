//! What the tests of the whole product share with the demo.
//!
//! [`helm`] runs the package manager; [`chart`] renders our chart with it, and [`operator`] starts the built
//! program from that, so that it always runs as the ServiceAccount, with the rights and with the arguments
//! that an installation gives it. [`stage`] puts it between a cluster and a Git host, and [`api`] is the way to change
//! many objects in a short time.

pub mod api;
pub mod chart;
pub mod cluster;
pub mod current;
pub mod helm;
pub mod installation;
pub mod mirror;
pub mod operator;
pub mod stage;
