//! Batches that want several things of one kustomization.

use manifests::{Decision, Intent, Mode, PruneMode};
use model::{IssueKind, TypeId};

use crate::support::{Bed, changed_lines, line_of};
use crate::{ROOT, WEB, bare, config, folder, removal, web};

const BUSY: &str = "namespace: demo\nresources:\n- web.yaml\n- all.yaml\nimages:\n- name: nginx\n  newTag: '1.1'\n- name: busybox\n  newTag: '1'\nreplicas:\n- name: web\n  count: 2\n";

const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: once, namespace: demo}\nspec:\n  containers:\n  - name: a\n    image: busybox:2\n";

/// Applies the intents in every order of a few and proves that the files are the same.
fn shuffled(bed: &Bed, intents: &[Intent]) -> Bed {
    let mut first = bed.clone();
    first.apply(intents);
    for turn in 1..intents.len() {
        let mut order = intents.to_vec();
        order.rotate_left(turn);
        order.swap(0, turn);
        let mut other = bed.clone();
        other.apply(&order);
        assert_eq!(changed_lines(&first, &other), Vec::<String>::new());
    }
    first
}

#[test]
fn pi_6_edits_removals_and_new_objects_of_one_kustomization_land_together() {
    let bed = folder(BUSY);
    let intents = [
        bed.upsert(&web(5, "nginx:1.2")),
        bed.upsert(&config("b", "z")),
        removal("a"),
        bed.upsert(&config("new", "x")),
        bed.upsert(POD),
        bed.upsert(&config("more", "x")),
    ];
    let after = shuffled(&bed, &intents);
    assert_eq!(after.text("apps/all.yaml"), bare("b", "z"));
    assert_eq!(
        after.text(ROOT),
        BUSY.replace("- all.yaml\n", "- all.yaml\n- more.yaml\n- new.yaml\n")
            .replace("'1.1'", "'1.2'")
            .replace("count: 2", "count: 5")
    );
    assert_eq!(after.text("apps/web.yaml"), WEB);
    assert_eq!(after.find("apps/once.yaml"), None);
}

#[test]
fn d53_a_file_that_empties_while_another_comes_is_one_change_of_the_list() {
    let bed = folder("namespace: demo\nresources:\n- web.yaml\n- all.yaml\n");
    let intents = [
        removal("a"),
        removal("b"),
        bed.upsert(&config("new", "x")),
        bed.upsert(&web(3, "nginx:1.0")),
    ];
    let after = shuffled(&bed, &intents);
    assert_eq!(
        after.text(ROOT),
        "namespace: demo\nresources:\n- web.yaml\n- new.yaml\n"
    );
    assert_eq!(after.find("apps/all.yaml"), None);
}

#[test]
fn d53_the_last_object_may_go_while_one_comes() {
    let bed = Bed::new()
        .with(ROOT, "namespace: demo\nresources:\n- a.yaml\n")
        .with("apps/a.yaml", &bare("a", "x"));
    let after = shuffled(&bed, &[removal("a"), bed.upsert(&config("new", "x"))]);
    assert_eq!(
        after.text(ROOT),
        "namespace: demo\nresources:\n- new.yaml\n"
    );
    let after = shuffled(&bed, &[removal("a"), bed.upsert(&config("a", "z"))]);
    assert_eq!(after.text("apps/a.yaml"), bare("a", "z"));
    let mut bed = bed;
    bed.apply(&[removal("a")]);
    assert_eq!(bed.text(ROOT), "namespace: demo\nresources: []\n");
    bed.mirror(&config("a", "x"));
    assert_eq!(bed.text("apps/a.yaml"), bare("a", "x"));
}

#[test]
fn ov_8_an_entry_changes_when_all_its_objects_want_the_same() {
    let mut bed = folder(BUSY);
    bed.put(
        "apps/all.yaml",
        &WEB.replace("name: web\nspec", "name: api\nspec"),
    );
    let api =
        |image: &str| web(1, image).replace("name: web\n  namespace", "name: api\n  namespace");
    let refusal = bed.refused(&api("nginx:1.2"));
    assert_eq!(refusal.issue, Some(IssueKind::KustomizeRenderRefused));
    assert_eq!(refusal.at.unwrap().line, Some(line_of(BUSY, "'1.1'")));
    let both = [
        bed.upsert(&api("nginx:1.2")),
        bed.upsert(&web(2, "nginx:1.2")),
    ];
    let after = shuffled(&bed, &both);
    assert!(after.text(ROOT).contains("newTag: '1.2'"));
    let apart = [
        bed.upsert(&api("nginx:1.2")),
        bed.upsert(&web(2, "nginx:1.3")),
        bed.upsert(&config("new", "x")),
    ];
    let after = shuffled(&bed, &apart);
    assert!(after.text(ROOT).contains("newTag: '1.1'") && after.text(ROOT).contains("new.yaml"));
}

#[test]
fn rp_1_a_replay_on_another_tip_does_what_was_decided() {
    let mut bed = folder(BUSY);
    let intents = [
        bed.upsert(&web(5, "nginx:1.2")),
        removal("a"),
        bed.upsert(&config("new", "x")),
        bed.upsert(&config("b", "x")),
    ];
    let outcome = bed.plan(&intents, Mode::Apply);
    let replay = [Intent::Replay(outcome.decided)];
    // Somebody regroups the list, moves the file apart and pins by digest meanwhile.
    bed.remove("apps/all.yaml");
    bed.put("apps/more/a.yaml", &bare("a", "x"));
    bed.put("apps/more/b.yaml", &bare("b", "theirs"));
    bed.put(
        "apps/more/kustomization.yaml",
        "resources: [a.yaml, b.yaml]\n",
    );
    bed.put(ROOT, &BUSY.replace("all.yaml", "more"));
    bed.apply(&replay);
    assert_eq!(
        bed.text("apps/more/kustomization.yaml"),
        "resources: [b.yaml]\n"
    );
    assert_eq!(bed.text("apps/more/b.yaml"), bare("b", "theirs"));
    assert!(bed.text(ROOT).contains("new.yaml") && bed.text(ROOT).contains("'1.2'"));
    // A tip that does not build refuses all of it.
    let mut broken = folder(&BUSY.replace("all.yaml", "gone.yaml"));
    let outcome = broken.apply(&replay);
    assert_eq!(outcome.refusals().count(), 3);
    assert_eq!(
        outcome.refusals().next().unwrap().issue,
        Some(IssueKind::UnsupportedKustomize)
    );
}

#[test]
fn dl_1_prune_modes_count_in_builds() {
    let sweep = |bed: &Bed| {
        bed.sweep(
            TypeId::new("", "configmaps"),
            &[&config("b", "x")],
            Vec::new(),
        )
    };
    for (mode, by_event, by_sweep) in [
        (PruneMode::Never, false, false),
        (PruneMode::OnEvent, true, false),
        (PruneMode::Always, true, true),
    ] {
        let mut bed = folder(BUSY);
        bed.policy.prune = mode;
        let mut swept = bed.clone();
        let outcome = swept.apply(&[sweep(&bed)]);
        assert_eq!(!swept.text("apps/all.yaml").contains("name: a"), by_sweep);
        assert_eq!(outcome.retained.len(), usize::from(!by_sweep));
        bed.apply(&[removal("a")]);
        assert_eq!(!bed.text("apps/all.yaml").contains("name: a"), by_event);
    }
}

#[test]
fn a4_3_a_file_of_two_kustomizations_is_neither_changed_nor_removed_for_one() {
    let mut bed = Bed::new()
        .with(
            "apps/x/kustomization.yaml",
            "namespace: demo\nresources:\n- ../a.yaml\n- b.yaml\n",
        )
        .with("apps/x/b.yaml", &bare("b", "x"))
        .with(
            "apps/y/kustomization.yaml",
            "namespace: shop\nresources:\n- ../a.yaml\n- b.yaml\n",
        )
        .with("apps/y/b.yaml", &bare("b", "x"))
        .with("apps/a.yaml", &bare("a", "x"));
    let refusal = bed.refused(&config("a", "z"));
    assert_eq!(refusal.issue, Some(IssueKind::WriteFanIn));
    let before = bed.clone();
    let outcome = bed.apply(&[removal("a")]);
    // The other build would lose its object too.
    assert_eq!(outcome.refusals().count(), 1);
    assert_eq!(changed_lines(&before, &bed), Vec::<String>::new());
    assert_eq!(bed.mirror(&config("b", "z")).len(), 2);
}

#[test]
fn md_3_documents_of_one_file_come_go_and_change_in_a_build() {
    let mut bed = folder("namespace: demo\nresources:\n- web.yaml\n- all.yaml\n")
        .placed([("v1/configmaps", "all.yaml")]);
    let three = format!(
        "# one\n{}---\n# two\n{}---\n# three\n{}",
        bare("a", "x"),
        bare("b", "x"),
        bare("c", "x")
    );
    bed.put("apps/all.yaml", &three);
    let intents = [
        removal("a"),
        bed.upsert(&config("b", "z")),
        bed.upsert(&config("d", "x")),
        removal("c"),
        bed.upsert(&config("early", "x")),
    ];
    let after = shuffled(&bed, &intents);
    let documents = ["b", "d", "early"].map(|name| bare(name, if name == "b" { "z" } else { "x" }));
    assert_eq!(
        after.text("apps/all.yaml"),
        format!("# two\n{}", documents.join("---\n"))
    );
    assert_eq!(after.text(ROOT), bed.text(ROOT));
}

#[test]
fn pj_9_an_object_of_another_applier_is_left_out_of_a_build() {
    let mut bed = folder(BUSY);
    let flux = "  labels: {kustomize.toolkit.fluxcd.io/name: x, kustomize.toolkit.fluxcd.io/namespace: flux-system}\n";
    let live = config("a", "z").replace("  name:", &format!("{flux}  name:"));
    bed.policy.applier = None;
    assert_eq!(bed.mirror(&live).len(), 2);
    bed.policy.applier = Some(manifests::plan::Applier::Flux {
        namespace: "flux-system".into(),
        name: "apps".into(),
    });
    let outcome = bed.apply(&[bed.upsert(&live.replace("key: z", "key: v"))]);
    assert!(matches!(
        outcome.decisions[0].decision,
        Decision::LeftOut { .. }
    ));
}
