//! Two people push to the branch every second while objects change: nothing is lost, nothing is forced, and what the
//! races cost is printed. `CONTENTION_SECONDS` is how long they push.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use e2e::stage::{FOLDER, Setting, Stage, TEAM};
use serde_json::{Value, json};
use testkit::{GitClone, wait};

use crate::dice::from_environment;
use crate::documents;

const SECONDS: u64 = 20;
const OBJECTS: usize = 300;
/// So many objects are applied with one command.
const TOGETHER: usize = 10;
const PEERS: usize = 2;
const PAUSE: Duration = Duration::from_secs(1);
/// Writes down when each commit arrived at the server.
const CLOCK: &str = "#!/bin/sh
while read -r old new reference; do
    echo \"$(date +%s%N) $new\" >> \"$GIT_DIR/arrivals\"
done
";

#[test]
fn b001_two_peers_push_every_second_and_every_commit_of_all_three_is_there() {
    let pushing = Duration::from_secs(from_environment("CONTENTION_SECONDS", SECONDS));
    let mut stage = Stage::start(Setting::default()).unwrap();
    stage.wait_current("demo").unwrap();
    stage
        .repository
        .install_hook("post-receive", CLOCK)
        .unwrap();

    let alone = change_all(&stage, "alone", Duration::ZERO);
    let peers: Vec<GitClone> = (0..PEERS)
        .map(|_| stage.git.clone("platform").unwrap())
        .collect();
    let is_over = AtomicBool::new(false);
    let (contended, pushes) = thread::scope(|scope| {
        let pushes: Vec<_> = peers
            .iter()
            .enumerate()
            .map(|(number, peer)| {
                let is_over = &is_over;
                scope.spawn(move || push_until(is_over, number, peer))
            })
            .collect();
        let contended = change_all(&stage, "contended", pushing);
        is_over.store(true, Ordering::SeqCst);
        let pushes: Vec<u32> = pushes.into_iter().map(|it| it.join().unwrap()).collect();
        (contended, pushes)
    });
    stage.wait_current("demo").unwrap();
    println!(
        "{OBJECTS} changes without peers: slowest {} ms, {} ms of CPU; while {PEERS} peers pushed {pushes:?} times: slowest {} ms, {} ms of CPU",
        alone.slowest, alone.cpu, contended.slowest, contended.cpu
    );

    let unexpected = documents::compare(&stage);
    assert!(unexpected.is_empty(), "{unexpected:?}");
    check_history(&stage, &pushes);
    stage.stop_operator().unwrap();
}

/// What a round of changes cost.
struct Cost {
    /// The longest from a change to its arrival at the server, in milliseconds.
    slowest: u128,
    /// Of the operator, in milliseconds.
    cpu: u128,
}

/// Gives every object this value, over at least that long, and waits until all of it is at the server.
fn change_all(stage: &Stage, value: &str, over: Duration) -> Cost {
    let before = stage.operator().unwrap().usage().unwrap().processor;
    let batches = OBJECTS / TOGETHER;
    let start = Instant::now();
    let mut made = BTreeMap::new();
    for batch in 0..batches {
        let at = now();
        let mut list = Vec::new();
        for number in batch * TOGETHER..(batch + 1) * TOGETHER {
            list.push(object(number, value));
            made.insert(path(number), at);
        }
        let list = json!({"apiVersion": "v1", "kind": "List", "items": list});
        stage.admin.apply(&list.to_string()).unwrap();
        let due = over / u32::try_from(batches).unwrap() * u32::try_from(batch + 1).unwrap();
        thread::sleep(due.saturating_sub(start.elapsed()));
    }
    let is_there = |path: &String| {
        let text = stage.repository.file("main", path).unwrap_or_default();
        text.contains(&format!("is: {value}\n"))
    };
    wait::until("every change at the server", wait::GENEROUS, || {
        made.keys().all(is_there).then_some(())
    })
    .unwrap();
    let after = stage.operator().unwrap().usage().unwrap().processor;
    Cost {
        slowest: slowest(stage, &made),
        cpu: (after - before).as_millis(),
    }
}

fn object(number: usize, value: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name(number), "namespace": TEAM, "labels": {"app": "contended"}},
        "data": {"is": value},
    })
}

fn name(number: usize) -> String {
    format!("object-{number:03}")
}

fn path(number: usize) -> String {
    format!("{FOLDER}/team-a/configmaps/{}.yaml", name(number))
}

fn now() -> u128 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap().as_nanos()
}

/// Returns the longest from a change to the arrival of the last commit of its file, in milliseconds.
fn slowest(stage: &Stage, made: &BTreeMap<String, u128>) -> u128 {
    let log = [
        "log",
        "--first-parent",
        "--format=%x00%H",
        "--name-only",
        "main",
    ];
    let log = stage.repository.git(&log).unwrap();
    let text = std::fs::read_to_string(stage.repository.path().join("arrivals")).unwrap();
    let arrivals: BTreeMap<&str, u128> = text
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(at, commit)| (commit, at.parse().unwrap()))
        .collect();
    let mut arrived = u128::MAX;
    let mut waits: BTreeMap<&str, u128> = BTreeMap::new();
    // The newest first: a commit arrived with the next one above it that a push ended with.
    for commit in log.split('\0').skip(1) {
        let mut lines = commit.lines();
        let id = lines.next().unwrap();
        arrived = arrivals.get(id).copied().unwrap_or(arrived);
        for file in lines {
            if let Some(at) = made.get(file) {
                waits.entry(file).or_insert(arrived.saturating_sub(*at));
            }
        }
    }
    assert_eq!(waits.len(), made.len(), "every change has its commit");
    waits.values().max().unwrap() / 1_000_000
}

/// Pushes a commit every second, each on top of what is there, until that is over.
fn push_until(is_over: &AtomicBool, number: usize, peer: &GitClone) -> u32 {
    let mut pushed = 0;
    while !is_over.load(Ordering::SeqCst) {
        let start = Instant::now();
        let title = format!("peer {number} {pushed}");
        wait::until_ok("the peer's push", wait::GENEROUS, || {
            peer.git(&["fetch", "origin", "main"])?;
            peer.git(&["reset", "--hard", "FETCH_HEAD"])?;
            peer.write(&format!("peer/{number}.txt"), &format!("{pushed}\n"))?;
            peer.commit(&title)?;
            peer.push()
        })
        .unwrap();
        pushed += 1;
        thread::sleep(PAUSE.saturating_sub(start.elapsed()));
    }
    pushed
}

/// The history is one line, every push was a fast-forward, and each commit of a peer is in it once.
fn check_history(stage: &Stage, pushes: &[u32]) {
    let clone = stage.git.clone("platform").unwrap();
    clone.fsck().unwrap();
    let merges = ["rev-list", "--merges", "--count", "HEAD"];
    assert_eq!(clone.git(&merges).unwrap().trim(), "0");
    let subjects = clone.log("%s").unwrap();
    let count = |title: &String| subjects.iter().filter(|it| *it == title).count();
    for (number, pushed) in pushes.iter().enumerate() {
        assert!(*pushed > 0);
        for round in 0..*pushed {
            let title = format!("peer {number} {round}");
            assert_eq!(count(&title), 1, "{title}");
        }
    }
    let updates = stage.repository.updates().unwrap();
    let refused: Vec<_> = updates.iter().filter(|update| !update.accepted).collect();
    assert!(refused.is_empty(), "{refused:?}");
}
