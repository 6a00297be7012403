//! The virtual kinds of `views.configbutler.ai/v1alpha1`, computed from the notice board.
//!
//! A view is a projection of what actors published; it stores nothing and reaches no actor, so a reader
//! can neither block nor change anything. [`Projector`] is the one task that projects, whenever the board
//! changes; requests are served from what it last published. [`branch_status`] is the first of the kinds.

pub mod branch_status;
mod projector;
mod time;

use std::sync::Arc;

use aggregation::{ApiGroup, Resource};

pub use projector::{Projector, Views};

/// The API group of the views.
pub const GROUP: &str = "views.configbutler.ai";
/// The version of the views.
pub const VERSION: &str = "v1alpha1";

/// Gathers the views into the group that is served.
pub fn group(views: &Views) -> ApiGroup {
    let branch_status = branch_status::BranchStatuses::new(views.branch_statuses.clone());
    ApiGroup::new(
        GROUP,
        VERSION,
        vec![Arc::new(branch_status) as Arc<dyn Resource>],
    )
}
