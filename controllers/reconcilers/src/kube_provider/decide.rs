//! Which conditions a KubeProvider has, and whether a source runs for it. Pure.

use std::time::Duration;

use crds::conditions::{ConditionType, Reason};
use crds::kube_provider::KubeProviderStatus;
use policy::{ConditionSet, Summary, Verdict};

use super::observe::{Connection, Observed};
use super::route;
use crate::convert::conditions;
use crate::settings::Settings;

/// What follows.
#[derive(Debug, PartialEq)]
pub(super) struct Decision {
    pub(super) status: KubeProviderStatus,
    /// Whether a source may run.
    pub(super) usable: bool,
    pub(super) next: Duration,
}

pub(super) fn decide(observed: &Observed, settings: &Settings) -> Decision {
    let before = observed.object.status.clone().unwrap_or_default();
    let generation = observed.object.metadata.generation;
    let mut set = ConditionSet::new("the connection is valid");
    validated(observed, settings, &mut set);
    let route = audit_route(observed, &mut set);
    let summary = set.summary();
    let mut status = KubeProviderStatus {
        conditions: conditions::finish(&set, &before.conditions, generation, observed.now),
        observed_generation: generation,
        audit_route: route,
        ..before
    };
    if let Some(request) = &observed.request {
        status.last_handled_reconcile_at = Some(request.clone());
    }
    Decision {
        status,
        usable: summary == Summary::Ready,
        next: match summary {
            Summary::Ready => settings.steady,
            Summary::Reconciling | Summary::Stalled => settings.converging,
        },
    }
}

fn validated(observed: &Observed, settings: &Settings, set: &mut ConditionSet) {
    let (verdict, reason, message) = match &observed.connection {
        Connection::InCluster { .. } if settings.in_cluster.allows(&observed.key) => (
            Verdict::Met,
            Reason::InCluster,
            "the operator's own identity is used".to_owned(),
        ),
        Connection::InCluster { .. } => (
            Verdict::Stalled,
            Reason::InClusterNotAuthorized,
            format!(
                "{} is not listed in --in-cluster-kube-providers; have the installer list it, or set \
                 secretRef",
                observed.key
            ),
        ),
        Connection::KubeConfig { .. } => (
            Verdict::Met,
            Reason::Succeeded,
            "the kubeconfig can be used".to_owned(),
        ),
        Connection::Unusable(fault) => (Verdict::Stalled, fault.reason(), fault.to_string()),
    };
    set.gate(
        ConditionType::Validated.as_str(),
        verdict,
        reason.as_str(),
        message,
    );
}

/// A route that another namespace holds leaves `Validated` what the credential earned.
fn audit_route(observed: &Observed, set: &mut ConditionSet) -> Option<String> {
    let route = match route::of(&observed.place, &observed.object) {
        Ok(route) => route,
        Err(too_long) => {
            let reason = Reason::AuditRouteTooLong.as_str();
            set.contribute(Verdict::Stalled, reason, too_long.to_string());
            return None;
        }
    };
    let providers = observed.providers.iter().map(AsRef::as_ref);
    if let Some(holder) = route::held_elsewhere(&observed.place, &route, providers) {
        let message = format!(
            "namespace \"{holder}\" holds audit route {route}; give this provider another one in \
             spec.attribution.auditRoute"
        );
        set.contribute(
            Verdict::Stalled,
            Reason::AuditRouteConflict.as_str(),
            message,
        );
    }
    Some(route.to_string())
}
