//! What readers may know of the machine, derived from its state and from nothing else.

use board::{
    BaseView, BranchView, FolderState, JournalState, PendingView, Publication, TargetView,
    WindowView,
};
use model::{Millis, Now, TargetKey};

use crate::state::{BranchState, Draft, DraftKind, OpenWindow, RetryClock, TargetState};

pub(crate) fn view(state: &BranchState) -> BranchView {
    let identity = state.identity();
    BranchView {
        key: identity.key.clone(),
        repository: identity.repository.clone(),
        branch: identity.branch.clone(),
        base: state.base().map(|base| BaseView {
            commit: base.commit.clone(),
            proved_at: base.proved_at.wall,
            proved_by: base.proved_by,
            parent: base.parent.clone(),
        }),
        foreign: state.foreign().cloned(),
        window: state.open_window().map(window),
        pending: pending(state),
        queued: state
            .drafts()
            .iter()
            .map(|draft| unpublished_objects(draft))
            .sum(),
        buffered_bytes: state.buffered(),
        publication: publication(state),
        intake: state.intake(),
        journal: JournalState::Off,
        last_push: state.last_push().cloned(),
        targets: state
            .targets()
            .all()
            .map(|(key, target)| (key.clone(), target_view(state, key, target)))
            .collect(),
    }
}

fn window(window: &OpenWindow) -> WindowView {
    WindowView {
        author: window.author().clone(),
        target: window.target().clone(),
        entries: window.entries(),
        opened_at: window.opened_at().wall,
        closes_at: wall_at(window.opened_at(), window.closes_at()),
    }
}

/// Converts a monotonic moment into wall time, seen from a moment that is known on both clocks.
fn wall_at(known: Now, monotonic: Millis) -> Millis {
    known
        .wall
        .saturating_add(monotonic.saturating_sub(known.monotonic))
}

fn pending(state: &BranchState) -> Vec<PendingView> {
    let decided = state.pending().iter().map(|write| PendingView {
        target: write.target.key.clone(),
        objects: write.objects.len(),
        since: write.closed_at.wall,
    });
    let closed = state.drafts().iter().map(|draft| PendingView {
        target: draft.target_key().clone(),
        objects: unpublished_objects(draft),
        since: draft.closed_at.wall,
    });
    decided.chain(closed).chain(state.recovered()).collect()
}

fn publication(state: &BranchState) -> Publication {
    match (state.retry_clock(), state.waits_since()) {
        (Some(retry), _) => failing(retry),
        (None, Some(since)) => Publication::Waiting { since: since.wall },
        (None, None) => Publication::Healthy,
    }
}

fn failing(retry: &RetryClock) -> Publication {
    Publication::Failing {
        since: retry.since.wall,
        fault: retry.fault,
        message: retry.message.clone(),
        attempts: retry.attempts,
        retry_at: retry.retry_at.wall,
    }
}

fn target_view(state: &BranchState, key: &TargetKey, target: &TargetState) -> TargetView {
    let in_window = state
        .open_window()
        .filter(|window| window.target() == key)
        .map_or(0, OpenWindow::entries);
    let closed: usize = state
        .drafts()
        .iter()
        .filter(|draft| draft.target_key() == key)
        .map(|draft| unpublished_objects(draft))
        .sum();
    let decided: usize = state
        .pending()
        .iter()
        .filter(|write| write.target.key == *key)
        .map(|write| write.objects.len())
        .sum();
    let recovered: usize = state
        .recovered()
        .filter(|pending| pending.target == *key)
        .map(|pending| pending.objects)
        .sum();
    let folder: FolderState = target.folder.clone();
    TargetView {
        folder,
        layout: target.layout.clone(),
        refused: target
            .refused
            .values()
            .map(|(refusal, _)| refusal.clone())
            .collect(),
        collections: target.collections.clone(),
        retention: target.retention(),
        last_commit: target.last_commit.clone(),
        pending_objects: in_window + closed + decided + recovered,
        resync_needed: target.resync_needed(),
    }
}

/// Counts the objects of a draft that are certainly not on the remote. A snapshot counts none: before it is
/// decided nobody knows what it changes.
fn unpublished_objects(draft: &Draft) -> usize {
    match draft.kind {
        DraftKind::Window { .. } => draft.len(),
        DraftKind::Resync(_) => 0,
    }
}
