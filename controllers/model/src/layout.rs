//! What shape a folder has for whoever writes it.

use std::slice;

use serde::{Deserialize, Serialize};

use crate::path::FolderPath;

/// Which kustomization governs the new documents of a folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Layout {
    /// None: files are written as they are. Kustomizations that only lead in circles govern nothing either; the
    /// folder is refused for those.
    #[default]
    Plain,
    /// One.
    Kustomized(RenderRoot),
    /// Several, in the order of their paths, and nothing says for which of them a new document would be.
    Ambiguous {
        /// The folders of the kustomizations, from the root of the repository.
        roots: Vec<FolderPath>,
    },
}

/// A kustomization that no other one of a target's folder reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RenderRoot {
    /// Its folder, from the root of the repository.
    pub folder: FolderPath,
    /// Its folder, from the target's folder; `.` is that folder itself.
    pub below: String,
    /// What the build reads outside of the target's folder: each directory once, as the kustomization's own
    /// `resources:` spell it, or as it is reached from the kustomization.
    pub read_only_bases: Vec<String>,
}

/// How a folder is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayoutMode {
    /// Files, without a kustomization.
    Plain,
    /// A kustomization that owns what it renders.
    KustomizeRoot,
    /// A kustomization that renders bases outside of the folder.
    KustomizeOverlay,
}

impl Layout {
    /// Returns how the folder is written; several render roots have no single answer.
    pub fn mode(&self) -> Option<LayoutMode> {
        match self {
            Self::Plain => Some(LayoutMode::Plain),
            Self::Kustomized(root) if root.read_only_bases.is_empty() => {
                Some(LayoutMode::KustomizeRoot)
            }
            Self::Kustomized(_) => Some(LayoutMode::KustomizeOverlay),
            Self::Ambiguous { .. } => None,
        }
    }

    /// Returns the one render root, where there is one.
    pub fn render_root(&self) -> Option<&RenderRoot> {
        match self {
            Self::Kustomized(root) => Some(root),
            Self::Plain | Self::Ambiguous { .. } => None,
        }
    }

    /// Returns the folders of all render roots, from the root of the repository.
    pub fn roots(&self) -> &[FolderPath] {
        match self {
            Self::Plain => &[],
            Self::Kustomized(root) => slice::from_ref(&root.folder),
            Self::Ambiguous { roots } => roots,
        }
    }
}

impl LayoutMode {
    /// Returns the word that a status uses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Plain => "Plain",
            Self::KustomizeRoot => "KustomizeRoot",
            Self::KustomizeOverlay => "KustomizeOverlay",
        }
    }
}
