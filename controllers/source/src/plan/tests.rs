use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use model::{Namespace, ObjectName, Scope, Selector};

use super::*;
use crate::catalog::fixture::scan;
use crate::catalog::{Policy, Registry};
use crate::declaration::ItemDeclaration;

/// The cluster that all cases share.
fn catalog() -> Catalog {
    let mut registry = Registry::default();
    let answer = scan(&[
        ("v1", &["configmaps", "secrets", "pods", "/nodes"]),
        ("apps/v1", &["deployments"]),
        ("apps/v1beta1", &["deployments"]),
        ("a.io/v1", &["widgets"]),
        ("b.io/v1", &["widgets"]),
        ("c.io/v1", &["/things", "gadgets"]),
        ("c.io/v2", &["gadgets"]),
    ]);
    registry.absorb(answer, 0, Duration::from_secs(60));
    registry.catalog(&Policy::default())
}

/// Writes an item as `groups|versions|resources|where|labels`; a missing part is empty, `-` is an omitted
/// list, `cluster` and `*` are scopes, anything else a namespace.
fn item(text: &str) -> ItemDeclaration {
    let parts: Vec<_> = text.split('|').collect();
    let list = |text: &str| text.split(',').map(str::to_owned).collect::<Vec<_>>();
    let optional = |text: &str| (text != "-").then(|| list(text));
    let labels = list(parts.get(4).unwrap_or(&""))
        .iter()
        .filter_map(|label| label.split_once('='))
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
    ItemDeclaration {
        api_groups: optional(parts[0]),
        api_versions: optional(parts[1]),
        resources: list(parts[2]),
        scope: match parts[3] {
            "cluster" => Scope::Cluster,
            "*" => Scope::AllNamespaces,
            namespace => Scope::Namespace(Namespace::new(namespace).unwrap()),
        },
        selector: Selector::new(&labels, &[]).unwrap(),
    }
}

fn rule(name: &str, created_at: u64, items: &[&str]) -> RuleDeclaration {
    RuleDeclaration {
        rule: key(name),
        created_at,
        items: items.iter().map(|text| item(text)).collect(),
    }
}

fn key(name: &str) -> RuleKey {
    let namespace = Namespace::new("team-a").unwrap();
    RuleKey::new(namespace, ObjectName::new(name).unwrap())
}

/// Prints a plan as `collection@version`, one each.
fn shown(plan: &WatchPlan) -> Vec<String> {
    plan.collections
        .iter()
        .map(|(collection, served)| format!("{collection}@{}", served.version))
        .collect()
}

fn unresolved(plan: &WatchPlan, name: &str) -> Vec<String> {
    match &plan.rules[&key(name)] {
        RuleResolution::Resolved { unresolved, .. } => unresolved.clone(),
        RuleResolution::Overlaps { message } => panic!("{message}"),
    }
}

fn refused(plan: &WatchPlan, name: &str) -> String {
    match &plan.rules[&key(name)] {
        RuleResolution::Overlaps { message } => message.clone(),
        resolved => panic!("{resolved:?}"),
    }
}

#[test]
fn items_select_types_versions_and_scopes() {
    let cases: &[(&str, &[&str])] = &[
        (
            "|v1|configmaps, Secrets |a",
            &["configmaps in a@v1", "secrets in a@v1"],
        ),
        (
            "-|-|deployments|*",
            &["deployments.apps in all namespaces@v1"],
        ),
        (
            "apps|v1beta1|deployments|a",
            &["deployments.apps in a@v1beta1"],
        ),
        ("apps|*|deployments|a", &["deployments.apps in a@v1"]),
        (
            "apps|v1beta1,v1|deployments|a",
            &["deployments.apps in a@v1"],
        ),
        (
            "*|-|widgets|a",
            &["widgets.a.io in a@v1", "widgets.b.io in a@v1"],
        ),
        ("b.io|-|widgets|a", &["widgets.b.io in a@v1"]),
        ("c.io|-|*|a", &["gadgets.c.io in a@v1"]),
        ("c.io|v2|*|a", &["gadgets.c.io in a@v2"]),
        ("*|-|*|cluster", &["nodes@v1", "things.c.io@v1"]),
        (
            "-|-|configmaps|a|team=x",
            &["configmaps in a with team=x@v1"],
        ),
        ("-|-|configmaps,configmaps|a", &["configmaps in a@v1"]),
    ];
    for (item, expected) in cases {
        let plan = resolve(&[rule("r", 0, &[item])], &catalog());
        assert_eq!(shown(&plan), *expected, "{item}");
        assert_eq!(unresolved(&plan, "r"), Vec::<String>::new(), "{item}");
    }
}

#[test]
fn a_name_that_selects_nothing_is_told_and_is_no_error() {
    let cases = [
        (
            "-|-|widgets|a",
            r#"widgets is served by the groups "a.io", "b.io"; name one in apiGroups"#,
        ),
        (
            "-|-|nodes|a",
            "nodes is cluster-scoped, so only a ClusterWatchRule selects it",
        ),
        (
            "-|-|configmaps|cluster",
            "configmaps lives in namespaces, so only a WatchRule selects it",
        ),
        ("-|-|pods|a", "pods is never mirrored"),
        ("-|-|zebras|a", "zebras is not served by the cluster"),
        (
            "apps|-|zebras|a",
            r#"zebras is not served by the cluster in "apps""#,
        ),
        (
            "apps|v9|deployments|a",
            "deployments.apps is not served in version v9",
        ),
    ];
    for (item, expected) in cases {
        let plan = resolve(&[rule("r", 0, &[item])], &catalog());
        assert_eq!(shown(&plan), Vec::<String>::new(), "{item}");
        assert_eq!(unresolved(&plan, "r"), [expected], "{item}");
    }
}

#[test]
fn one_good_name_is_watched_beside_a_bad_one() {
    let plan = resolve(&[rule("r", 0, &["-|-|configmaps,zebras|a"])], &catalog());
    assert_eq!(shown(&plan), ["configmaps in a@v1"]);
    assert_eq!(
        unresolved(&plan, "r"),
        ["zebras is not served by the cluster"]
    );
}

#[test]
fn the_older_rule_keeps_its_collections() {
    let old = rule("z-old", 1, &["-|-|configmaps|a"]);
    let new = rule("a-new", 2, &["-|-|configmaps|*", "-|-|secrets|b"]);
    for rules in [[old.clone(), new.clone()], [new, old]] {
        let plan = resolve(&rules, &catalog());
        assert_eq!(shown(&plan), ["configmaps in a@v1"], "refused as a whole");
        assert_eq!(
            refused(&plan, "a-new"),
            "rule team-a/a-new selects configmaps in all namespaces, which overlaps with configmaps in a \
             of the older rule team-a/z-old on the same GitTarget; keep the wider rule, or send one of \
             them to a GitTarget of its own"
        );
    }
}

#[test]
fn of_two_rules_of_one_age_the_lower_name_stays() {
    let rules = [
        rule("b", 1, &["-|-|configmaps|a"]),
        rule("a", 1, &["-|-|configmaps|a|team=x"]),
    ];
    let plan = resolve(&rules, &catalog());
    assert_eq!(shown(&plan), ["configmaps in a with team=x@v1"]);
    assert!(refused(&plan, "b").contains("team-a/a"));
}

#[test]
fn a_refused_rule_holds_nothing_back() {
    let rules = [
        rule("a", 1, &["-|-|configmaps|a"]),
        rule("b", 2, &["-|-|configmaps,secrets|*"]),
        rule("c", 3, &["-|-|secrets|a"]),
    ];
    let plan = resolve(&rules, &catalog());
    assert_eq!(shown(&plan), ["configmaps in a@v1", "secrets in a@v1"]);
    assert!(refused(&plan, "b").contains("configmaps"));
}

#[test]
fn a_rule_that_overlaps_itself_is_refused_whatever_its_age() {
    let plan = resolve(
        &[rule("r", 0, &["-|-|configmaps|a", "-|-|*|*"])],
        &catalog(),
    );
    assert_eq!(shown(&plan), Vec::<String>::new());
    let message = refused(&plan, "r");
    assert!(
        message.contains("spec.rules[0] selects configmaps in a,")
            && message.contains("spec.rules[1]"),
        "{message}"
    );
}

#[test]
fn an_exact_duplicate_shares_one_stream_in_the_preferred_version() {
    let rules = [
        rule(
            "a",
            1,
            &["apps|v1beta1|deployments|a", "apps|v1beta1|deployments|a"],
        ),
        rule("b", 2, &["apps|v1|deployments|a"]),
    ];
    let plan = resolve(&rules, &catalog());
    assert_eq!(shown(&plan), ["deployments.apps in a@v1"]);
    assert_eq!(unresolved(&plan, "b"), Vec::<String>::new());
}

#[test]
fn different_namespaces_never_overlap() {
    let rules = [
        rule("a", 1, &["-|-|configmaps|a"]),
        rule("b", 2, &["-|-|configmaps|b|team=x"]),
    ];
    let plan = resolve(&rules, &catalog());
    assert_eq!(shown(&plan).len(), 2);
}

#[test]
fn a_collection_stops_before_an_overlapping_one_starts() {
    let running = resolve(
        &[rule(
            "r",
            0,
            &[
                "-|-|configmaps|a",
                "-|-|secrets|a",
                "apps|v1beta1|deployments|a",
            ],
        )],
        &catalog(),
    );
    let wanted = resolve(
        &[rule(
            "r",
            0,
            &[
                "-|-|configmaps|a|team=x",
                "-|-|secrets|a",
                "-|-|deployments|a",
                "a.io|-|widgets|a",
            ],
        )],
        &catalog(),
    );
    let names = |map: &BTreeMap<Collection, ServedType>| {
        map.keys().map(ToString::to_string).collect::<Vec<_>>()
    };
    let diff = wanted.diff(&running.collections, &BTreeSet::new());
    assert_eq!(diff.keep.len(), 1, "secrets run on");
    assert_eq!(diff.stop.len(), 2);
    assert_eq!(names(&diff.start), ["widgets.a.io in a"]);
    assert_eq!(
        names(&diff.wait),
        ["configmaps in a with team=x", "deployments.apps in a"]
    );
    let rest: BTreeMap<_, _> = running
        .collections
        .iter()
        .filter(|(collection, _)| diff.keep.contains(*collection))
        .map(|(collection, served)| (collection.clone(), served.clone()))
        .collect();
    let still = wanted.diff(&rest, &diff.stop);
    assert_eq!(names(&still.wait).len(), 2, "they have not stopped yet");
    let stopped = wanted.diff(&rest, &BTreeSet::new());
    assert!(stopped.wait.is_empty() && stopped.start.len() == 3);
}
