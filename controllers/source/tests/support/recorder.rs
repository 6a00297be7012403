//! A branch that notes what it is given, one line each.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use futures::FutureExt;
use futures::future::BoxFuture;
use model::{Change, Collection, Delivery, Snapshot, TargetKey};
use source::{Handover, Sink};

use super::eventually;

#[derive(Default)]
pub(crate) struct Recorder {
    seen: Mutex<Vec<String>>,
    closed: AtomicBool,
}

impl Recorder {
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Answers from now on that the branch is gone.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
    }

    pub(crate) fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }

    /// Waits until exactly these lines were noted, in this order, since the last call.
    pub(crate) async fn expect(&self, wanted: &[&str]) {
        let what = format!("{wanted:?}");
        eventually(&what, || {
            let seen = self.seen.lock().unwrap();
            assert!(
                seen.len() <= wanted.len() && seen.iter().zip(wanted).all(|(a, b)| a == b),
                "wanted {wanted:?} and got {seen:?}"
            );
            (seen.len() == wanted.len()).then_some(())
        })
        .await;
        self.seen.lock().unwrap().clear();
    }

    fn note(&self, line: String) -> BoxFuture<'_, Handover> {
        if self.closed.load(Ordering::SeqCst) {
            return futures::future::ready(Handover::Closed).boxed();
        }
        self.seen.lock().unwrap().push(line);
        futures::future::ready(Handover::Accepted).boxed()
    }
}

impl Sink for Recorder {
    fn offer(&self, delivery: Delivery) -> BoxFuture<'_, Handover> {
        let name = delivery.object_id().name.to_string();
        let operation = delivery.change.operation().as_str();
        let line = match &delivery.change {
            Change::Upsert { object, .. } => {
                let value = object.value();
                let content = value.get("data").and_then(|data| data.get("content"));
                let content = content.and_then(|content| content.as_str()).unwrap_or("-");
                format!("{operation} {name} {content}")
            }
            Change::Remove { .. } => format!("{operation} {name}"),
        };
        self.note(line)
    }

    fn snapshot(&self, snapshot: Snapshot) -> BoxFuture<'_, Handover> {
        let names = |ids: Vec<String>| ids.join(" ");
        let objects = snapshot
            .objects
            .iter()
            .map(|object| object.id().name.to_string());
        let protected = snapshot.protected.iter().map(|id| id.name.to_string());
        let mut line = format!(
            "snapshot {} [{}]",
            snapshot.collection.type_id,
            names(objects.collect())
        );
        if !snapshot.protected.is_empty() {
            line += &format!(" protected [{}]", names(protected.collect()));
        }
        self.note(line)
    }

    fn forget(&self, _target: TargetKey, collection: Collection) -> BoxFuture<'_, Handover> {
        self.note(format!("forget {collection}"))
    }

    fn intake_paused(&self) -> bool {
        false
    }
}
