//! Where a watch hands over what it saw.

use futures::future::BoxFuture;
use model::{Collection, Delivery, Snapshot, TargetKey};

/// The place that a target's changes go to. Implemented outside, over the handle of a branch.
///
/// A future that is dropped before it answers must leave nothing behind: the watch then treats the change as
/// not handed over.
pub trait Sink: Send + Sync + 'static {
    /// Hands over one change; waits until it is accepted.
    fn offer(&self, delivery: Delivery) -> BoxFuture<'_, Handover>;

    /// Hands over a complete object set; waits until it is accepted.
    fn snapshot(&self, snapshot: Snapshot) -> BoxFuture<'_, Handover>;

    /// Says that the target is no longer fed from the collection, after everything that was handed over from it
    /// and before anything that another watch hands over in its place.
    fn forget(&self, target: TargetKey, collection: Collection) -> BoxFuture<'_, Handover>;

    /// Says whether the place has stopped taking changes in; shown as the reason why a watch waits.
    fn intake_paused(&self) -> bool;
}

/// How a handover ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handover {
    /// The change is taken: it will not be lost while the process lives.
    Accepted,
    /// The place is gone, so the watch ends.
    Closed,
}
