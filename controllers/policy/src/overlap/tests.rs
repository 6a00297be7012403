use model::selector::Requirement;
use model::{Namespace, ObjectName, Selector, TypeId};
use proptest::prelude::*;

use super::*;

fn branch(name: &str) -> GitBranchKey {
    GitBranchKey::new(
        Namespace::new("team-a").unwrap(),
        ObjectName::new(name).unwrap(),
    )
}

fn target(name: &str) -> TargetKey {
    TargetKey::new(
        Namespace::new("team-a").unwrap(),
        ObjectName::new(name).unwrap(),
    )
}

/// A claim on branch `live`; the uid is the name.
fn claim(name: &str, created_at: Millis, path: &str) -> PathClaim {
    PathClaim {
        target: target(name),
        uid: Uid::new(name).unwrap(),
        created_at,
        branch: branch("live"),
        path: FolderPath::new(path).unwrap(),
    }
}

/// The losers as `loser<winner`.
fn losers(claims: &[PathClaim]) -> Vec<String> {
    path_conflicts(claims)
        .iter()
        .map(|(loser, winner)| format!("{}<{}", loser.name, winner.target.name))
        .collect()
}

#[test]
fn the_later_target_loses_an_equal_or_nested_path() {
    assert_eq!(
        losers(&[claim("b", 2, "apps/x"), claim("a", 1, "apps")]),
        ["b<a"]
    );
    assert_eq!(
        losers(&[claim("b", 2, "apps"), claim("a", 1, "apps/x")]),
        ["b<a"]
    );
    assert_eq!(
        losers(&[claim("b", 1, "apps"), claim("a", 1, "apps")]),
        ["b<a"],
        "a tie goes by uid"
    );
    assert_eq!(
        losers(&[claim("b", 2, "."), claim("a", 1, "apps")]),
        ["b<a"]
    );
    assert!(losers(&[claim("a", 1, "apps"), claim("b", 2, "apps2")]).is_empty());
}

#[test]
fn other_branches_never_conflict_and_a_loser_keeps_nobody_out() {
    let elsewhere = PathClaim {
        branch: branch("other"),
        ..claim("b", 2, "apps")
    };
    assert!(losers(&[claim("a", 1, "apps"), elsewhere]).is_empty());
    let three = [
        claim("a", 1, "apps/x"),
        claim("b", 2, "apps"),
        claim("c", 3, "apps/y"),
    ];
    assert_eq!(losers(&three), ["b<a"]);
}

fn collection(resource: &str, scope: &str, selector: Selector) -> Collection {
    let scope = match scope {
        "*" => Scope::AllNamespaces,
        "" => Scope::Cluster,
        name => Scope::Namespace(Namespace::new(name).unwrap()),
    };
    Collection {
        type_id: TypeId::new("", resource),
        scope,
        selector,
    }
}

fn all(resource: &str, scope: &str) -> Collection {
    collection(resource, scope, Selector::everything())
}

fn labelled(scope: &str, value: &str) -> Collection {
    let labels = BTreeMap::from([("team".to_owned(), value.to_owned())]);
    collection("secrets", scope, Selector::new(&labels, &[]).unwrap())
}

fn rule(name: &str, created_at: Millis, collections: &[Collection]) -> RuleCollections<String> {
    RuleCollections {
        rule: name.to_owned(),
        created_at,
        collections: collections.iter().cloned().enumerate().collect(),
    }
}

fn refused(rules: &[RuleCollections<String>]) -> Vec<String> {
    collection_conflicts(rules).into_keys().collect()
}

#[test]
fn an_exact_duplicate_is_shared_in_any_equivalent_form() {
    let by_expression = Requirement {
        key: "team".to_owned(),
        operator: "In".to_owned(),
        values: vec!["a".to_owned()],
    };
    let expressed = Selector::new(&BTreeMap::new(), &[by_expression]).unwrap();
    let rules = [
        rule("one", 1, &[labelled("team-a", "a")]),
        rule("two", 2, &[collection("secrets", "team-a", expressed)]),
    ];
    assert!(refused(&rules).is_empty());
}

#[test]
fn any_other_overlap_refuses_the_newer_rule_and_names_both() {
    let rules = [
        rule("new", 2, &[labelled("team-a", "b")]),
        rule("old", 1, &[labelled("team-a", "a")]),
    ];
    let conflicts = collection_conflicts(&rules);
    assert_eq!(
        conflicts["new"].to_string(),
        "rule new selects secrets in team-a with team=b, which overlaps with secrets in team-a with team=a \
         of the older rule old on the same GitTarget; keep the wider rule, or send one of them to a \
         GitTarget of its own"
    );
    assert_eq!(
        refused(&[
            rule("b", 1, &[all("secrets", "*")]),
            rule("a", 1, &[all("secrets", "x")])
        ]),
        ["b"]
    );
}

#[test]
fn different_namespaces_and_types_never_overlap() {
    let rules = [
        rule(
            "a",
            1,
            &[
                all("secrets", "x"),
                all("secrets", "y"),
                all("configmaps", "*"),
            ],
        ),
        rule("b", 2, &[all("secrets", "z"), all("nodes", "")]),
    ];
    assert!(refused(&rules).is_empty());
}

#[test]
fn a_rule_that_overlaps_with_itself_is_refused_whatever_its_age_and_holds_nothing() {
    let rules = [
        rule("old", 1, &[all("secrets", "*"), all("secrets", "x")]),
        rule("new", 2, &[all("secrets", "x")]),
    ];
    let conflicts = collection_conflicts(&rules);
    assert_eq!(conflicts.keys().collect::<Vec<_>>(), ["old"]);
    assert!(
        conflicts["old"]
            .to_string()
            .contains("spec.rules[0] selects secrets in all namespaces")
    );
}

fn any_rules() -> impl Strategy<Value = Vec<RuleCollections<String>>> {
    let scope = prop_oneof![Just("*"), Just("x"), Just("y")];
    let one = (scope, "[ab]").prop_map(|(scope, value)| labelled(scope, &value));
    proptest::collection::vec((1u64..4, proptest::collection::vec(one, 1..3)), 1..6).prop_map(
        |rules| {
            let named = |(index, (age, collections)): (usize, (u64, Vec<Collection>))| {
                rule(&format!("r{index}"), age, &collections)
            };
            rules.into_iter().enumerate().map(named).collect()
        },
    )
}

proptest! {
    /// What is kept never overlaps, whatever the order in which the rules are seen; and nobody is refused for
    /// nothing.
    #[test]
    fn kept_rules_never_overlap(mut rules in any_rules()) {
        let losers = collection_conflicts(&rules);
        let kept: Vec<_> = rules.iter().filter(|rule| !losers.contains_key(&rule.rule)).collect();
        for (at, a) in kept.iter().enumerate() {
            for b in &kept[at..] {
                for (_, left) in &a.collections {
                    prop_assert!(b.collections.iter().all(|(_, right)| !overlaps(left, right)));
                }
            }
        }
        rules.reverse();
        prop_assert_eq!(collection_conflicts(&rules), losers);
    }
}
