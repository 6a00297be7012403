//! Generated objects among the others.

use serde_json::json;

use super::*;

const GENERATOR: &str = "namespace: x
resources: [r.yaml]
generatorOptions: {disableNameSuffixHash: true, labels: {from: generator}}
configMapGenerator:
- name: g
  literals: [a=1]
  files: [k=../in/f.txt, f.txt]
  env: e.env
- name: h
  namespace: elsewhere
  options: {immutable: true}
commonAnnotations: {note: all}
patches: [{path: p.yaml}]
";

fn files(kustomization: &str) -> Vec<(&str, &str)> {
    vec![
        ("app/kustomization.yaml", kustomization),
        ("app/r.yaml", CONFIG_MAP),
        ("app/f.txt", "own\n"),
        ("app/e.env", "# none\nE=env\n"),
        (
            "app/p.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: g}\ndata: {a: patched}\n",
        ),
        ("in/f.txt", "other"),
    ]
}

#[test]
fn d29_generated_objects_come_behind_resources_and_are_changed_like_them() {
    let objects = objects(&files(GENERATOR));
    assert_eq!(objects.len(), 3);
    assert_eq!(
        objects[1],
        json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": "g",
                "namespace": "x",
                "labels": {"from": "generator"},
                "annotations": {"note": "all"},
            },
            "data": {"a": "patched", "k": "other", "f.txt": "own\n", "E": "env"},
        })
    );
    assert_eq!(objects[2]["metadata"]["namespace"], "x");
    assert_eq!(objects[2]["immutable"], true);
    let render = rendered(&files(GENERATOR), "app");
    let origins = render.objects.iter().map(|object| object.origin);
    let origins: Vec<_> = origins.map(|it| (it.generated, it.index)).collect();
    assert_eq!(origins, [(false, 0), (true, 0), (true, 1)]);
}

#[test]
fn d29_what_generates_nothing_is_refused_at_its_place() {
    for (from, to, expected) in [
        (
            "literals: [a=1]",
            "literals: [a]",
            "app/kustomization.yaml:6",
        ),
        ("f.txt]", "missing.txt]", "app/kustomization.yaml:7"),
        ("f.txt]", "k=f.txt]", "app/kustomization.yaml:7"),
        ("f.txt]", "k=a=b]", "app/kustomization.yaml:7"),
        (
            "env: e.env",
            "envs: [nowhere.env]",
            "app/kustomization.yaml:8",
        ),
        (
            "name: h\n  namespace: elsewhere",
            "name: g",
            "app/kustomization.yaml:9",
        ),
        ("name: g", "name: c", "app/kustomization.yaml:5"),
    ] {
        let kustomization = GENERATOR.replace(from, to);
        let issues = refused(&files(&kustomization), "app");
        assert_eq!(told(&issues), [format!("render-failed {expected}")], "{to}");
    }
}
