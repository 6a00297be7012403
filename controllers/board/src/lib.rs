//! The notice board: what each actor last published.
//!
//! An actor owns its state and publishes immutable values; everybody else reads the last one and can never
//! reach the actor through it. Read [`publish`] first (one writer, many readers, wake-ups mean change), then
//! [`directory`] (who publishes at the moment) and the views themselves: [`branch_view`] and
//! [`source_view`].
//!
//! [`metrics`] is here for the same reason: what an actor counts is read by others without reaching the
//! actor, and a gauge about an actor is read from its view at the moment of a scrape. Every crate that
//! counts something lies above this one.

pub mod branch_view;
pub mod directory;
pub mod metrics;
pub mod publish;
pub mod source_view;

pub use branch_view::{
    BaseView, BranchView, CollectionProgress, FolderState, IntakeState, JournalState, LayoutView,
    ParentState, ParentView, PendingView, ProvedBy, Publication, PublicationFault, PushView,
    Retention, TargetView, WindowView,
};
pub use directory::{BranchEntry, Directory, DirectoryReader, DirectoryWriter, SourceEntry};
pub use publish::{Publisher, Reader};
pub use source_view::{
    ApiHealth, RuleResolution, SourceView, StreamState, StreamView, TargetStreams,
};
