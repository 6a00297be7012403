//! A source cluster: which types it serves, what is watched on it, and the collection watches.
//!
//! One [`Source`] works for one `KubeProvider`. It asks the cluster what it serves ([`catalog`]), turns the
//! rules that each target declares into collections ([`plan`]), and keeps one watch for each collection of
//! each target (`watch`). What a watch sees goes to the target's [`Sink`]; how it is doing is published on
//! the board. It does not know Git, the kinds of the configuration, or who may watch what: whoever declares
//! a target has already decided that.
//!
//! Read [`declaration`] and [`sink`] first (what goes in and what comes out), then [`catalog`], [`plan`] and
//! `watch::session` (all pure), and last `watch::run` and `actor`, which do what those decide.

pub mod declaration;
pub mod handle;
pub mod settings;
pub mod sink;

pub mod catalog;
pub mod plan;

mod actor;
mod connection;
mod fault;
pub mod metrics;
mod watch;

pub use actor::{Clock, Publishers, Source};
pub use catalog::{KindSchema, TypeCatalogView};
pub use connection::Connection;
pub use declaration::{ItemDeclaration, RuleDeclaration, TargetDeclaration};
pub use handle::{Inbox, SourceGone, SourceHandle, channel};
pub use metrics::Metrics;
pub use settings::Settings;
pub use sink::{Acceptance, Handover, Sink};
