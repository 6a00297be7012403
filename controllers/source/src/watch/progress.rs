//! What the board is told about one watch.

use std::collections::BTreeMap;
use std::sync::Arc;

use board::{StreamState, StreamView};
use model::Millis;
use tokio::sync::{Notify, watch};

use crate::fault::{Fault, FaultKind};

/// Initial events are reported in steps of this many, so that a large collection does not wake everybody
/// for each object.
const STEP: usize = 200;

/// The side that a watch writes. Only the last value counts; whoever collects the views is woken.
#[derive(Debug)]
pub(crate) struct Progress {
    view: watch::Sender<StreamView>,
    wake: Arc<Notify>,
}

impl Progress {
    /// Starts as pending.
    pub(crate) fn new(wake: Arc<Notify>) -> Self {
        let pending = StreamView {
            state: StreamState::Pending,
            left_out: BTreeMap::new(),
        };
        Self {
            view: watch::Sender::new(pending),
            wake,
        }
    }

    /// Returns the side that is read.
    pub(crate) fn reader(&self) -> watch::Receiver<StreamView> {
        self.view.subscribe()
    }

    /// Tells that so many initial events have arrived.
    pub(super) fn replaying(&self, received: usize) {
        if received.is_multiple_of(STEP) {
            self.set(StreamState::Replaying { received });
        }
    }

    /// Tells that the snapshot is handed over, and what it left out.
    pub(super) fn snapshot(&self, left_out: BTreeMap<String, u64>) {
        self.update(|view| StreamView {
            state: view.state.clone(),
            left_out,
        });
    }

    /// Tells that live events follow.
    pub(super) fn streaming(&self) {
        self.set(StreamState::Streaming);
    }

    /// Tells that the stream cannot run.
    pub(super) fn blocked_by(&self, fault: &Fault, now: Millis) {
        let reason = match fault.kind {
            FaultKind::Unauthenticated | FaultKind::Forbidden => "WatchNotPermitted",
            FaultKind::Expired
            | FaultKind::StreamingUnsupported
            | FaultKind::NotServed
            | FaultKind::Unavailable => "WatchError",
        };
        self.blocked(reason, &fault.message, now);
    }

    /// Tells that the branch takes nothing in at the moment.
    pub(super) fn paused(&self, now: Millis) {
        let message = "the branch takes no changes in until it can publish again";
        self.blocked("BranchIntakePaused", message, now);
    }

    /// Returns what is told at the moment.
    pub(super) fn state(&self) -> StreamState {
        self.view.borrow().state.clone()
    }

    /// Tells a state, as it was told before.
    pub(super) fn set(&self, state: StreamState) {
        self.update(|view| StreamView {
            state,
            left_out: view.left_out.clone(),
        });
    }

    fn blocked(&self, reason: &str, message: &str, now: Millis) {
        let since = match self.state() {
            StreamState::Blocked {
                reason: before,
                since,
                ..
            } if before == reason => since,
            _ => now,
        };
        self.set(StreamState::Blocked {
            reason: reason.to_owned(),
            message: message.to_owned(),
            since,
        });
    }

    fn update(&self, change: impl FnOnce(&StreamView) -> StreamView) {
        let changed = self.view.send_if_modified(|view| {
            let next = change(view);
            let changed = *view != next;
            *view = next;
            changed
        });
        if changed {
            self.wake.notify_one();
        }
    }
}
