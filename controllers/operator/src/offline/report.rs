//! What the offline commands answer to programs.

use std::collections::BTreeMap;

use anyhow::Result;
use manifests::Outcome;
use manifests::plan::{Counts, RetainedReason};
use model::{Actor, FileTree, FolderPath, Layout, LayoutMode, Refusal, RefusalScope, ResourceId};
use serde::Serialize;

use super::explained::{ExplanationReport, FixReport, SupplierReport};

/// The judgement of one folder.
#[derive(Debug, Serialize)]
pub(super) struct FolderReport {
    /// The folder, from the root.
    pub(super) path: String,
    /// Whether it may be written at all.
    pub(super) accepted: bool,
    /// Everything that is wrong with it.
    pub(super) issues: Vec<Issue>,
    /// How many documents it holds.
    pub(super) documents: usize,
    /// How many files hold them.
    pub(super) files: usize,
    /// Which kustomization governs its new documents.
    #[serde(flatten)]
    pub(super) layout: LayoutReport,
}

/// Which kustomization governs the new documents of a folder.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LayoutReport {
    /// How the folder is written, as `status.placement.mode` says it; nothing where several roots give no answer.
    pub(super) mode: Option<&'static str>,
    /// The folders of the kustomizations that are built, from the root.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) render_roots: Vec<String>,
    /// What the one root reads outside of the folder, as it spells it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) read_only_bases: Vec<String>,
}

/// What one kustomization builds to.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BuildReport {
    /// The folder of the kustomization, from the root.
    pub(super) render_root: String,
    /// The objects, in the order of the build.
    pub(super) objects: Vec<BuiltReport>,
}

/// One object of a build.
#[derive(Debug, Serialize)]
pub(super) struct BuiltReport {
    pub(super) kind: String,
    pub(super) namespace: Option<String>,
    pub(super) name: String,
    /// The file of its document, or the kustomization that generates it.
    pub(super) file: Option<String>,
    /// What gives it the values that its document does not.
    pub(super) suppliers: Vec<SupplierReport>,
}

/// One thing that is wrong with a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Issue {
    /// What exactly is wrong.
    issue: &'static str,
    /// The condition reason.
    code: &'static str,
    /// The file, from the root.
    file: Option<String>,
    /// The line, counted from 1.
    line: Option<u32>,
    /// The field.
    field: Option<String>,
    /// Who can lift it.
    actor: &'static str,
    /// What happened.
    message: String,
    /// What to do.
    remedy: String,
    /// The change that does it, where one is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<FixReport>,
}

/// One object that is not written.
#[derive(Debug, Serialize)]
pub(super) struct RefusalReport {
    code: &'static str,
    issue: Option<&'static str>,
    scope: &'static str,
    object: Option<ObjectReport>,
    file: Option<String>,
    line: Option<u32>,
    field: Option<String>,
    #[serde(flatten)]
    explanation: ExplanationReport,
    actor: &'static str,
    message: String,
    remedy: String,
}

/// The identity of an object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct ObjectReport {
    pub(super) group: String,
    pub(super) resource: String,
    pub(super) namespace: Option<String>,
    pub(super) name: String,
}

/// One file that changes.
#[derive(Debug, Serialize)]
pub(super) struct EditReport {
    pub(super) path: String,
    pub(super) action: &'static str,
    pub(super) diff: String,
}

/// A document that stays although its object is gone, or keeps a field that an autoscaler has taken over.
#[derive(Debug, Serialize)]
pub(super) struct RetainedReport {
    pub(super) object: ObjectReport,
    pub(super) file: String,
    pub(super) reason: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) field: Option<ScaledReport>,
}

/// A field that an autoscaler has taken over.
#[derive(Debug, Serialize)]
pub(super) struct ScaledReport {
    name: String,
    manager: String,
    expected: serde_json::Value,
    live: serde_json::Value,
}

/// An object that is not mirrored at all.
#[derive(Debug, Serialize)]
pub(super) struct LeftOutReport {
    pub(super) object: Option<ObjectReport>,
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) reason: String,
}

/// What became of one object.
#[derive(Debug, Serialize)]
pub(super) struct DecisionReport {
    pub(super) object: ObjectReport,
    pub(super) decision: &'static str,
    pub(super) file: Option<String>,
    pub(super) placement: Option<&'static str>,
}

/// The answer of `plan`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PlanReport {
    pub(super) folder: FolderReport,
    pub(super) edits: Vec<EditReport>,
    pub(super) refusals: Vec<RefusalReport>,
    pub(super) retained: Vec<RetainedReport>,
    pub(super) left_out: Vec<LeftOutReport>,
    pub(super) decisions: Vec<DecisionReport>,
    /// How many objects met each fate.
    pub(super) counts: Counts,
    pub(super) diagnostics: Vec<String>,
}

/// The answer of `analyze`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AnalyzeReport {
    /// The folder that was asked about.
    pub(super) folder: FolderReport,
    /// How many documents there are of each kind.
    pub(super) inventory: BTreeMap<String, usize>,
    /// What its kustomizations build to, and who supplies what.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) builds: Vec<BuildReport>,
    /// The folders in it, each with its own verdict; an accepted one stands for those below it.
    pub(super) folders: Vec<FolderReport>,
    /// What is worth knowing and no reason to refuse.
    pub(super) diagnostics: Vec<String>,
    /// GitTargets that would work, as manifests.
    pub(super) suggested_git_targets: Vec<serde_json::Value>,
}

/// Reports every refusal of an object, explained.
pub(super) fn refusals(tree: FileTree<'_>, outcome: &Outcome) -> Result<Vec<RefusalReport>> {
    let explanations = &outcome.explanations.objects;
    let report = |refusal: &Refusal| {
        let id = refusal.object.as_ref();
        let explanation = match id.and_then(|id| explanations.get(id)) {
            Some(explanation) => ExplanationReport::of(explanation, tree)?,
            None => ExplanationReport::default(),
        };
        Ok(RefusalReport::of(refusal, explanation))
    };
    outcome.refusals().map(report).collect()
}

/// Reports every issue of the folder, with what lifts it.
pub(super) fn issues(tree: FileTree<'_>, outcome: &Outcome) -> Result<Vec<Issue>> {
    let issues = outcome.folder.issues().iter();
    let explained = issues.zip(&outcome.explanations.issues);
    explained
        .map(|(issue, explanation)| {
            let fix = FixReport::of(explanation, tree)?;
            Ok(Issue::of(issue).with_fix(fix))
        })
        .collect()
}

/// Reports every document that stays as it is although its object does not.
pub(super) fn retained(outcome: &Outcome) -> Vec<RetainedReport> {
    let gone = outcome.retained.iter().map(|kept| RetainedReport {
        object: ObjectReport::of(&kept.id),
        file: kept.path.to_string(),
        reason: match kept.reason {
            RetainedReason::PruneNever => "prune_never",
            RetainedReason::PruneOnEvent => "prune_on_event",
        },
        field: None,
    });
    let scaled = outcome.scaled.iter().map(|scaled| RetainedReport {
        object: ObjectReport::of(&scaled.id),
        file: scaled.path.to_string(),
        reason: "autoscaler",
        field: Some(ScaledReport {
            name: scaled.field.clone(),
            manager: scaled.manager.clone(),
            expected: scaled.held.clone(),
            live: scaled.live.clone(),
        }),
    });
    gone.chain(scaled).collect()
}

impl LayoutReport {
    pub(super) fn of(layout: &Layout) -> Self {
        let (roots, bases): (Vec<&FolderPath>, &[String]) = match layout {
            Layout::Plain => (Vec::new(), &[]),
            Layout::Kustomized(root) => (vec![&root.folder], &root.read_only_bases),
            Layout::Ambiguous { roots } => (roots.iter().collect(), &[]),
        };
        Self {
            mode: layout.mode().map(LayoutMode::as_str),
            render_roots: roots.into_iter().map(ToString::to_string).collect(),
            read_only_bases: bases.to_vec(),
        }
    }
}

impl Issue {
    /// Prints one line for people.
    pub(super) fn line(&self) -> String {
        let mut line = self.issue.to_owned();
        if let Some(file) = &self.file {
            line.push_str(&format!(": {file}"));
            if let Some(number) = self.line {
                line.push_str(&format!(":{number}"));
            }
        }
        line.push_str(&format!(": {}", self.message));
        if !self.remedy.is_empty() {
            line.push_str(&format!("; {}", self.remedy));
        }
        line
    }

    pub(super) fn of(refusal: &Refusal) -> Self {
        let at = refusal.at.as_ref();
        Self {
            issue: refusal
                .issue
                .map_or(refusal.code.as_str(), |issue| issue.as_str()),
            code: refusal.code.as_str(),
            file: at.map(|at| at.path.to_string()),
            line: at.and_then(|at| at.line),
            field: at.and_then(|at| at.field.clone()),
            actor: refusal.actor.as_str(),
            message: refusal.message.clone(),
            remedy: refusal.remedy.clone(),
            fix: None,
        }
    }

    /// Prints the issue and what lifts it, for people.
    pub(super) fn lines(&self) -> Vec<String> {
        let first = format!("issue: {}", self.line());
        let below = self.fix.iter().flat_map(FixReport::lines);
        std::iter::once(first).chain(below).collect()
    }

    /// Adds the change that lifts the issue.
    pub(super) fn with_fix(self, fix: Option<FixReport>) -> Self {
        Self { fix, ..self }
    }
}

impl RefusalReport {
    pub(super) fn of(refusal: &Refusal, explanation: ExplanationReport) -> Self {
        let issue = Issue::of(refusal);
        Self {
            code: refusal.code.as_str(),
            issue: refusal.issue.map(|issue| issue.as_str()),
            scope: refusal.scope.as_str(),
            object: refusal.object.as_ref().map(ObjectReport::of),
            file: issue.file,
            line: issue.line,
            field: issue.field,
            explanation,
            actor: issue.actor,
            message: issue.message,
            remedy: issue.remedy,
        }
    }

    /// Makes the refusal of an object whose kind nobody knows.
    pub(super) fn unknown_type(title: &str) -> Self {
        Self {
            code: model::RefusalCode::UnknownType.as_str(),
            issue: Some(model::IssueKind::UnresolvedKrm.as_str()),
            scope: RefusalScope::Object.as_str(),
            object: None,
            file: None,
            line: None,
            field: None,
            explanation: ExplanationReport::default(),
            actor: Actor::Platform.as_str(),
            message: format!("the kind of {title} is not known"),
            remedy: "give its CustomResourceDefinition with --crds".to_owned(),
        }
    }

    /// Prints the refusal and what explains it, for people. What refuses the whole folder is told with its issues.
    pub(super) fn lines(&self) -> Vec<String> {
        let issue = Issue {
            issue: self.issue.unwrap_or(self.code),
            code: self.code,
            file: self.file.clone(),
            line: self.line,
            field: None,
            actor: self.actor,
            message: self.message.clone(),
            remedy: self.remedy.clone(),
            fix: None,
        };
        let first = format!("refused: {}", issue.line());
        let is_of_folder = self.scope == RefusalScope::Folder.as_str();
        let below = if is_of_folder {
            Vec::new()
        } else {
            self.explanation.lines()
        };
        std::iter::once(first).chain(below).collect()
    }
}

impl RetainedReport {
    /// Prints one line for people.
    pub(super) fn line(&self) -> String {
        let ObjectReport { resource, name, .. } = &self.object;
        let why = match &self.field {
            Some(field) => format!(
                "{}: {} is {} here, and {} made it {}",
                self.reason, field.name, field.expected, field.manager, field.live
            ),
            None => self.reason.to_owned(),
        };
        format!("kept: {resource} {name} in {} ({why})", self.file)
    }
}

impl ObjectReport {
    pub(super) fn of(id: &ResourceId) -> Self {
        Self {
            group: id.type_id.group.to_string(),
            resource: id.type_id.resource.to_string(),
            namespace: id.namespace.as_ref().map(ToString::to_string),
            name: id.name.to_string(),
        }
    }
}
