//! Pushing to a real `git http-backend`.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test ends at the first surprise, also in its helpers"
)]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use model::{CommitId, Secret};
use repository::{
    Attempt, Credential, Endpoint, Limits, PushOutcome, PushRequest, Remote, RemoteError,
};
use support::{
    Bench, assert_landed, attempt, branch, commit_id, content, endpoint, folder, remove, request,
    text, write,
};
use testkit::relay::{Fate, Relay, answer};

#[test]
fn a_commit_lands_and_the_next_builds_on_it() {
    let bench = Bench::seeded(&[("a.yaml", "a: 1\n"), ("keep.yaml", "keep\n")]);
    let (mut remote, mut store, tip) = bench.fetched();
    let mut base = tip;
    for round in 0..3 {
        let edits = [write("a.yaml", &format!("round: {round}\n"))];
        let (attempt, commit) = attempt(&store, Some(&base), &edits);
        assert_eq!(request(&attempt).pack.objects(), 3, "commit, tree and file");
        assert_landed(&remote.push(&request(&attempt)), &commit);
        store.accept(attempt).unwrap();
        base = commit;
    }
    assert_eq!(bench.origin.branch("main").as_deref(), Some(base.as_str()));
    assert_eq!(bench.origin.file("main", "a.yaml").unwrap(), "round: 2\n");
    assert_eq!(bench.origin.file("main", "keep.yaml").unwrap(), "keep\n");
    assert_eq!(bench.origin.commits("main").unwrap().len(), 4);
    bench.check_objects();
}

#[test]
fn several_commits_go_in_one_push() {
    let bench = Bench::seeded(&[("a.yaml", "a: 1\n")]);
    let (mut remote, store, tip) = bench.fetched();
    let mut chain = Attempt::new(&store, Some(&tip)).unwrap();
    let one = [write("x/one.yaml", "1\n")];
    chain.commit(&one, &text("one")).unwrap().unwrap();
    let two = [write("x/two.yaml", "2\n"), remove("a.yaml")];
    let last = chain
        .commit(&two, &text("two\n\nwith a body"))
        .unwrap()
        .unwrap();
    let snapshot = chain.snapshot(&folder("x")).unwrap();
    assert_eq!(snapshot.files.len(), 2);
    assert_landed(&remote.push(&request(&chain)), &last);
    assert_eq!(
        bench.origin.files("main").unwrap(),
        ["x/one.yaml", "x/two.yaml"]
    );
    let log = bench
        .origin
        .git(&["log", "--format=%s|%b|%an|%ae|%cn|%ct|%ci", "-1", "main"])
        .unwrap();
    assert!(
        log.starts_with("two|with a body\n|Alice|alice@example.com|GitOps Reverser|1700000000|")
    );
    assert!(log.ends_with("+0000"), "{log}");
    assert_eq!(bench.origin.commits("main").unwrap().len(), 3);
    bench.check_objects();
}

#[test]
fn the_first_commit_starts_the_history_of_an_empty_repository() {
    let bench = Bench::empty();
    let mut remote = bench.remote();
    let mut store = bench.store();
    let (attempt, commit) = attempt(&store, None, &[write("a.yaml", "a: 1\n")]);
    let first = PushRequest {
        must_be_empty: true,
        ..request(&attempt)
    };
    assert_landed(&remote.push(&first), &commit);
    store.accept(attempt).unwrap();
    assert_eq!(bench.origin.commits("main").unwrap(), [commit.as_str()]);
    let snapshot = store.snapshot(&commit, &folder(".")).unwrap();
    assert_eq!(
        content(&store, &snapshot, "a.yaml").as_deref(),
        Some(&b"a: 1\n"[..])
    );
    bench.check_objects();
}

#[test]
fn a_first_commit_never_becomes_an_orphan_beside_others() {
    let bench = Bench::empty();
    let store = bench.store();
    let (attempt, _) = attempt(&store, None, &[write("a.yaml", "a: 1\n")]);
    let tip = bench.origin.seed(&[("b.yaml", "b: 1\n")]).unwrap();
    bench
        .origin
        .git(&["branch", "-m", "main", "other"])
        .unwrap();
    let first = PushRequest {
        must_be_empty: true,
        ..request(&attempt)
    };
    let outcome = bench.remote().push(&first);
    let PushOutcome::Moved { now, advertisement } = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(now, None);
    assert_eq!(
        advertisement.branch(&branch("other")),
        Some(&commit_id(&tip))
    );
    assert_eq!(bench.origin.branch("main"), None);
}

#[test]
fn a_new_branch_starts_from_its_parent_if_that_has_not_moved() {
    let bench = Bench::seeded(&[("a.yaml", "a: 1\n")]);
    let (mut remote, store, tip) = bench.fetched();
    let (attempt, commit) = attempt(&store, Some(&tip), &[write("b.yaml", "b\n")]);
    let create = PushRequest {
        branch: branch("live"),
        expected: None,
        parent_check: Some((branch("main"), tip.clone())),
        ..request(&attempt)
    };
    let clone = bench.server.clone("app").unwrap();
    clone.commit("the parent moves").unwrap();
    clone.push().unwrap();
    assert!(matches!(
        remote.push(&create),
        PushOutcome::Moved { now: None, .. }
    ));
    bench
        .origin
        .git(&["update-ref", "refs/heads/main", tip.as_str()])
        .unwrap();
    assert_landed(&remote.push(&create), &commit);
    assert_eq!(
        bench.origin.commits("live").unwrap(),
        [commit.as_str(), tip.as_str()]
    );
    assert_landed(&remote.push(&create), &commit);

    let below = PushRequest {
        branch: branch("live/more"),
        ..create
    };
    assert!(matches!(remote.push(&below), PushOutcome::Refused { .. }));
}

#[test]
fn a_race_lost_before_the_session_sends_nothing() {
    let bench = Bench::seeded(&[("a.yaml", "a: 1\n")]);
    let (mut remote, store, tip) = bench.fetched();
    let (attempt, _) = attempt(&store, Some(&tip), &[write("a.yaml", "ours\n")]);
    let clone = bench.server.clone("app").unwrap();
    clone.write("a.yaml", "theirs\n").unwrap();
    let theirs = commit_id(&clone.commit("theirs").unwrap());
    clone.push().unwrap();
    let outcome = remote.push(&request(&attempt));
    let PushOutcome::Moved { now, .. } = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(now, Some(theirs));
    let pushes = bench
        .server
        .requests()
        .into_iter()
        .filter(|request| request.method == "POST" && request.path.ends_with("git-receive-pack"))
        .count();
    assert_eq!(pushes, 1, "only the other person's");
    bench
        .origin
        .git(&["update-ref", "-d", "refs/heads/main"])
        .unwrap();
    assert!(matches!(
        remote.push(&request(&attempt)),
        PushOutcome::Moved { now: None, .. }
    ));
}

#[test]
fn a_race_lost_after_the_comparison_is_recognised_by_looking() {
    let bench = Bench::seeded(&[("a.yaml", "a: 1\n")]);
    let (mut remote, store, tip) = bench.fetched();
    let (attempt, _) = attempt(&store, Some(&tip), &[write("a.yaml", "ours\n")]);
    // The hook moves the branch between the server's advertisement and its own comparison.
    bench
        .origin
        .install_hook(
            "pre-receive",
            "#!/bin/sh\nunset GIT_QUARANTINE_PATH GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES\n\
             tree=$(git rev-parse main^{tree})\n\
             new=$(GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x \
             git commit-tree -p main -m theirs $tree)\n\
             git update-ref refs/heads/main $new\n",
        )
        .unwrap();
    let outcome = remote.push(&request(&attempt));
    let PushOutcome::Moved { now, .. } = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(now.unwrap().as_str(), bench.origin.branch("main").unwrap());
    assert_eq!(bench.origin.commits("main").unwrap()[1], tip.as_str());
}

#[test]
fn a_hook_that_says_no_is_quoted() {
    let bench = Bench::seeded(&[("a.yaml", "a: 1\n")]);
    let (mut remote, store, tip) = bench.fetched();
    let (attempt, commit) = attempt(&store, Some(&tip), &[write("a.yaml", "ours\n")]);
    bench
        .origin
        .install_hook(
            "pre-receive",
            "#!/bin/sh\nprintf 'error:\\nerror: ask\\033[1m the\\nplatform team\\nerror:\\n' >&2\nexit 1\n",
        )
        .unwrap();
    let outcome = remote.push(&request(&attempt));
    let PushOutcome::Refused { text } = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(text, "pre-receive hook declined: ask [1m the platform team");
    bench.origin.remove_hook("pre-receive").unwrap();
    assert_landed(&remote.push(&request(&attempt)), &commit);
}

#[test]
fn b013_a_hook_that_prints_our_own_password_is_quoted_without_it() {
    let bench = Bench::seeded(&[("a.yaml", "a: 1\n")]);
    let (_, store, tip) = bench.fetched();
    let (attempt, _) = attempt(&store, Some(&tip), &[write("a.yaml", "ours\n")]);
    let password = "0a1b/2c3d";
    bench
        .server
        .set_access(testkit::Access::basic("me", password));
    let credential = Credential::Basic {
        username: "me".to_owned(),
        password: Secret::new(password.to_owned()),
    };
    let mut remote = bench.remote_at(&Endpoint {
        credential,
        ..bench.endpoint()
    });
    let script =
        format!("#!/bin/sh\necho 'nobody called me with {password} may push' >&2\nexit 1\n");
    bench.origin.install_hook("pre-receive", &script).unwrap();
    let outcome = remote.push(&request(&attempt));
    let PushOutcome::Refused { text } = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(
        text,
        "pre-receive hook declined: nobody called me with *** may push"
    );
}

#[test]
fn a_locked_ref_is_worth_another_try() {
    let bench = Bench::seeded(&[("a.yaml", "a: 1\n")]);
    let (mut remote, store, tip) = bench.fetched();
    let (attempt, commit) = attempt(&store, Some(&tip), &[write("a.yaml", "ours\n")]);
    let lock = bench.origin.path().join("refs/heads/main.lock");
    std::fs::write(&lock, "").unwrap();
    let outcome = remote.push(&request(&attempt));
    assert!(
        matches!(
            outcome,
            PushOutcome::Transient(RemoteError::NotUpdated { .. })
        ),
        "{outcome:?}"
    );
    std::fs::remove_file(lock).unwrap();
    assert_landed(&remote.push(&request(&attempt)), &commit);
}

#[test]
fn history_that_the_server_lacks_is_named() {
    let bench = Bench::seeded(&[("a.yaml", "a: 1\n")]);
    let (mut remote, mut store, tip) = bench.fetched();
    let (lost, middle) = attempt(&store, Some(&tip), &[write("a.yaml", "never pushed\n")]);
    store.accept(lost).unwrap();
    let (attempt, _) = attempt(&store, Some(&middle), &[write("b.yaml", "b\n")]);
    let wrong = PushRequest {
        expected: Some(tip),
        ..request(&attempt)
    };
    let outcome = remote.push(&wrong);
    assert!(
        matches!(outcome, PushOutcome::Transient(RemoteError::HistoryMissing)),
        "{outcome:?}"
    );
}

#[test]
fn a_wrong_password_is_a_failure_in_which_nothing_was_sent() {
    let bench = Bench::seeded(&[("a.yaml", "a: 1\n")]);
    let (mut remote, store, tip) = bench.fetched();
    let (attempt, _) = attempt(&store, Some(&tip), &[write("a.yaml", "ours\n")]);
    bench
        .server
        .set_access(testkit::Access::basic("me", "right"));
    assert!(matches!(
        remote.push(&request(&attempt)),
        PushOutcome::Failed(RemoteError::Unauthorized)
    ));
    bench.server.stop();
    assert!(matches!(
        remote.push(&request(&attempt)),
        PushOutcome::Failed(RemoteError::Unreachable { .. })
    ));
}

/// Spoils the first push and lets everything else pass.
fn spoiling(bench: &Bench, fate: Fate) -> Relay {
    let done = Arc::new(AtomicBool::new(false));
    Relay::start(bench.server.address(), move |line| {
        let push = line.starts_with("POST") && line.contains("git-receive-pack");
        if push && !done.swap(true, Ordering::SeqCst) {
            fate.clone()
        } else {
            Fate::Pass
        }
    })
}

#[test]
fn an_answer_that_is_lost_is_ambiguous_and_the_same_request_settles_it() {
    let unavailable = || answer("503 Service Unavailable", &[("retry-after", "7")], "");
    let landed_before = [
        (Fate::Answer(unavailable()), false),
        (Fate::Replace(unavailable()), true),
        (Fate::Replace(String::new()), true),
        (
            Fate::Replace(answer("200 OK", &[("content-type", "text/html")], "")),
            true,
        ),
        (Fate::Cut(0), true),
        (Fate::Cut(9), true),
        (Fate::Cut(30), true),
    ];
    for (fate, landed) in landed_before {
        let bench = Bench::seeded(&[("a.yaml", "a: 1\n")]);
        let relay = spoiling(&bench, fate.clone());
        let (_, store, tip) = bench.fetched();
        let mut remote = bench.remote_at(&endpoint(&relay.url("app.git")));
        let (attempt, commit) = attempt(&store, Some(&tip), &[write("a.yaml", "ours\n")]);
        let outcome = remote.push(&request(&attempt));
        let PushOutcome::Ambiguous { sent, .. } = outcome else {
            panic!("{fate:?}: {outcome:?}");
        };
        assert_eq!(sent, commit);
        let at_server = bench.origin.branch("main").unwrap();
        assert_eq!(at_server == commit.as_str(), landed, "{fate:?}");
        assert_landed(&remote.push(&request(&attempt)), &commit);
        assert_eq!(bench.origin.commits("main").unwrap().len(), 2, "{fate:?}");
        bench.check_objects();
    }
}

#[test]
fn a_server_that_falls_silent_after_the_pack_is_ambiguous_within_the_limit() {
    let bench = Bench::seeded(&[("a.yaml", "a: 1\n")]);
    let relay = spoiling(&bench, Fate::Silence);
    let (_, store, tip) = bench.fetched();
    let impatient = Endpoint {
        limits: Limits {
            idle_timeout: Duration::from_secs(3),
            ..Limits::RECOMMENDED
        },
        ..endpoint(&relay.url("app.git"))
    };
    let mut remote = bench.remote_at(&impatient);
    let (attempt, commit) = attempt(&store, Some(&tip), &[write("a.yaml", "ours\n")]);
    let outcome = remote.push(&request(&attempt));
    assert!(
        matches!(
            outcome,
            PushOutcome::Ambiguous {
                cause: RemoteError::TimedOut { .. },
                ..
            }
        ),
        "{outcome:?}"
    );
    assert_landed(&remote.push(&request(&attempt)), &commit);
}

#[test]
fn a_request_that_is_turned_away_is_no_riddle() {
    let cases = [
        (answer("401 Unauthorized", &[], ""), "Failed(Unauthorized"),
        (answer("413 Too Large", &[], ""), "Failed(ServerError"),
        (
            answer("302 Found", &[("location", "/x")], ""),
            "Failed(Redirect",
        ),
        (
            answer("429 Slow Down", &[("retry-after", "7")], ""),
            "Transient(ServerError",
        ),
    ];
    for (page, expected) in cases {
        let bench = Bench::seeded(&[("a.yaml", "a: 1\n")]);
        let relay = spoiling(&bench, Fate::Answer(page));
        let (_, store, tip) = bench.fetched();
        let mut remote = bench.remote_at(&endpoint(&relay.url("app.git")));
        let (attempt, _) = attempt(&store, Some(&tip), &[write("a.yaml", "ours\n")]);
        let outcome = format!("{:?}", remote.push(&request(&attempt)));
        assert!(outcome.starts_with(expected), "{outcome}");
    }
}

/// A flat folder whose tree is large, and a request that changes one file of it.
fn large_folder() -> (Bench, Attempt, CommitId) {
    let names: Vec<String> = (0..500)
        .map(|number| format!("f/{number:04}.yaml"))
        .collect();
    let files: Vec<_> = names.iter().map(|name| (name.as_str(), "a: 1\n")).collect();
    let bench = Bench::seeded(&files);
    let (_, store, tip) = bench.fetched();
    let mut chain = Attempt::new(&store, Some(&tip)).unwrap();
    let edits = [write("f/0200.yaml", "a: 2\n"), remove("f/0300.yaml")];
    chain.commit(&edits, &text("one")).unwrap().unwrap();
    let more = [
        write("f/new.yaml", "a: 3\n"),
        write("f/0200/below.yaml", ""),
    ];
    let last = chain.commit(&more, &text("two")).unwrap().unwrap();
    (bench, chain, last)
}

fn check_large_folder(bench: &Bench) {
    let files = bench.origin.files("main").unwrap();
    assert_eq!(files.len(), 501);
    assert_eq!(bench.origin.file("main", "f/0200.yaml").unwrap(), "a: 2\n");
    assert_eq!(bench.origin.file("main", "f/new.yaml").unwrap(), "a: 3\n");
    bench.check_objects();
}

#[test]
fn of_a_large_folder_only_the_change_is_sent() {
    let (bench, chain, last) = large_folder();
    let relay = Relay::start(bench.server.address(), |_| Fate::Pass);
    let mut remote = bench.remote_at(&endpoint(&relay.url("app.git")));
    assert_landed(&remote.push(&request(&chain)), &last);
    check_large_folder(&bench);
    let lengths: Vec<usize> = relay
        .seen()
        .iter()
        .filter(|head| head.starts_with("POST"))
        .flat_map(|head| head.lines())
        .filter_map(|line| line.strip_prefix("content-length: ")?.parse().ok())
        .collect();
    assert!(
        matches!(lengths[..], [length] if length < 2_000),
        "{lengths:?}"
    );
}

#[test]
fn a_server_that_lost_what_the_change_is_made_to_gets_all_of_it() {
    let (bench, chain, last) = large_folder();
    let report =
        "0028unpack unpack-objects abnormal exit\n0026ng refs/heads/main unpacker error\n0000";
    let in_band = format!("{:04x}\u{1}{report}0000", report.len() + 5);
    let kind = [("content-type", "application/x-git-receive-pack-result")];
    let relay = spoiling(&bench, Fate::Answer(answer("200 OK", &kind, &in_band)));
    let mut remote = bench.remote_at(&endpoint(&relay.url("app.git")));
    assert_landed(&remote.push(&request(&chain)), &last);
    check_large_folder(&bench);
}
