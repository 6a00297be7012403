//! What planning costs in folders of 100, 1,000 and 10,000 documents, and what publishing costs: `cargo xtask bench`
//! and `cargo xtask bench --git`, which is `publish`.
//!
//! Each line of the first is one measurement: what was done, documents, bytes of YAML, milliseconds of this thread, and
//! the resident memory afterwards. Nothing is asserted; the figures are for comparing one commit with another.

#![allow(clippy::print_stdout, reason = "a benchmark prints what it measures")]

mod folder;
mod kustomize;
mod publish;

use std::time::Instant;

use anyhow::{Context as _, Result};
use manifests::{Folder, Intent, Mode, Policy, PruneMode, TypeCatalog};
use model::{Collection, FolderPath, Scope, Selector, Sensitivity};
use proof::built::{self, table};
use proof::rows::table::Effort;

use crate::folder::{Generated, config_map, generate};

const SIZES: [usize; 3] = [100, 1_000, 10_000];
/// How many edits of one document are averaged.
const EDITS: usize = 50;

/// Runs the part that the first word names, with the sizes that follow it.
fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (part, sizes) = match words.split_first() {
        Some((part, sizes)) => (part.as_str(), sizes),
        None => ("planning", &[][..]),
    };
    let sizes = sizes
        .iter()
        .map(|size| size.parse().with_context(|| format!("{size} is no size")))
        .collect::<Result<Vec<usize>>>()?;
    match part {
        "planning" => planning(&sizes),
        "git" => publish::run(&sizes),
        _ => anyhow::bail!("there is no part {part}: planning or git"),
    }
}

fn planning(sizes: &[usize]) -> Result<()> {
    let sizes = if sizes.is_empty() { &SIZES } else { sizes };
    println!(
        "{:<28} {:>9} {:>11} {:>10} {:>8}",
        "", "documents", "bytes", "ms", "MiB"
    );
    for size in sizes {
        measure(*size)?;
    }
    kustomize::run()?;
    accepted()
}

/// Shows which share of the edits that people may make in folders built with kustomize lands, construct by construct.
fn accepted() -> Result<()> {
    let effort = Effort { seed: 1, cases: 40 };
    println!("\nedits in folders that kustomize builds, judged by its own library");
    print!("{}", table::run(&built::all(), effort)?);
    Ok(())
}

fn policy() -> Policy {
    let types = manifests::folder::built_in_types(&Sensitivity::default());
    let mut policy = Policy::new(FolderPath::root(), types.iter().collect::<TypeCatalog>());
    policy.prune = PruneMode::Always;
    policy
}

fn measure(size: usize) -> Result<()> {
    let mut generated = generate(size);
    let policy = policy();
    let mut folder = Folder::new(FolderPath::root());

    let start = Instant::now();
    let inspected = manifests::plan(
        &mut folder,
        generated.files.tree(),
        &[],
        &policy,
        Mode::Inspect,
        None,
    )?;
    line("first scan", &generated, start, 1);
    anyhow::ensure!(inspected.folder.is_accepted(), "the folder is refused");

    let start = Instant::now();
    for round in 0..EDITS {
        edit_one(&mut generated, &mut folder, &policy, round)?;
    }
    line("warm plan of one document", &generated, start, EDITS);

    let start = Instant::now();
    let collection = Collection {
        type_id: model::TypeId::new("", "configmaps"),
        scope: Scope::AllNamespaces,
        selector: Selector::everything(),
    };
    let count = size.min(1_000);
    let objects = (0..size)
        .map(|index| config_map(index, usize::from(index < count)))
        .collect::<Result<Vec<_>>>()?;
    line("(making the objects)", &generated, start, 1);
    let start = Instant::now();
    let intents = [Intent::Sweep {
        collection,
        objects,
        protected: Vec::new(),
    }];
    let outcome = manifests::plan(
        &mut folder,
        generated.files.tree(),
        &intents,
        &policy,
        Mode::Apply,
        None,
    )?;
    line(
        &format!("snapshot, {} of it change", outcome.edits.len()),
        &generated,
        start,
        1,
    );
    println!();
    Ok(())
}

/// Plans one edit and commits it, as the operator does it for each window.
fn edit_one(
    generated: &mut Generated,
    folder: &mut Folder,
    policy: &Policy,
    round: usize,
) -> Result<()> {
    let index = round * 7 % generated.documents;
    let wish = Intent::Upsert(config_map(index, round + 2)?);
    let outcome = manifests::plan(
        folder,
        generated.files.tree(),
        &[wish],
        policy,
        Mode::Apply,
        None,
    )?;
    let edit = outcome.edits.first().context("nothing was edited")?;
    let manifests::FileContent::Plain(bytes) = &edit.content else {
        anyhow::bail!("the document was not edited");
    };
    generated.files.put(&edit.path, bytes.as_slice());
    Ok(())
}

fn line(what: &str, generated: &Generated, start: Instant, times: usize) {
    let ms = start.elapsed().as_secs_f64() * 1000.0 / f64::from(u32::try_from(times).unwrap_or(1));
    println!(
        "{what:<28} {:>9} {:>11} {ms:>10.2} {:>8.1}",
        generated.documents,
        generated.bytes,
        resident_mib()
    );
}

/// Returns the resident memory of this process, the files in memory included.
fn resident_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kib = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok());
    kib.unwrap_or_default() / 1024.0
}
