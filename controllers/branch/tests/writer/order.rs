//! What is accepted is on the disk first, and a disk that fails holds nothing up.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use board::JournalState;
use branch::journal::{
    Appended, DeliveryNumber, Durability, Entry, FileJournal, Journal, JournalError, Recovered,
};
use branch::shell::{Clock, Surroundings, SystemClock};
use model::{FolderPath, Now, Sensitivity};
use testkit::{GitServer, Workbench};

use crate::history;
use crate::support::{Edit, Places, Writer, around};

/// A journal that waits until it may go on, and notes what it was asked for.
struct Slow {
    inner: FileJournal,
    may_go_on: mpsc::Receiver<()>,
    synced: Arc<Mutex<Vec<usize>>>,
}

impl Journal for Slow {
    fn recover(&mut self) -> Recovered {
        self.inner.recover()
    }

    fn append(
        &mut self,
        entries: &[Entry<'_>],
        durability: Durability,
    ) -> Result<Appended, JournalError> {
        let accepted = entries
            .iter()
            .filter(|entry| matches!(entry, Entry::Accepted { .. }));
        let count = accepted.count();
        if count == 0 {
            return self.inner.append(entries, durability);
        }
        assert_eq!(durability, Durability::Synced);
        // Whoever lets it go on may have gone, at the end.
        let _gone = self.may_go_on.recv();
        let appended = self.inner.append(entries, durability)?;
        self.synced.lock().unwrap().push(count);
        Ok(appended)
    }

    fn mend(&mut self) -> Result<(), JournalError> {
        self.inner.mend()
    }

    fn tidy(&mut self) -> Result<(), JournalError> {
        self.inner.tidy()
    }
}

#[test]
fn d33_nobody_is_told_accepted_before_the_disk_has_it_and_who_waits_shares_one_sync() {
    with_places(|server, places| async move {
        let _runs_meanwhile = server;
        let (go_on, may_go_on) = mpsc::channel();
        let synced = Arc::new(Mutex::new(Vec::new()));
        let journal = Slow {
            inner: places.journal(),
            may_go_on,
            synced: Arc::clone(&synced),
        };
        let clock = Arc::new(SystemClock::start());
        let writer = Writer::start_with(&places, Box::new(journal), clock).await;
        let told = Arc::new(AtomicU64::new(0));
        let mut people = tokio::task::JoinSet::new();
        let mut offer = |number| {
            let (handle, told, synced) = (
                writer.handle.clone(),
                Arc::clone(&told),
                Arc::clone(&synced),
            );
            people.spawn(async move {
                let edit = Edit::new("alice", format!("x{number}"), number);
                handle.offer(edit.delivery()).await.unwrap();
                let on_disk: usize = synced.lock().unwrap().iter().sum();
                let before = told.fetch_add(1, Ordering::SeqCst);
                assert!(
                    u64::try_from(on_disk).unwrap() > before,
                    "{on_disk} on the disk"
                );
            });
        };
        offer(0);
        settle().await;
        (1..=20).for_each(&mut offer);
        settle().await;
        assert_eq!(told.load(Ordering::SeqCst), 0, "nothing is on the disk");
        assert!(writer.view.now().window.is_none() && writer.view.now().queued == 0);
        go_on.send(()).unwrap();
        go_on.send(()).unwrap();
        people.join_all().await;
        assert_eq!(*synced.lock().unwrap(), [1, 20]);
        assert_eq!(writer.stop().await, 0);
    });
}

/// Lets everything that can go on do so.
async fn settle() {
    for _ in 0..200 {
        tokio::task::yield_now().await;
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
}

/// A journal whose disk can be taken away.
struct Fragile {
    inner: FileJournal,
    broken: Arc<AtomicBool>,
}

impl Fragile {
    fn check(&self) -> Result<(), JournalError> {
        let path = "/data/journal".into();
        if self.broken.load(Ordering::SeqCst) {
            Err(JournalError::Closed { path })
        } else {
            Ok(())
        }
    }
}

impl Journal for Fragile {
    fn recover(&mut self) -> Recovered {
        self.inner.recover()
    }

    fn append(
        &mut self,
        entries: &[Entry<'_>],
        durability: Durability,
    ) -> Result<Appended, JournalError> {
        self.check()?;
        self.inner.append(entries, durability)
    }

    fn mend(&mut self) -> Result<(), JournalError> {
        self.check()?;
        self.inner.mend()
    }

    fn tidy(&mut self) -> Result<(), JournalError> {
        self.inner.tidy()
    }
}

/// A clock that can be put forward.
struct Ahead {
    clock: SystemClock,
    by: AtomicU64,
}

impl Clock for Ahead {
    fn now(&self) -> Now {
        self.clock.now().after(self.by.load(Ordering::SeqCst))
    }
}

#[test]
fn d33_changes_are_mirrored_while_the_disk_fails_and_kept_again_when_it_works() {
    with_places(|server, places| async move {
        let broken = Arc::new(AtomicBool::new(true));
        let journal = Fragile {
            inner: places.journal(),
            broken: Arc::clone(&broken),
        };
        let clock = Arc::new(Ahead {
            clock: SystemClock::start(),
            by: AtomicU64::new(0),
        });
        let writer = Writer::start_with(&places, Box::new(journal), Arc::clone(&clock) as _).await;
        let offer = async |number| {
            let edit = Edit::new("alice", "x", number);
            writer.handle.offer(edit.delivery()).await.unwrap();
        };
        offer(1).await;
        wait_for(&writer, |state| matches!(state, JournalState::Failing { message, .. } if message.contains("/data/journal"))).await;
        offer(2).await;
        broken.store(false, Ordering::SeqCst);
        clock.by.store(10_000, Ordering::SeqCst);
        offer(3).await;
        wait_for(&writer, |state| *state == JournalState::Healthy).await;
        assert_eq!(writer.stop().await, 0);
        let numbers: Vec<_> = history::edits(&server, "platform")
            .iter()
            .map(|edit| edit.number)
            .collect();
        assert_eq!(numbers, [1, 2, 3]);
    });
}

/// Writes alice's first edit down, as a writer does that is killed before it could push.
fn accept_first(journal: &mut FileJournal) {
    let accepted = Edit::new("alice", "x", 1).delivery();
    let entry = Entry::Accepted {
        number: DeliveryNumber(1),
        folder: Some(FolderPath::new("apps").unwrap()),
        delivery: &accepted,
    };
    journal.append(&[entry], Durability::Synced).unwrap();
}

#[test]
fn d22_what_an_earlier_writer_accepted_is_judged_by_the_list_of_now() {
    with_places(|server, places| async move {
        // Killed before it could push.
        let mut journal = places.journal();
        journal.recover();
        accept_first(&mut journal);
        drop(journal);

        let around = Surroundings {
            sensitivity: Sensitivity::parse(["configmaps"]).unwrap(),
            ..around(Box::new(places.journal()), Arc::new(SystemClock::start()))
        };
        let writer = Writer::start_in(&places, around).await;
        assert_eq!(writer.stop().await, 0);
        assert_eq!(
            history::edits(&server, "platform"),
            [],
            "nobody has its keys"
        );
        let left = places.journal().recover();
        assert_eq!(left.deliveries, [], "it was judged");
    });
}

#[test]
fn d33_a_writer_whose_journal_somebody_else_holds_tells_it_waits_and_loses_nothing() {
    with_places(|server, places| async move {
        let mut earlier = places.journal();
        earlier.recover();
        let around = Surroundings {
            disk_patience: 200,
            ..around(Box::new(places.journal()), Arc::new(SystemClock::start()))
        };
        let writer = Writer::start_in(&places, around).await;
        wait_for(&writer, |state| {
            matches!(state, JournalState::Unread { .. })
        })
        .await;
        accept_first(&mut earlier);
        drop(earlier);
        wait_for(&writer, |state| *state == JournalState::Healthy).await;
        let edit = Edit::new("bob", "x", 2);
        writer.handle.offer(edit.delivery()).await.unwrap();
        assert_eq!(writer.stop().await, 0);
        wait_for_edits(&server, &[1, 2]).await;
    });
}

#[test]
fn d33_a_disk_that_does_not_answer_is_told_and_holds_nothing_up() {
    with_places(|server, places| async move {
        let (go_on, may_go_on) = mpsc::channel();
        let journal = Slow {
            inner: places.journal(),
            may_go_on,
            synced: Arc::default(),
        };
        let clock = Arc::new(Ahead {
            clock: SystemClock::start(),
            by: AtomicU64::new(0),
        });
        let around = Surroundings {
            disk_patience: 200,
            ..around(Box::new(journal), Arc::clone(&clock) as _)
        };
        let writer = Writer::start_in(&places, around).await;
        for number in 1..=2 {
            let edit = Edit::new("alice", "x", number);
            writer.handle.offer(edit.delivery()).await.unwrap();
        }
        wait_for(&writer, |state| matches!(state, JournalState::Failing { message, .. } if message.contains("has not answered"))).await;
        wait_for_edits(&server, &[1, 2]).await;

        // The disk answers after all, and is written again.
        go_on.send(()).unwrap();
        go_on.send(()).unwrap();
        wait_for(&writer, |state| *state == JournalState::Healthy).await;
        let edit = Edit::new("alice", "x", 3);
        writer.handle.offer(edit.delivery()).await.unwrap();
        assert_eq!(writer.stop().await, 0);
        wait_for_edits(&server, &[1, 2, 3]).await;
        let left = places.journal().recover();
        assert_eq!(left.deliveries, [], "nothing is made twice");
    });
}

async fn wait_for_edits(server: &GitServer, wanted: &[u64]) {
    let reached = async {
        loop {
            let edits = history::edits(server, "platform");
            let numbers: Vec<_> = edits.iter().map(|edit| edit.number).collect();
            if numbers == wanted {
                return;
            }
            settle().await;
        }
    };
    let deadline = std::time::Duration::from_secs(60);
    tokio::time::timeout(deadline, reached).await.unwrap();
}

async fn wait_for(writer: &Writer, wanted: impl Fn(&JournalState) -> bool) {
    let mut view = writer.view.clone();
    let deadline = std::time::Duration::from_secs(60);
    let reached = async {
        while !wanted(&view.now().journal) {
            view.changed().await;
        }
    };
    tokio::time::timeout(deadline, reached).await.unwrap();
}

fn with_places<F: Future<Output = ()>>(act: impl FnOnce(Arc<GitServer>, Places<'static>) -> F) {
    let server = Arc::new(GitServer::start().unwrap());
    server
        .create_repository("platform")
        .unwrap()
        .seed(&[("README.md", "a platform\n")])
        .unwrap();
    let bench = Workbench::new("order").unwrap();
    // Leaked, because the folder outlives what runs in it anyway: the test ends first.
    let data: &'static std::path::Path = Box::leak(bench.folder().to_owned().into_boxed_path());
    let url: &'static str = Box::leak(server.url("platform").into_boxed_str());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(act(server, Places { data, url }));
}
