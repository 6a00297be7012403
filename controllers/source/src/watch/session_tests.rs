use std::sync::Arc;

use model::{Change, Operation, ServedType, TypeId};
use serde_json::{Map, Value, json};

use super::session::{Opening, Receipt, Session, Skip, Step, WatchEvent};

/// A session on config maps that prints what it answers and gives every receipt back.
struct Played(Session);

impl Played {
    fn new() -> Self {
        let served = ServedType {
            type_id: TypeId::new("", "configmaps"),
            version: "v1".to_owned(),
            kind: "ConfigMap".to_owned(),
            namespaced: true,
            sensitive: false,
        };
        Self(Session::new(Arc::new(served)))
    }

    /// Starts live with these objects in the first snapshot.
    fn live(objects: &[&str]) -> Self {
        let mut session = Self::new();
        for text in objects {
            session.play(added(text));
        }
        session.play(end(100));
        session
    }

    fn play(&mut self, event: WatchEvent) -> String {
        match self.0.on_event(event) {
            Step::Collected { received } => format!("collected {received}"),
            Step::Skipped(skip) => format!("skipped {skip:?}"),
            Step::Deliver(change, receipt) => self.accept(&change, receipt),
            Step::Snapshot {
                set,
                resource_version,
                receipt,
            } => {
                self.0.accepted(receipt);
                let names: Vec<_> = set
                    .objects
                    .iter()
                    .map(|object| object.id().name.as_str())
                    .collect();
                let protected: Vec<_> = set.protected.iter().map(|id| id.name.as_str()).collect();
                let mut shown = format!(
                    "snapshot [{}] protected [{}] left out {:?} at {resource_version}",
                    names.join(" "),
                    protected.join(" "),
                    set.left_out
                );
                while let Some((change, receipt)) = self.0.next_deferred() {
                    shown += &format!(", then {}", self.accept(&change, receipt));
                }
                shown
            }
        }
    }

    fn accept(&mut self, change: &Change, receipt: Receipt) -> String {
        self.0.accepted(receipt);
        shown(change)
    }

    fn cursor(&self) -> String {
        match self.0.opening() {
            Opening::Replay => "replay".to_owned(),
            Opening::Resume { resource_version } => resource_version,
        }
    }
}

fn shown(change: &Change) -> String {
    match change {
        Change::Upsert { object, operation } => format!(
            "{} {}@{}",
            operation.as_str(),
            object.id().name,
            object.resource_version()
        ),
        Change::Remove {
            id,
            resource_version,
            ..
        } => {
            format!(
                "{} {}@{resource_version}",
                Operation::Delete.as_str(),
                id.name
            )
        }
    }
}

/// Writes an object as `name@version content`, with the further words `uid=`, `going`, `owned` and `status=`.
fn object(text: &str) -> Map<String, Value> {
    let mut words = text.split(' ');
    let (name, version) = words.next().and_then(|word| word.split_once('@')).unwrap();
    let mut value = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "a", "uid": format!("uid-{name}"), "resourceVersion": version},
        "data": {},
    });
    for word in words {
        match word.split_once('=') {
            Some(("uid", uid)) => value["metadata"]["uid"] = json!(uid),
            Some(("status", status)) => value["status"] = json!({"phase": status}),
            None if word == "going" => {
                value["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
            }
            None if word == "owned" => {
                value["metadata"]["ownerReferences"] =
                    json!([{"kind": "Deployment", "name": "web", "controller": true}]);
            }
            _ => value["data"] = json!({"content": word}),
        }
    }
    value.as_object().unwrap().clone()
}

fn added(text: &str) -> WatchEvent {
    WatchEvent::Added(object(text))
}

fn modified(text: &str) -> WatchEvent {
    WatchEvent::Modified(object(text))
}

fn deleted(text: &str) -> WatchEvent {
    WatchEvent::Deleted(object(text))
}

fn end(version: u64) -> WatchEvent {
    WatchEvent::Bookmark {
        resource_version: version.to_string(),
        ends_initial_events: true,
    }
}

fn bookmark(version: u64) -> WatchEvent {
    WatchEvent::Bookmark {
        resource_version: version.to_string(),
        ends_initial_events: false,
    }
}

#[test]
fn initial_events_become_one_sorted_snapshot() {
    let mut session = Played::new();
    assert_eq!(session.cursor(), "replay");
    assert_eq!(session.play(added("b@7 x")), "collected 1");
    assert_eq!(session.play(added("a@3 x")), "collected 2");
    assert_eq!(session.play(bookmark(8)), "skipped Bookmark");
    assert_eq!(
        session.cursor(),
        "replay",
        "nothing is complete before the end"
    );
    assert_eq!(
        session.play(end(9)),
        "snapshot [a b] protected [] left out {} at 9"
    );
    assert_eq!(session.cursor(), "9");
}

#[test]
fn the_last_word_on_an_object_counts_and_a_removal_is_handed_over_behind() {
    let mut session = Played::new();
    for event in [
        added("a@1 x"),
        modified("a@5 y"),
        added("b@2 x"),
        deleted("b@6 x"),
        added("c@3 x"),
        modified("c@7 x going"),
        added("d@4 x"),
        deleted("d@8 x"),
        added("d@9 x uid=new"),
        deleted("e@9 x"),
    ] {
        session.play(event);
    }
    assert_eq!(
        session.play(end(10)),
        "snapshot [a d] protected [] left out {} at 10, then DELETE b@6, then DELETE c@7"
    );
    assert_eq!(
        session.cursor(),
        "10",
        "a removal among initial events lies behind the cursor"
    );
    assert_eq!(
        session.play(modified("a@11 y")),
        "skipped Unchanged",
        "the later content was taken"
    );
    assert_eq!(
        session.play(deleted("c@12 x")),
        "skipped Unchanged",
        "its removal is handed over"
    );
}

#[test]
fn d21_what_is_left_out_is_protected_counted_and_never_delivered() {
    let mut session = Played::new();
    session.play(added("kube-root-ca.crt@1 x"));
    session.play(added("owned@2 x owned"));
    session.play(added("plain@3 x"));
    session.play(WatchEvent::Added(
        json!({"kind": "ConfigMap"}).as_object().unwrap().clone(),
    ));
    assert_eq!(
        session.play(end(5)),
        "snapshot [plain] protected [owned] left out \
         {\"cluster_generated\": 1, \"controller_owned\": 1, \"malformed\": 1} at 5"
    );
    assert_eq!(
        session.play(modified("owned@6 y owned")),
        "skipped ControllerOwned"
    );
    assert_eq!(
        session.play(modified("owned@7 y owned going")),
        "skipped ControllerOwned"
    );
    assert_eq!(
        session.play(deleted("owned@8 y owned going")),
        "skipped ControllerOwned"
    );
    assert_eq!(
        session.play(modified("kube-root-ca.crt@9 y")),
        "skipped ClusterGenerated"
    );
    assert_eq!(
        session.play(added("other@10 x owned")),
        "skipped ControllerOwned"
    );
    assert_eq!(session.cursor(), "10", "what is skipped is past");
}

#[test]
fn an_object_that_becomes_derived_is_left_alone_and_is_back_when_it_is_not() {
    let mut session = Played::live(&["a@1 x"]);
    assert_eq!(
        session.play(modified("a@101 x owned")),
        "skipped ControllerOwned"
    );
    assert_eq!(
        session.play(modified("a@102 x")),
        "skipped Unchanged",
        "its document has that content"
    );
    assert_eq!(
        session.play(modified("a@103 y owned")),
        "skipped ControllerOwned"
    );
    assert_eq!(session.play(modified("a@104 y")), "UPDATE a@104");
    assert_eq!(
        session.play(deleted("a@105 y owned")),
        "skipped ControllerOwned"
    );
    assert_eq!(session.play(added("a@106 y uid=2")), "CREATE a@106");
}

#[test]
fn live_events_become_changes_in_order() {
    let mut session = Played::live(&["a@1 x"]);
    assert_eq!(session.play(modified("a@101 y")), "UPDATE a@101");
    assert_eq!(
        session.play(added("b@102 x")),
        "CREATE b@102",
        "created, or new in the selection"
    );
    assert_eq!(
        session.play(deleted("a@103 y")),
        "DELETE a@103",
        "deleted, or out of the selection"
    );
    assert_eq!(
        session.play(added("a@104 y")),
        "CREATE a@104",
        "the same content is a change again"
    );
    assert_eq!(session.play(bookmark(110)), "skipped Bookmark");
    assert_eq!(session.cursor(), "110");
}

#[test]
fn d20_a_change_of_only_what_is_taken_out_is_no_change() {
    let mut session = Played::live(&["a@1 x"]);
    assert_eq!(
        session.play(modified("a@101 x status=Ready")),
        "skipped Unchanged"
    );
    assert_eq!(session.cursor(), "101");
    assert_eq!(
        session.play(modified("a@102 y status=Ready")),
        "UPDATE a@102"
    );
    assert_eq!(
        session.play(modified("a@103 y status=Busy")),
        "skipped Unchanged"
    );
    assert_eq!(
        session.play(modified("a@104 x status=Busy")),
        "UPDATE a@104",
        "back is a change too"
    );
}

#[test]
fn a_deletion_is_handed_over_once_when_it_is_requested() {
    let mut session = Played::live(&["a@1 x", "b@2 x going"]);
    assert_eq!(session.play(modified("a@101 x going")), "DELETE a@101");
    assert_eq!(
        session.play(modified("a@102 x going")),
        "skipped Unchanged",
        "a finalizer went"
    );
    assert_eq!(session.play(deleted("a@103 x going")), "skipped Unchanged");
    assert_eq!(session.play(added("a@104 x uid=2")), "CREATE a@104");
    assert_eq!(
        session.play(deleted("b@105 x going")),
        "DELETE b@105",
        "it was going already in the snapshot, so nobody was told"
    );
}

#[test]
fn a_new_incarnation_is_never_mistaken_for_the_old_one() {
    let mut session = Played::live(&["a@1 x"]);
    session.play(modified("a@101 x going"));
    assert_eq!(
        session.play(deleted("a@102 x uid=2")),
        "DELETE a@102",
        "another incarnation went than the one that was told"
    );
    let mut session = Played::live(&["a@1 x"]);
    assert_eq!(session.play(added("a@101 x uid=2")), "CREATE a@101");
    assert_eq!(
        session.play(added("a@102 y uid=2")),
        "UPDATE a@102",
        "named before"
    );
}

#[test]
fn the_cursor_waits_for_the_acceptance() {
    let mut session = Played::live(&["a@1 x"]).0;
    let Step::Deliver(_, receipt) = session.on_event(modified("a@101 y")) else {
        panic!("not delivered");
    };
    let from = |version: &str| Opening::Resume {
        resource_version: version.to_owned(),
    };
    assert_eq!(session.opening(), from("100"));
    session.accepted(receipt);
    assert_eq!(session.opening(), from("101"));
}

#[test]
fn d33_several_changes_may_be_on_their_way_and_the_cursor_passes_none_of_them() {
    let mut session = Played::live(&["a@1 x"]).0;
    let from = |version: &str| Opening::Resume {
        resource_version: version.to_owned(),
    };
    for event in [modified("a@101 y"), modified("b@102 y")] {
        let Step::Deliver(_, receipt) = session.on_event(event) else {
            panic!("not delivered");
        };
        session.handed_over(receipt);
    }
    let step = session.on_event(modified("a@103 y"));
    assert!(matches!(step, Step::Skipped(Skip::Unchanged)), "{step:?}");
    assert_eq!(session.opening(), from("100"));
    session.accepted_one();
    assert_eq!(session.opening(), from("100"));
    session.accepted_one();
    assert_eq!(session.opening(), from("103"));
}

#[test]
fn a_snapshot_that_was_not_accepted_is_observed_again() {
    let mut session = Played::new().0;
    session.on_event(added("a@1 x"));
    let step = session.on_event(end(2));
    assert!(matches!(step, Step::Snapshot { .. }));
    assert_eq!(session.opening(), Opening::Replay);
}

#[test]
fn initial_events_that_were_cut_off_are_worth_nothing() {
    let mut session = Played::new();
    session.play(added("a@1 x"));
    session.0.disconnected();
    session.play(added("b@2 x"));
    assert_eq!(
        session.play(end(3)),
        "snapshot [b] protected [] left out {} at 3"
    );
}

#[test]
fn a_live_stream_goes_on_where_it_was_and_an_expired_one_starts_over() {
    let mut session = Played::live(&["a@1 x", "b@2 x"]);
    session.play(modified("a@101 y"));
    session.play(modified("b@102 x going"));
    session.0.disconnected();
    assert_eq!(session.cursor(), "102");
    assert_eq!(
        session.play(modified("a@103 y")),
        "skipped Unchanged",
        "memory outlives the connection"
    );
    session.0.restart();
    assert_eq!(session.cursor(), "replay");
    session.play(added("a@103 y"));
    session.play(added("b@102 x going"));
    assert_eq!(
        session.play(end(120)),
        "snapshot [a] protected [] left out {} at 120"
    );
    assert_eq!(
        session.play(deleted("b@121 x going")),
        "skipped Unchanged",
        "told before the replay"
    );
}

#[test]
fn skips_have_their_reasons() {
    let mut session = Played::live(&[]);
    let nameless = json!({"metadata": {"resourceVersion": "101"}});
    let step = session
        .0
        .on_event(WatchEvent::Added(nameless.as_object().unwrap().clone()));
    assert!(matches!(step, Step::Skipped(Skip::Malformed)), "{step:?}");
    assert_eq!(session.cursor(), "101");
}
