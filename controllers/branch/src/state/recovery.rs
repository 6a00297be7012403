//! What an earlier writer accepted and did not settle.
//!
//! Before anything else the fate of the pushes that were on their way has to be known, for a write that landed must
//! not be made again. Until a look has told, messages are held back in their order. Then what did not land is taken
//! as if it had just arrived, target by target, as soon as its target is on the branch: a target is configured before
//! a watch delivers for it, so nothing newer overtakes.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use board::PendingView;
use model::{Change, CommitId, Delivery, Millis, Now, ResourceId, Snapshot, TargetKey, Uid};

use super::BranchState;
use crate::cycle::Unanswered;
use crate::journal::{DeliveryNumber, Numbers, RecoveredDelivery, Sent, Settlement};
use crate::message::{Accepted, BranchMessage, TargetConfig};

/// How long writes wait for a target that does not come back.
const PATIENCE: Millis = 3_600_000;

/// What an earlier writer left, and what has to wait for it.
#[derive(Debug, Clone, Default)]
pub(super) struct Recovery {
    /// Pushes whose fate is not known, or that have not landed and still may: a slow server answers nobody.
    sent: Vec<Sent>,
    /// The same, as a look asks for them.
    doubtful: Vec<Unanswered>,
    /// Whether no look has told about them yet.
    is_unresolved: bool,
    /// Messages that came before their fate is known.
    held: VecDeque<BranchMessage>,
    /// Writes that are not taken yet, in order.
    waiting: Vec<RecoveredDelivery>,
    /// Since when they wait here, in wall time.
    since: Millis,
    /// The monotonic moment at which they wait no longer.
    until: Millis,
    /// The states of each object that were taken from here, or that landed before.
    seen: BTreeMap<(TargetKey, ResourceId), Vec<Version>>,
}

/// One state of one object, or its removal.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Version {
    uid: Option<Uid>,
    resource_version: String,
}

impl Version {
    fn of(change: &Change) -> Self {
        match change {
            Change::Upsert { object, .. } => Self {
                uid: object.uid().cloned(),
                resource_version: object.resource_version().to_owned(),
            },
            Change::Remove {
                resource_version, ..
            } => Self {
                uid: None,
                resource_version: resource_version.clone(),
            },
        }
    }
}

impl Recovery {
    pub(super) fn begin(&mut self, now: Now, waiting: Vec<RecoveredDelivery>, sent: Vec<Sent>) {
        self.doubt(sent);
        self.is_unresolved = !self.sent.is_empty();
        self.waiting = waiting;
        self.since = now.wall;
        self.until = now.monotonic.saturating_add(PATIENCE);
    }

    fn doubt(&mut self, sent: Vec<Sent>) {
        let doubt = |sent: &Sent| Unanswered {
            commit: sent.commit.clone(),
            on: sent.on.clone(),
            through: None,
        };
        self.doubtful = sent.iter().map(doubt).collect();
        self.sent = sent;
    }

    /// Says whether nothing may be decided yet.
    pub(super) fn is_unresolved(&self) -> bool {
        self.is_unresolved
    }

    /// A push of ours was accepted: what was sent before it on another tip cannot land any more.
    pub(super) fn nothing_lands_any_more(&mut self) {
        self.doubt(Vec::new());
    }

    /// Says which of the pushes a write is in. Writes that differ must not share a commit.
    fn pushes_of(&self, number: DeliveryNumber) -> Vec<bool> {
        let sent = self.sent.iter();
        sent.map(|sent| sent.numbers.contains(number)).collect()
    }

    /// Returns the pushes whose fate has to be found out.
    pub(super) fn doubtful(&self) -> &[Unanswered] {
        &self.doubtful
    }

    /// Keeps a message until the fate of every push is known. What helps to find it out goes through.
    pub(super) fn hold_back(&mut self, message: BranchMessage) -> Option<BranchMessage> {
        match message {
            BranchMessage::UseCommitter(_)
            | BranchMessage::CredentialChanged
            | BranchMessage::Look
            | BranchMessage::PushNotice
            | BranchMessage::Retire => Some(message),
            BranchMessage::Deliver(_)
            | BranchMessage::Snapshot(_)
            | BranchMessage::ConfigureTarget(_)
            | BranchMessage::WithdrawTarget(_)
            | BranchMessage::ForgetCollection { .. } => {
                if !self.is_unresolved {
                    return Some(message);
                }
                self.held.push_back(message);
                None
            }
        }
    }

    /// Returns how a target will be configured by a message that is held back.
    pub(super) fn held_config(&self, target: &TargetKey) -> Option<&TargetConfig> {
        let mut held = self.held.iter().rev();
        held.find_map(|message| match message {
            BranchMessage::ConfigureTarget(config) if config.key == *target => Some(&**config),
            _ => None,
        })
    }

    pub(super) fn held_bytes(&self, item_charge: usize) -> usize {
        let payload = self.held.iter().filter(|message| message.is_payload());
        payload.map(|message| message.size() + item_charge).sum()
    }

    /// Returns what is not taken yet: one entry for each target that an earlier writer had accepted changes for, and
    /// one for each message that is held back.
    pub(super) fn pending(&self) -> impl Iterator<Item = PendingView> + '_ {
        let mut left: BTreeMap<&TargetKey, usize> = BTreeMap::new();
        for write in &self.waiting {
            *left.entry(&write.delivery.target).or_default() += 1;
        }
        let held = self.held.iter().filter_map(|message| match message {
            BranchMessage::Deliver(accepted) => Some((&accepted.delivery.target, 1)),
            BranchMessage::Snapshot(snapshot) => Some((&snapshot.target, 0)),
            _ => None,
        });
        left.into_iter()
            .chain(held)
            .map(|(target, objects)| PendingView {
                target: target.clone(),
                objects,
                since: self.since,
            })
    }

    /// Returns until when writes wait for their targets.
    pub(super) fn waits_until(&self) -> Option<Millis> {
        (!self.waiting.is_empty() && !self.is_unresolved).then_some(self.until)
    }

    /// Says whether exactly this state of the object was taken from here. A watch may hand over once more what was
    /// accepted just before the process ended.
    pub(super) fn has_seen(&self, delivery: &Delivery) -> bool {
        if self.seen.is_empty() {
            return false;
        }
        let place = (delivery.target.clone(), delivery.object_id().clone());
        let seen = self.seen.get(&place);
        seen.is_some_and(|seen| seen.contains(&Version::of(&delivery.change)))
    }

    /// A complete set follows what was seen of its collection.
    pub(super) fn forget_seen(&mut self, snapshot: &Snapshot) {
        self.seen
            .retain(|(target, id), _| *target != snapshot.target || !snapshot.collection.holds(id));
    }

    fn see(&mut self, delivery: &Delivery) {
        let place = (delivery.target.clone(), delivery.object_id().clone());
        let seen = self.seen.entry(place).or_default();
        seen.push(Version::of(&delivery.change));
    }
}

impl BranchState {
    /// A look has told which pushes are on the branch. What was held back follows.
    pub(super) fn resolve_doubts(&mut self, now: Now, landed: &BTreeSet<CommitId>) {
        if self.recovery.doubtful.is_empty() {
            return;
        }
        let tip = self.base.as_ref().and_then(|base| base.commit.clone());
        let mut published = Numbers::default();
        let mut may_land = Vec::new();
        for sent in std::mem::take(&mut self.recovery.sent) {
            if landed.contains(&sent.commit) {
                published.extend(&sent.numbers);
            } else if sent.on == tip {
                may_land.push(sent);
            }
        }
        self.recovery.doubt(may_land);
        self.recovery.is_unresolved = false;
        self.drop_landed(&published);
        for write in std::mem::take(&mut self.recovery.waiting) {
            if published.contains(write.number) {
                self.recovery.see(&write.delivery);
            } else {
                self.recovery.waiting.push(write);
            }
        }
        for message in std::mem::take(&mut self.recovery.held) {
            self.close_window_if_due(now);
            self.receive(now, message);
        }
    }

    /// What landed late may have been taken again meanwhile. Each draft and each write is in a push as a whole or not
    /// at all.
    fn drop_landed(&mut self, published: &Numbers) {
        let has_landed = |numbers: &Numbers| {
            let first = numbers.iter().next();
            first.is_some_and(|first| published.contains(first))
        };
        let mut settled = Numbers::default();
        for write in &self.recovery.waiting {
            if published.contains(write.number) {
                settled.insert(write.number);
            }
        }
        self.drafts.retain(|draft| {
            let landed = has_landed(&draft.numbers);
            if landed {
                settled.extend(&draft.numbers);
            }
            !landed
        });
        self.pending.retain(|write| {
            let landed = has_landed(&write.numbers);
            if landed {
                settled.extend(&write.numbers);
            }
            !landed
        });
        self.settle(settled, Settlement::Published);
    }

    /// Takes what an earlier writer accepted for a target that is on the branch now.
    pub(super) fn take_recovered(&mut self, now: Now, target: &TargetKey) {
        let Some(config) = self.targets.config(target) else {
            return;
        };
        let waiting = std::mem::take(&mut self.recovery.waiting);
        let (here, elsewhere): (Vec<_>, Vec<_>) = waiting
            .into_iter()
            .partition(|write| write.delivery.target == *target);
        self.recovery.waiting = elsewhere;
        let mut pushes_before = None;
        for write in here {
            let pushes = self.recovery.pushes_of(write.number);
            if pushes_before.replace(pushes.clone()) != Some(pushes) {
                self.close_window(now);
            }
            let RecoveredDelivery {
                number,
                folder,
                delivery,
            } = write;
            if folder.is_some_and(|folder| folder != config.folder) {
                self.settle(Numbers::one(number), Settlement::Dropped);
                continue;
            }
            let seen = delivery.clone();
            self.close_window_if_due(now);
            self.take_delivery(now, Accepted { number, delivery });
            self.recovery.see(&seen);
        }
        if !self.recovery.sent.is_empty() {
            self.close_window(now);
        }
    }

    /// Gives up what waits for targets that did not come back.
    pub(super) fn stop_waiting_if_due(&mut self, now: Now) {
        let due = self
            .recovery
            .waits_until()
            .is_some_and(|until| until <= now.monotonic);
        if due {
            let waiting = std::mem::take(&mut self.recovery.waiting);
            let numbers = waiting.iter().map(|write| write.number).collect();
            self.settle(numbers, Settlement::Dropped);
        }
    }
}
