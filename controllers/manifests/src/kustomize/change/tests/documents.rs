//! What documents say, and what nothing else says for them.

use super::*;

#[test]
fn ov_1_only_what_differs_reaches_the_document() {
    let files = own("namespace: shop\ncommonLabels: {team: a}\n");
    assert_eq!(edits(&files, &[("web", REPLICAS, json!(1))]), [""; 0]);
    for (pointer, value, expected) in [
        (
            REPLICAS,
            json!(3),
            vec!["d.yaml -replicas: 1", "d.yaml +replicas: 3"],
        ),
        ("/spec/paused", json!(true), vec!["d.yaml +paused: true"]),
        (
            "/metadata/annotations",
            json!({"a": "b"}),
            vec!["d.yaml +annotations:", "d.yaml +a: b"],
        ),
        (
            "/metadata/labels/own",
            json!("x"),
            vec!["d.yaml +labels:", "d.yaml +own: x"],
        ),
        (REPLICAS, json!(null), vec!["d.yaml -replicas: 1"]),
        (
            "/spec/template/spec/containers/new",
            json!({"name": "side", "image": "s:1"}),
            vec!["d.yaml +- image: s:1", "d.yaml +name: side"],
        ),
        (
            "/spec/template/spec/containers/0/args",
            json!(["a", "b"]),
            vec!["d.yaml +args:", "d.yaml +- a", "d.yaml +- b"],
        ),
    ] {
        let found = edits(&files, &[("web", pointer, value)]);
        assert_eq!(found, expected, "{pointer}");
    }
}

#[test]
fn ro_2_other_fields_of_a_base_are_refused() {
    let files = overlay("", "");
    for (pointer, value, line) in [
        ("/spec/template/metadata/labels/app", json!("x"), 9),
        ("/spec/paused", json!(true), 6),
        ("/metadata/labels", json!({"a": "b"}), 4),
    ] {
        assert_eq!(
            refusals(&files, &[("web", pointer, value)]),
            [format!("web: write-escapes-scope base/d.yaml:{line}")],
            "{pointer}"
        );
    }
}

#[test]
fn ro_3_what_a_patch_supplies_is_refused_and_nothing_else() {
    let mut files =
        own("patches: [{path: p.yaml}]\nimages: [{name: nginx, newTag: '2'}, {name: p}]\n");
    let patch = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 9\n  template:\n    spec:\n      containers:\n        - name: side\n          image: p:1\n";
    files.push(("app/p.yaml", patch.to_owned()));
    assert_eq!(
        refusals(&files, &[("web", REPLICAS, json!(5))]),
        ["web: kustomize-render-refused app/p.yaml:5"]
    );
    assert_eq!(
        refusals(&files, &[("web", IMAGE, json!("p:2"))]),
        ["web: kustomize-render-refused app/p.yaml:10"]
    );
    assert_eq!(
        edits(&files, &[("web", "/spec/paused", json!(true))]),
        ["d.yaml +paused: true"]
    );
    let second = "/spec/template/spec/containers/1/image";
    let both = [
        ("web", second, json!("nginx:5")),
        ("other", IMAGE, json!("nginx:5")),
    ];
    assert_eq!(edits(&files, &both).len(), 2);
}

#[test]
fn ro_4_what_a_transformer_supplies_is_refused() {
    let files =
        own("namespace: shop\nlabels:\n  - pairs: {team: a}\ncommonAnnotations:\n  note: b\n");
    for (pointer, line) in [
        ("/metadata/labels/team", 4),
        ("/metadata/annotations/note", 6),
    ] {
        for value in [json!("x"), json!(null)] {
            assert_eq!(
                refusals(&files, &[("web", pointer, value)]),
                [format!(
                    "web: kustomize-render-refused app/kustomization.yaml:{line}"
                )],
                "{pointer}"
            );
        }
    }
    assert_eq!(
        refusals(&files, &[("web", "/metadata/labels", json!(null))]),
        ["web: kustomize-render-refused app/kustomization.yaml:4"]
    );
}

#[test]
fn ro_5_what_a_patch_adds_is_not_copied() {
    let mut files = own("patches: [{path: p.yaml}]\n");
    let patch = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  template:\n    spec:\n      containers:\n        - name: side\n          image: p:1\n";
    files.push(("app/p.yaml", patch.to_owned()));
    let new = "/spec/template/spec/containers/new";
    assert_eq!(
        edits(
            &files,
            &[("web", new, json!({"name": "third", "image": "t:1"}))]
        ),
        ["d.yaml +- image: t:1", "d.yaml +name: third"]
    );
    assert_eq!(
        refusals(
            &files,
            &[("web", "/spec/template/spec/containers/0", json!(null))]
        ),
        ["web: kustomize-render-refused app/p.yaml:9"]
    );
    assert_eq!(
        refusals(
            &files,
            &[("web", "/spec/template/spec/containers/0/tty", json!(true))]
        ),
        ["web: kustomize-render-refused app/p.yaml:8"]
    );
}

#[test]
fn ro_6_a_render_that_is_as_wanted_needs_no_edit() {
    let mut files = overlay(
        "namespace: shop\ncommonLabels: {a: b}\nimages: [{name: nginx, newTag: '2'}]\n",
        "",
    );
    files[2].1 = DEPLOYMENT.replace("nginx:1.0", "nginx");
    let changed = changed(
        &files,
        &[
            ("web", REPLICAS, json!(1)),
            ("other", IMAGE, json!("nginx:2")),
        ],
    );
    assert_eq!(changed, Changed::default());
}

#[test]
fn ns_5_an_object_that_the_build_puts_nowhere_is_found() {
    let tree = tree_of(&own(""));
    let app = FolderPath::new("app").unwrap();
    let mut wishes = wishes(&tree, &[("web", REPLICAS, json!(2))]);
    wishes[0].object.namespace = Some("shop".to_owned());
    wishes[0].wanted["metadata"]["namespace"] = json!("shop");
    let of = |wishes: &[Wish], tree: &FilesInMemory| {
        change(tree.tree(), &app, &app, wishes, &mut Cache::default()).unwrap()
    };
    assert_eq!(of(&wishes, &tree).files.len(), 1);
    let elsewhere = tree_of(&own("namespace: elsewhere\n"));
    assert_eq!(
        told(&of(&wishes, &elsewhere)),
        ["web: kustomize-render-refused app/kustomization.yaml"]
    );
}

#[test]
fn ns_8_an_object_of_no_namespace_is_found_in_the_one_that_kustomize_gives_it() {
    let mut files = own("namespace: shop\n");
    files[1].1 =
        "apiVersion: example.com/v1\nkind: Planet\nmetadata:\n  name: web\nspec: {size: 1}\n"
            .to_owned();
    let tree = tree_of(&files);
    let app = FolderPath::new("app").unwrap();
    let mut wishes = wishes(&tree, &[("web", "/spec/size", json!(2))]);
    wishes[0].object.namespace = None;
    put(&mut wishes[0].wanted, "/metadata/namespace", &Value::Null);
    let changed = change(tree.tree(), &app, &app, &wishes, &mut Cache::default()).unwrap();
    assert_eq!(
        difference(&files, &changed),
        ["d.yaml -spec: {size: 1}", "d.yaml +spec: {size: 2}"]
    );
}
#[test]
fn rv_3_one_refusal_holds_nothing_else_back() {
    let files = own("commonLabels: {a: b}\n");
    let changed = changed(
        &files,
        &[
            ("web", "/metadata/labels/a", json!("x")),
            ("other", IMAGE, json!("nginx:3")),
        ],
    );
    assert_eq!(
        difference(&files, &changed),
        ["o.yaml -image: nginx:1.0", "o.yaml +image: nginx:3"]
    );
    assert_eq!(
        told(&changed),
        ["web: kustomize-render-refused app/kustomization.yaml:2"]
    );
}

#[test]
fn rv_3_an_edit_that_moves_another_object_is_refused_alone() {
    // The name decides which entry is for an image, and the label which selector is meant.
    let files =
        own("images:\n  - name: nginx\n    newName: caddy\n  - name: caddy\n    newTag: '5'\n");
    let changed = changed(
        &files,
        &[
            ("web", IMAGE, json!("traefik:5")),
            ("other", "/spec/paused", json!(true)),
        ],
    );
    assert_eq!(difference(&files, &changed), ["o.yaml +paused: true"]);
    assert_eq!(
        told(&changed),
        ["web: kustomize-render-refused app/kustomization.yaml:4"]
    );
}

#[test]
fn d22_an_encrypted_document_gets_no_plain_value() {
    let mut files = own("");
    files[1].1 = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: web\ndata:\n  a: ENC[x]\nsops: {mac: m}\n"
        .to_owned();
    let changed = changed(&files, &[("web", "/data/a", json!("cGxhaW4="))]);
    assert_eq!(difference(&files, &changed), [""; 0]);
    assert_eq!(told(&changed), ["web: plaintext-sensitive app/d.yaml:1"]);
    assert!(!format!("{changed:?}").contains("cGxhaW4="));
}
