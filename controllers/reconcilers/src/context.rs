//! What every reconciler is given: readers, handles and settings.

use std::sync::Arc;

use branch::Turns;
use crds::{GitBranch, GitProvider, GitTarget, KubeProvider, WatchRule};
use fleet::FleetHandle;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};
use kube::runtime::reflector::Store;
use kube::{Api, Client, Resource, ResourceExt};
use model::Millis;

use crate::claims::ClaimDesk;
use crate::events::Herald;
use crate::failure::Failure;
use crate::fingerprint_key::FingerprintKeys;
use crate::place::Place;
use crate::routes::Wakes;
use crate::settings::Settings;

/// Everything around the reconcilers.
pub(crate) struct Context {
    pub(crate) client: Client,
    pub(crate) stores: Stores,
    pub(crate) fleet: FleetHandle,
    pub(crate) desk: ClaimDesk,
    pub(crate) herald: Herald,
    pub(crate) wakes: Wakes,
    pub(crate) settings: Settings,
    pub(crate) fingerprint_key: FingerprintKeys,
    pub(crate) clock: Arc<dyn branch::Clock>,
    /// Bounds how many reconcilers ask one Git host at once.
    pub(crate) asking: Turns,
}

/// Every configuration object and every Namespace of the control cluster, as last seen.
#[derive(Clone)]
pub(crate) struct Stores {
    pub(crate) git_providers: Store<GitProvider>,
    pub(crate) git_branches: Store<GitBranch>,
    pub(crate) kube_providers: Store<KubeProvider>,
    pub(crate) git_targets: Store<GitTarget>,
    pub(crate) watch_rules: Store<WatchRule>,
    pub(crate) namespaces: Store<Namespace>,
}

impl Context {
    /// Returns the time for people and for comparing with what the API server wrote.
    pub(crate) fn wall(&self) -> Millis {
        self.clock.now().wall
    }

    /// Returns the API of a kind in one namespace.
    pub(crate) fn api<K>(&self, place: &Place) -> Api<K>
    where
        K: Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>,
    {
        Api::namespaced(self.client.clone(), place.namespace.as_str())
    }

    /// Reads a Secret. Secrets are not watched, so that no value of them is kept.
    pub(crate) async fn secret(&self, place: &Place) -> Result<Option<Secret>, Failure> {
        let api: Api<Secret> = self.api(place);
        api.get_opt(place.name.as_str())
            .await
            .map_err(Failure::api("for a Secret"))
    }

    /// Reads a ConfigMap.
    pub(crate) async fn config_map(&self, place: &Place) -> Result<Option<ConfigMap>, Failure> {
        let api: Api<ConfigMap> = self.api(place);
        api.get_opt(place.name.as_str())
            .await
            .map_err(Failure::api("for a ConfigMap"))
    }
}

impl Stores {
    /// Returns the Namespace of an object.
    pub(crate) fn namespace_of(&self, place: &Place) -> Option<Arc<Namespace>> {
        self.namespaces
            .get(&kube::runtime::reflector::ObjectRef::new(
                place.namespace.as_str(),
            ))
    }

    /// Returns the GitBranches that go through a GitProvider.
    pub(crate) fn branches_through(&self, provider: &Place) -> Vec<Place> {
        let through = |branch: &GitBranch| git_provider_of(branch).as_ref() == Some(provider);
        places(self.git_branches.state_filter(through))
    }

    /// Returns the GitTargets that write a GitBranch.
    pub(crate) fn targets_on(&self, branch: &Place) -> Vec<Arc<GitTarget>> {
        self.git_targets
            .state_filter(|target| git_branch_of(target).as_ref() == Some(branch))
    }

    /// Returns the GitTargets that mirror through a KubeProvider.
    pub(crate) fn targets_through(&self, provider: &Place) -> Vec<Arc<GitTarget>> {
        self.git_targets
            .state_filter(|target| kube_provider_of(target).as_ref() == Some(provider))
    }

    /// Returns the WatchRules that feed a GitTarget.
    pub(crate) fn rules_of(&self, target: &Place) -> Vec<Arc<WatchRule>> {
        self.watch_rules
            .state_filter(|rule| git_target_of(rule).as_ref() == Some(target))
    }
}

/// Returns where the objects are.
pub(crate) fn places<K: ResourceExt>(objects: Vec<Arc<K>>) -> Vec<Place> {
    objects
        .iter()
        .filter_map(|object| Place::of(object.as_ref()))
        .collect()
}

/// Returns the GitProvider that a GitBranch names.
pub(crate) fn git_provider_of(branch: &GitBranch) -> Option<Place> {
    let own = branch.namespace()?;
    let reference = &branch.spec.git_provider_ref;
    Place::named(reference.namespace_or(&own), &reference.name)
}

/// Returns the GitBranch that a GitTarget names.
pub(crate) fn git_branch_of(target: &GitTarget) -> Option<Place> {
    let own = target.namespace()?;
    let reference = &target.spec.git_branch_ref;
    Place::named(reference.namespace_or(&own), &reference.name)
}

/// Returns the KubeProvider that a GitTarget names.
pub(crate) fn kube_provider_of(target: &GitTarget) -> Option<Place> {
    let own = target.namespace()?;
    let reference = &target.spec.kube_provider_ref;
    Place::named(reference.namespace_or(&own), &reference.name)
}

/// Returns the GitTarget that a WatchRule names.
pub(crate) fn git_target_of(rule: &WatchRule) -> Option<Place> {
    Place::named(&rule.namespace()?, &rule.spec.git_target_ref.name)
}

/// Returns the value of the annotation that asks for a fresh look, when it was not acted on yet.
pub(crate) fn fresh_request(object: &impl ResourceExt, handled: Option<&str>) -> Option<String> {
    let requested = object.annotations().get(crds::REQUESTED_AT)?;
    (handled != Some(requested.as_str())).then(|| requested.clone())
}
