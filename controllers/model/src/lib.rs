//! The vocabulary that every other crate shares.
//!
//! Holds names, paths, resource identities, sanitised objects, authors, deliveries, shapes of folders and refusals. It decides
//! only what a value *means* (is this a legal path, is this object intended by a person); it does not
//! know Git, Kubernetes clients, files or time. Read [`name`] and [`path`] first, then [`resource`],
//! [`object`] and [`delivery`]; [`refusal`] is what the domain answers when it says no.

pub mod author;
pub mod delivery;
pub mod files;
pub mod layout;
pub mod name;
pub mod object;
pub mod path;
pub mod refusal;
pub mod repository_url;
pub mod resource;
pub mod sanitize;
pub mod secret;
pub mod selector;
pub mod time;

pub use author::{Author, Identity, Signature};
pub use delivery::{Change, Delivery, Operation, Snapshot};
pub use files::{
    Content, ContentId, Contents, Directory, FileChange, FileEntry, FileTree, Files, FilesInMemory,
    Node, ReadError,
};
pub use layout::{Layout, LayoutMode, RenderRoot};
pub use name::{
    BranchName, CommitId, GitBranchKey, GitProviderKey, InvalidName, KubeProviderKey, Namespace,
    ObjectName, RuleKey, TargetKey, Uid,
};
pub use object::{
    ApplierOwner, DesiredObject, FilledField, Filler, LeftOut, LiveObject, ObjectDigest,
    WithheldField,
};
pub use path::{FolderPath, InvalidPath, RepoPath};
pub use refusal::{Actor, IssueKind, Location, Refusal, RefusalCode, RefusalScope};
pub use repository_url::{InvalidUrl, RepositoryId, RepositoryUrl, Scheme};
pub use resource::{Collection, ResourceId, Scope, Sensitivity, ServedType, TypeId};
pub use secret::Secret;
pub use selector::Selector;
pub use time::{Millis, Now};
