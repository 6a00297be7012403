//! How initial events become one object set.
//!
//! Initial events are no history: an object may come more than once, and changes that happen meanwhile are
//! mixed in. The last word on each object counts. A removal that is seen here is a removal all the same, so
//! it is kept and handed over behind the set.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::{DesiredObject, LeftOut, ResourceId, Uid};

use super::judge::Judged;
use super::memory::{Known, Memory};

/// The initial events so far.
#[derive(Debug, Default)]
pub(super) struct Replay {
    objects: BTreeMap<ResourceId, Replayed>,
    /// Removals of objects that were there when the replay began.
    removals: BTreeMap<ResourceId, SeenRemoval>,
    nameless: u64,
    received: usize,
}

#[derive(Debug)]
enum Replayed {
    Wanted(Arc<DesiredObject>),
    Going { uid: Option<Uid> },
    LeftOut(LeftOut),
}

/// A removal that was seen among initial events.
#[derive(Debug)]
pub(super) struct SeenRemoval {
    pub(super) id: ResourceId,
    pub(super) resource_version: String,
    /// What is remembered once it is accepted.
    pub(super) known: Option<Known>,
}

/// What the initial events add up to.
#[derive(Debug, Default)]
pub(crate) struct ObjectSet {
    /// The objects that are mirrored, sorted by identity.
    pub(crate) objects: Vec<Arc<DesiredObject>>,
    /// Objects that are left out and whose documents stay.
    pub(crate) protected: Vec<ResourceId>,
    /// How many were left out on purpose, by reason.
    pub(crate) left_out: BTreeMap<String, u64>,
}

impl Replay {
    /// Takes in an object that is there.
    pub(super) fn see(&mut self, judged: Judged) {
        self.received += 1;
        match judged {
            Judged::Wanted(object) => {
                let id = object.id().clone();
                self.removals.remove(&id);
                self.objects.insert(id, Replayed::Wanted(Arc::new(object)));
            }
            Judged::Going {
                id,
                uid,
                resource_version,
            } => {
                let before = self
                    .objects
                    .insert(id.clone(), Replayed::Going { uid: uid.clone() });
                if matches!(before, Some(Replayed::Wanted(_))) {
                    let known = Some(Known::Going { uid });
                    self.note_removal(id, resource_version, known);
                }
            }
            Judged::LeftOut {
                id: Some(id),
                reason,
                ..
            } => {
                self.removals.remove(&id);
                self.objects.insert(id, Replayed::LeftOut(reason));
            }
            Judged::LeftOut { id: None, .. } => self.nameless += 1,
        }
    }

    /// Takes in the end of an object.
    pub(super) fn see_deleted(&mut self, judged: Judged) {
        let (id, resource_version) = match judged {
            Judged::Wanted(object) => {
                let resource_version = object.resource_version().to_owned();
                (object.id().clone(), resource_version)
            }
            Judged::Going {
                id,
                resource_version,
                ..
            }
            | Judged::LeftOut {
                id: Some(id),
                resource_version,
                ..
            } => (id, resource_version),
            Judged::LeftOut { id: None, .. } => return,
        };
        match self.objects.remove(&id) {
            Some(Replayed::Wanted(_) | Replayed::Going { .. }) => {
                self.note_removal(id, resource_version, None);
            }
            Some(Replayed::LeftOut(_)) | None => {}
        }
    }

    fn note_removal(&mut self, id: ResourceId, resource_version: String, known: Option<Known>) {
        let removal = SeenRemoval {
            id: id.clone(),
            resource_version,
            known,
        };
        self.removals.insert(id, removal);
    }

    /// Returns how many objects have arrived.
    pub(super) fn received(&self) -> usize {
        self.received
    }

    /// Adds everything up. `before` is what was remembered until now; it stays true of an object that still
    /// waits for its finalizers, and of one whose document stays as it is.
    pub(super) fn finish(self, before: &Memory) -> (ObjectSet, Memory, Vec<SeenRemoval>) {
        let mut set = ObjectSet::default();
        let mut known = Vec::new();
        if self.nameless > 0 {
            set.left_out.insert("malformed".to_owned(), self.nameless);
        }
        for (id, replayed) in self.objects {
            match replayed {
                Replayed::Wanted(object) => {
                    known.push((id, Known::present(&object)));
                    set.objects.push(object);
                }
                Replayed::Going { uid } if before.is_going(&id, uid.as_ref()) => {
                    known.push((id, Known::Going { uid }));
                }
                Replayed::Going { .. } => {}
                Replayed::LeftOut(reason) => {
                    let name = reason_name(&reason).to_owned();
                    *set.left_out.entry(name).or_default() += 1;
                    if reason.protects_document() {
                        // Its document stays as it is, so what was known of it stays true.
                        known.extend(before.get(&id).map(|known| (id.clone(), known.clone())));
                        set.protected.push(id);
                    }
                }
            }
        }
        let removals = self.removals.into_values().collect();
        (set, known.into_iter().collect(), removals)
    }
}

/// The name under which the board counts objects that are left out.
fn reason_name(reason: &LeftOut) -> &'static str {
    match reason {
        LeftOut::ClusterGenerated { .. } => "cluster_generated",
        LeftOut::ControllerOwned { .. } => "controller_owned",
        LeftOut::Terminating => "terminating",
        LeftOut::Malformed { .. } => "malformed",
    }
}
