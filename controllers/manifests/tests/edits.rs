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
fn st_1_comments_above_an_item_that_goes_stay_when_others_move() {
    let before = "\
ports:
  # first
  - name: a
  - name: b
  # about the third
  - name: c # goes with it
  - name: d
";
    assert_eq!(
        edit(before, "ports: [{name: d}, {name: b}]"),
        "\
ports:
  # first
  - name: d
  - name: b
  # about the third
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
fn st_4_new_lines_follow_the_habits_of_the_document() {
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
fn st_4_new_lists_stand_as_far_in_as_the_others() {
    let before = "metadata: {name: x}\nrules:\n    - verbs:\n          - get\n";
    assert_eq!(
        edit(
            before,
            "metadata: {name: x}\nrules: [{verbs: [get]}, {verbs: [list]}]"
        ),
        "metadata: {name: x}\nrules:\n    - verbs:\n          - get\n    - verbs:\n          - list\n"
    );
}

#[test]
fn st_2_quotes_stay_and_what_a_reader_could_take_for_another_type_gets_them() {
    let before = "a: 'x'\nb: \"x\"\nc: x\nd: x\ne: x\nf: x\n";
    assert_eq!(
        edit(
            before,
            "{a: y1, b: z, c: 'on', d: '0777', e: '12:30', f: '2024-01-01'}"
        ),
        "a: 'y1'\nb: \"z\"\nc: \"on\"\nd: \"0777\"\ne: \"12:30\"\nf: \"2024-01-01\"\n"
    );
}

#[test]
fn st_5_blank_lines_stay() {
    let before = "\n\na: 1\n\n\nb:\n\n  c: 1\n\n  d:\n  - x\n\n  - y\n\ne: 1\n\n";
    assert_eq!(
        edit(before, "{a: 2, b: {c: 2, d: [x, z]}, e: 2}"),
        "\n\na: 2\n\n\nb:\n\n  c: 2\n\n  d:\n  - x\n\n  - z\n\ne: 2\n\n"
    );
}

#[test]
fn st_6_a_new_key_goes_to_its_place_where_the_keys_have_an_order() {
    let sorted = "labels:\n  a: 1\n  # of c\n  c: 1\n";
    assert_eq!(
        edit(sorted, "labels: {a: 1, b: 1, c: 1, d: 1}"),
        "labels:\n  a: 1\n  b: 1\n  # of c\n  c: 1\n  d: 1\n"
    );
    let unsorted = "labels:\n  c: 1\n  a: 1\n";
    assert_eq!(
        edit(unsorted, "labels: {a: 1, b: 1, c: 1}"),
        "labels:\n  c: 1\n  a: 1\n  b: 1\n"
    );
}

#[test]
fn ed_7_what_means_the_same_is_not_written_another_way() {
    let odd = "mode:   0644\n'a':    yes\nt: ~\nn: 1_000\nl: [ a ,b ]\ntext: \"x\\\n  y\"\n";
    assert_eq!(
        edit(
            odd,
            "{mode: 420, a: true, t: null, n: 1000, l: [a, b], text: xy}"
        ),
        odd
    );
}

#[test]
fn st_12_long_text_directives_and_tags_stay() {
    let long = "word ".repeat(60);
    let before = format!("%YAML 1.1\n---\na: {long}end\nb: !!str 1\nc: x\n");
    assert_eq!(
        edit(&before, &format!("{{a: {long}end, b: '1', c: {long}}}")),
        before.replace("c: x", &format!("c: {}", long.trim_end()))
    );
}

#[test]
fn st_3_a_block_at_the_end_of_a_text_without_a_line_break_takes_none_on() {
    assert_eq!(
        edit("a: 1\nb: |\n  x", "{a: 1, b: x, c: 2}"),
        "a: 1\nb: |-\n  x\nc: 2\n"
    );
    assert_eq!(edit("b: |\n  x\nc: 2", "{b: \"x\\n\"}"), "b: |\n  x\n");
    assert_eq!(edit("a: 1\nb: |\n  x", "{a: 2, b: x}"), "a: 2\nb: |\n  x");
}

#[test]
fn st_1_a_comment_between_a_dash_and_its_item_stays() {
    assert_eq!(
        edit(
            "l:\n  -\n    # about it\n    a: 1\n    b: 2\n  - c: 3\n",
            "l: [{x: 1, w: {z: 2}}, {c: 3}]"
        ),
        "l:\n  -\n    # about it\n    w:\n      z: 2\n    x: 1\n  - c: 3\n"
    );
}

#[test]
fn a_document_that_is_a_list_is_edited_as_well() {
    let before = "# patches\n- op: add # first\n  path: /a\n- op: remove\n  path: /b\n";
    assert_eq!(
        edit(before, "[{op: remove, path: /c}]"),
        "# patches\n- op: remove # first\n  path: /c\n"
    );
    assert_eq!(edit(before, "[]"), "# patches\n[]\n");
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
fn b040_new_items_in_lines_follow_their_neighbours_in_braces() {
    let before = "env:\n  - {name: A, value: \"1\"}   # first\nargs: []\n";
    assert_eq!(
        edit(
            before,
            r#"{"env":[{"name":"A","value":"1"},{"name":"B","value":"x"}],"args":[]}"#
        ),
        "env:\n  - {name: A, value: \"1\"}   # first\n  - {name: B, value: x}\nargs: []\n"
    );
    // JSON keeps its quotes, and lines that only a block shows are a block.
    let before = "- {\"a\": \"x\"}\n";
    assert_eq!(
        edit(before, r#"[{"a":"x"},{"a":"y"}]"#),
        "- {\"a\": \"x\"}\n- {\"a\": \"y\"}\n"
    );
    assert_eq!(
        edit(before, r#"[{"a":"x"},{"a":"y\nz\n"}]"#),
        "- {\"a\": \"x\"}\n- a: |\n    y\n    z\n"
    );
    let mixed = "- {a: x}\n- a: v\n";
    assert_eq!(
        edit(mixed, r#"[{"a":"x"},{"a":"v"},{"a":"z"}]"#),
        "- {a: x}\n- a: v\n- a: z\n"
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
fn st_11_what_can_no_longer_be_merged_is_written_out() {
    let before = "x: &a {k: v, l: w}\ny:\n  <<: *a\n  k: z # own\nw: 1\n";
    assert_eq!(
        edit(before, "{w: 1, y: {k: z, l: w}}"),
        "y:\n  k: z\n  l: w\nw: 1\n"
    );
    assert_eq!(
        edit(before, "{x: {k: v, l: w}, w: 1, y: {l: w}}"),
        "x: &a {k: v, l: w}\ny:\n  l: w\nw: 1\n"
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
