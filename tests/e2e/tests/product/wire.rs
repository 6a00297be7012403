//! Faults on the way between the operator and an unmodified Git host: every edit ends in one commit. `WIRE_FAULTS` is how many faults, `WIRE_SEED` which.

use e2e::judge::Judge;
use e2e::stage::{FOLDER, REPOSITORY, Setting, Stage, TEAM};
use serde_json::json;
use testkit::relay::{Fate, Relay, answer};

use crate::dice::{Dice, from_environment};
use crate::documents;
use crate::plan::Plan;

const FAULTS: u64 = 8;
const SEED: u64 = 20_261_130;

const SEND: &str = "POST /platform.git/git-receive-pack";
const OPEN: &str = "service=git-receive-pack";

/// Draws a fault of the wire.
fn fault(dice: &mut Dice) -> (&'static str, Fate) {
    let page = |status: &str| answer(status, &[("content-type", "text/html")], "<h1>Sorry</h1>");
    match dice.below(8) {
        0 => (SEND, Fate::Answer(page("503 Service Unavailable"))),
        1 => (SEND, Fate::Replace(page("503 Service Unavailable"))),
        2 => (SEND, Fate::Replace(page("504 Gateway Timeout"))),
        3 => (SEND, Fate::Answer(String::new())),
        4 => (SEND, Fate::Replace(String::new())),
        5 => {
            let bytes = usize::try_from(dice.below(46)).unwrap();
            (SEND, Fate::Cut(bytes))
        }
        6 => (OPEN, Fate::Answer(page("200 OK"))),
        _ => (OPEN, Fate::Answer(page("500 Internal Server Error"))),
    }
}

fn edit(stage: &Stage, name: &str, value: &str) {
    let object = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": TEAM, "labels": {"app": "wire"}},
        "data": {"is": value},
    });
    stage.admin.apply(&object.to_string()).unwrap();
}

fn start(plan: &Plan) -> (Stage, Relay) {
    let setting = Setting {
        idle_timeout: "100ms".to_owned(),
        ..Setting::default()
    };
    let control_plane = setting.control_plane.clone().start().unwrap();
    let mut stage = Stage::prepare(&setting, control_plane).unwrap();
    let relay = Relay::start(stage.git.address(), {
        let plan = plan.clone();
        move |line| plan.of(line)
    });
    let url = relay.url(&format!("{REPOSITORY}.git"));
    stage.apply_mirror_of(&setting, &url).unwrap();
    let limit = "--git-call-timeout=2s".to_owned();
    stage.start_operator_with(&[limit]).unwrap();
    stage.wait_current("demo").unwrap();
    (stage, relay)
}

fn check(stage: &Stage, edits: usize, before: &[String]) {
    let unexpected = documents::compare(stage);
    assert!(unexpected.is_empty(), "{unexpected:?}");
    let judge = Judge::of(stage.git.clone(REPOSITORY).unwrap(), "main").unwrap();
    judge.check_kept(before.iter().map(String::as_str)).unwrap();
    let commits = judge.commits().unwrap();
    assert_eq!(commits.len(), edits + 1, "a commit for each edit, on one");
}

#[test]
fn b002_whatever_the_wire_does_every_edit_is_published_once_without_another_edit() {
    let faults = from_environment("WIRE_FAULTS", FAULTS);
    let mut dice = Dice(from_environment("WIRE_SEED", SEED));
    println!("{faults} faults, seed {}", dice.0);
    let plan = Plan::default();
    let (mut stage, _relay) = start(&plan);
    let before = stage.repository.commits("main").unwrap();
    let mut edits = before.len() - 1;
    for round in 0..faults {
        let (words, fate) = fault(&mut dice);
        println!("{round}: {words} {fate:?}");
        plan.spoil(words, fate);
        let value = format!("round-{round}");
        edit(&stage, "wire", &value);
        edits += 1;
        let path = documents::path("wire");
        let path = path.strip_prefix(&format!("{FOLDER}/")).unwrap();
        stage
            .wait_file(path, |text| text.contains(&format!("is: {value}\n")))
            .unwrap();
        stage.wait_current("demo").unwrap();
        assert!(plan.is_done(), "the fault happened");
    }
    check(&stage, edits, &before);
    stage.stop_operator().unwrap();
}
