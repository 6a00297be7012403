//! Objects, the immutable set of them that was last published, and how they get their versions.
//!
//! One publisher compares each new set with the last one and gives a fresh version to what changed,
//! and only to that, so a reader that compares versions sees a change exactly when there is one.
//! Put nothing that ticks (a clock, a counter) into an object: it would change for ever.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use serde_json::{Map, Value, json};
use tokio::sync::watch;

/// One computed object, without the parts that follow from its definition and version.
#[derive(Debug, Clone, PartialEq)]
pub struct Object {
    /// Namespace and name.
    pub key: ObjectKey,
    /// A stable identity; it should change when the thing shown was made anew.
    pub uid: String,
    /// When the thing shown was made.
    pub created: Option<Timestamp>,
    /// The generation of the thing shown.
    pub generation: Option<i64>,
    /// Labels to select by.
    pub labels: BTreeMap<String, String>,
    /// Annotations.
    pub annotations: BTreeMap<String, String>,
    /// What the object is derived from.
    pub owners: Vec<OwnerReference>,
    /// Everything beside `apiVersion`, `kind` and `metadata`.
    pub body: Map<String, Value>,
}

impl Object {
    /// Returns an object with a key, an identity and a body, and nothing else.
    pub fn new(key: ObjectKey, uid: impl Into<String>, body: Map<String, Value>) -> Self {
        Self {
            key,
            uid: uid.into(),
            created: None,
            generation: None,
            labels: BTreeMap::new(),
            annotations: BTreeMap::new(),
            owners: Vec::new(),
            body,
        }
    }

    /// Returns the object's `metadata` as clients read it.
    pub fn metadata(&self, revision: u64) -> Map<String, Value> {
        let mut metadata = Map::new();
        let mut put = |key: &str, value: Value| metadata.insert(key.to_owned(), value);
        put("name", json!(self.key.name));
        if let Some(namespace) = &self.key.namespace {
            put("namespace", json!(namespace));
        }
        put("uid", json!(self.uid));
        put("resourceVersion", json!(revision.to_string()));
        if let Some(generation) = self.generation {
            put("generation", json!(generation));
        }
        if let Some(created) = self.created {
            put(
                "creationTimestamp",
                json!(created.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()),
            );
        }
        if !self.labels.is_empty() {
            put("labels", json!(self.labels));
        }
        if !self.annotations.is_empty() {
            put("annotations", json!(self.annotations));
        }
        if !self.owners.is_empty() {
            put("ownerReferences", json!(self.owners));
        }
        metadata
    }
}

/// Where an object is. Sorted by namespace, then name, which is the order of every list.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    /// The namespace; `None` for a cluster-scoped object.
    pub namespace: Option<String>,
    /// The name.
    pub name: String,
}

impl ObjectKey {
    /// Returns the key of an object in a namespace.
    pub fn namespaced(namespace: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            namespace: Some(namespace.into()),
            name: name.into(),
        }
    }

    /// Returns the key of a cluster-scoped object.
    pub fn cluster(name: impl Into<String>) -> Self {
        Self {
            namespace: None,
            name: name.into(),
        }
    }
}

/// An object with the version it got when it last changed.
#[derive(Debug, Clone, PartialEq)]
pub struct Versioned {
    /// The object.
    pub object: Object,
    /// Its version; never above that of the snapshot.
    pub revision: u64,
}

/// All objects of one resource at one moment. Immutable.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    revision: u64,
    objects: BTreeMap<ObjectKey, Arc<Versioned>>,
}

impl Snapshot {
    /// Returns the version of the set as a whole.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Finds one object.
    pub fn get(&self, key: &ObjectKey) -> Option<&Arc<Versioned>> {
        self.objects.get(key)
    }

    /// Returns the objects in list order, of one namespace or of all.
    pub fn in_namespace<'a>(
        &'a self,
        namespace: Option<&'a str>,
    ) -> impl Iterator<Item = &'a Versioned> {
        self.objects
            .values()
            .map(AsRef::as_ref)
            .filter(move |entry| match namespace {
                Some(wanted) => entry.object.key.namespace.as_deref() == Some(wanted),
                None => true,
            })
    }

    /// Returns the number of objects.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Tells whether there is no object.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }
}

/// Hands out versions: whole numbers that grow, also over a restart, with no storage.
///
/// A version is the time in microseconds, or one more than the last one where the clock did not
/// move or went back. Share one between all resources of a process.
#[derive(Debug, Default)]
pub struct Revisions(AtomicU64);

impl Revisions {
    /// Returns an allocator that has handed out nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the next version at the given time.
    pub fn next(&self, now: Timestamp) -> u64 {
        let clock = u64::try_from(now.as_microsecond()).unwrap_or(0).max(1);
        let after = |last: u64| clock.max(last.saturating_add(1));
        let last = self
            .0
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |last| Some(after(last)))
            .unwrap_or_else(|last| last);
        after(last)
    }
}

/// The one writer of a resource's snapshot.
#[derive(Debug)]
pub struct SnapshotPublisher {
    revisions: Arc<Revisions>,
    sender: watch::Sender<Arc<Snapshot>>,
}

impl SnapshotPublisher {
    /// Returns a publisher of an empty snapshot.
    pub fn new(revisions: Arc<Revisions>, now: Timestamp) -> Self {
        let first = Snapshot {
            revision: revisions.next(now),
            objects: BTreeMap::new(),
        };
        Self {
            revisions,
            sender: watch::Sender::new(Arc::new(first)),
        }
    }

    /// Returns a reader; readers are cheap and independent of each other.
    pub fn reader(&self) -> SnapshotReader {
        SnapshotReader(self.sender.subscribe())
    }

    /// Publishes the complete set as it is now. Returns whether anything differed from the last one.
    /// Of two objects with the same key the later one wins.
    pub fn publish(&mut self, objects: Vec<Object>, now: Timestamp) -> bool {
        let previous = self.sender.borrow().clone();
        let wanted: BTreeMap<ObjectKey, Object> = objects
            .into_iter()
            .map(|object| (object.key.clone(), object))
            .collect();
        let removed: Vec<&ObjectKey> = previous
            .objects
            .keys()
            .filter(|key| !wanted.contains_key(key))
            .collect();
        let mut revision = previous.revision;
        for _ in removed {
            revision = self.revisions.next(now);
        }
        let mut next = BTreeMap::new();
        for (key, object) in wanted {
            let entry = match previous.objects.get(&key) {
                Some(same) if same.object == object => same.clone(),
                _ => {
                    revision = self.revisions.next(now);
                    Arc::new(Versioned { object, revision })
                }
            };
            next.insert(key, entry);
        }
        if revision == previous.revision {
            return false;
        }
        self.sender.send_replace(Arc::new(Snapshot {
            revision,
            objects: next,
        }));
        true
    }
}

/// Reads what a [`SnapshotPublisher`] last published.
#[derive(Debug, Clone)]
pub struct SnapshotReader(watch::Receiver<Arc<Snapshot>>);

impl SnapshotReader {
    /// Returns the last published snapshot. The publisher is never held up.
    pub fn now(&self) -> Arc<Snapshot> {
        self.0.borrow().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(name: &str, size: u64) -> Object {
        let body = json!({"spec": {"size": size}})
            .as_object()
            .cloned()
            .unwrap_or_default();
        Object::new(
            ObjectKey::namespaced("a", name),
            format!("uid-{name}"),
            body,
        )
    }

    fn at(micros: i64) -> Timestamp {
        Timestamp::from_microsecond(micros).unwrap()
    }

    #[test]
    fn versions_grow_also_when_the_clock_goes_back() {
        let revisions = Revisions::new();
        assert_eq!(revisions.next(at(100)), 100);
        assert_eq!(revisions.next(at(100)), 101);
        assert_eq!(revisions.next(at(50)), 102);
        assert_eq!(revisions.next(at(500)), 500);
    }

    #[test]
    fn only_what_changed_gets_a_new_version() {
        let mut publisher = SnapshotPublisher::new(Arc::new(Revisions::new()), at(1));
        let reader = publisher.reader();
        assert!(reader.now().is_empty());

        assert!(publisher.publish(vec![object("x", 1), object("y", 1)], at(10)));
        let first = reader.now();
        assert_eq!((first.revision(), first.len()), (11, 2));

        assert!(!publisher.publish(vec![object("y", 1), object("x", 1)], at(20)));
        assert_eq!(reader.now().revision(), 11);

        assert!(publisher.publish(vec![object("x", 1), object("y", 2)], at(30)));
        let second = reader.now();
        let revision = |snapshot: &Snapshot, name: &str| {
            snapshot
                .get(&ObjectKey::namespaced("a", name))
                .unwrap()
                .revision
        };
        assert_eq!(revision(&second, "x"), revision(&first, "x"));
        assert_eq!((revision(&second, "y"), second.revision()), (30, 30));
    }

    #[test]
    fn a_removal_alone_moves_the_version_of_the_set() {
        let mut publisher = SnapshotPublisher::new(Arc::new(Revisions::new()), at(1));
        publisher.publish(vec![object("x", 1)], at(10));
        assert!(publisher.publish(vec![], at(20)));
        assert_eq!(publisher.reader().now().revision(), 20);
    }

    #[test]
    fn an_item_is_never_newer_than_its_set() {
        let mut publisher = SnapshotPublisher::new(Arc::new(Revisions::new()), at(1));
        publisher.publish(vec![object("x", 1), object("y", 1), object("z", 1)], at(5));
        publisher.publish(vec![object("y", 2)], at(5));
        let snapshot = publisher.reader().now();
        assert!(
            snapshot
                .in_namespace(None)
                .all(|entry| entry.revision <= snapshot.revision())
        );
    }
}
