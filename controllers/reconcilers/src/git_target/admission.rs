//! Whether a GitTarget may write its folder and mirror its source, and what is mirrored then. Pure.

use crds::KubeProvider;
use fleet::MirrorOrder;
use model::{FolderPath, GitBranchKey, KubeProviderKey, TargetKey};
use policy::grants::{admit_source, admit_writer};
use policy::overlap::path_conflicts;
use policy::{Admission, PathClaim, TargetProblem};

use super::config;
use super::observe::{Candidate, Observed};
use crate::convert::grants;
use crate::kube_provider::route;
use crate::place::{Place, created_at, is_leaving, uid};
use crate::watch_rule::selection::{self, SourceAccess};

/// What a target that both grants admit refers to.
struct Admitted<'a> {
    branch: &'a Place,
    provider: (&'a Place, &'a KubeProvider),
    access: SourceAccess,
}

/// Returns what should be mirrored, or what is wrong with the configuration. The order's generation is
/// whoever sends it to set.
pub(super) fn order(observed: &Observed) -> Result<MirrorOrder, TargetProblem> {
    let Admitted {
        branch,
        provider: (place, provider),
        access,
    } = admit(&observed.subject)?;
    let source = KubeProviderKey::from(place);
    let all = observed.providers.iter().map(AsRef::as_ref);
    let holder = route::of(place, provider)
        .ok()
        .and_then(|own| route::held_elsewhere(place, &own, all));
    if let Some(holder) = holder {
        return Err(TargetProblem::AuditRouteConflict {
            provider: source,
            holder,
        });
    }
    let mut config = config::read(
        &observed.key,
        &observed.subject.object,
        &observed.sensitivity,
    )
    .map_err(TargetProblem::InvalidConfig)?;
    let encryption = observed.encryption.order.as_ref();
    config.encryption = encryption.map(|encryption| encryption.stamp.clone());
    let claims: Vec<PathClaim> = observed.siblings.iter().filter_map(claim).collect();
    if let Some(winner) = path_conflicts(&claims).remove(&observed.key) {
        return Err(TargetProblem::PathConflict {
            with: winner.target,
            path: winner.path,
        });
    }
    let rules = observed
        .rules
        .iter()
        .filter(|rule| !is_leaving(rule.as_ref()));
    let rules = rules
        .filter_map(|rule| selection::declaration(&Place::of(rule.as_ref())?, rule, &access).ok());
    Ok(MirrorOrder {
        branch: GitBranchKey::from(branch),
        source,
        config,
        encryption: observed.encryption.order.clone(),
        rules: rules.collect(),
        generation: 0,
    })
}

/// Checks both references and both grants of a target, the subject's or a sibling's.
fn admit(target: &Candidate) -> Result<Admitted<'_>, TargetProblem> {
    let (branch_place, branch) = match (&target.branch_place, &target.branch) {
        (Some(place), Some(branch)) => (place, branch),
        (Some(place), None) => {
            return Err(TargetProblem::GitBranchNotFound(GitBranchKey::from(place)));
        }
        (None, _) => return Err(bad_reference("spec.gitBranchRef")),
    };
    let (provider_place, provider) = match (&target.provider_place, &target.provider) {
        (Some(place), Some(provider)) => (place, provider),
        (Some(place), None) => {
            return Err(TargetProblem::KubeProviderNotFound(KubeProviderKey::from(
                place,
            )));
        }
        (None, _) => return Err(bad_reference("spec.kubeProviderRef")),
    };
    let (holder, writers) = grants::of_git_branch(branch_place, branch);
    if let Admission::Refused(refusal) = admit_writer(&target.consumer, &holder, &writers) {
        return Err(TargetProblem::NotAuthorized(refusal));
    }
    let (holder, sources) = grants::of_kube_provider(provider_place, provider);
    match admit_source(&target.consumer, &holder, &sources) {
        Admission::Refused(refusal) => Err(TargetProblem::NotAuthorized(refusal)),
        Admission::Admitted(scope) => Ok(Admitted {
            branch: branch_place,
            provider: (provider_place, provider),
            access: SourceAccess {
                consumer: target.consumer.clone(),
                holder,
                namespaces: scope.namespaces,
            },
        }),
    }
}

fn bad_reference(field: &str) -> TargetProblem {
    TargetProblem::InvalidConfig(vec![format!("{field} names nothing that can exist")])
}

/// Returns the folder that a target holds; one that is not admitted holds none.
fn claim(target: &Candidate) -> Option<PathClaim> {
    let admitted = admit(target)
        .ok()
        .filter(|_| !is_leaving(target.object.as_ref()))?;
    Some(PathClaim {
        target: TargetKey::from(&target.place),
        uid: uid(target.object.as_ref())?,
        created_at: created_at(target.object.as_ref()),
        branch: GitBranchKey::from(admitted.branch),
        path: FolderPath::new(&target.object.spec.path).ok()?,
    })
}
