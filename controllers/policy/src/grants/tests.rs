//! The guide's example of one tenant, and the arithmetic of grants.

use std::collections::BTreeSet;

use model::BranchName;
use proptest::prelude::*;

use super::*;
use crate::consumer::{Labels, NamespaceSelector};
use crate::source_scope::{NamespaceItem, RequestedNamespace, authorize_items};

const TENANT: &str = "platform.example.com/tenant";

fn namespace(name: &str) -> Namespace {
    Namespace::new(name).unwrap()
}

/// A consumer; namespaces whose name starts with `team-` carry the tenant label.
fn consumer(in_namespace: &str, name: &str) -> Consumer {
    let tenant = in_namespace.starts_with("team-");
    let labels = tenant.then(|| (TENANT.to_owned(), "true".to_owned()));
    Consumer {
        namespace: namespace(in_namespace),
        name: ObjectName::new(name).unwrap(),
        namespace_labels: labels.into_iter().collect(),
    }
}

fn holder(kind: &'static str, owner: &str, name: &str, field: &'static str) -> GrantHolder {
    GrantHolder {
        kind,
        namespace: namespace(owner),
        name: ObjectName::new(name).unwrap(),
        field,
    }
}

fn tenants() -> ConsumerNamespaces {
    let labels = Labels::from([(TENANT.to_owned(), "true".to_owned())]);
    ConsumerNamespaces::Selector(NamespaceSelector::new(&labels, &[]).unwrap())
}

fn names(names: &[&str]) -> ConsumerNamespaces {
    ConsumerNamespaces::Names(names.iter().map(|name| namespace(name)).collect())
}

fn patterns(texts: &[&str]) -> Vec<BranchPattern> {
    texts
        .iter()
        .map(|text| BranchPattern::parse(text).unwrap())
        .collect()
}

fn source(namespaces: &[&str]) -> SourceGrantScope {
    SourceGrantScope {
        namespaces: namespaces
            .iter()
            .map(|text| NamespaceScope::parse(text).unwrap())
            .collect(),
        cluster_resources: Vec::new(),
    }
}

fn claim(from: &str, branch: &str, grants: &[BranchGrant]) -> Result<(), (RefusalCode, String)> {
    let provider = holder(
        "GitProvider",
        "platform",
        "shared-repo",
        "spec.allowedGitBranches",
    );
    let branch = BranchName::new(branch).unwrap();
    answer(admit_branch(
        &consumer(from, "live"),
        &branch,
        &provider,
        grants,
    ))
    .map(|_| ())
}

fn write(from: &str, grants: &[WriterGrant]) -> Result<(), (RefusalCode, String)> {
    let branch = holder("GitBranch", "team-a", "live", "spec.allowedGitTargets");
    answer(admit_writer(&consumer(from, "apps"), &branch, grants)).map(|_| ())
}

fn mirror(from: &str, grants: &[SourceGrant]) -> Result<SourceScope, (RefusalCode, String)> {
    answer(admit_source(&consumer(from, "apps"), &production(), grants))
}

fn production() -> GrantHolder {
    holder(
        "KubeProvider",
        "platform",
        "production",
        "spec.allowedGitTargets",
    )
}

fn answer<T>(admission: Admission<T>) -> Result<T, (RefusalCode, String)> {
    match admission {
        Admission::Admitted(scope) => Ok(scope),
        Admission::Refused(refusal) => Err((refusal.code, refusal.message)),
    }
}

#[test]
fn one_tenant_end_to_end() {
    let branches = [Grant {
        consumers: tenants(),
        scope: patterns(&["teams/{consumer.namespace}/*"]),
    }];
    assert_eq!(claim("team-a", "teams/team-a/live", &branches), Ok(()));
    for branch in ["main", "teams/team-b/live"] {
        let (code, _) = claim("team-a", branch, &branches).unwrap_err();
        assert_eq!(code, RefusalCode::BranchNotAllowed, "{branch}");
    }

    let writers = [Grant {
        consumers: ConsumerNamespaces::Same,
        scope: (),
    }];
    assert_eq!(write("team-a", &writers), Ok(()));
    assert_eq!(
        write("team-b", &writers).unwrap_err().0,
        RefusalCode::NamespaceNotAuthorized
    );
    let shared = [
        writers[0].clone(),
        Grant {
            consumers: names(&["team-b"]),
            scope: (),
        },
    ];
    assert_eq!(write("team-b", &shared), Ok(()));

    let sources = [Grant {
        consumers: tenants(),
        scope: source(&["{consumer.namespace}"]),
    }];
    let scope = mirror("team-a", &sources).unwrap();
    let item = |requested: &str| NamespaceItem {
        index: 0,
        selects: "configmaps".to_owned(),
        namespace: RequestedNamespace::Named(namespace(requested)),
    };
    let watch = |requested: &str| {
        authorize_items(
            &[item(requested)],
            &scope.namespaces,
            &namespace("team-a"),
            &production(),
        )
    };
    assert_eq!(watch("team-a"), Admission::Admitted(()));
    assert_eq!(
        watch("kube-system").refusal().unwrap().code,
        RefusalCode::SourceNamespaceNotAllowed
    );
    assert_eq!(
        mirror("platform", &sources).unwrap_err().0,
        RefusalCode::NamespaceNotAuthorized
    );
}

#[test]
fn refusals_name_the_grant() {
    let branches = [
        Grant {
            consumers: tenants(),
            scope: patterns(&["teams/{consumer.namespace}/*"]),
        },
        Grant {
            consumers: names(&["team-a"]),
            scope: patterns(&["feature/*"]),
        },
        Grant {
            consumers: names(&["team-b"]),
            scope: patterns(&["*"]),
        },
    ];
    assert_eq!(
        claim("team-a", "main", &branches).unwrap_err().1,
        "namespace \"team-a\" may claim \"teams/team-a/*\", \"feature/*\" through GitProvider \
         platform/shared-repo (spec.allowedGitBranches); requested branch \"main\" is not allowed"
    );
    let writers = [
        Grant {
            consumers: ConsumerNamespaces::Same,
            scope: (),
        },
        Grant {
            consumers: names(&["team-b"]),
            scope: (),
        },
    ];
    assert_eq!(
        write("team-c", &writers).unwrap_err().1,
        "GitBranch team-a/live admits team-a, team-b in spec.allowedGitTargets; namespace \"team-c\" is not \
         admitted"
    );
    assert_eq!(
        write("team-a", &[]).unwrap_err().1,
        "GitBranch team-a/live admits no namespace in spec.allowedGitTargets; namespace \"team-a\" is not \
         admitted"
    );
}

#[test]
fn an_explicit_scope_is_the_whole_scope() {
    let grants = [Grant {
        consumers: ConsumerNamespaces::Same,
        scope: vec![NamespaceScope::parse("flux-system").unwrap()],
    }];
    let provider = holder(
        "KubeProvider",
        "team-a",
        "local",
        "spec.allowedApplierClaims",
    );
    let hold = |place: &str| {
        admit_applier(
            &consumer("team-a", "claim"),
            &namespace(place),
            &provider,
            &grants,
        )
    };
    assert_eq!(hold("flux-system"), Admission::Admitted(()));
    let refusal = hold("team-a");
    assert_eq!(
        refusal.refusal().unwrap().code,
        RefusalCode::ApplierNamespaceNotAllowed
    );
    assert_eq!(
        refusal.refusal().unwrap().message,
        "KubeProvider team-a/local lets namespace \"team-a\" hold appliers in \"flux-system\" \
         (spec.allowedApplierClaims[].applierNamespaces); an applier in \"team-a\" is not allowed"
    );
}

#[test]
fn a_namespace_whose_labels_are_not_known_is_not_admitted_by_label() {
    let grants = [Grant {
        consumers: tenants(),
        scope: source(&["*"]),
    }];
    let unknown = Consumer {
        namespace_labels: Labels::new(),
        ..consumer("team-a", "apps")
    };
    assert!(
        admit_source(&unknown, &production(), &grants)
            .refusal()
            .is_some()
    );
    let open = [Grant {
        consumers: ConsumerNamespaces::All,
        scope: source(&["*"]),
    }];
    assert!(
        admit_source(&unknown, &production(), &open)
            .admitted()
            .is_some()
    );
}

fn any_grants() -> impl Strategy<Value = Vec<SourceGrant>> {
    let consumers = prop_oneof![
        Just(ConsumerNamespaces::Same),
        Just(ConsumerNamespaces::All),
        proptest::collection::btree_set("team-[ab]", 1..3).prop_map(|set: BTreeSet<String>| {
            ConsumerNamespaces::Names(set.iter().map(|name| namespace(name)).collect())
        }),
        Just(tenants()),
    ];
    let scope = proptest::collection::vec("[xyz]|\\*", 1..3)
        .prop_map(|texts| source(&texts.iter().map(String::as_str).collect::<Vec<_>>()));
    let grant = (consumers, scope).prop_map(|(consumers, scope)| Grant { consumers, scope });
    proptest::collection::vec(grant, 0..5)
}

proptest! {
    /// A union: the order of grants never matters, and adding one never takes anything away.
    #[test]
    fn grants_combine_by_union(mut grants in any_grants(), extra in any_grants(), from in "team-[abc]|platform") {
        let before = mirror(&from, &grants).ok();
        grants.reverse();
        prop_assert_eq!(&mirror(&from, &grants).ok(), &before);
        grants.extend(extra);
        let after = mirror(&from, &grants).ok();
        if let Some(before) = before {
            let after = after.expect("what was admitted stays admitted");
            for place in ["x", "y", "z", "w"] {
                prop_assert!(after.namespaces.allows(&namespace(place)) >= before.namespaces.allows(&namespace(place)));
            }
        }
    }
}
