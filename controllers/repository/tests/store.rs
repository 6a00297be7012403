//! The local store: snapshots, edits, commits, and what happens when it is damaged.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test ends at the first surprise, also in its helpers"
)]

mod support;

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::sync::Arc;

use model::{CommitId, Content, Contents, FileEntry, ReadError, Signature};
use repository::{
    Attempt, CommitText, EditRefusal, ObjectFormat, Remote, Store, StoreError, TreeEdit,
    TreeSnapshot,
};
use support::{
    Bench, assert_landed, attempt, commit_id, content, folder, path, remove, request, text, write,
};
use tempfile::TempDir;

/// A store whose first commit has these files.
fn store_with(files: &[(&str, &str)]) -> (TempDir, Store, model::CommitId) {
    let dir = TempDir::new().unwrap();
    let mut store = Store::create(&dir.path().join("store"), ObjectFormat::Sha1).unwrap();
    let edits: Vec<TreeEdit> = files
        .iter()
        .map(|(path, content)| write(path, content))
        .collect();
    let (attempt, commit) = attempt(&store, None, &edits);
    store.accept(attempt).unwrap();
    (dir, store, commit)
}

fn refusal(result: Result<Option<model::CommitId>, StoreError>) -> EditRefusal {
    match result {
        Err(StoreError::Edit(refusal)) => refusal,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_directory_is_private_and_holds_no_configuration_of_ours() {
    let (dir, store, _) = store_with(&[("a.yaml", "a\n")]);
    let mode = fs::metadata(store.dir()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    assert!(!store.dir().join("hooks").exists());
    drop(store);
    assert!(Store::open(&dir.path().join("store")).is_ok());
}

#[test]
fn equal_inputs_give_equal_commits() {
    let id = || store_with(&[("a.yaml", "a\n"), ("b/c.yaml", "c\n")]).2;
    assert_eq!(id(), id());
    let (_dir, store, base) = store_with(&[("a.yaml", "a\n")]);
    let at = |time_ms| {
        let text = CommitText {
            time_ms,
            ..text("x")
        };
        let mut attempt = Attempt::new(&store, Some(&base)).unwrap();
        attempt.commit(&[write("a.yaml", "b\n")], &text).unwrap()
    };
    assert_eq!(at(5_000), at(5_999), "Git counts in seconds");
    assert_ne!(at(5_000), at(6_000));
}

#[test]
fn d31_hostile_names_and_nul_make_a_legal_commit() {
    let bench = Bench::seeded(&[("a.yaml", "a\n")]);
    let (mut remote, store, tip) = bench.fetched();
    let hostile = CommitText {
        message: "sub\0ject".to_owned(),
        author: Signature {
            name: "x> 0 +0000\ncommitter <y".to_owned(),
            email: "a\nb<>".to_owned(),
        },
        ..text("")
    };
    let mut attempt = Attempt::new(&store, Some(&tip)).unwrap();
    let commit = attempt.commit(&[write("a.yaml", "b\n")], &hostile).unwrap();
    assert_landed(&remote.push(&request(&attempt)), &commit.unwrap());
    let log = bench
        .origin
        .git(&["log", "-1", "--format=%s|%an|%ae", "main"])
        .unwrap();
    assert_eq!(log, "subject|x 0 +0000committer y|ab");
    bench.check_objects();
}

#[test]
fn edits_that_change_nothing_are_no_commit() {
    let (_dir, store, base) = store_with(&[("a.yaml", "a\n"), ("b/c.yaml", "c\n")]);
    let mut attempt = Attempt::new(&store, Some(&base)).unwrap();
    for edits in [
        vec![],
        vec![write("a.yaml", "a\n")],
        vec![
            remove("none.yaml"),
            remove("x/y/none.yaml"),
            remove("a.yaml/x"),
        ],
    ] {
        assert_eq!(
            attempt.commit(&edits, &text("no")).unwrap(),
            None,
            "{edits:?}"
        );
    }
    assert!(attempt.is_empty());
    assert_eq!((attempt.bytes(), attempt.pack().unwrap().objects()), (0, 0));
}

#[test]
fn folders_come_and_go_with_their_files() {
    let (_dir, store, base) = store_with(&[("a/b/c.yaml", "c\n"), ("z.yaml", "z\n")]);
    let mut attempt = Attempt::new(&store, Some(&base)).unwrap();
    let move_it = [remove("a/b/c.yaml"), write("a/d/e.yaml", "c\n")];
    attempt.commit(&move_it, &text("move")).unwrap().unwrap();
    let all = attempt.snapshot(&folder(".")).unwrap();
    assert_eq!(all.files.paths(), [path("a/d/e.yaml"), path("z.yaml")]);
    assert_eq!(attempt.snapshot(&folder("a/b")).unwrap().tree, None);
    let nothing_left = [remove("a/d/e.yaml"), remove("z.yaml")];
    attempt
        .commit(&nothing_left, &text("empty"))
        .unwrap()
        .unwrap();
    assert!(attempt.snapshot(&folder(".")).unwrap().files.is_empty());
    attempt
        .commit(&[write("n.yaml", "n\n")], &text("again"))
        .unwrap()
        .unwrap();
    assert_eq!(attempt.snapshot(&folder(".")).unwrap().files.len(), 1);
}

#[test]
fn a_file_and_a_folder_do_not_replace_each_other_silently() {
    let (_dir, store, base) = store_with(&[("a", "file\n"), ("d/x.yaml", "x\n")]);
    let mut attempt = Attempt::new(&store, Some(&base)).unwrap();
    let mut refused = |edits: &[TreeEdit]| refusal(attempt.commit(edits, &text("no")));
    let at = |at: &str| path(at);
    assert_eq!(
        refused(&[write("ok.yaml", "1"), write("a/b.yaml", "b\n")]),
        EditRefusal::FileInTheWay {
            path: at("a/b.yaml")
        }
    );
    assert_eq!(
        refused(&[write("d", "now a file\n")]),
        EditRefusal::IsFolder { path: at("d") }
    );
    assert_eq!(
        refused(&[remove("d")]),
        EditRefusal::IsFolder { path: at("d") }
    );
    assert_eq!(
        refused(&[write("n", "1"), write("n", "2")]),
        EditRefusal::Twice { path: at("n") }
    );
    assert_eq!(attempt.bytes(), 0, "a refused commit leaves nothing");
    // Said in full, it is no accident.
    let swap = [
        remove("a"),
        write("a/b.yaml", "b\n"),
        remove("d/x.yaml"),
        write("d", "now a file\n"),
    ];
    attempt.commit(&swap, &text("swap")).unwrap().unwrap();
    let after = attempt.snapshot(&folder(".")).unwrap();
    assert_eq!(after.files.paths(), [path("a/b.yaml"), path("d")]);
}

#[test]
fn links_submodules_and_modes_are_seen_and_kept() {
    let bench = Bench::seeded(&[("run.sh", "echo 1\n"), ("real/a.yaml", "a\n")]);
    let clone = bench.server.clone("app").unwrap();
    symlink("real", clone.path().join("linked")).unwrap();
    symlink("real/a.yaml", clone.path().join("link.yaml")).unwrap();
    fs::set_permissions(
        clone.path().join("run.sh"),
        fs::Permissions::from_mode(0o755),
    )
    .unwrap();
    let head = clone.head().unwrap();
    clone
        .git(&[
            "update-index",
            "--add",
            "--cacheinfo",
            &format!("160000,{head},module"),
        ])
        .unwrap();
    fs::create_dir(clone.path().join("module")).unwrap();
    clone.write("back\\slash.yaml", "odd\n").unwrap();
    clone
        .write("large.bin", &"x".repeat((1 << 20) + 1))
        .unwrap();
    clone.commit("odd entries").unwrap();
    clone.push().unwrap();

    let (mut remote, mut store, tip) = bench.fetched();
    let snapshot = store.snapshot(&tip, &folder(".")).unwrap();
    let entry = |at: &str| snapshot.files.get(&path(at)).unwrap().clone();
    assert_eq!(entry("linked"), FileEntry::Symlink);
    assert_eq!(entry("link.yaml"), FileEntry::Symlink);
    assert_eq!(entry("module"), FileEntry::Submodule);
    let FileEntry::Regular { content, .. } = entry("large.bin") else {
        panic!("no regular file");
    };
    let size = (1 << 20) + 1;
    assert_eq!(store.read(&content).unwrap(), Content::TooLarge { size });
    assert!(matches!(
        entry("run.sh"),
        FileEntry::Regular {
            executable: true,
            ..
        }
    ));
    assert!(matches!(
        entry("real/a.yaml"),
        FileEntry::Regular {
            executable: false,
            ..
        }
    ));
    assert_eq!(snapshot.left_out, 1, "the name with a backslash");
    assert!(matches!(
        store.snapshot(&tip, &folder("linked")),
        Err(StoreError::NotAFolder { .. })
    ));

    let mut attempt = Attempt::new(&store, Some(&tip)).unwrap();
    for at in ["linked/b.yaml", "link.yaml"] {
        let refused = refusal(attempt.commit(&[write(at, "x")], &text("no")));
        assert_eq!(refused, EditRefusal::Symlink { path: path(at) });
        let refused = refusal(attempt.commit(&[remove(at)], &text("no")));
        assert_eq!(refused, EditRefusal::Symlink { path: path(at) });
    }
    let refused = refusal(attempt.commit(&[write("module/x", "x")], &text("no")));
    assert_eq!(
        refused,
        EditRefusal::Submodule {
            path: path("module/x")
        }
    );
    let commit = attempt
        .commit(&[write("run.sh", "echo 2\n")], &text("edit"))
        .unwrap();
    assert_landed(&remote.push(&request(&attempt)), &commit.unwrap());
    let listed = bench.origin.git(&["ls-tree", "-r", "main"]).unwrap();
    assert!(
        listed.contains("100755 blob") && listed.contains("160000 commit"),
        "{listed}"
    );
    assert_eq!(listed.matches("120000 blob").count(), 2, "{listed}");
    bench.check_objects();
}

#[test]
fn a_snapshot_shares_what_did_not_change() {
    let (_dir, mut store, base) = store_with(&[
        ("apps/a.yaml", "a\n"),
        ("apps/sub/b.yaml", "b\n"),
        ("apps/gone/c.yaml", "c\n"),
        ("other/d.yaml", "d\n"),
    ]);
    let apps = folder("apps");
    let first = store.snapshot(&base, &apps).unwrap();
    let shared = |a: &TreeSnapshot, b: &TreeSnapshot, at: &str| {
        let directory = |of: &TreeSnapshot| Arc::clone(of.files.folder(&folder(at)).unwrap());
        Arc::ptr_eq(&directory(a), &directory(b))
    };
    assert!(shared(&first, &store.snapshot(&base, &apps).unwrap(), "."));

    let elsewhere = [write("other/d.yaml", "changed\n")];
    let (one, commit) = attempt(&store, Some(&base), &elsewhere);
    store.accept(one).unwrap();
    let second = store.snapshot(&commit, &apps).unwrap();
    assert_eq!(
        (&second.commit, &second.tree),
        (&Some(commit.clone()), &first.tree)
    );
    assert!(shared(&first, &second, "apps"), "the folder is the same");

    let inside = [write("apps/a.yaml", "A\n"), remove("apps/gone/c.yaml")];
    let (mut two, _) = attempt(&store, Some(&commit), &inside);
    let third = two.snapshot(&apps).unwrap();
    assert!(shared(&first, &third, "apps/sub"));
    let changes = third.files.changes_since(&second.files);
    let changed: Vec<&str> = changes.iter().map(|change| change.path.as_str()).collect();
    assert_eq!(changed, ["apps/a.yaml", "apps/gone/c.yaml"]);
    assert_eq!(
        content(&two, &third, "apps/a.yaml").as_deref(),
        Some(&b"A\n"[..])
    );
    assert_eq!(content(&two, &third, "apps/gone/c.yaml"), None);
    assert_eq!(third.files.len(), 3);
    // The attempt is given up; the store still knows the state before.
    drop(two);
    assert_eq!(store.snapshot(&commit, &apps).unwrap().files, second.files);
}

#[test]
fn snapshots_of_several_folders_of_one_commit_are_one_read() {
    let files = [
        (".sops.yaml", "creation_rules: []\n"),
        ("apps/a.yaml", "a\n"),
        ("base/b.yaml", "b\n"),
    ];
    let (_dir, mut store, base) = store_with(&files);
    let apps = store.snapshot(&base, &folder("apps")).unwrap();
    assert_eq!(apps.files.paths(), files.map(|(at, _)| path(at)));
    let other = store.snapshot(&base, &folder("base")).unwrap();
    assert_ne!(apps.tree, other.tree);
    let root = |of: &TreeSnapshot| Arc::clone(of.files.folder(&folder(".")).unwrap());
    assert!(Arc::ptr_eq(&root(&apps), &root(&other)));
    assert_eq!(store.snapshot(&base, &folder("none")).unwrap().tree, None);
}

#[test]
fn what_is_left_out_counts_for_the_folder_that_holds_it() {
    let bench = Bench::seeded(&[("apps/a.yaml", "a\n"), ("base/b.yaml", "b\n")]);
    let clone = bench.server.clone("app").unwrap();
    clone.write("base/back\\slash.yaml", "odd\n").unwrap();
    clone.commit("an odd name").unwrap();
    clone.push().unwrap();
    let (_, mut store, tip) = bench.fetched();
    let mut left_out = |at: &str| store.snapshot(&tip, &folder(at)).unwrap().left_out;
    assert_eq!(["apps", "base", "."].map(&mut left_out), [0, 1, 1]);
}

#[test]
fn a_snapshot_built_from_another_equals_one_read_afresh() {
    let states: [&[(&str, &str)]; 5] = [
        &[("f/a", "1"), ("f/b/c", "2")],
        &[("f/a/x", "1"), ("f/b", "2")],
        &[("f/a", "1"), ("f/b/c", "2"), ("f/b/d/e", "3")],
        &[("g/a", "1")],
        &[("f/b/d/e", "3"), ("f/z", "")],
    ];
    let dir = TempDir::new().unwrap();
    let mut store = Store::create(&dir.path().join("store"), ObjectFormat::Sha1).unwrap();
    let mut commits = Vec::new();
    for files in states {
        let edits: Vec<TreeEdit> = files.iter().map(|(at, text)| write(at, text)).collect();
        let (attempt, commit) = attempt(&store, None, &edits);
        store.accept(attempt).unwrap();
        commits.push(commit);
    }
    store.write_accepted().unwrap();
    let at = folder("f");
    for from in &commits {
        for to in &commits {
            let mut warm = Store::open(store.dir()).unwrap();
            warm.snapshot(from, &at).unwrap();
            let built = warm.snapshot(to, &at).unwrap();
            let afresh = Store::open(store.dir()).unwrap().snapshot(to, &at).unwrap();
            assert_eq!((&built.files, &built.tree), (&afresh.files, &afresh.tree));
        }
    }
}

#[test]
fn a_snapshot_after_each_of_many_edits_equals_one_read_afresh() {
    let bench = Bench::seeded(&[("f/keep", "0")]);
    let (mut remote, mut store, mut tip) = bench.fetched();
    let names = ["a", "a-b", "a.b", "b", "b/x", "b/y", "zz", "zz0", "é"];
    let mut state = 20_261_130_u64;
    let mut next = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(state >> 33).unwrap() % below
    };
    for step in 0..60 {
        let edits: Vec<TreeEdit> = (0..=next(3))
            .map(|_| format!("f/{}", names[next(names.len())]))
            .collect::<std::collections::BTreeSet<_>>()
            .into_iter()
            .map(|name| match next(3) {
                0 => remove(&name),
                _ => write(&name, &next(4).to_string()),
            })
            .collect();
        let mut one = Attempt::new(&store, Some(&tip)).unwrap();
        let Ok(Some(commit)) = one.commit(&edits, &text("step")) else {
            continue;
        };
        let built = one.snapshot(&folder("f")).unwrap();
        assert_landed(&remote.push(&request(&one)), &commit);
        store.accept(one).unwrap();
        store.write_accepted().unwrap();
        let afresh = Store::open(store.dir())
            .unwrap()
            .snapshot(&commit, &folder("f"))
            .unwrap();
        assert_eq!(built.files, afresh.files, "step {step}");
        assert_eq!(built.tree, afresh.tree, "step {step}");
        tip = commit;
    }
    bench.check_objects();
}

#[test]
fn a_large_flat_folder_costs_a_few_objects() {
    let files: Vec<(String, String)> = (0..10_000)
        .map(|n| (format!("all/config-{n:05}.yaml"), format!("n: {n}\n")))
        .collect();
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(path, content)| (path.as_str(), content.as_str()))
        .collect();
    let (_dir, mut store, base) = store_with(&files);
    let before = store.snapshot(&base, &folder("all")).unwrap();
    assert_eq!(before.files.len(), 10_000);
    let edits: Vec<TreeEdit> = (0..1_000)
        .map(|n| write(&format!("all/config-{:05}.yaml", n * 10), "new\n"))
        .collect();
    let (mut attempt, _) = attempt(&store, Some(&base), &edits);
    assert_eq!(
        attempt.pack().unwrap().objects(),
        4,
        "commit, two trees, one content"
    );
    let after = attempt.snapshot(&folder("all")).unwrap();
    assert_eq!(after.files.changes_since(&before.files).len(), 1_000);
}

/// A store of a large flat folder in which three edits were accepted, with the last of them.
fn large_folder_after_edits(bench: &Bench) -> (Store, CommitId) {
    let (mut remote, mut store, mut tip) = bench.fetched();
    for round in 0..3 {
        let edits = [write(&format!("f/{round:04}.yaml"), "new\n")];
        let (attempt, commit) = attempt(&store, Some(&tip), &edits);
        assert_landed(&remote.push(&request(&attempt)), &commit);
        store.accept(attempt).unwrap();
        tip = commit;
    }
    (store, tip)
}

fn bench_of_a_large_folder() -> Bench {
    let names: Vec<String> = (0..500).map(|n| format!("f/{n:04}.yaml")).collect();
    let files: Vec<_> = names.iter().map(|name| (name.as_str(), "old\n")).collect();
    Bench::seeded(&files)
}

#[test]
fn what_was_accepted_is_written_when_the_store_is_dropped() {
    let bench = bench_of_a_large_folder();
    let (mut store, tip) = large_folder_after_edits(&bench);
    let warm = store.snapshot(&tip, &folder("f")).unwrap();
    drop(store);
    let mut store = Store::open(&bench.store_dir()).unwrap();
    assert!(store.has(&tip).unwrap());
    let snapshot = store.snapshot(&tip, &folder("f")).unwrap();
    assert_eq!(snapshot.files, warm.files);
    for (at, text) in [("f/0002.yaml", "new\n"), ("f/0003.yaml", "old\n")] {
        let found = content(&store, &snapshot, at).unwrap();
        assert_eq!(&*found, text.as_bytes(), "{at}");
    }
    bench.check_objects();
}

#[test]
fn what_a_killed_process_did_not_write_is_fetched_and_no_more() {
    let bench = bench_of_a_large_folder();
    let (store, tip) = large_folder_after_edits(&bench);
    // No destructor runs in a process that is killed.
    std::mem::forget(store);
    let mut store = Store::open(&bench.store_dir()).unwrap();
    assert!(!store.has(&tip).unwrap());
    bench.remote().fetch(&mut store, &tip, None).unwrap();
    let history = store.history_between(&tip, &first(&bench), 10).unwrap();
    assert_eq!(
        history.commits.len(),
        3,
        "what lies between, and not the tip without its history"
    );
    assert_eq!(store.snapshot(&tip, &folder("f")).unwrap().files.len(), 500);
    bench.check_objects();
}

fn first(bench: &Bench) -> CommitId {
    commit_id(bench.origin.commits("main").unwrap().last().unwrap())
}

#[test]
fn a_fetch_builds_on_what_was_accepted() {
    let bench = bench_of_a_large_folder();
    let (mut store, tip) = large_folder_after_edits(&bench);
    let clone = bench.server.clone("app").unwrap();
    clone.git(&["revert", "--no-edit", "HEAD~1"]).unwrap();
    clone.write("f/0400.yaml", "theirs\n").unwrap();
    let theirs = commit_id(clone.commit("theirs").unwrap().trim());
    clone.push().unwrap();
    bench
        .remote()
        .fetch(&mut store, &theirs, Some(&tip))
        .unwrap();
    let snapshot = store.snapshot(&theirs, &folder("f")).unwrap();
    for (at, text) in [("f/0001.yaml", "old\n"), ("f/0002.yaml", "new\n")] {
        let found = content(&store, &snapshot, at).unwrap();
        assert_eq!(&*found, text.as_bytes(), "{at}");
    }
    bench.check_objects();
}

#[test]
fn a_store_that_is_deleted_or_broken_is_called_damaged_and_can_be_fetched_again() {
    let bench = Bench::seeded(&[("a.yaml", "a\n")]);
    let (mut remote, mut store, tip) = bench.fetched();
    let (late, _) = attempt(&store, Some(&tip), &[write("a.yaml", "b\n")]);
    fs::remove_dir_all(store.dir()).unwrap();
    assert!(store.has(&tip).unwrap_err().is_damage());
    assert!(store.snapshot(&tip, &folder(".")).unwrap_err().is_damage());
    assert!(Attempt::new(&store, Some(&tip)).unwrap_err().is_damage());
    assert!(remote.fetch(&mut store, &tip, None).is_err());
    assert!(store.accept(late).unwrap_err().is_damage());
    assert!(Store::open(&bench.store_dir()).unwrap_err().is_damage());

    let mut again = bench.store();
    remote.fetch(&mut again, &tip, None).unwrap();
    assert_eq!(again.snapshot(&tip, &folder(".")).unwrap().files.len(), 1);
}

#[test]
fn locks_of_a_killed_process_do_not_stop_the_next() {
    let bench = Bench::seeded(&[("a.yaml", "a\n")]);
    let store = bench.store();
    fs::create_dir_all(store.dir().join("refs/reverser")).unwrap();
    for lock in ["shallow.lock", "refs/reverser/base.lock"] {
        fs::write(store.dir().join(lock), "").unwrap();
    }
    let mut store = Store::open(store.dir()).unwrap();
    let tip = commit_id(&bench.origin.branch("main").unwrap());
    bench.remote().fetch(&mut store, &tip, None).unwrap();
    assert!(store.has(&tip).unwrap());
}

/// Opens the store once more and reads a file of a commit.
fn read_again(store: &Store, commit: &CommitId) -> Result<Content, ReadError> {
    let mut reopened = Store::open(store.dir()).unwrap();
    let snapshot = reopened.snapshot(commit, &folder(".")).unwrap();
    let Some(FileEntry::Regular { content, .. }) = snapshot.files.get(&path("a.yaml")) else {
        panic!("a.yaml is missing");
    };
    reopened.read(content)
}

#[test]
fn a_content_that_lies_about_its_name_is_not_read() {
    // Read in place, because the server keeps each object of a small push in a file of its own.
    let bench = Bench::seeded(&[("a.yaml", "a\n"), ("b.yaml", "bbbb\n")]);
    let (store, base) = (Store::open(bench.origin.path()).unwrap(), first(&bench));
    let unknown = commit_id(&"1".repeat(40));
    assert!(!store.has(&unknown).unwrap());
    assert!(matches!(
        Attempt::new(&store, Some(&unknown)),
        Err(StoreError::UnknownCommit { .. })
    ));
    // The ids of the two contents, as `git hash-object` gives them.
    let [a, b] = [
        "78981922613b2afb6025042ff6bd878ac1994e85",
        "b43365601deda38ead8e75a666ffdbd3773ea1bd",
    ]
    .map(|id| store.dir().join("objects").join(&id[..2]).join(&id[2..]));
    fs::remove_file(&a).unwrap();
    fs::copy(&b, &a).unwrap();
    assert!(read_again(&store, &base).is_err());
    fs::remove_file(&a).unwrap();
    fs::write(&a, b"not an object").unwrap();
    assert!(read_again(&store, &base).is_err());
}
