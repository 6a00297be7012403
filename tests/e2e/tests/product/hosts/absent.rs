//! Repositories, branches and heads that are not there, not there yet, or not there any more.

use e2e::stage::{FOLDER, Stage};

use super::{Place, cases, stage, together};

#[test]
fn case_12_13_14_what_is_absent_is_begun_where_it_belongs_or_said_to_be_missing() {
    // Looked at often, so that what people do to a branch is noticed without an edit.
    let mut stage = stage(&["--git-refresh-interval=3s"]);
    together(
        &stage,
        cases![
            case_12_an_empty_repository_gains_refs,
            case_12_an_empty_repository_gets_its_first_commit,
            case_13_a_detached_head,
            case_13_a_head_without_a_branch_and_a_named_parent,
            b012_a_head_without_a_branch,
            b012_a_repository_with_a_tag_alone,
            case_14_a_deleted_branch_with_a_named_parent,
            case_14_the_default_branch_is_deleted,
            b005_a_merged_branch_is_deleted,
            b008_a_branch_on_which_nothing_happens,
            b006_a_branch_that_waits_while_its_parent_goes_on,
            b021_a_parent_without_a_common_commit,
            b021_a_named_parent_that_is_missing,
        ],
    );
    stage.stop_operator().unwrap();
}

fn case_12_an_empty_repository_gains_refs(stage: &Stage, case: &str) {
    let place = Place::empty(stage, case);
    let mut mirror = place.mirror();
    "live".clone_into(&mut mirror.branch);
    place.start(&mirror);
    let seeded = place.repository.seed(&[("README.md", "# Theirs\n")]);
    let theirs = seeded.unwrap();
    place.edit("settings", "first");
    place.wait_on("live", "settings", "first");
    let judge = place.judge("live", &[&theirs]);
    assert_eq!(judge.commits().unwrap().len(), 2, "no history of its own");
    place.check_edits(&judge, "settings", &["first"]);
}

fn case_12_an_empty_repository_gets_its_first_commit(stage: &Stage, case: &str) {
    let place = Place::empty(stage, case);
    place.start(&place.mirror());
    place.publish("settings", "first");
    place.publish("settings", "second");
    let judge = place.judge("main", &[]);
    assert_eq!(judge.commits().unwrap().len(), 2);
    place.check_edits(&judge, "settings", &["first", "second"]);
}

fn case_13_a_detached_head(stage: &Stage, case: &str) {
    let place = Place::seeded(stage, case);
    let before = place.tip("main");
    let detach = ["update-ref", "--no-deref", "HEAD", &before];
    place.repository.git(&detach).unwrap();
    let mut mirror = place.mirror();
    "live".clone_into(&mut mirror.branch);
    place.start(&mirror);
    place.edit("settings", "first");
    place.wait_on("live", "settings", "first");
    let judge = place.judge("live", &[&before]);
    assert_eq!(judge.commits().unwrap().len(), 2);
}

fn case_13_a_head_without_a_branch_and_a_named_parent(stage: &Stage, case: &str) {
    let place = Place::seeded(stage, case);
    let before = place.tip("main");
    let dangle = ["symbolic-ref", "HEAD", "refs/heads/nowhere"];
    place.repository.git(&dangle).unwrap();
    let mut mirror = place.mirror();
    "live".clone_into(&mut mirror.branch);
    mirror.parent = Some("main".to_owned());
    place.start(&mirror);
    place.edit("settings", "first");
    place.wait_on("live", "settings", "first");
    let judge = place.judge("live", &[&before]);
    assert_eq!(judge.commits().unwrap().len(), 2);
}

/// Nothing may be written until `repair` has made it possible; then the edit stands on the person's commit.
fn waits_for_its_parent(
    stage: &Stage,
    case: &str,
    parent: Option<&str>,
    spoil: impl FnOnce(&Place<'_>),
    repair: impl FnOnce(&Place<'_>),
) {
    let place = Place::seeded(stage, case);
    let before = place.tip("main");
    spoil(&place);
    let mut mirror = place.mirror();
    "live".clone_into(&mut mirror.branch);
    mirror.parent = parent.map(str::to_owned);
    stage.start_mirror(&mirror).unwrap();
    place.wait_branch(["False", "ParentBranchNotFound", "live"]);
    place.edit("settings", "first");
    place.edit("settings", "second");
    place.wait_branch(["False", "ParentBranchNotFound", "next attempt at 20"]);
    assert_eq!(place.repository.branch("live"), None);
    assert_eq!(place.pushes(), 0);
    repair(&place);
    place.wait_on("live", "settings", "second");
    let judge = place.judge("live", &[&before]);
    let [first, ..] = &judge.commits().unwrap()[..] else {
        panic!("no commits")
    };
    assert_eq!(*first, before, "no history of its own");
}

fn b012_a_head_without_a_branch(stage: &Stage, case: &str) {
    let point = |place: &Place<'_>, branch: &str| {
        let reference = format!("refs/heads/{branch}");
        let point = ["symbolic-ref", "HEAD", &reference];
        place.repository.git(&point).unwrap();
    };
    waits_for_its_parent(
        stage,
        case,
        None,
        |place| point(place, "nowhere"),
        |place| point(place, "main"),
    );
}

fn b012_a_repository_with_a_tag_alone(stage: &Stage, case: &str) {
    let run = |place: &Place<'_>, arguments: &[&str]| {
        place.repository.git(arguments).unwrap();
    };
    waits_for_its_parent(
        stage,
        case,
        None,
        |place| {
            run(place, &["tag", "v1", "main"]);
            run(place, &["update-ref", "-d", "refs/heads/main"]);
        },
        |place| run(place, &["update-ref", "refs/heads/main", "v1"]),
    );
}

fn b021_a_named_parent_that_is_missing(stage: &Stage, case: &str) {
    waits_for_its_parent(
        stage,
        case,
        Some("release/1.2"),
        |_| {},
        |place| {
            let branch = ["branch", "release/1.2", "main"];
            place.repository.git(&branch).unwrap();
        },
    );
}

fn case_14_a_deleted_branch_with_a_named_parent(stage: &Stage, case: &str) {
    let place = Place::seeded(stage, case);
    let branch = ["branch", "stable", "main"];
    place.repository.git(&branch).unwrap();
    let mut mirror = place.mirror();
    "live".clone_into(&mut mirror.branch);
    mirror.parent = Some("stable".to_owned());
    place.start(&mirror);
    place.edit("settings", "first");
    place.wait_on("live", "settings", "first");
    // The parent goes on, and the branch goes.
    let person = place.person();
    person.git(&["checkout", "--quiet", "stable"]).unwrap();
    person.write("stable.txt", "theirs\n").unwrap();
    let theirs = person.commit("stable goes on").unwrap();
    person.push().unwrap();
    let away = ["update-ref", "-d", "refs/heads/live"];
    place.repository.git(&away).unwrap();
    place.edit("settings", "second");
    place.wait_on("live", "settings", "second");
    let judge = place.judge("live", &[&theirs]);
    assert_eq!(
        judge
            .values(&place.path("settings"), "is")
            .unwrap()
            .last()
            .unwrap(),
        "second"
    );
}

fn case_14_the_default_branch_is_deleted(stage: &Stage, case: &str) {
    let place = Place::seeded(stage, case);
    place.start(&place.mirror());
    place.publish("settings", "first");
    place.wait_ready();
    let before = place.tip("main");
    for arguments in [
        &["tag", "kept", "main"][..],
        &["update-ref", "-d", "refs/heads/main"],
    ] {
        place.repository.git(arguments).unwrap();
    }
    place.edit("settings", "second");
    place.wait_branch(["False", "ParentBranchNotFound", "main"]);
    assert_eq!(place.repository.branch("main"), None, "no orphan");
    let back = ["update-ref", "refs/heads/main", "kept"];
    place.repository.git(&back).unwrap();
    place.wait("settings", "second");
    let judge = place.judge("main", &[&before]);
    place.check_edits(&judge, "settings", &["first", "second"]);
}

fn b005_a_merged_branch_is_deleted(stage: &Stage, case: &str) {
    let place = Place::seeded(stage, case);
    let mut mirror = place.mirror();
    "reverser/edits".clone_into(&mut mirror.branch);
    mirror.parent = Some("main".to_owned());
    place.start(&mirror);
    place.edit("settings", "first");
    place.wait_on("reverser/edits", "settings", "first");
    let merged = place.tip("reverser/edits");
    let merge = ["update-ref", "refs/heads/main", &merged];
    place.repository.git(&merge).unwrap();
    let away = ["branch", "-D", "reverser/edits"];
    place.repository.git(&away).unwrap();
    place.wait_looks(2);
    assert_eq!(place.repository.branch("reverser/edits"), None);
    let theirs = place.push_of_a_person("theirs.txt");
    place.edit("settings", "second");
    place.wait_on("reverser/edits", "settings", "second");
    let judge = place.judge("reverser/edits", &[&merged, &theirs]);
    place.check_edits(&judge, "settings", &["first", "second"]);
    assert_eq!(place.tip("reverser/edits~1"), theirs);
}

fn b008_a_branch_on_which_nothing_happens(stage: &Stage, case: &str) {
    let place = Place::seeded(stage, case);
    place.start(&place.mirror());
    place.publish("settings", "first");
    let before = place.tip("main");
    for round in 0..5 {
        let when = format!("reconcile.configbutler.ai/requestedAt={round}");
        let target = [
            "annotate",
            "gittarget",
            "demo",
            "-n",
            &place.name,
            "--overwrite",
            &when,
        ];
        stage.admin.run(&target).unwrap();
        place.wait_looks(1);
    }
    assert_eq!(place.tip("main"), before, "nothing was committed");
    assert_eq!(place.pushes(), 1);
    place.judge("main", &[&before]);
}

fn b006_a_branch_that_waits_while_its_parent_goes_on(stage: &Stage, case: &str) {
    let place = Place::seeded(stage, case);
    let mut mirror = place.mirror();
    "late".clone_into(&mut mirror.branch);
    place.start(&mirror);
    let person = place.person();
    for round in 0..10 {
        person.write("theirs.txt", &format!("{round}\n")).unwrap();
        person.commit(&format!("theirs {round}")).unwrap();
    }
    person.push().unwrap();
    let theirs = person.head().unwrap();
    place.edit("settings", "first");
    place.wait_on("late", "settings", "first");
    place.edit("settings", "second");
    place.wait_on("late", "settings", "second");
    let judge = place.judge("late", &[&theirs]);
    place.check_edits(&judge, "settings", &["first", "second"]);
    assert_eq!(place.tip("late~2"), theirs);
}

fn b021_a_parent_without_a_common_commit(stage: &Stage, case: &str) {
    let place = Place::seeded(stage, case);
    let person = place.person();
    let orphan = ["checkout", "--quiet", "--orphan", "release/1.2"];
    person.git(&orphan).unwrap();
    let file = format!("{FOLDER}/NOTES.md");
    person.write(&file, "theirs\n").unwrap();
    let theirs = person.commit("a release").unwrap();
    person.push().unwrap();
    let mut mirror = place.mirror();
    "edits".clone_into(&mut mirror.branch);
    mirror.parent = Some("release/1.2".to_owned());
    place.start(&mirror);
    place.edit("settings", "first");
    place.wait_on("edits", "settings", "first");
    place.judge("edits", &[&theirs]);
    assert_eq!(place.tip("edits~1"), theirs);
}
