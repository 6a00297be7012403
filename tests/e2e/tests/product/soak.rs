//! Steady use for a while: nothing is lost, and the operator does not grow.
//!
//! People create, edit and delete, a peer pushes, and the Git host goes away and comes back. After a part of
//! the time, and at the end, everything comes to rest; the operator is measured at both moments, so that
//! nothing under way counts. `SOAK_SECONDS` is how long, and `SOAK_SEED` decides what happens.

use std::fmt;
use std::thread;
use std::time::{Duration, Instant};

use e2e::stage::{FOLDER, Setting, Stage, TEAM};
use serde_json::json;
use testkit::{GitClone, GitServer, Kubectl, Usage, wait};

use crate::dice::{Dice, from_environment};
use crate::documents;

/// Long enough for a few outages and a hundred changes.
const SECONDS: u64 = 24;
const SEED: u64 = 20_261_130;
const OBJECTS: u64 = 40;
/// The Git host is away once in each stretch of this length, and three times in any case.
const STRETCH: Duration = Duration::from_secs(30);
const FEWEST_OUTAGES: u32 = 3;

/// What the process may have more at the end than after the first part. Connections, blocking threads and
/// caches come and go; what a leak adds in ten minutes is far more.
const MORE_DESCRIPTORS: u64 = 12;
const MORE_THREADS: u64 = 12;
const MORE_RESIDENT_KIB: u64 = 48 * 1024;

/// What was done in a part of the run.
struct Done {
    changes: u32,
    deletions: u32,
    pushes: u32,
    outages: u32,
}

impl fmt::Display for Done {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            changes,
            deletions,
            pushes,
            outages,
        } = self;
        write!(
            formatter,
            "{changes} changes, {deletions} deletions, {pushes} pushes of the peer, {outages} outages"
        )
    }
}

#[test]
fn steady_use_loses_nothing_and_grows_nothing() {
    let seconds = from_environment("SOAK_SECONDS", SECONDS);
    let seed = from_environment("SOAK_SEED", SEED);
    eprintln!("soak: {seconds} s, seed {seed}");
    let mut stage = Stage::start(Setting {
        idle_timeout: "300ms".to_owned(),
        ..Setting::default()
    })
    .unwrap();
    stage.wait_current("demo").unwrap();
    let alice = stage.editor("alice").unwrap();
    let peer = stage.git.clone("platform").unwrap();
    let whole = Duration::from_secs(seconds);

    let first = use_for(whole / 4, "first", Dice(seed), &stage, &alice, &peer);
    let warm = at_rest(&stage, "first");
    eprintln!("soak: {first}; {warm}");
    let second = use_for(whole * 3 / 4, "second", Dice(!seed), &stage, &alice, &peer);
    let end = at_rest(&stage, "second");
    eprintln!("soak: {second}; {end}");

    check_growth(&warm, &end);
    let unexpected = documents::compare(&stage);
    assert!(
        unexpected.is_empty(),
        "documents without object: {unexpected:?}"
    );
    check_history(&stage, first.pushes + second.pushes);
    stage.check_operator().unwrap();
    let log = stage.operator().unwrap().log();
    assert!(!log.contains("panicked"), "{log}");
    stage.stop_operator().unwrap();
}

/// Lets people, a peer and a failing Git host loose for that long.
fn use_for(
    time: Duration,
    part: &str,
    mut dice: Dice,
    stage: &Stage,
    alice: &Kubectl,
    peer: &GitClone,
) -> Done {
    let end = Instant::now() + time;
    let mut split = || Dice(dice.below(u64::from(u32::MAX)));
    let (mut editing, mut pushing, mut failing) = (split(), split(), split());
    thread::scope(|scope| {
        let edits = scope.spawn(move || edit_until(end, &mut editing, alice));
        let pushes = scope.spawn(move || push_until(end, part, &mut pushing, peer));
        let outages = fail_for(time, &mut failing, &stage.git);
        let (changes, deletions) = edits.join().unwrap();
        Done {
            changes,
            deletions,
            pushes: pushes.join().unwrap(),
            outages,
        }
    })
}

/// Waits until everything so far is published, and measures.
fn at_rest(stage: &Stage, part: &str) -> Usage {
    // The watch tells changes in their order, so whatever came before the last one is known with it.
    let last = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "last", "namespace": TEAM, "labels": {"part": part}},
        "data": {"part": part},
    });
    stage.admin.apply(&last.to_string()).unwrap();
    stage
        .wait_file("team-a/configmaps/last.yaml", |text| text.contains(part))
        .unwrap();
    stage.wait_current("demo").unwrap();
    stage.operator().unwrap().usage().unwrap()
}

fn edit_until(end: Instant, dice: &mut Dice, alice: &Kubectl) -> (u32, u32) {
    let (mut changes, mut deletions) = (0, 0);
    while Instant::now() < end {
        let name = format!("object-{}", dice.below(OBJECTS));
        if dice.below(6) == 0 {
            let delete = ["delete", "configmap", &name, "-n", TEAM];
            alice
                .run(&[delete.as_slice(), &["--ignore-not-found", "--wait=false"]].concat())
                .unwrap();
            deletions += 1;
        } else {
            change(alice, dice, &name, changes);
            changes += 1;
        }
        // Mostly within one window; now and then long enough for a window to close.
        let pause = if dice.below(8) == 0 { 1_500 } else { 150 };
        thread::sleep(Duration::from_millis(dice.below(pause)));
    }
    (changes, deletions)
}

fn change(alice: &Kubectl, dice: &mut Dice, name: &str, number: u32) {
    let (key, value) = (format!("k{}", dice.below(3)), format!("v{number}"));
    let object = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": TEAM, "labels": {"edit": value}},
        "data": {key: value, "text": format!("line {number}\nline {}\n", dice.below(100))},
    });
    // Without a validation that would load the schema of everything for each edit.
    let apply = ["apply", "--server-side", "--validate=false", "-f", "-"];
    alice.run_with_input(&apply, &object.to_string()).unwrap();
}

fn push_until(end: Instant, part: &str, dice: &mut Dice, peer: &GitClone) -> u32 {
    let mut pushes = 0;
    while Instant::now() < end {
        // The host may be away, or somebody may be faster; a person tries again.
        wait::until_ok("the peer's push", wait::GENEROUS, || {
            push(peer, dice, &format!("{part} {pushes}"))
        })
        .unwrap();
        pushes += 1;
        thread::sleep(Duration::from_millis(500 + dice.below(2_000)));
    }
    pushes
}

/// Pushes a file of the peer's own, and a comment in one of the documents that we edit.
fn push(peer: &GitClone, dice: &mut Dice, text: &str) -> anyhow::Result<()> {
    peer.git(&["fetch", "origin", "main"])?;
    peer.git(&["reset", "--hard", "FETCH_HEAD"])?;
    let file = format!("peer/{text}.txt");
    // The host may have gone away after it took the push, and before it said so.
    if peer.path().join(&file).exists() {
        return Ok(());
    }
    let names = peer.git(&["ls-files", FOLDER])?;
    let documents: Vec<&str> = names.lines().collect();
    if !documents.is_empty() {
        let chosen = documents[usize::try_from(dice.below(documents.len() as u64))?];
        let values: Vec<String> = peer
            .read(chosen)?
            .lines()
            .filter(|line| !line.starts_with('#'))
            .map(str::to_owned)
            .collect();
        let commented = format!("# The peer was here: {text}.\n{}\n", values.join("\n"));
        peer.write(chosen, &commented)?;
    }
    peer.write(&file, &format!("{text}\n"))?;
    peer.commit("peer")?;
    peer.push().map(drop)
}

/// Stops the Git host and starts it again, a few times, spread over that time.
fn fail_for(time: Duration, dice: &mut Dice, git: &GitServer) -> u32 {
    let wanted = time.as_secs() / STRETCH.as_secs();
    let outages = u32::try_from(wanted).unwrap().max(FEWEST_OUTAGES);
    let third = time / outages / 3;
    let longest = u64::try_from(third.as_millis()).unwrap();
    for _ in 0..outages {
        let end = Instant::now() + time / outages;
        thread::sleep(Duration::from_millis(dice.below(longest)));
        git.stop();
        thread::sleep(Duration::from_millis(dice.below(longest)));
        git.resume().unwrap();
        thread::sleep(end.saturating_duration_since(Instant::now()));
    }
    outages
}

fn check_growth(warm: &Usage, end: &Usage) {
    assert!(
        end.descriptors <= warm.descriptors + MORE_DESCRIPTORS,
        "open files grow: {warm}, then {end}"
    );
    assert!(
        end.threads <= warm.threads + MORE_THREADS,
        "threads grow: {warm}, then {end}"
    );
    assert!(
        end.resident <= warm.resident + MORE_RESIDENT_KIB,
        "memory grows: {warm}, then {end}"
    );
}

/// Every update was a fast-forward, the history is linear, and each push of the peer is in it.
fn check_history(stage: &Stage, pushes: u32) {
    let updates = stage.repository.updates().unwrap();
    assert!(updates.iter().all(|update| update.accepted), "{updates:?}");
    let clone = stage.git.clone("platform").unwrap();
    let merges = clone
        .git(&["rev-list", "--merges", "--count", "HEAD"])
        .unwrap();
    assert_eq!(merges.trim(), "0", "the history is linear");
    let subjects = clone.log("%s").unwrap();
    let peers = subjects.iter().filter(|subject| *subject == "peer").count();
    assert_eq!(peers, pushes as usize, "the peer's commits");
    let files = stage.repository.files("main").unwrap();
    let theirs = files
        .iter()
        .filter(|file| file.starts_with("peer/"))
        .count();
    assert_eq!(theirs, pushes as usize, "the peer's files");
    eprintln!(
        "soak: {} commits in {} pushes of both sides",
        subjects.len(),
        updates.len()
    );
    clone.fsck().unwrap();
}
