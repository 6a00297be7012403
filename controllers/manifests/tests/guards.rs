//! Texts that must not be taken, must not be edited, or must not hurt whoever reads them.
#![allow(clippy::unwrap_used, reason = "a test reports a failure by panicking")]

use manifests::yaml::{self, EditError};
use serde_json::json;

#[test]
fn texts_that_kubernetes_does_not_take_are_not_read() {
    for text in [
        "%YAML 1.2\n---\na: 1\n",
        "a: \"\\/\"\n",
        "a: 1\n\u{feff}b: 2\n",
        "a: \"\u{feff}\"\n",
        "a:\n\tb: 1\n",
        "- a\n-\tb: c\n d",
        "[!,",
        "a: [b?c]\n",
        "a: {b?: c}\n",
        "a: \u{1}\n",
        "a: |\n  x\n  ",
        "a: |\r  x",
    ] {
        assert!(yaml::read(text).is_err(), "{text:?}");
        assert!(
            matches!(yaml::edit(text, &[]), Err(EditError::Syntax(_))),
            "{text:?}"
        );
    }
}

#[test]
fn d25_a_document_with_something_uncertain_is_read_and_not_edited() {
    for (text, problem) in [
        (
            "a: 1\na: 2\n",
            "the key \"a\" stands twice in one mapping, first in line 1",
        ),
        (
            "# one\non: 1\nb: 3\ntrue: 2\n",
            "the key \"true\" stands twice in one mapping, first in line 2",
        ),
        ("~: 1\n", "a key is null"),
        (
            "18446744073709551615: 1\n",
            "a key is a number that is too large",
        ),
        ("[a]: 1\n", "a key is not a scalar"),
        ("? a\n: 1\n", "a key is written with '?'"),
        ("a: *b\n", "an alias has no anchor before it"),
        ("a: &b [*b]\n", "an alias has no anchor before it"),
        ("a: !mine 1\n", "a tag is not one of YAML's own"),
        ("a: !!binary aGk=\n", "a value is binary"),
        ("a: !!int 1.5\n", "a value does not fit its tag"),
        ("a: .inf\n", "a number cannot be written as JSON"),
        ("<<: 1\n", "a merge key has a value that cannot be merged"),
        (
            "x: &b {k: 1}\ny:\n  k: 2\n  <<: *b\n",
            "a merge key overrides a key before it",
        ),
    ] {
        let readings = yaml::read(text).unwrap();
        assert_eq!(readings[0].problem.as_ref().unwrap().1, problem, "{text:?}");
        let edited = yaml::edit(text, &[(0, &json!({"z": "z"}))]);
        assert!(
            matches!(edited, Err(EditError::NotEditable { .. })),
            "{text:?}: {edited:?}"
        );
        assert_eq!(yaml::edit(text, &[(0, &readings[0].value)]).unwrap(), text);
    }
}

#[test]
fn a_problem_says_its_line_in_each_document() {
    let text = "a: 1\n---\n# two\nb: 1\nb: 2\n---\nc: *d\n";
    let lines: Vec<Option<u32>> = yaml::read(text)
        .unwrap()
        .into_iter()
        .map(|reading| Some(reading.problem?.0))
        .collect();
    assert_eq!(lines, [None, Some(5), Some(7)]);
}

#[test]
fn a_key_that_stands_twice_is_no_way_around_a_refusal() {
    let text = "a: 1\na: 1\n";
    assert_eq!(yaml::edit(text, &[(0, &json!({"a": 1}))]).unwrap(), text);
    let wanted = json!({"a": 1, "b": 2});
    assert!(matches!(
        yaml::edit(text, &[(0, &wanted)]),
        Err(EditError::NotEditable { .. })
    ));
}

#[test]
fn two_hundred_levels_are_enough() {
    for (open, close) in [("[", "]"), ("{a: ", "}")] {
        let nested = |depth: usize| format!("{}1{}\n", open.repeat(depth), close.repeat(depth));
        assert!(yaml::read(&nested(200)).is_ok());
        assert!(yaml::read(&nested(201)).is_err());
        assert!(yaml::read(&nested(100_000)).is_err());
    }
}

#[test]
fn aliases_of_aliases_take_no_memory() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..10 {
        let below = format!("*a{}, ", level - 1).repeat(10);
        text.push_str(&format!(
            "a{level}: &a{level} [{}]\n",
            below.trim_end_matches(", ")
        ));
    }
    assert!(yaml::read(&text).is_err());
}

#[test]
fn anchors_around_anchors_take_no_memory() {
    let open: String = (0..199).map(|level| format!("&a{level} [")).collect();
    let text = format!("{open}{}{}\n", "x, ".repeat(50_000), "]".repeat(199));
    assert!(yaml::read(&text).is_err());
}

#[test]
fn many_problems_cost_no_more_than_one() {
    let text = "--- *a\n".repeat(50_000);
    assert_eq!(yaml::read(&text).unwrap().len(), 50_000);
    let text = format!("a: [{}]\n", "*a, ".repeat(100_000));
    assert_eq!(yaml::read(&text).unwrap()[0].problem.as_ref().unwrap().0, 1);
}
