//! Reads what a GitBranch depends on, proves its credential when it is time, and looks at its writer.

use std::sync::Arc;

use board::BranchView;
use crds::{GitBranch, GitProvider};
use model::{GitBranchKey, Millis};
use policy::{ClaimState, Consumer};
use sealing::JournalKey;

use super::Memory;
use super::standing::Standing;
use crate::context::{Context, fresh_request, git_provider_of};
use crate::convert::grants;
use crate::failure::Failure;
use crate::fingerprint_key::KeyFault;
use crate::place::Place;
use crate::proof::ProofFault;
use crate::remote_access::{self, Access, AccessFault, Ask};

/// Everything that the decision needs.
pub(super) struct Observed {
    pub(super) place: Place,
    pub(super) key: GitBranchKey,
    pub(super) object: Arc<GitBranch>,
    pub(super) provider_place: Option<Place>,
    pub(super) provider: Option<Arc<GitProvider>>,
    pub(super) consumer: Consumer,
    pub(super) target_count: usize,
    pub(super) request: Option<String>,
    pub(super) now: Millis,
    /// The push session, as last tried; `None` when it may not be tried.
    pub(super) proof: Option<Proven>,
    /// Where the claim stands after it was asked for.
    pub(super) claim: ClaimState,
    /// What the writer last published; `None` while none runs.
    pub(super) view: Option<Arc<BranchView>>,
    /// When `status.remote` was last written, as far as this process knows.
    pub(super) remote_written_at: Option<Millis>,
    /// What sensitive content is kept with, or why it is not; `None` while the branch is not held.
    pub(super) journal_key: Option<Result<JournalKey, String>>,
    /// Whether the writer that was told to end is known to have ended.
    pub(super) drained: bool,
}

/// A push session that was tried, and the way to the server.
#[derive(Clone)]
pub(super) struct Proven {
    pub(super) access: Option<Access>,
    pub(super) result: Result<(), ProofFault>,
}

pub(super) fn objects(context: &Context, place: &Place, object: Arc<GitBranch>) -> Observed {
    let provider_place = git_provider_of(&object);
    let provider = provider_place
        .as_ref()
        .and_then(|place| place.find(&context.stores.git_providers));
    let namespace = context.stores.namespace_of(place);
    let handled = object
        .status
        .as_ref()
        .and_then(|status| status.last_handled_reconcile_at.as_deref());
    Observed {
        request: fresh_request(object.as_ref(), handled),
        consumer: grants::consumer(place, namespace.as_deref()),
        target_count: context.stores.targets_on(place).len(),
        key: GitBranchKey::from(place),
        place: place.clone(),
        object,
        provider_place,
        provider,
        now: context.wall(),
        proof: None,
        claim: ClaimState::Absent,
        view: None,
        remote_written_at: None,
        journal_key: None,
        drained: false,
    }
}

/// Opens a push session if the GitBranch is admitted and none stands. A grant is checked before the
/// credential is ever used.
pub(super) async fn proof(
    context: &Context,
    observed: &Observed,
    standing: &Standing,
    memory: &mut Memory,
) -> Result<Option<Proven>, Failure> {
    let Standing::Admitted(_) = standing else {
        memory.proof = None;
        return Ok(None);
    };
    let (Some(place), Some(provider)) = (&observed.provider_place, &observed.provider) else {
        return Ok(None);
    };
    let access = match remote_access::read(context, place, provider).await? {
        Ok(access) => access,
        Err(fault) => {
            return Ok(Some(Proven {
                access: None,
                result: Err(of_access(&fault)),
            }));
        }
    };
    let asked = observed.request.is_some();
    let proof =
        remote_access::prove(context, &access, Ask::PushSession, asked, &mut memory.proof).await;
    Ok(Some(Proven {
        access: Some(access),
        result: proof.result,
    }))
}

/// Gets what sensitive content of the journal is encrypted with. Without it the branch is mirrored all the same.
pub(super) async fn journal_key(
    context: &Context,
    claim: &ClaimState,
) -> Result<Option<Result<JournalKey, String>>, Failure> {
    if *claim != ClaimState::Holds {
        return Ok(None);
    }
    let own = &context.settings.namespace;
    match context.fingerprint_key.get(&context.client, own).await {
        Ok(key) => Ok(Some(Ok(JournalKey::derive(&key)))),
        Err(KeyFault::Unusable(problem)) => Ok(Some(Err(problem))),
        Err(KeyFault::Api(failure)) => Err(failure),
    }
}

/// Looks at the writer, last of all, so that the decision is made on what it published most recently.
pub(super) fn writer(context: &Context, observed: &mut Observed, memory: &Memory) {
    let directory = context.fleet.directory().now();
    observed.view = directory
        .branches
        .get(&observed.key)
        .map(|entry| entry.view.now());
    observed.drained = observed.view.is_none() && (memory.retired || !memory.kept);
    observed.remote_written_at = memory.remote_written_at;
    observed.now = context.wall();
}

fn of_access(fault: &AccessFault) -> ProofFault {
    ProofFault {
        message: fault.to_string(),
        needs_change: true,
    }
}
