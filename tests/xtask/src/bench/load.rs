//! What the whole operator costs under load, with its Git host on loopback HTTP.
//!
//! At rest, at a first mirror of many objects, after many edits at once, and during edits while a person pushes every
//! second. Each figure stands beside what it is meant to be. No figure is asserted; that every edit and every commit of
//! the person arrived is.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, ensure};
use e2e::api::{Api, config_map};
use e2e::stage::{FOLDER, REPOSITORY, Setting, Stage, TEAM};
use serde_json::{Value, json};
use testkit::{ControlPlane, GitClone, Repository};

use super::{PATIENCE, program_or_build, spent, tip, wait_idle, wait_moved};

/// How many objects are mirrored unless the caller says another number.
const OBJECTS: usize = 5_000;
/// The share of them that is edited at once, and while a person pushes.
const AT_ONCE: usize = 10;
const CONTENDED: usize = 25;
/// What one object holds, in bytes.
const CONTENT: usize = 1_024;
/// What the chart of a target says about silence here.
const WINDOW: Duration = Duration::from_secs(1);
/// How long the operator waits after a push before the next one.
const COOLDOWN: Duration = Duration::from_millis(5_200);
/// How long a person pushes, and how often.
const PUSHING: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_secs(1);

pub(super) fn run(objects: &[usize], program: Option<&Path>) -> Result<()> {
    let program = program_or_build(program, "gitops-reverser")?;
    let objects = objects.first().copied().unwrap_or(OBJECTS);
    println!("{:<58} {:>9} {:>9}", "", "measured", "goal");
    at_rest(&program)?;
    let (mut stage, api) = many(&program, objects)?;
    first_mirror(&stage, &api, objects)?;
    at_once(&stage, &api, objects)?;
    contended(&stage, &api, objects)?;
    let served = stage.git.served();
    println!(
        "(the Git host answered {} requests with {:.1} s of CPU)",
        served.programs,
        served.processor.as_secs_f64()
    );
    stage.stop_operator()
}

fn line(what: &str, measured: f64, goal: f64, unit: &str) {
    println!("{what:<58} {measured:>9.2} {goal:>9.2} {unit}");
}

fn setting(program: &Path) -> Setting {
    Setting {
        control_plane: ControlPlane::builder(),
        idle_timeout: format!("{}s", WINDOW.as_secs()),
        program: Some(PathBuf::from(program)),
        ..Setting::default()
    }
}

/// Measures the operator that has nothing to do, first without a mirror and then with a small one.
fn at_rest(program: &Path) -> Result<()> {
    let setting = setting(program);
    let control_plane = setting.control_plane.clone().start()?;
    let mut stage = Stage::prepare(&setting, control_plane)?;
    stage.start_operator()?;
    wait_idle(&stage)?;
    line(
        "at rest, nothing mirrored: resident",
        resident(&stage)?,
        20.0,
        "MiB",
    );
    stage.apply_mirror(&setting)?;
    let object = object(0);
    stage.admin.apply(&object.to_string())?;
    stage.wait_file(&file_of(0), |_| true)?;
    stage.wait_current("demo")?;
    wait_idle(&stage)?;
    line(
        "at rest, one target: resident",
        resident(&stage)?,
        24.0,
        "MiB",
    );
    stage.stop_operator()
}

fn resident(stage: &Stage) -> Result<f64> {
    Ok(mebibytes(stage.operator()?.usage()?.resident))
}

fn mebibytes(kibibytes: u64) -> f64 {
    kibibytes as f64 / 1024.0
}

/// Starts an operator beside many objects that nobody mirrors yet.
fn many(program: &Path, objects: usize) -> Result<(Stage, Api)> {
    let setting = setting(program);
    let control_plane = setting.control_plane.clone().start()?;
    let mut stage = Stage::prepare(&setting, control_plane)?;
    let api = Api::start(&stage.admin)?;
    stage.admin.run(&["create", "namespace", TEAM])?;
    api.at_once(objects, |index| api.create(&object(index)))?;
    stage.start_operator()?;
    wait_idle(&stage)?;
    Ok((stage, api))
}

fn first_mirror(stage: &Stage, api: &Api, objects: usize) -> Result<()> {
    let setting = setting(Path::new(""));
    let mirror = stage.mirror(&setting, &stage.git.url(REPOSITORY)).objects();
    let mut taken = Duration::ZERO;
    let processor = spent(stage, || {
        let started = Instant::now();
        // The namespace is there.
        mirror[1..]
            .iter()
            .try_for_each(|object| api.create(object))?;
        let is_whole = |repository: &Repository| {
            let files = repository.files("main")?;
            let mirrored = files.iter().filter(|file| file.starts_with(FOLDER));
            Ok(mirrored.filter(|file| file.contains("config-")).count() >= objects)
        };
        taken = wait_until(&stage.repository, is_whole)?.duration_since(started);
        wait_idle(stage)
    })?;
    let what = format!("first mirror of {objects} ConfigMaps of 1 KiB");
    line(&format!("{what}: time"), taken.as_secs_f64(), 3.0, "s");
    line(&format!("{what}: CPU"), processor.as_secs_f64(), 1.5, "s");
    let peak = mebibytes(stage.operator()?.usage()?.peak);
    line(&format!("{what}: peak"), peak, 60.0, "MiB");
    Ok(())
}

fn at_once(stage: &Stage, api: &Api, objects: usize) -> Result<()> {
    let edits = objects / AT_ONCE;
    thread::sleep(COOLDOWN);
    let mut taken = Duration::ZERO;
    let processor = spent(stage, || {
        api.at_once(edits, |number| {
            edit(api, chosen(number, objects), "at-once")
        })?;
        let started = Instant::now();
        let is_whole = |repository: &Repository| Ok(with_value(repository, "at-once")? == edits);
        taken = wait_until(&stage.repository, is_whole)?.duration_since(started);
        wait_idle(stage)
    })?;
    let what = format!("{edits} edits at once");
    let goal = WINDOW.as_secs_f64() + 1.0;
    line(
        &format!("{what}: the last one to its push"),
        taken.as_secs_f64(),
        goal,
        "s",
    );
    line(&format!("{what}: CPU"), processor.as_secs_f64(), 0.5, "s");
    Ok(())
}

/// Lets a person push every second during edits.
fn contended(stage: &Stage, api: &Api, objects: usize) -> Result<()> {
    let edits = objects / CONTENDED;
    let person = stage.git.clone(REPOSITORY)?;
    thread::sleep(COOLDOWN);
    let is_over = AtomicBool::new(false);
    let (mut pushes, mut taken) = (0, Duration::ZERO);
    let processor = spent(stage, || {
        let published = thread::scope(|scope| {
            let person = scope.spawn(|| push_until(&is_over, &person));
            let edited = edit_steadily(api, objects, edits);
            is_over.store(true, Ordering::SeqCst);
            let pushed = person.join();
            pushes = pushed.map_err(|_| anyhow!("the person panicked"))??;
            edited
        })?;
        let is_whole = |repository: &Repository| Ok(with_value(repository, "contended")? == edits);
        taken = wait_until(&stage.repository, is_whole)?.duration_since(published);
        wait_idle(stage)
    })?;
    check_history(stage, pushes)?;
    let what = format!("{edits} edits while a person pushed {pushes} times");
    line(&format!("{what}: CPU"), processor.as_secs_f64(), 1.0, "s");
    println!(
        "(the last of them was pushed after {:.1} s; none is lost, and no commit of the person)",
        taken.as_secs_f64()
    );
    Ok(())
}

/// Edits objects one after the other, evenly over the time, and returns when the last one was made.
fn edit_steadily(api: &Api, objects: usize, edits: usize) -> Result<Instant> {
    let started = Instant::now();
    for number in 0..edits {
        edit(api, chosen(number, objects), "contended")?;
        let due = PUSHING.mul_f64((number + 1) as f64 / edits as f64);
        thread::sleep(due.saturating_sub(started.elapsed()));
    }
    Ok(Instant::now())
}

/// Pushes a commit every second, each on top of what is there, until that is over.
fn push_until(is_over: &AtomicBool, person: &GitClone) -> Result<usize> {
    let mut pushed = 0;
    while !is_over.load(Ordering::SeqCst) {
        let started = Instant::now();
        person.write(&format!("person/{pushed}.txt"), "here\n")?;
        person.git(&["add", "person"])?;
        person.git(&[
            "commit",
            "--quiet",
            "--message",
            &format!("person {pushed}"),
        ])?;
        person.pull_and_push()?;
        pushed += 1;
        thread::sleep(PAUSE.saturating_sub(started.elapsed()));
    }
    Ok(pushed)
}

/// Fails unless the history is one line that only went forward, with each commit of the person once.
fn check_history(stage: &Stage, pushes: usize) -> Result<()> {
    let clone = stage.git.clone(REPOSITORY)?;
    clone.fsck()?;
    let merges = clone.git(&["rev-list", "--merges", "--count", "HEAD"])?;
    ensure!(merges == "0", "{merges} merges");
    let subjects = clone.log("%s")?;
    for push in 0..pushes {
        let wanted = format!("person {push}");
        let found = subjects
            .iter()
            .filter(|subject| **subject == wanted)
            .count();
        ensure!(found == 1, "{wanted}: {found} commits");
    }
    let updates = stage.repository.updates()?;
    ensure!(
        updates.iter().all(|update| update.accepted),
        "an update was forced"
    );
    Ok(())
}

/// Waits until the branch is as wanted, and returns when it moved there.
fn wait_until(
    repository: &Repository,
    is_whole: impl Fn(&Repository) -> Result<bool>,
) -> Result<Instant> {
    let started = Instant::now();
    let mut arrived = started;
    loop {
        let seen = tip(repository)?;
        if is_whole(repository)? {
            return Ok(arrived);
        }
        ensure!(
            started.elapsed() < PATIENCE,
            "the branch does not get there"
        );
        wait_moved(repository, &seen)?;
        arrived = Instant::now();
    }
}

/// Counts the documents with that value.
fn with_value(repository: &Repository, value: &str) -> Result<usize> {
    let wanted = format!("  round: {value}");
    let grep = [
        "grep",
        "--name-only",
        "--fixed-strings",
        &wanted,
        "main",
        "--",
        FOLDER,
    ];
    // It fails when there is none.
    Ok(repository
        .git(&grep)
        .map_or(0, |found| found.lines().count()))
}

/// Returns the object of an edit: somewhere else each time.
fn chosen(number: usize, objects: usize) -> usize {
    number * 7_919 % objects
}

fn edit(api: &Api, index: usize, value: &str) -> Result<()> {
    api.merge(
        &config_map(TEAM, &name(index)),
        &json!({"data": {"round": value}}),
    )
}

fn name(index: usize) -> String {
    format!("config-{index:05}")
}

fn file_of(index: usize) -> String {
    format!("{TEAM}/configmaps/{}.yaml", name(index))
}

fn object(index: usize) -> Value {
    let mut text = String::with_capacity(CONTENT);
    for number in 0.. {
        let line = format!("setting-{number} = value {number} of service {index}\n");
        if text.len() + line.len() > CONTENT {
            break;
        }
        text.push_str(&line);
    }
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name(index), "namespace": TEAM},
        "data": {"round": "none", "settings.conf": text},
    })
}
