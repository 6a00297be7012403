//! The journal on a real disk: cut, damaged, full and gone.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::sanitize::sanitize;
use model::{
    Author, Change, Collection, Identity, LiveObject, Namespace, ObjectName, Operation,
    RepositoryUrl, Scope, Selector, ServedType, TargetKey, TypeId,
};
use proptest::prelude::*;
use sealing::FingerprintKey;

use super::*;

/// A journal in a folder of its own.
struct Scene {
    folder: tempfile::TempDir,
    key: Option<JournalKey>,
}

impl Scene {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            key: Some(key(1)),
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("journals/a-uid")
    }

    fn journal(&self) -> FileJournal {
        FileJournal::new(&self.path(), owner("one"), self.key.clone())
    }

    /// Starts the way a new writer does.
    fn start(&self) -> (FileJournal, Recovered) {
        let mut journal = self.journal();
        let recovered = journal.recover();
        (journal, recovered)
    }

    /// Starts on an empty disk and accepts the deliveries, numbered from one.
    fn with(deliveries: &[Delivery]) -> (Self, FileJournal) {
        let scene = Self::new();
        let (mut journal, recovered) = scene.start();
        assert!(recovered.trouble.is_none(), "{:?}", recovered.trouble);
        for (number, delivery) in (1..).zip(deliveries) {
            accept(&mut journal, number, delivery).unwrap();
        }
        (scene, journal)
    }

    fn bytes(&self) -> Vec<u8> {
        fs::read(self.path()).unwrap()
    }
}

fn key(byte: u8) -> JournalKey {
    JournalKey::derive(&FingerprintKey::new(&[byte; FingerprintKey::BYTES]).unwrap())
}

fn owner(repository: &str) -> Owner {
    let url = format!("https://git.example.com/{repository}.git");
    Owner {
        uid: model::Uid::new("a-uid").unwrap(),
        provider_uid: model::Uid::new("b-uid").unwrap(),
        repository: RepositoryUrl::new(&url).unwrap().id(),
        branch: model::BranchName::new("main").unwrap(),
    }
}

fn accept(
    journal: &mut FileJournal,
    number: u64,
    delivery: &Delivery,
) -> Result<Appended, JournalError> {
    let entry = Entry::Accepted {
        number: DeliveryNumber(number),
        folder: FolderPath::new("apps").ok(),
        delivery,
    };
    journal.append(&[entry], Durability::Synced)
}

fn settle(journal: &mut FileJournal, numbers: impl IntoIterator<Item = u64>) {
    let settled = Settled {
        numbers: numbers.into_iter().map(DeliveryNumber).collect(),
        how: Settlement::Published,
    };
    let entry = Entry::Settled(&settled);
    journal.append(&[entry], Durability::Written).unwrap();
    journal.tidy().unwrap();
}

fn send(journal: &mut FileJournal, commit: char, numbers: impl IntoIterator<Item = u64>) -> Sent {
    let sent = Sent {
        commit: CommitId::new(commit.to_string().repeat(40)).unwrap(),
        on: None,
        numbers: numbers.into_iter().map(DeliveryNumber).collect(),
    };
    let entry = Entry::Sent(&sent);
    journal.append(&[entry], Durability::Synced).unwrap();
    sent
}

fn delivery(kind: &str, name: &str, value: &str, by: &str) -> Delivery {
    let namespace = Namespace::new("team-a").unwrap();
    let type_id = TypeId::new("", format!("{}s", kind.to_lowercase()).as_str());
    let served = ServedType {
        type_id: type_id.clone(),
        version: "v1".to_owned(),
        kind: kind.to_owned(),
        namespaced: true,
        sensitive: kind == "Secret",
    };
    let object = serde_json::json!({
        "apiVersion": "v1", "kind": kind,
        "metadata": {"name": name, "namespace": "team-a", "resourceVersion": "7"},
        "data": {"password": value},
    });
    let live = LiveObject {
        served: Arc::new(served),
        value: object.as_object().unwrap().clone(),
    };
    Delivery {
        target: TargetKey::new(namespace.clone(), ObjectName::new("demo").unwrap()),
        collection: Collection {
            type_id,
            scope: Scope::Namespace(namespace),
            selector: Selector::everything(),
        },
        change: Change::Upsert {
            object: Arc::new(sanitize(&live).unwrap()),
            operation: Operation::Update,
        },
        author: Author::Actor(Identity {
            username: by.to_owned(),
            display_name: None,
            email: None,
        }),
    }
}

fn some(count: usize) -> Vec<Delivery> {
    (0..count)
        .map(|n| {
            let by = if n % 2 == 0 { "alice" } else { "bob" };
            delivery("ConfigMap", &format!("x{n}"), &"v".repeat(n), by)
        })
        .collect()
}

fn numbers(recovered: &Recovered) -> Vec<u64> {
    let deliveries = recovered.deliveries.iter();
    deliveries.map(|one| one.number.0).collect()
}

#[test]
fn d33_what_is_not_settled_comes_back_with_its_author_and_only_that() {
    let all = some(4);
    let (scene, mut journal) = Scene::with(&all);
    let first = send(&mut journal, '1', [1, 2]);
    settle(&mut journal, [1, 2]);
    let second = send(&mut journal, '2', [3]);
    drop(journal);
    let (mut journal, recovered) = scene.start();
    assert_eq!(numbers(&recovered), [3, 4]);
    assert_eq!(recovered.deliveries[0].delivery, all[2]);
    assert_eq!(recovered.deliveries[1].delivery, all[3]);
    assert_eq!(recovered.deliveries[0].folder, FolderPath::new("apps").ok());
    assert_eq!(recovered.sent, [second]);
    assert_ne!(recovered.sent[0], first);
    assert_eq!(recovered.next, DeliveryNumber(5));
    settle(&mut journal, [3, 4]);
    drop(journal);
    assert_eq!(numbers(&scene.start().1), [0; 0]);
}

#[test]
fn d33_a_journal_that_was_cut_anywhere_replays_every_complete_record_once() {
    let (scene, mut journal) = Scene::with(&some(5));
    let ends: Vec<usize> = frame::read(&scene.bytes())
        .frames
        .iter()
        .map(|frame| frame.span.end)
        .collect();
    send(&mut journal, '1', [2, 3]);
    settle(&mut journal, [2]);
    drop(journal);
    let whole = scene.bytes();
    let (header, records) = ends.split_first().unwrap();
    let settled_at = frame::read(&whole).frames.last().unwrap().span.end;
    for cut in 0..=whole.len() {
        fs::write(scene.path(), &whole[..cut]).unwrap();
        let mut recovered = Recovered::default();
        scene.journal().read(&mut recovered).unwrap();
        let mut expected: Vec<u64> = (1..)
            .zip(records)
            .filter(|(_, end)| **end <= cut)
            .map(|(number, _)| number)
            .collect();
        if cut == settled_at {
            expected.retain(|number| *number != 2);
        }
        assert_eq!(numbers(&recovered), expected, "cut at {cut}");
        assert_eq!(recovered.losses.is_empty(), cut == 0 || cut >= *header);
        // What a start leaves on the disk says the same; not at every offset, because it waits for the disk.
        if cut % 97 == 0 {
            scene.start();
            assert_eq!(numbers(&scene.start().1), expected, "cut at {cut}, twice");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn d33_damage_is_told_and_costs_nothing_that_is_whole(
        at in any::<prop::sample::Index>(),
        noise in proptest::collection::vec(1_u8.., 1..200),
    ) {
        let all = some(6);
        let (scene, journal) = Scene::with(&all);
        drop(journal);
        let mut bytes = scene.bytes();
        let frames = frame::read(&bytes).frames;
        let header = frames[0].span.end;
        let at = header + at.index(bytes.len() - header);
        let hit = at..(at + noise.len()).min(bytes.len());
        for (byte, noise) in bytes[at..].iter_mut().zip(&noise) {
            *byte ^= noise;
        }
        fs::write(scene.path(), &bytes).unwrap();
        let (_, recovered) = scene.start();
        let whole = |number: &u64| {
            let span = &frames[usize::try_from(*number).unwrap()].span;
            span.end <= hit.start || hit.end <= span.start
        };
        prop_assert_eq!(numbers(&recovered), (1..=6).filter(whole).collect::<Vec<_>>());
        for one in &recovered.deliveries {
            let index = usize::try_from(one.number.0 - 1).unwrap();
            prop_assert_eq!(&one.delivery, &all[index]);
        }
        let in_the_middle = hit.end <= frames[6].span.start;
        prop_assert!(!in_the_middle || !recovered.losses.is_empty());
    }
}

#[test]
fn d33_a_secret_is_kept_encrypted_and_opens_with_its_key_only() {
    let secret = delivery("Secret", "db", "b3JjaGlkLW9yY2hpZA==", "alice");
    let (mut scene, journal) = Scene::with(std::slice::from_ref(&secret));
    drop(journal);
    let text = String::from_utf8_lossy(&scene.bytes()).into_owned();
    for needle in ["b3JjaGlkLW9yY2hpZA", "orchid", "password"] {
        assert!(!text.contains(needle), "{needle}");
    }
    let (_, recovered) = scene.start();
    assert_eq!(recovered.deliveries[0].delivery, secret);
    scene.key = Some(key(2));
    let (mut journal, recovered) = scene.start();
    assert!(recovered.deliveries.is_empty());
    assert!(
        recovered.losses[0].contains("cannot be decrypted"),
        "{recovered:?}"
    );
    assert_eq!(
        recovered.next,
        DeliveryNumber(2),
        "its number is not given again"
    );
    let appended = accept(&mut journal, 2, &secret).unwrap();
    assert_eq!((appended.kept, appended.unkeyed), (1, 0));
    drop(journal);
    scene.key = None;
    let (mut journal, _) = scene.start();
    let appended = accept(&mut journal, 3, &secret).unwrap();
    assert_eq!((appended.kept, appended.unkeyed), (0, 1));
    let removal = Delivery {
        change: Change::Remove {
            id: secret.object_id().clone(),
            served: Arc::clone(secret.change.served()),
            resource_version: "8".to_owned(),
        },
        ..secret
    };
    assert_eq!(accept(&mut journal, 4, &removal).unwrap().kept, 1);
    drop(journal);
    assert_eq!(numbers(&scene.start().1), [4]);
}

#[test]
fn d33_no_number_is_given_twice_also_of_what_was_sent_and_not_written_down() {
    let (scene, mut journal) = Scene::with(&some(1));
    // The second change was accepted without being written down, and sent along with the first.
    send(&mut journal, 'a', [1, 2]);
    drop(journal);
    let (mut journal, recovered) = scene.start();
    assert_eq!(numbers(&recovered), [1]);
    assert_eq!(recovered.next, DeliveryNumber(3));
    settle(&mut journal, [5]);
    drop(journal);
    assert_eq!(scene.start().1.next, DeliveryNumber(6));
}

#[test]
fn d33_a_journal_that_cannot_be_read_is_put_aside_and_not_written_over() {
    let (scene, journal) = Scene::with(&some(2));
    drop(journal);
    let kept = scene.bytes();
    // A folder of that name cannot be read as a file; what was there is put back behind it.
    let elsewhere = scene.path().with_extension("elsewhere");
    fs::rename(scene.path(), &elsewhere).unwrap();
    fs::create_dir(scene.path()).unwrap();
    let (mut journal, recovered) = scene.start();
    assert!(recovered.trouble.is_some() && recovered.deliveries.is_empty());
    fs::remove_dir(scene.path()).unwrap();
    fs::rename(&elsewhere, scene.path()).unwrap();
    journal.mend().unwrap();
    accept(&mut journal, 7, &some(1)[0]).unwrap();
    assert_eq!(
        fs::read(scene.path().with_extension("unread")).unwrap(),
        kept
    );
    drop(journal);
    assert_eq!(numbers(&scene.start().1), [7]);
}

#[test]
fn d33_a_journal_has_one_writer_and_the_next_waits_for_it() {
    let (scene, mut first) = Scene::with(&some(1));
    let (told, hears) = std::sync::mpsc::channel();
    std::thread::scope(|threads| {
        let second = threads.spawn(|| {
            told.send(()).unwrap();
            scene.start().1
        });
        hears.recv().unwrap();
        // Whether or not the second one has come to the lock by now, it must not have read.
        accept(&mut first, 2, &some(2)[1]).unwrap();
        assert!(!second.is_finished());
        drop(first);
        assert_eq!(numbers(&second.join().unwrap()), [1, 2]);
    });
}

#[test]
fn d33_who_waits_for_a_lock_that_is_removed_waits_for_the_one_in_its_place() {
    let (scene, mut first) = Scene::with(&some(1));
    std::thread::scope(|threads| {
        let second = threads.spawn(|| scene.start().1);
        // Both have the old lock open, and one of them has it.
        while open_files_named(&scene.path().with_extension("lock")) < 2 {
            std::thread::yield_now();
        }
        fs::remove_dir_all(scene.path().parent().unwrap()).unwrap();
        first.mend().unwrap();
        accept(&mut first, 2, &some(2)[1]).unwrap();
        assert!(!second.is_finished());
        drop(first);
        assert_eq!(numbers(&second.join().unwrap()), [1, 2]);
    });
}

/// Returns how often this process has a file open.
fn open_files_named(path: &Path) -> usize {
    let open = fs::read_dir("/proc/self/fd").unwrap();
    let links = open.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    links.filter(|link| link == path).count()
}

#[test]
fn d33_what_another_process_began_in_a_new_folder_is_not_written_over() {
    let (scene, mut first) = Scene::with(&some(1));
    fs::remove_dir_all(scene.path().parent().unwrap()).unwrap();
    let (mut second, _) = scene.start();
    accept(&mut second, 7, &some(2)[1]).unwrap();
    let error = first.mend().unwrap_err();
    assert!(matches!(error, JournalError::Taken { .. }), "{error}");
    let theirs = scene.bytes();
    drop(second);
    first.mend().unwrap();
    assert_eq!(
        fs::read(scene.path().with_extension("unread")).unwrap(),
        theirs
    );
    drop(first);
    assert_eq!(numbers(&scene.start().1), [1]);
}

#[test]
fn d33_writes_of_another_repository_are_never_replayed() {
    let (scene, journal) = Scene::with(&some(2));
    drop(journal);
    let mut other = FileJournal::new(&scene.path(), owner("another"), scene.key.clone());
    let recovered = other.recover();
    assert!(recovered.deliveries.is_empty());
    assert!(
        recovered.losses[0].contains("belongs to branch"),
        "{recovered:?}"
    );
    drop(other);
    assert_eq!(numbers(&scene.start().1), [0; 0], "they are gone for good");
}

#[test]
fn a_format_of_another_version_is_not_guessed_at() {
    let (scene, journal) = Scene::with(&some(1));
    drop(journal);
    let text = String::from_utf8_lossy(&scene.bytes()).into_owned();
    assert!(text.contains("\"version\":1"));
    let mut bytes = Vec::new();
    let header = format!(
        "{{\"version\":2,\"owner\":{}}}",
        serde_json::to_string(&owner("one")).unwrap()
    );
    frame::put(&mut bytes, 1, header.as_bytes());
    fs::write(scene.path(), bytes).unwrap();
    let (_, recovered) = scene.start();
    assert!(recovered.losses[0].contains("format 2"), "{recovered:?}");
}

#[test]
fn what_is_settled_leaves_the_file_and_the_file_stays_small() {
    let (scene, mut journal) = Scene::with(&[]);
    let empty = scene.bytes();
    let change = delivery("ConfigMap", "x", &"v".repeat(4_000), "alice");
    let mut longest = 0;
    for round in 0..50 {
        let first = round * 20 + 2;
        for number in first..first + 20 {
            accept(&mut journal, number, &change).unwrap();
        }
        // One write of each round stays until the next.
        settle(&mut journal, first - 1..first + 19);
        longest = longest.max(scene.bytes().len());
    }
    assert!(longest < 1_400_000, "{longest}");
    settle(&mut journal, [1001]);
    assert_eq!(scene.bytes(), empty);
}

#[test]
fn d33_what_follows_a_cut_is_kept_and_a_cut_that_is_lost_brings_back_what_was_sent() {
    let all = some(3);
    let (scene, mut journal) = Scene::with(&all[..2]);
    let sent = send(&mut journal, 'c', [1, 2]);
    let before = scene.bytes();
    settle(&mut journal, [1, 2]);
    assert!(scene.bytes().len() < before.len());
    accept(&mut journal, 3, &all[2]).unwrap();
    drop(journal);
    let (journal, recovered) = scene.start();
    assert_eq!(numbers(&recovered), [3]);
    assert_eq!(recovered.losses, [""; 0]);
    drop(journal);
    // The machine failed before the cut was on the disk.
    fs::write(scene.path(), before).unwrap();
    let (_, recovered) = scene.start();
    assert_eq!(numbers(&recovered), [1, 2]);
    assert_eq!(recovered.sent, [sent]);
}

#[test]
fn a_file_that_disappears_is_noticed_and_made_anew_with_what_it_held() {
    let all = some(3);
    let (scene, mut journal) = Scene::with(&all[..2]);
    fs::remove_dir_all(scene.path().parent().unwrap()).unwrap();
    let error = accept(&mut journal, 3, &all[2]).unwrap_err();
    assert!(matches!(error, JournalError::Vanished { .. }), "{error}");
    journal.mend().unwrap();
    accept(&mut journal, 3, &all[2]).unwrap();
    let lock = File::open(scene.path().with_extension("lock")).unwrap();
    assert!(lock.try_lock().is_err(), "it has one writer all the same");
    drop(journal);
    assert_eq!(numbers(&scene.start().1), [1, 2, 3]);
}

#[test]
fn d33_a_full_disk_is_told_and_the_journal_works_again_when_there_is_room() {
    let all = some(3);
    let (scene, journal) = Scene::with(&all[..1]);
    drop(journal);
    let successor = scene.path().with_extension("new");
    symlink("/dev/full", &successor).unwrap();
    let (mut journal, recovered) = scene.start();
    assert_eq!(numbers(&recovered), [1], "what is there can be read");
    let trouble = recovered.trouble.unwrap().to_string();
    assert!(trouble.contains("writing the successor of"), "{trouble}");
    assert!(trouble.contains("free space"), "{trouble}");
    let error = accept(&mut journal, 2, &all[1]).unwrap_err();
    assert!(matches!(error, JournalError::Closed { .. }), "{error}");
    assert!(journal.mend().is_err());
    fs::remove_file(&successor).unwrap();
    journal.mend().unwrap();
    accept(&mut journal, 3, &all[2]).unwrap();
    drop(journal);
    assert_eq!(
        numbers(&scene.start().1),
        [1, 3],
        "the second was accepted without it"
    );
}

#[test]
fn only_the_operator_reads_the_file() {
    use std::os::unix::fs::PermissionsExt;
    let (scene, _journal) = Scene::with(&some(1));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&scene.path()), 0o600);
    assert_eq!(mode(scene.path().parent().unwrap()), 0o700);
}
