//! The Git job on a real object store, against a remote whose faults can be chosen.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test and its helpers report a failure by panicking"
)]

mod keep;
mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use board::{FolderState, ProvedBy, PublicationFault};
use branch::TargetConfig;
use branch::cycle::{
    CycleOutcome, CycleRequest, DraftResult, FetchReason, Ledger, LedgerClosed, Unanswered,
};
use branch::journal::{DeliveryNumber, Sent};
use branch::state::{Draft, DraftKind, WriteId};
use manifests::Encryption;
use model::sanitize::sanitize;
use model::{
    Change, CommitId, FolderPath, GitBranchKey, Layout, LiveObject, ObjectName, Operation,
    RefusalCode, RepoPath, ServedType, Signature, Snapshot, TypeId,
};
use repository::SigningKey;
use sealing::{NewIdentity, SealedDocument};
use support::*;

#[test]
fn what_was_refused_is_made_anew_by_another_committer() {
    let mut scene = Scene::with_document();
    let apps = target("apps");
    scene.server(|server| server.next = Push::Refuses);
    let first = scene.run(request(&[&apps], vec![draft(1, &apps, upsert("x", "2"))]));
    assert_eq!(first.fault.unwrap().kind, PublicationFault::PushRefused);
    let DraftResult::Judged(verdict) = &first.drafts[0].result else {
        panic!("{:?}", first.drafts);
    };
    let write = Arc::new(verdict.write.clone().unwrap());
    let pending = |committer| CycleRequest {
        committer,
        pending: vec![Arc::clone(&write)],
        ..request(&[&apps], Vec::new())
    };
    scene.server(|server| server.next = Push::Refuses);
    let same = scene.run(pending(Signature::default()));
    assert_eq!(same.replayed, Vec::new(), "nothing changed");
    let other = scene.run(pending(Signature::cleaned("Ops", "ops@example.com")));
    let made = other.replayed[0].write.as_ref().unwrap();
    assert_ne!(made.commit, write.commit);
    assert_eq!(other.published.unwrap().tip, made.commit);
}

#[test]
fn case_19_a_branch_that_is_hidden_from_pushes_is_refused_and_not_pushed_to_again() {
    let mut scene = Scene::with_document();
    scene.server(|server| server.next = Push::Hides);
    let apps = target("apps");
    let drafts = vec![draft(1, &apps, upsert("x", "2"))];
    let fault = scene.run(request(&[&apps], drafts)).fault.unwrap();
    assert_eq!(fault.kind, PublicationFault::PushRefused);
    assert!(
        fault.message.contains("shows branch main to readers"),
        "{}",
        fault.message
    );
    assert_eq!(scene.server(|server| server.pushes), 1);
}

#[test]
fn a_commit_that_is_to_be_signed_is_not_made_without_its_key() {
    let mut scene = Scene::with_document();
    let apps = target("apps");
    let asked = || request(&[&apps], vec![draft(1, &apps, upsert("x", "2"))]);
    let no_key = "the Secret is gone".to_owned();
    *scene.keyring.1.lock().unwrap() = Some(Err(no_key.clone()));
    let held = scene.run(asked());
    let fault = held.fault.unwrap();
    assert_eq!(
        (fault.kind, fault.message),
        (PublicationFault::Signing, no_key)
    );
    assert!(held.drafts.is_empty() && held.published.is_none());
    assert_eq!(scene.server(|server| server.pushes), 0);

    // The same draft is committed once there is a key, and its commit says who signed.
    let key = SigningKey::generate(&mut rand::rng(), None).unwrap().key;
    *scene.keyring.1.lock().unwrap() = Some(Ok(Arc::new(key)));
    let signed = scene.run(asked()).published.unwrap().tip;
    *scene.keyring.1.lock().unwrap() = None;
    let mut without = Scene::with_document();
    let unsigned = without.run(asked()).published.unwrap().tip;
    assert_ne!(signed, unsigned, "all but the signature is the same");
}

#[test]
fn a_peer_that_moves_the_branch_keeps_its_change_beside_ours() {
    let mut scene = Scene::with_document();
    let apps = target("apps");
    scene.server(|server| server.next = Push::Loses("peer.txt", "hello\n"));
    let outcome = scene.run(request(&[&apps], vec![draft(1, &apps, upsert("x", "2"))]));
    assert_eq!(outcome.fault, None);
    assert_eq!(outcome.published.unwrap().through, WriteId(1));
    scene.server(|server| {
        assert_eq!(
            server.file("apps/team-a/configmaps/x.yaml"),
            document("x", "2", "# note")
        );
        assert_eq!(server.file("peer.txt"), "hello\n");
    });
}

#[test]
fn the_tip_of_a_peer_is_remembered_and_ours_is_not_taken_for_one() {
    let mut scene = Scene::with_document();
    let apps = target("apps");
    let run = |scene: &mut Scene, known: Option<CommitId>, value: &str| {
        let mut request = request(&[&apps], vec![draft(1, &apps, upsert("x", value))]);
        request.known_tip = known;
        scene.run(request)
    };
    let first = run(&mut scene, None, "2");
    let ours = first.published.unwrap().tip;
    let second = run(&mut scene, Some(ours), "3");
    assert_eq!(second.foreign, None);
    let theirs = scene.server(|server| server.commit("peer.txt", "hello\n"));
    let third = run(&mut scene, Some(second.published.unwrap().tip), "4");
    assert_eq!(third.foreign, Some(theirs));
}

#[test]
fn a_folder_that_a_peer_made_unwritable_before_the_push_refuses_the_write_and_says_so() {
    let mut scene = Scene::with_document();
    let apps = target("apps");
    scene.server(|server| {
        server.next = Push::Loses("apps/kustomization.yaml", "resources: []\nnamePrefix: x-\n");
    });
    let outcome = scene.run(request(&[&apps], vec![draft(1, &apps, upsert("x", "2"))]));
    let DraftResult::FolderRefused(issues) = &outcome.drafts[0].result else {
        panic!("{:?}", outcome.drafts[0].result)
    };
    assert!(
        issues[0].to_string().contains("apps/kustomization.yaml"),
        "{issues:?}"
    );
    assert_eq!(outcome.published, None);
}

#[test]
fn a_path_that_is_a_file_refuses_its_target_and_no_other() {
    let mut scene = Scene::with_document();
    scene.server(|server| server.commit("broken", "a file\n"));
    let (apps, broken) = (target("apps"), target("broken"));
    let drafts = vec![
        draft(1, &broken, upsert("y", "1")),
        draft(2, &apps, upsert("x", "2")),
    ];
    let outcome = scene.run(request(&[&apps, &broken], drafts));
    assert_eq!(outcome.fault, None);
    assert!(matches!(
        outcome.drafts[0].result,
        DraftResult::FolderRefused(_)
    ));
    assert_eq!(outcome.published.unwrap().through, WriteId(2));
    let states: BTreeMap<_, _> = outcome
        .folders
        .iter()
        .map(|scan| (scan.target.name.as_str(), &scan.state))
        .collect();
    assert_eq!(states["apps"], &FolderState::Accepted);
    assert!(matches!(states["broken"], FolderState::Refused(_)));
}

#[test]
fn rf_5_a_look_says_at_which_commit_a_folder_is_so_also_after_a_push_of_ours() {
    let mut scene = Scene::with_document();
    scene.server(|server| server.commit("broken", "a file\n"));
    let (apps, other, broken) = (target("apps"), target("other"), target("broken"));
    let tip = |scene: &Scene| scene.server(|server| server.branches[&main()].clone());
    let seen = |outcome: &CycleOutcome| -> BTreeMap<_, _> {
        let scans = outcome.folders.iter();
        scans
            .map(|scan| {
                let name = scan.target.name.to_string();
                (name, (scan.commit.clone().unwrap(), scan.layout.clone()))
            })
            .collect()
    };
    let before = tip(&scene);
    let targets = [&apps, &other, &broken];
    let look = seen(&scene.run(request(&targets, Vec::new())));
    assert_eq!(look["apps"], (before.clone(), Some(Layout::Plain)));
    assert_eq!(look["broken"], (before.clone(), None));

    let outcome = scene.run(request(&targets, vec![draft(1, &apps, upsert("x", "2"))]));
    assert_eq!(outcome.fault, None);
    assert_eq!(outcome.published.as_ref().unwrap().tip, tip(&scene));
    let written = seen(&outcome);
    assert_eq!(written["apps"], (tip(&scene), Some(Layout::Plain)));
    assert!(!written.contains_key("other"), "nothing was written there");
}

#[test]
fn an_unanswered_push_that_landed_below_a_peers_commit_is_found_and_not_made_again() {
    let mut scene = Scene::with_document();
    let apps = target("apps");
    let tip = scene.server(|server| server.branches[&main()].clone());
    scene.server(|server| server.next = Push::TakesInSilence);
    let first = scene.run(request(&[&apps], vec![draft(1, &apps, upsert("x", "2"))]));
    let unanswered = first.fault.unwrap().unanswered.unwrap();
    assert_eq!(unanswered.on, Some(tip));
    let DraftResult::Judged(verdict) = &first.drafts[0].result else {
        panic!("{first:?}", first = first.drafts)
    };
    let pending = vec![Arc::new(verdict.write.clone().unwrap())];
    scene.server(|server| {
        server.commit(
            "apps/team-a/configmaps/x.yaml",
            &document("x", "3", "# the peer"),
        )
    });
    let next = CycleRequest {
        unanswered: vec![unanswered],
        pending,
        ..request(&[&apps], Vec::new())
    };
    let second = scene.run(next);
    assert_eq!(second.fault, None);
    let published = second.published.unwrap();
    assert_eq!(
        (published.through, published.by),
        (WriteId(1), ProvedBy::Fetch)
    );
    scene.server(|server| {
        assert_eq!(server.pushes, 1);
        assert_eq!(
            server.file("apps/team-a/configmaps/x.yaml"),
            document("x", "3", "# the peer")
        );
    });
}

#[test]
fn the_first_of_two_unanswered_pushes_may_be_the_one_that_landed() {
    let mut scene = Scene::with_document();
    let apps = target("apps");
    let mut pending = Vec::new();
    let mut unanswered = Vec::new();
    for (id, name) in [(1, "x"), (2, "y")] {
        scene.server(|server| server.next = Push::TakesLate);
        let outcome = scene.run(CycleRequest {
            unanswered: unanswered.clone(),
            pending: pending.clone(),
            ..request(&[&apps], vec![draft(id, &apps, upsert(name, "2"))])
        });
        unanswered.push(outcome.fault.unwrap().unanswered.unwrap());
        let DraftResult::Judged(verdict) = &outcome.drafts[0].result else {
            panic!("{:?}", outcome.drafts)
        };
        pending.push(Arc::new(verdict.write.clone().unwrap()));
    }
    // The slow server takes the first and refuses the second, and a peer goes on from there.
    const PATH: &str = "apps/team-a/configmaps/x.yaml";
    scene.server(|server| {
        server.catch_up();
        server.commit(PATH, &document("x", "3", "# the peer"));
    });
    let outcome = scene.run(CycleRequest {
        unanswered,
        pending,
        ..request(&[&apps], Vec::new())
    });
    assert_eq!(outcome.fault, None);
    assert_eq!(outcome.published.unwrap().through, WriteId(2));
    scene.server(|server| {
        assert_eq!(server.file(PATH), document("x", "3", "# the peer"));
        assert!(server.file("apps/team-a/configmaps/y.yaml").contains("2"));
    });
}

/// Notes pushes beside how many the server had seen by then, and may have ended.
struct Notes {
    line: Line,
    noted: Arc<Mutex<Vec<(Sent, usize)>>>,
    ended: bool,
}

impl Ledger for Notes {
    fn note(&self, sent: &Sent) -> Result<(), LedgerClosed> {
        let pushes = self.line.0.lock().unwrap().pushes;
        self.noted.lock().unwrap().push((sent.clone(), pushes));
        if self.ended {
            Err(LedgerClosed)
        } else {
            Ok(())
        }
    }
}

#[test]
fn d33_a_push_is_noted_before_it_is_sent_and_not_sent_when_nobody_takes_notes() {
    let mut scene = Scene::with_document();
    let apps = target("apps");
    let tip = scene.server(|server| server.branches[&main()].clone());
    let noted = Arc::new(Mutex::new(Vec::new()));
    for ended in [true, false] {
        let notes = Notes {
            line: scene.line.clone(),
            noted: Arc::clone(&noted),
            ended,
        };
        scene.workshop.use_ledger(Box::new(notes));
        let drafts = vec![
            draft(1, &apps, upsert("x", "2")),
            draft(2, &apps, upsert("y", "1")),
        ];
        let outcome = scene.run(request(&[&apps], drafts));
        assert_eq!(outcome.fault.is_some(), ended, "{:?}", outcome.fault);
    }
    let now = scene.server(|server| server.branches[&main()].clone());
    let noted = noted.lock().unwrap();
    let [(_, 0), (sent, 0)] = noted.as_slice() else {
        panic!("{noted:?}")
    };
    assert_eq!((&sent.commit, &sent.on), (&now, &Some(tip)));
    let numbers = [1, 2].map(DeliveryNumber);
    assert_eq!(sent.numbers.iter().collect::<Vec<_>>(), numbers);
}

#[test]
fn d33_a_push_of_an_earlier_writer_is_found_below_a_peers_commit() {
    let mut scene = Scene::with_document();
    let apps = target("apps");
    let tip = scene.server(|server| server.branches[&main()].clone());
    scene.run(request(&[&apps], vec![draft(1, &apps, upsert("x", "2"))]));
    let ours = scene.server(|server| server.branches[&main()].clone());
    scene.server(|server| server.commit("peer.txt", "hello\n"));
    let doubtful = |commit: &CommitId, on: &CommitId| Unanswered {
        commit: commit.clone(),
        on: Some(on.clone()),
        through: None,
    };
    let never = CommitId::new("1".repeat(40)).unwrap();
    let outcome = scene.run(CycleRequest {
        doubtful: vec![doubtful(&never, &tip), doubtful(&ours, &tip)],
        ..request(&[], Vec::new())
    });
    assert_eq!(outcome.fault, None);
    assert_eq!(outcome.landed.into_iter().collect::<Vec<_>>(), [ours]);
}

#[test]
fn b017_a_store_that_is_half_made_or_no_folder_at_all_is_made_anew() {
    let spoil: [fn(&Path); 3] = [
        |store| {
            std::fs::remove_dir_all(store).unwrap();
            std::fs::create_dir(store).unwrap();
        },
        |store| {
            std::fs::remove_dir_all(store).unwrap();
            std::fs::write(store, "in the way").unwrap();
        },
        |store| std::fs::write(store.join("HEAD"), "").unwrap(),
    ];
    for spoil in spoil {
        let mut scene = Scene::with_document();
        let apps = target("apps");
        assert_eq!(scene.run(request(&[&apps], Vec::new())).fault, None);
        scene.start_again();
        spoil(&scene.folder.path().join("store"));
        let drafts = vec![draft(1, &apps, upsert("x", "2"))];
        let outcome = scene.run(request(&[&apps], drafts));
        assert_eq!(outcome.fault, None);
        assert!(outcome.published.is_some());
    }
}

#[test]
fn a_store_that_has_grown_is_begun_anew_and_stays_where_that_fails() {
    let mut scene = Scene::with_document();
    let apps = target("apps");
    let look = || CycleRequest {
        look: true,
        ..request(&[&target("apps")], Vec::new())
    };
    assert_eq!(scene.run(look()).fault, None);
    let folder = scene.folder.path().join("store");
    let mark = folder.join("mark");
    std::fs::write(&mark, "of the first store").unwrap();
    let grow = |scene: &Scene, fetches| {
        scene.server(|server| {
            for round in 0..120 {
                server.commit("peer.txt", &format!("{round} {fetches:?}\n"));
            }
            server.fetches = fetches;
        });
    };
    grow(&scene, None);
    let outcome = scene.run(request(&[&apps], vec![draft(1, &apps, upsert("x", "2"))]));
    assert_eq!(outcome.fault, None);
    assert_eq!(outcome.published.unwrap().through, WriteId(1));
    assert!(outcome.fetches.contains(&FetchReason::Renewal));
    assert!(!mark.exists(), "the first store is gone");
    let entries = std::fs::read_dir(scene.folder.path()).unwrap();
    assert_eq!(entries.count(), 1, "and nothing is left beside the new one");

    // The look itself is served, and nothing more.
    std::fs::write(&mark, "of the second store").unwrap();
    grow(&scene, Some(1));
    assert_eq!(scene.run(look()).fault, None);
    assert!(mark.exists(), "the second store stays");
    scene.server(|server| server.fetches = None);

    let outcome = scene.run(request(&[&apps], vec![draft(2, &apps, upsert("x", "3"))]));
    assert_eq!(outcome.published.unwrap().through, WriteId(2));
    scene.server(|server| {
        assert_eq!(
            server.file("apps/team-a/configmaps/x.yaml"),
            document("x", "3", "# note")
        );
        assert_eq!(server.file("peer.txt"), "119 Some(1)\n");
    });
}

#[test]
fn a_removal_finds_its_document_although_discovery_knows_nothing() {
    let mut scene = Scene::with_document();
    let apps = target("apps");
    scene.server(|server| server.commit("apps/keep.txt", "stays\n"));
    let outcome = scene.run(request(&[&apps], vec![draft(1, &apps, remove("x"))]));
    assert_eq!(outcome.published.unwrap().through, WriteId(1));
    scene.server(|server| {
        let tip = server.branches[&main()].clone();
        let files = server.store.snapshot(&tip, &FolderPath::root()).unwrap();
        let kept = RepoPath::new("apps/keep.txt").unwrap();
        assert_eq!(files.files.paths(), [kept]);
    });
}

#[test]
fn a_draft_of_a_target_that_was_made_anew_elsewhere_stays_out_of_the_new_folder() {
    let mut scene = Scene::with_document();
    let old = target("apps");
    let moved = Arc::new(TargetConfig {
        folder: FolderPath::new("elsewhere").unwrap(),
        ..TargetConfig::clone(&old)
    });
    let outcome = scene.run(request(&[&moved], vec![draft(1, &old, upsert("x", "2"))]));
    assert_eq!(outcome.fault, None);
    scene.server(|server| {
        assert_eq!(
            server.file("apps/team-a/configmaps/x.yaml"),
            document("x", "2", "# note")
        );
    });
}

#[test]
fn nothing_is_written_while_the_parent_is_missing() {
    let mut scene = Scene::new(Some("develop"));
    let apps = target("apps");
    let outcome = scene.run(request(&[&apps], vec![draft(1, &apps, upsert("x", "2"))]));
    assert_eq!(outcome.fault.unwrap().kind, PublicationFault::ParentMissing);
    assert!(outcome.drafts.is_empty(), "the draft waits");
    scene.server(|server| assert!(server.branches.is_empty()));
}

#[test]
fn what_the_branch_holds_already_makes_no_commit_and_is_proved() {
    let mut scene = Scene::with_document();
    let apps = target("apps");
    let outcome = scene.run(request(&[&apps], vec![draft(1, &apps, upsert("x", "1"))]));
    assert_eq!((outcome.fault, outcome.published), (None, None));
    assert_eq!(outcome.base.unwrap().by, ProvedBy::Fetch);
    scene.server(|server| assert_eq!(server.pushes, 0));
}

/// What is counted of cycles, and what it came to since it was last asked.
struct Counters {
    metrics: branch::metrics::BranchMetrics,
    registry: prometheus::Registry,
    known: BTreeMap<String, f64>,
}

impl Counters {
    fn new() -> Self {
        let mut registrar = board::metrics::Registrar::new("test");
        let directory = board::DirectoryWriter::new().reader();
        let metrics = branch::metrics::Metrics::register(&mut registrar, &directory).unwrap();
        let branch = GitBranchKey::new(namespace(), ObjectName::new("main").unwrap());
        let provider = model::GitProviderKey::new(namespace(), ObjectName::new("host").unwrap());
        Self {
            metrics: metrics.of(&branch, &provider),
            registry: registrar.finish().0,
            known: BTreeMap::new(),
        }
    }

    /// Counts a cycle as the shell does, and returns the series that grew with their last label.
    fn of(&mut self, request: &CycleRequest, outcome: &CycleOutcome) -> Vec<String> {
        self.metrics
            .note_cycle(outcome, request.publish, std::time::Duration::ZERO);
        for decided in &outcome.drafts {
            let draft = request.drafts.iter().find(|draft| draft.id == decided.id);
            self.metrics.note_draft(draft.unwrap(), &decided.result);
        }
        let mut grown = Vec::new();
        for family in self.registry.gather() {
            for series in family.get_metric() {
                let labels = series.get_label().iter();
                let name = family.name().trim_start_matches("test_").to_owned();
                let of = |name: &str| labels.clone().find(|label| label.name() == name);
                let telling = [
                    "outcome",
                    "source",
                    "reason",
                    "author_kind",
                    "gittarget_name",
                ];
                let label = telling.iter().find_map(|name| of(name));
                let Some(label) = label.filter(|_| name.ends_with("_total")) else {
                    continue;
                };
                let key = format!("{name} {}", label.value());
                let value = series.get_counter().get_value();
                let before = self.known.insert(key.clone(), value).unwrap_or_default();
                if value > before {
                    grown.push(format!("{key} +{}", value - before));
                }
            }
        }
        grown
    }
}

#[test]
fn each_change_loss_and_refusal_raises_its_counters_by_one_and_no_other() {
    let mut scene = Scene::with_document();
    let apps = target("apps");
    let mut counters = Counters::new();
    let mut id = 0;
    let mut run = |scene: &mut Scene, change: Change| {
        id += 1;
        let request = request(&[&apps], vec![draft(id, &apps, change)]);
        let outcome = scene.run(request.clone());
        counters.of(&request, &outcome)
    };
    const COMMITTED: [&str; 2] = [
        "git_commits_total committer +1",
        "git_pushes_total pushed +1",
    ];
    let with = |more: &[&str]| -> Vec<String> {
        let mut all: Vec<String> = COMMITTED
            .iter()
            .chain(more)
            .map(|it| (*it).to_owned())
            .collect();
        all.sort();
        all
    };
    assert_eq!(
        run(&mut scene, upsert("x", "2")),
        with(&[
            "git_documents_total written +1",
            "git_fetches_total initial +1"
        ])
    );
    assert_eq!(
        run(&mut scene, upsert("x", "2")),
        ["git_documents_total unchanged +1"]
    );
    assert_eq!(
        run(&mut scene, upsert("new", "1")),
        with(&[
            "git_documents_total written +1",
            "placements_total builtin +1"
        ])
    );
    assert_eq!(
        run(&mut scene, remove("new")),
        with(&["git_documents_total deleted_live +1"])
    );
    scene.server(|server| server.next = Push::Loses("peer.txt", "1"));
    assert_eq!(
        run(&mut scene, upsert("x", "3")),
        with(&[
            "git_documents_total written +1",
            "git_fetches_total moved +1",
            "git_push_retries_total remote_moved +1"
        ])
    );
    assert_eq!(
        run(&mut scene, secret("b3JjaGlk")),
        [
            "git_commit_failures_total refused +1",
            "git_documents_total refused +1"
        ]
    );
    scene.server(|server| server.next = Push::TakesInSilence);
    let silent = run(&mut scene, upsert("x", "4"));
    assert_eq!(
        silent,
        [
            "git_commits_total committer +1",
            "git_documents_total written +1",
            "git_pushes_total failed +1"
        ]
    );
    // Nothing is known here of the push that was never answered, so its commit is somebody else's.
    scene.server(|server| server.commit("apps/kustomization.yaml", "namePrefix: x-\n"));
    assert_eq!(
        run(&mut scene, upsert("x", "5")),
        [
            "git_commit_failures_total refused +1",
            "git_fetches_total refresh +1"
        ]
    );
    let request = request(&[&apps], vec![nothing_there(99, &apps)]);
    let outcome = scene.run(request.clone());
    assert_eq!(
        counters.of(&request, &outcome),
        [
            "git_commit_failures_total refused +1",
            "git_resync_failures_total apps +1"
        ]
    );
}

/// A snapshot of a collection that holds nothing.
fn nothing_there(id: u64, target: &Arc<TargetConfig>) -> Arc<Draft> {
    let window = draft(id, target, upsert("x", "1"));
    let DraftKind::Window { entries, .. } = &window.kind else {
        unreachable!("a window was asked for")
    };
    let kind = DraftKind::Resync(Snapshot {
        target: target.key.clone(),
        collection: entries[0].collection.clone(),
        served: served(),
        objects: Vec::new(),
        protected: Vec::new(),
        resource_version: "9".to_owned(),
    });
    Arc::new(Draft {
        kind,
        ..(*window).clone()
    })
}

/// A Secret that was changed.
fn secret(value: &str) -> Change {
    let object = serde_json::json!({
        "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
        "metadata": {"name": "db", "namespace": "team-a"}, "data": {"password": value},
    });
    let live = LiveObject {
        served: Arc::new(ServedType {
            type_id: TypeId::new("", "secrets"),
            version: "v1".to_owned(),
            kind: "Secret".to_owned(),
            namespaced: true,
            sensitive: true,
        }),
        value: object.as_object().unwrap().clone(),
    };
    Change::Upsert {
        object: Arc::new(sanitize(&live).unwrap()),
        operation: Operation::Update,
    }
}

#[test]
fn se_1_a_secret_is_sealed_also_on_the_commit_of_somebody_else_and_refused_without_keys() {
    const PATH: &str = "apps/team-a/secrets/db.sops.yaml";
    let mut scene = Scene::with_document();
    let apps = target("apps");
    let ours = NewIdentity::generate();
    let encryption = Encryption {
        recipients: [ours.recipient()].into(),
        identities: Arc::new(ours.identities()),
        fingerprint_key: None,
    };
    *scene.keyring.0.lock().unwrap() = Some(Arc::new(encryption));
    scene.server(|server| server.next = Push::Loses("other/x.txt", "theirs"));
    let outcome = scene.run(request(&[&apps], vec![draft(1, &apps, secret("b3JjaGlk"))]));
    assert_eq!(outcome.fault, None);
    let text = scene.server(|server| server.file(PATH));
    assert!(
        text.contains("ENC[AES256_GCM") && !text.contains("b3JjaGlk"),
        "{text}"
    );
    assert!(
        text.contains("2023-11-14T22:13:20Z"),
        "the moment of the write: {text}"
    );
    let document = SealedDocument::read(&text).unwrap();
    let open = document.open(&ours.identities()).unwrap();
    assert_eq!(open.plaintext().expose()["data"]["password"], "b3JjaGlk");

    *scene.keyring.0.lock().unwrap() = None;
    let outcome = scene.run(request(&[&apps], vec![draft(2, &apps, secret("bmV3"))]));
    let DraftResult::Judged(verdict) = &outcome.drafts[0].result else {
        panic!("{:?}", outcome.drafts);
    };
    assert!(verdict.write.is_none());
    let codes: Vec<_> = verdict
        .refused
        .values()
        .map(|refusal| refusal.code)
        .collect();
    assert_eq!(codes, [RefusalCode::EncryptionNotConfigured]);
    assert_eq!(scene.server(|server| server.file(PATH)), text);
}

#[test]
fn what_a_first_lost_race_refuses_is_told_although_a_second_one_follows() {
    let mut scene = Scene::with_document();
    let other = "apps/team-a/configmaps/other.yaml";
    scene.server(|server| server.commit(other, &document("other", "1", "# note")));
    let apps = target("apps");
    let mut both = (*draft(1, &apps, upsert("x", "2"))).clone();
    let more = draft(2, &apps, upsert("other", "2"));
    if let (
        DraftKind::Window { entries, .. },
        DraftKind::Window {
            entries: others, ..
        },
    ) = (&mut both.kind, &more.kind)
    {
        entries.extend(others.iter().cloned());
    }
    let mut decide = request(&[&apps], vec![Arc::new(both)]);
    decide.publish = false;
    let decided = scene.run(decide);
    let DraftResult::Judged(verdict) = &decided.drafts[0].result else {
        panic!("{decided:?}");
    };
    let write = verdict.write.clone().unwrap();

    // Another version of the kind, which is not edited; then somebody pushes once more before we do.
    let changed = document("other", "1", "# note").replace("apiVersion: v1", "apiVersion: v2");
    scene.server(|server| {
        server.commit(other, &changed);
        server.next = Push::Loses("peer.txt", "hello\n");
    });
    let mut publish = request(&[&apps], Vec::new());
    publish.pending = vec![Arc::new(write)];
    let outcome = scene.run(publish);
    assert_eq!(outcome.fault, None);
    let [replay] = outcome.replayed.as_slice() else {
        panic!("{outcome:?}");
    };
    let refused: Vec<_> = replay.refusals.iter().map(|it| it.object.clone()).collect();
    assert_eq!(refused.len(), 1, "{replay:?}");
    assert_eq!(refused[0].as_ref().unwrap().name.as_str(), "other");
    assert_eq!(replay.write.as_ref().unwrap().objects.len(), 1);
    scene.server(|server| assert_eq!(server.file(other), changed));
}
