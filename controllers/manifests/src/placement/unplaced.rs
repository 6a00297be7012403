//! Why a new document has no place, each with the reason that placements are counted by (RF-4).

use model::{Actor, Location, Refusal, RefusalCode, RefusalScope, RepoPath, ResourceId};

/// The reason for which a new document is not written. The rest of its batch is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unplaced {
    /// No file can have the path.
    #[error("the path {path} cannot be written: {problem}")]
    InvalidPath {
        /// The path as far as it could be made, from the root of the repository.
        path: String,
        /// What is wrong with it.
        problem: String,
        /// The field of the configuration that asked for it.
        field: Option<String>,
    },
    /// A sensitive object would get a path that it may have to share.
    #[error(
        "{field} can give one file to several objects, and a sensitive object never shares one"
    )]
    SharedTemplate {
        /// The field of the configuration that asked for it.
        field: String,
    },
    /// A sensitive object would join a file.
    #[error("the file {path} is taken, and a sensitive object never joins one")]
    SensitiveAppend {
        /// The file.
        path: RepoPath,
    },
    /// A plain object would join an encrypted file.
    #[error("the file {path} is an encrypted one, and a plain document never joins it")]
    PlaintextOntoEncrypted {
        /// The file.
        path: RepoPath,
    },
    /// Sensitive and plain objects would begin one file together.
    #[error("sensitive and plain objects would share the new file {path}")]
    MixedSensitivityNewFile {
        /// The file.
        path: RepoPath,
    },
    /// The file cannot take another document.
    #[error("the file {path} cannot take another document without loss")]
    MultiDocumentTarget {
        /// The file.
        path: RepoPath,
    },
}

impl Unplaced {
    /// Returns the reason that metrics count.
    pub fn code(&self) -> RefusalCode {
        match self {
            Self::InvalidPath { .. } => RefusalCode::InvalidPath,
            Self::SharedTemplate { .. } | Self::SensitiveAppend { .. } => {
                RefusalCode::SensitiveAppend
            }
            Self::PlaintextOntoEncrypted { .. } => RefusalCode::PlaintextOntoEncrypted,
            Self::MixedSensitivityNewFile { .. } => RefusalCode::MixedSensitivityNewFile,
            Self::MultiDocumentTarget { .. } => RefusalCode::MultiDocumentTarget,
        }
    }

    /// Words the refusal of an object.
    pub fn refusal(&self, id: &ResourceId) -> Refusal {
        let path = match self {
            Self::InvalidPath { path, .. } => RepoPath::new(path.as_str()).ok(),
            Self::SharedTemplate { .. } => None,
            Self::SensitiveAppend { path }
            | Self::PlaintextOntoEncrypted { path }
            | Self::MixedSensitivityNewFile { path }
            | Self::MultiDocumentTarget { path } => Some(path.clone()),
        };
        Refusal {
            code: self.code(),
            issue: None,
            scope: RefusalScope::Placement,
            object: Some(id.clone()),
            at: path.map(|path| Location {
                path,
                line: None,
                field: None,
            }),
            actor: Actor::Platform,
            message: format!("{id} has no place: {self}"),
            remedy: self.remedy(),
        }
    }

    fn remedy(&self) -> String {
        let own_route = "give its type a template in spec.placement.byType";
        match self {
            Self::InvalidPath {
                field: Some(field), ..
            } => format!("change {field}, or write the document by hand where it should live"),
            Self::InvalidPath { field: None, .. } | Self::MultiDocumentTarget { .. } => {
                format!("{own_route}, or write the document by hand where it should live")
            }
            Self::SharedTemplate { .. } | Self::SensitiveAppend { .. } => {
                format!("{own_route} with {{namespace}} and {{name}}")
            }
            Self::PlaintextOntoEncrypted { .. } | Self::MixedSensitivityNewFile { .. } => {
                format!("{own_route} that keeps encrypted and plain documents apart")
            }
        }
    }
}
