//! The branch writer: one actor decides, commits and publishes every write of one branch.
//!
//! The life of a write, in order: [`handle`] takes a [`message`] in; [`state`] is the pure machine that
//! opens and closes commit windows, keeps what is decided and not yet published, and says when a cycle
//! runs; [`cycle`] is the one Git job: it looks at the remote, plans on the tip, commits in memory, pushes
//! with compare-and-swap and replays when the branch moved; [`journal`] keeps on the disk what is accepted until it is
//! settled; [`shell`] joins them and decides nothing; [`turns`] bounds
//! how many such jobs speak with one host at once; [`report`] turns the state into what readers see. [`record`] writes down what the machine was fed, so
//! that a run can be replayed.
//!
//! This crate does not know Kubernetes: targets, authors and collections are values from `model`.

pub mod cycle;
pub mod effect;
pub mod handle;
pub mod journal;
pub mod message;
pub mod message_text;
pub mod metrics;
pub mod record;
mod report;
pub mod shell;
pub mod state;
pub mod turns;

pub use effect::{Effect, Occurrence};
pub use handle::{BranchHandle, Closed};
pub use message::{Accepted, BranchMessage, CommitWindow, Event, TargetConfig};
pub use repository::{Remote, SigningKey};
pub use shell::{BranchActor, Clock, Surroundings, SystemClock};
pub use state::{BranchIdentity, BranchState, Settings};
pub use turns::Turns;
