//! Where a watch hands over what it saw.

use futures::future::BoxFuture;
use model::{Collection, Delivery, Snapshot, TargetKey};

/// The place that a target's changes go to. Implemented outside, over the handle of a branch.
///
/// A future that is dropped before it answers leaves open whether the place has what it was given. A watch drops one
/// only when it ends, and whoever watches after it begins with a replay.
pub trait Sink: Send + Sync + 'static {
    /// Hands over one change; waits until it is accepted.
    fn offer(&self, delivery: Delivery) -> BoxFuture<'_, Handover>;

    /// Hands over one change and waits only until its place in the order is fixed. The answer comes when the
    /// change is accepted, so that one watch can have several on their way to the disk.
    fn enqueue(&self, delivery: Delivery) -> BoxFuture<'_, Acceptance> {
        Box::pin(async move { Acceptance::of(std::future::ready(self.offer(delivery).await)) })
    }

    /// Hands over a complete object set; waits until it is accepted.
    fn snapshot(&self, snapshot: Snapshot) -> BoxFuture<'_, Handover>;

    /// Says that the target is no longer fed from the collection, after everything that was handed over from it
    /// and before anything that another watch hands over in its place.
    fn forget(&self, target: TargetKey, collection: Collection) -> BoxFuture<'_, Handover>;

    /// Says whether the place has stopped taking changes in; shown as the reason why a watch waits.
    fn intake_paused(&self) -> bool;
}

/// The answer to a handover, which may still be on its way.
pub struct Acceptance(pub(crate) BoxFuture<'static, Handover>);

impl Acceptance {
    /// Takes the future that gives the answer.
    pub fn of(answer: impl Future<Output = Handover> + Send + 'static) -> Self {
        Self(Box::pin(answer))
    }
}

/// How a handover ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handover {
    /// The change is taken and will not be lost.
    Accepted,
    /// The place is gone, so the watch ends.
    Closed,
}
