//! Reading from a real `git http-backend`.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test ends at the first surprise, also in its helpers"
)]

mod support;

use model::Secret;
use repository::credential::SecretData;
use repository::{
    Credential, DefaultBranch, Endpoint, Head, Limits, ObjectFormat, Remote, RemoteError, Retry,
    Store, TlsTrust,
};
use support::{Bench, branch, commit_id, content, endpoint, folder, tip_of};
use testkit::relay::{Fate, Relay, answer};
use testkit::{Access, GitServer};

/// Gives the endpoint another credential.
fn with(endpoint: Endpoint, credential: Credential) -> Endpoint {
    Endpoint {
        credential,
        ..endpoint
    }
}

fn basic(username: &str, password: &str) -> Credential {
    Credential::Basic {
        username: username.to_owned(),
        password: Secret::new(password.to_owned()),
    }
}

#[test]
fn b147_a_first_fetch_brings_one_commit_and_its_whole_tree() {
    let bench = Bench::seeded(&[("apps/a.yaml", "a: 1\n"), ("other/b.yaml", "b: 1\n")]);
    let clone = bench.server.clone("app").unwrap();
    clone.write("apps/a.yaml", "a: 2\n").unwrap();
    clone.commit("second").unwrap();
    clone.push().unwrap();

    let (_, mut store, tip) = bench.fetched();
    let snapshot = store.snapshot(&tip, &folder("apps")).unwrap();
    assert_eq!(
        content(&store, &snapshot, "apps/a.yaml").as_deref(),
        Some(&b"a: 2\n"[..])
    );
    assert_eq!(snapshot.files.len(), 2, "a snapshot shows the whole commit");
    let parent = commit_id(bench.origin.commits("main").unwrap()[1].as_str());
    assert!(!store.has(&parent).unwrap(), "history was not asked for");
    bench.check_objects();
}

#[test]
fn a_later_fetch_brings_what_lies_between() {
    let bench = Bench::seeded(&[("a.yaml", "a: 1\n")]);
    let (mut remote, mut store, first) = bench.fetched();
    let clone = bench.server.clone("app").unwrap();
    for round in 0..3 {
        clone.write("a.yaml", &format!("round: {round}\n")).unwrap();
        clone.commit(&format!("round {round}")).unwrap();
    }
    clone.push().unwrap();

    let tip = tip_of(&remote.look().unwrap(), "main");
    remote.fetch(&mut store, &tip, Some(&first)).unwrap();
    let history = store.history_between(&tip, &first, 10).unwrap();
    assert!(history.complete);
    let expected: Vec<_> = bench.origin.commits("main").unwrap()[..3]
        .iter()
        .map(|id| commit_id(id))
        .collect();
    assert_eq!(history.commits, expected);
    assert!(store.is_descendant(&tip, &first, 10).unwrap());
    assert!(!store.is_descendant(&first, &tip, 10).unwrap());
    assert!(!store.history_between(&tip, &first, 2).unwrap().complete);
    bench.check_objects();
}

#[test]
fn an_unrelated_history_comes_without_its_past() {
    let bench = Bench::seeded(&[("a.yaml", "a: 1\n")]);
    let (mut remote, mut store, first) = bench.fetched();
    let clone = bench.server.clone("app").unwrap();
    clone
        .git(&["checkout", "--quiet", "--orphan", "fresh"])
        .unwrap();
    for round in 0..4 {
        clone.write("a.yaml", &format!("round: {round}\n")).unwrap();
        clone.commit("rewritten").unwrap();
    }
    clone
        .git(&["push", "--quiet", "--force", "origin", "fresh:main"])
        .unwrap();
    bench
        .origin
        .git(&["reflog", "expire", "--expire=now", "--all"])
        .unwrap();
    bench.origin.git(&["gc", "--quiet", "--prune=now"]).unwrap();

    let tip = tip_of(&remote.look().unwrap(), "main");
    remote.fetch(&mut store, &tip, Some(&first)).unwrap();
    let history = store.history_between(&tip, &first, 100).unwrap();
    assert_eq!((history.commits, history.complete), (vec![tip], true));
    bench.check_objects();
}

#[test]
fn a_commit_that_is_gone_is_an_error_and_the_store_goes_on() {
    let bench = Bench::seeded(&[("a.yaml", "a: 1\n")]);
    let (mut remote, mut store, tip) = bench.fetched();
    let gone = commit_id(&"5".repeat(40));
    for known in [None, Some(&tip)] {
        let error = remote.fetch(&mut store, &gone, known).unwrap_err();
        assert!(matches!(error, RemoteError::Protocol { .. }), "{error:?}");
        assert!(error.to_string().contains("not our ref"), "{error}");
    }
    let clone = bench.server.clone("app").unwrap();
    let next = commit_id(&clone.commit("next").unwrap());
    clone.push().unwrap();
    remote.fetch(&mut store, &next, Some(&tip)).unwrap();
    bench.check_objects();
}

#[test]
fn an_old_protocol_server_sends_one_commit_too() {
    let bench = Bench::seeded(&[("a.yaml", "a: 1\n")]);
    let clone = bench.server.clone("app").unwrap();
    for round in 0..5 {
        clone.write("a.yaml", &format!("round: {round}\n")).unwrap();
        clone.commit("more").unwrap();
    }
    clone.push().unwrap();
    // Taking the header away is what a proxy or an old host does.
    let relay = Relay::start(bench.server.address(), |_| Fate::Pass).without("git-protocol");
    let mut remote = bench.remote_at(&endpoint(&relay.url("app.git")));
    let advertisement = remote.look().unwrap();
    assert_eq!(advertisement.head, Some(Head::Branch(branch("main"))));
    let tip = tip_of(&advertisement, "main");
    let mut store = bench.store();
    remote.fetch(&mut store, &tip, None).unwrap();
    let commits = bench.origin.commits("main").unwrap();
    assert!(
        !store.has(&commit_id(&commits[1])).unwrap(),
        "the whole history came"
    );

    clone.write("a.yaml", "last\n").unwrap();
    let last = commit_id(&clone.commit("last").unwrap());
    clone.push().unwrap();
    remote.fetch(&mut store, &last, Some(&tip)).unwrap();
    assert_eq!(
        store.history_between(&last, &tip, 9).unwrap().commits,
        [last]
    );
    bench.check_objects();
}

#[test]
fn b022_a_host_that_speaks_an_old_protocol_is_offered_what_it_insists_on() {
    let bench = Bench::seeded(&[("a.yaml", "a: 1\n")]);
    let relay = Relay::start(bench.server.address(), |_| Fate::Pass).without("git-protocol");
    let mut remote = bench.remote_at(&endpoint(&relay.url("app.git")));
    let tip = tip_of(&remote.look().unwrap(), "main");
    remote.fetch(&mut bench.store(), &tip, None).unwrap();
    let asked = relay.bodies("POST /app.git/git-upload-pack");
    let asked = String::from_utf8_lossy(asked.first().unwrap()).into_owned();
    let first = asked.lines().next().unwrap();
    assert!(
        first.contains("want ") && first.contains(" multi_ack"),
        "{first}"
    );
}

#[test]
fn head_and_emptiness_are_seen() {
    let bench = Bench::empty();
    let mut remote = bench.remote();
    let empty = remote.look().unwrap();
    assert!(empty.is_empty());
    assert_eq!(
        empty.default_branch(),
        DefaultBranch::Unborn {
            branch: Some(branch("main"))
        }
    );
    let tip = bench.origin.seed(&[("a.yaml", "a: 1\n")]).unwrap();
    bench.origin.git(&["tag", "v1", &tip]).unwrap();
    let seeded = remote.look().unwrap();
    assert_eq!(
        seeded.default_branch(),
        DefaultBranch::Found {
            branch: branch("main"),
            tip: commit_id(&tip)
        }
    );
    bench
        .origin
        .git(&["update-ref", "-d", "refs/heads/main"])
        .unwrap();
    let only_a_tag = remote.look().unwrap();
    assert!(!only_a_tag.is_empty());
    assert_eq!(
        only_a_tag.default_branch(),
        DefaultBranch::Missing {
            branch: Some(branch("main"))
        }
    );
}

#[test]
fn a_credential_is_proved_by_opening_a_push_session() {
    let server = GitServer::builder()
        .access(Access::basic("", "token"))
        .start()
        .unwrap();
    let origin = server.create_repository("app").unwrap();
    let bench = Bench::with(server, origin);
    let prove = |credential| {
        bench
            .remote_at(&with(bench.endpoint(), credential))
            .prove_push()
    };
    assert!(prove(basic("", "token")).unwrap().is_empty());
    for wrong in [basic("", "other"), Credential::Anonymous] {
        let error = prove(wrong).unwrap_err();
        assert!(matches!(error, RemoteError::Unauthorized), "{error:?}");
        assert_eq!(error.retry(), Retry::AfterChange);
    }
    bench.server.set_access(Access::bearer("abc"));
    let bearer = Credential::Bearer(Secret::new("abc".to_owned()));
    assert!(prove(bearer.clone()).is_ok());
    bench.server.set_read_only(true);
    let mut reader = bench.remote_at(&with(bench.endpoint(), bearer));
    assert!(reader.look().is_ok());
    assert!(matches!(
        reader.prove_push(),
        Err(RemoteError::Forbidden { .. })
    ));
}

#[test]
fn d37_a_private_authority_is_believed_only_when_it_is_given() {
    let server = GitServer::builder().tls().start().unwrap();
    let origin = server.create_repository("app").unwrap();
    let bench = Bench::with(server, origin);
    let authority = bench.server.authority().unwrap();
    let data = SecretData::from([("ca.crt".to_owned(), authority.into_bytes())]);
    let trusting = Endpoint {
        trust: TlsTrust::from_secret_data(&data).unwrap(),
        ..bench.endpoint()
    };
    assert!(bench.remote_at(&trusting).look().unwrap().is_empty());
    let asked = bench.server.requests().len();
    let error = bench.remote().look().unwrap_err();
    assert!(matches!(error, RemoteError::Tls { .. }), "{error:?}");
    assert_eq!(error.retry(), Retry::AfterChange);
    assert_eq!(
        bench.server.requests().len(),
        asked,
        "nothing is asked over a bad connection"
    );
}

#[test]
fn what_is_no_git_server_is_called_so() {
    let bench = Bench::empty();
    let page = |status: &str, kind: &str| answer(status, &[("content-type", kind)], "<html>");
    let cases = [
        (page("200 OK", "text/html"), "NotAGitServer"),
        (
            page("200 OK", "application/x-git-receive-pack-advertisement"),
            "NotAGitServer",
        ),
        (
            page("200 OK", "application/x-git-upload-pack-advertisement"),
            "Protocol",
        ),
        (page("404 Not Found", "text/html"), "NotFound"),
        (page("500 Oops", "text/html"), "ServerError"),
    ];
    for (page, expected) in cases {
        let relay = Relay::start(bench.server.address(), move |_| Fate::Answer(page.clone()));
        let error = bench
            .remote_at(&endpoint(&relay.url("app.git")))
            .look()
            .unwrap_err();
        assert!(
            format!("{error:?}").starts_with(expected),
            "{expected}: {error:?}"
        );
    }
    bench.server.stop();
    let error = bench.remote().look().unwrap_err();
    assert!(
        matches!(error, RemoteError::Unreachable { .. }),
        "{error:?}"
    );
    assert_eq!(error.retry(), Retry::AfterBackoff);
}

#[test]
fn a_redirect_is_followed_on_one_host_and_the_credential_stays_there() {
    let bench = Bench::seeded(&[("a.yaml", "a: 1\n")]);
    let target = bench.server.url("app");
    let to_other_host = move |line: &str| {
        if line.contains("/info/refs") {
            let service = "info/refs?service=git-upload-pack";
            let location = format!("{target}/{service}");
            Fate::Answer(answer("302 Found", &[("location", &location)], ""))
        } else {
            Fate::Pass
        }
    };
    let relay = Relay::start(bench.server.address(), to_other_host);
    let here = with(endpoint(&relay.url("app.git")), basic("me", "secret"));
    let mut remote = bench.remote_at(&here);
    let tip = bench.origin.branch("main").unwrap();
    let mut store = bench.store();
    remote.fetch(&mut store, &commit_id(&tip), None).unwrap();
    let authorized = |request: &str| request.to_ascii_lowercase().contains("authorization:");
    assert!(relay.seen().iter().all(|request| authorized(request)));
    assert!(!bench.server.requests().is_empty());
    assert!(
        bench
            .server
            .requests()
            .iter()
            .all(|request| !request.authorized)
    );

    let same_host = Relay::start(bench.server.address(), |line| {
        if line.contains("/old.git/info/refs") {
            let location = "/app.git/info/refs?service=git-upload-pack";
            Fate::Answer(answer("301 Moved", &[("location", location)], ""))
        } else {
            Fate::Pass
        }
    });
    let here = with(endpoint(&same_host.url("old.git")), basic("me", "secret"));
    let mut store = bench.another_store("second");
    let fetched = bench
        .remote_at(&here)
        .fetch(&mut store, &commit_id(&tip), None);
    assert!(fetched.is_ok(), "{fetched:?}");
    let looked = bench.remote_at(&here).look().unwrap();
    assert_eq!(tip_of(&looked, "main").as_str(), tip);
    assert!(same_host.seen().iter().all(|request| authorized(request)));

    let endless = Relay::start(bench.server.address(), |_| {
        let location = "/app.git/info/refs?service=git-upload-pack";
        Fate::Answer(answer("302 Found", &[("location", location)], ""))
    });
    let error = bench
        .remote_at(&endpoint(&endless.url("app.git")))
        .look()
        .unwrap_err();
    assert!(matches!(error, RemoteError::Redirect { .. }), "{error:?}");
}

#[test]
fn a_server_that_falls_silent_or_silly_does_not_hold_us() {
    let bench = Bench::seeded(&[("a.yaml", "a: 1\n")]);
    let short = Limits {
        call_timeout: std::time::Duration::from_millis(300),
        first_fetch_timeout: std::time::Duration::from_millis(300),
        max_fetch_bytes: 50,
        ..Limits::RECOMMENDED
    };
    let limited = |url: &str, limits| Endpoint {
        limits,
        ..endpoint(url)
    };
    let silent = Relay::start(bench.server.address(), |_| Fate::Silence);
    let url = silent.url("app.git");
    let error = bench.remote_at(&limited(&url, short)).look().unwrap_err();
    assert!(matches!(error, RemoteError::TimedOut { .. }), "{error:?}");

    let small = Limits {
        max_fetch_bytes: 50,
        ..Limits::RECOMMENDED
    };
    let tip = commit_id(&bench.origin.branch("main").unwrap());
    let mut remote = bench.remote_at(&limited(&bench.server.url("app"), small));
    let error = remote.fetch(&mut bench.store(), &tip, None).unwrap_err();
    assert!(matches!(error, RemoteError::TooLarge { .. }), "{error:?}");

    let cut = Relay::start(bench.server.address(), |line| {
        if line.starts_with("POST") {
            Fate::Cut(300)
        } else {
            Fate::Pass
        }
    });
    let mut store = bench.another_store("cut");
    let mut remote = bench.remote_at(&endpoint(&cut.url("app.git")));
    assert!(remote.fetch(&mut store, &tip, None).is_err());
    assert!(!store.has(&tip).unwrap());

    // Cancelled while it waits, not before.
    let mut waiting = bench.remote_at(&endpoint(&silent.url("app.git")));
    let asked = silent.seen().len();
    let looking = std::thread::spawn(move || waiting.look());
    let until_asked = || (silent.seen().len() > asked).then_some(());
    testkit::wait::until("the request", testkit::wait::GENEROUS, until_asked).unwrap();
    bench.cancel.cancel();
    let ended = looking.join().unwrap();
    assert!(matches!(ended, Err(RemoteError::Cancelled)), "{ended:?}");
}

#[test]
fn a_sha256_repository_is_read_into_a_store_of_its_kind() {
    let server = GitServer::start().unwrap();
    let origin = server
        .create_repository_of("app", testkit::ObjectFormat::Sha256)
        .unwrap();
    origin.seed(&[("a.yaml", "a: 1\n")]).unwrap();
    let bench = Bench::with(server, origin);
    let mut remote = bench.remote();
    let advertisement = remote.look().unwrap();
    assert_eq!(advertisement.object_format, ObjectFormat::Sha256);
    let tip = tip_of(&advertisement, "main");
    let mut store = Store::create(&bench.store_dir(), advertisement.object_format).unwrap();
    remote.fetch(&mut store, &tip, None).unwrap();
    let snapshot = store.snapshot(&tip, &folder(".")).unwrap();
    assert!(content(&store, &snapshot, "a.yaml").is_some());
    let (attempt, commit) =
        support::attempt(&store, Some(&tip), &[support::write("b.yaml", "b\n")]);
    support::assert_landed(&remote.push(&support::request(&attempt)), &commit);
    bench.check_objects();
}

#[test]
fn b020_what_a_host_says_to_people_is_told_and_how_long_it_asks_to_wait() {
    let bench = Bench::seeded(&[("a.yaml", "a: 1\n")]);
    let plain = ("content-type", "text/plain; charset=utf-8");
    let long = "word ".repeat(100_000);
    let cases = [
        (
            answer(
                "403 Forbidden",
                &[plain, ("retry-after", "60")],
                "Write access\nnot granted.\u{7}",
            ),
            "the credential is not allowed to do this (HTTP 403): Write access not granted.",
        ),
        (
            answer(
                "400 Bad Request",
                &[plain],
                "TF401041: multi_ack is required",
            ),
            "the server answered HTTP 400: TF401041: multi_ack is required",
        ),
        (
            answer(
                "503 Busy",
                &[("content-type", "text/html"), ("retry-after", "7")],
                "<h1>Sorry</h1>",
            ),
            "the server answered HTTP 503",
        ),
        (
            answer("500 Oops", &[plain], &long),
            "the server answered HTTP 500: word word",
        ),
    ];
    for (page, said) in cases {
        let relay = Relay::start(bench.server.address(), move |_| Fate::Answer(page.clone()));
        let error = bench
            .remote_at(&endpoint(&relay.url("app.git")))
            .look()
            .unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with(said) && text.len() < 700, "{text}");
        let wait = match error {
            RemoteError::Forbidden { retry_after, .. }
            | RemoteError::ServerError { retry_after, .. } => retry_after,
            other => panic!("{other:?}"),
        };
        let wanted = match said {
            _ if said.contains("403") => Some(60),
            _ if said.contains("503") => Some(7),
            _ => None,
        };
        assert_eq!(wait.map(|wait| wait.as_secs()), wanted);
    }
}
