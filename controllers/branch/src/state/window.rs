//! The open commit window: one author's changes to one target.

use std::collections::HashMap;
use std::sync::Arc;

use model::{Author, Change, Delivery, Millis, Now, Operation, ResourceId, TargetKey};

use super::BranchState;
use super::writes::{Draft, DraftKind};
use crate::journal::{DeliveryNumber, Numbers, Settlement};
use crate::message::{Accepted, TargetConfig};

/// The open commit window. It cannot hold two authors or two targets: a change of another one closes it
/// first.
#[derive(Debug, Clone)]
pub struct OpenWindow {
    author: Author,
    target: Arc<TargetConfig>,
    /// In the order in which each object was first seen; the last change of an object wins.
    entries: Vec<Delivery>,
    /// Where the entry of each object is.
    positions: HashMap<ResourceId, usize>,
    /// Every change that went in, also those that a later one replaced.
    numbers: Numbers,
    opened_at: Now,
    last_change_at: Millis,
    content_bytes: usize,
}

impl OpenWindow {
    fn open(now: Now, target: Arc<TargetConfig>, accepted: Accepted) -> Self {
        let mut window = Self {
            author: accepted.delivery.author.clone(),
            target,
            entries: Vec::new(),
            positions: HashMap::new(),
            numbers: Numbers::default(),
            opened_at: now,
            last_change_at: now.monotonic,
            content_bytes: 0,
        };
        window.add(now, accepted);
        window
    }

    fn add(&mut self, now: Now, Accepted { number, delivery }: Accepted) {
        self.last_change_at = now.monotonic;
        self.numbers.insert(number);
        self.content_bytes += delivery.size();
        let known = self.positions.get(delivery.object_id());
        match known.and_then(|position| self.entries.get_mut(*position)) {
            None => {
                let id = delivery.object_id().clone();
                self.positions.insert(id, self.entries.len());
                self.entries.push(delivery);
            }
            Some(entry) => {
                self.content_bytes -= entry.size();
                let before = entry.change.operation();
                *entry = delivery;
                settle_operation(before, &mut entry.change);
            }
        }
    }

    /// Says whether the window collects for the target.
    pub fn is_for(&self, target: &TargetKey) -> bool {
        self.target.key == *target
    }

    /// Returns whose changes it collects.
    pub fn author(&self) -> &Author {
        &self.author
    }

    /// Returns the target that it collects for.
    pub fn target(&self) -> &TargetKey {
        &self.target.key
    }

    /// Returns how many objects it holds; at least one.
    pub fn entries(&self) -> usize {
        self.entries.len()
    }

    /// Returns when it was opened.
    pub fn opened_at(&self) -> Now {
        self.opened_at
    }

    /// Returns the monotonic moment at which it closes if nothing more arrives.
    pub fn closes_at(&self) -> Millis {
        let timers = self.target.window;
        let silence = self.last_change_at.saturating_add(timers.idle);
        silence.min(self.opened_at.monotonic.saturating_add(timers.longest))
    }

    pub(super) fn bytes(&self, item_charge: usize) -> usize {
        self.content_bytes + self.entries.len() * item_charge
    }
}

/// Names what two changes of one object amount to: created and then changed is created, removed and then
/// created is changed.
fn settle_operation(before: Operation, after: &mut Change) {
    if let Change::Upsert { operation, .. } = after {
        *operation = match before {
            Operation::Create => Operation::Create,
            Operation::Update | Operation::Delete => Operation::Update,
        };
    }
}

impl BranchState {
    pub(super) fn take_delivery(&mut self, now: Now, accepted: Accepted) {
        let Accepted { number, delivery } = &accepted;
        if self.recovery.has_seen(delivery) {
            return self.settle_one(*number, Settlement::Unneeded);
        }
        let Some(target) = self.targets.config(&delivery.target) else {
            return self.settle_one(*number, Settlement::Dropped);
        };
        if target.suspended {
            self.targets
                .note_lost(&delivery.target, delivery.collection.clone());
            return self.settle_one(*number, Settlement::Dropped);
        }
        let fits = self.window.as_ref().is_some_and(|window| {
            window.author == delivery.author && window.target.key == delivery.target
        });
        if !fits {
            self.close_window(now);
        }
        match &mut self.window {
            Some(window) => window.add(now, accepted),
            None => self.window = Some(OpenWindow::open(now, target, accepted)),
        }
        if self.stopping.is_some() {
            self.close_window(now);
        }
    }

    pub(super) fn close_window_if_due(&mut self, now: Now) {
        if self
            .window
            .as_ref()
            .is_some_and(|window| window.closes_at() <= now.monotonic)
        {
            self.close_window(now);
        }
    }

    pub(super) fn close_window_if_full(&mut self, now: Now) {
        if self.window.is_some() && self.buffered_bytes() >= self.settings.buffer_limit {
            self.close_window(now);
        }
    }

    /// Turns the window into a draft. Its commit carries the moment of closing, whenever it is made.
    pub(super) fn close_window(&mut self, now: Now) {
        let Some(window) = self.window.take() else {
            return;
        };
        let bytes = window.bytes(self.settings.item_charge);
        let kind = DraftKind::Window {
            author: window.author,
            entries: window.entries,
        };
        let id = self.new_id();
        self.drafts.push_back(Arc::new(Draft {
            id,
            target: window.target,
            closed_at: now,
            kind,
            numbers: window.numbers,
            bytes,
        }));
    }

    fn settle_one(&mut self, number: DeliveryNumber, how: Settlement) {
        self.settle(Numbers::one(number), how);
    }
}
