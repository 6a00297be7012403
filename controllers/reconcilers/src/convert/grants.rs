//! Grants of the CRD types.
//!
//! An entry that does not parse was stored before its rule existed, or by a server that does not enforce
//! it. It grants nothing: a grant may fail closed, never open.

use crds::grants as crd;
use crds::grants::NamespacesFrom;
use crds::{GitBranch, GitProvider, KubeProvider};
use kube::ResourceExt;
use model::Namespace;
use policy::grants::SourceGrantScope;
use policy::{
    BranchGrant, BranchPattern, ClusterResource, Consumer, ConsumerNamespaces, Grant, GrantHolder,
    NamespaceScope, SourceGrant, WriterGrant,
};

use crate::convert::selectors;
use crate::place::Place;

/// Returns the grants of a GitProvider and the words for its list. An absent list admits nobody.
pub(crate) fn of_git_provider(
    place: &Place,
    provider: &GitProvider,
) -> (GrantHolder, Vec<BranchGrant>) {
    let grants = provider.spec.allowed_git_branches.iter().flatten();
    let grants = grants.filter_map(|grant| {
        let patterns = grant.branch_patterns.iter();
        let scope = patterns
            .filter_map(|text| BranchPattern::parse(text).ok())
            .collect();
        Some(Grant {
            consumers: consumers(&grant.consumer_namespaces)?,
            scope,
        })
    });
    (
        holder("GitProvider", place, "spec.allowedGitBranches"),
        grants.collect(),
    )
}

/// Returns the grants of a GitBranch and the words for its list. The API server fills an absent list, so one
/// that is absent all the same is its default.
pub(crate) fn of_git_branch(place: &Place, branch: &GitBranch) -> (GrantHolder, Vec<WriterGrant>) {
    let grants = match &branch.spec.allowed_git_targets {
        None => vec![Grant {
            consumers: ConsumerNamespaces::Same,
            scope: (),
        }],
        Some(grants) => grants
            .iter()
            .filter_map(|grant| {
                Some(Grant {
                    consumers: consumers(&grant.consumer_namespaces)?,
                    scope: (),
                })
            })
            .collect(),
    };
    (holder("GitBranch", place, "spec.allowedGitTargets"), grants)
}

/// Returns the source grants of a KubeProvider and the words for its list, with the default of an absent one.
pub(crate) fn of_kube_provider(
    place: &Place,
    provider: &KubeProvider,
) -> (GrantHolder, Vec<SourceGrant>) {
    let grants = match &provider.spec.allowed_git_targets {
        None => {
            let own = SourceGrantScope {
                namespaces: vec![NamespaceScope::ConsumerNamespace],
                cluster_resources: Vec::new(),
            };
            vec![Grant {
                consumers: ConsumerNamespaces::Same,
                scope: own,
            }]
        }
        Some(grants) => grants.iter().filter_map(source_grant).collect(),
    };
    (
        holder("KubeProvider", place, "spec.allowedGitTargets"),
        grants,
    )
}

/// Describes whoever asks: an object in a namespace of the control cluster, with that namespace's labels.
pub(crate) fn consumer(
    place: &Place,
    namespace: Option<&k8s_openapi::api::core::v1::Namespace>,
) -> Consumer {
    Consumer {
        namespace: place.namespace.clone(),
        name: place.name.clone(),
        namespace_labels: namespace
            .map(|namespace| namespace.labels().clone())
            .unwrap_or_default(),
    }
}

fn holder(kind: &'static str, place: &Place, field: &'static str) -> GrantHolder {
    GrantHolder {
        kind,
        namespace: place.namespace.clone(),
        name: place.name.clone(),
        field,
    }
}

fn source_grant(grant: &crd::SourceGrant) -> Option<SourceGrant> {
    let namespaces = grant.source_namespaces.iter().flatten();
    let types = grant.cluster_resources.iter().flatten();
    let scope = SourceGrantScope {
        namespaces: namespaces
            .filter_map(|text| NamespaceScope::parse(text).ok())
            .collect(),
        cluster_resources: types.map(|text| ClusterResource::parse(text)).collect(),
    };
    Some(Grant {
        consumers: consumers(&grant.consumer_namespaces)?,
        scope,
    })
}

fn consumers(consumers: &crd::ConsumerNamespaces) -> Option<ConsumerNamespaces> {
    match consumers.from {
        NamespacesFrom::Same => Some(ConsumerNamespaces::Same),
        NamespacesFrom::All => Some(ConsumerNamespaces::All),
        NamespacesFrom::Names => {
            let names = consumers.names.iter().flatten();
            let names = names.filter_map(|name| Namespace::new(name.as_str()).ok());
            Some(ConsumerNamespaces::Names(names.collect()))
        }
        NamespacesFrom::Selector => {
            let selector = selectors::namespaces(consumers.selector.as_ref()?).ok()?;
            Some(ConsumerNamespaces::Selector(selector))
        }
    }
}

#[cfg(test)]
mod tests {
    use policy::grants::{admit_branch, admit_source, admit_writer};
    use serde_json::{Value, json};

    use super::*;

    fn place(text: &str) -> Place {
        let (namespace, name) = text.split_once('/').unwrap();
        Place::named(namespace, name).unwrap()
    }

    fn kube_provider(allowed: Value) -> KubeProvider {
        let mut spec = json!({"inCluster": {}});
        if !allowed.is_null() {
            spec["allowedGitTargets"] = allowed;
        }
        serde_json::from_value(json!({
            "apiVersion": "configbutler.ai/v1alpha3", "kind": "KubeProvider",
            "metadata": {"name": "local", "namespace": "platform"}, "spec": spec,
        }))
        .unwrap()
    }

    fn admits(provider: &KubeProvider, namespace: &str) -> bool {
        let (holder, grants) = of_kube_provider(&place("platform/local"), provider);
        let asks = consumer(&place(&format!("{namespace}/apps")), None);
        admit_source(&asks, &holder, &grants).admitted().is_some()
    }

    #[test]
    fn an_absent_list_is_the_default_and_an_empty_one_admits_nobody() {
        assert!(admits(&kube_provider(Value::Null), "platform"));
        assert!(!admits(&kube_provider(Value::Null), "team-a"));
        assert!(!admits(&kube_provider(json!([])), "platform"));
    }

    #[test]
    fn a_grant_that_cannot_be_read_admits_nobody() {
        let broken =
            json!([{"consumerNamespaces": {"from": "Selector"}, "sourceNamespaces": ["*"]}]);
        assert!(!admits(&kube_provider(broken), "platform"));
        let empty = json!([{"consumerNamespaces": {"from": "Selector", "selector": {}}, "sourceNamespaces": ["*"]}]);
        assert!(!admits(&kube_provider(empty), "platform"));
    }

    #[test]
    fn labels_of_the_namespace_decide_a_selector() {
        let provider: GitProvider = serde_json::from_value(json!({
            "apiVersion": "configbutler.ai/v1alpha3", "kind": "GitProvider",
            "metadata": {"name": "shared-repo", "namespace": "platform"},
            "spec": {"url": "https://git.example.com/platform/config.git", "allowedGitBranches": [{
                "consumerNamespaces": {"from": "Selector", "selector": {"matchLabels": {"tenant": "true"}}},
                "branchPatterns": ["teams/{consumer.namespace}/*"]}]},
        }))
        .unwrap();
        let (holder, grants) = of_git_provider(&place("platform/shared-repo"), &provider);
        let namespace: k8s_openapi::api::core::v1::Namespace = serde_json::from_value(
            json!({"metadata": {"name": "team-a", "labels": {"tenant": "true"}}}),
        )
        .unwrap();
        let branch = model::BranchName::new("teams/team-a/live").unwrap();
        let labelled = consumer(&place("team-a/live"), Some(&namespace));
        assert!(
            admit_branch(&labelled, &branch, &holder, &grants)
                .admitted()
                .is_some()
        );
        let unlabelled = consumer(&place("team-a/live"), None);
        assert!(
            admit_branch(&unlabelled, &branch, &holder, &grants)
                .refusal()
                .is_some()
        );
    }

    #[test]
    fn a_branch_without_a_list_lets_its_own_namespace_write() {
        let branch: GitBranch = serde_json::from_value(json!({
            "apiVersion": "configbutler.ai/v1alpha3", "kind": "GitBranch",
            "metadata": {"name": "live", "namespace": "team-a"},
            "spec": {"gitProviderRef": {"name": "p"}, "branch": "main"},
        }))
        .unwrap();
        let (holder, grants) = of_git_branch(&place("team-a/live"), &branch);
        assert!(
            admit_writer(&consumer(&place("team-a/x"), None), &holder, &grants)
                .admitted()
                .is_some()
        );
        assert!(
            admit_writer(&consumer(&place("team-b/x"), None), &holder, &grants)
                .refusal()
                .is_some()
        );
    }
}
