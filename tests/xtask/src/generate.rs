//! `cargo xtask generate`: writes the files that follow from the code, or checks that they do.

mod defaults;
mod kinds;
mod merge_keys;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use testkit::ControlPlane;

use crate::repository;

/// Folders in which there is nothing but generated files, so that none is forgotten there.
const ONLY_GENERATED: [&str; 2] = ["crds/yaml", "charts/gitops-reverser/crds"];
/// Where the chart keeps its CRDs.
const CHART_CRDS: &str = "charts/gitops-reverser/crds/";
/// The CRD that source clusters install by itself; the chart has the same one under its plural.
const STANDING_ALONE: &str = "commitrequest-crd.yaml";

/// Write the files that are generated from the code.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Write nothing, name each file that differs, and fail when there is one.
    #[arg(long)]
    check: bool,
}

/// A file that follows from the code.
struct Generated {
    /// The path from the root of the repository.
    path: String,
    content: String,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    if arguments.check {
        return Ok(if check()? {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        });
    }
    let root = repository::root();
    let mut files = generated()?;
    files.extend(recorded()?);
    for file in &files {
        if write_if_different(&root.join(&file.path), &file.content)? {
            println!("wrote {}", file.path);
        }
    }
    for path in forgotten(&root, &files)? {
        fs::remove_file(root.join(&path)).with_context(|| format!("cannot remove {path}"))?;
        println!("removed {path}");
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns what an API server is recorded to have, its kinds and their defaults, and what kustomize merges. It takes
/// an API server and a built program, so a check leaves it to tests.
fn recorded() -> Result<[Generated; 3]> {
    let control_plane = ControlPlane::start()?;
    let file = |path: &str, content: String| Generated {
        path: path.to_owned(),
        content,
    };
    // First, because asking about defaults plants objects.
    let kinds = kinds::record(&control_plane)?;
    let defaults = defaults::Answers::of(&control_plane)?.record()?;
    Ok([
        file(kinds::PATH, kinds),
        file(defaults::PATH, defaults),
        file(merge_keys::PATH, merge_keys::record()?),
    ])
}

/// Returns whether every generated file is as it should be, and prints each that is not.
pub(crate) fn check() -> Result<bool> {
    let root = repository::root();
    let files = generated()?;
    let mut wrong: Vec<String> = files
        .iter()
        .filter(|file| fs::read(root.join(&file.path)).ok() != Some(file.content.clone().into()))
        .map(|file| file.path.clone())
        .collect();
    wrong.extend(forgotten(&root, &files)?);
    for path in &wrong {
        eprintln!("{path} is not what `cargo xtask generate` writes");
    }
    Ok(wrong.is_empty())
}

/// Collects the files of every generator.
fn generated() -> Result<Vec<Generated>> {
    let mut files: Vec<Generated> = crds::files()
        .into_iter()
        .map(|(path, content)| Generated { path, content })
        .collect();
    let charted = |file: &&Generated| {
        file.path.starts_with("crds/yaml/") && !file.path.ends_with(STANDING_ALONE)
    };
    let chart: Vec<Generated> = files
        .iter()
        .filter(charted)
        .map(Generated::for_chart)
        .collect();
    files.extend(chart);
    files.extend(documents()?);
    Ok(files)
}

impl Generated {
    /// Returns the copy of a CRD that the chart installs.
    fn for_chart(&self) -> Self {
        Self {
            path: self.path.replace("crds/yaml/", CHART_CRDS),
            content: self.content.clone(),
        }
    }
}

/// Returns the generated pages below `docs/`; a generator of another page adds its file here.
fn documents() -> Result<Vec<Generated>> {
    let page = |path: &str, content: String| Generated {
        path: path.to_owned(),
        content,
    };
    Ok(vec![
        page("docs/flags.md", operator::docs::flags()),
        page("docs/metrics.md", operator::docs::metrics()?),
    ])
}

/// Finds files that no generator writes any more.
fn forgotten(root: &Path, files: &[Generated]) -> Result<Vec<String>> {
    let wanted: BTreeSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let mut forgotten = Vec::new();
    for folder in ONLY_GENERATED {
        let Ok(entries) = fs::read_dir(root.join(folder)) else {
            continue;
        };
        for entry in entries {
            let entry = entry.with_context(|| format!("cannot list {folder}"))?;
            let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
            if !wanted.contains(path.as_str()) {
                forgotten.push(path);
            }
        }
    }
    Ok(forgotten)
}

fn write_if_different(path: &Path, content: &str) -> Result<bool> {
    let failed = || format!("cannot write {}", path.display());
    if fs::read(path).is_ok_and(|present| present == content.as_bytes()) {
        return Ok(false);
    }
    fs::create_dir_all(path.parent().with_context(failed)?).with_context(failed)?;
    fs::write(path, content).with_context(failed)?;
    Ok(true)
}
