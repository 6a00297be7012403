//! Writes the status of a GitTarget and tells the fleet what to mirror.

use kube::Api;

use super::Memory;
use super::decide::{Decision, Mirror};
use super::observe::Observed;
use crate::context::Context;
use crate::failure::Failure;
use crate::kind::Next;
use crate::status::{self, Outcome};

pub(super) async fn apply(
    context: &Context,
    observed: &Observed,
    decision: Decision,
    memory: &mut Memory,
) -> Result<Next, Failure> {
    let object = observed.subject.object.as_ref();
    let before = object.status.clone().unwrap_or_default();
    let api: Api<crds::GitTarget> = context.api(&observed.subject.place);
    let outcome = status::write(&api, object, &before, &decision.status).await?;
    if outcome == Outcome::Written {
        context
            .herald
            .ready_changed(object, &before.conditions, &decision.status.conditions);
    }
    // What may be mirrored does not wait for a status that could not be written.
    bring_about(context, observed, &decision, memory).await?;
    match outcome {
        Outcome::Outdated => Ok(Next::After(status::AFTER_OUTDATED)),
        Outcome::Written | Outcome::Unchanged => Ok(Next::After(decision.next)),
    }
}

async fn bring_about(
    context: &Context,
    observed: &Observed,
    decision: &Decision,
    memory: &mut Memory,
) -> Result<(), Failure> {
    match &decision.mirror {
        Mirror::Unchanged => {}
        Mirror::Start(order) => {
            context.fleet.mirror((**order).clone()).await?;
            memory.generation = order.generation;
            memory.order = Some((**order).clone());
        }
        Mirror::Stop => {
            context.fleet.withdraw(&observed.key).await?;
            memory.order = None;
        }
    }
    if let (true, Some(order)) = (decision.look, &memory.order) {
        context.fleet.look(&order.branch).await?;
        context.fleet.resync(&observed.key, None).await?;
    }
    memory
        .resynced
        .retain(|_, asked| observed.now < *asked + super::decide::RESYNC_PATIENCE);
    for collection in &decision.resync {
        context
            .fleet
            .resync(&observed.key, Some(collection.clone()))
            .await?;
        memory.resynced.insert(collection.clone(), observed.now);
    }
    Ok(())
}
