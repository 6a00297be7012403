//! How resources are read and gathered.

use serde_json::json;

use super::*;

fn data(text: &str) -> Value {
    of_one("", &format!("{CONFIG_MAP}{text}"))[0]["data"].clone()
}

#[test]
fn d29_values_are_what_kustomize_reads() {
    for (text, expected) in [
        (
            "data: {k: yes, l: 0777, m: 2024-01-01, n: ~}\n",
            json!({"k": "yes", "l": 511, "m": "2024-01-01T00:00:00Z", "n": null}),
        ),
        (
            "data: {k: !!str 5, l: !!int '5', m: !!float 3, n: '5'}\n",
            json!({"k": "5", "l": 5, "m": 3, "n": "5"}),
        ),
        (
            "x: &x {a: 1, b: 2}\ny: &y {b: 3, c: 4}\ndata:\n  <<: [*x, *y]\n  c: 9\n",
            json!({"a": 1, "b": 2, "c": 9}),
        ),
        (
            "x: &x [1, {a: b}]\ndata: {k: *x}\n",
            json!({"k": [1, {"a": "b"}]}),
        ),
    ] {
        assert_eq!(data(text), expected, "{text}");
    }
}

#[test]
fn d29_annotations_are_texts_as_they_are_written() {
    let with = |annotations: &str| {
        let text = format!("{CONFIG_MAP}  annotations: {annotations}\n");
        of_one("", &text)[0]["metadata"].clone()
    };
    assert_eq!(
        with("{a: 0777, b: ~, c: , d: yes, e: {f: g}, config.kubernetes.io/index: '0'}"),
        json!({"name": "c", "annotations": {"a": "0777", "b": "~", "c": "", "d": "yes", "e": ""}})
    );
    assert_eq!(with("{}"), json!({"name": "c"}));
    assert_eq!(with(""), json!({"name": "c"}));
}

#[test]
fn d29_lists_are_taken_apart_and_come_last() {
    let text = "apiVersion: v1
kind: ConfigMapList
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
- ~
- {apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}]}
---
{}
---
# nothing
---
{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"c\"}}
";
    let objects = of_one("", text);
    let names: Vec<_> = objects
        .iter()
        .map(|object| object["metadata"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["c", "a", "b"]);
}

#[test]
fn d29_what_is_local_takes_part_and_is_left_out() {
    let text = format!(
        "{CONFIG_MAP}  annotations: {{config.kubernetes.io/local-config: 'true'}}\n---\n{}  annotations: {{config.kubernetes.io/local-config: 'false'}}\n",
        CONFIG_MAP.replace(": c", ": d")
    );
    let objects = of_one("", &text);
    assert_eq!(objects.len(), 1);
    assert_eq!(objects[0]["metadata"]["name"], "d");
}

#[test]
fn d29_what_kustomize_would_not_build_is_refused_at_its_place() {
    for (text, line) in [
        ("a: [\n", 2),
        ("abc\n", 1),
        ("- a\n", 1),
        ("''\n", 1),
        ("apiVersion: v1\nkind: ConfigMap\n", 1),
        ("kind: ConfigMap\nmetadata: {name: x}\n", 1),
        (
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: x}\n",
            1,
        ),
        ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: 5}\n", 1),
        ("apiVersion: v1\nkind: List\nitems: {a: b}\n", 1),
        ("%YAML 1.1\n---\na: b\n", 1),
    ] {
        assert_eq!(
            refused_one("", text),
            [format!("render-failed app/r.yaml:{line}")],
            "{text}"
        );
    }
    for (text, line) in [
        ("data: {a: 1, a: 2}\n", 5),
        ("data:\n  b: .inf\n", 6),
        ("data:\n  b: !local x\n", 6),
        ("data:\n  b: !!int x\n", 6),
        ("data:\n  1: x\n", 6),
        ("data:\n  <<: 5\n", 6),
        ("data:\n  <<: {a}\n", 6),
        ("data: &a\n  b: *a\n", 6),
        ("--- {apiVersion: v1}\n", 5),
        (
            "  annotations: {internal.config.kubernetes.io/previousNames: x}\n",
            1,
        ),
    ] {
        let text = format!("{CONFIG_MAP}{text}");
        assert_eq!(
            refused_one("", &text),
            [format!("render-failed app/r.yaml:{line}")],
            "{text}"
        );
    }
}

#[test]
fn d29_an_object_that_is_there_twice_is_refused() {
    let twice = format!("{CONFIG_MAP}---\n{CONFIG_MAP}  namespace: default\n");
    assert_eq!(
        refused_one("", &twice),
        ["render-failed app/kustomization.yaml:1"]
    );
    // A version makes two objects of one, and so does a namespace, but not where none exists.
    let apart = format!("{CONFIG_MAP}---\n{CONFIG_MAP}  namespace: x\n");
    assert_eq!(of_one("", &apart).len(), 2);
    let node = "apiVersion: v1\nkind: Node\nmetadata: {name: n}\n---\napiVersion: v1\nkind: Node\nmetadata: {name: n, namespace: x}\n";
    assert_eq!(
        refused_one("", node),
        ["render-failed app/kustomization.yaml:1"]
    );
    let diamond = [
        ("app/kustomization.yaml", "resources: [a, b]\n"),
        ("app/a/kustomization.yaml", "resources: [../c]\n"),
        ("app/b/kustomization.yaml", "resources:\n- ../c\n"),
        ("app/c/kustomization.yaml", "resources: [r.yaml]\n"),
        ("app/c/r.yaml", CONFIG_MAP),
    ];
    assert_eq!(
        told(&refused(&diamond, "app")),
        ["render-failed app/kustomization.yaml:1"]
    );
    let mut apart = diamond;
    apart[2].1 = "resources: [../c]\nnamespace: b\n";
    assert_eq!(objects(&apart).len(), 2);
}

/// Kustomize writes every object once before anybody sees it, which leaves traces of how it was written.
#[test]
fn d29_how_a_value_is_written_shows_in_three_places() {
    assert_eq!(
        data("data: {a: , b, c: ~}\n"),
        json!({"a": "", "b": "", "c": null})
    );
    assert_eq!(
        data("data:\n  a:\n  b: {c: [d, {e}]}\n"),
        json!({"a": null, "b": {"c": ["d", {"e": ""}]}})
    );
    assert_eq!(
        data("data:\n  a: >-\n    b\n     c\n"),
        json!({"a": "b\n\n c"})
    );
    // What is written as JSON in between shows none of it.
    let list = "apiVersion: v1\nkind: ConfigMapList\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: c, annotations: {n: 07}}, data: {a: }}\n";
    let object = &of_one("", list)[0];
    assert_eq!(object["data"], json!({"a": null}));
    assert_eq!(object["metadata"]["annotations"], json!({"n": "7"}));
    let plain = list.replace("ConfigMapList", "List");
    let object = &of_one("", &plain)[0];
    assert_eq!(object["data"], json!({"a": ""}));
    assert_eq!(object["metadata"]["annotations"], json!({"n": "07"}));
}
