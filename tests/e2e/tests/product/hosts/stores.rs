//! Local stores that are damaged, or vanish, while writes wait.

use std::fs;
use std::path::{Path, PathBuf};

use e2e::stage::Stage;
use testkit::wait;

use super::{Place, cases, stage, together};

#[test]
fn case_31_a_store_that_is_lost_or_damaged_is_fetched_again_and_no_write_is_dropped() {
    let mut stage = stage(&[]);
    together(
        &stage,
        cases![case_31_a_store_is_lost, case_31_a_store_is_damaged],
    );
    d33_the_whole_data_folder_is_lost(&stage);
    stage.stop_operator().unwrap();
}

const REFUSES: &str = "#!/bin/sh\necho 'not now' >&2\nexit 1\n";

fn case_31_a_store_is_lost(stage: &Stage, case: &str) {
    waits_meanwhile(stage, case, |store| fs::remove_dir_all(store).unwrap());
}

fn case_31_a_store_is_damaged(stage: &Stage, case: &str) {
    waits_meanwhile(stage, case, |store| {
        for file in files_below(store) {
            fs::write(file, "not of Git").unwrap();
        }
    });
}

/// Spoils the store while a write waits, and makes another one then.
fn waits_meanwhile(stage: &Stage, case: &str, spoil: impl FnOnce(&Path)) {
    let place = Place::seeded(stage, case);
    place.start(&place.mirror());
    place.publish("settings", "first");
    let before = place.tip("main");
    place
        .repository
        .install_hook("pre-receive", REFUSES)
        .unwrap();
    place.edit("settings", "second");
    place.wait_branch(["False", "PushRefused", "not now"]);
    spoil(&store_of(&place));
    place.edit("settings", "third");
    place.repository.remove_hook("pre-receive").unwrap();
    place.wait("settings", "third");
    let judge = place.judge("main", &[&before]);
    place.check_edits(&judge, "settings", &["first", "second", "third"]);
}

/// With the journals: nothing on the disk remembers what waits.
fn d33_the_whole_data_folder_is_lost(stage: &Stage) {
    let place = Place::seeded(stage, "everything-is-lost");
    place.start(&place.mirror());
    place.publish("settings", "first");
    place.wait_ready();
    let before = place.tip("main");
    stage.git.stop();
    place.edit("settings", "second");
    place.wait_branch(["False", "PushSessionFailed", "cannot be reached"]);
    fs::remove_dir_all(stage.data_folder()).unwrap();
    place.edit("settings", "third");
    let conditions = stage.conditions(&place.name, "gitbranch/main");
    let view = ["get", "branchstatus", "main", "-n", &place.name];
    wait::until("both edits to wait", wait::GENEROUS, || {
        let view = stage.admin.json(&view).ok()?;
        (view["status"]["pendingObjects"] == 2).then_some(())
    })
    .unwrap_or_else(|error| panic!("{error}: {}", place.explain()));
    stage.git.resume().unwrap();
    place.wait("settings", "third");
    let judge = place.judge("main", &[&before]);
    place.check_edits(&judge, "settings", &["first", "second", "third"]);
    conditions
        .wait_for("JournalWritten", ["True", "Succeeded", ""])
        .unwrap_or_else(|error| panic!("{error:#}"));
    assert!(store_of(&place).is_dir(), "the store is there again");
}

/// Returns the folder of the place's store.
pub(super) fn store_of(place: &Place<'_>) -> PathBuf {
    let path = "jsonpath={.metadata.uid}";
    let arguments = ["get", "gitbranch", "main", "-n", &place.name, "-o", path];
    let uid = place.stage.admin.run(&arguments).unwrap();
    place.stage.data_folder().join("branches").join(uid)
}

pub(super) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(files_below(&path)),
            false => files.push(path),
        }
    }
    files
}
