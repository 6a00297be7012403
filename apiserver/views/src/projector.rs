//! The one task that turns the board into objects.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use aggregation::{Revisions, SnapshotPublisher, SnapshotReader};
use board::{BranchView, DirectoryReader, Reader};
use jiff::Timestamp;
use model::GitBranchKey;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::branch_status;

/// How long after a projection the next one waits, so that a busy branch costs four of them a second and a change after
/// some silence is seen at once.
const PAUSE: Duration = Duration::from_millis(250);

/// What requests are served from.
#[derive(Clone)]
pub struct Views {
    pub(crate) branch_statuses: SnapshotReader,
}

/// Watches the board and publishes the views.
pub struct Projector {
    directory: DirectoryReader,
    branch_statuses: SnapshotPublisher,
    wakers: JoinSet<()>,
    /// The readers that wake the loop, to tell a writer that was started again from the one before.
    watched: BTreeMap<GitBranchKey, Reader<BranchView>>,
    waker: tokio::sync::watch::Sender<u64>,
    now: fn() -> Timestamp,
}

impl Projector {
    /// Prepares the views over a directory. `now` tells the time.
    pub fn new(directory: DirectoryReader, now: fn() -> Timestamp) -> (Self, Views) {
        let revisions = Arc::new(Revisions::new());
        let branch_statuses = SnapshotPublisher::new(revisions, now());
        let views = Views {
            branch_statuses: branch_statuses.reader(),
        };
        let projector = Self {
            directory,
            branch_statuses,
            wakers: JoinSet::new(),
            watched: BTreeMap::new(),
            waker: tokio::sync::watch::Sender::new(0),
            now,
        };
        (projector, views)
    }

    /// Projects whenever something on the board changes, until the token is cancelled.
    pub async fn run(mut self, cancel: CancellationToken) {
        let mut woken = self.waker.subscribe();
        let mut directory = self.directory.clone();
        loop {
            self.project();
            let next = tokio::time::Instant::now() + PAUSE;
            tokio::select! {
                () = cancel.cancelled() => return,
                changed = directory.changed() => if !changed { return },
                _ = woken.changed() => {}
                Some(_ended) = self.wakers.join_next() => {}
            }
            tokio::select! {
                () = cancel.cancelled() => return,
                () = tokio::time::sleep_until(next) => {}
            }
        }
    }

    fn project(&mut self) {
        let directory = self.directory.now();
        let objects = directory
            .branches
            .iter()
            .map(|(key, entry)| branch_status::project(key, entry, &entry.view.now()));
        let objects = objects.collect();
        self.branch_statuses.publish(objects, (self.now)());
        for (key, entry) in &directory.branches {
            self.wake_on(key, &entry.view);
        }
        self.watched
            .retain(|key, _| directory.branches.contains_key(key));
    }

    /// Joins a branch's changes to the one signal that the loop waits for.
    fn wake_on(&mut self, key: &GitBranchKey, view: &Reader<BranchView>) {
        if self
            .watched
            .get(key)
            .is_some_and(|watched| watched.reads_same(view))
        {
            return;
        }
        self.watched.insert(key.clone(), view.clone());
        let mut view = view.clone();
        let waker = self.waker.clone();
        self.wakers.spawn(async move {
            while view.changed().await {
                waker.send_modify(|count| *count += 1);
            }
        });
    }
}
