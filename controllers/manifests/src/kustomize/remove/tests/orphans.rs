//! Entries that would be for nothing.

use model::IssueKind;

use super::*;

const FOLDER: &str = "\
== base/kustomization.yaml
resources: [all.yaml]
== base/all.yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop}
== app/kustomization.yaml
resources:
  - ../base
  - below
images:
  - name: shop # unused
    newTag: \"2\"
replicas:
  - name: shop
    count: 2
  - name: web # both
    count: 3
  - name: own
    count: 4
patches:
  - path: own.yaml
  - path: any.yaml
    target: {name: own}
== app/own.yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: own}
spec: {paused: true}
== app/any.yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: any}
spec: {minReadySeconds: 1}
== app/below/kustomization.yaml
resources: [own.yaml]
replicas:
  - name: own
    count: 5
== app/below/own.yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: own}
";

/// Says which entries would be for nothing: `path:line what`.
fn found(known: &Known, going: &[Going<'_>]) -> Vec<String> {
    let orphans = orphans(&known.render, &known.graph, &app(), going);
    let orphans = orphans.iter().map(|orphan| {
        let what = match &orphan.entry {
            Entry::Replicas(name) => name.clone(),
            Entry::Patch(path) => path.to_string(),
        };
        format!("{}:{} {what}", orphan.at.path, orphan.at.line.unwrap())
    });
    orphans.collect()
}

#[test]
fn dl_13_entries_for_nothing_else_are_found() {
    let known = Known::of(FOLDER);
    let object = |title| known.object(title);
    let (web, set, shop) = (
        object("Deployment web"),
        object("StatefulSet web"),
        object("Deployment shop"),
    );
    let own = object("Deployment own");
    let app = "app/kustomization.yaml";
    assert_eq!(found(&known, &[Going::Patched(web)]), [""; 0]);
    assert_eq!(
        found(&known, &[Going::Patched(web), Going::Patched(set)]),
        [format!("{app}:10 web")]
    );
    assert_eq!(
        found(&known, &[Going::Patched(shop)]),
        [format!("{app}:8 shop")]
    );
    // A patch comes behind all others, and behind the counts of what is below.
    assert_eq!(
        found(&known, &[Going::Patched(own)]),
        [format!("{app}:12 own")]
    );
    assert_eq!(
        found(&known, &[Going::Source(own)]),
        [
            format!("{app}:15 app/own.yaml"),
            format!("{app}:12 own"),
            "app/below/kustomization.yaml:3 own".to_owned(),
        ]
    );
}

#[test]
fn dp_9_d55_a_count_goes_with_its_last_workload_and_an_image_never_does() {
    let known = Known::of(FOLDER);
    let shop = known.object("Deployment shop");
    let found = orphans(&known.render, &known.graph, &app(), &[Going::Patched(shop)]);
    let mut removed = known.inherited(&["Deployment shop"]);
    let after = known.with(&removed.files);
    assert!(
        build(after.tree(), &app()).is_err(),
        "the count is for nothing"
    );
    let cleaned = without_orphans(after.tree(), &app(), &found)
        .unwrap()
        .unwrap();
    removed.files.extend(cleaned);
    let after = known.without(&["Deployment shop"], removed);
    let before = known.text("app/kustomization.yaml");
    let expected = before.replace("  - name: shop\n    count: 2\n", "")
        + "  - path: deployment-shop-delete.yaml\n";
    assert_eq!(after.text("app/kustomization.yaml"), expected);
}

#[test]
fn dl_13_a_patch_for_nothing_else_keeps_its_object() {
    let known = Known::of(FOLDER);
    let own = known.object("Deployment own");
    let found = orphans(&known.render, &known.graph, &app(), &[Going::Source(own)]);
    let refusal = without_orphans(known.files.tree(), &app(), &found).unwrap();
    let refusal = refusal.unwrap_err();
    assert_eq!(refusal.issue, Some(IssueKind::OrphansBuildEntry));
    assert_eq!(
        told(&refusal),
        "app/kustomization.yaml:15 orphans-build-entry"
    );
    assert!(refusal.message.contains("app/own.yaml"), "{refusal}");

    // Its twin has no such patch, and its counts go.
    let twin = FOLDER.replace("  - path: own.yaml\n", "");
    let known = Known::of(&twin);
    let own = known.object("Deployment own");
    let found = orphans(&known.render, &known.graph, &app(), &[Going::Source(own)]);
    let cleaned = without_orphans(known.files.tree(), &app(), &found).unwrap();
    let files = ["app/below/kustomization.yaml", "app/kustomization.yaml"];
    assert_eq!(names(&cleaned.unwrap()), files);
}

#[test]
fn dl_13_a_count_that_is_never_written_keeps_its_object() {
    let known = Known::of(
        "== app/kustomization.yaml
resources: [web.yaml]
== app/web.yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
== other/kustomization.yaml
resources: [../app]
replicas:
  - name: web
    count: 1
",
    );
    let other = FolderPath::new("other").unwrap();
    let render = build(known.files.tree(), &other).unwrap();
    let going = [Going::Source(&render.objects[0])];
    let found = orphans(&render, &known.graph, &other, &going);
    let refusal = without_orphans(known.files.tree(), &app(), &found).unwrap();
    assert_eq!(
        told(&refusal.unwrap_err()),
        "other/kustomization.yaml:3 orphans-build-entry"
    );
    let twin = without_orphans(known.files.tree(), &FolderPath::root(), &found).unwrap();
    assert_eq!(names(&twin.unwrap()), ["other/kustomization.yaml"]);
}
