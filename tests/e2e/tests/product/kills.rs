//! The operator is killed at random moments while people edit.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use e2e::stage::{Setting, Stage, TEAM};
use serde_json::json;
use testkit::{Kubectl, Repository, wait};

use crate::dice::{Dice, from_environment};
use crate::documents;

const KILLS: u32 = 20;
const EDITS: u32 = 300;
const OBJECTS: u64 = 30;
/// Edits between two kills, so that the last kill comes before the last edit.
const APART: u32 = (EDITS - 10) / KILLS;

fn object(dice: &mut Dice) -> String {
    format!("object-{}", dice.below(OBJECTS))
}

/// Objects that were deleted while the operator was down, that had a document, and that nobody made again.
type Lost = Mutex<BTreeSet<String>>;

#[test]
fn after_twenty_kills_every_object_equals_its_document() {
    let seed = from_environment("SEED", 20_261_129);
    eprintln!("seed {seed}");
    let mut stage = Stage::start(Setting::default()).unwrap();
    stage.wait_current("demo").unwrap();
    let alice = stage.editor("alice").unwrap();
    let (lost, made) = (Lost::default(), AtomicU32::new(0));
    let kills = std::thread::scope(|scope| {
        let editing = scope.spawn(|| {
            let mut dice = Dice(seed);
            for number in 0..EDITS {
                edit(&alice, &mut dice, number, &lost);
                made.store(number + 1, Ordering::SeqCst);
            }
        });
        let kills = kill_meanwhile(&mut stage, Dice(seed ^ 0xdead), &made, &lost);
        editing.join().unwrap();
        kills
    });
    assert_eq!((kills, made.into_inner()), (KILLS, EDITS));
    stage.wait_current("demo").unwrap();
    let lost = lost.into_inner().unwrap();
    eprintln!(
        "{EDITS} edits, {kills} kills; deleted while it was down and not made again: {lost:?}"
    );
    compare(&stage, &lost);
    let tip = stage.repository.branch("main").unwrap();
    for _ in 0..2 {
        stage.stop_operator().unwrap();
        stage.start_operator().unwrap();
        stage.wait_current("demo").unwrap();
        assert_eq!(
            stage.repository.branch("main").unwrap(),
            tip,
            "a further start writes nothing"
        );
        compare(&stage, &lost);
    }
    let updates = stage.repository.updates().unwrap();
    assert!(updates.iter().all(|update| update.accepted), "{updates:?}");
    let clone = stage.git.clone("platform").unwrap();
    clone.fsck().unwrap();
    stage.stop_operator().unwrap();
}

/// Kills while the edits go on, and deletes an object while nobody watches. Returns how many kills fell into
/// the edits.
fn kill_meanwhile(stage: &mut Stage, mut dice: Dice, made: &AtomicU32, lost: &Lost) -> u32 {
    let mut kills = 0;
    for round in 0..KILLS {
        let moment = round * APART + u32::try_from(dice.below(u64::from(APART))).unwrap();
        wait::until("the edits to go on", wait::GENEROUS, || {
            (made.load(Ordering::SeqCst) >= moment).then_some(())
        })
        .unwrap();
        // Into the middle of whatever it does: between two edits it may be deciding, committing or pushing.
        std::thread::sleep(Duration::from_millis(dice.below(200)));
        stage.kill_operator();
        kills += u32::from(made.load(Ordering::SeqCst) < EDITS);
        if dice.below(2) == 0 {
            let name = object(&mut dice);
            delete(&stage.admin, &stage.repository, &name, lost);
        }
        std::thread::sleep(Duration::from_millis(dice.below(500)));
        stage.start_operator().unwrap();
    }
    kills
}

fn edit(alice: &Kubectl, dice: &mut Dice, number: u32, lost: &Lost) {
    let name = object(dice);
    let (key, value) = (format!("k{}", dice.below(3)), format!("v{number}"));
    let object = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": TEAM, "labels": {"edit": value}},
        "data": {key: value},
    });
    // Held across the call, so that an edit and a deletion have an order that both sides know.
    let mut lost = lost.lock().unwrap();
    // Without a validation that would load the schema of everything for each edit.
    let apply = ["apply", "--server-side", "--validate=false", "-f", "-"];
    alice.run_with_input(&apply, &object.to_string()).unwrap();
    lost.remove(&name);
}

fn delete(admin: &Kubectl, repository: &Repository, name: &str, lost: &Lost) {
    let mut lost = lost.lock().unwrap();
    // An object that is not in Git yet leaves no trace, which is right and not what is tested here.
    let there = repository.file("main", &documents::path(name)).is_ok();
    if there
        && admin
            .run(&["delete", "configmap", name, "-n", TEAM])
            .is_ok()
    {
        lost.insert(name.to_owned());
    }
}

/// Every live object equals its document; the documents without an object are those of `lost`, and they are
/// counted.
fn compare(stage: &Stage, lost: &BTreeSet<String>) {
    let kept = documents::compare(stage);
    assert_eq!(&kept, lost, "documents kept without an object");
    let count = wait::until("the kept documents to be counted", wait::GENEROUS, || {
        let target = stage
            .admin
            .json(&["get", "gittarget", "demo", "-n", TEAM])
            .ok()?;
        let count = target["status"]["retention"]["retainedDocuments"]
            .as_u64()
            .unwrap_or_default();
        (count == lost.len() as u64).then_some(count)
    });
    count.unwrap_or_else(|error| panic!("{error}: {} of {lost:?}", stage.explain("demo")));
}
