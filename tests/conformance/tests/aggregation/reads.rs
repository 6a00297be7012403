//! What people and programs see of the group through the aggregation layer.

use anyhow::{Result, ensure};
use serde_json::Value;
use testkit::{ControlPlane, Kubectl, Person, wait};

use crate::extension::{APISERVICE, Extension};

const READER: &str = "
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: widget-reader, namespace: red}
rules: [{apiGroups: [example.test], resources: [widgets], verbs: [get, list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: widget-reader, namespace: red}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: widget-reader}
subjects: [{kind: User, name: alice, apiGroup: rbac.authorization.k8s.io}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: widget-one, namespace: red}
rules: [{apiGroups: [example.test], resources: [widgets], resourceNames: [second], verbs: [get, list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: widget-one, namespace: red}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: widget-one}
subjects: [{kind: User, name: bob, apiGroup: rbac.authorization.k8s.io}]
";

#[test]
fn people_read_the_group_with_the_tools_they_know() -> Result<()> {
    let control_plane = ControlPlane::start()?;
    let extension = Extension::start(&control_plane)?;
    let admin = &extension.admin;
    admin.run(&["create", "namespace", "red"])?;
    tables(admin)?;
    objects(admin)?;
    writes(admin)?;
    discovery(admin)?;
    openapi(admin)?;
    people(&control_plane, admin)?;
    no_complaints(&control_plane)?;
    extension.stop()
}

/// The API server asks for discovery and OpenAPI every minute and logs each answer it cannot use.
fn no_complaints(control_plane: &ControlPlane) -> Result<()> {
    let log = std::fs::read_to_string(control_plane.folder().join("kube-apiserver.log"))?;
    let complaints: Vec<&str> = log
        .lines()
        .filter(|line| line.starts_with(['W', 'E']) && line.contains("example.test"))
        .collect();
    assert!(complaints.is_empty(), "{complaints:#?}");
    Ok(())
}

/// The cells of each line.
fn lines(text: &str) -> Vec<Vec<&str>> {
    text.lines()
        .map(|line| line.split_whitespace().collect())
        .collect()
}

fn tables(admin: &Kubectl) -> Result<()> {
    let all = admin.run(&["get", "widgets", "-A"])?;
    let all = lines(&all);
    assert_eq!(all[0], ["NAMESPACE", "NAME", "SIZE", "AGE"]);
    assert_eq!(all[1][..3], ["blue", "only", "1"]);
    assert_eq!(all.len(), 4);

    let wide = admin.run(&["get", "wg", "-n", "red", "-o", "wide"])?;
    let wide = lines(&wide);
    assert_eq!(wide[0], ["NAME", "SIZE", "AGE", "COLOUR"]);
    assert_eq!((wide[1][0], wide[1][3]), ("first", "black"));

    let one = admin.run(&["get", "widget", "second", "-n", "red", "--show-labels"])?;
    let one = lines(&one);
    assert_eq!(one[0], ["NAME", "SIZE", "AGE", "LABELS"]);
    assert_eq!(one[1][3], "team=red");

    let sorted = admin.run(&[
        "get",
        "widgets",
        "-A",
        "--sort-by=.spec.size",
        "--no-headers",
    ])?;
    let sizes: Vec<&str> = lines(&sorted).iter().map(|line| line[2]).collect();
    assert_eq!(sizes, ["1", "2", "3"]);

    let category = admin.run(&["get", "things", "-A", "--chunk-size=1", "--no-headers"])?;
    assert_eq!(category.lines().count(), 3);

    let labelled = admin.run(&["get", "widgets", "-A", "-l", "team in (blue)", "-o", "name"])?;
    assert_eq!(labelled.trim(), "widget.example.test/only");
    let field = [
        "get",
        "widgets",
        "-A",
        "-o",
        "name",
        "--field-selector",
        "spec.colour=black",
    ];
    assert_eq!(admin.run(&field)?.trim(), "widget.example.test/first");

    let empty = admin.output(&["get", "widgets", "-n", "default"])?;
    let said = String::from_utf8(empty.stderr)?;
    assert!(
        said.contains("No resources found in default namespace."),
        "{said}"
    );
    assert!(
        said.contains("Warning: widgets are only a demonstration"),
        "{said}"
    );
    Ok(())
}

fn objects(admin: &Kubectl) -> Result<()> {
    let yaml = admin.run(&["get", "widget", "first", "-n", "red", "-o", "yaml"])?;
    for line in [
        "apiVersion: example.test/v1",
        "kind: Widget",
        "  size: 3",
        "  uid: uid-red-first",
    ] {
        assert!(
            yaml.lines().any(|candidate| candidate == line),
            "{line} in {yaml}"
        );
    }
    let list = admin.json(&["get", "widgets", "-A"])?;
    assert_eq!(list["items"][2]["kind"], "Widget");
    let described = admin.run(&["describe", "widget", "first", "-n", "red"])?;
    assert!(
        described.contains("Size:") && described.contains("Events:"),
        "{described}"
    );

    let missing = admin.refused(&["get", "widget", "zz", "-n", "red"])?;
    let expected = r#"Error from server (NotFound): widgets.example.test "zz" not found"#;
    assert!(missing.contains(expected), "{missing}");
    let unknown = ["get", "widgets", "-A", "--field-selector", "spec.size=3"];
    let refused = admin.refused(&unknown)?;
    assert!(
        refused.contains("field label not supported: spec.size"),
        "{refused}"
    );
    Ok(())
}

fn writes(admin: &Kubectl) -> Result<()> {
    for write in [
        &["delete", "widget", "first", "-n", "red", "--wait=false"][..],
        &["label", "widget", "first", "-n", "red", "a=b"],
        &[
            "patch",
            "widget",
            "first",
            "-n",
            "red",
            "--type=merge",
            "-p",
            "{}",
        ],
    ] {
        let refused = admin.refused(write)?;
        assert!(refused.contains("MethodNotAllowed"), "{write:?}: {refused}");
    }
    assert_eq!(
        admin
            .run(&["get", "widgets", "-A", "-o", "name"])?
            .lines()
            .count(),
        3
    );
    Ok(())
}

fn discovery(admin: &Kubectl) -> Result<()> {
    let resources = admin.run(&["api-resources", "--api-group=example.test", "-o", "wide"])?;
    let resources = lines(&resources);
    assert_eq!(
        resources[1],
        [
            "widgets",
            "wg",
            "example.test/v1",
            "true",
            "Widget",
            "get,list",
            "things"
        ]
    );
    let group: Value = serde_json::from_str(&admin.get_raw("/apis/example.test/v1")?)?;
    assert_eq!(group["kind"], "APIResourceList");
    // Every other group still answers, so nothing prints a discovery error.
    let everything = admin.output(&["api-resources"])?;
    assert!(
        everything.status.success() && everything.stderr.is_empty(),
        "{everything:?}"
    );
    Ok(())
}

fn openapi(admin: &Kubectl) -> Result<()> {
    let text = wait::until_ok("the cluster to serve our OpenAPI", wait::GENEROUS, || {
        admin.run(&["explain", "widgets"])
    })?;
    assert!(text.contains("A thing with cogs."), "{text}");
    let field = admin.run(&["explain", "widgets.spec.size"])?;
    assert!(field.contains("FIELD: size <integer>"), "{field}");
    assert!(
        field.contains("The number of cogs, for example 3."),
        "{field}"
    );
    assert!(
        admin
            .run(&["explain", "widgets.metadata.labels"])?
            .contains("labels")
    );
    assert!(
        admin
            .run(&["explain", "widgets", "--recursive"])?
            .contains("colour")
    );
    wait::until_ok(
        "the merged OpenAPI v2 to hold our schema",
        wait::GENEROUS,
        || {
            let merged: Value = serde_json::from_str(&admin.get_raw("/openapi/v2")?)?;
            let definitions = &merged["definitions"];
            ensure!(
                definitions["test.example.v1.Widget"].is_object(),
                "not merged yet"
            );
            ensure!(definitions["io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta_v2"].is_null());
            Ok(())
        },
    )
}

fn people(control_plane: &ControlPlane, admin: &Kubectl) -> Result<()> {
    let alice = control_plane.kubectl(&control_plane.person(&Person::named("alice"))?)?;
    let bob = control_plane.kubectl(&control_plane.person(&Person::named("bob"))?)?;
    let refused = alice.refused(&["get", "widgets", "-n", "red"])?;
    let sentence = r#"User "alice" cannot list resource "widgets" in API group "example.test" in the namespace "red""#;
    assert!(
        refused.contains("Forbidden") && refused.contains(sentence),
        "{refused}"
    );
    admin.apply(READER)?;
    let rows = wait::until_ok("the role to take effect", wait::GENEROUS, || {
        alice.run(&["get", "widgets", "-n", "red", "--no-headers"])
    })?;
    assert_eq!(rows.lines().count(), 2);
    assert!(
        alice
            .refused(&["get", "widgets", "-A"])?
            .contains("at the cluster scope")
    );
    assert!(
        alice
            .refused(&["get", "widgets", "-n", "blue"])?
            .contains("Forbidden")
    );

    // A role for one name allows the object, and a list of that name alone.
    bob.run(&["get", "widget", "second", "-n", "red"])?;
    let by_name = [
        "get",
        "widgets",
        "-n",
        "red",
        "-o",
        "name",
        "--field-selector=metadata.name=second",
    ];
    assert_eq!(bob.run(&by_name)?.trim(), "widget.example.test/second");
    assert!(
        bob.refused(&["get", "widgets", "-n", "red"])?
            .contains("Forbidden")
    );
    assert!(
        bob.refused(&["get", "widget", "first", "-n", "red"])?
            .contains("Forbidden")
    );

    let status = admin.json(&["get", "apiservice", APISERVICE])?;
    assert_eq!(status["status"]["conditions"][0]["reason"], "Passed");
    Ok(())
}
