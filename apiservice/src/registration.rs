//! The `APIService` object: what it must say, and whether one that was seen says so. Pure.

use k8s_openapi::ByteString;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::{
    APIService, APIServiceSpec, ServiceReference,
};
use serde_json::{Value, json};

use crate::names::{ApiName, ServiceName};

/// The priority of the group and of the version. Low, so that a short name that somebody else uses
/// too stays theirs.
const PRIORITY: i32 = 100;

/// Who owns the `APIService` object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegistrationMode {
    /// This process creates it when it is ready and removes it when it stops.
    SelfManaged,
    /// Somebody else renders it; this process only keeps the certificate bundle in it right.
    Chart,
}

/// What is registered, and where it is reached.
#[derive(Debug, Clone, PartialEq)]
pub struct RegistrationPlan {
    /// The group and version.
    pub api: ApiName,
    /// The Service in front of the server.
    pub service: ServiceName,
    /// Who owns the object.
    pub mode: RegistrationMode,
    /// A cluster-scoped object whose removal takes the registration with it, so that an uninstall
    /// leaves nothing behind even when this process is already gone.
    pub owner: Option<OwnerReference>,
}

/// What has to be sent to make the registration true.
#[derive(Debug, Clone, PartialEq)]
pub enum Repair {
    /// Nothing.
    None,
    /// The whole object, applied.
    Apply(Box<APIService>),
    /// A merge patch of an object that somebody else owns.
    Patch(Value),
    /// Nothing can be sent: somebody else has to create the object first.
    Wait,
}

impl RegistrationPlan {
    /// Decides what has to be sent, given what was seen. The bundle is PEM; without one the cluster's
    /// own roots count.
    pub fn judge(&self, seen: Option<&APIService>, ca_bundle: Option<&str>) -> Repair {
        let desired = self.desired(ca_bundle);
        match (self.mode, seen) {
            (RegistrationMode::SelfManaged, Some(seen)) if is_true(seen, &desired) => Repair::None,
            (RegistrationMode::SelfManaged, _) => Repair::Apply(Box::new(desired)),
            (RegistrationMode::Chart, None) => Repair::Wait,
            (RegistrationMode::Chart, Some(seen)) if verifies_alike(seen, &desired) => Repair::None,
            (RegistrationMode::Chart, Some(_)) => {
                let bundle = desired.spec.and_then(|spec| spec.ca_bundle);
                Repair::Patch(json!({"spec": {
                    "caBundle": bundle, "insecureSkipTLSVerify": false,
                }}))
            }
        }
    }

    /// Returns the object as it must be.
    pub fn desired(&self, ca_bundle: Option<&str>) -> APIService {
        let mut object = APIService::default();
        object.metadata.name = Some(self.api.object_name());
        object.metadata.owner_references = self.owner.clone().map(|owner| vec![owner]);
        object.spec = Some(APIServiceSpec {
            group: Some(self.api.group.clone()),
            version: Some(self.api.version.clone()),
            group_priority_minimum: PRIORITY,
            version_priority: PRIORITY,
            ca_bundle: ca_bundle.map(|bundle| ByteString(bundle.as_bytes().to_vec())),
            // Said, not left out, so that nobody else's value survives beside our bundle.
            insecure_skip_tls_verify: Some(false),
            service: Some(ServiceReference {
                namespace: Some(self.service.namespace.clone()),
                name: Some(self.service.name.clone()),
                port: Some(i32::from(self.service.port)),
            }),
        });
        object
    }
}

fn is_true(seen: &APIService, desired: &APIService) -> bool {
    let (Some(seen_spec), Some(desired_spec)) = (&seen.spec, &desired.spec) else {
        return false;
    };
    let owned = desired
        .metadata
        .owner_references
        .iter()
        .flatten()
        .all(|wanted| {
            seen.metadata
                .owner_references
                .iter()
                .flatten()
                .any(|owner| owner.uid == wanted.uid)
        });
    owned
        && verifies_alike(seen, desired)
        && seen_spec.service == desired_spec.service
        && seen_spec.group == desired_spec.group
        && seen_spec.version == desired_spec.version
        && seen_spec.group_priority_minimum == desired_spec.group_priority_minimum
        && seen_spec.version_priority == desired_spec.version_priority
}

fn verifies_alike(seen: &APIService, desired: &APIService) -> bool {
    let bundle = |object: &APIService| {
        let bundle = object.spec.as_ref()?.ca_bundle.clone()?;
        (!bundle.0.is_empty()).then_some(bundle)
    };
    let skips = seen
        .spec
        .as_ref()
        .and_then(|spec| spec.insecure_skip_tls_verify)
        .unwrap_or(false);
    !skips && bundle(seen) == bundle(desired)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(mode: RegistrationMode) -> RegistrationPlan {
        RegistrationPlan {
            api: ApiName {
                group: "example.test".to_owned(),
                version: "v1".to_owned(),
            },
            service: ServiceName {
                namespace: "n".to_owned(),
                name: "s".to_owned(),
                port: 443,
            },
            mode,
            owner: Some(OwnerReference {
                api_version: "rbac.authorization.k8s.io/v1".to_owned(),
                kind: "ClusterRole".to_owned(),
                name: "role".to_owned(),
                uid: "7".to_owned(),
                ..OwnerReference::default()
            }),
        }
    }

    #[test]
    fn the_object_says_where_and_how_to_verify() {
        let object = plan(RegistrationMode::SelfManaged).desired(Some("pem"));
        assert_eq!(
            serde_json::to_value(object).unwrap(),
            json!({
                "apiVersion": "apiregistration.k8s.io/v1",
                "kind": "APIService",
                "metadata": {
                    "name": "v1.example.test",
                    "ownerReferences": [{
                        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
                        "name": "role", "uid": "7"
                    }]
                },
                "spec": {
                    "group": "example.test", "version": "v1",
                    "groupPriorityMinimum": 100, "versionPriority": 100,
                    "caBundle": "cGVt", "insecureSkipTLSVerify": false,
                    "service": {"namespace": "n", "name": "s", "port": 443}
                }
            })
        );
    }

    #[test]
    fn whatever_was_changed_is_put_back() {
        let plan = plan(RegistrationMode::SelfManaged);
        let right = plan.desired(Some("pem"));
        assert_eq!(plan.judge(Some(&right), Some("pem")), Repair::None);
        assert!(matches!(plan.judge(None, Some("pem")), Repair::Apply(_)));
        assert!(matches!(
            plan.judge(Some(&right), Some("new")),
            Repair::Apply(_)
        ));
        type Change = fn(&mut APIService);
        let changes: [Change; 5] = [
            |object| object.spec.as_mut().unwrap().ca_bundle = None,
            |object| object.spec.as_mut().unwrap().insecure_skip_tls_verify = Some(true),
            |object| object.spec.as_mut().unwrap().service = None,
            |object| object.spec.as_mut().unwrap().version_priority = 5,
            |object| object.metadata.owner_references = None,
        ];
        for change in changes {
            let mut wrong = right.clone();
            change(&mut wrong);
            assert!(
                matches!(plan.judge(Some(&wrong), Some("pem")), Repair::Apply(_)),
                "{wrong:?}"
            );
        }
    }

    #[test]
    fn of_an_object_of_somebody_else_only_the_bundle_is_kept() {
        let plan = plan(RegistrationMode::Chart);
        assert_eq!(plan.judge(None, Some("pem")), Repair::Wait);
        let mut rendered = plan.desired(None);
        rendered.spec.as_mut().unwrap().version_priority = 5;
        assert_eq!(
            plan.judge(Some(&rendered), Some("pem")),
            Repair::Patch(json!({"spec": {"caBundle": "cGVt", "insecureSkipTLSVerify": false}}))
        );
        rendered.spec.as_mut().unwrap().ca_bundle = Some(ByteString(b"pem".to_vec()));
        assert_eq!(plan.judge(Some(&rendered), Some("pem")), Repair::None);
    }
}
