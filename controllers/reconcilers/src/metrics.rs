//! `resource_condition`: the three summary conditions of every object, read when somebody asks.

use board::metrics::{FamilySpec, Observations, RegisterError, Registrar};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::ResourceExt;
use policy::conditions::{READY, RECONCILING, STALLED};

use crate::context::Stores;

/// The family of the summary conditions.
const RESOURCE_CONDITION: FamilySpec<6> = FamilySpec {
    name: "resource_condition",
    labels: [
        "kind",
        "resource_namespace",
        "resource_name",
        "type",
        "status",
        "reason",
    ],
    meaning: "Ready, Reconciling and Stalled of each configuration object; of the three statuses one is 1",
    act: "when type Ready has status False for longer than a rollout takes: the reason names the gate",
};

/// The statuses of which each condition has one.
const STATUSES: [&str; 3] = ["True", "False", "Unknown"];

/// Registers the family. An object that is deleted is in no store any more, so its series end.
pub(crate) fn register(registrar: &mut Registrar, stores: Stores) -> Result<(), RegisterError> {
    registrar.observe(RESOURCE_CONDITION, move |seen| {
        for object in stores.git_providers.state() {
            let status = object.status.as_ref();
            observe(
                seen,
                "GitProvider",
                object.as_ref(),
                status.map(|status| &*status.conditions),
            );
        }
        for object in stores.git_branches.state() {
            let status = object.status.as_ref();
            observe(
                seen,
                "GitBranch",
                object.as_ref(),
                status.map(|status| &*status.conditions),
            );
        }
        for object in stores.kube_providers.state() {
            let status = object.status.as_ref();
            observe(
                seen,
                "KubeProvider",
                object.as_ref(),
                status.map(|status| &*status.conditions),
            );
        }
        for object in stores.git_targets.state() {
            let status = object.status.as_ref();
            observe(
                seen,
                "GitTarget",
                object.as_ref(),
                status.map(|status| &*status.conditions),
            );
        }
        for object in stores.watch_rules.state() {
            let status = object.status.as_ref();
            observe(
                seen,
                "WatchRule",
                object.as_ref(),
                status.map(|status| &*status.conditions),
            );
        }
    })
}

fn observe(
    seen: &mut Observations<6>,
    kind: &str,
    object: &impl ResourceExt,
    conditions: Option<&[Condition]>,
) {
    let (namespace, name) = (object.namespace().unwrap_or_default(), object.name_any());
    let summary =
        |condition: &&Condition| [READY, RECONCILING, STALLED].contains(&condition.type_.as_str());
    for condition in conditions.unwrap_or_default().iter().filter(summary) {
        for status in STATUSES {
            let value = if condition.status == status { 1.0 } else { 0.0 };
            seen.add(
                [
                    kind,
                    &namespace,
                    &name,
                    &condition.type_,
                    status,
                    &condition.reason,
                ],
                value,
            );
        }
    }
}
