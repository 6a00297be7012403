//! What the folder of a GitTarget resolved to, and since when. Pure.

use board::LayoutView;
use crds::git_target::{PlacementMode, PlacementStatus};
use model::Layout;

use super::gates;
use super::observe::Observed;
use crate::convert::times;

/// Returns what the branch writer found out about the folder.
pub(super) fn known(observed: &Observed) -> Option<&LayoutView> {
    gates::target_view(observed)?.layout.as_ref()
}

/// Returns the stanza of the status. A branch writer that only looked for the first time does not know how long
/// the folder has been so; what the status says about that stands as long as the rest of it does (RF-5).
pub(super) fn placement(
    observed: &Observed,
    before: Option<PlacementStatus>,
) -> Option<PlacementStatus> {
    let Some(known) = known(observed) else {
        return before;
    };
    let resolved = PlacementStatus {
        resolved_at_commit: known.commit.as_ref().map(ToString::to_string),
        resolved_at: Some(times::time(known.changed_at.unwrap_or(observed.now))),
        ..resolution(&known.layout)
    };
    let stands = |before: &PlacementStatus| {
        let undated = PlacementStatus {
            resolved_at_commit: None,
            resolved_at: None,
            ..before.clone()
        };
        let is_dated = before.resolved_at.is_some()
            && (before.resolved_at_commit.is_some() || known.commit.is_none());
        known.changed_at.is_none() && is_dated && undated == resolution(&known.layout)
    };
    before.filter(stands).or(Some(resolved))
}

/// Spells a layout, without since when it is so.
fn resolution(layout: &Layout) -> PlacementStatus {
    let root = layout.render_root();
    let bases = root.map(|root| root.read_only_bases.clone());
    PlacementStatus {
        mode: layout
            .mode()
            .and_then(|mode| PlacementMode::from_word(mode.as_str())),
        render_root: root.map(|root| root.below.clone()),
        read_only_bases: bases.filter(|bases| !bases.is_empty()),
        ..PlacementStatus::default()
    }
}
