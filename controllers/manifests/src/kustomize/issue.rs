//! Why a kustomization is not rendered, by the name of the feature.

use std::fmt;

use model::files::ReadError;
use model::{Actor, IssueKind, Location, Refusal, RefusalCode, RefusalScope, RepoPath};

/// The part of kustomize that stands in the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Feature {
    /// The file is not a kustomization that kustomize would read.
    Unparseable,
    /// An `images:` entry that means nothing.
    Images,
    /// A `replicas:` entry that means nothing.
    Replicas,
    /// A patch file that is missing or lies outside of the repository.
    PatchesOutsideTree,
    /// Any other reason for which kustomize would not build it.
    RenderFailed,
    /// A patch that stands in the kustomization itself.
    PatchesInline,
    /// A patch that is a list of JSON operations.
    PatchesJson6902,
    /// A generator whose result has a hash in its name, or that changes another object.
    ConfigMapGenerator,
    /// A reference that leads out of the repository.
    RemoteBase,
    /// Another field, by its own key.
    Field(&'static str),
}

impl Feature {
    /// Returns the name that messages use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unparseable => "unparseable",
            Self::Images => "images",
            Self::Replicas => "replicas",
            Self::PatchesOutsideTree => "patches-outside-tree",
            Self::RenderFailed => "render-failed",
            Self::PatchesInline => "patches-inline",
            Self::PatchesJson6902 => "patches-json6902",
            Self::ConfigMapGenerator => "configMapGenerator",
            Self::RemoteBase => "remote-base",
            Self::Field(key) => key,
        }
    }
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One reason for which a kustomization is not rendered.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Issue {
    /// Where it is.
    pub at: Location,
    /// What stands in the way.
    pub feature: Feature,
    /// Who can change that.
    pub actor: Actor,
    /// What happened, for a person.
    pub message: String,
    /// What to do next, for that person.
    pub remedy: String,
}

impl Issue {
    /// Makes an issue that whoever edits the files can settle.
    pub(crate) fn of_author(
        feature: Feature,
        at: Location,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            at,
            feature,
            actor: Actor::Author,
            message: message.into(),
            remedy: remedy.into(),
        }
    }

    /// Returns the issue as a refusal of the folder.
    pub fn refusal(&self) -> Refusal {
        Refusal {
            code: RefusalCode::UnsupportedContent,
            issue: Some(IssueKind::UnsupportedKustomize),
            scope: RefusalScope::Folder,
            object: None,
            at: Some(self.at.clone()),
            actor: self.actor,
            message: format!("{}: {}", self.feature, self.message),
            remedy: self.remedy.clone(),
        }
    }
}

impl fmt::Display for Issue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.refusal().fmt(f)
    }
}

/// A build without a result.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The files are not rendered, and every reason that was found; there is at least one.
    #[error("the kustomization is not rendered: {}", listed(.0))]
    Refused(Vec<Issue>),
    /// A file could not be read; the next try may succeed.
    #[error("a file of the build cannot be read")]
    Unreadable(#[from] ReadError),
}

impl From<Issue> for BuildError {
    fn from(issue: Issue) -> Self {
        Self::Refused(vec![issue])
    }
}

impl From<Box<Issue>> for BuildError {
    fn from(issue: Box<Issue>) -> Self {
        Self::from(*issue)
    }
}

fn listed(issues: &[Issue]) -> String {
    let issues: Vec<String> = issues.iter().map(Issue::to_string).collect();
    issues.join(", ")
}

/// Names a place in a file.
pub(crate) fn location(path: &RepoPath, line: u32, field: Option<String>) -> Location {
    Location {
        path: path.clone(),
        line: Some(line),
        field,
    }
}
