//! What generators read.

use super::*;

/// A folder with one generator, called `web`.
fn generator(entry: &str, inputs: &[(&'static str, &str)]) -> Folder<'static> {
    let options = "generatorOptions: {disableNameSuffixHash: true}\n";
    let kustomization = format!("{options}configMapGenerator:\n- name: web\n{entry}");
    let inputs = inputs
        .iter()
        .map(|(path, text)| (*path, (*text).to_owned()));
    [("app/kustomization.yaml", kustomization)]
        .into_iter()
        .chain(inputs)
        .collect()
}

const INPUTS: [(&str, &str); 3] = [
    ("app/a.env", "# comment\nA=1\nB=2\n"),
    ("app/b.env", "C=3\n"),
    ("app/page", "hello\n"),
];

fn with(entry: &str) -> Folder<'static> {
    generator(entry, &INPUTS)
}

#[test]
fn cg_1_a_file_becomes_the_value() {
    let files = with("  files: [page, other=page]\n");
    // One file for two keys changes only when both do.
    assert_eq!(
        refusals(&files, &[("web", "/data/page", json!("bye\n"))]),
        ["web: kustomize-render-refused app/page:1"]
    );
    let both = [
        ("web", "/data/page", json!("bye")),
        ("web", "/data/other", json!("bye")),
    ];
    assert_eq!(edits(&files, &both), ["page -hello", "page +bye"]);
}

#[test]
fn cg_2_a_line_is_edited_in_place() {
    let files = with("  envs: [a.env, b.env]\n");
    assert_eq!(
        edits(&files, &[("web", "/data/B", json!("x y"))]),
        ["a.env -B=2", "a.env +B=x y"]
    );
}

#[test]
fn cg_3_a_literal_is_edited_in_place() {
    let files = with("  literals:\n  - a=1 # one\n  - 'b=\"2\"'\n");
    assert_eq!(
        edits(&files, &[("web", "/data/a", json!("5"))]),
        [
            "kustomization.yaml -- a=1 # one",
            "kustomization.yaml +- a=5 # one"
        ]
    );
    assert_eq!(
        edits(&files, &[("web", "/data/b", json!("5"))]),
        [
            "kustomization.yaml -- 'b=\"2\"'",
            "kustomization.yaml +- 'b=\"5\"'"
        ]
    );
}

#[test]
fn cg_4_a_key_that_is_gone_takes_its_input_along() {
    let files = with("  envs: [a.env]\n  literals:\n  - c=1\n  - d=2\n");
    assert_eq!(
        edits(
            &files,
            &[
                ("web", "/data/A", json!(null)),
                ("web", "/data/c", json!(null))
            ]
        ),
        ["a.env -A=1", "kustomization.yaml -- c=1"]
    );
}

#[test]
fn cg_5_a_key_of_a_file_is_not_taken_away() {
    let files = with("  files: [page]\n");
    assert_eq!(
        refusals(&files, &[("web", "/data/page", json!(null))]),
        ["web: kustomize-render-refused app/page:1"]
    );
}

#[test]
fn cg_6_a_new_key_goes_to_the_only_file_of_lines() {
    let files = with("  envs: [a.env]\n  literals: [c=1]\n");
    assert_eq!(
        edits(&files, &[("web", "/data/N", json!("9"))]),
        ["a.env +N=9"]
    );
}

#[test]
fn cg_7_a_new_key_becomes_a_literal_where_no_lines_are_read() {
    let files = with("  files: [page]\n  literals:\n  - c=1\n");
    assert_eq!(
        edits(
            &files,
            &[
                ("web", "/data/n", json!("9")),
                ("web", "/data/o", json!("8"))
            ]
        ),
        ["kustomization.yaml +- n=9", "kustomization.yaml +- o=8"]
    );
}

#[test]
fn cg_8_a_new_key_without_a_single_place_is_refused() {
    for entry in ["  envs: [a.env, b.env]\n", "  files: [page]\n"] {
        assert_eq!(
            refusals(&with(entry), &[("web", "/data/n", json!("9"))]),
            ["web: unplaceable-edit app/kustomization.yaml:3"],
            "{entry}"
        );
    }
}

#[test]
fn cg_9_nothing_but_text_is_changed() {
    let options = "  literals: [a=1]\n  options:\n    labels: {team: x}\n";
    let files = with(options);
    for (pointer, value, line) in [
        ("/metadata/labels/team", json!("z"), 6),
        ("/metadata/annotations", json!({"a": "b"}), 3),
        ("/binaryData", json!({"a": "AA=="}), 3),
        ("/immutable", json!(true), 3),
    ] {
        assert_eq!(
            refusals(&files, &[("web", pointer, value)]),
            [format!(
                "web: kustomize-render-refused app/kustomization.yaml:{line}"
            )],
            "{pointer}"
        );
    }
}

#[test]
fn cg_10_a_generator_of_a_base_is_refused() {
    let mut files = vec![(
        "app/kustomization.yaml",
        "resources: [../base]\n".to_owned(),
    )];
    let base = with("  literals: [a=1]\n").remove(0).1;
    files.push(("base/kustomization.yaml", base));
    for (pointer, line) in [("/data/a", 4), ("/data/new", 3)] {
        assert_eq!(
            refusals(&files, &[("web", pointer, json!("2"))]),
            [format!(
                "web: write-escapes-scope base/kustomization.yaml:{line}"
            )]
        );
    }
}

#[test]
fn cg_13_what_an_input_cannot_say_is_refused() {
    let files = with("  envs: [a.env]\n  literals: ['c=1']\n");
    for (pointer, at) in [
        ("/data/A", "a.env:2"),
        ("/data/new", "kustomization.yaml:3"),
    ] {
        assert_eq!(
            refusals(&files, &[("web", pointer, json!("two\nlines"))]),
            [format!("web: kustomize-render-refused app/{at}")]
        );
    }
}
