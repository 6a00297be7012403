//! Asks the cluster: access reviews and token reviews through the Kubernetes API.

use std::time::Duration;

use futures::future::BoxFuture;
use k8s_openapi::api::authentication::v1 as authentication;
use k8s_openapi::api::authorization::v1 as authorization;
use k8s_openapi::apimachinery::pkg::apis::meta::v1 as meta;
use kube::Api;
use kube::api::PostParams;

use crate::authorize::{
    AccessReview, Attributes, Decision, ResourceAttributes, ReviewError, TokenReview,
};
use crate::identity::{BearerToken, UserInfo};
use crate::selector::{FieldSelector, LabelOperator, LabelSelector};

/// The time for one question with all its tries.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Tries in all, with growing pauses between them.
const TRIES: u32 = 5;
/// The first pause.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// Asks the cluster with one client, whose account needs `system:auth-delegator`.
#[derive(Clone)]
pub struct KubeAccess {
    client: kube::Client,
}

impl KubeAccess {
    /// Returns a reviewer that asks with this client.
    pub fn new(client: kube::Client) -> Self {
        Self { client }
    }

    async fn ask<T>(&self, question: &'static str, review: &T) -> Result<T, ReviewError>
    where
        T: kube::Resource<Scope = k8s_openapi::ClusterResourceScope>
            + serde::Serialize
            + serde::de::DeserializeOwned
            + Clone
            + std::fmt::Debug,
        T::DynamicType: Default,
    {
        let api: Api<T> = Api::all(self.client.clone());
        let tries = async {
            let mut pause = FIRST_PAUSE;
            for _ in 1..TRIES {
                match api.create(&PostParams::default(), review).await {
                    Err(error) if worth_another_try(&error) => tokio::time::sleep(pause).await,
                    settled => return settled,
                }
                pause = pause.mul_f32(1.5);
            }
            api.create(&PostParams::default(), review).await
        };
        match tokio::time::timeout(TIMEOUT, tries).await {
            Ok(Ok(answered)) => Ok(answered),
            Ok(Err(source)) => Err(ReviewError {
                question,
                source: Box::new(source),
            }),
            Err(elapsed) => Err(ReviewError {
                question,
                source: Box::new(elapsed),
            }),
        }
    }
}

/// An answer that says no will say so again; a server in trouble or out of reach may not.
fn worth_another_try(error: &kube::Error) -> bool {
    match error {
        kube::Error::Api(status) => status.code >= 500 || status.code == 429,
        kube::Error::HyperError(_) | kube::Error::Service(_) => true,
        _ => false,
    }
}

impl AccessReview for KubeAccess {
    fn review<'a>(
        &'a self,
        user: &'a UserInfo,
        attributes: &'a Attributes,
    ) -> BoxFuture<'a, Result<Decision, ReviewError>> {
        Box::pin(async move {
            let review = access_review(user, attributes);
            let status = self
                .ask("whether the user may", &review)
                .await?
                .status
                .unwrap_or_default();
            Ok(if status.allowed && !status.denied.unwrap_or(false) {
                Decision::Allowed
            } else {
                Decision::Denied(status.reason.unwrap_or_default())
            })
        })
    }
}

impl TokenReview for KubeAccess {
    fn review<'a>(
        &'a self,
        token: &'a BearerToken,
    ) -> BoxFuture<'a, Result<Option<UserInfo>, ReviewError>> {
        Box::pin(async move {
            let review = authentication::TokenReview {
                spec: authentication::TokenReviewSpec {
                    token: token.expose().to_owned(),
                    audiences: None,
                },
                ..Default::default()
            };
            let status = self
                .ask("whose token it is", &review)
                .await?
                .status
                .unwrap_or_default();
            Ok(status
                .user
                .filter(|_| status.authenticated.unwrap_or(false))
                .map(user_info))
        })
    }
}

fn user_info(user: authentication::UserInfo) -> UserInfo {
    UserInfo {
        name: user.username.unwrap_or_default(),
        uid: user.uid,
        groups: user.groups.unwrap_or_default(),
        extra: user.extra.unwrap_or_default(),
    }
}

fn access_review(user: &UserInfo, attributes: &Attributes) -> authorization::SubjectAccessReview {
    let mut spec = authorization::SubjectAccessReviewSpec {
        user: Some(user.name.clone()),
        uid: user.uid.clone(),
        groups: Some(user.groups.clone()),
        extra: (!user.extra.is_empty()).then(|| user.extra.clone()),
        ..Default::default()
    };
    match attributes {
        Attributes::Path { verb, path } => {
            spec.non_resource_attributes = Some(authorization::NonResourceAttributes {
                path: Some(path.clone()),
                verb: Some((*verb).to_owned()),
            });
        }
        Attributes::Resource(resource) => {
            spec.resource_attributes = Some(resource_attributes(resource));
        }
    }
    authorization::SubjectAccessReview {
        spec,
        ..Default::default()
    }
}

fn resource_attributes(resource: &ResourceAttributes) -> authorization::ResourceAttributes {
    authorization::ResourceAttributes {
        verb: Some(resource.verb.to_owned()),
        group: Some(resource.group.clone()),
        version: Some(resource.version.clone()),
        resource: Some(resource.resource.clone()),
        namespace: resource.namespace.clone(),
        name: resource.name.clone(),
        subresource: None,
        label_selector: label_requirements(&resource.labels).map(|requirements| {
            authorization::LabelSelectorAttributes {
                raw_selector: None,
                requirements: Some(requirements),
            }
        }),
        field_selector: field_requirements(&resource.fields).map(|requirements| {
            authorization::FieldSelectorAttributes {
                raw_selector: None,
                requirements: Some(requirements),
            }
        }),
    }
}

/// Numeric comparisons have no form in a review and are left out: the review then judges a wider
/// list than the one returned, never a narrower one.
fn label_requirements(selector: &LabelSelector) -> Option<Vec<meta::LabelSelectorRequirement>> {
    let requirements: Vec<_> = selector
        .0
        .iter()
        .filter_map(|requirement| {
            let (operator, values) = match &requirement.operator {
                LabelOperator::In(values) => ("In", Some(values.clone())),
                LabelOperator::NotIn(values) => ("NotIn", Some(values.clone())),
                LabelOperator::Exists => ("Exists", None),
                LabelOperator::DoesNotExist => ("DoesNotExist", None),
                LabelOperator::GreaterThan(_) | LabelOperator::LessThan(_) => return None,
            };
            Some(meta::LabelSelectorRequirement {
                key: requirement.key.clone(),
                operator: operator.to_owned(),
                values,
            })
        })
        .collect();
    (!requirements.is_empty()).then_some(requirements)
}

fn field_requirements(selector: &FieldSelector) -> Option<Vec<meta::FieldSelectorRequirement>> {
    let requirements: Vec<_> = selector
        .0
        .iter()
        .map(|term| meta::FieldSelectorRequirement {
            key: term.field.clone(),
            operator: if term.equal { "In" } else { "NotIn" }.to_owned(),
            values: Some(vec![term.value.clone()]),
        })
        .collect();
    (!requirements.is_empty()).then_some(requirements)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_review_carries_the_whole_user_and_request() {
        let user = UserInfo {
            name: "jane".to_owned(),
            uid: Some("7".to_owned()),
            groups: vec!["dev".to_owned()],
            extra: [("example.test/x".to_owned(), vec!["y".to_owned()])].into(),
        };
        let attributes = Attributes::Resource(Box::new(ResourceAttributes {
            verb: "list",
            group: "example.test".to_owned(),
            version: "v1".to_owned(),
            resource: "widgets".to_owned(),
            namespace: Some("a".to_owned()),
            name: Some("x".to_owned()),
            labels: LabelSelector::parse("team in (red),!old,size>3").unwrap(),
            fields: FieldSelector::parse("metadata.name=x").unwrap(),
        }));
        let review = serde_json::to_value(access_review(&user, &attributes).spec).unwrap();
        assert_eq!(
            review,
            serde_json::json!({
                "user": "jane", "uid": "7", "groups": ["dev"],
                "extra": {"example.test/x": ["y"]},
                "resourceAttributes": {
                    "verb": "list", "group": "example.test", "version": "v1",
                    "resource": "widgets", "namespace": "a", "name": "x",
                    "labelSelector": {"requirements": [
                        {"key": "team", "operator": "In", "values": ["red"]},
                        {"key": "old", "operator": "DoesNotExist"}
                    ]},
                    "fieldSelector": {"requirements": [
                        {"key": "metadata.name", "operator": "In", "values": ["x"]}
                    ]}
                }
            })
        );
    }
}
