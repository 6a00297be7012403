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
    meaning: "Ready, Reconciling and Stalled of each configuration object; of the three statuses one is 1.",
    act: "When type Ready has status False for longer than a rollout takes: the reason names the gate.",
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

#[cfg(test)]
mod tests {
    use crds::GitTarget;
    use kube::runtime::reflector;
    use kube::runtime::watcher::Event;
    use serde_json::json;

    use super::*;
    use crate::fixtures::{object, ready};

    #[test]
    fn exactly_one_status_of_a_condition_is_one() {
        let (git_targets, mut writer) = reflector::store();
        let spec =
            json!({"gitBranchRef": {"name": "b"}, "kubeProviderRef": {"name": "k"}, "path": "p"});
        let target: GitTarget = object(
            "GitTarget",
            "team-a/apps",
            spec,
            ready("False", "TargetConflict"),
        );
        writer.apply_watcher_event(&Event::Apply(target));
        let stores = Stores {
            git_providers: reflector::store().0,
            git_branches: reflector::store().0,
            kube_providers: reflector::store().0,
            git_targets,
            watch_rules: reflector::store().0,
            namespaces: reflector::store().0,
        };
        let mut registrar = Registrar::new("gitopsreverser");
        register(&mut registrar, stores).unwrap();
        let families = registrar.finish().0.gather();
        let text = prometheus::TextEncoder::new()
            .encode_to_string(&families)
            .unwrap();
        let values: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(values.len(), 3, "{text}");
        let holding: Vec<&&str> = values.iter().filter(|line| line.ends_with(" 1")).collect();
        assert!(
            matches!(holding.as_slice(), [line] if line.contains("status=\"False\",reason=\"TargetConflict\"")),
            "{text}"
        );
    }
}
