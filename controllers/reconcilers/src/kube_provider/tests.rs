use std::sync::Arc;
use std::time::Duration;

use crds::KubeProvider;
use policy::InClusterConsent;
use repository::{Limits, ProxyPolicy};
use serde_json::{Value, json};

use super::decide::decide;
use super::kubeconfig::KubeConfigFault;
use super::observe::{Connection, Observed};
use crate::place::Place;
use crate::settings::{KubeConfigPolicy, Settings};

fn settings(consent: &str) -> Settings {
    Settings {
        steady: Duration::from_secs(300),
        converging: Duration::from_secs(10),
        in_cluster: InClusterConsent::parse(consent).unwrap(),
        kubeconfig: KubeConfigPolicy::default(),
        sensitivity: model::Sensitivity::default(),
        allow_git_http: false,
        default_known_hosts: None,
        allow_missing_known_hosts: false,
        git_proxy: ProxyPolicy::Direct,
        git_limits: Limits::RECOMMENDED,
        namespace: model::Namespace::new("ops").unwrap(),
        instance: "test".to_owned(),
    }
}

/// A provider named `local`; its uid is its namespace.
fn provider(namespace: &str, route: Option<&str>, created: &str) -> Arc<KubeProvider> {
    let mut spec = json!({"inCluster": {}});
    if let Some(route) = route {
        spec["attribution"] = json!({"auditRoute": route});
    }
    let object: Value = json!({
        "apiVersion": "configbutler.ai/v1alpha3", "kind": "KubeProvider",
        "metadata": {"name": "local", "namespace": namespace, "uid": namespace, "creationTimestamp": created},
        "spec": spec,
    });
    Arc::new(serde_json::from_value(object).unwrap())
}

fn observed(
    object: &Arc<KubeProvider>,
    others: &[&Arc<KubeProvider>],
    connection: Connection,
) -> Observed {
    let place = Place::of(object.as_ref()).unwrap();
    Observed {
        key: (&place).into(),
        place,
        object: Arc::clone(object),
        providers: others.iter().copied().chain([object]).cloned().collect(),
        connection,
        request: None,
        now: 1_761_038_050_000,
    }
}

fn in_cluster() -> Connection {
    Connection::InCluster {
        stamp: "uid".to_owned(),
    }
}

/// `Validated reason, Ready reason, usable`.
fn outcome(observed: &Observed, consent: &str) -> (String, String, bool) {
    let decision = decide(observed, &settings(consent));
    let reason = |type_: &str| {
        let found = decision
            .status
            .conditions
            .iter()
            .find(|condition| condition.type_ == type_);
        found
            .map(|condition| format!("{}={}", condition.status, condition.reason))
            .unwrap()
    };
    (reason("Validated"), reason("Ready"), decision.usable)
}

fn expect(validated: &str, ready: &str, usable: bool) -> (String, String, bool) {
    (validated.to_owned(), ready.to_owned(), usable)
}

const OLD: &str = "2026-01-01T00:00:00Z";
const NEW: &str = "2026-02-01T00:00:00Z";

#[test]
fn the_operators_own_identity_takes_the_installers_consent() {
    let local = provider("platform", None, OLD);
    let look = observed(&local, &[], in_cluster());
    assert_eq!(
        outcome(&look, "platform/local"),
        expect("True=InCluster", "True=Succeeded", true)
    );
    let refused = expect(
        "False=InClusterNotAuthorized",
        "False=InClusterNotAuthorized",
        false,
    );
    assert_eq!(outcome(&look, "platform/other"), refused);
    assert_eq!(outcome(&look, ""), refused);
}

#[test]
fn an_unusable_kubeconfig_says_what_it_does() {
    let local = provider("platform", None, OLD);
    let fault = KubeConfigFault::InsecureTlsNotAllowed;
    let look = observed(&local, &[], Connection::Unusable(fault));
    let reason = "False=KubeConfigInsecureTLSNotAllowed";
    assert_eq!(outcome(&look, ""), expect(reason, reason, false));
}

#[test]
fn a_route_of_another_namespace_refuses_and_leaves_validated_alone() {
    let old = provider("a", Some("shared"), OLD);
    let new = provider("b", Some("shared"), NEW);
    let look = observed(&new, &[&old], in_cluster());
    assert_eq!(
        outcome(&look, "b/local"),
        expect("True=InCluster", "False=AuditRouteConflict", false)
    );
    let holder = observed(&old, &[&new], in_cluster());
    assert_eq!(
        outcome(&holder, "a/local"),
        expect("True=InCluster", "True=Succeeded", true)
    );
}

#[test]
fn a_default_route_belongs_to_its_own_provider_however_young() {
    let squatter = provider("evil", Some("platform.local"), OLD);
    let own = provider("platform", None, NEW);
    let look = observed(&own, &[&squatter], in_cluster());
    assert_eq!(outcome(&look, "platform/local").1, "True=Succeeded");
    let status = decide(&look, &settings("platform/local")).status;
    assert_eq!(status.audit_route.as_deref(), Some("platform.local"));
    let other = observed(&squatter, &[&own], in_cluster());
    assert_eq!(outcome(&other, "evil/local").1, "False=AuditRouteConflict");
}
