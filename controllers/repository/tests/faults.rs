//! The failure cases of a push, each judged by what a real `git http-backend` holds afterwards. Tests are named after
//! the cases of the contract; those that stand elsewhere: 9, 11, 24 (`remote`), 15, 21 (`push`), 34 (`store`).
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test ends at the first surprise, also in its helpers, and prints its seed"
)]

mod support;

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use model::CommitId;
use repository::{
    Attempt, Endpoint, Limits, ObjectFormat, PushOutcome, PushRequest, Remote, RemoteError, Store,
};
use support::{
    Bench, assert_landed, attempt, branch, commit_id, endpoint, remove, request, tip_of, write,
};
use testkit::GitServer;
use testkit::relay::{Fate, Relay, answer};

const HOOK: &str = "#!/bin/sh\n";
/// Lets a hook change refs while the objects of a push are not taken in yet.
const OUT_OF_QUARANTINE: &str = "unset GIT_QUARANTINE_PATH GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES\n\
     export GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x\n";

/// A repository with one file, and a change of it that is ready to be pushed.
struct Change {
    bench: Bench,
    store: Store,
    attempt: Attempt,
    commit: CommitId,
    tip: CommitId,
}

fn change() -> Change {
    let bench = Bench::seeded(&[("a.yaml", "a: 1\n")]);
    let (_, store, tip) = bench.fetched();
    let (attempt, commit) = attempt(&store, Some(&tip), &[write("a.yaml", "ours\n")]);
    Change {
        bench,
        store,
        attempt,
        commit,
        tip,
    }
}

impl Change {
    fn push(&self) -> PushOutcome {
        self.bench.remote().push(&request(&self.attempt))
    }

    /// Pushes once, and what happens to that push on its way is chosen.
    fn push_through(&self, fate: Fate) -> (PushOutcome, Relay) {
        let pushes = AtomicUsize::new(0);
        let relay = Relay::start(self.bench.server.address(), move |line| {
            let is_push = line.starts_with("POST") && line.contains("git-receive-pack");
            match is_push && pushes.fetch_add(1, Ordering::SeqCst) == 0 {
                true => fate.clone(),
                false => Fate::Pass,
            }
        });
        let mut remote = self.bench.remote_at(&endpoint(&relay.url("app.git")));
        (remote.push(&request(&self.attempt)), relay)
    }

    fn hook(&self, name: &str, script: &str) {
        let script = format!("{HOOK}{script}");
        self.bench.origin.install_hook(name, &script).unwrap();
    }

    fn has_landed(&self) -> bool {
        self.bench.origin.branch("main").as_deref() == Some(self.commit.as_str())
    }

    /// Pushes the same again, which must land or be found landed, as one commit.
    fn settle(&self) {
        assert_landed(&self.push(), &self.commit);
        assert!(self.has_landed());
        assert_eq!(self.bench.origin.commits("main").unwrap().len(), 2);
        self.bench.check_objects();
    }
}

fn assert_ambiguous(outcome: &PushOutcome, commit: &CommitId) {
    match outcome {
        PushOutcome::Ambiguous { sent, .. } => assert_eq!(sent, commit),
        other => panic!("not ambiguous: {other:?}"),
    }
}

fn refused(outcome: PushOutcome) -> String {
    match outcome {
        PushOutcome::Refused { text } => text,
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn case_1_a_server_that_dies_before_it_moves_the_branch_has_landed_nothing() {
    let change = change();
    change.hook("pre-receive", "kill -9 $PPID\n");
    assert_ambiguous(&change.push(), &change.commit);
    assert!(!change.has_landed());
    change.bench.origin.remove_hook("pre-receive").unwrap();
    change.settle();
}

#[test]
fn case_2_a_server_that_dies_after_it_moved_the_branch_has_landed_it_once() {
    let change = change();
    change.hook("post-update", "kill -9 $PPID\n");
    let outcome = change.push();
    // Git closes its report before this hook on some versions; then there is nothing to doubt.
    assert!(change.has_landed());
    if !matches!(outcome, PushOutcome::Landed { .. }) {
        assert_ambiguous(&outcome, &change.commit);
    }
    change.bench.origin.remove_hook("post-update").unwrap();
    change.settle();
}

#[test]
fn case_3_a_report_that_is_cut_at_any_byte_is_never_taken_for_success() {
    const SEED: u64 = 20_261_130;
    println!("seed {SEED}");
    let change = change();
    let (outcome, _relay) = change.push_through(Fate::Cut(1 << 20));
    assert_landed(&outcome, &change.commit);
    let mut mixed = SEED;
    for _ in 0..12 {
        mixed = mixed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        // What says that our branch was moved ends at its 46th byte.
        let cut = usize::try_from(mixed >> 33).unwrap() % 46;
        let change = self::change();
        let (outcome, _relay) = change.push_through(Fate::Cut(cut));
        assert_ambiguous(&outcome, &change.commit);
        assert!(change.has_landed(), "cut at {cut}");
        change.settle();
    }
}

/// An answer to a push with these lines on the band of the report.
fn report(lines: &[&str]) -> String {
    let packet = |data: &str| format!("{:04x}{data}", data.len() + 4);
    let mut inner: String = lines
        .iter()
        .map(|line| packet(&format!("{line}\n")))
        .collect();
    inner.push_str("0000");
    let body = format!("{}0000", packet(&format!("\u{1}{inner}")));
    let kind = ("content-type", "application/x-git-receive-pack-result");
    answer("200 OK", &[kind], &body)
}

#[test]
fn case_4_a_report_about_another_branch_says_nothing_about_ours() {
    for lines in [
        &["unpack ok", "ok refs/heads/other"][..],
        &["unpack ok"],
        &["unpack ok", "ok refs/heads/main2", "ok main"],
    ] {
        let change = change();
        let (outcome, _relay) = change.push_through(Fate::Answer(report(lines)));
        assert_ambiguous(&outcome, &change.commit);
        assert!(!change.has_landed());
        change.settle();
    }
    let change = change();
    let whole = report(&["unpack ok", "ok refs/heads/main"]);
    let (outcome, _relay) = change.push_through(Fate::Replace(whole));
    assert_landed(&outcome, &change.commit);
}

#[test]
fn case_5_6_a_gateway_that_fails_before_or_after_the_server_ran_makes_no_second_commit() {
    let page = || {
        answer(
            "504 Gateway Timeout",
            &[("content-type", "text/html")],
            "<h1>",
        )
    };
    for (fate, landed) in [(Fate::Answer(page()), false), (Fate::Replace(page()), true)] {
        let change = change();
        let (outcome, _relay) = change.push_through(fate);
        assert_ambiguous(&outcome, &change.commit);
        assert_eq!(change.has_landed(), landed);
        change.settle();
    }
}

#[test]
fn case_7_8_after_a_lost_answer_a_moved_branch_is_seen_with_our_commit_below_or_without() {
    for (fate, landed) in [
        (Fate::Replace(String::new()), true),
        (Fate::Answer(String::new()), false),
    ] {
        let mut change = change();
        let (outcome, _relay) = change.push_through(fate);
        assert_ambiguous(&outcome, &change.commit);
        let clone = change.bench.server.clone("app").unwrap();
        clone.write("peer.yaml", "theirs\n").unwrap();
        let theirs = commit_id(&clone.commit("theirs").unwrap());
        clone.push().unwrap();
        let mut remote = change.bench.remote();
        let tip = tip_of(&remote.look().unwrap(), "main");
        assert_eq!(tip, theirs);
        let Change {
            store,
            commit,
            tip: on,
            ..
        } = &mut change;
        remote.fetch(store, &tip, Some(on)).unwrap();
        let history = store.history_between(&tip, on, 100).unwrap();
        assert_eq!(history.contains(commit), landed);
    }
}

#[test]
fn case_12_a_repository_that_gains_refs_meanwhile_gets_no_orphan() {
    let bench = Bench::empty();
    let store = bench.store();
    let (attempt, _) = attempt(&store, None, &[write("a.yaml", "ours\n")]);
    let first = PushRequest {
        must_be_empty: true,
        ..request(&attempt)
    };
    bench.origin.seed(&[("b.yaml", "theirs\n")]).unwrap();
    let mut remote = bench.remote();
    let outcome = remote.push(&PushRequest {
        branch: branch("live"),
        ..first
    });
    assert!(matches!(outcome, PushOutcome::Moved { .. }), "{outcome:?}");
    assert_eq!(bench.origin.branch("live"), None);
}

#[test]
fn case_14_a_branch_that_is_deleted_after_the_comparison_has_moved_to_nowhere() {
    let change = change();
    let script = format!("{OUT_OF_QUARANTINE}git update-ref -d refs/heads/main\n");
    change.hook("pre-receive", &script);
    let outcome = change.push();
    assert!(
        matches!(outcome, PushOutcome::Moved { now: None, .. }),
        "{outcome:?}"
    );
}

#[test]
fn case_16_a_branch_that_somebody_else_creates_first_is_built_on() {
    let change = change();
    let script = format!("{OUT_OF_QUARANTINE}git update-ref refs/heads/live main\n");
    change.hook("pre-receive", &script);
    let create = PushRequest {
        branch: branch("live"),
        expected: None,
        ..request(&change.attempt)
    };
    let mut remote = change.bench.remote();
    match remote.push(&create) {
        PushOutcome::Moved { now, .. } => assert_eq!(now, Some(change.tip.clone())),
        other => panic!("{other:?}"),
    }
}

#[test]
fn case_18_a_name_below_or_above_another_branch_is_refused_before_anything_is_sent() {
    let change = change();
    let pushes = || {
        let requests = change.bench.server.requests().into_iter();
        requests.filter(|it| it.method == "POST").count()
    };
    let before = pushes();
    for (existing, name) in [("main", "main/x"), ("a/b", "a")] {
        let reference = format!("refs/heads/{existing}");
        let origin = &change.bench.origin;
        origin
            .git(&["update-ref", &reference, change.tip.as_str()])
            .unwrap();
        let create = PushRequest {
            branch: branch(name),
            expected: None,
            ..request(&change.attempt)
        };
        let text = refused(change.bench.remote().push(&create));
        assert!(text.contains(existing) && text.contains(name), "{text}");
    }
    assert_eq!(pushes(), before);
}

#[test]
fn case_19_every_way_of_protecting_a_branch_is_told_in_the_words_of_the_server() {
    let long = "echo \"$(yes no-entry | head -c 20000)\" >&2; exit 1\n";
    for (hook, script, words) in [
        (
            "pre-receive",
            "echo 'GH006: Protected branch' >&2; exit 1\n",
            "GH006: Protected branch",
        ),
        ("update", "echo 'not by you' >&2; exit 1\n", "not by you"),
        (
            "update",
            "printf '\\033]0;owned\\007\\000\\r\\n\\tx' >&2; exit 1\n",
            "hook declined",
        ),
        ("pre-receive", long, "no-entry"),
    ] {
        let change = change();
        change.hook(hook, script);
        let text = refused(change.push());
        assert!(text.contains(words), "{text}");
        assert!(text.len() < 2_000, "{} bytes", text.len());
        assert!(!text.chars().any(char::is_control), "{text:?}");
        assert!(!change.has_landed());
        change.bench.origin.remove_hook(hook).unwrap();
        change.settle();
    }
    let change = change();
    let config = ["config", "receive.hideRefs", "refs/heads/main"];
    change.bench.origin.git(&config).unwrap();
    // A hidden branch is not announced, so it looks as if it were gone.
    let outcome = change.push();
    assert!(
        matches!(outcome, PushOutcome::Moved { now: None, .. }),
        "{outcome:?}"
    );
    let create = PushRequest {
        expected: None,
        ..request(&change.attempt)
    };
    let text = refused(change.bench.remote().push(&create));
    assert!(text.contains("hidden"), "{text}");
}

/// So many bytes that do not become smaller.
fn noise(bytes: usize) -> String {
    let mut state = 7_u64;
    let mut text = String::with_capacity(bytes);
    while text.len() < bytes {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        text.push_str(&format!("{state:016x}"));
    }
    text
}

#[test]
fn case_20_a_push_that_is_too_large_is_refused_and_a_large_one_lands() {
    let change = change();
    let config = ["config", "receive.maxInputSize", "20000"];
    change.bench.origin.git(&config).unwrap();
    let large = [write("a.yaml", &noise(900_000))];
    let (attempt, commit) = attempt(&change.store, Some(&change.tip), &large);
    let mut remote = change.bench.remote();
    let text = refused(remote.push(&request(&attempt)));
    assert!(text.contains("exceeds maximum allowed size"), "{text}");
    let unset = ["config", "--unset", "receive.maxInputSize"];
    change.bench.origin.git(&unset).unwrap();
    assert_landed(&remote.push(&request(&attempt)), &commit);
    change.bench.check_objects();
}

#[test]
fn case_22_an_empty_sha256_repository_gets_its_first_commit_and_takes_no_sha1_one() {
    let server = GitServer::start().unwrap();
    let origin = server
        .create_repository_of("app", testkit::ObjectFormat::Sha256)
        .unwrap();
    let bench = Bench::with(server, origin);
    let mut remote = bench.remote();
    assert_eq!(
        remote.look().unwrap().object_format,
        ObjectFormat::Sha256,
        "said before there is a commit"
    );
    let store = Store::create(&bench.store_dir(), ObjectFormat::Sha256).unwrap();
    let (first, commit) = attempt(&store, None, &[write("a.yaml", "a\n")]);
    let first = PushRequest {
        must_be_empty: true,
        ..request(&first)
    };
    assert_landed(&remote.push(&first), &commit);
    bench.check_objects();

    let wrong = bench.another_store("sha1");
    let (wrong, _) = attempt(&wrong, None, &[write("a.yaml", "a\n")]);
    let create = PushRequest {
        branch: branch("live"),
        ..request(&wrong)
    };
    let outcome = remote.push(&create);
    assert!(
        matches!(
            outcome,
            PushOutcome::Failed(RemoteError::Unsupported { .. })
        ),
        "{outcome:?}"
    );
}

#[test]
fn case_25_a_hook_that_takes_its_time_does_not_time_out_while_it_talks_or_within_the_limit() {
    let change = change();
    change.hook("pre-receive", "sleep 4\n");
    let patient = Endpoint {
        limits: Limits {
            idle_timeout: Duration::from_secs(30),
            ..Limits::RECOMMENDED
        },
        ..change.bench.endpoint()
    };
    let mut remote = change.bench.remote_at(&patient);
    assert_landed(&remote.push(&request(&change.attempt)), &change.commit);
}

#[test]
fn case_30_fifty_thousand_refs_are_read_and_too_many_are_a_bounded_error() {
    let change = change();
    let mut packed = "# pack-refs with: peeled fully-peeled sorted \n".to_owned();
    for number in 0..50_000 {
        let tip = &change.tip;
        packed.push_str(&format!("{tip} refs/heads/x/{number:05}\n"));
    }
    fs::write(change.bench.origin.path().join("packed-refs"), packed).unwrap();
    let mut remote = change.bench.remote();
    assert_eq!(remote.look().unwrap().branches.len(), 50_001);
    assert_landed(&remote.push(&request(&change.attempt)), &change.commit);

    let few = Endpoint {
        limits: Limits {
            max_advertised_refs: 1_000,
            ..Limits::RECOMMENDED
        },
        ..change.bench.endpoint()
    };
    let error = change.bench.remote_at(&few).look().unwrap_err();
    assert!(matches!(error, RemoteError::TooLarge { .. }), "{error:?}");
}

#[test]
fn case_31_many_pushes_of_one_process_stay_few_packs() {
    const PUSHES: usize = 120;
    let change = change();
    let Change {
        bench,
        mut store,
        tip,
        ..
    } = change;
    let mut remote = bench.remote();
    let mut base = tip;
    for round in 0..PUSHES {
        let edits = [write("a.yaml", &format!("round: {round}\n"))];
        let (attempt, commit) = attempt(&store, Some(&base), &edits);
        assert_landed(&remote.push(&request(&attempt)), &commit);
        store.accept(attempt).unwrap();
        base = commit;
    }
    assert_eq!(bench.origin.commits("main").unwrap().len(), PUSHES + 1);
    assert!(!store.is_worn());
    drop(store);
    let packs = fs::read_dir(bench.store_dir().join("objects/pack")).unwrap();
    let packs = packs.filter(|file| {
        let path = file.as_ref().unwrap().path();
        path.extension().is_some_and(|it| it == "pack")
    });
    assert_eq!(
        packs.count(),
        2,
        "the first fetch, and what was accepted since"
    );
    bench.check_objects();
}

#[test]
fn case_32_a_branch_that_is_set_back_is_built_on_where_it_is() {
    let change = change();
    let Change {
        bench,
        mut store,
        tip,
        attempt: ours,
        commit,
        ..
    } = change;
    let mut remote = bench.remote();
    assert_landed(&remote.push(&request(&ours)), &commit);
    store.accept(ours).unwrap();
    bench
        .origin
        .git(&["update-ref", "refs/heads/main", tip.as_str()])
        .unwrap();
    let now = tip_of(&remote.look().unwrap(), "main");
    assert_eq!(now, tip);
    remote.fetch(&mut store, &now, Some(&commit)).unwrap();
    let (again, commit) = attempt(&store, Some(&now), &[write("b.yaml", "b\n")]);
    assert_landed(&remote.push(&request(&again)), &commit);
    assert_eq!(bench.origin.files("main").unwrap(), ["a.yaml", "b.yaml"]);
    bench.check_objects();
}

#[test]
fn case_34_the_last_file_of_the_repository_can_go() {
    let bench = Bench::seeded(&[("x/a.yaml", "a: 1\n")]);
    let (mut remote, mut store, tip) = bench.fetched();
    let (empty, none) = attempt(&store, Some(&tip), &[remove("x/a.yaml")]);
    assert_landed(&remote.push(&request(&empty)), &none);
    store.accept(empty).unwrap();
    assert!(bench.origin.files("main").unwrap().is_empty());
    let (first, commit) = attempt(&store, Some(&none), &[write("y/z/b.yaml", "b\n")]);
    assert_landed(&remote.push(&request(&first)), &commit);
    assert_eq!(bench.origin.files("main").unwrap(), ["y/z/b.yaml"]);
    bench.check_objects();
}

#[test]
fn case_35_a_push_that_is_called_off_sent_nothing_or_is_settled_by_looking() {
    let change = change();
    let asked = Arc::new(AtomicUsize::new(0));
    let silent = Relay::start(change.bench.server.address(), {
        let asked = Arc::clone(&asked);
        move |line| {
            let is_push = line.starts_with("POST") && line.contains("git-receive-pack");
            if is_push {
                asked.fetch_add(1, Ordering::SeqCst);
                return Fate::Silence;
            }
            Fate::Pass
        }
    });
    let mut remote = change.bench.remote_at(&endpoint(&silent.url("app.git")));
    let request = request(&change.attempt);
    let pushing = thread::spawn(move || (remote.push(&request), remote, request));
    let until_sent = || (asked.load(Ordering::SeqCst) > 0).then_some(());
    testkit::wait::until("the pack", testkit::wait::GENEROUS, until_sent).unwrap();
    change.bench.cancel.cancel();
    let (outcome, mut remote, request) = pushing.join().unwrap();
    assert_ambiguous(&outcome, &change.commit);
    // Called off before it began: nothing is sent any more.
    let outcome = remote.push(&request);
    assert!(
        matches!(outcome, PushOutcome::Failed(RemoteError::Cancelled)),
        "{outcome:?}"
    );
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}
