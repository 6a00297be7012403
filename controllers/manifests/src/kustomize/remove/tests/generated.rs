//! What a generator of the folder makes.

use super::*;

const SHARED: &str = "\
== app/kustomization.yaml
configMapGenerator:
  - name: one # the first
    envs: [one.env]
    files: [shared.txt, ../outside.txt]

  # the second
  - name: two
    files: [key=shared.txt, listed.yaml]
  - name: three
    namespace: team
    literals: [a=1] # stays
resources:
  - listed.yaml
generatorOptions: {disableNameSuffixHash: true}
== app/one.env
a=1
== app/shared.txt
shared
== app/listed.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: listed}
== outside.txt
outside
";

#[test]
fn cg_11_a_generated_object_goes_with_its_entry_and_with_what_nothing_else_reads() {
    let known = Known::of(SHARED);
    let removed = known.generated(&["ConfigMap one"]);
    assert_eq!(
        names(&removed.files),
        ["app/kustomization.yaml", "-app/one.env"]
    );
    let after = known.without(&["ConfigMap one"], removed);
    let kustomization = known.text("app/kustomization.yaml");
    let entry = "  - name: one # the first
    envs: [one.env]
    files: [shared.txt, ../outside.txt]
";
    let expected = kustomization.replace(entry, "");
    assert_eq!(after.text("app/kustomization.yaml"), expected);
}

#[test]
fn cg_14_a_file_goes_with_the_last_entry_that_reads_it() {
    let known = Known::of(SHARED);
    let removed = known.generated(&["ConfigMap two"]);
    assert_eq!(names(&removed.files), ["app/kustomization.yaml"]);
    let after = known.without(&["ConfigMap two"], removed);
    let removed = after.generated(&["ConfigMap one"]);
    let last = ["app/kustomization.yaml", "-app/one.env", "-app/shared.txt"];
    assert_eq!(names(&removed.files), last);

    // Both at once say the same as one after the other.
    let both = ["ConfigMap one", "ConfigMap two"];
    let at_once = known.without(&both, known.generated(&both));
    let one_by_one = after.without(&["ConfigMap one"], removed);
    assert_eq!(at_once.files, one_by_one.files);
}

#[test]
fn cg_11_a_kustomization_never_goes() {
    let known = Known::of(
        "== app/kustomization.yaml
configMapGenerator: [{name: one, files: [kustomization.yaml, below/Kustomization]}]
generatorOptions: {disableNameSuffixHash: true}
resources: [below]
== app/below/Kustomization
resources: []
",
    );
    let removed = known.generated(&["ConfigMap one"]);
    assert_eq!(names(&removed.files), ["app/kustomization.yaml"]);
    known.without(&["ConfigMap one"], removed);
}

#[test]
fn cg_14_what_another_kustomization_reads_stays() {
    for reader in [
        "configMapGenerator: [{name: a, files: [../app/read.yaml]}]",
        "resources: [../app/read.yaml]",
        "resources: [../app]\npatches: [{path: ../app/read.yaml}]",
    ] {
        let known = Known::of(&format!(
            "\
== app/kustomization.yaml
configMapGenerator:
  - name: one
    files: [read.yaml]
  - name: two
    literals: [a=1]
generatorOptions: {{disableNameSuffixHash: true}}
== app/read.yaml
apiVersion: v1
kind: ConfigMap
metadata: {{name: two}}
== other/kustomization.yaml
{reader}
"
        ));
        let removed = known.generated(&["ConfigMap one"]);
        assert_eq!(
            names(&removed.files),
            ["app/kustomization.yaml"],
            "{reader}"
        );
    }
}

#[test]
fn cg_17_the_last_entry_takes_its_key_along_and_the_kustomization_still_builds() {
    for (before, after) in [
        (
            "namespace: team\nconfigMapGenerator:\n  - name: a\n    literals: [a=1]\ngeneratorOptions: # all\n  disableNameSuffixHash: true\n",
            "namespace: team\ngeneratorOptions: # all\n  disableNameSuffixHash: true\n",
        ),
        (
            "kind: Kustomization\nconfigMapGenerator:\n  - name: a\n    options: {disableNameSuffixHash: true}\n",
            "kind: Kustomization\nresources: []\n",
        ),
    ] {
        let known = Known::of(&format!("== app/kustomization.yaml\n{before}"));
        let object = titled(&known.render.objects[0]);
        let removed = known.generated(&[&object]);
        let now = known.without(&[&object], removed);
        assert_eq!(now.text("app/kustomization.yaml"), after);
    }
}

#[test]
fn cg_11_a_generator_that_is_never_written_keeps_its_entry() {
    let base = "== base/kustomization.yaml
configMapGenerator:
  - {name: other, literals: [a=1]}
  - {name: settings, files: [settings.txt]}
generatorOptions: {disableNameSuffixHash: true}
== base/settings.txt
a
== app/kustomization.yaml
resources: [../base]
";
    let known = Known::of(base);
    let removed = known.generated(&["ConfigMap settings"]);
    assert_eq!(names(&removed.files), [""; 0]);
    let told: Vec<_> = removed.refused.iter().map(|(_, it)| told(it)).collect();
    assert_eq!(told, ["base/kustomization.yaml:3 write-escapes-scope"]);

    let twin = Known::of(
        &base
            .replace("base/", "app/base/")
            .replace("../base", "base"),
    );
    let removed = twin.generated(&["ConfigMap settings"]);
    let gone = ["app/base/kustomization.yaml", "-app/base/settings.txt"];
    assert_eq!(names(&removed.files), gone);
    twin.without(&["ConfigMap settings"], removed);
}

#[test]
fn cg_11_what_cannot_be_taken_out_stays_and_the_others_go() {
    let known = Known::of(
        "== app/kustomization.yaml
configMapGenerator: [{name: one, literals: [a=1]}]
generatorOptions: {disableNameSuffixHash: true}
resources: [listed.yaml, below]
---
== app/listed.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: listed}
== app/below/kustomization.yaml
configMapGenerator: [{name: two, literals: [a=1]}]
generatorOptions: {disableNameSuffixHash: true}
",
    );
    let removed = known.generated(&["ConfigMap one", "ConfigMap listed", "ConfigMap two"]);
    assert_eq!(names(&removed.files), ["app/below/kustomization.yaml"]);
    let told: Vec<_> = removed
        .refused
        .iter()
        .map(|(at, it)| format!("{at} {}", told(it)))
        .collect();
    let expected = [
        "0 app/kustomization.yaml non-editable-document",
        "1 app/listed.yaml kustomize-render-refused",
    ];
    assert_eq!(told, expected);
}
