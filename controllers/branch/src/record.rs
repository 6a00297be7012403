//! Writes down what the machine was fed, so that a run can be replayed.
//!
//! Each line holds one moment, one event and the effects that followed. The content of objects is left out:
//! the machine decides on identities, digests and sizes only, so a replay of the record comes to the same
//! effects without knowing a single value.

use std::io::Write;
use std::sync::Arc;

use model::{Change, DesiredObject, Now};
use serde::{Deserialize, Serialize};

use crate::cycle::{CycleOutcome, CycleRequest, DraftResult};
use crate::effect::Effect;
use crate::message::{BranchMessage, Event};
use crate::state::{BranchIdentity, Draft, DraftKind, PendingWrite, Settings};

/// One line of a record.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Line {
    /// The first line of each branch writer.
    Started {
        /// Who it works for.
        identity: BranchIdentity,
        /// How it behaves.
        settings: Settings,
        /// Who commits.
        committer: model::Signature,
    },
    /// One step.
    Step {
        /// The branch that it belongs to, as several may share a file.
        branch: String,
        /// The moment that the machine was given.
        now: Now,
        /// The event, without content.
        event: Event,
        /// What the machine answered, without content.
        effects: Vec<Effect>,
    },
}

/// Appends lines to a file that other branch writers may share.
#[derive(Clone)]
pub struct Recorder {
    sink: Arc<std::sync::Mutex<Box<dyn Write + Send>>>,
}

impl Recorder {
    /// Records into the sink.
    pub fn new(sink: Box<dyn Write + Send>) -> Self {
        // A lock, although state elsewhere has one owner: lines of several branch writers share one file,
        // and a line must not be torn.
        Self {
            sink: Arc::new(std::sync::Mutex::new(sink)),
        }
    }

    /// Appends one line. A record that cannot be written is a debugging aid lost, not a reason to stop.
    pub fn append(&self, line: &Line) {
        let Ok(mut text) = serde_json::to_vec(line) else {
            return;
        };
        text.push(b'\n');
        if let Ok(mut sink) = self.sink.lock()
            && let Err(error) = sink.write_all(&text).and_then(|()| sink.flush())
        {
            tracing::warn!(%error, "cannot write the step record");
        }
    }
}

/// Returns the event without the content of any object.
pub fn without_content(event: &Event) -> Event {
    let mut event = event.clone();
    match &mut event {
        Event::Received {
            message: BranchMessage::Deliver(accepted),
            ..
        } => strip_change(&mut accepted.delivery.change),
        Event::Received {
            message: BranchMessage::Snapshot(snapshot),
            ..
        } => {
            snapshot.objects.iter_mut().for_each(strip);
        }
        Event::Recovered { deliveries, .. } => deliveries
            .iter_mut()
            .for_each(|recovered| strip_change(&mut recovered.delivery.change)),
        Event::CycleDone(outcome) => strip_outcome(outcome),
        Event::Received { .. }
        | Event::Deadline
        | Event::TurnCame
        | Event::CycleLost
        | Event::ShutDown => {}
    }
    event
}

/// Returns the effects without the content of any object.
pub fn effects_without_content(effects: &[Effect]) -> Vec<Effect> {
    let mut effects = effects.to_vec();
    for effect in &mut effects {
        if let Effect::RunCycle(request) = effect {
            strip_request(request);
        }
    }
    effects
}

fn strip_request(request: &mut CycleRequest) {
    for draft in &mut request.drafts {
        let mut bare = Draft::clone(draft);
        match &mut bare.kind {
            DraftKind::Window { entries, .. } => {
                entries
                    .iter_mut()
                    .for_each(|entry| strip_change(&mut entry.change));
            }
            DraftKind::Resync(snapshot) => snapshot.objects.iter_mut().for_each(strip),
        }
        *draft = Arc::new(bare);
    }
    for write in &mut request.pending {
        let mut bare = PendingWrite::clone(write);
        strip_write(&mut bare);
        *write = Arc::new(bare);
    }
}

fn strip_outcome(outcome: &mut CycleOutcome) {
    for draft in &mut outcome.drafts {
        if let DraftResult::Judged(verdict) = &mut draft.result
            && let Some(write) = &mut verdict.write
        {
            strip_write(write);
        }
    }
    for replay in &mut outcome.replayed {
        if let Some(write) = &mut replay.write {
            strip_write(write);
        }
    }
}

fn strip_write(write: &mut PendingWrite) {
    write.actions.upserts.iter_mut().for_each(strip);
}

fn strip_change(change: &mut Change) {
    if let Change::Upsert { object, .. } = change {
        strip(object);
    }
}

fn strip(object: &mut Arc<DesiredObject>) {
    *object = Arc::new(object.without_content());
}

/// Serialises a map whose keys are no strings as a list of pairs.
pub(crate) mod as_pairs {
    use std::collections::BTreeMap;

    use serde::de::DeserializeOwned;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<K: Serialize, V: Serialize, S: Serializer>(
        map: &BTreeMap<K, V>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(map)
    }

    pub(crate) fn deserialize<'de, K, V, D>(deserializer: D) -> Result<BTreeMap<K, V>, D::Error>
    where
        K: DeserializeOwned + Ord,
        V: DeserializeOwned,
        D: Deserializer<'de>,
    {
        Ok(Vec::<(K, V)>::deserialize(deserializer)?
            .into_iter()
            .collect())
    }
}
