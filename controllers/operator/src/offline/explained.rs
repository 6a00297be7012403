//! Explanations of refusals as the offline commands tell them.

use anyhow::{Context as _, Result};
use manifests::plan::{Change, Difference, Explanation, Fix, Supplier, Told};
use manifests::preview;
use model::FileTree;
use serde::Serialize;
use serde_json::Value;

/// Stands for a value that is not told, because it is a secret or may be one.
const WITHHELD: &str = "(withheld)";

/// What a refusal leaves out; part of its report.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct ExplanationReport {
    /// What the folder says at the field; nothing where it says nothing.
    expected: Option<Value>,
    /// What the object says there.
    live: Option<Value>,
    /// What gives the field its value now.
    supplier: Option<SupplierReport>,
    /// Every field that the refusal is about; the first one is told above.
    differences: Vec<DifferenceReport>,
    /// The smallest change that lifts the refusal.
    fix: Option<FixReport>,
}

/// The line that gives a field its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct SupplierReport {
    pub(super) kind: &'static str,
    pub(super) file: String,
    pub(super) line: u32,
    pub(super) field: Option<String>,
}

/// One field in which folder and object differ.
#[derive(Debug, Clone, Serialize)]
struct DifferenceReport {
    field: Option<String>,
    file: Option<String>,
    line: Option<u32>,
    expected: Option<Value>,
    live: Option<Value>,
}

/// A change of a file or of a setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct FixReport {
    /// What to do.
    action: String,
    /// The file that changes.
    file: Option<String>,
    /// How it changes.
    diff: Option<String>,
    /// The setting that changes.
    setting: Option<String>,
    /// Its new value; nothing where the setting is to be left out.
    value: Option<String>,
}

impl ExplanationReport {
    pub(super) fn of(explanation: &Explanation, tree: FileTree<'_>) -> Result<Self> {
        let differences: Vec<_> = explanation
            .differences
            .iter()
            .map(DifferenceReport::of)
            .collect();
        let first = differences.first();
        Ok(Self {
            expected: first.and_then(|one| one.expected.clone()),
            live: first.and_then(|one| one.live.clone()),
            supplier: explanation.supplier.as_ref().map(SupplierReport::of),
            fix: FixReport::of(explanation, tree)?,
            differences,
        })
    }

    /// Prints lines for people, to stand below the refusal.
    pub(super) fn lines(&self) -> Vec<String> {
        let file = self
            .supplier
            .as_ref()
            .map(|supplier| supplier.file.as_str());
        let told = self.differences.iter().map(|one| one.line(file));
        let pattern = self
            .supplier
            .iter()
            .filter(|_| self.differences.is_empty())
            .map(|supplier| format!("  cause: {}:{}", supplier.file, supplier.line));
        let fix = self.fix.iter().flat_map(FixReport::lines);
        told.chain(pattern).chain(fix).collect()
    }
}

impl SupplierReport {
    fn of(supplier: &Supplier) -> Self {
        Self {
            kind: supplier.kind.as_str(),
            file: supplier.path.to_string(),
            line: supplier.line,
            field: supplier.field.clone(),
        }
    }
}

impl DifferenceReport {
    fn of(difference: &Difference) -> Self {
        let told = |told: &Told| match told {
            Told::Absent => None,
            Told::Value(value) => Some(value.clone()),
            Told::Withheld => Some(Value::from(WITHHELD)),
        };
        Self {
            field: difference.field.clone(),
            file: difference.path.as_ref().map(ToString::to_string),
            line: difference.line,
            expected: told(&difference.expected),
            live: told(&difference.live),
        }
    }

    fn line(&self, file: Option<&str>) -> String {
        let told = |value: &Option<Value>| {
            let text = value.as_ref().map(Value::to_string);
            text.unwrap_or_else(|| "nothing".to_owned())
        };
        let at = match (self.file.as_deref().or(file), self.line) {
            (Some(file), Some(line)) => format!(" ({file}:{line})"),
            _ => String::new(),
        };
        let (expected, live) = (told(&self.expected), told(&self.live));
        let field = self.field.as_deref().unwrap_or("the content");
        format!("  {field}{at}: the folder says {expected}, the object {live}")
    }
}

impl FixReport {
    pub(super) fn of(explanation: &Explanation, tree: FileTree<'_>) -> Result<Option<Self>> {
        let Some(Fix { action, change }) = &explanation.fix else {
            return Ok(None);
        };
        let mut report = Self {
            action: action.clone(),
            file: None,
            diff: None,
            setting: None,
            value: None,
        };
        match change {
            Change::File(edit) => {
                report.file = Some(edit.path.to_string());
                report.diff = Some(preview::diff_file(tree, edit).context("cannot read a file")?);
            }
            Change::Setting { name, value } => {
                report.setting = Some(name.clone());
                report.value.clone_from(value);
            }
        }
        Ok(Some(report))
    }

    pub(super) fn lines(&self) -> Vec<String> {
        let diff = self.diff.as_deref().unwrap_or_default();
        let first = format!("  fix: {}", self.action);
        let diff = diff.lines().map(|line| format!("    {line}"));
        std::iter::once(first).chain(diff).collect()
    }
}
