//! Whatever happens on the cluster and to the connection, the mirror ends up as the cluster is, every change
//! arrives once and in order, and nothing is handed over twice.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::{Change, ResourceId, ServedType, TypeId};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::session::{Opening, Session, Step, WatchEvent};

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// Something that happens on the cluster or to the connection.
#[derive(Debug, Clone, Copy)]
enum Happening {
    /// Writes the content, creating the object where it is absent.
    Write { name: usize, content: u8 },
    /// Changes only the status.
    Status { name: usize },
    /// Asks for the deletion of an object that has a finalizer.
    RequestDeletion { name: usize },
    /// Ends the object.
    Delete { name: usize },
    /// Gives the object a controller, or takes it away.
    ToggleOwner { name: usize },
    /// The stream delivers what it has.
    Read,
    /// The connection breaks.
    Disconnect,
    /// The server forgets its history.
    Compact,
    /// A bookmark arrives.
    Bookmark,
}

fn happening() -> impl Strategy<Value = Happening> {
    let name = 0..NAMES.len();
    prop_oneof![
        6 => (name.clone(), 0..3_u8).prop_map(|(name, content)| Happening::Write { name, content }),
        2 => name.clone().prop_map(|name| Happening::Status { name }),
        1 => name.clone().prop_map(|name| Happening::RequestDeletion { name }),
        2 => name.clone().prop_map(|name| Happening::Delete { name }),
        1 => name.prop_map(|name| Happening::ToggleOwner { name }),
        4 => Just(Happening::Read),
        2 => Just(Happening::Disconnect),
        1 => Just(Happening::Compact),
        1 => Just(Happening::Bookmark),
    ]
}

#[derive(Debug, Clone, PartialEq)]
struct Stored {
    uid: u64,
    version: u64,
    content: u8,
    status: u64,
    going: bool,
    owned: bool,
}

/// An API server with one collection: current objects and the history since the last compaction.
#[derive(Default)]
struct Cluster {
    version: u64,
    uids: u64,
    objects: BTreeMap<usize, Stored>,
    history: Vec<(u64, WatchEvent)>,
    compacted_at: u64,
}

impl Cluster {
    fn apply(&mut self, happening: Happening) {
        match happening {
            Happening::Write { name, content } => match self.objects.get_mut(&name) {
                Some(stored) => {
                    stored.content = content;
                    self.log(name, "MODIFIED");
                }
                None => {
                    self.uids += 1;
                    let stored = Stored {
                        uid: self.uids,
                        version: 0,
                        content,
                        status: 0,
                        going: false,
                        owned: false,
                    };
                    self.objects.insert(name, stored);
                    self.log(name, "ADDED");
                }
            },
            Happening::Status { name } => self.modify(name, |stored| stored.status += 1),
            Happening::RequestDeletion { name } => self.modify(name, |stored| stored.going = true),
            Happening::ToggleOwner { name } => {
                self.modify(name, |stored| stored.owned = !stored.owned);
            }
            Happening::Delete { name } => {
                if self.objects.contains_key(&name) {
                    self.log(name, "DELETED");
                    self.objects.remove(&name);
                }
            }
            Happening::Compact => {
                self.compacted_at = self.version;
                self.history.clear();
            }
            Happening::Read | Happening::Disconnect | Happening::Bookmark => {}
        }
    }

    fn modify(&mut self, name: usize, change: impl FnOnce(&mut Stored)) {
        if let Some(stored) = self.objects.get_mut(&name) {
            change(stored);
            self.log(name, "MODIFIED");
        }
    }

    fn log(&mut self, name: usize, kind: &str) {
        self.version += 1;
        let stored = self.objects.get_mut(&name).unwrap();
        stored.version = self.version;
        let value = written(name, stored);
        let event = match kind {
            "ADDED" => WatchEvent::Added(value),
            "MODIFIED" => WatchEvent::Modified(value),
            _ => WatchEvent::Deleted(value),
        };
        self.history.push((self.version, event));
    }
}

fn written(name: usize, stored: &Stored) -> Map<String, Value> {
    let mut value = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": NAMES[name],
            "namespace": "a",
            "uid": format!("{}", stored.uid),
            "resourceVersion": stored.version.to_string(),
        },
        "data": {"content": stored.content.to_string()},
        "status": {"count": stored.status},
    });
    if stored.going {
        value["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    }
    if stored.owned {
        value["metadata"]["ownerReferences"] =
            json!([{"kind": "X", "name": "y", "controller": true}]);
    }
    value.as_object().unwrap().clone()
}

/// What is mirrored: the content of each object by name.
type Mirror = BTreeMap<String, u8>;

/// A session between the cluster and a mirror.
struct Run {
    cluster: Cluster,
    session: Session,
    /// How far the open connection has been read; `None` while there is none.
    read_to: Option<u64>,
    mirror: Mirror,
    /// The version of the last delivery of each object since the last snapshot.
    last: BTreeMap<ResourceId, u64>,
    /// Objects that the last snapshot left out, until they are told.
    unseen: Vec<String>,
    deliveries: usize,
    replays: usize,
}

impl Run {
    fn new() -> Self {
        let served = ServedType {
            type_id: TypeId::new("", "configmaps"),
            version: "v1".to_owned(),
            kind: "ConfigMap".to_owned(),
            namespaced: true,
            sensitive: false,
        };
        Self {
            cluster: Cluster::default(),
            session: Session::new(Arc::new(served)),
            read_to: None,
            mirror: Mirror::new(),
            last: BTreeMap::new(),
            unseen: Vec::new(),
            deliveries: 0,
            replays: 0,
        }
    }

    fn happen(&mut self, happening: Happening) {
        // An open stream still has everything of the history; only a later resume misses it.
        if matches!(happening, Happening::Compact) && self.read_to.is_some() {
            self.read(usize::MAX);
        }
        self.cluster.apply(happening);
        match happening {
            Happening::Read => self.read(usize::MAX),
            Happening::Disconnect => {
                // Half of what is there still arrives.
                let pending = self.pending().len() / 2;
                self.read(pending);
                self.read_to = None;
                self.session.disconnected();
            }
            Happening::Bookmark => {
                if let Some(version) = self.read_to {
                    self.feed(WatchEvent::Bookmark {
                        resource_version: version.to_string(),
                        ends_initial_events: false,
                    });
                }
            }
            _ => {}
        }
    }

    fn pending(&self) -> Vec<(u64, WatchEvent)> {
        let from = self.read_to.unwrap_or(u64::MAX);
        let history = self.cluster.history.iter();
        history
            .filter(|(version, _)| *version > from)
            .cloned()
            .collect()
    }

    fn read(&mut self, most: usize) {
        if self.read_to.is_none() {
            self.open();
        }
        for (version, event) in self.pending().into_iter().take(most) {
            self.read_to = Some(version);
            self.feed(event);
        }
    }

    fn open(&mut self) {
        if let Opening::Resume { resource_version } = self.session.opening() {
            let from: u64 = resource_version.parse().unwrap();
            if from >= self.cluster.compacted_at {
                self.read_to = Some(from);
                return;
            }
            self.session.restart();
        }
        self.replays += 1;
        let objects = self.cluster.objects.clone();
        for (name, stored) in &objects {
            self.feed(WatchEvent::Added(written(*name, stored)));
        }
        self.feed(WatchEvent::Bookmark {
            resource_version: self.cluster.version.to_string(),
            ends_initial_events: true,
        });
        self.read_to = Some(self.cluster.version);
    }

    fn feed(&mut self, event: WatchEvent) {
        match self.session.on_event(event) {
            Step::Collected { .. } | Step::Skipped(_) => {}
            Step::Deliver(change, receipt) => {
                self.take(&change);
                self.session.accepted(receipt);
            }
            Step::Snapshot { set, receipt, .. } => {
                let sorted = set
                    .objects
                    .windows(2)
                    .all(|pair| pair[0].id() < pair[1].id());
                assert!(sorted, "a snapshot is sorted");
                let kept: Vec<_> = set.protected.iter().map(|id| id.name.to_string()).collect();
                self.mirror.retain(|name, _| kept.contains(name));
                self.unseen = kept;
                for object in &set.objects {
                    self.mirror
                        .insert(object.id().name.to_string(), content(&object.value()));
                }
                self.last.clear();
                self.session.accepted(receipt);
            }
        }
        while let Some((change, receipt)) = self.session.next_deferred() {
            self.take(&change);
            self.session.accepted(receipt);
        }
    }

    fn take(&mut self, change: &Change) {
        self.deliveries += 1;
        let (id, version) = match change {
            Change::Upsert { object, .. } => {
                let name = object.id().name.to_string();
                let before = self.mirror.insert(name, content(&object.value()));
                let is_change = before != Some(content(&object.value()));
                // The same content again is only a change when the object is another one.
                let is_new = matches!(
                    change,
                    Change::Upsert {
                        operation: model::Operation::Create,
                        ..
                    }
                );
                // What a replay left out may not be known any more, so it may be told once when it comes back.
                let was_left_out = self
                    .unseen
                    .iter()
                    .any(|unseen| *unseen == object.id().name.as_str());
                self.unseen
                    .retain(|unseen| *unseen != object.id().name.as_str());
                assert!(
                    is_change || is_new || was_left_out,
                    "{change:?} is no change"
                );
                (object.id(), object.resource_version())
            }
            Change::Remove {
                id,
                resource_version,
                ..
            } => {
                self.mirror.remove(id.name.as_str());
                (id, resource_version.as_str())
            }
        };
        let version: u64 = version.parse().unwrap();
        let before = self.last.insert(id.clone(), version);
        assert!(before < Some(version), "{change:?} came out of order");
    }

    /// The mirror as the cluster says it should be; objects that are left out keep what the mirror has.
    fn expected(&self) -> Mirror {
        let mut expected = Mirror::new();
        for (name, stored) in &self.cluster.objects {
            let name = NAMES[*name].to_owned();
            if stored.owned {
                if let Some(kept) = self.mirror.get(&name) {
                    expected.insert(name, *kept);
                }
            } else if !stored.going {
                expected.insert(name, stored.content);
            }
        }
        expected
    }
}

fn content(value: &Map<String, Value>) -> u8 {
    let text = value["data"]["content"].as_str().unwrap();
    text.parse().unwrap()
}

/// Leaves out of a mirror what the cluster does not hold any more but nobody may remove: objects that were
/// left out when they ended.
fn without_leftovers(mirror: &Mirror, cluster: &Cluster) -> Mirror {
    let lives = |name: &str| {
        NAMES
            .iter()
            .position(|known| *known == name)
            .is_some_and(|index| cluster.objects.contains_key(&index))
    };
    mirror
        .iter()
        .filter(|(name, _)| lives(name))
        .map(|(name, content)| (name.clone(), *content))
        .collect()
}

#[test]
fn an_object_that_a_replay_left_out_is_told_when_it_comes_back() {
    let (name, content) = (2, 1);
    let mut run = Run::new();
    for happening in [
        Happening::Write { name, content },
        Happening::Read,
        Happening::Disconnect,
        // Another object of the same name, so what is known of the first says nothing of it.
        Happening::Delete { name },
        Happening::Write { name, content },
        Happening::ToggleOwner { name },
        Happening::Compact,
        Happening::Read,
    ] {
        run.happen(happening);
    }
    assert_eq!((run.deliveries, run.unseen.len()), (0, 1));
    run.happen(Happening::ToggleOwner { name });
    run.read(usize::MAX);
    assert_eq!((run.deliveries, run.unseen.len()), (1, 0));
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 512,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_mirror_ends_up_as_the_cluster_is(happenings in prop::collection::vec(happening(), 0..60)) {
        let mut run = Run::new();
        for happening in &happenings {
            run.happen(*happening);
        }
        run.read(usize::MAX);
        prop_assert_eq!(without_leftovers(&run.mirror, &run.cluster), run.expected());
        let again = run.deliveries;
        run.read(usize::MAX);
        prop_assert_eq!(run.deliveries, again, "nothing is handed over twice");
    }

    #[test]
    fn without_compaction_every_change_arrives_although_the_connection_breaks(
        happenings in prop::collection::vec(happening(), 0..60),
    ) {
        let broken = happenings.iter().filter(|happening| !matches!(happening, Happening::Compact));
        let calm = broken.clone().filter(|happening| !matches!(happening, Happening::Disconnect));
        let deliveries = |happenings: Vec<Happening>| {
            let mut run = Run::new();
            run.read(usize::MAX);
            for happening in happenings {
                run.happen(happening);
            }
            run.read(usize::MAX);
            assert_eq!(run.replays, 1);
            run.deliveries
        };
        prop_assert_eq!(
            deliveries(broken.copied().collect()),
            deliveries(calm.copied().collect())
        );
    }
}
