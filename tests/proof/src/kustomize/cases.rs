//! Folders that were written by hand, each with what has to come of it.
//!
//! A file of cases begins each of them with a line such as `## equal in overlay: what it shows`, and goes on with an
//! archive. The mark is `equal` (both build it, to the same), `fails` (neither does), or `refused` (kustomize builds it
//! and we do not, which is a known difference). `in overlay` names the folder to build, `skew` says that kustomize
//! 5.5.0 answers otherwise.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::archive::{self, Files};

/// What has to come of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// Both build it, and to the same.
    Equal,
    /// Neither builds it.
    Fails,
    /// Only kustomize builds it.
    Refused,
}

/// A folder that was written by hand.
#[derive(Debug, Clone)]
pub struct Case {
    /// The file of cases and what the case shows.
    pub title: String,
    /// What has to come of it.
    pub mark: Mark,
    /// Whether the older kustomize answers otherwise.
    pub is_skewed: bool,
    /// The files of the repository.
    pub files: Files,
    /// The folder to build.
    pub folder: String,
}

/// Reads every case.
///
/// # Errors
/// Returns that a file of cases cannot be read.
pub fn cases() -> Result<Vec<Case>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/kustomize");
    let mut cases = Vec::new();
    let entries = fs::read_dir(&folder).context("cannot list the files of cases")?;
    let mut paths: Vec<_> = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()
        .context("cannot list the files of cases")?;
    paths.sort();
    for path in paths {
        let text =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        for case in text.split("\n## ") {
            let case = case.strip_prefix("## ").unwrap_or(case);
            cases.push(read(case).with_context(|| format!("a case of {name}: {case:.60}"))?);
        }
    }
    Ok(cases)
}

fn read(case: &str) -> Result<Case> {
    let (head, files) = case.split_once('\n').context("has no files")?;
    let (mark, title) = head.split_once(": ").context("has no title")?;
    let (mark, is_skewed) = match mark.split_once(", skew") {
        Some((mark, "")) => (mark, true),
        Some(_) => bail!("has something behind `skew`"),
        None => (mark, false),
    };
    let (mark, folder) = mark.split_once(" in ").unwrap_or((mark, "."));
    let mark = match mark {
        "equal" => Mark::Equal,
        "fails" => Mark::Fails,
        "refused" => Mark::Refused,
        other => bail!("has the mark {other}"),
    };
    Ok(Case {
        title: title.to_owned(),
        mark,
        is_skewed,
        files: archive::files(files),
        folder: folder.to_owned(),
    })
}
