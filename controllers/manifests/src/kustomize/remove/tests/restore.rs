//! What a patch took away comes back.

use super::*;
use crate::kustomize::Cache;
use crate::kustomize::change::ObjectKey;

const BASE: &str = "\
== base/kustomization.yaml
resources: [all.yaml]
== base/all.yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: a}
---
apiVersion: v1
kind: Namespace
metadata: {name: some}
";

fn folder(kustomization: &str) -> Known {
    Known::of(&format!("{BASE}== app/kustomization.yaml\n{kustomization}"))
}

/// Reads `apps/v1 Deployment team/web`.
fn key(text: &str) -> ObjectKey {
    let [api_version, kind, name] = text.split(' ').collect::<Vec<_>>()[..] else {
        panic!("{text} names no object");
    };
    let (namespace, name) = match name.split_once('/') {
        Some((namespace, name)) => (Some(namespace.to_owned()), name),
        None => (None, name),
    };
    ObjectKey {
        api_version: api_version.to_owned(),
        kind: kind.to_owned(),
        namespace,
        name: name.to_owned(),
    }
}

fn restored(known: &Known, wanted: &str) -> Option<Attempt> {
    let cache = &mut Cache::default();
    restore(
        known.files.tree(),
        &known.graph,
        &app(),
        &key(wanted),
        cache,
    )
    .unwrap()
}

#[test]
fn dp_3_an_object_comes_back_with_every_byte_of_before() {
    for kustomization in [
        "# ours\nresources:\n- ../base # all\n",
        "resources:\n  - ../base\n\n# last\n",
        "resources: [../base]\nnamespace: team\nimages: []\n",
        "patches:\n  # ours\n  - path: more.yaml\nresources: [../base]\n== app/more.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: a}\n",
    ] {
        let known = folder(kustomization);
        let objects: Vec<String> = known.render.objects.iter().map(titled).collect();
        for title in &objects {
            let after = known.without(&[title], known.inherited(&[title]));
            let object = known.object(title);
            let version = match &*object.id.group {
                "" => "v1".to_owned(),
                group => format!("{group}/v1"),
            };
            let changes = restored(&after, &format!("{version} {title}"));
            let changes = changes.unwrap_or_else(|| panic!("{title} does not come back"));
            assert_eq!(after.with(&changes.unwrap()), known.files, "{title}");
        }
    }
}

#[test]
fn dp_3_an_object_is_known_by_what_is_live() {
    let known = folder("resources: [../base]\nnamespace: team\n");
    let all = ["Deployment team/web", "ConfigMap team/settings"];
    let after = known.without(&all, known.inherited(&all));
    for (wanted, is_there) in [
        ("apps/v1 Deployment team/web", true),
        ("apps/v1beta1 Deployment team/web", true),
        ("apps/v1 Deployment other/web", false),
        ("apps/v1 Deployment team/other", false),
        ("other/v1 Deployment team/web", false),
        ("apps/v1 StatefulSet team/web", false),
        ("v1 ConfigMap team/settings", true),
        ("v1 ConfigMap a/settings", false),
    ] {
        let found = restored(&after, wanted).map(Result::unwrap);
        assert_eq!(found.is_some(), is_there, "{wanted}");
    }
    assert!(
        restored(&known, "apps/v1 Deployment team/other").is_none(),
        "no patch"
    );
    // Without a namespace in Git the one of the live object decides nothing (NS-5).
    let known = folder("resources: [../base]\n");
    let after = known.without(&["Deployment web"], known.inherited(&["Deployment web"]));
    let found = restored(&after, "apps/v1 Deployment team/web");
    assert_eq!(after.with(&found.unwrap().unwrap()), known.files);
}

#[test]
fn dp_3_of_two_objects_of_one_name_the_one_in_the_namespace_comes_back() {
    let second = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n---\n";
    let app = "== app/kustomization.yaml\nresources: [../base]\n";
    let known =
        Known::of(&(BASE.replace("apiVersion: apps", &format!("{second}apiVersion: apps")) + app));
    let both = ["ConfigMap settings", "ConfigMap a/settings"];
    let after = known.without(&both, known.inherited(&both));
    for (live, file) in [
        (
            "v1 ConfigMap a/settings",
            "-app/configmap-settings-a-delete.yaml",
        ),
        (
            "v1 ConfigMap b/settings",
            "-app/configmap-settings-default-delete.yaml",
        ),
    ] {
        let changes = restored(&after, live).unwrap().unwrap();
        assert_eq!(names(&changes), [file, "app/kustomization.yaml"], "{live}");
    }
}

#[test]
fn dp_3_a_patch_goes_alone_and_only_where_it_keeps_the_object_away() {
    let known = folder("resources: [../base]\n");
    let all = ["Deployment web", "ConfigMap a/settings"];
    let after = known.without(&all, known.inherited(&all));
    let changes = restored(&after, "apps/v1 Deployment web").unwrap().unwrap();
    let files = ["-app/deployment-web-delete.yaml", "app/kustomization.yaml"];
    assert_eq!(names(&changes), files);
    let now = Known::of_files(after.with(&changes));
    let expected = "resources: [../base]\npatches:\n  - path: configmap-settings-delete.yaml\n";
    assert_eq!(now.text("app/kustomization.yaml"), expected);

    // A file that another kustomization lists stays for that one.
    let mut shared = after.with(&Changes::new());
    let other = "resources: [../base]\npatches: [{path: ../app/deployment-web-delete.yaml}]\n";
    shared.put(&path("other/kustomization.yaml"), other.as_bytes().to_vec());
    let shared = Known::of_files(shared);
    let changes = restored(&shared, "apps/v1 Deployment web")
        .unwrap()
        .unwrap();
    assert_eq!(names(&changes), ["app/kustomization.yaml"]);
}

#[test]
fn dp_4_a_patch_that_was_edited_stays_and_the_object_away() {
    let known = folder("resources: [../base]\n");
    let web = ["Deployment web"];
    let after = known.without(&web, known.inherited(&web));
    let file = "app/deployment-web-delete.yaml";
    let written = after.text(file).to_owned();
    let with = |text: &str| {
        let bytes = text.as_bytes().to_vec();
        Known::of_files(after.with(&Changes::from([(path(file), Some(bytes))])))
    };
    for edited in [
        written.replace("# Owned", "# Once owned"),
        written.replace("  name: web\n", "  name: web\n  labels: {a: b}\n"),
        written.replace('\n', "\r\n"),
        format!("{written}---\n"),
    ] {
        let refusal = restored(&with(&edited), "apps/v1 Deployment web").unwrap();
        assert_eq!(
            told(&refusal.unwrap_err()),
            format!("{file} boundary"),
            "{edited}"
        );
    }
    let twin = restored(&with(&written), "apps/v1 Deployment web").unwrap();
    assert_eq!(after.with(&twin.unwrap()), known.files);
}

#[test]
fn dp_4_a_patch_of_somebody_else_keeps_what_it_takes_away() {
    let target = "resources: [../base]
patches:
  - path: gone.yaml
    target: {kind: Deployment}
== app/gone.yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: any}
$patch: delete
";
    let known = folder(target);
    let refusal = restored(&known, "apps/v1 Deployment web").unwrap();
    assert_eq!(told(&refusal.unwrap_err()), "app/gone.yaml boundary");
    assert!(restored(&known, "apps/v1 Deployment other").is_none());
}
