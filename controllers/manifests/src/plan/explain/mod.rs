//! Refusals in full: what the folder says, what is live, the line that says it, and what would lift them (E5).
//!
//! A [`Refusal`] goes into conditions, events and logs, and holds no content of an object. An [`Explanation`] does,
//! for the person who asked, so it is made in [`Mode::Explain`](super::Mode) only, after the plan and from the same
//! values; nothing here decides anything. A change that is proposed was tried first, by planning with it, wherever
//! that can be told.
//!
//! Reading order: [`Explanation`], `difference` (the fields), `built` (objects that builds make), `fix` (what to propose), `rewrite` (other
//! texts of a document), `trial` (whether it helps).

mod built;
mod difference;
mod fix;
mod rewrite;
#[cfg(test)]
mod tests;
mod trial;

use std::collections::BTreeMap;

use model::{FileTree, IssueKind, ReadError, Refusal, RefusalCode, RepoPath, ResourceId};
use serde_json::Value;

use super::outcome::{Decision, FileEdit, FolderVerdict, Outcome};
use super::policy::Policy;
use super::texts::{OpenFile, Texts};
use super::wanted::comparable;
use super::wishes::{Wish, Wishes};
use crate::fidelity::divergences;
use crate::folder::{AcceptedFolder, Document, Folder};
use crate::kustomize::supplier::SupplyKind;
use crate::yaml::FieldPath;
pub(super) use difference::first_gap;
pub use difference::{Difference, Told};
use difference::{Gap, gaps};
use fix::Fixes;

/// What a plan can say about its refusals. Empty in every mode but the one that explains.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Explanations {
    /// The refused objects, each explained.
    pub objects: BTreeMap<ResourceId, Explanation>,
    /// The issues of a refused folder, in their order.
    pub issues: Vec<Explanation>,
}

/// What a refusal leaves out.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Explanation {
    /// The fields that it is about: what stands in the way, or else all that the edit would have changed.
    pub differences: Vec<Difference>,
    /// What gives the first of them its value now, or rules the object out.
    pub supplier: Option<Supplier>,
    /// The smallest change that is known to lift the refusal. It is looked for at the first twenty refusals only.
    pub fix: Option<Fix>,
}

/// The line that supplies a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Supplier {
    /// What it is.
    pub kind: SupplierKind,
    /// Its file.
    pub path: RepoPath,
    /// The line, counted from 1.
    pub line: u32,
    /// The field that it gives a value, where it is one.
    pub field: Option<String>,
}

/// What can supply a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SupplierKind {
    /// A field of a document.
    Document,
    /// A pattern of the ignore rules.
    IgnoreRule,
    /// An input of a build.
    Build(SupplyKind),
}

impl SupplierKind {
    /// Returns the word that programs read.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Document => "document",
            Self::IgnoreRule => "ignore-rule",
            Self::Build(kind) => kind.as_str(),
        }
    }
}

/// A change that lifts a refusal.
#[derive(Debug, Clone, PartialEq)]
pub struct Fix {
    /// What to do, in a sentence without content of the object.
    pub action: String,
    /// The change itself.
    pub change: Change,
}

/// What a fix changes.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// A file of the repository.
    File(FileEdit),
    /// A setting of the target or of the operator.
    Setting {
        /// Its name.
        name: String,
        /// Its new value; nothing where it is to be left out.
        value: Option<String>,
    },
}

/// What was planned, and on what.
#[derive(Clone, Copy)]
pub(super) struct Ground<'a> {
    pub(super) tree: FileTree<'a>,
    pub(super) folder: &'a Folder,
    pub(super) policy: &'a Policy,
    pub(super) can_seal: bool,
}

/// A refused object and all that is known of it.
struct Case<'a> {
    refusal: &'a Refusal,
    wish: &'a Wish,
    id: &'a ResourceId,
    document: Option<&'a Document>,
    open: &'a OpenFile,
    /// What the document says, and what it would have to say.
    values: Option<(&'a Value, &'a Value)>,
}

/// Explains every refusal of an outcome.
pub(super) fn explain(
    outcome: &Outcome,
    wishes: &Wishes,
    ground: Ground<'_>,
) -> Result<Explanations, ReadError> {
    let mut fixes = Fixes::new(ground);
    let mut found = Explanations::default();
    if let FolderVerdict::Refused(issues) = &outcome.folder {
        for issue in issues {
            found.issues.push(Explanation {
                differences: Vec::new(),
                supplier: cause(issue),
                fix: fixes.of_issue(issue, issues.len())?,
            });
        }
    }
    let accepted = ground.folder.accept().ok();
    let mut texts = Texts::new(ground.tree);
    for one in &outcome.decisions {
        let (Decision::Refused(refusal), Some(wish)) = (&one.decision, wishes.get(&one.id)) else {
            continue;
        };
        let explanation = match accepted {
            None => found.issues.first().cloned().unwrap_or_default(),
            Some(folder) => {
                let asked = (&one.id, wish, &**refusal);
                explain_object(asked, folder, &mut texts, ground, &mut fixes)?
            }
        };
        found.objects.insert(one.id.clone(), explanation);
    }
    Ok(found)
}

fn explain_object(
    (id, wish, refusal): (&ResourceId, &Wish, &Refusal),
    folder: AcceptedFolder<'_>,
    texts: &mut Texts<'_>,
    ground: Ground<'_>,
    fixes: &mut Fixes<'_>,
) -> Result<Explanation, ReadError> {
    if let (Wish::Upsert(object), [made, ..]) = (wish, folder.made(id))
        && !object.is_sensitive()
    {
        let asked = (object, refusal);
        return built::explain_made(asked, made, folder, ground, fixes);
    }
    let document = folder.find(id);
    let open = match document {
        Some(document) => texts.open(&document.path)?,
        None => Default::default(),
    };
    let held = document.and_then(|document| open.values.get(document.index));
    let compared = match (document, held, wish) {
        (Some(document), Some(held), Wish::Upsert(object)) if !object.is_sensitive() => {
            let live = comparable(document, held, object, &ground.policy.defaults);
            Some((held, live))
        }
        _ => None,
    };
    let case = Case {
        refusal,
        wish,
        id,
        document,
        open: &open,
        values: compared.as_ref().map(|(held, live)| (*held, live)),
    };
    let differences = differences(&case);
    let first = differences.first();
    let supplier = match refusal.issue {
        Some(IssueKind::IgnoreShadowsManaged) => shadow(folder, refusal),
        _ => document.map(|document| Supplier {
            kind: SupplierKind::Document,
            path: document.path.clone(),
            line: first.and_then(|one| one.line).unwrap_or(document.line),
            field: first.and_then(|one| one.field.clone()),
        }),
    };
    let fix = fixes.of_object(&case, folder)?;
    Ok(Explanation {
        differences,
        supplier,
        fix,
    })
}

/// Returns the fields that a refusal is about. Those of what is secret, or encrypted, are not told apart.
fn differences(case: &Case<'_>) -> Vec<Difference> {
    let Some(document) = case.document else {
        return Vec::new();
    };
    let is_secret = match case.wish {
        Wish::Upsert(object) => object.is_sensitive(),
        Wish::Remove(_) => return Vec::new(),
    };
    if is_secret || document.encrypted {
        return vec![Difference {
            field: None,
            path: None,
            line: Some(document.line),
            expected: Told::Withheld,
            live: Told::Withheld,
        }];
    }
    let Some((held, live)) = case.values else {
        return Vec::new();
    };
    let told = |gap: Gap<'_>| Difference {
        line: case.open.line_of(document.index, &gap.field),
        field: Some(gap.field.to_string()),
        path: None,
        expected: Told::of(gap.held),
        live: Told::of(gap.live),
    };
    if case.refusal.code == RefusalCode::RenderDoesNotMatchLive {
        let tokens = divergences(held, live).into_iter().map(Gap::from);
        return tokens.map(told).collect();
    }
    let version = other_version(case).map(|read| {
        told(Gap {
            field: FieldPath::of_keys(&["apiVersion"]),
            held: held.get("apiVersion"),
            live: Some(&Value::String(read)),
        })
    });
    version
        .into_iter()
        .chain(gaps(held, live).into_iter().map(told))
        .collect()
}

/// Returns the version that the object was read in, where its document has another one.
fn other_version(case: &Case<'_>) -> Option<String> {
    let (Some(document), Wish::Upsert(object)) = (case.document, case.wish) else {
        return None;
    };
    let read = object.served().api_version();
    (*document.api_version != read).then_some(read)
}

/// Returns the pattern that hides the path of a refusal.
fn shadow(folder: AcceptedFolder<'_>, refusal: &Refusal) -> Option<Supplier> {
    let shadow = folder.shadow(&refusal.at.as_ref()?.path)?;
    Some(Supplier {
        kind: SupplierKind::IgnoreRule,
        path: RepoPath::new(shadow.rules).ok()?,
        line: shadow.line,
        field: None,
    })
}

/// Returns the line that an issue of the folder is about.
fn cause(issue: &Refusal) -> Option<Supplier> {
    let at = issue.at.as_ref()?;
    Some(Supplier {
        kind: match issue.issue {
            Some(IssueKind::IgnoreShadowsManaged) => SupplierKind::IgnoreRule,
            _ => SupplierKind::Document,
        },
        path: at.path.clone(),
        line: at.line?,
        field: at.field.clone(),
    })
}
