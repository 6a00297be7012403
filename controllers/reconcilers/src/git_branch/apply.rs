//! Writes the status of a GitBranch, its finalizer, and tells the fleet whether its writer runs.

use std::sync::Arc;
use std::time::Duration;

use branch::BranchIdentity;
use crds::GitBranch;
use fleet::{BranchOrder, RemoteFactory};
use kube::api::{Patch, PatchParams};
use kube::{Api, ResourceExt};
use model::{BranchName, GitBranchKey, GitProviderKey};
use repository::Endpoint;
use serde_json::json;

use super::Memory;
use super::decide::{Decision, Step};
use super::observe::Observed;
use super::standing::Standing;
use crate::claims::Question;
use crate::context::Context;
use crate::failure::Failure;
use crate::kind::Next;
use crate::place;
use crate::remote_access;
use crate::signing;
use crate::status::{self, Outcome};

/// How often a writer that drains is looked at; its end also wakes the GitBranch.
pub(super) const WHILE_DRAINING: Duration = Duration::from_secs(1);

pub(super) async fn apply(
    context: &Context,
    observed: &Observed,
    standing: &Standing,
    decision: Decision,
    memory: &mut Memory,
) -> Result<Next, Failure> {
    let api: Api<GitBranch> = context.api(&observed.place);
    // The finalizer changes the version that a status patch is guarded by, so it goes first and alone.
    match decision.step {
        Step::HoldOn => return finalizer(&api, &observed.object, true).await,
        Step::LetGo => return finalizer(&api, &observed.object, false).await,
        Step::Nothing | Step::Keep | Step::Drain | Step::Released => {}
    }
    let before = observed.object.status.clone().unwrap_or_default();
    let outcome = status::write(&api, observed.object.as_ref(), &before, &decision.status).await?;
    match outcome {
        Outcome::Written => {
            let (old, new) = (&before.conditions, &decision.status.conditions);
            context
                .herald
                .ready_changed(observed.object.as_ref(), old, new);
            if decision.remote_is_fresh {
                memory.remote_written_at = Some(observed.now);
            }
        }
        Outcome::Unchanged => {}
        Outcome::Outdated => return Ok(Next::After(status::AFTER_OUTDATED)),
    }
    if matches!(standing, Standing::Unready { .. }) {
        keep_signing(context, observed).await?;
    }
    match decision.step {
        Step::Keep => keep(context, observed, standing, memory).await?,
        Step::Drain => drain(context, &observed.key, memory).await?,
        Step::Released => {
            context
                .desk
                .ask(Question::Released(observed.key.clone()))
                .await?;
            (memory.kept, memory.retired) = (false, false);
        }
        Step::Nothing | Step::HoldOn | Step::LetGo => {}
    }
    Ok(Next::After(decision.next))
}

/// Lets the writer of a GitBranch end, and tells the claim desk once it has.
pub(super) async fn drain(
    context: &Context,
    key: &GitBranchKey,
    memory: &mut Memory,
) -> Result<(), Failure> {
    // Right after the request the directory may not list a writer that is still starting.
    let known_to_follow = memory.retired || !memory.kept;
    if known_to_follow && !context.fleet.runs_branch(key) {
        context.desk.ask(Question::Released(key.clone())).await?;
        (memory.kept, memory.retired) = (false, false);
        return Ok(());
    }
    context.fleet.retire_branch(key).await?;
    memory.retired = true;
    Ok(())
}

async fn keep(
    context: &Context,
    observed: &Observed,
    standing: &Standing,
    memory: &mut Memory,
) -> Result<(), Failure> {
    let Some(order) = order(context, observed, standing) else {
        return Ok(());
    };
    context.fleet.keep_branch(order).await?;
    (memory.kept, memory.retired) = (true, false);
    if observed.request.is_some() {
        context.fleet.look(&observed.key).await?;
    }
    Ok(())
}

/// A writer goes on while its GitProvider is not ready; what its commits are signed with follows the GitProvider all the
/// same, so that none is made unsigned that should not be.
async fn keep_signing(context: &Context, observed: &Observed) -> Result<(), Failure> {
    let (Some(place), Some(provider)) = (&observed.provider_place, &observed.provider) else {
        return Ok(());
    };
    let signing = signing::order(&context.client, place, provider);
    context.fleet.sign(&observed.key, signing).await?;
    Ok(())
}

/// Describes the writer; `None` while the way to its server cannot even be described, which leaves a writer
/// that runs as it is.
fn order(context: &Context, observed: &Observed, standing: &Standing) -> Option<BranchOrder> {
    let Standing::Admitted(candidate) = standing else {
        return None;
    };
    let provider = observed.provider.as_ref()?;
    let access = observed.proof.as_ref()?.access.as_ref()?;
    let parent = observed.object.spec.parent_branch.as_deref();
    Some(BranchOrder {
        identity: BranchIdentity {
            key: candidate.key.clone(),
            repository: candidate.repository.clone(),
            branch: candidate.branch.clone(),
            parent: parent.and_then(|parent| BranchName::new(parent).ok()),
        },
        uid: candidate.uid.clone(),
        created_at: candidate.created_at,
        provider: GitProviderKey::from(observed.provider_place.as_ref()?),
        provider_uid: place::uid(provider.as_ref())?,
        committer: remote_access::committer(provider),
        signing: signing::order(&context.client, observed.provider_place.as_ref()?, provider),
        journal_key: observed.journal_key.clone().and_then(Result::ok),
        remote_stamp: access.stamp.clone(),
        remote: factory(access.endpoint.clone()),
    })
}

fn factory(endpoint: Endpoint) -> RemoteFactory {
    let runtime = tokio::runtime::Handle::current();
    Arc::new(move |cancel| {
        let remote = endpoint.remote(runtime.clone(), cancel);
        remote.map_err(|error| error.to_string())
    })
}

/// Puts the finalizer on or takes it off. Whatever comes of it, the object is looked at again at once.
async fn finalizer(api: &Api<GitBranch>, object: &GitBranch, on: bool) -> Result<Next, Failure> {
    let mut finalizers = object.finalizers().to_vec();
    finalizers.retain(|name| name != crds::GIT_BRANCH_FINALIZER);
    if on {
        finalizers.push(crds::GIT_BRANCH_FINALIZER.to_owned());
    }
    let patch = json!({
        "metadata": {"resourceVersion": object.resource_version(), "finalizers": finalizers},
    });
    match api
        .patch(
            &object.name_any(),
            &PatchParams::default(),
            &Patch::Merge(patch),
        )
        .await
    {
        Ok(_) => Ok(Next::After(status::AFTER_OUTDATED)),
        Err(kube::Error::Api(status)) if status.code == 409 || status.code == 404 => {
            Ok(Next::After(status::AFTER_OUTDATED))
        }
        Err(error) => Err(Failure::api("a change of a finalizer")(error)),
    }
}
