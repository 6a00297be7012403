//! `resource_condition`, the three summary conditions of every object, read when somebody asks; and
//! `events_dropped_total`, what people were not told.

use board::metrics::{Family, FamilySpec, Observations, RegisterError, Registrar};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::ResourceExt;
use policy::conditions::{READY, RECONCILING, STALLED};
use prometheus::IntCounter;

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

/// The family of Events that nobody will read.
const EVENTS_DROPPED: FamilySpec<1> = FamilySpec {
    name: "events_dropped_total",
    labels: ["cause"],
    meaning: "Kubernetes Events that were not written: too many waited, or the API server did not take one.",
    act: "When it grows: conditions are still true, but `kubectl describe` does not tell every change.",
};

/// Why an Event was not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dropped {
    /// There was no room in the queue.
    TooManyWait,
    /// The API server refused it or did not answer.
    NotTaken,
}

/// Counts Events that were not written.
#[derive(Clone)]
pub(crate) struct DroppedEvents(Family<IntCounter, 1>);

impl DroppedEvents {
    /// Registers the family.
    pub(crate) fn register(registrar: &mut Registrar) -> Result<Self, RegisterError> {
        registrar.counter(EVENTS_DROPPED).map(Self)
    }

    pub(crate) fn note(&self, why: Dropped) {
        let cause = match why {
            Dropped::TooManyWait => "too_many_wait",
            Dropped::NotTaken => "not_taken",
        };
        self.0.with([cause]).inc();
    }
}

/// The statuses of which each condition has one.
const STATUSES: [&str; 3] = ["True", "False", "Unknown"];

/// Registers the family of conditions. An object that is deleted is in no store any more, so its series end.
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
