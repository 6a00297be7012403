//! The ten kinds of `configbutler.ai/v1alpha3`.
//!
//! Holds the Rust types that the reconcilers read and write, and the schemas that the API server enforces,
//! generated from those types. It decides nothing that depends on another object: who is admitted, whether
//! a reference exists, what a template means. Read [`git_provider`], [`git_branch`], [`kube_provider`],
//! [`git_target`] and [`watch_rule`] first, in the order of a change's way to Git; then [`grants`] and
//! [`conditions`]. The private modules `schema` and `words` are how the schemas are made.

pub mod argocd_claim;
pub mod cluster_watch_rule;
pub mod commit_request;
pub mod flux_claim;
pub mod git_branch;
pub mod git_provider;
pub mod git_receiver;
pub mod git_target;
pub mod kube_provider;
pub mod watch_rule;

pub mod applier_claim;
mod columns;
pub mod conditions;
pub mod duration;
pub mod grants;
pub mod references;
mod schema;
mod words;
pub mod yaml;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

pub use argocd_claim::ArgoCDClaim;
pub use cluster_watch_rule::ClusterWatchRule;
pub use commit_request::CommitRequest;
pub use duration::GoDuration;
pub use flux_claim::FluxClaim;
pub use git_branch::GitBranch;
pub use git_provider::GitProvider;
pub use git_receiver::GitReceiver;
pub use git_target::GitTarget;
pub use kube_provider::KubeProvider;
pub use watch_rule::WatchRule;

/// The API group of every kind.
pub const GROUP: &str = "configbutler.ai";

/// The one version that is served and stored.
pub const VERSION: &str = "v1alpha3";

/// Annotation with which a person asks for a fresh look; only a change of its value counts.
pub const REQUESTED_AT: &str = "reconcile.configbutler.ai/requestedAt";

/// Annotation with the time at which a finished CommitRequest is deleted.
pub const DELETE_AFTER: &str = "configbutler.ai/delete-after";

/// Finalizer of a GitBranch that held its branch.
pub const GIT_BRANCH_FINALIZER: &str = "configbutler.ai/git-branch";

/// Finalizer of a FluxClaim that held its Kustomization.
pub const FLUX_CLAIM_FINALIZER: &str = "configbutler.ai/flux-claim";

/// Finalizer of an ArgoCDClaim that held its Application.
pub const ARGOCD_CLAIM_FINALIZER: &str = "configbutler.ai/argocd-claim";

/// The folder of the generated files, from the root of the repository.
const FOLDER: &str = "crds/yaml";

/// Returns the CRDs of all ten kinds, as they are installed.
///
/// The derived `crd()` of a type is not the same: it has no columns and allows `null`.
pub fn all() -> Vec<CustomResourceDefinition> {
    vec![
        schema::crd::<GitProvider>(git_provider::COLUMNS),
        schema::crd::<GitBranch>(git_branch::COLUMNS),
        schema::crd::<KubeProvider>(kube_provider::COLUMNS),
        schema::crd::<GitTarget>(git_target::COLUMNS),
        schema::crd::<WatchRule>(watch_rule::COLUMNS),
        schema::crd::<ClusterWatchRule>(cluster_watch_rule::COLUMNS),
        schema::crd::<GitReceiver>(git_receiver::COLUMNS),
        schema::crd::<CommitRequest>(commit_request::COLUMNS),
        schema::crd::<FluxClaim>(flux_claim::COLUMNS),
        schema::crd::<ArgoCDClaim>(argocd_claim::COLUMNS),
    ]
}

/// Returns every generated file: its path from the root of the repository, and its content.
///
/// CommitRequest appears a second time on its own, because it is the one kind that a source cluster needs.
pub fn files() -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = all()
        .iter()
        .map(|crd| {
            (
                format!("{FOLDER}/{}.yaml", crd.spec.names.plural),
                yaml::print(crd),
            )
        })
        .collect();
    files.push((
        format!("{FOLDER}/commitrequest-crd.yaml"),
        yaml::print(&schema::crd::<CommitRequest>(commit_request::COLUMNS)),
    ));
    files
}
