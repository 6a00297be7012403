//! What can be wrong with the configuration of a GitTarget, and what to do about it.

use model::{FolderPath, GitBranchKey, KubeProviderKey, Namespace, Refusal, TargetKey};

use crate::wording::joined;

/// What is wrong with the configuration of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetProblem {
    /// The GitBranch does not exist.
    GitBranchNotFound(GitBranchKey),
    /// The KubeProvider does not exist.
    KubeProviderNotFound(KubeProviderKey),
    /// A grant does not admit the target.
    NotAuthorized(Box<Refusal>),
    /// Another namespace holds the KubeProvider's audit route.
    AuditRouteConflict {
        /// The provider.
        provider: KubeProviderKey,
        /// The namespace that holds its route.
        holder: Namespace,
    },
    /// An older target has the folder, or one above or below it.
    PathConflict {
        /// The other target.
        with: TargetKey,
        /// Its folder.
        path: FolderPath,
    },
    /// Templates, windows or placement that cannot work, one text for each.
    InvalidConfig(Vec<String>),
}

impl TargetProblem {
    /// Returns the reason of `Validated`.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::GitBranchNotFound(_) => "GitBranchNotFound",
            Self::KubeProviderNotFound(_) => "KubeProviderNotFound",
            Self::NotAuthorized(refusal) => refusal.code.as_str(),
            Self::AuditRouteConflict { .. } => "AuditRouteConflict",
            Self::PathConflict { .. } => "TargetConflict",
            Self::InvalidConfig(_) => "InvalidConfig",
        }
    }

    /// Returns what is wrong, with the next step.
    pub fn message(&self) -> String {
        match self {
            Self::GitBranchNotFound(key) => {
                format!(
                    "GitBranch {key} does not exist; create it, and this target goes on by itself"
                )
            }
            Self::KubeProviderNotFound(key) => {
                format!(
                    "KubeProvider {key} does not exist; create it, and this target goes on by itself"
                )
            }
            Self::NotAuthorized(refusal) => format!("{}; {}", refusal.message, refusal.remedy),
            Self::AuditRouteConflict { provider, holder } => format!(
                "the audit route of KubeProvider {provider} is held by namespace \"{holder}\"; give the \
                 provider a route of its own in spec.attribution.auditRoute"
            ),
            Self::PathConflict { with, path } => format!(
                "GitTarget {with} is older and writes \"{path}\" on the same GitBranch; choose a path that is \
                 neither the same nor nested, or delete one of the two"
            ),
            Self::InvalidConfig(problems) => joined(problems),
        }
    }
}
