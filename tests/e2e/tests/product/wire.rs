//! Faults on the way between the operator and an unmodified Git host: every edit ends in one commit, and a host that
//! falls silent holds the branch no longer than its limits. `WIRE_FAULTS` is how many faults, `WIRE_SEED` which.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use e2e::stage::{FOLDER, REPOSITORY, Setting, Stage, TEAM};
use serde_json::json;
use testkit::relay::{Fate, Relay, answer};
use testkit::wait;

use crate::dice::{Dice, from_environment};
use crate::documents;

const FAULTS: u64 = 8;
const SEED: u64 = 20_261_130;

/// What happens to the next requests of a kind, in their order.
#[derive(Clone, Default)]
struct Plan(Arc<Mutex<VecDeque<(&'static str, Fate)>>>);

impl Plan {
    /// Spoils the next request whose first line holds these words.
    fn spoil(&self, words: &'static str, fate: Fate) {
        self.0.lock().unwrap().push_back((words, fate));
    }

    fn of(&self, line: &str) -> Fate {
        let mut plan = self.0.lock().unwrap();
        match plan.front() {
            Some((words, _)) if line.contains(words) => {
                plan.pop_front().map_or(Fate::Pass, |(_, fate)| fate)
            }
            _ => Fate::Pass,
        }
    }

    fn is_done(&self) -> bool {
        self.0.lock().unwrap().is_empty()
    }
}

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

fn check(stage: &Stage, edits: usize) {
    let unexpected = documents::compare(stage);
    assert!(unexpected.is_empty(), "{unexpected:?}");
    let commits = stage.repository.commits("main").unwrap();
    assert_eq!(commits.len(), edits + 1, "a commit for each edit, on one");
    let fsck = ["fsck", "--full", "--strict"];
    stage.repository.git(&fsck).unwrap();
}

#[test]
fn b002_whatever_the_wire_does_every_edit_is_published_once_without_another_edit() {
    let faults = from_environment("WIRE_FAULTS", FAULTS);
    let mut dice = Dice(from_environment("WIRE_SEED", SEED));
    println!("{faults} faults, seed {}", dice.0);
    let plan = Plan::default();
    let (mut stage, _relay) = start(&plan);
    let mut edits = stage.repository.commits("main").unwrap().len() - 1;
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
    check(&stage, edits);
    stage.stop_operator().unwrap();
}

#[test]
fn case_25_a_host_that_falls_silent_in_any_phase_holds_nothing_longer_than_its_limit() {
    let plan = Plan::default();
    let (mut stage, _relay) = start(&plan);
    let mut edits = stage.repository.commits("main").unwrap().len() - 1;
    for words in [OPEN, SEND] {
        plan.spoil(words, Fate::Silence);
        edit(&stage, "wire", words);
        edits += 1;
        wait::until(
            "the condition to say since when and what",
            wait::GENEROUS,
            || {
                let branch = stage
                    .admin
                    .json(&["get", "gitbranch", "main", "-n", TEAM])
                    .ok()?;
                let conditions = branch["status"]["conditions"].as_array()?;
                let said = |condition: &&serde_json::Value| {
                    let message = condition["message"].as_str().unwrap_or_default();
                    condition["type"] == "Ready"
                        && condition["status"] == "False"
                        && message.contains("nothing could be published since 20")
                        && message.contains("next attempt at 20")
                };
                conditions.iter().find(said).cloned()
            },
        )
        .unwrap();
        stage.wait_current("demo").unwrap();
        assert!(plan.is_done(), "the host was silent");
    }
    check(&stage, edits);
    stage.stop_operator().unwrap();
}
