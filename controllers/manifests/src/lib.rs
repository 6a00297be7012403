//! Folders of manifests: read them, judge them, and plan which bytes change when objects change.
//!
//! Everything here is a pure function over values: no file system, no Git, no cluster, no clock. A plan takes
//! the files of one commit, what is wanted and how a target wants it, and answers with new bytes or a refusal;
//! the caller commits. It does not watch or commit, and encrypts through `sealing` only.
//!
//! The pipeline, in reading order: [`yaml`] reads and edits text without disturbing it; [`folder`] gives every
//! file a role and every document an identity, and accepts or refuses the whole, without what [`ignore`] rules hide;
//! [`kustomize`] renders builds;
//! [`placement`] says where a new document goes; `fidelity` finds what an applier fills in; [`plan`](mod@plan) joins
//! wishes with documents and makes the edits; [`preview`] shows them.

mod fidelity;
pub mod folder;
pub mod ignore;
pub mod kustomize;
pub mod placement;
pub mod plan;
pub mod preview;
pub mod yaml;

pub use folder::{Folder, TypeCatalog};
pub use placement::Placement;
pub use plan::{
    DecidedActions, Decision, Encryption, FileContent, FileEdit, FolderVerdict, Intent, Mode,
    Outcome, Policy, PruneMode, Sealing, plan,
};
