//! Many edits at once with a window of zero: each has a commit of its own.
//!
//! The API server tells a watch every change of an object, one after the other, so the edits of one object are not
//! merged on the way either. Beside the other test of bursts, which hands them to a branch writer directly and by
//! several people, this is about the whole way.

use std::collections::BTreeMap;

use e2e::api::{Api, config_map};
use e2e::stage::{FOLDER, Setting, Stage, TEAM};
use serde_json::json;
use testkit::wait;

const OBJECTS: usize = 500;
const EDITED: usize = 20;
const EDITS_OF_EACH: usize = 10;

#[test]
fn with_a_window_of_zero_every_edit_of_a_burst_has_its_commit() {
    let mut stage = Stage::start(Setting {
        idle_timeout: "0s".to_owned(),
        ..Setting::default()
    })
    .unwrap();
    stage.wait_current("demo").unwrap();
    let api = Api::start(&stage.admin).unwrap();

    api.at_once(OBJECTS, |number| {
        api.create(&json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": name(number), "namespace": TEAM},
            "data": {"edit": value(number, 0)},
        }))
    })
    .unwrap();
    let wanted = (0..OBJECTS).map(|number| (name(number), vec![value(number, 0)]));
    let mut wanted: BTreeMap<_, _> = wanted.collect();
    wait_commits(&stage, OBJECTS);
    assert_eq!(edits(&stage), wanted);

    api.at_once(EDITED, |number| {
        (1..=EDITS_OF_EACH).try_for_each(|edit| {
            let patch = json!({"data": {"edit": value(number, edit)}});
            api.merge(&config_map(TEAM, &name(number)), &patch)
        })
    })
    .unwrap();
    for number in 0..EDITED {
        let edits = (1..=EDITS_OF_EACH).map(|edit| value(number, edit));
        wanted.entry(name(number)).or_default().extend(edits);
    }
    wait_commits(&stage, OBJECTS + EDITED * EDITS_OF_EACH);
    assert_eq!(edits(&stage), wanted);

    stage.git.clone("platform").unwrap().fsck().unwrap();
    stage.stop_operator().unwrap();
}

fn name(number: usize) -> String {
    format!("object-{number:03}")
}

fn value(number: usize, edit: usize) -> String {
    format!("e-{number}-{edit}")
}

/// Waits until so many commits about objects are at the server.
fn wait_commits(stage: &Stage, wanted: usize) {
    let mut last = String::new();
    wait::until(format!("{wanted} commits"), 2 * wait::GENEROUS, || {
        let folder = format!("{FOLDER}/{TEAM}");
        let count = ["rev-list", "--count", "main", "--", &folder];
        last = stage.repository.git(&count).unwrap();
        (last.parse() == Ok(wanted)).then_some(())
    })
    .unwrap_or_else(|error| panic!("{error}: {last}\n{}", stage.explain("demo")));
}

/// Returns the values that each object had in history, oldest first. Fails at a commit that changes more than one.
fn edits(stage: &Stage) -> BTreeMap<String, Vec<String>> {
    let folder = format!("{FOLDER}/{TEAM}");
    let log = [
        "log",
        "--reverse",
        "--patch",
        "--unified=0",
        "--format=%x00",
        "main",
        "--",
        &folder,
    ];
    let log = stage.repository.git(&log).unwrap();
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for commit in log.split('\0').skip(1) {
        let lines = |prefix| {
            commit
                .lines()
                .filter_map(move |line| line.strip_prefix(prefix))
        };
        let files: Vec<_> = lines("+++ b/").collect();
        let values: Vec<_> = lines("+  edit: ").collect();
        let ([file], [value]) = (files.as_slice(), values.as_slice()) else {
            panic!("a commit of several edits: {commit}");
        };
        let object = file.rsplit('/').next().unwrap().strip_suffix(".yaml");
        found
            .entry(object.unwrap().to_owned())
            .or_default()
            .push((*value).to_owned());
    }
    found
}
