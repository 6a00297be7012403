//! What the whole operator costs, in folders of growing size.
//!
//! A folder that agrees with the cluster is adopted; then single objects are edited, without a window. Each
//! edit is set against a plain `git push` of an equal commit, to a second repository of the same server, so
//! that the two do not get into each other's way. Nothing is asserted.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::ValueEnum as _;
use e2e::api::Api;
use e2e::stage::{Setting, Stage, TEAM};
use testkit::{ControlPlane, GitClone, Repository};

use super::folder::{self, Layout, round_line};
use super::{median, milliseconds, program_or_build, spent, tip, wait_idle, wait_moved};

const SIZES: [usize; 3] = [100, 1_000, 10_000];
const EDITS: usize = 10;
/// After a push the operator waits before the next one, whatever the window. An edit is made when that is over,
/// so that it can be set against a plain push.
const COOLDOWN: Duration = Duration::from_millis(5_200);
/// How long the operator is watched doing nothing, which is taken off what edits cost: as long as the edits take,
/// because what it does by itself it does at intervals of half a minute.
const IDLE: Duration = Duration::from_secs(60);
const ANALYSES: usize = 5;
/// More than a file may be: a larger one is refused.
const LARGEST_FILE: usize = 1 << 20;
/// How often it is looked how much a program holds.
const GLANCE: Duration = Duration::from_micros(500);

pub(super) fn run(sizes: &[usize], layouts: &[Layout], program: Option<&Path>) -> Result<()> {
    let program = program_or_build(program, "gitops-reverser")?;
    let sizes = if sizes.is_empty() { &SIZES } else { sizes };
    let layouts = if layouts.is_empty() {
        Layout::value_variants()
    } else {
        layouts
    };
    println!(
        "{:<9} {:>9} | {:>12} {:>6} | {:>11} {:>8} {:>12} {:>11} {:>6} | {:>10} {:>6}",
        "layout",
        "documents",
        "adoption CPU",
        "MiB",
        "CPU ms/edit",
        "requests",
        "edit->push ms",
        "git push ms",
        "ratio",
        "analyze ms",
        "MiB"
    );
    for documents in sizes {
        for layout in layouts {
            measure(&program, *layout, *documents)?;
        }
    }
    Ok(())
}

fn measure(program: &Path, layout: Layout, documents: usize) -> Result<()> {
    let files = layout.files(documents);
    if files.iter().any(|(_, text)| text.len() > LARGEST_FILE) {
        return Ok(());
    }
    let setting = Setting {
        control_plane: ControlPlane::builder(),
        seed: files.clone(),
        idle_timeout: "0s".to_owned(),
        program: Some(program.to_owned()),
        ..Setting::default()
    };
    let control_plane = setting.control_plane.clone().start()?;
    let mut stage = Stage::prepare(&setting, control_plane)?;
    let plain = plain_repository(&stage, &files)?;
    let api = Api::start(&stage.admin)?;
    stage.admin.run(&["create", "namespace", TEAM])?;
    api.at_once(documents, |index| api.create(&folder::object(index)))?;
    stage.start_operator()?;

    let adoption = adopt(&stage, &setting)?;
    let edits = edit(&stage, &api, layout, documents)?;
    let pushes = push_plainly(&plain, layout, documents)?;
    let analysis = analyze(program, plain.0.path())?;
    println!(
        "{:<9} {documents:>9} | {:>10.2} s {:>6.1} | {:>11.1} {:>8.1} {:>13.1} {pushes:>11.1} {:>6.2} | {:>10.0} {:>6.1}",
        layout.name(),
        adoption.processor.as_secs_f64(),
        adoption.resident,
        edits.processor_ms,
        edits.requests,
        edits.published_ms,
        edits.published_ms / pushes,
        analysis.ms,
        analysis.resident,
    );
    stage.stop_operator()
}

/// Makes a repository with the same files, and a clone of it.
fn plain_repository(stage: &Stage, files: &[(String, String)]) -> Result<(GitClone, Repository)> {
    let repository = stage.git.create_repository("plain")?;
    repository.require_fast_forwards()?;
    let files: Vec<_> = files
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    repository.seed(&files)?;
    Ok((stage.git.clone("plain")?, repository))
}

struct Adoption {
    processor: Duration,
    resident: f64,
}

/// Lets the running operator, which has nothing to do so far, adopt the folder.
fn adopt(stage: &Stage, setting: &Setting) -> Result<Adoption> {
    let before = {
        wait_idle(stage)?;
        stage.operator()?.usage()?
    };
    stage.apply_mirror(setting)?;
    stage.wait_ready("demo")?;
    let after = stage.operator()?.usage()?;
    stage.wait_current("demo")?;
    ensure!(
        stage.repository.commits("main")?.len() == 1,
        "adopting a folder that agrees makes no commit"
    );
    Ok(Adoption {
        processor: after.processor.saturating_sub(before.processor),
        resident: after.resident as f64 / 1024.0,
    })
}

struct Edits {
    processor_ms: f64,
    requests: f64,
    published_ms: f64,
}

/// Edits objects one after the other.
fn edit(stage: &Stage, api: &Api, layout: Layout, documents: usize) -> Result<Edits> {
    // The first edit opens connections and fills caches.
    edit_one(stage, api, layout, documents, 0)?;
    thread::sleep(COOLDOWN);
    let idle = spent(stage, || {
        thread::sleep(IDLE);
        Ok(())
    })?;
    let requests = stage.git.requests().len();
    let mut published = Vec::new();
    let started = Instant::now();
    let processor = spent(stage, || {
        for edit in 1..=EDITS {
            published.push(edit_one(stage, api, layout, documents, edit)?);
            thread::sleep(COOLDOWN);
        }
        Ok(())
    })?;
    let idle = idle.as_secs_f64() / IDLE.as_secs_f64() * started.elapsed().as_secs_f64();
    let requests = stage.git.requests().len() - requests;
    Ok(Edits {
        processor_ms: (processor.as_secs_f64() - idle) * 1000.0 / EDITS as f64,
        requests: requests as f64 / EDITS as f64,
        published_ms: milliseconds(median(published)),
    })
}

fn edit_one(
    stage: &Stage,
    api: &Api,
    layout: Layout,
    documents: usize,
    edit: usize,
) -> Result<Duration> {
    let index = chosen(edit, documents);
    let before = tip(&stage.repository)?;
    folder::edit(api, index, edit + 1)?;
    let started = Instant::now();
    wait_moved(&stage.repository, &before)?;
    let taken = started.elapsed();
    let text = stage.repository.file("main", &layout.path(index))?;
    ensure!(
        text.contains(&round_line(index, edit + 1)),
        "the edit is not in the commit:\n{text}"
    );
    Ok(taken)
}

/// Returns the document of an edit: somewhere else each time.
fn chosen(edit: usize, documents: usize) -> usize {
    edit * 7_919 % documents
}

/// Pushes equal commits with git, and returns the median of the milliseconds until the branch has moved.
fn push_plainly(
    (clone, repository): &(GitClone, Repository),
    layout: Layout,
    documents: usize,
) -> Result<f64> {
    let mut taken = Vec::new();
    for edit in 0..=EDITS {
        let index = chosen(edit, documents);
        let path = layout.path(index);
        let lines = (round_line(index, 0), round_line(index, edit + 1));
        clone.write(&path, &clone.read(&path)?.replace(&lines.0, &lines.1))?;
        clone.commit("chore: sync 1 resource")?;
        let before = tip(repository)?;
        let started = Instant::now();
        let moved = thread::scope(|scope| {
            let push = scope.spawn(|| clone.push());
            wait_moved(repository, &before)?;
            let moved = started.elapsed();
            push.join()
                .map_err(|_| anyhow::anyhow!("the push panicked"))??;
            anyhow::Ok(moved)
        })?;
        if edit > 0 {
            taken.push(moved);
        }
    }
    Ok(milliseconds(median(taken)))
}

struct Analysis {
    ms: f64,
    resident: f64,
}

/// Analyses the working tree, several times.
fn analyze(program: &Path, folder: &Path) -> Result<Analysis> {
    let (mut taken, mut resident) = (Vec::new(), 0.0_f64);
    for _ in 0..ANALYSES {
        let started = Instant::now();
        let mut child = Command::new(program)
            .arg("analyze")
            .arg(folder)
            .stdout(Stdio::null())
            .spawn()
            .context("cannot run analyze")?;
        let status = format!("/proc/{}/status", child.id());
        let ended = loop {
            if let Some(ended) = child.try_wait()? {
                break ended;
            }
            let text = fs::read_to_string(&status).unwrap_or_default();
            resident = resident.max(peak_mib(&text));
            thread::sleep(GLANCE);
        };
        taken.push(started.elapsed());
        ensure!(ended.success(), "analyze ended with {ended}");
    }
    Ok(Analysis {
        ms: milliseconds(median(taken)),
        resident,
    })
}

fn peak_mib(status: &str) -> f64 {
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok());
    peak.unwrap_or_default() / 1024.0
}
