//! The operator is killed at random moments while people edit.

use std::collections::BTreeMap;
use std::time::Duration;

use e2e::stage::{FOLDER, Setting, Stage, TEAM};
use serde_json::Value;
use testkit::wait;

const KILLS: u32 = 20;
const EDITS: u32 = 300;
const OBJECTS: u32 = 30;

/// A small fixed generator, so that a printed seed repeats a run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

#[test]
fn after_twenty_kills_every_object_equals_its_document() {
    let seed = std::env::var("SEED")
        .ok()
        .and_then(|seed| seed.parse().ok())
        .unwrap_or(20_261_129);
    eprintln!("seed {seed}");
    let mut dice = Dice(seed);
    let mut stage = Stage::start(Setting::default()).unwrap();
    stage.wait_ready("demo").unwrap();
    let mut deleted_while_down = 0;
    let mut edits = 0;
    for _ in 0..KILLS {
        for _ in 0..EDITS / KILLS {
            edit(&stage, &mut dice, edits);
            edits += 1;
        }
        std::thread::sleep(Duration::from_millis(dice.below(3_000)));
        stage.kill_operator();
        let name = format!("object-{}", dice.below(u64::from(OBJECTS)));
        if dice.below(4) == 0
            && stage
                .admin
                .run(&["delete", "configmap", &name, "-n", TEAM])
                .is_ok()
        {
            deleted_while_down += 1;
        }
        stage.start_operator().unwrap();
    }
    eprintln!(
        "{edits} edits, {KILLS} kills, {deleted_while_down} objects deleted while it was down"
    );
    stage.wait_ready("demo").unwrap();
    settle(&stage);
    compare(&stage);
    let tip = stage.repository.branch("main").unwrap();
    for _ in 0..2 {
        stage.stop_operator().unwrap();
        stage.start_operator().unwrap();
        stage.wait_ready("demo").unwrap();
        assert_eq!(
            stage.repository.branch("main").unwrap(),
            tip,
            "a further start writes nothing"
        );
    }
    let updates = stage.repository.updates().unwrap();
    assert!(updates.iter().all(|update| update.accepted), "{updates:?}");
    stage.stop_operator().unwrap();
}

fn edit(stage: &Stage, dice: &mut Dice, number: u32) {
    let name = format!("object-{}", dice.below(u64::from(OBJECTS)));
    let (key, value) = (format!("k{}", dice.below(3)), format!("v{number}"));
    stage
        .admin
        .apply(&format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: {TEAM}}}\ndata: {{{key}: {value}}}\n"
        ))
        .unwrap();
}

/// Waits until nothing is pending and the last edit is on the branch.
fn settle(stage: &Stage) {
    wait::until("no pending objects", wait::GENEROUS, || {
        let target = stage
            .admin
            .json(&["get", "gittarget", "demo", "-n", TEAM])
            .ok()?;
        let views = stage
            .admin
            .json(&["get", "branchstatuses", "-n", TEAM])
            .ok()?;
        let pending = views["items"][0]["status"]["pendingObjects"].as_u64()?;
        let ready = target["status"]["conditions"]
            .as_array()?
            .iter()
            .any(|condition| condition["type"] == "Ready" && condition["status"] == "True");
        (pending == 0 && ready).then_some(())
    })
    .unwrap();
}

/// Every live object equals its document field by field; documents without an object are counted as kept.
fn compare(stage: &Stage) {
    let live = stage
        .admin
        .json(&["get", "configmaps", "-n", TEAM])
        .unwrap();
    let mut kept = documents(stage);
    for object in live["items"].as_array().unwrap() {
        let name = object["metadata"]["name"].as_str().unwrap();
        if name == "kube-root-ca.crt" {
            continue;
        }
        let document = kept
            .remove(name)
            .unwrap_or_else(|| panic!("{name} has no document"));
        assert_eq!(document["data"], object["data"], "{name}");
        assert_eq!(
            document["metadata"]["labels"], object["metadata"]["labels"],
            "{name}"
        );
    }
    let target = stage
        .admin
        .json(&["get", "gittarget", "demo", "-n", TEAM])
        .unwrap();
    let counted = target["status"]["retention"]["retainedDocuments"]
        .as_u64()
        .unwrap_or_default();
    assert_eq!(
        counted,
        kept.len() as u64,
        "documents kept without an object: {:?}",
        kept.keys()
    );
}

fn documents(stage: &Stage) -> BTreeMap<String, Value> {
    let folder = format!("{FOLDER}/team-a/configmaps/");
    let files = stage.repository.files("main").unwrap();
    files
        .iter()
        .filter(|file| file.starts_with(&folder))
        .map(|file| {
            let text = stage.repository.file("main", file).unwrap();
            let document: Value = serde_yaml::from_str(&text).unwrap();
            (
                document["metadata"]["name"].as_str().unwrap().to_owned(),
                document,
            )
        })
        .collect()
}
