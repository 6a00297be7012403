//! Reads the GitTarget, what it refers to (its Secret was read before), its rivals for the folder, its rules, and the actors' boards.

use std::collections::BTreeMap;
use std::sync::Arc;

use board::{BranchView, SourceView};
use crds::{GitBranch, GitTarget, KubeProvider, WatchRule};
use fleet::MirrorOrder;
use model::{Collection, GitBranchKey, KubeProviderKey, Millis, Sensitivity, TargetKey};
use policy::Consumer;

use super::Memory;
use super::encryption::Prepared;
use crate::context::{Context, fresh_request, git_branch_of, kube_provider_of};
use crate::convert::grants;
use crate::place::Place;

/// Everything that the decision needs.
pub(super) struct Observed {
    pub(super) subject: Candidate,
    pub(super) key: TargetKey,
    /// Every GitTarget on the same GitBranch, this one included.
    pub(super) siblings: Vec<Candidate>,
    /// Every KubeProvider: any of them may carry the audit route of this target's.
    pub(super) providers: Vec<Arc<KubeProvider>>,
    pub(super) rules: Vec<Arc<WatchRule>>,
    /// For whom sensitive objects are encrypted.
    pub(super) encryption: Prepared,
    /// The types that hold secrets.
    pub(super) sensitivity: Sensitivity,
    /// What the branch writer last published; `None` while none runs.
    pub(super) branch_view: Option<Arc<BranchView>>,
    /// What the source last published; `None` while none runs.
    pub(super) source_view: Option<Arc<SourceView>>,
    /// What the fleet was last asked for.
    pub(super) order: Option<MirrorOrder>,
    pub(super) generation: u64,
    pub(super) resynced: BTreeMap<Collection, Millis>,
    pub(super) request: Option<String>,
    pub(super) now: Millis,
}

/// A GitTarget with what decides whether it is admitted.
#[derive(Clone)]
pub(super) struct Candidate {
    pub(super) place: Place,
    pub(super) object: Arc<GitTarget>,
    pub(super) branch_place: Option<Place>,
    pub(super) branch: Option<Arc<GitBranch>>,
    pub(super) provider_place: Option<Place>,
    pub(super) provider: Option<Arc<KubeProvider>>,
    pub(super) consumer: Consumer,
}

pub(super) fn observe(
    context: &Context,
    place: &Place,
    object: Arc<GitTarget>,
    encryption: Prepared,
    memory: &Memory,
) -> Observed {
    let stores = &context.stores;
    let handled = object
        .status
        .as_ref()
        .and_then(|status| status.last_handled_reconcile_at.as_deref());
    let request = fresh_request(object.as_ref(), handled);
    let subject = candidate(context, place, object);
    let siblings = subject
        .branch_place
        .iter()
        .flat_map(|branch| stores.targets_on(branch));
    let siblings = siblings.filter_map(|sibling| {
        let place = Place::of(sibling.as_ref())?;
        Some(candidate(context, &place, sibling))
    });
    let directory = context.fleet.directory().now();
    let branch = subject
        .branch_place
        .as_ref()
        .and_then(|place| directory.branches.get(&GitBranchKey::from(place)));
    let source = subject.provider_place.as_ref();
    let source = source.and_then(|place| directory.sources.get(&KubeProviderKey::from(place)));
    Observed {
        key: TargetKey::from(place),
        siblings: siblings.collect(),
        providers: stores.kube_providers.state(),
        rules: stores.rules_of(place),
        encryption,
        sensitivity: context.settings.sensitivity.clone(),
        branch_view: branch.map(|entry| entry.view.now()),
        source_view: source.map(|entry| entry.view.now()),
        order: memory.order.clone(),
        generation: memory.generation,
        resynced: memory.resynced.clone(),
        request,
        subject,
        now: context.wall(),
    }
}

fn candidate(context: &Context, place: &Place, object: Arc<GitTarget>) -> Candidate {
    let stores = &context.stores;
    let branch_place = git_branch_of(&object);
    let provider_place = kube_provider_of(&object);
    Candidate {
        branch: branch_place
            .as_ref()
            .and_then(|place| place.find(&stores.git_branches)),
        provider: provider_place
            .as_ref()
            .and_then(|place| place.find(&stores.kube_providers)),
        consumer: grants::consumer(place, stores.namespace_of(place).as_deref()),
        place: place.clone(),
        object,
        branch_place,
        provider_place,
    }
}
