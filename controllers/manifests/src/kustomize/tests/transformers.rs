//! What a kustomization changes in objects.

use serde_json::json;

use super::*;

#[test]
fn d29_a_namespace_goes_to_what_kustomize_takes_for_namespaced() {
    for (api_version, kind, expected) in [
        ("v1", "ConfigMap", json!({"name": "n", "namespace": "x"})),
        ("v1", "Node", json!({"name": "n"})),
        ("v1", "Namespace", json!({"name": "x"})),
        (
            "other.io/v1",
            "Namespace",
            json!({"name": "n", "namespace": "x"}),
        ),
        (
            "cert-manager.io/v1",
            "ClusterIssuer",
            json!({"name": "n", "namespace": "x"}),
        ),
        (
            "admissionregistration.k8s.io/v1",
            "ValidatingAdmissionPolicy",
            json!({"name": "n", "namespace": "x"}),
        ),
        (
            "rbac.authorization.k8s.io/v1",
            "ClusterRole",
            json!({"name": "n"}),
        ),
        (
            "flowcontrol.apiserver.k8s.io/v1beta1",
            "FlowSchema",
            json!({"name": "n"}),
        ),
        (
            "flowcontrol.apiserver.k8s.io/v1",
            "FlowSchema",
            json!({"name": "n", "namespace": "x"}),
        ),
    ] {
        for namespace in ["", "  namespace: y\n", "  namespace: x\n", "  namespace:\n"] {
            let text = format!(
                "apiVersion: {api_version}\nkind: {kind}\nmetadata:\n  name: n\n{namespace}"
            );
            let mut metadata = of_one("namespace: x\n", &text)[0]["metadata"].clone();
            if expected.get("namespace").is_none() {
                // What kustomize takes for cluster-scoped keeps what it has.
                metadata.as_object_mut().unwrap().remove("namespace");
            }
            assert_eq!(metadata, expected, "{kind} {namespace}");
        }
    }
}

#[test]
fn d29_references_follow_what_moves() {
    let account =
        "---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: sa, namespace: old}\n";
    let binding = |kind: &str, subjects: &str| {
        format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}\nmetadata: {{name: b}}\nroleRef: {{apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}}\nsubjects: [{subjects}]\n{account}"
        )
    };
    for kind in ["RoleBinding", "ClusterRoleBinding"] {
        for (subject, expected) in [
            ("{kind: User, name: default}", json!("x")),
            (
                "{kind: ServiceAccount, name: default, namespace: y}",
                json!("x"),
            ),
            (
                "{kind: ServiceAccount, name: sa, namespace: old}",
                json!("x"),
            ),
            ("{kind: ServiceAccount, name: sa}", json!("x")),
            ("{kind: ServiceAccount, name: sa, namespace: y}", json!("y")),
            (
                "{kind: ServiceAccount, name: other, namespace: old}",
                json!("old"),
            ),
        ] {
            let objects = of_one("namespace: x\n", &binding(kind, subject));
            assert_eq!(
                objects[0]["subjects"][0]["namespace"], expected,
                "{kind} {subject}"
            );
        }
        assert_eq!(
            refused_one("", &binding(kind, "{kind: ServiceAccount}")),
            ["render-failed app/r.yaml:1"]
        );
    }
    let hook = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: h}\nwebhooks: [{clientConfig: {service: {name: s, namespace: old}}}]\n";
    let of = |text: &str| {
        of_one("namespace: x\n", text)[0]["webhooks"][0]["clientConfig"]["service"]["namespace"]
            .clone()
    };
    assert_eq!(of(hook), "old");
    let service = "---\napiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: old}\n";
    assert_eq!(of(&format!("{hook}{service}")), "x");
    let api =
        "apiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata: {name: a}\nspec: {}\n";
    assert_eq!(
        of_one("namespace: x\n", api)[0]["spec"],
        json!({"service": {"namespace": "x"}})
    );
}

#[test]
fn d29_a_namespace_that_makes_one_object_of_two_is_refused() {
    let two = format!("{CONFIG_MAP}  namespace: a\n---\n{CONFIG_MAP}  namespace: b\n");
    assert_eq!(
        refused_one("namespace: x\n", &two),
        ["render-failed app/kustomization.yaml:2"]
    );
    assert_eq!(of_one("", &two).len(), 2);
}

#[test]
fn d29_labels_reach_what_the_entry_says() {
    let labels = json!({"app": "x"});
    let template = |object: &Value| object["spec"]["template"]["metadata"]["labels"].clone();
    let plain = &of_one("labels: [{pairs: {app: x}}]\n", DEPLOYMENT)[0];
    assert_eq!(plain["metadata"]["labels"], labels);
    assert_eq!(template(plain), Value::Null);
    let templates = &of_one(
        "labels: [{pairs: {app: x}, includeTemplates: true}]\n",
        DEPLOYMENT,
    )[0];
    assert_eq!(template(templates), labels);
    assert_eq!(templates["spec"].get("selector"), None);
    for text in [
        "labels: [{pairs: {app: x}, includeSelectors: true}]\n",
        "commonLabels: {app: x}\n",
    ] {
        let all = &of_one(text, DEPLOYMENT)[0];
        assert_eq!(template(all), labels);
        assert_eq!(
            all["spec"]["selector"],
            json!({"matchLabels": {"app": "x"}})
        );
    }
    // A selector of a Service is made, that of a PodDisruptionBudget only extended.
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: s}\n";
    assert_eq!(
        of_one("commonLabels: {app: x}\n", service)[0]["spec"]["selector"],
        labels
    );
    let budget =
        "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: s}\nspec: {}\n";
    assert_eq!(
        of_one("commonLabels: {app: x}\n", budget)[0]["spec"],
        json!({})
    );
    let custom = "apiVersion: x.io/v1\nkind: Foo\nmetadata: {name: s}\nspec: {selector: {a: b}}\n";
    let custom = &of_one(
        "commonLabels: {app: x}\ncommonAnnotations: {note: z}\n",
        custom,
    )[0];
    assert_eq!(custom["spec"], json!({"selector": {"a": "b"}}));
    assert_eq!(custom["metadata"]["annotations"], json!({"note": "z"}));
    let odd =
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {template: text}\n";
    assert_eq!(
        refused_one("commonAnnotations: {a: b}\n", odd),
        ["render-failed app/r.yaml:1"]
    );
}

/// Kustomize writes one value to all places of a label, and a later change of one of them changes all.
#[test]
fn d29_labels_that_were_added_together_change_together() {
    let base = "resources: [r.yaml]\nlabels: [{pairs: {app: a}, includeTemplates: true}]\n";
    for (overlay, patch) in [
        ("resources: [../base]\nlabels: [{pairs: {app: b}}]\n", ""),
        (
            "resources: [../base]\npatches: [{path: p.yaml}]\n",
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, labels: {app: b}}\n",
        ),
    ] {
        let objects = objects(&[
            ("base/kustomization.yaml", base),
            ("base/r.yaml", DEPLOYMENT),
            ("app/kustomization.yaml", overlay),
            ("app/p.yaml", patch),
        ]);
        assert_eq!(objects[0]["metadata"]["labels"], json!({"app": "b"}));
        assert_eq!(
            objects[0]["spec"]["template"]["metadata"]["labels"],
            json!({"app": "b"})
        );
    }
}

#[test]
fn d29_replicas_are_for_four_kinds_by_name_alone() {
    let replicas =
        |text: &str, manifest: &str| of_one(text, manifest)[0]["spec"]["replicas"].clone();
    let of_web = "replicas: [{name: web, count: 3}]\n";
    assert_eq!(replicas(of_web, DEPLOYMENT), 3);
    assert_eq!(
        replicas(of_web, &DEPLOYMENT.replace("apps/v1", "other.io/v1")),
        3
    );
    assert_eq!(
        replicas(of_web, &DEPLOYMENT.replace("  replicas: 1\n", "")),
        3
    );
    assert_eq!(
        replicas(of_web, &DEPLOYMENT.replace("replicas: 1", "replicas: '1'")),
        "3"
    );
    assert_eq!(replicas("replicas: [{name: web}]\n", DEPLOYMENT), 0);
    assert_eq!(
        replicas("replicas: [{name: web, count: 1e1}]\n", DEPLOYMENT),
        10
    );
    for (text, manifest) in [
        (of_web, DEPLOYMENT.replace("Deployment", "DaemonSet")),
        ("replicas: [{name: we, count: 1}]\n", DEPLOYMENT.to_owned()),
    ] {
        assert_eq!(
            refused_one(text, &manifest),
            ["render-failed app/kustomization.yaml:2"]
        );
    }
}

#[test]
fn ov_6_image_entries_are_expressions_and_follow_each_other() {
    for (reference, entries, expected) in [
        ("nginx:1.0", "{name: nginx, newTag: '2'}", "nginx:2"),
        ("nginx", "{name: ngin., newName: foo}", "foo"),
        ("nginx:1.0", "{name: 'nginx:1.0', newTag: '2'}", "nginx:2"),
        (
            "nginx:1.0",
            "{name: nginx, newName: foo}, {name: foo, newTag: '3'}",
            "foo:3",
        ),
        (
            "nginx:1.0",
            "{name: foo, newTag: '3'}, {name: nginx, newName: foo}",
            "foo:1.0",
        ),
        ("nginx:1@sha256:a", "{name: nginx, newTag: '2'}", "nginx:2"),
        (
            "nginx:1",
            "{name: nginx, digest: 'sha256:b'}",
            "nginx@sha256:b",
        ),
        (
            "nginx:1",
            "{name: nginx, newTag: '2', digest: 'sha256:b'}",
            "nginx:2@sha256:b",
        ),
        (
            "nginx:1@sha256:a",
            "{name: nginx, newName: foo}",
            "foo:1@sha256:a",
        ),
        (
            "docker.io/library/nginx",
            "{name: nginx, newTag: '2'}",
            "docker.io/library/nginx",
        ),
        (
            "host:5000/a/b:1",
            "{name: 'host:5000/a/b', newTag: '2'}",
            "host:5000/a/b:2",
        ),
        ("nginx:1+2", "{name: nginx, newTag: '2'}", "nginx:1+2"),
        (
            "'nginx:${TAG}'",
            "{name: nginx, newTag: '2'}",
            "nginx:${TAG}",
        ),
        ("nginxx", "{name: nginx, newTag: '2'}", "nginxx"),
        ("'nginx:'", "{name: nginx}", "nginx"),
        ("nginx:1", "{name: nginx, newName: 'foo:7'}", "foo:7:1"),
    ] {
        let text = DEPLOYMENT.replace("nginx:1.0", reference);
        let object = &of_one(&format!("images: [{entries}]\n"), &text)[0];
        let image = &object["spec"]["template"]["spec"]["containers"][0]["image"];
        assert_eq!(image, expected, "{reference} {entries}");
    }
    assert_eq!(
        refused_one(
            "images: [{name: nginx, newName: '5', digest: ''}]\n",
            &DEPLOYMENT.replace("nginx:1.0", "nginx")
        ),
        ["render-failed app/r.yaml:1"]
    );
}

#[test]
fn d29_images_are_found_where_kustomize_looks() {
    let entry = "images: [{name: nginx, newTag: '2'}]\n";
    for (spec, expected) in [
        (
            "{a: {containers: [{image: nginx}]}}",
            json!({"a": {"containers": [{"image": "nginx:2"}]}}),
        ),
        (
            "{a: [{initContainers: [{image: nginx}]}]}",
            json!({"a": [{"initContainers": [{"image": "nginx:2"}]}]}),
        ),
        (
            "{containers: {image: nginx}}",
            json!({"containers": {"image": "nginx:2"}}),
        ),
        (
            "{volumes: [{image: {reference: nginx}}]}",
            json!({"volumes": [{"image": {"reference": "nginx:2"}}]}),
        ),
        ("{image: nginx}", json!({"image": "nginx"})),
        (
            "{ephemeralContainers: [{image: nginx}]}",
            json!({"ephemeralContainers": [{"image": "nginx"}]}),
        ),
        ("{containers: ~}", json!({"containers": []})),
        ("{containers: [~]}", json!({"containers": [null]})),
    ] {
        let text = format!("apiVersion: x.io/v1\nkind: Foo\nmetadata: {{name: f}}\nspec: {spec}\n");
        assert_eq!(of_one(entry, &text)[0]["spec"], expected, "{spec}");
    }
    let definition = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: f}\nspec: {containers: [{image: nginx}]}\n";
    assert_eq!(
        of_one(entry, definition)[0]["spec"]["containers"][0]["image"],
        "nginx"
    );
    for spec in [
        "{containers: [a]}",
        "{a: {containers: [{image: [b]}]}}",
        "text",
        "{volumes: [a]}",
    ] {
        let text = format!("apiVersion: x.io/v1\nkind: Foo\nmetadata: {{name: f}}\nspec: {spec}\n");
        assert_eq!(
            refused_one(entry, &text),
            ["render-failed app/r.yaml:1"],
            "{spec}"
        );
    }
}

#[test]
fn d29_the_order_of_the_file_does_not_matter() {
    let parts = [
        "namespace: x\n",
        "images: [{name: nginx, newTag: '2'}]\n",
        "replicas: [{name: web, count: 5}]\n",
        "patches: [{path: p.yaml}]\n",
        "commonLabels: {app: l}\n",
        "labels: [{pairs: {app: m}}]\n",
    ];
    let patch = format!(
        "{}  labels: {{app: p}}\n",
        DEPLOYMENT
            .replace("replicas: 1", "replicas: 9")
            .replace("nginx:1.0", "nginx:p")
            .split("spec:")
            .next()
            .unwrap()
    ) + &DEPLOYMENT
        .replace("replicas: 1", "replicas: 9")
        .replace("nginx:1.0", "nginx:p")[DEPLOYMENT.find("spec:").unwrap()..];
    let build = |parts: &[&str]| {
        let text = format!("{}resources: [r.yaml]\n", parts.concat());
        objects(&[
            ("app/kustomization.yaml", &text),
            ("app/r.yaml", DEPLOYMENT),
            ("app/p.yaml", &patch),
        ])
    };
    let expected = build(&parts);
    assert_eq!(
        expected[0]["metadata"],
        json!({"name": "web", "namespace": "x", "labels": {"app": "l"}})
    );
    assert_eq!(expected[0]["spec"]["replicas"], 5);
    assert_eq!(
        expected[0]["spec"]["template"]["spec"]["containers"][0]["image"],
        "nginx:2"
    );
    let mut turned = parts;
    for _ in 0..parts.len() {
        turned.rotate_left(1);
        assert_eq!(build(&turned), expected);
    }
}

/// Kustomize looks at references in every build, and gives up where it cannot get to them.
#[test]
fn d29_what_blocks_the_way_to_a_reference_is_refused() {
    let object = |group: &str, kind: &str, body: &str| {
        format!("apiVersion: {group}\nkind: {kind}\nmetadata: {{name: n}}\n{body}\n")
    };
    let rbac = "rbac.authorization.k8s.io/v1";
    for (group, kind, blocked, free) in [
        (
            "apps/v1",
            "Deployment",
            "spec: text",
            "spec: {template: {spec: {volumes: [{}]}}}",
        ),
        (
            "v1",
            "Pod",
            "spec: {containers: [a]}",
            "spec: {containers: [~]}",
        ),
        (
            "batch/v1",
            "CronJob",
            "spec: {jobTemplate: 1}",
            "spec: {jobTemplate: }",
        ),
        (
            "v1",
            "ReplicationController",
            "spec: [text]",
            "spec: {template: {}}",
        ),
        (
            "v1",
            "Pod",
            "spec: {serviceAccountName: {a: b}}",
            "spec: {serviceAccountName: 5}",
        ),
        (
            "networking.k8s.io/v1",
            "Ingress",
            "spec: {rules: a}",
            "spec: {rules: [{http: }]}",
        ),
        (
            rbac,
            "Role",
            "rules: [{resourceNames: [[a]]}]",
            "rules: [{resourceNames: [a]}]",
        ),
        (rbac, "RoleBinding", "subjects: [a]", "subjects: []"),
        (
            rbac,
            "RoleBinding",
            "subjects: [{kind: ServiceAccount, name: a, namespace: }]",
            "subjects: [{kind: User, name: a, namespace: }]",
        ),
    ] {
        assert_eq!(
            refused_one("", &object(group, kind, blocked)),
            ["render-failed app/r.yaml:1"],
            "{blocked}"
        );
        assert_eq!(of_one("", &object(group, kind, free)).len(), 1, "{free}");
        // Another group is looked at the same way, unless the reference is of one group.
        let elsewhere = object("other.io/v1", kind, blocked);
        let of_one_group = kind == "RoleBinding";
        let repository = repository(&[
            ("app/kustomization.yaml", "resources: [r.yaml]\n"),
            ("app/r.yaml", &elsewhere),
        ]);
        let built = build(repository.tree(), &folder("app"));
        assert_eq!(built.is_ok(), of_one_group, "{kind} {blocked}");
    }
}
