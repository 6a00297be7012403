//! Who supplied what.

use super::*;
use crate::kustomize::node::{ImagePart, Node, Site, Supplier};

/// Returns the text that supplied the value at the end of a way, and how.
fn supplied(files: &[(&str, &str)], way: &[&str]) -> String {
    let render = rendered(files, "app");
    let mut node = &render.objects[0].node;
    for step in way {
        node = match step.parse::<usize>() {
            Ok(index) => &node.items().unwrap()[index],
            Err(_) => node.get(step).unwrap(),
        };
    }
    told_of(files, &render, node)
}

fn told_of(files: &[(&str, &str)], render: &Render, node: &Node) -> String {
    let at = |site: &Site| {
        let path = &render.files[usize::try_from(site.file.0).unwrap()];
        let text = files
            .iter()
            .find(|(name, _)| *name == path.as_str())
            .unwrap()
            .1;
        let rest = &text[usize::try_from(site.at).unwrap()..];
        let word = rest.split(['\n', ',', '}', ']']).next().unwrap();
        format!("{} {word}", path.file_name())
    };
    let part = |part: &ImagePart| match part {
        ImagePart::Entry(site) => at(site),
        ImagePart::Before(supplier) => match &**supplier {
            Supplier::Document(site) | Supplier::Patch(site) => at(site),
            other => format!("{other:?}"),
        },
    };
    match &node.supplier {
        Supplier::Document(site) => format!("document {}", at(site)),
        Supplier::Patch(site) => format!("patch {}", at(site)),
        Supplier::Replicas(site) => format!("replicas {}", at(site)),
        Supplier::Namespace(site) => format!("namespace {}", at(site)),
        Supplier::Label(site) => format!("label {}", at(site)),
        Supplier::Annotation(site) => format!("annotation {}", at(site)),
        Supplier::Image(parts) => {
            let rest = [&parts.tag, &parts.digest].into_iter().flatten().map(part);
            let all: Vec<_> = [part(&parts.name)].into_iter().chain(rest).collect();
            format!("image {}", all.join(" + "))
        }
        other => format!("{other:?}"),
    }
}

const IMAGE: [&str; 6] = ["spec", "template", "spec", "containers", "0", "image"];

#[test]
fn ov_2_the_entry_that_wrote_last_supplied_it() {
    let with = |overlay: &'static str, base: &'static str| {
        [
            ("base/kustomization.yml", base),
            ("base/d.yaml", DEPLOYMENT),
            ("app/kustomization.yaml", overlay),
            (
                "app/p.yaml",
                "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 9, template: {spec: {containers: [{name: web, image: p:1}]}}}\n",
            ),
        ]
    };
    let plain = "resources: [d.yaml]\n";
    for (overlay, base, way, expected) in [
        (
            "resources: [../base]\n",
            plain,
            &IMAGE[..],
            "document d.yaml nginx:1.0",
        ),
        (
            "resources: [../base]\n",
            plain,
            &["spec", "replicas"],
            "document d.yaml 1",
        ),
        (
            "resources: [../base]\n",
            plain,
            &["metadata", "name"],
            "document d.yaml web",
        ),
        (
            "resources: [../base]\nreplicas: [{name: web, count: 1}]\n",
            plain,
            &["spec", "replicas"],
            "replicas kustomization.yaml 1",
        ),
        (
            "resources: [../base]\npatches: [{path: p.yaml}]\n",
            plain,
            &["spec", "replicas"],
            "patch p.yaml 9",
        ),
        (
            "resources: [../base]\npatches: [{path: p.yaml}]\n",
            plain,
            &IMAGE,
            "patch p.yaml p:1",
        ),
        (
            "resources: [../base]\npatches: [{path: p.yaml}]\n",
            plain,
            &["metadata", "name"],
            "document d.yaml web",
        ),
        (
            "resources: [../base]\nnamespace: x\n",
            plain,
            &["metadata", "namespace"],
            "namespace kustomization.yaml x",
        ),
        (
            "resources: [../base]\n",
            "resources: [d.yaml]\nnamespace: z\n",
            &["metadata", "namespace"],
            "namespace kustomization.yml z",
        ),
        (
            "resources: [../base]\nlabels: [{pairs: {a: x}}]\n",
            "resources: [d.yaml]\ncommonLabels: {a: b}\n",
            &["metadata", "labels", "a"],
            "label kustomization.yaml x",
        ),
        (
            "resources: [../base]\n",
            "resources: [d.yaml]\ncommonLabels: {a: b}\n",
            &["spec", "selector", "matchLabels", "a"],
            "label kustomization.yml b",
        ),
        (
            "resources: [../base]\ncommonAnnotations: {a: b}\n",
            plain,
            &["metadata", "annotations", "a"],
            "annotation kustomization.yaml b",
        ),
        // The image that an entry writes is its own even where it was the same before.
        (
            "resources: [../base]\nimages: [{name: nginx, newTag: '1.0'}]\n",
            plain,
            &IMAGE,
            "image d.yaml nginx:1.0 + kustomization.yaml '1.0'",
        ),
        (
            "resources: [../base]\nimages: [{name: foo, newTag: '2'}]\n",
            "resources: [d.yaml]\nimages: [{name: nginx, newName: foo}]\n",
            &IMAGE,
            "image kustomization.yml foo + kustomization.yaml '2'",
        ),
        (
            "resources: [../base]\nimages: [{name: nginx, digest: 'sha256:a'}]\n",
            plain,
            &IMAGE,
            "image d.yaml nginx:1.0 + kustomization.yaml 'sha256:a'",
        ),
        (
            "resources: [../base]\npatches: [{path: p.yaml}]\nimages: [{name: p, newTag: '2'}]\n",
            plain,
            &IMAGE,
            "image p.yaml p:1 + kustomization.yaml '2'",
        ),
        (
            "resources: [../base]\nimages: [{name: nginx}]\n",
            plain,
            &IMAGE,
            "document d.yaml nginx:1.0",
        ),
    ] {
        assert_eq!(
            supplied(&with(overlay, base), way),
            expected,
            "{overlay}{base}"
        );
    }
}

#[test]
fn ov_2_places_count_from_the_start_of_the_file() {
    let marked = format!("\u{feff}# é\n{CONFIG_MAP}x: &a {{b: c}}\ndata:\n  k: *a\n");
    let files = [
        (
            "app/kustomization.yaml",
            "\u{feff}resources: [r.yaml]\nnamespace: n1\n",
        ),
        ("app/r.yaml", marked.as_str()),
    ];
    assert_eq!(supplied(&files, &["metadata", "name"]), "document r.yaml c");
    assert_eq!(supplied(&files, &["data", "k", "b"]), "document r.yaml c");
    assert_eq!(
        supplied(&files, &["metadata", "namespace"]),
        "namespace kustomization.yaml n1"
    );
}

#[test]
fn ov_2_every_object_knows_where_it_came_from() {
    let two = format!(
        "---\n{CONFIG_MAP}---\n# between\n---\n{}",
        CONFIG_MAP.replace(": c", ": d")
    );
    let files = [
        (
            "app/kustomization.yaml",
            "resources: [r.yaml]\nnamespace: x\n",
        ),
        ("app/r.yaml", two.as_str()),
    ];
    let render = rendered(&files, "app");
    let origins: Vec<_> = render
        .objects
        .iter()
        .map(|object| {
            let file = usize::try_from(object.origin.file.0).unwrap();
            let namespaces = (
                object.first().namespace.clone(),
                object.id.namespace.clone(),
            );
            (render.files[file].as_str(), object.origin.index, namespaces)
        })
        .collect();
    let home = |name: &str| crate::kustomize::Home::Namespace(name.to_owned());
    assert_eq!(
        origins,
        [
            ("app/r.yaml", 0, (home("default"), home("x"))),
            ("app/r.yaml", 2, (home("default"), home("x"))),
        ]
    );
    assert_eq!(render.objects[0].namespace(), Some("x"));
    let plain = rendered(
        &[
            ("app/kustomization.yaml", "resources: [r.yaml]\n"),
            files[1],
        ],
        "app",
    );
    assert_eq!(plain.objects[0].namespace(), None);
}

#[test]
fn ov_2_a_reference_is_supplied_by_what_it_follows() {
    let supplied_to = |subject: &str| {
        let binding = format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {{name: b}}\nroleRef: {{apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}}\nsubjects:\n- {{kind: ServiceAccount, name: sa, namespace: {subject}}}\n---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {{name: sa, namespace: old}}\n"
        );
        let files = [
            (
                "app/kustomization.yaml",
                "resources: [r.yaml]\nnamespace: x\n",
            ),
            ("app/r.yaml", binding.as_str()),
        ];
        supplied(&files, &["subjects", "0", "namespace"])
    };
    assert_eq!(supplied_to("old"), "namespace kustomization.yaml x");
    // This one names where the account is going to be, and stays when that changes.
    assert_eq!(supplied_to("x"), "document r.yaml x");
    assert_eq!(supplied_to("other"), "document r.yaml other");
}
