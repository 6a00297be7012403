//! `gitops-reverser plan`: what mirroring given objects would change in a folder on disk.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::crds::GitTarget;
use anyhow::{Context as _, Result};
use manifests::plan::{Applier, FileContent, FileEdit};
use manifests::{Decision, Encryption, Folder, Intent, Mode, Outcome, Policy, Sealing, preview};
use model::{ApplierOwner, FileTree, FolderPath, LeftOut, ResourceId};
use rand::Rng as _;
use reconcilers::git_target;
use sealing::Identities;
use serde_json::{Map, Value, json};

use super::arguments::{Plan, PlanOutput};
use super::disk::Disk;
use super::objects::{Given, Types, read_objects, read_text, title};
use super::report::{
    self, DecisionReport, EditReport, FolderReport, LayoutReport, LeftOutReport, ObjectReport,
    PlanReport, RefusalReport,
};
use super::{Problem, Verdict, complain, print};

/// What is asked for, read and checked.
struct Question {
    intents: Vec<Intent>,
    refused: Vec<RefusalReport>,
    left_out: Vec<LeftOutReport>,
    policy: Policy,
    encryption: Option<Encryption>,
}

pub(super) fn run(arguments: &Plan) -> Result<Verdict, Problem> {
    let question = ask(arguments)?;
    if !arguments.repository.is_dir() {
        let repository = arguments.repository.display();
        return Err(format!("--repository {repository}: there is no such folder").into());
    }
    let policy = &question.policy;
    let disk = Disk::read(&arguments.repository)?;
    let mut folder = Folder::new(policy.folder.clone());
    let mut random = |bytes: &mut [u8]| rand::rng().fill_bytes(bytes);
    let sealing = question.encryption.as_ref().map(|encryption| Sealing {
        encryption,
        random: &mut random,
        now: now(),
    });
    let intents = &question.intents;
    // What is shown is what is written: one plan serves both.
    let mode = Mode::Explain;
    let outcome = manifests::plan(&mut folder, disk.tree(), intents, policy, mode, sealing)
        .context("cannot read the folder")?;
    let report = report(question, disk.tree(), &outcome)?;
    let verdict = if report.folder.accepted && report.refusals.is_empty() {
        Verdict::Fine
    } else {
        Verdict::Refused
    };
    answer(&report, arguments.output)?;
    if arguments.write {
        for edit in &outcome.edits {
            write(&arguments.repository, edit)?;
        }
    }
    Ok(verdict)
}

fn ask(arguments: &Plan) -> Result<Question, Problem> {
    if arguments.snapshot.len() != arguments.collection.len() {
        return Err(format!(
            "--snapshot is given {} times and --collection {} times; they pair up in order",
            arguments.snapshot.len(),
            arguments.collection.len()
        )
        .into());
    }
    let types = Types::read(&arguments.crds, &arguments.sensitive)?;
    let policy = policy(arguments, &types)?;
    let mut question = Question {
        intents: Vec::new(),
        refused: Vec::new(),
        left_out: Vec::new(),
        policy,
        encryption: encryption(arguments)?,
    };
    for file in &arguments.upsert {
        for object in read_objects(file)? {
            match types.given(object) {
                Given::Desired(object) => question.intents.push(Intent::Upsert(object)),
                other => question.set_aside(other),
            }
        }
    }
    let mut problems = Vec::new();
    for file in &arguments.remove {
        for object in read_objects(file)? {
            match types.identity(&object) {
                Ok(id) => question.intents.push(Intent::Remove { id }),
                Err(problem) => problems.push(format!("{}: {problem}", file.display())),
            }
        }
    }
    for (file, collection) in arguments.snapshot.iter().zip(&arguments.collection) {
        match types.collection(collection) {
            Ok(collection) => {
                let objects = read_objects(file)?;
                question.sweep(&types, collection, objects, file)?;
            }
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() {
        Ok(question)
    } else {
        Err(Problem::Input(problems))
    }
}

impl Question {
    /// Notes an object that is not mirrored.
    fn set_aside(&mut self, given: Given) {
        match given {
            Given::Desired(_) => {}
            Given::LeftOut(id, object, why) => {
                let text = |pointer: &str| {
                    Value::Object(object.clone())
                        .pointer(pointer)
                        .and_then(Value::as_str)
                        .unwrap_or_default()
                        .to_owned()
                };
                self.left_out.push(LeftOutReport {
                    object: id.as_ref().map(ObjectReport::of),
                    kind: text("/kind"),
                    name: text("/metadata/name"),
                    reason: reason(&why),
                });
            }
            Given::UnknownType(object) => {
                self.refused
                    .push(RefusalReport::unknown_type(&title(&object)));
            }
        }
    }

    fn sweep(
        &mut self,
        types: &Types,
        collection: model::Collection,
        given: Vec<Map<String, Value>>,
        file: &Path,
    ) -> Result<(), Problem> {
        let mut objects = Vec::new();
        let mut protected = Vec::new();
        for object in given {
            let name = title(&object);
            let foreign = |id: &ResourceId| !collection.holds(id);
            match types.given(object) {
                Given::Desired(object) if foreign(object.id()) => {
                    return Err(format!(
                        "{}: {name} does not belong to the collection {collection}",
                        file.display()
                    )
                    .into());
                }
                Given::Desired(object) => objects.push(object),
                Given::LeftOut(id, object, why) => {
                    protected.extend(id.clone().filter(|_| why.protects_document()));
                    self.set_aside(Given::LeftOut(id, object, why));
                }
                unknown @ Given::UnknownType(_) => self.set_aside(unknown),
            }
        }
        self.intents.push(Intent::Sweep {
            collection,
            objects,
            protected,
        });
        Ok(())
    }
}

fn reason(left_out: &LeftOut) -> String {
    match left_out {
        LeftOut::ClusterGenerated { what, .. } => format!("the cluster makes it: {what}"),
        LeftOut::ControllerOwned { owner } => format!("{owner} owns it"),
        LeftOut::Terminating => "it is being deleted".to_owned(),
        LeftOut::Malformed { problem } => problem.clone(),
    }
}

fn policy(arguments: &Plan, types: &Types) -> Result<Policy, Problem> {
    let failed = |problems: Vec<manifests::placement::Problem>| {
        Problem::Input(problems.iter().map(ToString::to_string).collect())
    };
    let target = arguments.target.as_deref().map(target).transpose()?;
    let path = match (&arguments.path, &target) {
        (Some(path), _) => path.clone(),
        (None, Some(target)) => target.spec.path.clone(),
        (None, None) => {
            return Err("--path is missing, or a --target that has one"
                .to_owned()
                .into());
        }
    };
    let folder =
        FolderPath::new(path.trim_end_matches('/')).map_err(|error| format!("--path: {error}"))?;
    let mut policy = Policy::new(folder, types.catalog());
    for crd in types.definitions() {
        policy.defaults.add_crd(crd);
    }
    if let Some(applier) = &arguments.applier {
        let applier = Applier::parse(applier)
            .map_err(|allowed| format!("--applier {applier:?} is not valid: {allowed}"))?;
        policy.applier = Some(applier);
    }
    if let Some(target) = target {
        policy.placement = git_target::placement(&target, types.sensitivity()).map_err(failed)?;
        policy.prune = git_target::prune(&target);
        policy.serialize_namespace = target.spec.serialize_namespace;
    }
    Ok(policy)
}

/// Reads the keys. A recipient alone lets sensitive objects be encrypted (D57).
fn encryption(arguments: &Plan) -> Result<Option<Encryption>, Problem> {
    let mut encryption = Encryption::default();
    let mut identities = Identities::default();
    let mut problems = Vec::new();
    for recipient in &arguments.age_recipient {
        match recipient.trim().parse() {
            Ok(recipient) => drop(encryption.recipients.insert(recipient)),
            Err(error) => problems.push(format!("--age-recipient: {error}")),
        }
    }
    for file in &arguments.age_identity {
        match Identities::parse(&read_text(file)?) {
            Ok(more) => identities.extend(more),
            Err(error) => problems.push(format!("--age-identity {}: {error}", file.display())),
        }
    }
    if !problems.is_empty() {
        return Err(Problem::Input(problems));
    }
    if encryption.recipients.is_empty() {
        encryption.recipients = identities.recipients();
    }
    let is_wanted = !encryption.recipients.is_empty() || !identities.is_empty();
    encryption.identities = Arc::new(identities);
    Ok(is_wanted.then_some(encryption))
}

/// Returns the time in milliseconds since 1970 UTC, for the files that state it.
fn now() -> u64 {
    let now = jiff::Timestamp::now().as_millisecond();
    u64::try_from(now).unwrap_or_default()
}

/// Reads a GitTarget. What does not matter here may be missing in it.
fn target(file: &Path) -> Result<GitTarget, Problem> {
    let wrong = |problem: String| Problem::from(format!("--target {}: {problem}", file.display()));
    let mut objects = read_objects(file)?;
    objects.retain(|object| object.get("kind").is_some_and(|kind| kind == "GitTarget"));
    let [target] = <[_; 1]>::try_from(objects)
        .map_err(|objects| wrong(format!("it holds {} GitTargets, not one", objects.len())))?;
    let mut target = Value::Object(target);
    let fill = |map: &mut Value, key: &str, value: Value| {
        if let Value::Object(map) = map {
            map.entry(key).or_insert(value);
        }
    };
    fill(&mut target, "metadata", json!({"name": "target"}));
    fill(&mut target, "spec", json!({}));
    fill(
        &mut target["spec"],
        "gitBranchRef",
        json!({"name": "branch"}),
    );
    fill(
        &mut target["spec"],
        "kubeProviderRef",
        json!({"name": "provider"}),
    );
    fill(&mut target["spec"], "path", json!("."));
    serde_json::from_value(target).map_err(|error| wrong(error.to_string()))
}

fn report(question: Question, tree: FileTree<'_>, outcome: &Outcome) -> Result<PlanReport> {
    let mut edits = Vec::new();
    for edit in &outcome.edits {
        let action = match (&edit.content, tree.files.get(&edit.path).is_some()) {
            (FileContent::Removed, _) => "delete",
            (FileContent::Plain(_) | FileContent::Sealed(_), true) => "modify",
            (FileContent::Plain(_) | FileContent::Sealed(_), false) => "create",
        };
        edits.push(EditReport {
            path: edit.path.to_string(),
            action,
            diff: preview::diff_file(tree, edit).context("cannot read a file")?,
        });
    }
    let mut refusals = report::refusals(tree, outcome)?;
    refusals.extend(question.refused);
    let mut left_out = question.left_out;
    left_out.extend(outcome.decisions.iter().filter_map(owned_by_another));
    let facts = match &outcome.folder {
        manifests::FolderVerdict::Accepted(facts) => facts.clone(),
        manifests::FolderVerdict::Refused(_) => manifests::plan::FolderFacts::default(),
    };
    Ok(PlanReport {
        folder: FolderReport {
            path: question.policy.folder.to_string(),
            accepted: outcome.folder.is_accepted(),
            issues: report::issues(tree, outcome)?,
            documents: facts.documents,
            files: facts.files,
            layout: LayoutReport::of(&outcome.layout),
        },
        edits,
        refusals,
        retained: report::retained(outcome),
        left_out,
        decisions: outcome.decisions.iter().map(decision).collect(),
        counts: outcome.counts(),
        diagnostics: diagnostics(&facts),
    })
}

/// Says what a folder holds that is never touched.
pub(super) fn diagnostics(facts: &manifests::plan::FolderFacts) -> Vec<String> {
    [
        (
            facts.unknown_kinds,
            "documents of a kind that is not known; they are never touched (give --crds to have them joined)",
        ),
        (
            facts.without_namespace,
            "documents without a namespace; nobody says which object they are, so they are never touched",
        ),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, text)| format!("{count} {text}"))
    .collect()
}

/// Reports an object that another applier owns.
fn owned_by_another(one: &manifests::plan::ObjectDecision) -> Option<LeftOutReport> {
    let Decision::LeftOut { owner } = &one.decision else {
        return None;
    };
    let owner = match owner {
        ApplierOwner::Flux { namespace, name } => format!("Kustomization/{namespace}/{name}"),
        ApplierOwner::ArgoCd { tracking_id } => format!("Application {tracking_id}"),
    };
    Some(LeftOutReport {
        object: Some(ObjectReport::of(&one.id)),
        kind: one.id.type_id.to_string(),
        name: one.id.name.to_string(),
        reason: format!("{owner} applies it"),
    })
}

fn decision(one: &manifests::plan::ObjectDecision) -> DecisionReport {
    let (decision, file, placement) = match &one.decision {
        Decision::NoChange => ("no-change", None, None),
        Decision::Edited { path } => ("edited", Some(path), None),
        Decision::Created { path, source } => ("created", Some(path), Some(source.as_str())),
        Decision::Removed { path } => ("removed", Some(path), None),
        Decision::Retained { path, .. } => ("retained", Some(path), None),
        Decision::LeftOut { .. } => ("left-out", None, None),
        Decision::Refused(_) => ("refused", None, None),
    };
    DecisionReport {
        object: ObjectReport::of(&one.id),
        decision,
        file: file.map(ToString::to_string),
        placement,
    }
}

fn answer(report: &PlanReport, output: PlanOutput) -> Result<(), Problem> {
    if output == PlanOutput::Json {
        let mut text = serde_json::to_string_pretty(report).context("cannot print the answer")?;
        text.push('\n');
        return print(&text);
    }
    for issue in &report.folder.issues {
        issue.lines().iter().for_each(|line| complain(line));
    }
    for refusal in &report.refusals {
        refusal.lines().iter().for_each(|line| complain(line));
    }
    for kept in &report.retained {
        complain(&kept.line());
    }
    for left_out in &report.left_out {
        complain(&format!(
            "left out: {} {}: {}",
            left_out.kind, left_out.name, left_out.reason
        ));
    }
    for diagnostic in &report.diagnostics {
        complain(&format!("note: {diagnostic}"));
    }
    let diff: String = report.edits.iter().map(|edit| edit.diff.as_str()).collect();
    print(&diff)
}

/// Writes one file so that a reader sees the old content or the new one, and never a part of it.
fn write(root: &Path, edit: &FileEdit) -> Result<()> {
    let path = root.join(edit.path.as_str());
    let written = match &edit.content {
        FileContent::Removed => {
            fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
            remove_empty_parents(root, &path);
            return Ok(());
        }
        FileContent::Plain(bytes) => replace(&path, bytes),
        FileContent::Sealed(bytes) => replace(&path, bytes.as_bytes()),
    };
    written.with_context(|| format!("cannot write {}", path.display()))
}

fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let parent = path.parent().context("the path has no folder")?;
    fs::create_dir_all(parent)?;
    let name = path.file_name().context("the path has no name")?;
    let beside: PathBuf = parent.join(format!(
        ".{}.{}.part",
        name.to_string_lossy(),
        std::process::id()
    ));
    let written = (|| -> Result<()> {
        let mut file = fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&beside)?;
        file.write_all(bytes)?;
        if let Ok(metadata) = fs::symlink_metadata(path) {
            file.set_permissions(metadata.permissions())?;
        }
        file.sync_all()?;
        fs::rename(&beside, path)?;
        Ok(())
    })();
    if written.is_err() {
        drop(fs::remove_file(&beside));
    }
    written
}

/// Git has no folder without a file, so none is left behind.
fn remove_empty_parents(root: &Path, path: &Path) {
    let mut parent = path.parent();
    while let Some(folder) = parent.filter(|folder| *folder != root) {
        if fs::remove_dir(folder).is_err() {
            return;
        }
        parent = folder.parent();
    }
}
