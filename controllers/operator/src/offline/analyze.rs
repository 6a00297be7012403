//! `gitops-reverser analyze`: whether a folder on disk can be mirrored into, and which folders in it can.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::Context as _;
use manifests::folder::{Folder, Joining, Prepared};
use model::{Directory, FileTree, Files, FolderPath, Node};
use serde_json::json;

use super::arguments::{Analyze, AnalyzeOutput};
use super::disk::Disk;
use super::objects::Types;
use super::plan::diagnostics;
use super::report::{AnalyzeReport, FolderReport, Issue};
use super::{Problem, Verdict, print};

pub(super) fn run(arguments: &Analyze) -> Result<Verdict, Problem> {
    if !arguments.folder.is_dir() {
        let folder = arguments.folder.display();
        return Err(format!("{folder}: there is no such folder").into());
    }
    let types = Types::read(&arguments.crds, &arguments.sensitive)?;
    let joining = Joining {
        catalog: types.catalog().into(),
        namespace: None,
    };
    let disk = Disk::read(&arguments.folder)?;
    let root = FolderPath::root();
    let prepared = scan(&disk, &root);
    let whole = Folder::read_prepared(disk.tree(), root, &joining, prepared)
        .context("cannot read the folder")?;
    let mut folders = Vec::new();
    find_folders(
        disk.tree(),
        FolderPath::root(),
        &whole,
        &joining,
        &mut folders,
    )?;
    let report = AnalyzeReport {
        folder: judge(&whole),
        inventory: inventory(&whole),
        diagnostics: diagnostics(whole.facts()),
        suggested_git_targets: folders
            .iter()
            .filter(|folder| folder.accepted)
            .map(|folder| suggestion(&folder.path))
            .collect(),
        folders,
    };
    answer(&report, arguments.output)?;
    Ok(if report.folder.accepted {
        Verdict::Fine
    } else {
        Verdict::Refused
    })
}

/// Scans the files of a folder on all processors.
fn scan(disk: &Disk, folder: &FolderPath) -> Prepared {
    let files = disk.tree().files.changes_since(&Files::default());
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    // Small pieces, so that nobody waits for one who got the large files.
    let pieces = files.chunks(64).collect::<Vec<_>>();
    let next = AtomicUsize::new(0);
    let mut scanned = Prepared::default();
    thread::scope(|scope| {
        let work = || {
            let mut scanned = Prepared::default();
            while let Some(piece) = pieces.get(next.fetch_add(1, Ordering::Relaxed)) {
                scanned.extend(Prepared::scan(folder, piece, disk));
            }
            scanned
        };
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        scanned.extend(work());
        // What a thread that panicked left undone is read again, one by one.
        for other in others {
            scanned.extend(other.join().unwrap_or_default());
        }
    });
    scanned
}

fn judge(folder: &Folder) -> FolderReport {
    let issues = folder.accept().err().unwrap_or_default();
    FolderReport {
        path: folder.path().to_string(),
        accepted: issues.is_empty(),
        issues: issues.iter().map(Issue::of).collect(),
        documents: folder.facts().documents,
        files: folder.facts().files,
    }
}

/// Collects the largest folders that can be mirrored into, and, of those that cannot, the ones without a folder
/// in them that might.
fn find_folders(
    tree: FileTree<'_>,
    path: FolderPath,
    folder: &Folder,
    joining: &Joining,
    found: &mut Vec<FolderReport>,
) -> Result<(), Problem> {
    let report = judge(folder);
    let holds_something = report.documents > 0 || !report.accepted;
    if report.accepted {
        if holds_something {
            found.push(report);
        }
        return Ok(());
    }
    let before = found.len();
    for name in folders_in(tree.files, &path) {
        let below = path.join(&name).map_err(|error| error.to_string())?;
        let below = FolderPath::new(below.as_str()).map_err(|error| error.to_string())?;
        let inner = Folder::read(tree, below.clone(), joining).context("cannot read a folder")?;
        find_folders(tree, below, &inner, joining, found)?;
    }
    if found.len() == before && holds_something {
        found.push(report);
    }
    Ok(())
}

fn folders_in(files: &Files, path: &FolderPath) -> Vec<String> {
    let nodes = files.folder(path).map(|folder| &folder.nodes);
    nodes
        .into_iter()
        .flatten()
        .filter(|(_, node)| matches!(node, Node::Folder(folder) if holds_file(folder)))
        .map(|(name, _)| name.to_string())
        .collect()
}

fn holds_file(folder: &Directory) -> bool {
    folder.nodes.iter().any(|(_, node)| match node {
        Node::Entry(_) => true,
        Node::Folder(folder) => holds_file(folder),
    })
}

fn inventory(folder: &Folder) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for document in folder.documents() {
        let kind = format!("{} {}", document.api_version, document.kind());
        *counts.entry(kind).or_default() += 1;
    }
    counts
}

/// Returns a GitTarget for the folder. The references have to be filled in.
fn suggestion(path: &str) -> serde_json::Value {
    let name: String = path
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_lowercase()
            } else {
                '-'
            }
        })
        .collect();
    let name = name.trim_matches('-');
    json!({
        "apiVersion": "configbutler.ai/v1alpha3",
        "kind": "GitTarget",
        "metadata": {"name": if name.is_empty() { "repository" } else { name }},
        "spec": {
            "gitBranchRef": {"name": "main"},
            "kubeProviderRef": {"name": "local", "namespace": "gitops-reverser"},
            "path": path,
        },
    })
}

fn answer(report: &AnalyzeReport, output: AnalyzeOutput) -> Result<(), Problem> {
    let failed = "cannot print the answer";
    let text = match output {
        AnalyzeOutput::Text => text(report),
        AnalyzeOutput::Json => serde_json::to_string_pretty(report).context(failed)? + "\n",
        AnalyzeOutput::Yaml => {
            let value = serde_json::to_value(report).context(failed)?;
            value
                .as_object()
                .map(manifests::yaml::canonical)
                .unwrap_or_default()
        }
    };
    print(&text)
}

fn text(report: &AnalyzeReport) -> String {
    let mut lines = Vec::new();
    let verdict = |folder: &FolderReport| {
        let word = if folder.accepted {
            "accepted"
        } else {
            "refused"
        };
        format!(
            "{}: {word}, {} documents in {} files",
            folder.path, folder.documents, folder.files
        )
    };
    lines.push(verdict(&report.folder));
    for issue in &report.folder.issues {
        lines.push(format!("  {}", issue.line()));
    }
    if !report.inventory.is_empty() {
        lines.push("\ninventory".to_owned());
    }
    for (kind, count) in &report.inventory {
        lines.push(format!("  {count:>5}  {kind}"));
    }
    if !report.diagnostics.is_empty() {
        lines.push("\nnotes".to_owned());
    }
    for diagnostic in &report.diagnostics {
        lines.push(format!("  {diagnostic}"));
    }
    if !report.folder.accepted && !report.folders.is_empty() {
        lines.push("\nfolders".to_owned());
        for folder in &report.folders {
            lines.push(format!("  {}", verdict(folder)));
        }
    }
    if !report.suggested_git_targets.is_empty() {
        lines.push("\nsuggested targets".to_owned());
        for target in &report.suggested_git_targets {
            let yaml = target.as_object().map(manifests::yaml::canonical);
            lines.push(format!("---\n{}", yaml.unwrap_or_default().trim_end()));
        }
    }
    lines.push(String::new());
    lines.join("\n")
}
