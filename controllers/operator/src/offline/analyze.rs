//! `gitops-reverser analyze`: whether a folder on disk can be mirrored into, and which folders in it can.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::Context as _;
use manifests::folder::{Folder, Joining, Prepared};
use manifests::kustomize::supplier::additions;
use model::{Directory, FileTree, Files, FolderPath, Layout, Node};
use serde_json::json;

use super::arguments::{Analyze, AnalyzeOutput};
use super::disk::Disk;
use super::explained::SupplierReport;
use super::objects::Types;
use super::plan::diagnostics;
use super::report::{AnalyzeReport, BuildReport, BuiltReport, FolderReport, Issue, LayoutReport};
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
        builds: builds(disk.tree(), &whole)?,
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
        layout: LayoutReport::of(&folder.layout()),
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
    if let Layout::Ambiguous { roots } = folder.layout()
        && report.accepted
    {
        // One target is one environment: each root has one of its own.
        for root in roots {
            let inner = Folder::read(tree, root, joining).context("cannot read a folder")?;
            found.push(judge(&inner));
        }
        return Ok(());
    }
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

/// Reports what the kustomizations of a folder build to, and who supplies what.
fn builds(tree: FileTree<'_>, folder: &Folder) -> Result<Vec<BuildReport>, Problem> {
    let mut reports = Vec::new();
    for (root, render) in folder.renders() {
        let mut objects = Vec::new();
        for object in &render.objects {
            let added = additions(tree, render, object).context("cannot read a file")?;
            objects.push(BuiltReport {
                kind: object.id.kind.clone(),
                namespace: object.namespace().map(str::to_owned),
                name: object.id.name.clone(),
                file: render.source(object).map(ToString::to_string),
                suppliers: added
                    .into_iter()
                    .map(|(field, supply)| SupplierReport {
                        kind: supply.kind.as_str(),
                        file: supply.path.to_string(),
                        line: supply.line,
                        field: Some(field.to_string()),
                    })
                    .collect(),
            });
        }
        reports.push(BuildReport {
            render_root: root.to_string(),
            objects,
        });
    }
    Ok(reports)
}

fn build_lines(build: &BuildReport) -> Vec<String> {
    let mut lines = vec![format!("  {}", build.render_root)];
    for object in &build.objects {
        let name = match &object.namespace {
            Some(namespace) => format!("{namespace}/{}", object.name),
            None => object.name.clone(),
        };
        let file = object.file.as_deref().unwrap_or_default();
        lines.push(format!("    {} {name}: {file}", object.kind));
        for supplier in &object.suppliers {
            let SupplierReport {
                kind, file, line, ..
            } = supplier;
            let field = supplier.field.as_deref().unwrap_or_default();
            lines.push(format!("      {field}: {kind} {file}:{line}"));
        }
    }
    lines
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
        let layout = &folder.layout;
        let shape = match (layout.mode, &layout.read_only_bases[..]) {
            (None, _) => ", several builds".to_owned(),
            (Some("Plain"), _) => String::new(),
            (Some(mode), []) => format!(", {mode}"),
            (Some(mode), bases) => format!(", {mode} over {}", bases.join(", ")),
        };
        format!(
            "{}: {word}, {} documents in {} files{shape}",
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
    if !report.builds.is_empty() {
        lines.push("\nbuilds".to_owned());
    }
    lines.extend(report.builds.iter().flat_map(build_lines));
    if !report.diagnostics.is_empty() {
        lines.push("\nnotes".to_owned());
    }
    for diagnostic in &report.diagnostics {
        lines.push(format!("  {diagnostic}"));
    }
    let is_divided = !report.folder.accepted || report.folder.layout.mode.is_none();
    if is_divided && !report.folders.is_empty() {
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
