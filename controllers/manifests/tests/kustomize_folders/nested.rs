//! Kustomizations that read one another, in the folder and outside of it.

use manifests::{Decision, Mode, Placement};
use model::{IssueKind, Sensitivity};

use crate::support::{Bed, decision};
use crate::{ROOT, WEB, bare, config, folder, removal, web};

/// A root over a base in the same folder.
fn own_base(more: &str) -> Bed {
    Bed::new()
        .with(
            ROOT,
            &format!("namespace: demo\nresources:\n- base\n{more}"),
        )
        .with(
            "apps/base/kustomization.yaml",
            "resources:\n- web.yaml\n- a.yaml\n",
        )
        .with("apps/base/web.yaml", WEB)
        .with("apps/base/a.yaml", &bare("a", "x"))
}

#[test]
fn ov_3_a_base_of_the_same_folder_is_edited_itself() {
    let mut bed = own_base("");
    assert_eq!(bed.mirror(&web(4, "nginx:2")).len(), 4);
    assert_eq!(bed.text(ROOT), "namespace: demo\nresources:\n- base\n");
    bed.mirror(&config("new", "x"));
    assert!(bed.text(ROOT).ends_with("- base\n- new.yaml\n"));
    bed.apply(&[removal("a"), removal("new")]);
    assert_eq!(
        bed.text("apps/base/kustomization.yaml"),
        "resources:\n- web.yaml\n"
    );
    assert_eq!(bed.find("apps/base/a.yaml"), None);
    let mut bed = own_base("images:\n- name: nginx\n  newTag: '1'\n");
    assert_eq!(bed.mirror(&web(4, "nginx:2")).len(), 4);
    assert!(bed.text(ROOT).contains("newTag: '2'"));
}

#[test]
fn rg_1_the_nearest_kustomization_lists_a_new_file() {
    let mut bed = own_base("");
    let read = Placement::read(
        [("v1/configmaps", "base/{name}.yaml")],
        None,
        None,
        &Sensitivity::default(),
    );
    bed.policy.placement = read.unwrap();
    bed.mirror(&config("new", "x"));
    // The base gives no namespace, so the document names its own.
    assert_eq!(bed.text("apps/base/new.yaml"), config("new", "x"));
    assert!(
        bed.text("apps/base/kustomization.yaml")
            .contains("new.yaml")
    );
}

#[test]
fn ov_11_an_overlay_over_a_base_elsewhere_gets_objects_of_its_own() {
    let mut bed = Bed::new()
        .with(ROOT, "namespace: demo\nresources:\n- ../base\n")
        .with(
            "base/kustomization.yaml",
            "resources:\n- web.yaml\n- a.yaml\n",
        )
        .with("base/web.yaml", WEB)
        .with("base/a.yaml", &bare("a", "x"));
    let base = bed.clone();
    assert_eq!(bed.mirror(&config("a", "x")), Vec::<String>::new());
    let intents = [
        bed.upsert(&config("a", "z")),
        bed.upsert(&config("new", "x")),
        bed.upsert(&web(3, "nginx:1.0")),
    ];
    let outcome = bed.apply(&intents);
    assert_eq!(outcome.refusals().count(), 1);
    assert_eq!(
        outcome.refusals().next().unwrap().issue,
        Some(IssueKind::WriteEscapesScope)
    );
    let root = bed.text(ROOT);
    assert!(
        root.contains("- ../base\n- new.yaml\n") && root.contains("count: 3"),
        "{root}"
    );
    for path in ["base/kustomization.yaml", "base/web.yaml", "base/a.yaml"] {
        assert_eq!(base.text(path), bed.text(path));
    }
}

#[test]
fn rg_4_builds_elsewhere_keep_working() {
    // Somebody else patches and counts what is in the folder.
    let elsewhere = |bed: Bed, root: &str| {
        bed.with("prod/kustomization.yaml", root).with(
            "prod/patch.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {extra: x}\n",
        )
    };
    let mut bed = elsewhere(
        folder("resources:\n- web.yaml\n- all.yaml\n"),
        "resources: [../apps]\npatches: [{path: patch.yaml}]\n",
    );
    bed.policy.serialize_namespace = Some(false);
    let outcome = bed.apply(&[removal("a")]);
    let refusal = outcome.refusals().next().unwrap();
    assert!(refusal.message.contains("prod/patch.yaml"), "{refusal}");
    let outcome = bed.apply(&[removal("b")]);
    assert!(matches!(decision(&outcome), Decision::Removed { .. }));
    // A file that only a kustomization elsewhere names.
    let mut bed = Bed::new()
        .with(
            "prod/kustomization.yaml",
            "namespace: demo\nresources: [../apps/a.yaml]\n",
        )
        .with("apps/a.yaml", &config("a", "x"));
    assert_eq!(bed.mirror(&config("a", "z")).len(), 2);
    let outcome = bed.apply(&[removal("a")]);
    let refusal = outcome.refusals().next().unwrap();
    assert!(refusal.message.contains("../apps/a.yaml"), "{refusal}");
}

#[test]
fn sc_6_what_is_hidden_and_built_is_read_and_never_written() {
    for pattern in ["/base/", "a.yaml"] {
        let mut bed = own_base("").with("apps/.gittargetignore", &format!("{pattern}\n"));
        assert_eq!(bed.mirror(&config("a", "x")), Vec::<String>::new());
        let refusal = bed.refused(&config("a", "z"));
        assert_eq!(refusal.issue, Some(IssueKind::IgnoreShadowsManaged));
        assert!(refusal.message.contains(pattern), "{refusal}");
    }
}

#[test]
fn rg_6_a_root_that_is_made_takes_in_what_is_a_document_and_builds() {
    let mut bed = Bed::new()
        .with("apps/one.yaml", &config("one", "x"))
        .with(
            "apps/deep/two.yaml",
            &format!("{}---\n{}", config("two", "x"), config("three", "x")),
        )
        .with("apps/README.md", "# x\n")
        .with("apps/old/hidden.yaml", &config("hidden", "x"))
        .with("apps/.gittargetignore", "/old/\n")
        .with("apps/.sops.yaml", "creation_rules: []\n");
    let none: [(&str, &str); 0] = [];
    bed.policy.placement =
        Placement::read(none, None, Some(true), &Sensitivity::default()).unwrap();
    assert_eq!(bed.mirror(&config("one", "x")), Vec::<String>::new());
    assert_eq!(bed.mirror(&config("one", "z")).len(), 2);
    assert_eq!(bed.find(ROOT), None);
    let intents = [
        bed.upsert(&config("new", "x")),
        removal("two"),
        removal("one"),
        bed.upsert(&config("three", "z")),
    ];
    bed.apply(&intents);
    assert!(
        bed.text(ROOT)
            .ends_with("resources:\n  - deep/two.yaml\n  - new.yaml\n")
    );
    assert_eq!(bed.text("apps/deep/two.yaml"), config("three", "z"));
}

#[test]
fn the_whole_repository_may_be_the_folder() {
    let mut bed = Bed::new()
        .with(
            "kustomization.yaml",
            "namespace: demo\nresources:\n- a.yaml\n- sub\n",
        )
        .with("a.yaml", &bare("a", "x"))
        .with("sub/kustomization.yaml", "resources: [b.yaml]\n")
        .with("sub/b.yaml", &bare("b", "x"));
    bed.policy.folder = model::FolderPath::root();
    assert_eq!(bed.mirror(&config("b", "z")).len(), 2);
    bed.mirror(&config("new", "x"));
    bed.apply(&[removal("a"), removal("new")]);
    assert_eq!(
        bed.text("kustomization.yaml"),
        "namespace: demo\nresources:\n- sub\n"
    );
}

#[test]
fn cg_8_generators_with_several_inputs_take_what_has_one_place() {
    let mut bed = Bed::new()
        .with(ROOT, "namespace: demo\ngeneratorOptions: {disableNameSuffixHash: true}\nconfigMapGenerator:\n- name: conf\n  envs: [a.env, b.env]\n  literals: [c=3]\n  files: [d=d.txt]\n")
        .with("apps/a.env", "# a\r\na=1\r\n")
        .with("apps/b.env", "b=2")
        .with("apps/d.txt", "4\n");
    let live = |data: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: conf, namespace: demo}}\ndata: {{{data}}}\n"
        )
    };
    assert_eq!(
        bed.mirror(&live("a: '1', b: '2', c: '3', d: \"4\\n\"")),
        Vec::<String>::new()
    );
    let lines = bed.mirror(&live("a: '10', b: '20', c: '30', d: \"40\\n\""));
    assert_eq!(lines.len(), 8, "{lines:?}");
    assert_eq!(bed.text("apps/a.env"), "# a\r\na=10\r\n");
    assert_eq!(bed.text("apps/b.env"), "b=20");
    bed.mirror(&live("b: '20', d: \"40\\n\""));
    assert_eq!(bed.text("apps/a.env"), "# a\r\n");
    assert!(bed.text(ROOT).contains("literals: []"));
    let refusal = bed.refused(&live("b: '20', d: \"40\\n\", new: x"));
    assert_eq!(refusal.issue, Some(IssueKind::UnplaceableEdit));
}

#[test]
fn every_refusal_of_a_build_is_explained() {
    let mut bed = folder("namespace: demo\nresources:\n- web.yaml\n- all.yaml\n- ../base\ncommonLabels: {t: x}\nimages: [{name: busybox, newTag: '1'}]\n")
        .with("base/kustomization.yaml", "resources: [c.yaml]\n")
        .with("base/c.yaml", &bare("c", "x"));
    let intents = [
        bed.upsert(&config("c", "z")),
        bed.upsert(&config("a", "z")),
        bed.upsert(&config("new", "z")),
        removal("b"),
        bed.upsert(&web(3, "nginx:9").replace(
            "  name: web\n  namespace",
            "  labels: {t: x}\n  name: web\n  namespace",
        )),
    ];
    let plain = bed.plan(&intents, Mode::Apply);
    let explained = bed.plan(&intents, Mode::Explain);
    assert_eq!(plain.decisions, explained.decisions);
    let refused = plain
        .decisions
        .iter()
        .filter(|one| matches!(one.decision, Decision::Refused(_)));
    for one in refused {
        assert!(
            explained.explanations.objects.contains_key(&one.id),
            "{}",
            one.id
        );
    }
}
