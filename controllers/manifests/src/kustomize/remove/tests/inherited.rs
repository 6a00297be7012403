//! What a base makes that is never written.

use super::*;

const TWO: &str = "\
== base/kustomization.yaml
resources: [all.yaml]
== base/all.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: a}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: b}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings-a, namespace: b}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
== app/kustomization.yaml
# ours
resources:
- ../base
patches: # some
- path: more.yaml # more
== app/more.yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {paused: true}
";

const PATCH: &str = "\
# Owned by GitOps Reverser, which removes this file when the object is back. Edit it, and it stays.
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
$patch: delete
";

#[test]
fn dp_2_an_inherited_object_goes_by_a_patch_that_says_whose_it_is() {
    let known = Known::of(TWO);
    let web = ["Deployment web"];
    let after = known.without(&web, known.inherited(&web));
    assert_eq!(after.text("app/deployment-web-delete.yaml"), PATCH);
    let expected = "# ours
resources:
- ../base
patches: # some
- path: more.yaml # more
- path: deployment-web-delete.yaml
";
    assert_eq!(after.text("app/kustomization.yaml"), expected);
}

#[test]
fn dp_7_each_object_goes_by_a_file_of_its_own() {
    let known = Known::of(TWO);
    let both = ["Deployment web", "ConfigMap a/settings"];
    let removed = known.inherited(&both);
    let patches = removed.files.iter();
    let patches = patches.filter(|(path, _)| path.as_str().ends_with("-delete.yaml"));
    let documents = patches.map(|(_, bytes)| {
        let text = String::from_utf8(bytes.clone().unwrap()).unwrap();
        crate::yaml::values(&text).unwrap().len()
    });
    assert_eq!(documents.collect::<Vec<_>>(), [1, 1]);
    known.without(&both, removed);
}

#[test]
fn dp_1_what_a_base_generates_goes_by_a_patch_too() {
    let known = Known::of(
        "== base/kustomization.yaml
configMapGenerator: [{name: settings, literals: [a=1]}]
generatorOptions: {disableNameSuffixHash: true}
== app/kustomization.yaml
resources: [../base]
namespace: team
",
    );
    let settings = ["ConfigMap team/settings"];
    let removed = known.inherited(&settings);
    let files = [
        "app/configmap-settings-delete.yaml",
        "app/kustomization.yaml",
    ];
    assert_eq!(names(&removed.files), files);
    known.without(&settings, removed);
}

#[test]
fn dp_6_a_patch_says_what_its_object_is_called_before_the_namespace_of_the_overlay() {
    let chain = |middle: &str, app: &str| {
        Known::of(&format!(
            "== base/kustomization.yaml
resources: [web.yaml]
namespace: first
== base/web.yaml
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: zeroth}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {{name: reader}}
---
apiVersion: v1
kind: Namespace
metadata: {{name: some}}
== middle/kustomization.yaml
resources: [../base]
{middle}
== app/kustomization.yaml
resources: [../middle]
{app}
"
        ))
    };
    let (none, second, third) = (
        "commonLabels: {a: b}",
        "namespace: second",
        "namespace: third",
    );
    for (middle, app, object, says) in [
        (
            none,
            none,
            "Deployment first/web",
            "  name: web\n  namespace: first\n",
        ),
        (
            none,
            third,
            "Deployment third/web",
            "  name: web\n  namespace: first\n",
        ),
        (
            second,
            none,
            "Deployment second/web",
            "  name: web\n  namespace: second\n",
        ),
        (
            second,
            third,
            "Deployment third/web",
            "  name: web\n  namespace: second\n",
        ),
        (second, third, "ClusterRole reader", "  name: reader\n$"),
        (second, third, "Namespace third", "  name: second\n$"),
        (none, none, "Namespace first", "  name: first\n$"),
    ] {
        let known = chain(middle, app);
        let removed = known.inherited(&[object]);
        let patch = removed
            .files
            .iter()
            .find(|(path, _)| path.as_str().contains("delete"));
        let patch = patch.and_then(|(_, bytes)| bytes.clone()).unwrap();
        let patch = String::from_utf8(patch).unwrap();
        assert!(
            patch.contains(&format!("metadata:\n{says}")),
            "{object}: {patch}"
        );
        known.without(&[object], removed);
    }
}

#[test]
fn dp_6_an_object_that_no_patch_can_name_alone_stays() {
    let folder = |namespace: &str| {
        Known::of(&format!(
            "== base/kustomization.yaml
resources: [settings.yaml]
== base/settings.yaml
apiVersion: v1
kind: ConfigMap
metadata: {{name: settings{namespace}}}
== a/kustomization.yaml
resources: [../base]
namespace: a
== app/kustomization.yaml
resources: [../a, ../base]
"
        ))
    };
    let known = folder("");
    let removed = known.inherited(&["ConfigMap settings", "ConfigMap a/settings"]);
    let (at, refusal) = &removed.refused[0];
    assert_eq!(*at, 0, "{:?}", removed.refused);
    assert_eq!(
        told(refusal),
        "app/kustomization.yaml kustomize-render-refused"
    );
    assert_eq!(removed.refused.len(), 1);
    assert_eq!(
        names(&removed.files),
        [
            "app/configmap-settings-a-delete.yaml",
            "app/kustomization.yaml"
        ]
    );
    let after = Known::of_files(known.with(&removed.files));
    assert_eq!(after.render.objects.len(), 1);
}

#[test]
fn dp_8_a_file_is_named_after_its_object_as_far_as_it_has_to_be() {
    let known = Known::of(TWO);
    let all = [
        (
            "ConfigMap a/settings",
            "app/configmap-settings-a-core-delete.yaml",
        ),
        (
            "ConfigMap b/settings",
            "app/configmap-settings-b-delete.yaml",
        ),
        (
            "ConfigMap b/settings-a",
            "app/configmap-settings-a-b-delete.yaml",
        ),
        ("Deployment web", "app/deployment-web-delete.yaml"),
    ];
    let titles = all.map(|(title, _)| title);
    let mut expected = all.map(|(_, name)| name.to_owned()).to_vec();
    expected.push("app/kustomization.yaml".to_owned());
    expected.sort();
    let at_once = known.without(&titles, known.inherited(&titles));
    // What went before decides nothing.
    let mut after = Known::of(TWO);
    for title in titles.iter().rev() {
        let removed = after.inherited(&[title]);
        after = after.without(&[title], removed);
    }
    for known in [&at_once, &after] {
        let files = known.files.tree().files.paths().into_iter();
        let files = files.map(|path| path.to_string());
        let files: Vec<String> = files
            .filter(|path| path.starts_with("app/") && path != "app/more.yaml")
            .collect();
        assert_eq!(files, expected);
    }
}

#[test]
fn d55_a_name_that_no_file_system_holds_is_escaped_or_refused() {
    let named = |name: &str| {
        Known::of(&format!(
            "== base/kustomization.yaml
resources: [role.yaml]
== base/role.yaml
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {{name: \"{name}\"}}
== app/kustomization.yaml
resources: [../base]
"
        ))
    };
    let removed = named("system:reader").inherited(&["ClusterRole system:reader"]);
    let escaped = "app/clusterrole-system%3Areader-delete.yaml";
    assert_eq!(names(&removed.files), [escaped, "app/kustomization.yaml"]);
    let long = "a".repeat(253);
    let removed = named(&long).inherited(&[&format!("ClusterRole {long}")]);
    assert_eq!(
        told(&removed.refused[0].1),
        "app/kustomization.yaml boundary"
    );
    assert_eq!(removed.files, Changes::new());
}

#[test]
fn dp_4_what_is_there_already_stays() {
    let known = Known::of(TWO);
    let web = "app/deployment-web-delete.yaml";
    let there = |bytes: &str| {
        let mut files = known.with(&Changes::new());
        files.put(&path(web), bytes.as_bytes().to_vec());
        Known::of_files(files)
    };
    for other in ["", "a: b\n", &PATCH.replace("delete", "delete # never")] {
        let removed = there(other).inherited(&["Deployment web"]);
        assert_eq!(removed.files, Changes::new(), "{other}");
        assert_eq!(
            told(&removed.refused[0].1),
            format!("{web} boundary"),
            "{other}"
        );
    }
    // Its twin is exactly what is written, which only has to be listed, once.
    let known = there(PATCH);
    let removed = known.inherited(&["Deployment web"]);
    assert_eq!(names(&removed.files), ["app/kustomization.yaml"]);
    let after = known.with(&removed.files);
    let again = inherited(
        after.tree(),
        &known.graph,
        (&app(), &known.render),
        &[known.object("Deployment web")],
    );
    assert_eq!(again.unwrap(), Removed::default());
}

#[test]
fn dp_4_a_folder_at_the_place_of_a_patch_stays() {
    let known = Known::of(&format!(
        "{TWO}== app/deployment-web-delete.yaml/a.txt\na\n"
    ));
    let removed = known.inherited(&["Deployment web"]);
    assert_eq!(
        told(&removed.refused[0].1),
        "app/deployment-web-delete.yaml boundary"
    );
}

#[test]
fn dp_1_a_kustomization_that_takes_no_edit_keeps_its_object() {
    let folder = |list: &str| {
        Known::of(&TWO.replace(
            "patches: # some\n- path: more.yaml # more\n",
            &format!("patches: {list}\n"),
        ))
    };
    let removed = folder("[{path: more.yaml}]\n---").inherited(&["Deployment web"]);
    assert_eq!(
        told(&removed.refused[0].1),
        "app/kustomization.yaml non-editable-document"
    );
    assert_eq!(removed.files, Changes::new());
    for twin in ["[{path: more.yaml}]", "[]", ""] {
        let known = folder(twin);
        known.without(&["Deployment web"], known.inherited(&["Deployment web"]));
    }
}
