use proptest::prelude::*;

use super::*;

const THEN: &str = "2026-01-01T00:00:00Z";
const NOW: &str = "2026-01-02T00:00:00Z";

/// A set with one gate per verdict; the gate's reason is its name.
fn set(gates: &[(&'static str, Verdict)]) -> ConditionSet {
    let mut set = ConditionSet::new("all is well");
    for (name, verdict) in gates {
        set.gate(name, *verdict, *name, format!("{name} says so"));
    }
    set
}

/// The derived three as `Ready/Reconciling/Stalled reason`.
fn derived(set: &ConditionSet) -> String {
    let conditions = set.finish(&[], 1, NOW);
    let status: Vec<&str> = conditions[..3].iter().map(|c| c.status.as_str()).collect();
    format!("{} {}", status.join("/"), conditions[0].reason)
}

#[test]
fn a_stall_beats_progress_beats_convergence() {
    use Verdict::{Met, Progressing, Stalled, Unknown};
    for (gates, expected) in [
        (&[("A", Met)][..], "True/False/False Succeeded"),
        (&[("A", Met), ("B", Progressing)], "False/True/False B"),
        (&[("A", Unknown), ("B", Progressing)], "False/True/False A"),
        (
            &[("A", Progressing), ("B", Stalled), ("C", Stalled)],
            "False/False/True B",
        ),
        (&[], "True/False/False Succeeded"),
    ] {
        assert_eq!(derived(&set(gates)), expected, "{gates:?}");
    }
}

#[test]
fn gates_are_shown_with_their_own_reason() {
    let set = set(&[
        ("A", Verdict::Unknown),
        ("B", Verdict::Stalled),
        ("C", Verdict::Met),
    ]);
    let shown: Vec<_> = set.finish(&[], 7, NOW)[3..]
        .iter()
        .map(|c| {
            format!(
                "{}={} {} {}",
                c.type_,
                c.status.as_str(),
                c.reason,
                c.observed_generation
            )
        })
        .collect();
    assert_eq!(shown, ["A=Unknown A 7", "B=False B 7", "C=True C 7"]);
}

#[test]
fn a_time_moves_only_where_a_status_flips() {
    let before = set(&[("A", Verdict::Met)]).finish(&[], 1, THEN);
    let mut after = set(&[("A", Verdict::Progressing), ("B", Verdict::Met)]);
    after.note("C", ConditionStatus::Unknown, "Because", "");
    let times: Vec<_> = after
        .finish(&before, 2, NOW)
        .into_iter()
        .map(|c| (c.type_, c.last_transition_time == NOW))
        .collect();
    let expected = [
        ("Ready", true),
        ("Reconciling", true),
        ("Stalled", false),
        ("A", true),
        ("B", true),
        ("C", true),
    ];
    assert_eq!(
        times,
        expected.map(|(type_, moved)| (type_.to_owned(), moved))
    );
}

#[test]
fn a_note_does_not_count_and_success_can_say_more() {
    let mut set = set(&[]);
    set.note("FactsReceived", ConditionStatus::Unknown, "RouteUnused", "");
    assert_eq!(set.summary(), Summary::Ready);
    set.succeed_with("Suspended", "nothing is written");
    assert_eq!(derived(&set), "True/False/False Suspended");
}

#[test]
fn reasons_follow_the_schema_and_messages_fit() {
    for good in ["Succeeded", "A", "A_b:c,d9"] {
        assert!(is_reason(good), "{good}");
    }
    for bad in ["", "9x", "a b", "a:", "x-y", "ä"] {
        assert!(!is_reason(bad), "{bad}");
    }
    let long = ConditionSet::new("ä".repeat(LONGEST_MESSAGE));
    assert!(long.message().len() <= LONGEST_MESSAGE);
}

#[test]
fn a_condition_has_the_shape_of_kubernetes() {
    let condition = &set(&[]).finish(&[], 3, NOW)[0];
    let json = serde_json::to_value(condition).unwrap();
    assert_eq!(
        json,
        serde_json::json!({
            "type": "Ready", "status": "True", "reason": "Succeeded", "message": "all is well",
            "observedGeneration": 3, "lastTransitionTime": NOW,
        })
    );
    assert_eq!(
        serde_json::from_value::<Condition>(json).unwrap(),
        *condition
    );
}

fn any_verdicts() -> impl Strategy<Value = Vec<Verdict>> {
    let verdict = prop_oneof![
        Just(Verdict::Met),
        Just(Verdict::Progressing),
        Just(Verdict::Stalled),
        Just(Verdict::Unknown),
    ];
    proptest::collection::vec(verdict, 0..6)
}

proptest! {
    /// At most one of the three is True, the pair is always there, and a second pass over its own result
    /// changes nothing.
    #[test]
    fn the_three_are_exclusive_and_stable(verdicts in any_verdicts()) {
        let names = ["A", "B", "C", "D", "E", "F"];
        let gates: Vec<_> = names.into_iter().zip(verdicts.iter().copied()).collect();
        let set = set(&gates);
        let first = set.finish(&[], 1, THEN);
        let holding = first[..3].iter().filter(|c| c.status == ConditionStatus::True).count();
        prop_assert_eq!(holding, 1);
        prop_assert_eq!(first[0].status == ConditionStatus::True, verdicts.iter().all(|v| *v == Verdict::Met));
        prop_assert_eq!(set.finish(&first, 1, NOW), first);
    }
}
