//! Others who are faster, before a session and within it, and who take back what was there.

use e2e::stage::{FOLDER, Stage};

use super::{OUT_OF_QUARANTINE, Place, cases, stage, together};

#[test]
fn case_15_16_17_32_whoever_was_faster_is_built_on_and_nobody_is_overwritten() {
    let mut stage = stage(&[]);
    together(
        &stage,
        cases![
            b003_somebody_pushes_between_two_edits,
            case_15_the_branch_moves_within_the_session,
            case_16_somebody_creates_the_branch_first,
            case_17_the_parent_moves_before_the_branch_is_created,
            case_32_the_branch_is_set_back,
            case_32_the_branch_is_rewritten_from_another_root,
            b009_somebody_commits_the_same_bytes_first,
            b011_whatever_is_beside_the_folder_stays,
        ],
    );
    stage.stop_operator().unwrap();
}

/// Does this once, on the server, when the next push has been compared and its objects have come.
fn within_the_next_push(place: &Place<'_>, script: &str) {
    let script = format!("#!/bin/sh\nset -e\nrm \"$0\"\n{OUT_OF_QUARANTINE}{script}\n");
    place
        .repository
        .install_hook("pre-receive", &script)
        .unwrap();
}

fn b003_somebody_pushes_between_two_edits(stage: &Stage, case: &str) {
    let place = Place::seeded(stage, case);
    place.start(&place.mirror());
    let mut kept = vec![place.tip("main")];
    for value in ["first", "second", "third"] {
        place.publish("settings", value);
        kept.push(place.push_of_a_person(&format!("{value}.txt")));
    }
    let kept: Vec<&str> = kept.iter().map(String::as_str).collect();
    let judge = place.judge("main", &kept);
    assert_eq!(judge.commits().unwrap().len(), 7);
    place.check_edits(&judge, "settings", &["first", "second", "third"]);
}

fn case_15_the_branch_moves_within_the_session(stage: &Stage, case: &str) {
    let place = Place::seeded(stage, case);
    place.start(&place.mirror());
    within_the_next_push(
        &place,
        "git update-ref refs/heads/main \"$(git commit-tree -p main -m theirs 'main^{tree}')\"",
    );
    place.publish("settings", "first");
    let judge = place.judge("main", &[]);
    let subjects = judge.subjects().unwrap();
    assert_eq!(subjects[..2], ["Seed the repository", "theirs"]);
    assert_eq!(subjects.len(), 3, "{subjects:?}");
    place.check_edits(&judge, "settings", &["first"]);
    assert_eq!(place.pushes(), 2, "one replay");
}

fn case_16_somebody_creates_the_branch_first(stage: &Stage, case: &str) {
    let place = Place::seeded(stage, case);
    let mut mirror = place.mirror();
    "live".clone_into(&mut mirror.branch);
    place.start(&mirror);
    within_the_next_push(
        &place,
        "git update-ref refs/heads/live \"$(git commit-tree -p main -m theirs 'main^{tree}')\"",
    );
    place.edit("settings", "first");
    place.wait_on("live", "settings", "first");
    let judge = place.judge("live", &[]);
    let subjects = judge.subjects().unwrap();
    assert_eq!(subjects[..2], ["Seed the repository", "theirs"]);
    assert_eq!(subjects.len(), 3, "{subjects:?}");
}

fn case_17_the_parent_moves_before_the_branch_is_created(stage: &Stage, case: &str) {
    let place = Place::seeded(stage, case);
    let mut mirror = place.mirror();
    "live".clone_into(&mut mirror.branch);
    place.start(&mirror);
    // Nobody looks again before the push session does.
    let theirs = place.push_of_a_person("theirs.txt");
    place.edit("settings", "first");
    place.wait_on("live", "settings", "first");
    let judge = place.judge("live", &[&theirs]);
    assert_eq!(judge.commits().unwrap().len(), 3);
    assert_eq!(place.tip("live~1"), theirs);
}

fn case_32_the_branch_is_set_back(stage: &Stage, case: &str) {
    let place = Place::seeded(stage, case);
    place.start(&place.mirror());
    place.publish("settings", "first");
    let back = place.tip("main");
    place.publish("settings", "second");
    place.wait_ready();
    let set = ["update-ref", "refs/heads/main", &back];
    place.repository.git(&set).unwrap();
    place.publish("settings", "third");
    let judge = place.judge("main", &[&back]);
    let values = judge.values(&place.path("settings"), "is").unwrap();
    assert_eq!(values.first().unwrap(), "first");
    assert_eq!(values.last().unwrap(), "third");
}

fn case_32_the_branch_is_rewritten_from_another_root(stage: &Stage, case: &str) {
    let place = Place::seeded(stage, case);
    place.start(&place.mirror());
    place.publish("settings", "first");
    let person = place.person();
    let orphan = ["checkout", "--quiet", "--orphan", "anew"];
    person.git(&orphan).unwrap();
    person
        .git(&["rm", "-r", "--quiet", "--cached", "."])
        .unwrap();
    person.write("theirs.txt", "theirs\n").unwrap();
    let theirs = person.commit("another root").unwrap();
    person.push().unwrap();
    let set = ["update-ref", "refs/heads/main", &theirs];
    place.repository.git(&set).unwrap();
    place.publish("settings", "second");
    let judge = place.judge("main", &[&theirs]);
    assert_eq!(judge.commits().unwrap()[0], theirs);
}

fn b009_somebody_commits_the_same_bytes_first(stage: &Stage, case: &str) {
    let place = Place::seeded(stage, case);
    place.start(&place.mirror());
    place.publish("settings", "first");
    let person = place.person();
    let path = place.path("settings");
    let text = person.read(&path).unwrap();
    person
        .write(&path, &text.replace("is: first", "is: second"))
        .unwrap();
    let theirs = person.commit("the same").unwrap();
    person.push().unwrap();
    place.edit("settings", "second");
    // By then the edit before was decided.
    place.publish("other", "marker");
    let judge = place.judge("main", &[&theirs]);
    place.check_edits(&judge, "settings", &["first", "second"]);
    assert_eq!(judge.commits().unwrap().len(), 4);
}

fn b011_whatever_is_beside_the_folder_stays(stage: &Stage, case: &str) {
    let place = Place::empty(stage, case);
    let foreign = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: keep}\n";
    let notes = format!("{FOLDER}/NOTES.md");
    let stale = place.path("stale");
    let document = foreign.replace(
        "name: keep",
        &format!("name: stale, namespace: {}", place.name),
    );
    let seed = [
        ("infra/keep.yaml", foreign),
        (&notes, "# Notes\n"),
        (&stale, &document),
    ];
    let before = place.repository.seed(&seed).unwrap();
    let mut mirror = place.mirror();
    "Always".clone_into(&mut mirror.prune);
    place.start(&mirror);
    place.publish("settings", "first");
    let judge = place.judge("main", &[&before]);
    let files = judge.files().unwrap();
    for kept in ["infra/keep.yaml", &notes] {
        assert!(files.iter().any(|file| file == kept), "{kept}: {files:?}");
    }
    assert!(!files.contains(&stale), "what is managed is pruned");
    let outside = [
        "diff",
        "--name-only",
        &before,
        "main",
        "--",
        ":!clusters/demo",
    ];
    assert_eq!(place.repository.git(&outside).unwrap(), "");
}
