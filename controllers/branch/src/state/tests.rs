//! The machine against a remote that is a few lines of data, under a clock moved by hand.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use board::{FolderState, LayoutView, ProvedBy, Publication, PublicationFault};
use manifests::DecidedActions;
use model::sanitize::sanitize;
use model::{
    Author, Change, Collection, Delivery, FolderPath, GitBranchKey, Identity, Layout, LiveObject,
    Namespace, ObjectName, Operation, RepositoryUrl, ResourceId, Scope, Selector, ServedType,
    Snapshot, TargetKey, TypeId,
};
use proptest::prelude::*;

use super::*;
use crate::cycle::{
    CycleOutcome, CycleRequest, DraftOutcome, DraftResult, Fault, FolderScan, ProvedBase,
    Published, Tally, Unanswered, Verdict,
};
use crate::effect::Occurrence;
use crate::journal::{DeliveryNumber, Numbers, RecoveredDelivery, Sent};
use crate::message::{Accepted, CommitWindow, TargetConfig};
use crate::record::{effects_without_content, without_content};

pub(crate) fn settings() -> Settings {
    Settings {
        buffer_limit: 64 * 1024,
        item_charge: 1024,
        push_cooldown: 5_000,
        retry_first: 10_000,
        retry_longest: 300_000,
        refresh_interval: Some(600_000),
        cycle_budget: 300_000,
        jitter_seed: 7,
    }
}

fn target(name: &str) -> TargetKey {
    TargetKey::new(
        Namespace::new("team-a").unwrap(),
        ObjectName::new(name).unwrap(),
    )
}

fn config(name: &str) -> BranchMessage {
    BranchMessage::ConfigureTarget(Box::new(TargetConfig {
        key: target(name),
        folder: FolderPath::new(name).unwrap(),
        window: CommitWindow {
            idle: 5_000,
            longest: 60_000,
        },
        prune: manifests::PruneMode::OnEvent,
        serialize_namespace: None,
        placement: manifests::Placement::default(),
        wording: crate::message_text::Wording::default(),
        encryption: None,
        suspended: false,
    }))
}

fn collection() -> Collection {
    Collection {
        type_id: TypeId::new("", "configmaps"),
        scope: Scope::Namespace(Namespace::new("team-a").unwrap()),
        selector: Selector::everything(),
    }
}

fn object(name: &str, version: u64) -> Arc<model::DesiredObject> {
    let served = ServedType {
        type_id: TypeId::new("", "configmaps"),
        version: "v1".to_owned(),
        kind: "ConfigMap".to_owned(),
        namespaced: true,
        sensitive: false,
    };
    let value = serde_json::json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "team-a", "resourceVersion": version.to_string()},
        "data": {"version": version.to_string()},
    });
    let live = LiveObject {
        served: Arc::new(served),
        value: value.as_object().unwrap().clone(),
    };
    Arc::new(sanitize(&live).unwrap())
}

fn author(name: &str) -> Author {
    Author::Actor(Identity {
        username: name.to_owned(),
        display_name: None,
        email: None,
    })
}

fn delivery(to: &str, name: &str, version: u64, by: &str) -> BranchMessage {
    let delivery = Delivery {
        target: target(to),
        collection: collection(),
        change: Change::Upsert {
            object: object(name, version),
            operation: Operation::Update,
        },
        author: author(by),
    };
    // The world numbers what it accepts.
    let number = DeliveryNumber::default();
    BranchMessage::Deliver(Box::new(Accepted { number, delivery }))
}

/// A remote that is a list of commits, and the machine in front of it.
struct World {
    state: BranchState,
    now: Now,
    /// Whether others have all turns at the host.
    crowded: bool,
    asked_for_turn: bool,
    running: Option<CycleRequest>,
    /// Commits on the remote, oldest first, with the write that each came from.
    remote: Vec<RemoteCommit>,
    /// What a cycle says is kept.
    retained: BTreeSet<ResourceId>,
    stopped: Option<usize>,
    announced: Vec<CommitId>,
    record: Vec<(Now, Event, Vec<Effect>)>,
    /// Accepted changes that are not settled, as a journal keeps them.
    unsettled: BTreeMap<DeliveryNumber, RecoveredDelivery>,
    sent: Vec<Sent>,
    accepted: DeliveryNumber,
    /// How many machines there were before this one.
    kills: u64,
}

/// A commit, the write that it came from, and the version of each object that it holds.
type RemoteCommit = (CommitId, WriteId, Vec<(String, String)>);

/// How a cycle ends.
#[derive(Debug, Clone, Copy)]
enum End {
    Works,
    Unreachable,
    /// The push landed and the answer was lost.
    LandedUnanswered,
    /// The push did not land and the answer was lost.
    LostUnanswered,
    BreaksDown,
    /// The local store is damaged, and is dropped.
    StoreFails,
}

impl World {
    fn new_state() -> BranchState {
        let identity = BranchIdentity {
            key: GitBranchKey::new(
                Namespace::new("team-a").unwrap(),
                ObjectName::new("live").unwrap(),
            ),
            repository: RepositoryUrl::new("https://git.example.com/x.git")
                .unwrap()
                .id(),
            branch: BranchName::new("main").unwrap(),
            parent: None,
        };
        BranchState::new(identity, settings(), Signature::default())
    }

    fn new() -> Self {
        let mut world = Self {
            state: Self::new_state(),
            now: Now {
                monotonic: 1_000,
                wall: 1_700_000_000_000,
            },
            crowded: false,
            asked_for_turn: false,
            running: None,
            remote: Vec::new(),
            retained: BTreeSet::new(),
            stopped: None,
            announced: Vec::new(),
            record: Vec::new(),
            unsettled: BTreeMap::new(),
            sent: Vec::new(),
            accepted: DeliveryNumber::default(),
            kills: 0,
        };
        world.feed(Event::Deadline);
        world.send(config("a"));
        world.send(config("b"));
        world
    }

    /// A world whose machine has looked at everything and waits.
    fn settled() -> Self {
        let mut world = Self::new();
        while world.running.is_some() {
            world.end_cycle(End::Works);
        }
        world
    }

    fn send(&mut self, mut message: BranchMessage) {
        let arrived = self.now;
        if let BranchMessage::Deliver(accepted) = &mut message {
            self.accepted = self.accepted.next();
            accepted.number = self.accepted;
            let kept = RecoveredDelivery {
                number: accepted.number,
                folder: self.state.folder_of(&accepted.delivery.target),
                delivery: accepted.delivery.clone(),
            };
            self.unsettled.insert(accepted.number, kept);
        }
        self.feed(Event::Received { arrived, message });
    }

    /// The process is killed, after its push landed or before, and a new one starts with what the journal holds.
    fn kill(&mut self, after_the_push: bool) {
        if let Some(request) = self.running.take()
            && after_the_push
        {
            self.outcome(&request, End::Works);
        }
        self.kills += 1;
        self.asked_for_turn = false;
        self.state = Self::new_state();
        self.record.clear();
        let live = |number: &DeliveryNumber| self.unsettled.contains_key(number);
        self.sent
            .retain(|sent| sent.numbers.iter().any(|number| live(&number)));
        self.feed(Event::Recovered {
            deliveries: self.unsettled.values().cloned().collect(),
            sent: self.sent.clone(),
        });
        self.send(config("a"));
        self.send(config("b"));
    }

    fn feed(&mut self, event: Event) {
        let bare = without_content(&event);
        let effects = self.state.step(self.now, event);
        self.record
            .push((self.now, bare, effects_without_content(&effects)));
        for effect in effects {
            match effect {
                Effect::AskForTurn => {
                    assert!(!self.asked_for_turn, "two turns at once");
                    assert!(self.running.is_none(), "a turn during a cycle");
                    self.asked_for_turn = true;
                }
                Effect::RunCycle(request) => {
                    assert!(self.running.is_none(), "two cycles at once");
                    for draft in &request.drafts {
                        one_author_and_target(draft);
                    }
                    self.running = Some(*request);
                }
                Effect::Announce(occurrence) => {
                    if let Occurrence::Published { commit, .. } = *occurrence {
                        self.announced.push(commit);
                    }
                }
                Effect::Settle(settled) => {
                    for number in settled.iter().flat_map(|settled| settled.numbers.iter()) {
                        let known = self.unsettled.remove(&number);
                        assert!(known.is_some(), "{number:?} is settled twice");
                    }
                }
                Effect::Stopped { unpublished } => self.stopped = Some(unpublished),
            }
        }
        if self.asked_for_turn && !self.crowded {
            self.asked_for_turn = false;
            self.feed(Event::TurnCame);
        }
    }

    /// Others have all turns at the host from now on, or none any more.
    fn crowd(&mut self, crowded: bool) {
        self.crowded = crowded;
        if self.asked_for_turn && !crowded {
            self.asked_for_turn = false;
            self.feed(Event::TurnCame);
        }
    }

    /// Lets time pass, serving each deadline on the way.
    fn pass(&mut self, millis: Millis) {
        let until = self.now.after(millis);
        loop {
            let due = self
                .state
                .next_deadline()
                .filter(|at| *at <= until.monotonic);
            let Some(at) = due else { break };
            self.now = self.now.after(at.saturating_sub(self.now.monotonic));
            let before = (self.state.next_deadline(), self.running.is_some());
            self.feed(Event::Deadline);
            if (self.state.next_deadline(), self.running.is_some()) == before {
                break;
            }
        }
        self.now = Now {
            monotonic: until.monotonic.max(self.now.monotonic),
            wall: until.wall.max(self.now.wall),
        };
    }

    fn tip(&self) -> Option<CommitId> {
        self.remote.last().map(|(commit, ..)| commit.clone())
    }

    fn end_cycle(&mut self, end: End) {
        let Some(request) = self.running.take() else {
            return;
        };
        if let End::BreaksDown = end {
            return self.feed(Event::CycleLost);
        }
        let outcome = self.outcome(&request, end);
        self.feed(Event::CycleDone(Box::new(outcome)));
    }

    /// Does what a cycle does, with commits that are numbers.
    fn outcome(&mut self, request: &CycleRequest, end: End) -> CycleOutcome {
        let mut outcome = CycleOutcome::default();
        if let End::Unreachable = end {
            outcome.fault = Some(fault(None));
            return outcome;
        }
        if let End::StoreFails = end {
            let kind = board::PublicationFault::Store;
            outcome.fault = Some(Fault {
                kind,
                ..fault(None)
            });
            return outcome;
        }
        outcome.base = Some(ProvedBase {
            commit: self.tip(),
            by: ProvedBy::Fetch,
            parent: None,
        });
        let mut pending: Vec<PendingWrite> = request
            .pending
            .iter()
            .map(|write| PendingWrite::clone(write))
            .collect();
        for sent in &request.unanswered {
            let landed = self
                .remote
                .iter()
                .find(|(commit, ..)| *commit == sent.commit);
            let Some((_, through, _)) = landed else {
                continue;
            };
            let through = *through;
            pending.retain(|write| write.id > through);
            outcome.published = Some(Published {
                tip: sent.commit.clone(),
                through,
                by: ProvedBy::Fetch,
            });
        }
        for doubtful in &request.doubtful {
            if self
                .remote
                .iter()
                .any(|(commit, ..)| *commit == doubtful.commit)
            {
                outcome.landed.insert(doubtful.commit.clone());
            }
        }
        for draft in &request.drafts {
            let write = made(draft, self.kills);
            outcome.drafts.push(DraftOutcome {
                id: draft.id,
                result: DraftResult::Judged(Box::new(Verdict {
                    tally: Tally::default(),
                    write: Some(write.clone()),
                    refused: BTreeMap::new(),
                    retained: self.retained.clone(),
                })),
            });
            pending.push(write);
        }
        if !request.publish || pending.is_empty() {
            return outcome;
        }
        let last = pending[pending.len() - 1].clone();
        let mut numbers = Numbers::default();
        pending
            .iter()
            .for_each(|write| numbers.extend(&write.numbers));
        self.sent.push(Sent {
            commit: last.commit.clone(),
            on: self.tip(),
            numbers,
        });
        if !matches!(end, End::LostUnanswered) {
            for write in &pending {
                let holds = write.actions.upserts.iter();
                let holds = holds.map(|object| {
                    (
                        format!("{} {}", write.target.key.name, object.id()),
                        object.resource_version().to_owned(),
                    )
                });
                self.remote
                    .push((write.commit.clone(), write.id, holds.collect()));
            }
        }
        if let End::Works = end {
            outcome.published = Some(Published {
                tip: last.commit.clone(),
                through: last.id,
                by: ProvedBy::Push,
            });
            outcome.base = Some(ProvedBase {
                commit: Some(last.commit),
                by: ProvedBy::Push,
                parent: None,
            });
        } else {
            outcome.fault = Some(fault(Some(Unanswered {
                commit: last.commit,
                on: None,
                through: Some(last.id),
            })));
        }
        outcome
    }
}

fn one_author_and_target(draft: &Draft) {
    if let DraftKind::Window { author, entries } = &draft.kind {
        assert!(
            entries
                .iter()
                .all(|entry| entry.author == *author && entry.target == draft.target.key)
        );
        let mut ids: Vec<_> = entries.iter().map(Delivery::object_id).collect();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), entries.len(), "one entry for each object");
    }
}

fn made(draft: &Draft, kills: u64) -> PendingWrite {
    let upserts = match &draft.kind {
        DraftKind::Window { entries, .. } => entries
            .iter()
            .filter_map(|entry| match &entry.change {
                Change::Upsert { object, .. } => Some(Arc::clone(object)),
                Change::Remove { .. } => None,
            })
            .collect(),
        DraftKind::Resync(snapshot) => snapshot.objects.clone(),
    };
    let actions = DecidedActions {
        upserts,
        ..DecidedActions::default()
    };
    PendingWrite {
        message_fell_back: false,
        id: draft.id,
        target: Arc::clone(&draft.target),
        closed_at: draft.closed_at,
        author: draft.author(),
        message: "m".to_owned(),
        objects: actions
            .upserts
            .iter()
            .map(|object| object.id().clone())
            .collect(),
        actions,
        source: draft.source(),
        collections: draft.collections(),
        types: draft.types(),
        commit: CommitId::new(format!("{:08x}{:032x}", kills, draft.id.0)).unwrap(),
        numbers: draft.numbers.clone(),
        bytes: draft.bytes,
    }
}

fn fault(unanswered: Option<Unanswered>) -> Fault {
    Fault {
        kind: PublicationFault::Unreachable,
        message: "no answer".to_owned(),
        not_before: None,
        unanswered,
    }
}

#[test]
fn a_window_closes_after_silence_and_its_write_is_published() {
    let mut world = World::settled();
    world.send(delivery("a", "x", 1, "alice"));
    world.pass(4_999);
    world.send(delivery("a", "y", 1, "alice"));
    world.pass(4_999);
    assert!(
        world.running.is_none(),
        "the second change restarted the silence"
    );
    world.pass(2);
    let request = world.running.clone().unwrap();
    assert!(request.trusted && request.publish && !request.look);
    assert_eq!(request.drafts.len(), 1);
    world.end_cycle(End::Works);
    assert_eq!(world.announced.len(), 1);
    assert!(world.unsettled.is_empty());
    assert_eq!(
        world.state.view().last_push.unwrap().commit,
        world.tip().unwrap()
    );
}

#[test]
fn what_a_job_refuses_under_settings_that_changed_meanwhile_is_asked_for_again() {
    let mut world = World::settled();
    world.send(delivery("a", "x", 1, "alice"));
    world.pass(5_001);
    let draft = world.running.clone().unwrap().drafts[0].id;
    let BranchMessage::ConfigureTarget(mut changed) = config("a") else {
        unreachable!("a configuration was asked for")
    };
    changed.encryption = Some("for somebody".to_owned());
    world.send(BranchMessage::ConfigureTarget(changed));
    let id = object("x", 1).id().clone();
    let refusal = model::Refusal {
        code: model::RefusalCode::EncryptionNotConfigured,
        issue: None,
        scope: model::RefusalScope::Object,
        object: Some(id.clone()),
        at: None,
        actor: model::Actor::Platform,
        message: "no encryption is configured".to_owned(),
        remedy: "configure it".to_owned(),
    };
    let outcome = CycleOutcome {
        drafts: vec![DraftOutcome {
            id: draft,
            result: DraftResult::Judged(Box::new(Verdict {
                write: None,
                refused: BTreeMap::from([(id, refusal)]),
                retained: BTreeSet::new(),
                tally: Tally::default(),
            })),
        }],
        ..CycleOutcome::default()
    };
    world.running = None;
    world.feed(Event::CycleDone(Box::new(outcome)));
    let view = world.state.view();
    assert_eq!(view.targets[&target("a")].resync_needed, [collection()]);
}

#[test]
fn b132_continuous_activity_cannot_hold_a_window_open_beyond_its_longest_time() {
    let mut world = World::settled();
    for version in 0..20 {
        world.send(delivery("a", "x", version, "alice"));
        world.pass(4_000);
    }
    assert!(
        world.running.is_some(),
        "80 seconds of changes every 4 seconds"
    );
}

#[test]
fn b131_another_author_or_target_closes_the_window_first() {
    let mut world = World::settled();
    world.send(delivery("a", "x", 1, "alice"));
    world.send(delivery("a", "x", 2, "bob"));
    let request = world.running.clone().unwrap();
    assert_eq!(request.drafts.len(), 1);
    world.send(delivery("b", "x", 3, "bob"));
    world.end_cycle(End::Works);
    assert_eq!(world.running.clone().unwrap().drafts.len(), 1);
}

#[test]
fn pushes_keep_their_distance_and_what_waits_is_shown() {
    let mut world = World::settled();
    world.send(delivery("a", "x", 1, "alice"));
    world.pass(5_000);
    world.end_cycle(End::Works);
    world.send(delivery("a", "x", 2, "alice"));
    world.send(delivery("b", "x", 2, "alice"));
    let request = world.running.clone().unwrap();
    assert!(!request.publish, "the cooldown runs");
    world.end_cycle(End::Works);
    assert_eq!(world.state.view().pending.len(), 1);
    world.pass(5_000);
    assert!(world.running.clone().unwrap().publish);
}

#[test]
fn a_failure_is_waited_out_on_a_growing_schedule_and_loses_nothing() {
    let mut world = World::new();
    world.end_cycle(End::Unreachable);
    world.send(delivery("a", "x", 1, "alice"));
    world.pass(6_000);
    assert!(world.running.is_none(), "a change does not hurry the retry");
    let Publication::Failing {
        attempts: 1,
        retry_at,
        ..
    } = world.state.view().publication
    else {
        panic!("{:?}", world.state.view().publication)
    };
    assert!((9_000..=11_000).contains(&(retry_at - 1_700_000_000_000)));
    world.pass(6_000);
    world.end_cycle(End::Unreachable);
    world.pass(25_000);
    assert!(!world.running.clone().unwrap().trusted);
    world.end_cycle(End::Works);
    assert_eq!(world.announced.len(), 1);
    assert_eq!(world.state.view().publication, Publication::Healthy);
}

#[test]
fn case_31_a_store_that_fails_is_fetched_again_at_once_and_waits_when_that_fails_too() {
    let mut world = World::settled();
    world.send(delivery("a", "x", 1, "alice"));
    world.pass(6_000);
    world.end_cycle(End::StoreFails);
    let again = world.running.clone().unwrap();
    assert!(!again.trusted, "nothing of the old one is believed");
    world.end_cycle(End::StoreFails);
    assert!(world.running.is_none(), "the second time it waits");
    world.pass(25_000);
    world.end_cycle(End::Works);
    assert_eq!(world.announced.len(), 1);
}

#[test]
fn a_look_that_failed_is_tried_again_although_nobody_sends_anything() {
    let mut world = World::new();
    while world.running.is_some() {
        world.end_cycle(End::Unreachable);
    }
    for _ in 0..3 {
        world.pass(330_000);
        assert!(world.running.clone().unwrap().look, "the schedule goes on");
        world.end_cycle(End::Unreachable);
    }
    world.pass(330_000);
    world.end_cycle(End::Works);
    assert_eq!(world.state.view().publication, Publication::Healthy);
}

#[test]
fn a_change_that_arrives_while_stopping_is_published_too() {
    let mut world = World::settled();
    world.send(delivery("a", "x", 1, "alice"));
    world.feed(Event::ShutDown);
    world.send(delivery("a", "y", 1, "alice"));
    world.end_cycle(End::Works);
    world.end_cycle(End::Works);
    assert_eq!((world.stopped, world.announced.len()), (Some(0), 2));
}

#[test]
fn a_new_credential_is_tried_at_once() {
    let mut world = World::new();
    world.end_cycle(End::Unreachable);
    assert!(world.running.is_none());
    world.send(BranchMessage::Look);
    assert!(world.running.is_none());
    world.send(BranchMessage::CredentialChanged);
    assert!(world.running.is_some());
}

#[test]
fn intake_pauses_while_the_buffer_is_full_and_opens_when_there_is_room() {
    let mut world = World::new();
    world.end_cycle(End::Unreachable);
    for version in 0..80 {
        world.send(delivery("a", &format!("x{version}"), version, "alice"));
    }
    assert_eq!(world.state.intake(), IntakeState::Paused);
    world.pass(12_000);
    world.end_cycle(End::Works);
    world.pass(10_000);
    world.end_cycle(End::Works);
    assert_eq!(world.state.intake(), IntakeState::Open);
    assert_eq!(world.state.view().buffered_bytes, 0);
}

#[test]
fn a_push_notice_closes_the_window_and_looks() {
    let mut world = World::settled();
    world.send(delivery("a", "x", 1, "alice"));
    world.send(BranchMessage::PushNotice);
    let request = world.running.clone().unwrap();
    assert!(request.look);
    assert_eq!(request.drafts.len(), 1);
}

#[test]
fn an_idle_branch_is_looked_at_again_after_the_interval() {
    let mut world = World::settled();
    world.pass(599_000);
    assert!(world.running.is_none());
    world.pass(2_000);
    assert!(world.running.clone().unwrap().look);
}

#[test]
fn shutting_down_publishes_what_is_open_and_gives_a_dead_remote_one_try() {
    let mut world = World::settled();
    world.send(delivery("a", "x", 1, "alice"));
    world.feed(Event::ShutDown);
    world.end_cycle(End::Works);
    assert_eq!(world.stopped, Some(0));
    let mut world = World::settled();
    world.send(delivery("a", "x", 1, "alice"));
    world.feed(Event::ShutDown);
    world.end_cycle(End::Unreachable);
    assert_eq!(world.stopped, Some(1));
}

#[test]
fn a_branch_that_is_given_up_insists_until_its_budget_ends() {
    let mut world = World::settled();
    world.send(delivery("a", "x", 1, "alice"));
    world.send(BranchMessage::Retire);
    world.end_cycle(End::Unreachable);
    assert_eq!(world.stopped, None);
    for _ in 0..20 {
        world.pass(60_000);
        world.end_cycle(End::Unreachable);
    }
    assert_eq!(world.stopped, Some(1));
}

#[test]
fn a_cycle_is_asked_for_with_what_is_known_when_its_turn_has_come() {
    let mut world = World::settled();
    world.crowd(true);
    world.send(delivery("a", "x", 1, "alice"));
    world.pass(6_000);
    assert!(world.running.is_none());
    let BranchMessage::ConfigureTarget(mut suspended) = config("a") else {
        unreachable!("a configuration was asked for")
    };
    suspended.suspended = true;
    world.send(BranchMessage::ConfigureTarget(suspended));
    world.send(BranchMessage::CredentialChanged);
    world.send(delivery("b", "y", 2, "bob"));
    world.pass(6_000);
    world.crowd(false);
    let request = world.running.clone().unwrap();
    assert_eq!(request.drafts.len(), 2, "bob's as well");
    assert!(!request.trusted, "the new credential is tried");
    let is_suspended = |key: &str| {
        let config = request
            .targets
            .iter()
            .find(|config| config.key == target(key));
        config.unwrap().suspended
    };
    assert!(is_suspended("a") && !is_suspended("b"));
}

#[test]
fn a_long_wait_for_a_turn_is_told_and_what_failed_before_is_told_first() {
    let mut world = World::settled();
    world.crowd(true);
    world.send(delivery("a", "x", 1, "alice"));
    world.pass(6_000);
    let asked = world.now.wall - 1_000;
    assert_eq!(world.state.view().publication, Publication::Healthy);
    world.pass(9_000);
    let waits = Publication::Waiting { since: asked };
    assert_eq!(world.state.view().publication, waits);
    assert_eq!(world.state.next_deadline(), None, "told once");
    world.crowd(false);
    assert_eq!(world.state.view().publication, Publication::Healthy);
    world.end_cycle(End::Unreachable);
    world.crowd(true);
    world.pass(60_000);
    let view = world.state.view();
    assert!(matches!(view.publication, Publication::Failing { .. }));
}

#[test]
fn an_idle_branch_stops_without_a_turn_and_a_busy_one_waits_for_it_within_its_budget() {
    let mut world = World::settled();
    world.crowd(true);
    world.send(BranchMessage::Look);
    assert!(world.asked_for_turn);
    world.feed(Event::ShutDown);
    assert_eq!(world.stopped, Some(0));
    world.crowd(false);
    assert!(world.running.is_none(), "a turn that comes too late");

    let mut world = World::settled();
    world.crowd(true);
    world.send(delivery("a", "x", 1, "alice"));
    world.feed(Event::ShutDown);
    world.pass(6_000);
    assert_eq!(world.stopped, None);
    world.pass(settings().cycle_budget);
    assert_eq!(world.stopped, Some(1));

    // A branch that is given up has nobody who comes after it.
    let mut world = World::settled();
    world.crowd(true);
    world.send(delivery("a", "x", 1, "alice"));
    world.send(BranchMessage::Retire);
    world.pass(2 * settings().cycle_budget);
    assert_eq!(world.stopped, None);
    world.crowd(false);
    world.end_cycle(End::Works);
    assert_eq!(world.stopped, Some(0));
    assert_eq!(world.remote.len(), 1);
}

#[test]
fn a_snapshot_closes_the_window_before_it() {
    let mut world = World::settled();
    world.send(delivery("a", "x", 1, "alice"));
    world.send(BranchMessage::Snapshot(Box::new(Snapshot {
        target: target("a"),
        collection: collection(),
        served: Arc::clone(object("x", 1).served()),
        objects: vec![object("x", 2)],
        protected: Vec::new(),
        resource_version: "2".to_owned(),
    })));
    let request = world.running.clone().unwrap();
    let _first = request
        .drafts
        .iter()
        .find(|draft| matches!(draft.kind, DraftKind::Window { .. }))
        .unwrap();
    world.end_cycle(End::Works);
    if world.running.is_some() {
        world.end_cycle(End::Works);
    }
    world.pass(6_000);
    world.end_cycle(End::Works);
    let view = world.state.view();
    assert_eq!(
        view.targets[&target("a")].collections[&collection()],
        board::CollectionProgress::Published
    );
}

/// Feeds what was recorded to a fresh machine, through the form in which a record is kept.
fn replay_gives_the_same_effects(record: &[(Now, Event, Vec<Effect>)]) {
    let mut fresh = World::new_state();
    for (now, event, effects) in record {
        let text = serde_json::to_string(event).unwrap();
        let again = fresh.step(*now, serde_json::from_str(&text).unwrap());
        assert_eq!(&effects_without_content(&again), effects);
    }
}

#[test]
fn a_kept_document_counts_until_its_object_is_back() {
    let mut world = World::settled();
    let kept = |world: &World| {
        let view = world.state.view();
        let retention = view.targets[&target("a")].retention.clone();
        retention.map(|retention| retention.total())
    };
    assert_eq!(kept(&world), None, "nothing is known before a snapshot");
    let ids = ["x", "y"].map(|name| object(name, 1).id().clone());
    world.retained = ids.into();
    world.send(BranchMessage::Snapshot(Box::new(Snapshot {
        target: target("a"),
        collection: collection(),
        served: Arc::clone(object("x", 1).served()),
        objects: Vec::new(),
        protected: Vec::new(),
        resource_version: "2".to_owned(),
    })));
    world.pass(20_000);
    world.end_cycle(End::Works);
    assert_eq!(kept(&world), Some(2));
    world.retained = BTreeSet::new();
    world.send(delivery("a", "x", 3, "alice"));
    world.pass(20_000);
    world.end_cycle(End::Works);
    assert_eq!(kept(&world), Some(1));
}

#[test]
fn rf_5_a_layout_is_dated_by_its_change_and_not_by_the_last_look() {
    let mut world = World::settled();
    let several = Layout::Ambiguous {
        roots: vec![
            FolderPath::new("a/x").unwrap(),
            FolderPath::new("a/y").unwrap(),
        ],
    };
    let started = world.now.wall;
    for (layout, at, known, changed_after) in [
        (Some(Layout::Plain), None, None, None),
        (Some(Layout::Plain), Some("1"), Some("1"), None),
        (Some(Layout::Plain), Some("2"), Some("1"), None),
        (Some(several.clone()), Some("3"), Some("3"), Some(4_000)),
        (Some(several), Some("4"), Some("3"), Some(4_000)),
        (Some(Layout::Plain), Some("5"), Some("5"), Some(6_000)),
        (None, Some("6"), None, None),
        (Some(Layout::Plain), Some("7"), Some("7"), None),
    ] {
        world.pass(1_000);
        let commit = |digit: &str| CommitId::new(digit.repeat(40)).unwrap();
        let scan = FolderScan {
            target: target("a"),
            commit: at.map(commit),
            state: FolderState::Accepted,
            layout: layout.clone(),
        };
        let outcome = CycleOutcome {
            folders: vec![scan],
            ..CycleOutcome::default()
        };
        world.feed(Event::CycleDone(Box::new(outcome)));
        let expected = layout.map(|layout| LayoutView {
            layout,
            commit: known.map(commit),
            changed_at: changed_after.map(|after| started + after),
        });
        assert_eq!(world.state.view().targets[&target("a")].layout, expected);
    }
    // Another folder is another question.
    let BranchMessage::ConfigureTarget(mut moved) = config("a") else {
        unreachable!("a configuration was asked for")
    };
    moved.folder = FolderPath::new("elsewhere").unwrap();
    world.send(BranchMessage::ConfigureTarget(moved));
    assert_eq!(world.state.view().targets[&target("a")].layout, None);
}

#[test]
fn what_no_longer_feeds_a_target_is_forgotten() {
    let mut world = World::settled();
    world.send(BranchMessage::Snapshot(Box::new(Snapshot {
        target: target("a"),
        collection: collection(),
        served: Arc::clone(object("x", 1).served()),
        objects: Vec::new(),
        protected: Vec::new(),
        resource_version: "2".to_owned(),
    })));
    assert_eq!(
        world.state.view().targets[&target("a")].collections.len(),
        1
    );
    world.send(BranchMessage::ForgetCollection {
        target: target("a"),
        collection: collection(),
    });
    assert!(
        world.state.view().targets[&target("a")]
            .collections
            .is_empty()
    );
}

#[derive(Debug, Clone)]
enum Act {
    Change { target: u8, name: u8, by: u8 },
    Pass(u64),
    End(u8),
    Notice,
    NewCredential,
    Crowd(bool),
    Kill { after_the_push: bool },
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        6 => (0..2_u8, 0..4_u8, 0..2_u8).prop_map(|(target, name, by)| Act::Change { target, name, by }),
        4 => (1..20_000_u64).prop_map(Act::Pass),
        5 => (0..6_u8).prop_map(Act::End),
        1 => Just(Act::Notice),
        1 => Just(Act::NewCredential),
        2 => any::<bool>().prop_map(Act::Crowd),
        1 => any::<bool>().prop_map(|after_the_push| Act::Kill { after_the_push }),
    ];
    proptest::collection::vec(act, 1..80)
}

#[test]
fn what_an_earlier_writer_left_waits_for_its_target_and_not_for_ever() {
    let mut world = World::settled();
    world.send(delivery("a", "x", 1, "alice"));
    world.kills += 1;
    world.state = World::new_state();
    world.feed(Event::Recovered {
        deliveries: world.unsettled.values().cloned().collect(),
        sent: Vec::new(),
    });
    world.end_cycle(End::Works);
    world.pass(3_000_000);
    assert_eq!(world.unsettled.len(), 1, "its target may come back");
    assert_eq!(world.state.view().pending[0].objects, 1);
    world.pass(700_000);
    assert!(world.unsettled.is_empty());
    world.send(config("a"));
    world.pass(10_000);
    world.end_cycle(End::Works);
    assert_eq!(world.remote, []);
}

#[test]
fn what_an_earlier_writer_left_stays_out_of_another_folder() {
    let mut world = World::settled();
    world.send(delivery("a", "x", 1, "alice"));
    for kept in world.unsettled.values_mut() {
        kept.folder = Some(FolderPath::new("elsewhere").unwrap());
    }
    world.kill(false);
    assert!(world.unsettled.is_empty());
    world.pass(20_000);
    world.end_cycle(End::Works);
    assert_eq!(world.remote, []);
}

#[test]
fn what_a_watch_hands_over_once_more_after_a_restart_is_not_written_twice() {
    let mut world = World::settled();
    world.send(delivery("a", "x", 1, "alice"));
    world.send(delivery("a", "x", 2, "bob"));
    world.kill(false);
    for version in [1, 2] {
        world.send(delivery("a", "x", version, "somebody"));
    }
    for _ in 0..4 {
        world.pass(20_000);
        world.end_cycle(End::Works);
    }
    assert!(world.unsettled.is_empty());
    assert_eq!(
        world.remote.len(),
        2,
        "alice's and bob's: {:?}",
        world.remote
    );
}

#[test]
fn nothing_is_decided_before_the_fate_of_every_push_is_known() {
    let mut world = World::settled();
    world.send(delivery("a", "x", 1, "alice"));
    world.send(delivery("a", "x", 2, "bob"));
    world.pass(6_000);
    world.kill(true);
    let request = world.running.clone().unwrap();
    assert_eq!(request.doubtful.len(), 1);
    assert!(request.drafts.is_empty() && request.targets.is_empty());
    world.send(delivery("a", "x", 3, "carol"));
    let folders = world.unsettled.values().map(|kept| kept.folder.as_ref());
    assert!(
        folders.into_iter().all(|folder| folder.is_some()),
        "each is written down with its folder"
    );
    assert_eq!(
        world.state.view().pending.len(),
        2,
        "what is in doubt, and carol's"
    );
    world.end_cycle(End::Unreachable);
    world.pass(60_000);
    assert_eq!(
        world.running.clone().unwrap().doubtful.len(),
        1,
        "asked again"
    );
    for _ in 0..4 {
        world.end_cycle(End::Works);
        world.pass(20_000);
    }
    assert_eq!(world.remote.len(), 3, "{:?}", world.remote);
    assert!(world.unsettled.is_empty());
}

proptest! {
    /// Whatever happens in between, kills included: once the remote answers again, every object's last change is
    /// there, changes of one object are in order, nothing is there twice, everything is told once, and the journal
    /// is empty.
    #[test]
    fn no_write_is_lost_or_published_twice_and_order_is_kept(acts in acts()) {
        let mut world = World::new();
        let mut last: BTreeMap<(String, String), u64> = BTreeMap::new();
        let mut version = 0;
        for act in acts {
            match act {
                Act::Change { target, name, by } => {
                    version += 1;
                    let target = if target == 0 { "a" } else { "b" };
                    let name = format!("x{name}");
                    let by = if by == 0 { "alice" } else { "bob" };
                    world.send(delivery(target, &name, version, by));
                    last.insert((target.to_owned(), name), version);
                }
                Act::Pass(millis) => world.pass(millis),
                Act::End(end) => world.end_cycle(match end {
                    0 | 1 => End::Works,
                    2 => End::Unreachable,
                    3 => End::LandedUnanswered,
                    4 => End::LostUnanswered,
                    _ => End::BreaksDown,
                }),
                Act::Notice => world.send(BranchMessage::PushNotice),
                Act::NewCredential => world.send(BranchMessage::CredentialChanged),
                Act::Crowd(crowded) => world.crowd(crowded),
                Act::Kill { after_the_push } => world.kill(after_the_push),
            }
        }
        world.crowd(false);
        world.end_cycle(End::BreaksDown);
        for _ in 0..40 {
            world.pass(400_000);
            world.end_cycle(End::Works);
        }
        replay_gives_the_same_effects(&world.record);
        prop_assert!(world.unsettled.is_empty(), "not settled: {:?}", world.unsettled.keys());
        let ids: Vec<_> = world.remote.iter().map(|(id, ..)| id.clone()).collect();
        let mut sorted = ids.clone();
        sorted.sort();
        sorted.dedup();
        prop_assert_eq!(&ids, &sorted, "published in order and once");
        let told: BTreeSet<_> = world.announced.iter().collect();
        prop_assert_eq!(told.len(), world.announced.len(), "told once each");
        // What a machine published just before it was killed, it could not tell.
        prop_assert!(told.len() == ids.len() || world.kills > 0);
        let view = world.state.view();
        prop_assert!(view.pending.is_empty() && view.window.is_none());
        prop_assert_eq!(view.buffered_bytes, 0);
        let mut seen: BTreeMap<String, u64> = BTreeMap::new();
        let mut highest = 0;
        for (.., holds) in &world.remote {
            for (id, at) in holds {
                let at: u64 = at.parse().unwrap();
                let before = seen.insert(id.clone(), at).unwrap_or_default();
                prop_assert!(at > before, "{} went from {} to {}", id, before, at);
                highest = highest.max(at);
            }
        }
        prop_assert_eq!(highest, version, "the very last change is published");
        for ((target, name), at) in &last {
            let id = format!("{target} configmaps team-a/{name}");
            prop_assert!(seen[&id] >= *at, "{} is at {}", id, seen[&id]);
        }
    }
}
