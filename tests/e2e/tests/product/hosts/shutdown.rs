//! The operator is told to end in every phase of a push, and starts again.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use e2e::current::Scrape;
use e2e::stage::Stage;
use serde_json::json;
use testkit::relay::{Fate, Relay, answer};
use testkit::wait;
use testkit::wire::{Break, Way, Wire};

use super::stores::{files_below, store_of};
use super::{Case, Place, stage, together};

/// More than a push carries in one breath.
const BULK: usize = 200_000;
/// Says in the repository that a push has come so far.
const ARRIVED: &str = "#!/bin/sh\ntouch \"$GIT_DIR/arrived\"\n";

/// The limits of a call and of the whole end.
const FLAGS: [&str; 2] = ["--git-call-timeout=5s", "--git-cycle-timeout=5s"];

#[test]
fn case_35_an_end_in_any_phase_of_a_push_leaves_each_edit_to_be_made_once() {
    let mut stage = stage(&FLAGS);
    let wire = Wire::whole(stage.git.address()).unwrap();
    let is_down = Arc::new(AtomicBool::new(false));
    let relay = Relay::start(stage.git.address(), {
        let is_down = Arc::clone(&is_down);
        move |_| match is_down.load(Ordering::SeqCst) {
            true => Fate::Answer(answer("503 Service Unavailable", &[], "")),
            false => Fate::Pass,
        }
    });
    together(
        &stage,
        &[
            (OWN_BRANCH, &b007_edits_on_a_branch_of_its_own),
            (HALF_MADE, &is_published),
            (A_FILE, &is_published),
            (DOWN, &|stage, case| {
                b149_nothing_can_be_published(stage, case, &relay, &is_down);
            }),
        ],
    );
    // All at once: each has to be in its phase when the end comes.
    together(
        &stage,
        &[
            (WINDOW, &window_is_open),
            (IN_TIME, &|stage, case| report_is_awaited(stage, case, 2)),
            (TOO_LATE, &|stage, case| report_is_awaited(stage, case, 15)),
            (PACK, &|stage, case| pack_is_on_its_way(stage, case, &wire)),
        ],
    );
    let stores = [HALF_MADE, A_FILE].map(|case| store_of(&Place::again(&stage, case)));

    stage.stop_operator().unwrap();
    for case in [WINDOW, IN_TIME] {
        let place = Place::again(&stage, case);
        assert_eq!(place.repository.commits("main").unwrap().len(), 2, "{case}");
    }
    b017_leave_half_made_stores(&stores);
    is_down.store(false, Ordering::SeqCst);
    let flags = FLAGS.map(str::to_owned);
    stage.start_operator_with(&flags).unwrap();

    let goes_on: &(dyn Fn(&Stage, &str) + Sync) = &goes_on;
    let on_main = [WINDOW, IN_TIME, TOO_LATE, PACK, HALF_MADE, A_FILE];
    let mut cases: Vec<Case<'_>> = on_main.map(|case| (case, goes_on)).to_vec();
    cases.push((OWN_BRANCH, &b007_edits_go_on));
    cases.push((DOWN, &b149_each_edit_is_there));
    together(&stage, &cases);
    stage.stop_operator().unwrap();
}

const OWN_BRANCH: &str = "a_branch_of_its_own";
const HALF_MADE: &str = "a_store_that_is_half_made";
const A_FILE: &str = "a_file_where_a_store_should_be";
const DOWN: &str = "nothing_can_be_published";
const WINDOW: &str = "a_window_is_open";
const IN_TIME: &str = "a_report_that_comes_in_time";
const TOO_LATE: &str = "a_report_that_comes_too_late";
const PACK: &str = "a_pack_is_on_its_way";

fn is_published(stage: &Stage, case: &str) {
    let place = Place::seeded(stage, case);
    place.start(&place.mirror());
    place.publish("settings", "first");
}

/// What was under way is there once, and the next edit follows.
fn goes_on(stage: &Stage, case: &str) {
    let place = Place::again(stage, case);
    let hook = place.repository.remove_hook("pre-receive");
    assert_eq!(hook.is_ok(), [IN_TIME, TOO_LATE].contains(&case));
    place.wait("settings", "first");
    place.publish("settings", "after");
    check(&place, "main", "settings", &["first", "after"]);
}

/// Leaves what a start that ended half-way, or somebody else, may have left where the stores are.
fn b017_leave_half_made_stores([half_made, a_file]: &[PathBuf; 2]) {
    for file in files_below(half_made) {
        fs::write(file, "").unwrap();
    }
    fs::write(half_made.join("index.lock"), "").unwrap();
    fs::remove_dir_all(a_file).unwrap();
    fs::write(a_file, "in the way").unwrap();
}

/// Each edit is in history once, on top of what was there.
fn check(place: &Place<'_>, branch: &str, object: &str, values: &[&str]) {
    let root = ["rev-list", "--max-parents=0", "main"];
    let root = place.repository.git(&root).unwrap();
    let judge = place.judge(branch, &[&root]);
    place.check_edits(&judge, object, values);
}

fn window_is_open(stage: &Stage, case: &str) {
    let place = Place::seeded(stage, case);
    let mut mirror = place.mirror();
    "50s".clone_into(&mut mirror.idle_timeout);
    place.start(&mirror);
    place.edit("settings", "first");
    let view = ["get", "branchstatus", "main", "-n", &place.name];
    wait::until("the edit to be accepted", wait::GENEROUS, || {
        let view = stage.admin.json(&view).ok()?;
        (view["status"]["pendingObjects"] == 1).then_some(())
    })
    .unwrap();
}

fn b007_edits_on_a_branch_of_its_own(stage: &Stage, case: &str) {
    let place = Place::seeded(stage, case);
    let mut mirror = place.mirror();
    "fresh".clone_into(&mut mirror.branch);
    place.start(&mirror);
    for value in ["first", "second"] {
        place.edit("settings", value);
        place.wait_on("fresh", "settings", value);
    }
}

fn b007_edits_go_on(stage: &Stage, case: &str) {
    let place = Place::again(stage, case);
    for value in ["third", "fourth"] {
        place.edit("settings", value);
        place.wait_on("fresh", "settings", value);
    }
    let values = ["first", "second", "third", "fourth"];
    check(&place, "fresh", "settings", &values);
    let own = ["rev-list", "--count", "main..fresh"];
    assert_eq!(place.repository.git(&own).unwrap(), "4");
}

const OBJECTS: usize = 5;

fn b149_nothing_can_be_published(stage: &Stage, case: &str, relay: &Relay, is_down: &AtomicBool) {
    let place = Place::seeded(stage, case);
    let mut mirror = place.mirror_through(relay);
    // Each edit is a commit of its own, also when all of them are found in the journal at once.
    "0s".clone_into(&mut mirror.idle_timeout);
    place.start(&mirror);
    is_down.store(true, Ordering::SeqCst);
    for value in ["first", "second"] {
        for object in 0..OBJECTS {
            place.edit(&format!("object-{object}"), value);
        }
    }
    let conditions = stage.conditions(&place.name, "gittarget/demo");
    let said = conditions.wait("Ready", |found| {
        found.status == "False"
            && found.message.contains("since 20")
            && found.message.contains("503")
    });
    said.unwrap_or_else(|error| panic!("{error:#}"));
    let target = ["get", "gittarget/demo", "-n", &place.name];
    wait::until("how many changes wait", wait::GENEROUS, || {
        let target = stage.admin.json(&target).ok()?;
        (target["status"]["pendingWrites"] == 2 * OBJECTS).then_some(())
    })
    .unwrap_or_else(|error| panic!("{error}: {}", place.explain()));
    let name = format!("\"{}\"", place.name);
    let labels = [
        "kind=\"GitTarget\"",
        "type=\"Ready\"",
        "status=\"False\"",
        &name,
    ];
    wait::until("a metric that says so", wait::GENEROUS, || {
        let scrape = Scrape::of(stage.metrics_port).ok()?;
        (scrape.sum("resource_condition", &labels) == 1.0).then_some(())
    })
    .unwrap();
}

fn b149_each_edit_is_there(stage: &Stage, case: &str) {
    let place = Place::again(stage, case);
    for object in 0..OBJECTS {
        let object = format!("object-{object}");
        place.wait(&object, "second");
        check(&place, "main", &object, &["first", "second"]);
    }
}

fn report_is_awaited(stage: &Stage, case: &str, seconds: u32) {
    let place = Place::seeded(stage, case);
    place.start(&place.mirror());
    let script = format!("{ARRIVED}exec sleep {seconds}\n");
    place
        .repository
        .install_hook("pre-receive", &script)
        .unwrap();
    place.edit("settings", "first");
    let arrived = place.repository.path().join("arrived");
    wait::until("the pack to arrive", wait::GENEROUS, || {
        arrived.exists().then_some(())
    })
    .unwrap();
}

fn pack_is_on_its_way(stage: &Stage, case: &str, wire: &Wire) {
    let place = Place::seeded(stage, case);
    let mut mirror = place.mirror();
    mirror.url = format!("http://127.0.0.1:{}/{}.git", wire.port(), place.name);
    place.start(&mirror);
    wire.break_after(Way::ToServer, BULK / 4, Break::Stall);
    let lines = 0..BULK as u64 / 17;
    let bulk: String = lines
        .map(|line| format!("{:016x}\n", line.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
        .collect();
    place.edit_with("settings", "first", &json!({"bulk": bulk}));
    wait::until("the pack to be on its way", wait::GENEROUS, || {
        (!wire.is_armed()).then_some(())
    })
    .unwrap();
}
