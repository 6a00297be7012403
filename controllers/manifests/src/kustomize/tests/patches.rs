//! Which objects patches are for, and what they change there.

use serde_json::json;

use super::*;

#[test]
fn d29_patches_find_their_objects() {
    let two = format!(
        "{CONFIG_MAP}  labels: {{app: a}}\n---\n{}  namespace: q\n",
        CONFIG_MAP.replace(": c", ": d")
    );
    let patched = |entry: &str, patch: &str| {
        let text = format!("resources: [r.yaml]\npatches: [{{path: p.yaml{entry}}}]\n");
        let render = build(
            repository(&[
                ("app/kustomization.yaml", &text),
                ("app/r.yaml", &two),
                ("app/p.yaml", patch),
            ])
            .tree(),
            &folder("app"),
        );
        let objects = render.map(|render| {
            let has_data = render
                .objects
                .iter()
                .filter(|object| object.node.get("data").is_some());
            let names: Vec<_> = has_data.map(|object| object.id.name.clone()).collect();
            format!("{} of {}", names.concat(), render.objects.len())
        });
        objects.unwrap_or_else(|_| "refused".to_owned())
    };
    let patch = |metadata: &str| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{{metadata}}}\ndata: {{a: b}}\n")
    };
    for (entry, metadata, expected) in [
        ("", "name: c", "c of 2"),
        ("", "name: c, namespace: default", "c of 2"),
        ("", "name: d", "refused"),
        ("", "name: d, namespace: q", "d of 2"),
        ("", "name: e", "refused"),
        (", target: {kind: ConfigMap}", "name: any", "cd of 2"),
        (", target: {kind: Config}", "name: any", " of 2"),
        (
            ", target: {kind: Config.*, name: 'c|x'}",
            "name: any",
            "c of 2",
        ),
        (", target: {namespace: default}", "name: any", "c of 2"),
        (", target: {namespace: q}", "name: any", "d of 2"),
        (", target: {labelSelector: app=a}", "name: any", "c of 2"),
        (
            ", target: {labelSelector: 'app notin (a)'}",
            "name: any",
            "d of 2",
        ),
        (", target: {version: v2}", "name: any", " of 2"),
        (", target: {}", "name: any", "cd of 2"),
    ] {
        assert_eq!(
            patched(entry, &patch(metadata)),
            expected,
            "{entry} {metadata}"
        );
    }
    let delete = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n$patch: delete\n";
    assert_eq!(patched("", delete), " of 1");
    assert_eq!(patched(", target: {kind: ConfigMap}", delete), " of 0");
    assert_eq!(
        patched(
            "",
            &format!("{delete}---\n{}", patch("name: d, namespace: q"))
        ),
        "refused"
    );
    assert_eq!(
        patched(
            "",
            &format!("{}---\n{delete}", patch("name: d, namespace: q"))
        ),
        "d of 1"
    );
    assert_eq!(
        patched(
            ", target: {kind: ConfigMap}",
            &format!("{}---\n{}", patch("name: c"), patch("name: d"))
        ),
        "refused"
    );
    assert_eq!(patched("", "# nothing\n"), " of 2");
    assert_eq!(
        patched("", "kind: ConfigMap\nmetadata: {name: c}\n"),
        "refused"
    );
    assert_eq!(
        patched("", &format!("{}$retainKeys: [a]\n", patch("name: c"))),
        "refused"
    );
}

#[test]
fn d29_a_patch_names_an_object_as_it_was_before_the_namespace_of_its_own_kustomization() {
    for (namespace, builds) in [
        ("q", true),
        ("base", true),
        ("app", false),
        ("default", false),
    ] {
        let patch = format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c, namespace: {namespace}}}\ndata: {{a: b}}\n"
        );
        let files = repository(&[
            (
                "base/kustomization.yaml",
                "namespace: base\nresources: [r.yaml]\n",
            ),
            ("base/r.yaml", &format!("{CONFIG_MAP}  namespace: q\n")),
            (
                "app/kustomization.yaml",
                "namespace: app\nresources: [../base]\npatches: [{path: p.yaml}]\n",
            ),
            ("app/p.yaml", &patch),
        ]);
        assert_eq!(
            build(files.tree(), &folder("app")).is_ok(),
            builds,
            "{namespace}"
        );
    }
}

#[test]
fn d29_a_patch_with_a_target_takes_labels_for_texts() {
    let text = format!("{CONFIG_MAP}  labels: {{app: a, b: c}}\n");
    let patch = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, labels: {app: ~, n: 0777}}\n";
    let labels = |entry: &str| {
        let kustomization = format!("resources: [r.yaml]\npatches: [{{path: p.yaml{entry}}}]\n");
        objects(&[
            ("app/kustomization.yaml", &kustomization),
            ("app/r.yaml", &text),
            ("app/p.yaml", patch),
        ])[0]["metadata"]["labels"]
            .clone()
    };
    assert_eq!(labels(""), json!({"b": "c", "n": 511}));
    assert_eq!(
        labels(", target: {kind: ConfigMap}"),
        json!({"app": "~", "b": "c", "n": "0777"})
    );
}

/// Of two places that change together a patch decides at the last one.
#[test]
fn d29_of_what_is_tied_together_the_last_change_counts() {
    let patch = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, labels: {app: b}}\nspec: {template: {metadata: {labels: {app: c}}}}\n";
    let objects = objects(&[
        (
            "base/kustomization.yaml",
            "resources: [r.yaml]\ncommonLabels: {app: a}\n",
        ),
        ("base/r.yaml", DEPLOYMENT),
        (
            "app/kustomization.yaml",
            "resources: [../base]\npatches: [{path: p.yaml}]\n",
        ),
        ("app/p.yaml", patch),
    ]);
    assert_eq!(objects[0]["metadata"]["labels"], json!({"app": "c"}));
    assert_eq!(
        objects[0]["spec"]["selector"]["matchLabels"],
        json!({"app": "c"})
    );
}

#[test]
fn d29_a_patch_with_a_target_is_read_in_the_version_that_it_lies_over() {
    let containers = |api_version: &str| {
        let text = DEPLOYMENT.replace("apps/v1", api_version);
        let patch = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\nspec: {template: {spec: {containers: [{name: side}]}}}\n";
        let objects = objects(&[
            (
                "app/kustomization.yaml",
                "resources: [r.yaml]\npatches: [{path: p.yaml, target: {name: web}}]\n",
            ),
            ("app/r.yaml", &text),
            ("app/p.yaml", patch),
        ]);
        objects[0]["spec"]["template"]["spec"]["containers"]
            .as_array()
            .map(Vec::len)
    };
    assert_eq!(containers("apps/v1"), Some(2));
    assert_eq!(containers("other.io/v1"), Some(1));
}
