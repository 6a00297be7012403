//! Changes of objects, and which files say them. Every folder is what the writer may write, `base` is not.

use model::IssueKind;
use model::files::FilesInMemory;
use serde_json::json;

use super::*;
use crate::kustomize::build;

const DEPLOYMENT: &str = "apiVersion: apps/v1
kind: Deployment
metadata:
  name: web # the site
spec:
  replicas: 1
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
        # serves
        - name: web
          image: nginx:1.0
";

const OTHER: &str = "apiVersion: apps/v1
kind: Deployment
metadata:
  name: other
spec:
  template:
    spec:
      containers:
        - name: other
          image: nginx:1.0
";

/// Files by name; those in `base` are never written.
type Folder<'f> = Vec<(&'f str, String)>;

fn tree(files: &Folder<'_>) -> FilesInMemory {
    let files = files.iter();
    files
        .map(|(path, text)| (RepoPath::new(*path).unwrap(), text.as_bytes().to_vec()))
        .collect()
}

/// A change of one object: its name, the way to a value as a JSON pointer, and the value; `null` takes it away.
type Set<'s> = (&'s str, &'s str, Value);

fn wishes(files: &FilesInMemory, sets: &[Set<'_>]) -> Vec<Wish> {
    let render = build(files.tree(), &FolderPath::new("app").unwrap()).unwrap();
    let mut wishes: Vec<Wish> = Vec::new();
    for (name, pointer, value) in sets {
        let object = render
            .objects
            .iter()
            .find(|it| it.id.name == *name)
            .unwrap();
        let text = |key: &str| object.node.get(key).unwrap().as_str().unwrap().to_owned();
        let key = ObjectKey {
            api_version: text("apiVersion"),
            kind: text("kind"),
            namespace: object.namespace().map(str::to_owned),
            name: (*name).to_owned(),
        };
        let known = wishes.iter_mut().find(|wish| wish.object == key);
        let wanted = match known {
            Some(wish) => &mut wish.wanted,
            None => {
                wishes.push(Wish {
                    object: key,
                    wanted: object.node.to_value(),
                });
                &mut wishes.last_mut().unwrap().wanted
            }
        };
        put(wanted, pointer, value);
    }
    wishes
}

fn put(value: &mut Value, pointer: &str, to: &Value) {
    let (above, last) = pointer.rsplit_once('/').unwrap();
    let above = value.pointer_mut(above).unwrap();
    match above {
        Value::Object(fields) if to.is_null() => drop(fields.remove(last).unwrap()),
        Value::Object(fields) => drop(fields.insert(last.to_owned(), to.clone())),
        Value::Array(items) if to.is_null() => drop(items.remove(last.parse().unwrap())),
        Value::Array(items) => match last.parse::<usize>() {
            Ok(at) => items[at] = to.clone(),
            Err(_) => items.push(to.clone()),
        },
        _ => panic!("nothing is below {pointer}"),
    }
}

fn changed(files: &Folder<'_>, sets: &[Set<'_>]) -> Changed {
    let tree = tree(files);
    let app = FolderPath::new("app").unwrap();
    let wishes = wishes(&tree, sets);
    change(tree.tree(), &app, &app, &wishes, &mut Cache::default()).unwrap()
}

/// Returns the lines that a change takes away and brings, as `file -old` and `file +new`.
fn edits(files: &Folder<'_>, sets: &[Set<'_>]) -> Vec<String> {
    let changed = changed(files, sets);
    assert_eq!(changed.refused, [], "{sets:?}");
    difference(files, &changed)
}

fn difference(files: &Folder<'_>, changed: &Changed) -> Vec<String> {
    let mut lines = Vec::new();
    for (path, bytes) in &changed.files {
        let before = files.iter().find(|(name, _)| *name == path.as_str());
        let before = &before.unwrap().1;
        let after = std::str::from_utf8(bytes).unwrap();
        let difference = similar::TextDiff::from_lines(before.as_str(), after);
        for change in difference.iter_all_changes() {
            let sign = match change.tag() {
                similar::ChangeTag::Equal => continue,
                similar::ChangeTag::Delete => '-',
                similar::ChangeTag::Insert => '+',
            };
            let line = change.value().trim();
            lines.push(format!("{} {sign}{line}", path.file_name()));
        }
    }
    lines
}

/// Returns why changes are refused, as `name: issue file:line`, and asserts that nothing is written.
fn refusals(files: &Folder<'_>, sets: &[Set<'_>]) -> Vec<String> {
    let changed = changed(files, sets);
    assert_eq!(difference(files, &changed), [""; 0], "{sets:?}");
    told(&changed)
}

fn told(changed: &Changed) -> Vec<String> {
    let tell = |(key, refusal): &(ObjectKey, Refusal)| {
        assert!(!refusal.message.is_empty() && !refusal.remedy.is_empty());
        let at = refusal.at.as_ref().unwrap();
        let line = at.line.map_or(String::new(), |line| format!(":{line}"));
        let issue = refusal.issue.map_or("", IssueKind::as_str);
        format!("{}: {issue} {}{line}", key.name, at.path)
    };
    changed.refused.iter().map(tell).collect()
}

/// A folder that owns its documents.
fn own(kustomization: &str) -> Folder<'static> {
    let kustomization = format!("resources: [d.yaml, o.yaml]\n{kustomization}");
    vec![
        ("app/kustomization.yaml", kustomization),
        ("app/d.yaml", DEPLOYMENT.to_owned()),
        ("app/o.yaml", OTHER.to_owned()),
    ]
}

/// A folder on top of a base that is never written.
fn overlay(kustomization: &str, base: &str) -> Folder<'static> {
    let kustomization = format!("resources: [../base]\n{kustomization}");
    let base = format!("resources: [d.yaml, o.yaml]\n{base}");
    vec![
        ("app/kustomization.yaml", kustomization),
        ("base/kustomization.yaml", base),
        ("base/d.yaml", DEPLOYMENT.to_owned()),
        ("base/o.yaml", OTHER.to_owned()),
    ]
}

const IMAGE: &str = "/spec/template/spec/containers/0/image";
const REPLICAS: &str = "/spec/replicas";

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
fn ov_2_the_entry_that_supplied_a_value_is_edited() {
    let count = "replicas: [{name: web, count: 2}]\n";
    assert_eq!(
        edits(&own(count), &[("web", REPLICAS, json!(5))]),
        [
            "kustomization.yaml -replicas: [{name: web, count: 2}]",
            "kustomization.yaml +replicas: [{name: web, count: 5}]"
        ]
    );
    // Also where it said the same as the document.
    let count = "replicas:\n  - name: web\n    count: 1\n";
    assert_eq!(
        edits(&own(count), &[("web", REPLICAS, json!(5))]),
        [
            "kustomization.yaml -count: 1",
            "kustomization.yaml +count: 5"
        ]
    );
    let both = [
        ("web", IMAGE, json!("nginx:2")),
        ("other", IMAGE, json!("nginx:2")),
    ];
    assert_eq!(
        edits(
            &own("images:\n  - name: nginx\n    newTag: '1.0' # pinned\n"),
            &both
        ),
        [
            "kustomization.yaml -newTag: '1.0' # pinned",
            "kustomization.yaml +newTag: '2' # pinned"
        ]
    );
}

#[test]
fn ov_3_only_keys_that_an_entry_has_are_changed() {
    let both = |image: &str| [("web", IMAGE, json!(image)), ("other", IMAGE, json!(image))];
    let named = own("images:\n  - name: nginx\n    newName: mirror/nginx\n");
    assert_eq!(
        edits(&named, &both("elsewhere/nginx:1.0")),
        [
            "kustomization.yaml -newName: mirror/nginx",
            "kustomization.yaml +newName: elsewhere/nginx"
        ]
    );
    // A part that no entry writes is the document's.
    assert_eq!(
        edits(&named, &[("web", IMAGE, json!("mirror/nginx:2"))]),
        ["d.yaml -image: nginx:1.0", "d.yaml +image: nginx:2"]
    );
}

#[test]
fn ov_4_a_part_that_no_entry_writes_goes_to_the_document() {
    let files = own("images:\n  - name: nginx\n    newName: mirror/nginx\n");
    let digest = "mirror/nginx:1.0@sha256:ab";
    assert_eq!(
        edits(&files, &[("web", IMAGE, json!(digest))]),
        [
            "d.yaml -image: nginx:1.0",
            "d.yaml +image: nginx:1.0@sha256:ab"
        ]
    );
    assert_eq!(
        edits(&files, &[("web", IMAGE, json!("mirror/nginx"))]),
        ["d.yaml -image: nginx:1.0", "d.yaml +image: nginx"]
    );
    // Another name ends what the entry did, so the document says the tag as well.
    let tagged = own("images:\n  - name: nginx\n    newTag: '3'\n");
    assert_eq!(
        edits(&tagged, &[("web", IMAGE, json!("caddy:3"))]),
        ["d.yaml -image: nginx:1.0", "d.yaml +image: caddy:3"]
    );
}

#[test]
fn ov_5_a_tag_stays_text() {
    let both = |image: &str| [("web", IMAGE, json!(image)), ("other", IMAGE, json!(image))];
    let files = own("images:\n  - name: nginx\n    newTag: stable\n");
    for (tag, written) in [
        ("1.27", "\"1.27\""),
        ("v2", "v2"),
        ("1e3", "\"1e3\""),
        ("on", "\"on\""),
    ] {
        let expected = [
            "kustomization.yaml -newTag: stable".to_owned(),
            format!("kustomization.yaml +newTag: {written}"),
        ];
        assert_eq!(edits(&files, &both(&format!("nginx:{tag}"))), expected);
    }
}

#[test]
fn ov_6_chained_entries_each_keep_their_part() {
    let files = overlay(
        "images: [{name: mirror, newTag: '2'}]\n",
        "images: [{name: nginx, newName: mirror}]\n",
    );
    let both = [
        ("web", IMAGE, json!("mirror:4")),
        ("other", IMAGE, json!("mirror:4")),
    ];
    assert_eq!(
        edits(&files, &both),
        [
            "kustomization.yaml -images: [{name: mirror, newTag: '2'}]",
            "kustomization.yaml +images: [{name: mirror, newTag: '4'}]"
        ]
    );
}

#[test]
fn ov_7_what_an_entry_cannot_say_is_refused() {
    let tag = own("images:\n  - name: nginx\n    newTag: '2'\n");
    let digest = own("images:\n  - name: nginx\n    digest: sha256:ab\n");
    for (files, image) in [
        (&tag, "nginx"),
        (&tag, "nginx:2@sha256:cd"),
        (&digest, "nginx:2"),
        (&digest, "nginx"),
    ] {
        assert_eq!(
            refusals(files, &[("web", IMAGE, json!(image))]),
            ["web: kustomize-render-refused app/kustomization.yaml:4"],
            "{image}"
        );
    }
    let replicas = own("replicas:\n  - name: web\n    count: 2\n");
    assert_eq!(
        refusals(&replicas, &[("web", REPLICAS, json!(null))]),
        ["web: kustomize-render-refused app/kustomization.yaml:4"]
    );
    // Two containers and one entry.
    let two = DEPLOYMENT.to_owned() + "        - name: two\n          image: nginx:1.0\n";
    let mut files = tag.clone();
    files[1].1 = two;
    let second = "/spec/template/spec/containers/1/image";
    assert_eq!(
        refusals(
            &files,
            &[
                ("web", IMAGE, json!("nginx:3")),
                ("web", second, json!("nginx:4"))
            ]
        ),
        ["web: write-fan-in app/kustomization.yaml"]
    );
}

#[test]
fn ov_8_an_entry_that_serves_others_changes_only_with_all_of_them() {
    let files = own("images:\n  - name: nginx\n    newTag: '2'\n");
    assert_eq!(
        refusals(&files, &[("web", IMAGE, json!("nginx:3"))]),
        ["web: kustomize-render-refused app/kustomization.yaml"]
    );
    let apart = [
        ("web", IMAGE, json!("nginx:3")),
        ("other", IMAGE, json!("nginx:4")),
    ];
    assert_eq!(
        refusals(&files, &apart),
        [
            "web: write-fan-in app/kustomization.yaml",
            "other: write-fan-in app/kustomization.yaml"
        ]
    );
    let together = [
        ("web", IMAGE, json!("nginx:3")),
        ("other", IMAGE, json!("nginx:3")),
    ];
    assert_eq!(edits(&files, &together).len(), 2);
}

#[test]
fn ov_11_what_a_base_says_is_overridden_in_the_overlay() {
    let plain = overlay("", "");
    assert_eq!(
        edits(&plain, &[("web", REPLICAS, json!(4))]),
        [
            "kustomization.yaml +replicas:",
            "kustomization.yaml +- count: 4",
            "kustomization.yaml +name: web"
        ]
    );
    // The base says no count for this one.
    assert_eq!(edits(&plain, &[("other", REPLICAS, json!(4))]).len(), 3);
    let both = |image: &str| [("web", IMAGE, json!(image)), ("other", IMAGE, json!(image))];
    assert_eq!(
        edits(&plain, &both("nginx:1.27")),
        [
            "kustomization.yaml +images:",
            "kustomization.yaml +- name: nginx",
            "kustomization.yaml +newTag: \"1.27\""
        ]
    );
    assert_eq!(
        edits(&plain, &both("mirror/nginx@sha256:ab")),
        [
            "kustomization.yaml +images:",
            "kustomization.yaml +- digest: sha256:ab",
            "kustomization.yaml +name: nginx",
            "kustomization.yaml +newName: mirror/nginx"
        ]
    );
    assert_eq!(
        refusals(&plain, &[("web", IMAGE, json!("nginx:3"))]),
        ["web: kustomize-render-refused app/kustomization.yaml"]
    );
    assert_eq!(
        refusals(&plain, &both("nginx")),
        [
            "web: write-escapes-scope base/d.yaml:14",
            "other: write-escapes-scope base/o.yaml:10"
        ]
    );
    // The entry of a base is not written either.
    let pinned = overlay(
        "",
        "images: [{name: nginx, newTag: '2'}]\nreplicas: [{name: web, count: 2}]\n",
    );
    assert_eq!(edits(&pinned, &both("nginx:3")).len(), 3);
    assert_eq!(edits(&pinned, &[("web", REPLICAS, json!(4))]).len(), 3);
    // An entry for the name gets the key.
    let named = overlay(
        "images:\n  - name: mirror\n  - name: caddy\n    newTag: '1'\n",
        "images: [{name: nginx, newName: mirror}]\n",
    );
    assert_eq!(
        edits(&named, &both("mirror:3")),
        ["kustomization.yaml +newTag: '3'"]
    );
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
        ["web: kustomize-render-refused app/kustomization.yaml"]
    );
}

#[test]
fn ns_5_an_object_that_the_build_puts_nowhere_is_found() {
    let tree = tree(&own(""));
    let app = FolderPath::new("app").unwrap();
    let mut wishes = wishes(&tree, &[("web", REPLICAS, json!(2))]);
    wishes[0].object.namespace = Some("shop".to_owned());
    wishes[0].wanted["metadata"]["namespace"] = json!("shop");
    let of = |wishes: &[Wish], tree: &FilesInMemory| {
        change(tree.tree(), &app, &app, wishes, &mut Cache::default()).unwrap()
    };
    assert_eq!(of(&wishes, &tree).files.len(), 1);
    let elsewhere = super::tests::tree(&own("namespace: elsewhere\n"));
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
    let tree = tree(&files);
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
