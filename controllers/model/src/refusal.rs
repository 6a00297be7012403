//! What the domain answers when it says no.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::path::RepoPath;
use crate::resource::ResourceId;

/// Declares a closed vocabulary with the text that conditions, metrics and JSON use.
macro_rules! vocabulary {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $text)] $variant),+
        }

        impl $name {
            /// Every value, in the order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Returns the text that conditions, metrics and JSON use.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

vocabulary!(
    /// Why something was refused. The text is the reason of the condition that reports it, or the label of
    /// the metric that counts it; this table is the only place that knows.
    RefusalCode {
        /// The folder holds content that cannot be managed safely.
        UnsupportedContent = "UnsupportedContent",
        /// A path about to be written is hidden by `.gittargetignore`.
        IgnoreShadowsManagedPath = "IgnoreShadowsManagedPath",
        /// One edit has no legal place to land.
        WriteBoundaryRefused = "WriteBoundaryRefused",
        /// The folder covers several render roots, so a new document has no single home.
        AmbiguousLayout = "AmbiguousLayout",
        /// A namespace-free folder is fed from several namespaces.
        MultipleSourceNamespaces = "MultipleSourceNamespaces",
        /// A declared path lies outside the folder's render root.
        UnrenderedPlacement = "UnrenderedPlacement",
        /// A substitution token in Git stands where the live object has a value.
        RenderDoesNotMatchLive = "RenderDoesNotMatchLive",
        /// A sensitive object and no encryption to write it with.
        EncryptionNotConfigured = "EncryptionNotConfigured",
        /// The kind is not known.
        UnknownType = "UnknownType",
        /// A placement leaves the folder or is no legal path.
        InvalidPath = "invalid_path",
        /// A sensitive object would join an existing file.
        SensitiveAppend = "sensitive_append",
        /// A plaintext object would join an encrypted file.
        PlaintextOntoEncrypted = "plaintext_onto_encrypted",
        /// Sensitive and plaintext objects meet on one new file.
        MixedSensitivityNewFile = "mixed_sensitivity_new_file",
        /// The file cannot take another document without loss.
        MultiDocumentTarget = "multi_document_target",
        /// No grant admits the namespace.
        NamespaceNotAuthorized = "NamespaceNotAuthorized",
        /// No grant gives the branch.
        BranchNotAllowed = "BranchNotAllowed",
        /// No grant gives the source namespace.
        SourceNamespaceNotAllowed = "SourceNamespaceNotAllowed",
        /// No grant gives the cluster-scoped type.
        ClusterResourceNotAllowed = "ClusterResourceNotAllowed",
        /// No grant gives the applier's namespace.
        ApplierNamespaceNotAllowed = "ApplierNamespaceNotAllowed",
    }
);

vocabulary!(
    /// What exactly is wrong, finer than the code (`manifests.md` A4).
    IssueKind {
        /// Two documents claim one identity.
        DuplicateIdentity = "duplicate-identity",
        /// A managed file also holds something that is no document.
        ImpureManagedFile = "impure-managed-file",
        /// A YAML file that is no Kubernetes document and has no other role.
        NonKrmYaml = "non-krm-yaml",
        /// YAML that does not parse.
        InvalidYaml = "invalid-yaml",
        /// A Kubernetes object inside a build directive.
        MixedManagedAllowlisted = "mixed-managed-allowlisted",
        /// A kustomization that is not understood.
        UnsupportedKustomize = "unsupported-kustomize",
        /// A file in no recognised role.
        ForeignFile = "foreign-file",
        /// A symbolic link where content is expected.
        ForeignSymlink = "foreign-symlink",
        /// A submodule.
        ForeignSubmodule = "foreign-submodule",
        /// The ignore rules hide a managed path.
        IgnoreShadowsManaged = "ignore-shadows-managed",
        /// A write would leave the folder.
        WriteEscapesScope = "write-escapes-scope",
        /// A file is read by several builds.
        WriteFanIn = "write-fan-in",
        /// The build with the write applied is not what is wanted.
        KustomizeRenderRefused = "kustomize-render-refused",
        /// A list element has no counterpart in the source.
        UnplaceableEdit = "unplaceable-edit",
        /// A substitution token differs from the live value.
        RenderDoesNotMatchLive = "render-does-not-match-live",
        /// The document cannot be edited without risk.
        NonEditableDocument = "non-editable-document",
        /// A delete would leave a build entry with nothing to match.
        OrphansBuildEntry = "orphans-build-entry",
        /// A sensitive object would be written in plaintext.
        PlaintextSensitive = "plaintext-sensitive",
        /// A kind that nothing knows.
        UnresolvedKrm = "unresolved-krm",
        /// A known type in the wrong namespace.
        OutOfScope = "out-of-scope",
    }
);

vocabulary!(
    /// What the refusal stops.
    RefusalScope {
        /// Every write into the folder.
        Folder = "folder",
        /// The one object.
        Object = "object",
        /// The placement of one new object.
        Placement = "placement",
        /// The target's configuration.
        Target = "target",
    }
);

vocabulary!(
    /// Who can lift the refusal.
    Actor {
        /// Whoever edits the files in Git.
        Author = "author",
        /// Whoever configures targets, grants and encryption.
        Platform = "platform",
        /// Nobody yet: it needs a feature.
        Nobody = "nobody",
    }
);

/// Where in the repository something stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Location {
    /// The file, from the root of the repository.
    pub path: RepoPath,
    /// The line, counted from 1.
    pub line: Option<u32>,
    /// The field, such as `spec.replicas`.
    pub field: Option<String>,
}

/// A refusal: a result, not an error. Its texts never hold content of an object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Refusal {
    /// The reason that conditions and metrics use.
    pub code: RefusalCode,
    /// What exactly is wrong.
    pub issue: Option<IssueKind>,
    /// What it stops.
    pub scope: RefusalScope,
    /// The object that could not be written.
    pub object: Option<ResourceId>,
    /// Where the cause stands.
    pub at: Option<Location>,
    /// Who can lift it.
    pub actor: Actor,
    /// What happened, for a person.
    pub message: String,
    /// What to do next, for that person.
    pub remedy: String,
}

impl fmt::Display for Refusal {
    /// Prints one line: issue, object, place, message and remedy.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.issue {
            Some(issue) => write!(f, "{issue}: ")?,
            None => write!(f, "{}: ", self.code)?,
        }
        if let Some(at) = &self.at {
            write!(f, "{}", at.path)?;
            if let Some(line) = at.line {
                write!(f, ":{line}")?;
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.message)?;
        if self.remedy.is_empty() {
            Ok(())
        } else {
            write!(f, "; {}", self.remedy)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_prints_what_where_and_what_next() {
        let refusal = Refusal {
            code: RefusalCode::UnsupportedContent,
            issue: Some(IssueKind::InvalidYaml),
            scope: RefusalScope::Folder,
            object: None,
            at: Some(Location {
                path: RepoPath::new("apps/a.yaml").unwrap(),
                line: Some(3),
                field: None,
            }),
            actor: Actor::Author,
            message: "the file does not parse".to_owned(),
            remedy: "repair it, or list it in .gittargetignore".to_owned(),
        };
        assert_eq!(
            refusal.to_string(),
            "invalid-yaml: apps/a.yaml:3: the file does not parse; repair it, or list it in .gittargetignore"
        );
        let json = serde_json::to_value(&refusal).unwrap();
        assert_eq!(json["issue"], "invalid-yaml");
        assert_eq!(json["code"], "UnsupportedContent");
    }
}
