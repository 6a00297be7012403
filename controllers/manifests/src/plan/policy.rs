//! What a target's configuration says about writing.

use std::sync::Arc;

use model::{ApplierOwner, FolderPath};
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
    /// The applier that holds the folder, if one does: objects of another one are left alone (PJ-9).
    pub applier: Option<Applier>,
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
            applier: None,
            catalog: catalog.into(),
            defaults: Defaults::builtin(),
            bootstrap: false,
        }
    }
}

/// Who applies a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Applier {
    /// A Flux `Kustomization`.
    Flux {
        /// Its namespace.
        namespace: String,
        /// Its name.
        name: String,
    },
    /// An Argo CD `Application`.
    ArgoCd {
        /// Its namespace.
        namespace: String,
        /// Its name.
        name: String,
    },
}

impl Applier {
    /// Reads `KIND/NAMESPACE/NAME`.
    ///
    /// # Errors
    /// Returns what should have been written.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let parts: Vec<&str> = text.split('/').collect();
        match parts[..] {
            ["Kustomization", namespace, name] if !namespace.is_empty() && !name.is_empty() => {
                Ok(Self::Flux {
                    namespace: namespace.to_owned(),
                    name: name.to_owned(),
                })
            }
            ["Application", namespace, name] if !namespace.is_empty() && !name.is_empty() => {
                Ok(Self::ArgoCd {
                    namespace: namespace.to_owned(),
                    name: name.to_owned(),
                })
            }
            _ => Err("write Kustomization/NAMESPACE/NAME or Application/NAMESPACE/NAME"),
        }
    }

    /// Says whether an object that carries this owner belongs to the applier. Argo CD writes the name alone, or
    /// the namespace before it where applications live in several.
    pub(crate) fn owns(&self, owner: &ApplierOwner) -> bool {
        match (self, owner) {
            (
                Self::Flux { namespace, name },
                ApplierOwner::Flux {
                    namespace: of,
                    name: called,
                },
            ) => namespace == of && name == called,
            (Self::ArgoCd { namespace, name }, ApplierOwner::ArgoCd { tracking_id }) => {
                let instance = tracking_id.split(':').next().unwrap_or_default();
                instance == name || instance == format!("{namespace}_{name}")
            }
            (Self::Flux { .. } | Self::ArgoCd { .. }, _) => false,
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
    /// The edits will be shown, and each refusal is explained with what it leaves out.
    Explain,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pj_9_an_applier_knows_its_objects() {
        let flux = Applier::parse("Kustomization/flux-system/apps").unwrap();
        let argo = Applier::parse("Application/argocd/apps").unwrap();
        let of_flux = |name: &str| ApplierOwner::Flux {
            namespace: "flux-system".to_owned(),
            name: name.to_owned(),
        };
        let of_argo = |instance: &str| ApplierOwner::ArgoCd {
            tracking_id: format!("{instance}:apps/Deployment:team-a/web"),
        };
        assert!(flux.owns(&of_flux("apps")) && !flux.owns(&of_flux("other")));
        assert!(argo.owns(&of_argo("apps")) && argo.owns(&of_argo("argocd_apps")));
        assert!(!argo.owns(&of_argo("other_apps")) && !argo.owns(&of_flux("apps")));
        for wrong in [
            "apps",
            "Kustomization/apps",
            "Helm/a/b",
            "Application//x",
            "Kustomization/a/b/c",
        ] {
            assert!(Applier::parse(wrong).is_err(), "{wrong}");
        }
    }
}
