//! Who writes the namespace of what.

use manifests::Decision;
use model::IssueKind;

use crate::support::{Bed, decision};
use crate::{ROOT, WEB, bare, config, folder, web};

const ROLE: &str = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: reader\nrules: []\n";

fn named(root: &str, written: Option<bool>) -> Bed {
    let mut bed = Bed::new().with(ROOT, root);
    bed.policy.serialize_namespace = written;
    bed
}

#[test]
fn ns_1_ns_2_a_new_document_names_its_namespace_as_the_target_wants() {
    for (given, written, names) in [
        ("demo", None, false),
        ("demo", Some(true), true),
        ("demo", Some(false), false),
        ("", None, true),
        ("", Some(true), true),
        ("", Some(false), false),
    ] {
        let root = match given {
            "" => "resources: []\n".to_owned(),
            given => format!("namespace: {given}\nresources: []\n"),
        };
        let mut bed = named(&root, written);
        bed.mirror(&config("conf", "x"));
        let text = bed.text("apps/conf.yaml").to_owned();
        assert_eq!(
            text == config("conf", "x"),
            names,
            "{root} {written:?} {text}"
        );
        assert_eq!(bed.mirror(&config("conf", "x")), Vec::<String>::new());
        assert_eq!(
            bed.mirror(&config("conf", "z")).len(),
            2,
            "{root} {written:?}"
        );
        bed.mirror(ROLE);
        assert!(!bed.text("apps/reader.yaml").contains("namespace"));
    }
}

#[test]
fn ns_7_an_edit_leaves_the_namespace_that_a_document_has_and_has_not() {
    for text in [bare("conf", "x"), config("conf", "x")] {
        let mut bed = named("namespace: demo\nresources: [conf.yaml]\n", None);
        bed.put("apps/conf.yaml", &text);
        assert_eq!(bed.mirror(&config("conf", "x")), Vec::<String>::new());
        assert_eq!(bed.mirror(&config("conf", "z")), ["-  key: x", "+  key: z"]);
    }
}

#[test]
fn ns_3_a_setting_is_no_write_in_a_build() {
    for written in [Some(true), Some(false)] {
        for text in [bare("conf", "x"), config("conf", "x")] {
            let mut bed = named("namespace: demo\nresources: [conf.yaml]\n", written);
            bed.put("apps/conf.yaml", &text);
            assert_eq!(bed.mirror(&config("conf", "x")), Vec::<String>::new());
        }
    }
}

#[test]
fn ns_3_an_edit_brings_the_namespace_that_the_target_wants() {
    for (written, before, after) in [
        (true, bare("conf", "x"), config("conf", "z")),
        (false, config("conf", "x"), bare("conf", "z")),
    ] {
        let mut bed = named("namespace: demo\nresources: [conf.yaml]\n", Some(written));
        bed.put("apps/conf.yaml", &before);
        bed.mirror(&config("conf", "z"));
        assert_eq!(bed.text("apps/conf.yaml"), after);
    }
    // Where the kustomization gives none, what is built changes with the document, and stands for the same object.
    let text = format!("{}---\n{}", config("conf", "x"), config("more", "x"));
    let mut bed = named("resources: [conf.yaml]\n", Some(false)).with("apps/conf.yaml", &text);
    bed.mirror(&config("conf", "z"));
    let text = format!("{}---\n{}", bare("conf", "z"), config("more", "x"));
    assert_eq!(bed.text("apps/conf.yaml"), text);
    // A patch that means the object without a namespace keeps the document from getting one, and no edit from landing.
    let root = "namespace: demo\nresources: [conf.yaml]\npatches: [{path: patch.yaml}]\n";
    let mut bed = named(root, Some(true))
        .with("apps/conf.yaml", &bare("conf", "x"))
        .with(
            "apps/patch.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf}\ndata: {more: x}\n",
        );
    bed.mirror(&config("conf", "z\n  more: x"));
    assert_eq!(bed.text("apps/conf.yaml"), bare("conf", "z"));
    // A value that an entry says leaves the document alone.
    let root = "namespace: demo\nresources: [web.yaml]\nreplicas: [{name: web, count: 1}]\n";
    let mut bed = named(root, Some(true)).with("apps/web.yaml", WEB);
    bed.mirror(&web(3, "nginx:1.0"));
    assert_eq!(bed.text("apps/web.yaml"), WEB);
}

#[test]
fn d54_a_namespace_that_a_root_overrides_is_a_relocation_under_every_setting() {
    for written in [None, Some(true), Some(false)] {
        let mut bed = named("namespace: shop\nresources: [conf.yaml]\n", written);
        bed.put("apps/conf.yaml", &config("conf", "x"));
        let refusal = bed.refused(&config("conf", "z"));
        assert_eq!(
            refusal.issue,
            Some(IssueKind::KustomizeRenderRefused),
            "{refusal}"
        );
    }
}

#[test]
fn ns_8_objects_of_the_cluster_come_and_change_below_a_namespace() {
    let mut bed = folder("namespace: demo\nresources:\n- web.yaml\n- all.yaml\n");
    bed.mirror(ROLE);
    bed.mirror(&ROLE.replace(
        "rules: []",
        "rules:\n- {apiGroups: [''], resources: [pods], verbs: [get]}",
    ));
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: demo\n";
    bed.mirror(namespace);
    let other = bed.refused(&namespace.replace("name: demo", "name: shop"));
    assert_eq!(other.issue, Some(IssueKind::KustomizeRenderRefused));
    // A kind of the cluster that kustomize does not know gets a namespace, which is none of the object's.
    let flow = "apiVersion: flowcontrol.apiserver.k8s.io/v1\nkind: FlowSchema\nmetadata:\n  name: all\nspec:\n  matchingPrecedence: 100\n";
    bed.mirror(flow);
    assert!(bed.text(ROOT).ends_with("- flowschema-all.yaml\n"));
    assert!(!bed.text("apps/flowschema-all.yaml").contains("namespace"));
    bed.mirror(&flow.replace("100", "200"));
    assert_eq!(
        bed.mirror(&flow.replace("100", "200")),
        Vec::<String>::new()
    );
}

#[test]
fn ns_5_a_build_without_a_namespace_stands_for_the_only_one() {
    let mut bed = folder("resources:\n- web.yaml\n- all.yaml\n");
    bed.policy.serialize_namespace = Some(false);
    assert_eq!(bed.mirror(&web(1, "nginx:1.0")), Vec::<String>::new());
    assert_eq!(bed.mirror(&web(2, "nginx:1.1")).len(), 4);
    let outcome = bed.apply(&[crate::removal("a")]);
    assert!(matches!(decision(&outcome), Decision::Removed { .. }));
    assert_eq!(bed.text("apps/all.yaml"), bare("b", "x"));
    // Unset, nobody knows which namespace is meant: the document is left alone, and the live object gets its own.
    let mut bed = folder("resources:\n- web.yaml\n- all.yaml\n");
    let outcome = bed.apply(&[bed.upsert(&web(2, "nginx:1.1"))]);
    assert!(matches!(decision(&outcome), Decision::Created { .. }));
    assert_eq!(bed.text("apps/web.yaml"), WEB);
}
