//! Starts, stops and supervises the actors.
//!
//! One [`Fleet`] owns every branch writer and every source, and remembers which target is mirrored from
//! where to where. Reconcilers say what should run through a [`FleetHandle`], in any order and as often as
//! they like; the fleet brings it about, starts what broke down again, and publishes who runs in the
//! `Directory`. It decides nothing about permissions and knows no Git and no Kubernetes objects.
//!
//! Read [`order`] (what can be asked for), then `placement` (which target is where), `restarts` (when an actor
//! that broke down starts again), `supervisor` (the one loop), `crew` (how an actor is started) and `stores`
//! (what branch writers leave on the disk).

mod catalogs;
mod crew;
mod keyring;
pub mod order;
mod placement;
mod restarts;
mod sink;
mod stores;
mod supervisor;

pub use order::{
    BranchOrder, BranchSigning, FleetGone, FleetHandle, MirrorOrder, RemoteFactory, SigningSource,
    SourceOrder, TargetEncryption,
};
pub use supervisor::{Fleet, Settings};
