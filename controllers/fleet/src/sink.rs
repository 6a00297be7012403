//! Joins a watch to a branch writer.

use branch::{BranchHandle, BranchMessage};
use futures::future::BoxFuture;
use model::{Collection, Delivery, Snapshot, TargetKey};
use source::{Acceptance, Handover, Sink};

/// The inbox of one branch writer, as a source sees it.
pub(crate) struct BranchSink(pub(crate) BranchHandle);

impl Sink for BranchSink {
    fn offer(&self, delivery: Delivery) -> BoxFuture<'_, Handover> {
        Box::pin(async move { answer(self.0.offer(delivery).await) })
    }

    fn enqueue(&self, delivery: Delivery) -> BoxFuture<'_, Acceptance> {
        Box::pin(async move {
            let enqueued = self.0.enqueue(delivery).await;
            Acceptance::of(async move {
                match enqueued {
                    Ok(acceptance) => answer(acceptance.await),
                    Err(closed) => answer(Err(closed)),
                }
            })
        })
    }

    fn snapshot(&self, snapshot: Snapshot) -> BoxFuture<'_, Handover> {
        Box::pin(async move { answer(self.0.snapshot(snapshot).await) })
    }

    fn forget(&self, target: TargetKey, collection: Collection) -> BoxFuture<'_, Handover> {
        let message = BranchMessage::ForgetCollection { target, collection };
        Box::pin(async move { answer(self.0.tell(message).await) })
    }

    fn intake_paused(&self) -> bool {
        self.0.intake_paused()
    }
}

fn answer(result: Result<(), branch::Closed>) -> Handover {
    match result {
        Ok(()) => Handover::Accepted,
        Err(branch::Closed) => Handover::Closed,
    }
}
