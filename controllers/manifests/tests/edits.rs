//! Edits a reader can judge: what a person wrote, what it should say, and the text that comes out.

#![allow(clippy::unwrap_used, reason = "helpers of a test fail the test")]

use manifests::yaml;

/// Edits the first document so that it says what `wanted` says.
fn edit(before: &str, wanted: &str) -> String {
    let wanted = yaml::values(wanted).unwrap().remove(0);
    yaml::edit(before, &[(0, &wanted)]).unwrap()
}

#[test]
fn ed_8_items_that_move_take_their_comments_along() {
    let before = "\
containers:
  # the proxy goes first
  - name: proxy # envoy
    image: envoy:1

  # ours
  - name: app
    image: app:1 # pinned
";
    let wanted = "containers: [{name: app, image: app:2}, {name: log, image: log:1}, {name: proxy, image: envoy:1}]";
    assert_eq!(
        edit(before, wanted),
        "\
containers:

  # ours
  - name: app
    image: app:2 # pinned
  - image: log:1
    name: log
  # the proxy goes first
  - name: proxy # envoy
    image: envoy:1
"
    );
}

#[test]
fn ed_8_a_renamed_item_keeps_its_comments() {
    let before =
        "c:\n- name: a # the one\n  image: x:1 # pinned\n  tty: true\n- name: b\n  image: y\n";
    assert_eq!(
        edit(
            before,
            "c: [{name: z1, image: 'x:1', tty: true}, {name: b, image: y1}]"
        ),
        "c:\n- name: z1 # the one\n  image: x:1 # pinned\n  tty: true\n- name: b\n  image: y1\n"
    );
}

#[test]
fn st_1_full_line_comments_outlive_what_they_stood_above() {
    let before = "data:\n  # about a\n  a: 1 # gone with it\n  # about b\n  b: 2\n";
    assert_eq!(
        edit(before, "data: {b: 3}"),
        "data:\n  # about a\n  # about b\n  b: 3\n"
    );
    assert_eq!(edit(before, "data: {}"), "data:\n  # about a\n  {}\n");
}

#[test]
fn st_3_blocks_stay_blocks_and_folded_text_is_left_alone() {
    let before = "data:\n  a: >-\n    folded\n    text\n  b: |+ # keep\n    x\n\n  c: z\n";
    assert_eq!(
        edit(before, "data: {a: folded text, b: \"x\\n\\n\", c: q}"),
        before.replace("c: z", "c: q")
    );
    assert_eq!(
        edit(before, "data: {a: folded text, b: \"y\\nw\\n\", c: z}"),
        before.replace("|+ # keep\n    x\n\n", "| # keep\n    y\n    w\n")
    );
}

#[test]
fn st_4_st_6_new_lines_follow_the_habits_of_the_document() {
    let before = "metadata:\n    name: x\n    labels:\n        app: x\nspec:\n    list:\n    - a\n";
    assert_eq!(
        edit(
            before,
            "metadata: {name: x, namespace: ns, labels: {app: x, tier: w}, annotations: {k: v}}\nspec: {list: [a, b], more: [{k: [c]}]}\ndata: {z: 1}"
        ),
        "metadata:\n    name: x\n    namespace: ns\n    labels:\n        app: x\n        tier: w\n    annotations:\n        k: v\ndata:\n    z: 1\nspec:\n    list:\n    - a\n    - b\n    more:\n    - k:\n      - c\n"
    );
}

#[test]
fn st_7_framing_and_line_endings_stay() {
    assert_eq!(
        edit("---\r\nl:\r\n- a # x\r\n...\r\n", "l: [a, b]"),
        "---\r\nl:\r\n- a # x\r\n- b\r\n...\r\n"
    );
    assert_eq!(
        edit("\u{feff}a: |\n  x", "a: \"x\\ny\""),
        "\u{feff}a: |-\n  x\n  y"
    );
}

#[test]
fn st_9_braces_stay_braces() {
    let before = "a: { \"k\": 1, \"l\": [1, 2] } # why\n";
    assert_eq!(
        edit(before, "a: {k: 2, l: [1, 2, 3], m: on1}"),
        "a: { \"k\": 2, \"l\": [1, 2, 3], \"m\": \"on1\" } # why\n"
    );
    let spread = "a: {\n  b: 1,\n  c: 2,\n}\n";
    assert_eq!(
        edit(spread, "a: {b: 1, c: 2, d: 3}"),
        "a: {\n  b: 1,\n  c: 2,\n  d: 3,\n}\n"
    );
    assert_eq!(edit(spread, "a: {b: 1}"), "a: {\n  b: 1,\n}\n");
    assert_eq!(
        edit(
            "v:\n- name: x\n  emptyDir: {}\n",
            "v: [{name: x, emptyDir: {medium: Memory}}]"
        ),
        "v:\n- name: x\n  emptyDir:\n    medium: Memory\n"
    );
}

#[test]
fn st_11_anchors_are_not_expanded_by_an_edit_elsewhere() {
    let before = "x: &a {k: v}\ny:\n  <<: *a\n  z: 1\nw: *a\n";
    assert_eq!(
        edit(before, "x: {k: v}\ny: {k: v, z: 2}\nw: {k: v}"),
        before.replace("z: 1", "z: 2")
    );
    assert_eq!(
        edit(before, "x: {k: v2}\ny: {k: v, z: 1}\nw: {k: v2}"),
        "x: &a {k: v2}\ny:\n  <<: *a\n  z: 1\n  k: v\nw: *a\n"
    );
}

#[test]
fn st_8_other_documents_keep_their_bytes() {
    let before = "a: 1\n---\n# odd   spacing\nb:   {x:  1}\n";
    let wanted = yaml::values("a: 2").unwrap().remove(0);
    assert_eq!(
        yaml::edit(before, &[(0, &wanted)]).unwrap(),
        before.replace("a: 1", "a: 2")
    );
}

#[test]
fn d25_what_cannot_be_edited_safely_is_refused_with_its_line() {
    let cases = [
        ("a: 1\nb: 2\na: 3\n", 3),
        ("a: 1\nb: !custom x\n", 2),
        ("a: !!binary aGk=\n", 1),
        ("? a\n: 1\n", 1),
        ("a: 1\nb: *nowhere\n", 2),
        ("b: &b {x: 1}\na: {x: 9, <<: *b}\n", 2),
        ("a: .inf\n", 1),
    ];
    let wanted = yaml::values("z: 1").unwrap().remove(0);
    for (before, expected) in cases {
        let error = yaml::edit(before, &[(0, &wanted)]).unwrap_err();
        assert!(
            matches!(error, yaml::EditError::NotEditable { line, .. } if line == expected),
            "{before:?}: {error}"
        );
    }
    for unreadable in [
        "a: [\n",
        "a:\n\tb: 1\n",
        "%YAML 1.2\n---\na: 1\n",
        "a: \"\\/\"\n",
        "a: |\n  x\n  ",
        "[!,",
    ] {
        assert!(
            yaml::edit(unreadable, &[(0, &wanted)]).is_err(),
            "{unreadable:?}"
        );
    }
}
