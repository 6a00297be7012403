//! The machine behind one watch: what each event means, and from where a broken stream goes on.
//!
//! It knows no connection, no clock and no sink. The loop around it feeds it events in order and hands over
//! what it answers; only when that was accepted does the session move on, so whatever is lost on the way is
//! seen again.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use model::{Change, LeftOut, Operation, ResourceId, ServedType};
use serde_json::{Map, Value};

use super::judge::{Judged, judge};
use super::memory::{Known, Memory};
use super::replay::{ObjectSet, Replay, SeenRemoval};

/// One event of a stream. Errors are not events; they end the stream.
#[derive(Clone)]
pub(crate) enum WatchEvent {
    Added(Map<String, Value>),
    Modified(Map<String, Value>),
    Deleted(Map<String, Value>),
    Bookmark {
        resource_version: String,
        /// Whether every initial event has been sent.
        ends_initial_events: bool,
    },
}

/// How a stream has to be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Opening {
    /// With every object that is there.
    Replay,
    /// With what happened after this resourceVersion.
    Resume { resource_version: String },
}

/// What an event means.
#[derive(Debug)]
pub(crate) enum Step {
    /// It belongs to the initial events; so many objects have arrived.
    Collected { received: usize },
    /// It is no change of the mirror, and the session has moved past it.
    Skipped(Skip),
    /// It is a change. The session moves past it once the receipt comes back.
    Deliver(Change, Receipt),
    /// The initial events are complete. The session goes live once the receipt comes back.
    Snapshot {
        set: ObjectSet,
        resource_version: String,
        receipt: Receipt,
    },
}

/// Why an event is no change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Skip {
    /// The mirror has it already.
    Unchanged,
    /// The cluster or a tool generates the object for itself.
    ClusterGenerated,
    /// A controller derives the object from another one.
    ControllerOwned,
    /// The object cannot be named.
    Malformed,
    /// Only the resourceVersion moved.
    Bookmark,
}

/// What moves the session on once it is given back. At most one is out at any time.
#[derive(Debug)]
pub(crate) struct Receipt(Accepted);

#[derive(Debug)]
enum Accepted {
    Change {
        id: ResourceId,
        known: Option<Known>,
        /// Absent for a removal that lies behind the cursor already.
        resource_version: Option<String>,
    },
    Snapshot {
        memory: Memory,
        removals: Vec<SeenRemoval>,
        resource_version: String,
    },
}

/// The state of one watch, across all of its connections.
#[derive(Debug)]
pub(crate) struct Session {
    served: Arc<ServedType>,
    phase: Phase,
    memory: Memory,
    /// Removals that were seen among the initial events, to be handed over behind the snapshot.
    deferred: VecDeque<SeenRemoval>,
    receipt_is_out: bool,
    /// How many changes are handed over and not accepted yet.
    unaccepted: usize,
}

#[derive(Debug)]
enum Phase {
    Replaying(Replay),
    Live {
        /// Everything up to here is accepted.
        cursor: String,
        /// Everything up to here is handed over.
        reached: String,
    },
}

impl Session {
    /// Starts without knowing anything, so the first stream is a replay.
    pub(crate) fn new(served: Arc<ServedType>) -> Self {
        Self {
            served,
            phase: Phase::Replaying(Replay::default()),
            memory: Memory::default(),
            deferred: VecDeque::new(),
            receipt_is_out: false,
            unaccepted: 0,
        }
    }

    /// Says how the next stream has to be opened.
    pub(crate) fn opening(&self) -> Opening {
        match &self.phase {
            Phase::Replaying(_) => Opening::Replay,
            Phase::Live { cursor, .. } if cursor.is_empty() => Opening::Replay,
            Phase::Live { cursor, .. } => Opening::Resume {
                resource_version: cursor.clone(),
            },
        }
    }

    /// Notes that the stream ended. Initial events that were not complete are worth nothing.
    pub(crate) fn disconnected(&mut self) {
        if self.opening() == Opening::Replay {
            self.restart();
        }
    }

    /// Goes back to a replay: the history is gone, or somebody wants the state observed anew. What was
    /// accepted stays remembered until the new snapshot is.
    pub(crate) fn restart(&mut self) {
        self.phase = Phase::Replaying(Replay::default());
        self.deferred.clear();
    }

    /// Says what an event means. Must not be called while a receipt is out.
    pub(crate) fn on_event(&mut self, event: WatchEvent) -> Step {
        debug_assert!(!self.receipt_is_out, "an event overtook a handover");
        let step = match &mut self.phase {
            Phase::Replaying(replay) => match event {
                WatchEvent::Added(value) | WatchEvent::Modified(value) => {
                    replay.see(judge(&self.served, value));
                    Step::Collected {
                        received: replay.received(),
                    }
                }
                WatchEvent::Deleted(value) => {
                    replay.see_deleted(judge(&self.served, value));
                    Step::Collected {
                        received: replay.received(),
                    }
                }
                WatchEvent::Bookmark {
                    resource_version,
                    ends_initial_events: true,
                } => self.finish_replay(resource_version),
                WatchEvent::Bookmark { .. } => Step::Skipped(Skip::Bookmark),
            },
            Phase::Live { .. } => match event {
                WatchEvent::Added(value) => self.written(value, Operation::Create),
                WatchEvent::Modified(value) => self.written(value, Operation::Update),
                WatchEvent::Deleted(value) => self.deleted(value),
                WatchEvent::Bookmark {
                    resource_version, ..
                } => self.skip(Skip::Bookmark, resource_version),
            },
        };
        self.receipt_is_out = matches!(step, Step::Deliver(..) | Step::Snapshot { .. });
        step
    }

    /// Returns the next change that has to be handed over before the next event is read.
    pub(crate) fn next_deferred(&mut self) -> Option<(Change, Receipt)> {
        debug_assert!(
            !self.receipt_is_out,
            "a deferred change overtook a handover"
        );
        if let Phase::Replaying(_) = self.phase {
            return None;
        }
        let removal = self.deferred.pop_front()?;
        self.receipt_is_out = true;
        let change = self.remove(removal.id.clone(), removal.resource_version);
        let receipt = Receipt(Accepted::Change {
            id: removal.id,
            known: removal.known,
            resource_version: None,
        });
        Some((change, receipt))
    }

    /// Moves past what was handed over and is accepted.
    pub(crate) fn accepted(&mut self, receipt: Receipt) {
        self.handed_over(receipt);
        self.accepted_one();
    }

    /// Says that the oldest of what was handed over is accepted. The cursor follows once all of it is.
    pub(crate) fn accepted_one(&mut self) {
        self.unaccepted = self.unaccepted.saturating_sub(1);
        self.follow();
    }

    /// Remembers what was handed over, so that the next event is compared with it. The cursor stays where it is until
    /// it is accepted.
    pub(crate) fn handed_over(&mut self, receipt: Receipt) {
        self.receipt_is_out = false;
        self.unaccepted += 1;
        match receipt.0 {
            Accepted::Change {
                id,
                known,
                resource_version,
            } => {
                self.memory.set(id, known);
                if let Some(resource_version) = resource_version {
                    self.advance(resource_version);
                }
            }
            Accepted::Snapshot {
                memory,
                removals,
                resource_version,
            } => {
                self.memory = memory;
                self.deferred = removals.into();
                self.phase = Phase::Live {
                    cursor: resource_version.clone(),
                    reached: resource_version,
                };
            }
        }
    }

    fn finish_replay(&mut self, resource_version: String) -> Step {
        let finished = std::mem::replace(&mut self.phase, Phase::Replaying(Replay::default()));
        let replay = match finished {
            Phase::Replaying(replay) => replay,
            Phase::Live { .. } => Replay::default(),
        };
        let (set, memory, removals) = replay.finish(&self.memory);
        Step::Snapshot {
            set,
            resource_version: resource_version.clone(),
            receipt: Receipt(Accepted::Snapshot {
                memory,
                removals,
                resource_version,
            }),
        }
    }

    fn written(&mut self, value: Map<String, Value>, operation: Operation) -> Step {
        match judge(&self.served, value) {
            Judged::Wanted(object) if self.memory.has(&object) => {
                self.skip(Skip::Unchanged, object.resource_version().to_owned())
            }
            Judged::Wanted(object) => {
                // A server may say "added" of an object that it has named before.
                let operation = if self.memory.has_incarnation(&object) {
                    Operation::Update
                } else {
                    operation
                };
                let receipt = Receipt(Accepted::Change {
                    id: object.id().clone(),
                    known: Some(Known::present(&object)),
                    resource_version: Some(object.resource_version().to_owned()),
                });
                let object = Arc::new(object);
                Step::Deliver(Change::Upsert { object, operation }, receipt)
            }
            Judged::Going {
                id,
                uid,
                resource_version,
            } => {
                if self.memory.is_going(&id, uid.as_ref()) {
                    return self.skip(Skip::Unchanged, resource_version);
                }
                self.removal(id, Some(Known::Going { uid }), resource_version)
            }
            Judged::LeftOut {
                reason,
                resource_version,
                ..
            } => self.skip(reason_to_skip(&reason), resource_version),
        }
    }

    fn deleted(&mut self, value: Map<String, Value>) -> Step {
        let (id, uid, resource_version) = match judge(&self.served, value) {
            Judged::Wanted(object) => (
                object.id().clone(),
                object.uid().cloned(),
                object.resource_version().to_owned(),
            ),
            Judged::Going {
                id,
                uid,
                resource_version,
            } => (id, uid, resource_version),
            Judged::LeftOut {
                id,
                reason,
                resource_version,
            } => {
                if let Some(id) = id {
                    self.memory.set(id, None);
                }
                return self.skip(reason_to_skip(&reason), resource_version);
            }
        };
        if self.memory.is_going(&id, uid.as_ref()) {
            self.memory.set(id, None);
            return self.skip(Skip::Unchanged, resource_version);
        }
        self.removal(id, None, resource_version)
    }

    fn removal(&self, id: ResourceId, known: Option<Known>, resource_version: String) -> Step {
        let change = self.remove(id.clone(), resource_version.clone());
        let receipt = Receipt(Accepted::Change {
            id,
            known,
            resource_version: Some(resource_version),
        });
        Step::Deliver(change, receipt)
    }

    fn remove(&self, id: ResourceId, resource_version: String) -> Change {
        Change::Remove {
            id,
            served: Arc::clone(&self.served),
            resource_version,
        }
    }

    fn skip(&mut self, skip: Skip, resource_version: String) -> Step {
        self.advance(resource_version);
        Step::Skipped(skip)
    }

    fn advance(&mut self, resource_version: String) {
        if let Phase::Live { reached, .. } = &mut self.phase
            && !resource_version.is_empty()
        {
            *reached = resource_version;
        }
        self.follow();
    }

    fn follow(&mut self) {
        if let Phase::Live { cursor, reached } = &mut self.phase
            && self.unaccepted == 0
        {
            cursor.clone_from(reached);
        }
    }
}

impl fmt::Debug for WatchEvent {
    /// Shows the kind of event only, because the object may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Added(_) => "Added",
            Self::Modified(_) => "Modified",
            Self::Deleted(_) => "Deleted",
            Self::Bookmark { .. } => "Bookmark",
        })
    }
}

fn reason_to_skip(reason: &LeftOut) -> Skip {
    match reason {
        LeftOut::ClusterGenerated { .. } => Skip::ClusterGenerated,
        LeftOut::ControllerOwned { .. } => Skip::ControllerOwned,
        LeftOut::Terminating => Skip::Unchanged,
        LeftOut::Malformed { .. } => Skip::Malformed,
    }
}
