//! What a plan answers.

use std::collections::BTreeSet;

use model::{ApplierOwner, FileTree, IssueKind, Layout, ReadError, Refusal, RepoPath, ResourceId};
use sealing::SealedBytes;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::folder::{Document, Join};
use crate::kustomize::FILE_NAMES;
use crate::kustomize::register::RESOURCES;
use crate::plan::{DecidedActions, Explanations};
use crate::preview;

/// The answer to a batch of intents. The same input gives the same bytes, whatever the order of the intents.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Whether the folder may be written at all.
    pub folder: FolderVerdict,
    /// Which kustomization governs it, whether it may be written or not.
    pub layout: Layout,
    /// The files that change, by path. Empty when nothing does (PI-5).
    pub edits: Vec<FileEdit>,
    /// What becomes of each object, by identity.
    pub decisions: Vec<ObjectDecision>,
    /// What a replay repeats.
    pub decided: DecidedActions,
    /// The documents that a removal left where they are.
    pub retained: Vec<Retained>,
    /// The documents that are encrypted, and why (D22c).
    pub sealed: Vec<SealedObject>,
    /// The fields that a controller has taken over, so that the documents keep theirs.
    pub scaled: Vec<Scaled>,
    /// What the refusals leave out, where that was asked for.
    pub explanations: Explanations,
    /// Whether the folder was accepted and nothing builds it or reads it from outside: then an edit of a document
    /// follows from its file, the object and the defaults alone.
    pub stands_alone: bool,
}

/// The judgement of the acceptance gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum FolderVerdict {
    /// The folder may be written.
    Accepted(FolderFacts),
    /// It may not; every issue is listed, by path, line and kind.
    Refused(Vec<Refusal>),
}

/// What an accepted folder holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct FolderFacts {
    /// Kubernetes documents.
    pub documents: usize,
    /// Files that hold them.
    pub files: usize,
    /// Documents of a kind that the catalog does not know; they are never touched.
    pub unknown_kinds: usize,
    /// Documents of a namespaced kind without a namespace; they belong to no object and are never touched.
    pub without_namespace: usize,
    /// Encrypted documents.
    pub encrypted: usize,
}

/// One change of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdit {
    /// The file, from the root of the repository.
    pub path: RepoPath,
    /// What it becomes. A file that exists keeps its mode.
    pub content: FileContent,
    /// Whether the file held a sensitive object in plain text, so that its difference is not to be shown.
    pub held_secret: bool,
}

/// The new content of a file.
#[derive(Clone, PartialEq, Eq)]
pub enum FileContent {
    /// These bytes, readable by anybody who can read the repository.
    Plain(Vec<u8>),
    /// These bytes of a sensitive document, encrypted.
    Sealed(SealedBytes),
    /// The file is gone.
    Removed,
}

/// What becomes of one object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ObjectDecision {
    /// The object.
    pub id: ResourceId,
    /// What becomes of it.
    pub decision: Decision,
}

/// What becomes of an object's document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum Decision {
    /// The folder already says it.
    NoChange,
    /// The document is edited where it is.
    Edited {
        /// Its file.
        path: RepoPath,
    },
    /// A new document is written.
    Created {
        /// Its file.
        path: RepoPath,
        /// What chose the path.
        source: PlacementSource,
    },
    /// The document is taken out.
    Removed {
        /// Its file.
        path: RepoPath,
    },
    /// The object is gone and its document stays.
    Retained {
        /// Its file.
        path: RepoPath,
        /// Why it stays.
        reason: RetainedReason,
    },
    /// Another applier than the folder's own owns the object: it is neither written nor treated as missing.
    LeftOut {
        /// The owner, as the object names it.
        owner: ApplierOwner,
    },
    /// Nothing is written for the object.
    Refused(Box<Refusal>),
}

impl Decision {
    /// Says that nothing is written for an object.
    pub(crate) fn refused(refusal: Refusal) -> Self {
        Self::Refused(Box::new(refusal))
    }
}

/// What chose the path of a new document; the text is the label that placements are counted by (PL-18).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlacementSource {
    /// The template of the object's type.
    ByType,
    /// The catch-all template.
    Default,
    /// The folder's one kustomization.
    KustomizeRoot,
    /// The built-in path.
    Builtin,
}

impl PlacementSource {
    /// Returns the text that metrics use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ByType => "by_type",
            Self::Default => "default",
            Self::KustomizeRoot => "kustomize_root",
            Self::Builtin => "builtin",
        }
    }
}

/// Whether a kustomization lists a new file; the text is the label that metrics use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Listing {
    /// An entry was added with the file.
    Added,
    /// It was listed before it was there.
    NoChange,
    /// The list could not be changed, so the file was not written.
    Failed,
}

impl Listing {
    /// Returns the text that metrics use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::NoChange => "no_change",
            Self::Failed => "failed",
        }
    }
}

/// A document whose object is gone and that stays (D59).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Retained {
    /// The object.
    pub id: ResourceId,
    /// The document's file.
    pub path: RepoPath,
    /// Why it stays.
    pub reason: RetainedReason,
}

/// Why a document stays although its object is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RetainedReason {
    /// The prune mode removes nothing.
    PruneNever,
    /// The prune mode removes only what was seen to go, and a snapshot merely lacks the object.
    PruneOnEvent,
}

/// A document that is encrypted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SealedObject {
    /// The object.
    pub id: ResourceId,
    /// Why it is encrypted now.
    pub reason: SealReason,
}

/// Why a document is encrypted; the text is the label that encryptions are counted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SealReason {
    /// The object has no document yet.
    New,
    /// The object is another one than its document holds.
    Changed,
    /// Nothing at hand tells whether the document still holds the object: a stale secret is worse than one commit.
    Unproven,
    /// The document was plain text (SE-7).
    Replaced,
}

impl SealReason {
    /// Returns the text that metrics use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Changed => "changed",
            Self::Unproven => "unproven",
            Self::Replaced => "replaced",
        }
    }
}

/// A field that an autoscaler sets, and that the document keeps as a person wrote it (D27a).
#[derive(Debug, Clone, PartialEq)]
pub struct Scaled {
    /// The object.
    pub id: ResourceId,
    /// The document's file.
    pub path: RepoPath,
    /// The field, such as `spec.replicas`.
    pub field: String,
    /// The manager that the autoscaler writes as.
    pub manager: String,
    /// What the document says.
    pub held: Value,
    /// What the object says.
    pub live: Value,
}

/// How many objects met each fate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// The folder already says it.
    pub unchanged: usize,
    /// Documents that are edited.
    pub edited: usize,
    /// Documents that are new.
    pub created: usize,
    /// Documents that are taken out.
    pub removed: usize,
    /// Documents that stay although their object is gone.
    pub retained: usize,
    /// Objects of another applier.
    pub left_out: usize,
    /// Objects that are not written.
    pub refused: usize,
    /// Documents that are encrypted; they are counted above as well.
    pub sealed: usize,
    /// Objects with a field that an autoscaler has taken over; they are counted above as well.
    pub scaled: usize,
}

impl FolderFacts {
    /// Counts a document in.
    pub(crate) fn add(&mut self, document: &Document) {
        self.adjust(document, |count| *count += 1);
    }

    /// Counts a document out.
    pub(crate) fn subtract(&mut self, document: &Document) {
        self.adjust(document, |count| *count -= 1);
    }

    fn adjust(&mut self, document: &Document, adjust: impl Fn(&mut usize)) {
        adjust(&mut self.documents);
        match document.join {
            Join::UnknownKind => adjust(&mut self.unknown_kinds),
            Join::NoNamespace => adjust(&mut self.without_namespace),
            Join::Object(_) | Join::NoObject => {}
        }
        if document.encrypted {
            adjust(&mut self.encrypted);
        }
    }
}

impl FolderVerdict {
    /// Says whether the folder may be written.
    pub fn is_accepted(&self) -> bool {
        match self {
            Self::Accepted(_) => true,
            Self::Refused(_) => false,
        }
    }

    /// Returns the issues of a refused folder.
    pub fn issues(&self) -> &[Refusal] {
        match self {
            Self::Accepted(_) => &[],
            Self::Refused(issues) => issues,
        }
    }
}

/// Says whether an object is refused because a list of files could not be changed (RG-5).
fn is_of_list(refusal: &Refusal) -> bool {
    let field = refusal.at.as_ref().and_then(|at| at.field.as_deref());
    refusal.issue == Some(IssueKind::NonEditableDocument) && field == Some(RESOURCES)
}

impl Outcome {
    /// Says how each new document's file came to be listed by a kustomization; nothing where none governs the folder.
    pub fn listings(&self) -> Vec<Listing> {
        if self.layout == Layout::Plain {
            return Vec::new();
        }
        let mut files = BTreeSet::new();
        let mut listings = Vec::new();
        for decided in &self.decisions {
            match &decided.decision {
                Decision::Created { path, .. } if files.insert(path) => {
                    listings.push(match self.edits_list_of(path) {
                        true => Listing::Added,
                        false => Listing::NoChange,
                    });
                }
                Decision::Refused(refusal) if is_of_list(refusal) => listings.push(Listing::Failed),
                _ => {}
            }
        }
        listings
    }

    /// Says whether a kustomization above a file is edited.
    fn edits_list_of(&self, file: &RepoPath) -> bool {
        self.edits.iter().any(|edit| {
            let (folder, path) = (edit.path.parent(), edit.path.as_str());
            let name = path.rsplit('/').next().unwrap_or(path);
            FILE_NAMES.contains(&name) && folder.contains(file)
        })
    }

    /// Returns the refusals of single objects, by identity.
    pub fn refusals(&self) -> impl Iterator<Item = &Refusal> {
        self.decisions
            .iter()
            .filter_map(|decision| match &decision.decision {
                Decision::Refused(refusal) => Some(&**refusal),
                Decision::NoChange
                | Decision::Edited { .. }
                | Decision::Created { .. }
                | Decision::Removed { .. }
                | Decision::Retained { .. }
                | Decision::LeftOut { .. } => None,
            })
    }

    /// Counts what became of the objects.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts {
            sealed: self.sealed.len(),
            scaled: self.scaled.len(),
            ..Counts::default()
        };
        for one in &self.decisions {
            let count = match one.decision {
                Decision::NoChange => &mut counts.unchanged,
                Decision::Edited { .. } => &mut counts.edited,
                Decision::Created { .. } => &mut counts.created,
                Decision::Removed { .. } => &mut counts.removed,
                Decision::Retained { .. } => &mut counts.retained,
                Decision::LeftOut { .. } => &mut counts.left_out,
                Decision::Refused(_) => &mut counts.refused,
            };
            *count += 1;
        }
        counts
    }

    /// The outcome that does nothing, for an accepted folder.
    pub(crate) fn nothing() -> Self {
        Self {
            folder: FolderVerdict::Accepted(FolderFacts::default()),
            layout: Layout::default(),
            edits: Vec::new(),
            decisions: Vec::new(),
            decided: DecidedActions::default(),
            retained: Vec::new(),
            sealed: Vec::new(),
            scaled: Vec::new(),
            explanations: Explanations::default(),
            stands_alone: false,
        }
    }

    /// Says whether committing this outcome would change nothing.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// Returns the unified diff of all edits against the tree that was planned on.
    ///
    /// # Errors
    /// Returns the content that could not be read.
    pub fn diff(&self, tree: FileTree<'_>) -> Result<String, ReadError> {
        preview::diff(tree, &self.edits)
    }
}

impl std::fmt::Debug for FileContent {
    /// Shows the size only: a mirrored object's content does not belong in a log.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Plain(bytes) => write!(f, "Plain({} bytes)", bytes.len()),
            Self::Sealed(bytes) => bytes.fmt(f),
            Self::Removed => f.write_str("Removed"),
        }
    }
}
