//! What a target's configuration says about writing.

use std::sync::Arc;

use model::FolderPath;
use serde::{Deserialize, Serialize};

use crate::folder::TypeCatalog;
use crate::placement::Placement;
use crate::plan::Defaults;

/// How a target wants its folder written. Built with [`Policy::new`] and then adjusted, because settings are
/// added as the planner learns more (placement templates, kustomize, appliers).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Policy {
    /// The folder that is written; nothing outside it ever is.
    pub folder: FolderPath,
    /// Which absences remove a document.
    pub prune: PruneMode,
    /// Whether documents carry their namespace; unset decides for each document.
    pub serialize_namespace: Option<bool>,
    /// Where documents of new objects go.
    pub placement: Placement,
    /// The kinds that documents can be joined with.
    pub catalog: Arc<TypeCatalog>,
    /// The values that the API server fills in by itself.
    pub defaults: Defaults,
    /// Whether a first write into a folder that is missing or empty also brings `README.md` and
    /// `.gittargetignore` (D57). An adopted folder never gets them.
    pub bootstrap: bool,
}

impl Policy {
    /// Starts with what a target without any settings gets.
    pub fn new(folder: FolderPath, catalog: impl Into<Arc<TypeCatalog>>) -> Self {
        Self {
            folder,
            prune: PruneMode::default(),
            serialize_namespace: None,
            placement: Placement::default(),
            catalog: catalog.into(),
            defaults: Defaults::builtin(),
            bootstrap: false,
        }
    }
}

/// Which absences remove a document (DL-1).
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum PruneMode {
    /// Nothing is removed.
    Never,
    /// An observed removal removes the document.
    #[default]
    OnEvent,
    /// Absence from a complete snapshot removes it too.
    Always,
}

impl PruneMode {
    /// Returns the word that the configuration and status use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Never => "Never",
            Self::OnEvent => "OnEvent",
            Self::Always => "Always",
        }
    }
}

/// What the caller does with the outcome. The planning is the same, so a preview cannot drift from the deed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The edits will be committed.
    Apply,
    /// Only the folder is judged; intents are not looked at.
    Inspect,
    /// The edits will be shown.
    Preview,
}
