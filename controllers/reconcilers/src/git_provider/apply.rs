//! Writes the status of a GitProvider. It asks nothing of the fleet: its GitBranches do.

use super::decide::Decision;
use super::observe::Observed;
use crate::context::Context;
use crate::failure::Failure;
use crate::kind::Next;
use crate::place::Place;
use crate::status::{self, Outcome};

pub(super) async fn apply(
    context: &Context,
    place: &Place,
    observed: &Observed,
    decision: Decision,
) -> Result<Next, Failure> {
    let object = observed.object.as_ref();
    let before = object.status.clone().unwrap_or_default();
    let outcome = status::write(&context.api(place), object, &before, &decision.status).await?;
    match outcome {
        Outcome::Written => {
            context
                .herald
                .ready_changed(object, &before.conditions, &decision.status.conditions);
        }
        Outcome::Unchanged => {}
        Outcome::Outdated => return Ok(Next::After(status::AFTER_OUTDATED)),
    }
    Ok(Next::After(decision.next))
}
