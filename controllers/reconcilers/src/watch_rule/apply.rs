//! Writes the status of a WatchRule.

use kube::Api;

use super::decide::Decision;
use super::observe::Observed;
use crate::context::Context;
use crate::failure::Failure;
use crate::kind::Next;
use crate::status::{self, Outcome};

pub(super) async fn apply(
    context: &Context,
    observed: &Observed,
    decision: Decision,
) -> Result<Next, Failure> {
    let object = observed.object.as_ref();
    let before = object.status.clone().unwrap_or_default();
    let api: Api<crds::WatchRule> = context.api(&observed.place);
    match status::write(&api, object, &before, &decision.status).await? {
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
