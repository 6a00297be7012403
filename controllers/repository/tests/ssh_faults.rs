//! Hosts and wires that break, and what becomes of a push over them.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test ends at the first surprise, also in its helpers, and prints its seed"
)]

mod support;

use std::net::{SocketAddr, TcpListener};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use model::CommitId;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use repository::{Attempt, Endpoint, Limits, PushOutcome, Remote, RemoteError, Retry, Store};
use support::ssh::SshBench;
use support::{assert_landed, attempt, request, text, tip_of, write};
use testkit::wire::{Break, Way, Wire};

fn address(port: u16) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], port))
}

/// Limits for a wire that falls silent.
fn hasty(endpoint: Endpoint) -> Endpoint {
    Endpoint {
        limits: Limits {
            connect_timeout: Duration::from_secs(2),
            idle_timeout: Duration::from_secs(2),
            call_timeout: Duration::from_secs(10),
            ..Limits::RECOMMENDED
        },
        ..endpoint
    }
}

#[test]
fn a_host_that_prints_before_git_does_is_told_so() {
    let ssh = SshBench::seeded(&[("a.yaml", "a: 1\n")]);
    for noise in ["echo Welcome to the machine", "printf '\\n'"] {
        ssh.host.before_each_command(noise).unwrap();
        let tip = support::commit_id(&ssh.bench.origin.branch("main").unwrap());
        let store = ssh.bench.another_store(&format!("noise {}", noise.len()));
        for error in refusals(&mut ssh.remote(), store, &tip) {
            assert!(
                matches!(error, RemoteError::Protocol { .. }),
                "{noise}: {error:?}"
            );
        }
    }
    ssh.host.before_each_command("echo Welcome").unwrap();
    let words = ssh.remote().look().unwrap_err().to_string();
    assert!(
        words.contains("\"Welcome\"") && words.contains("profile"),
        "{words}"
    );
    // What goes to the other stream disturbs nobody.
    ssh.host.before_each_command("echo Welcome >&2").unwrap();
    assert!(ssh.remote().look().is_ok());
}

/// Asks in each way that begins a conversation, and returns what each of them fails with.
fn refusals(remote: &mut dyn Remote, mut store: Store, tip: &CommitId) -> [RemoteError; 3] {
    [
        remote.look().unwrap_err(),
        remote.prove_push().unwrap_err(),
        remote.fetch(&mut store, tip, None).unwrap_err(),
    ]
}

#[test]
fn a_host_that_refuses_is_quoted() {
    let ssh = SshBench::seeded(&[("a.yaml", "a: 1\n")]);
    let missing = Endpoint {
        url: support::endpoint(&ssh.host.url("no-such")).url,
        ..ssh.endpoint()
    };
    let error = ssh.remote_at(&missing).look().unwrap_err();
    let words = error.to_string();
    assert!(
        words.contains("does not appear to be a git repository"),
        "{words}"
    );
    assert!(words.contains("(status 128)"), "{words}");
    assert!(!words.contains('\n'), "{words}");
    assert_eq!(error.retry(), Retry::AfterBackoff);

    // A deploy key without write access: reading works, a push session does not open.
    let read_only = "case $SSH_ORIGINAL_COMMAND in git-receive-pack*) \
        printf 'ERROR: The key is \\033[31mread only\\033[0m.\\n' >&2; exit 1;; esac";
    ssh.host.before_each_command(read_only).unwrap();
    let (mut remote, store, tip) = ssh.fetched();
    let words = remote.prove_push().unwrap_err().to_string();
    assert!(
        words.contains("ERROR: The key is") && words.contains("read only"),
        "{words}"
    );
    assert!(!words.contains('\u{1b}'), "{words}");
    let (next, _) = attempt(&store, Some(&tip), &[write("b.yaml", "b\n")]);
    let outcome = remote.push(&request(&next));
    assert!(
        matches!(outcome, PushOutcome::Failed(RemoteError::HostSaid { .. })),
        "{outcome:?}"
    );
    // Some hosts print an empty line first, and frame their words.
    let framed = "echo; for line in '' ' Deploy Key: 1:bot is not authorized to write.' ''; do \
        echo \"error:$line\" >&2; done; exit 1";
    ssh.host.before_each_command(framed).unwrap();
    let another = ssh.bench.another_store("framed");
    for error in refusals(&mut ssh.remote(), another, &tip) {
        assert_eq!(
            error.to_string(),
            "the server refused: Deploy Key: 1:bot is not authorized to write. (status 1)"
        );
    }
    for (lines, words) in [("exit 0", "inside a packet line"), ("exit 3", "status 3")] {
        ssh.host.before_each_command(lines).unwrap();
        let error = ssh.remote().look().unwrap_err().to_string();
        assert!(error.contains(words), "{lines}: {error}");
    }
}

#[test]
fn a_hook_refuses_in_its_own_words_and_a_large_push_that_is_turned_away_is_told_at_once() {
    let ssh = SshBench::seeded(&[("a.yaml", "a: 1\n")]);
    let (mut remote, store, tip) = ssh.fetched();
    let (small, _) = attempt(&store, Some(&tip), &[write("b.yaml", "b\n")]);
    let hook = "#!/bin/sh\necho 'main is protected' >&2\nexit 1\n";
    ssh.bench.origin.install_hook("pre-receive", hook).unwrap();
    let outcome = remote.push(&request(&small));
    let PushOutcome::Refused { text } = outcome else {
        panic!("not refused: {outcome:?}");
    };
    assert!(text.contains("main is protected"), "{text}");
    ssh.bench.origin.remove_hook("pre-receive").unwrap();

    // The service ends without reading the rest, and its report is the answer.
    let origin = &ssh.bench.origin;
    origin
        .git(&["config", "receive.maxInputSize", "100000"])
        .unwrap();
    let (large, _) = noise(&store, &tip, 6 << 20);
    let begun = Instant::now();
    let outcome = remote.push(&request(&large));
    let PushOutcome::Refused { text } = outcome else {
        panic!("not refused: {outcome:?}");
    };
    println!("turned away after {:?}: {text}", begun.elapsed());
    origin
        .git(&["config", "receive.maxInputSize", "0"])
        .unwrap();
    let (large, commit) = noise(&store, &tip, 6 << 20);
    assert_landed(&remote.push(&request(&large)), &commit);
    origin.git(&["fsck", "--full", "--strict"]).unwrap();
}

/// Makes a commit with a file that no compression makes smaller.
fn noise(store: &repository::Store, tip: &CommitId, size: usize) -> (Attempt, CommitId) {
    let mut bytes = vec![0; size];
    StdRng::seed_from_u64(7).fill(&mut bytes[..]);
    let mut attempt = Attempt::new(store, Some(tip)).unwrap();
    let edit = repository::TreeEdit {
        path: support::path("noise.bin"),
        content: Some(bytes),
    };
    let commit = attempt.commit(&[edit], &text("noise")).unwrap().unwrap();
    (attempt, commit)
}

#[test]
fn a_service_that_dies_before_during_and_after_is_never_taken_for_a_success() {
    let ssh = SshBench::seeded(&[("a.yaml", "a: 1\n")]);
    let (mut remote, store, tip) = ssh.fetched();
    let (next, commit) = attempt(&store, Some(&tip), &[write("b.yaml", "b\n")]);
    let folder = ssh.bench.origin.path().display().to_string();
    let greeting = ["receive-pack", "--http-backend-info-refs", folder.as_str()];
    let length = ssh.bench.origin.git(&greeting).unwrap().len();
    let instead = |command: &str| {
        format!("case $SSH_ORIGINAL_COMMAND in git-receive-pack*) {command}; exit 1;; esac")
    };
    let dies_before = instead(&format!(
        "git receive-pack --http-backend-info-refs '{folder}'"
    ));
    let loses_the_report = instead(&format!(
        "git receive-pack '{folder}' | {{ head -c {length}; cat > /dev/null; }}"
    ));
    for (lines, moves) in [(dies_before, false), (loses_the_report, true)] {
        ssh.host.before_each_command(&lines).unwrap();
        let outcome = remote.push(&request(&next));
        match &outcome {
            PushOutcome::Ambiguous { sent, .. } => assert_eq!(*sent, commit),
            // Its end may be seen before anything is sent.
            PushOutcome::Failed(_) if !moves => {}
            _ => panic!("{outcome:?}"),
        }
        ssh.host.before_each_command("").unwrap();
        let now = tip_of(&remote.look().unwrap(), "main");
        assert_eq!(now, if moves { commit.clone() } else { tip.clone() });
    }
    assert_landed(&remote.push(&request(&next)), &commit);
    assert_eq!(ssh.bench.origin.commits("main").unwrap().len(), 2);
}

#[test]
fn silence_in_each_phase_ends_within_the_limits() {
    let ssh = SshBench::seeded(&[("a.yaml", "a: 1\n")]);
    let mute = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = mute.local_addr().unwrap().port();
    let error = ssh
        .remote_at(&hasty(ssh.endpoint_at(port)))
        .look()
        .unwrap_err();
    assert!(matches!(error, RemoteError::TimedOut { .. }), "{error:?}");
    drop(mute);
    let error = ssh
        .remote_at(&hasty(ssh.endpoint_at(port)))
        .look()
        .unwrap_err();
    assert!(
        matches!(error, RemoteError::Unreachable { .. }),
        "{error:?}"
    );

    ssh.host.before_each_command("sleep 30").unwrap();
    let error = ssh.remote_at(&hasty(ssh.endpoint())).look().unwrap_err();
    assert!(matches!(error, RemoteError::TimedOut { .. }), "{error:?}");
    ssh.host.before_each_command("").unwrap();

    // A hook that takes longer than the idle limit is not known to have failed.
    let (_, store, tip) = ssh.fetched();
    let (next, commit) = attempt(&store, Some(&tip), &[write("b.yaml", "b\n")]);
    let slow = "#!/bin/sh\nsleep 4\n";
    ssh.bench.origin.install_hook("pre-receive", slow).unwrap();
    let mut remote = ssh.remote_at(&hasty(ssh.endpoint()));
    let outcome = remote.push(&request(&next));
    assert!(
        matches!(outcome, PushOutcome::Ambiguous { .. }),
        "{outcome:?}"
    );
    // The usual limits wait for it.
    assert_landed(&ssh.remote().push(&request(&next)), &commit);
    assert_eq!(ssh.bench.origin.commits("main").unwrap().len(), 2);

    // Cancelled while it waits, not before.
    ssh.host
        .before_each_command("touch \"$HOME/asked\"; sleep 30")
        .unwrap();
    let mut waiting = ssh.remote();
    let looking = std::thread::spawn(move || waiting.look());
    let sessions = || ssh.host.log().matches("Accepted publickey").count();
    let before = sessions();
    let begun = || (sessions() >= before).then_some(());
    testkit::wait::until("the session", testkit::wait::GENEROUS, begun).unwrap();
    ssh.bench.cancel.cancel();
    let ended = looking.join().unwrap();
    assert!(matches!(ended, Err(RemoteError::Cancelled)), "{ended:?}");
}

#[test]
fn a_wire_that_breaks_anywhere_loses_nothing_and_doubles_nothing() {
    let seed = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs();
    let seed = std::env::var("SSH_WIRE_SEED").map_or(seed, |seed| seed.parse().unwrap());
    println!("seed: {seed} (SSH_WIRE_SEED repeats it)");
    let mut random = StdRng::seed_from_u64(seed);
    let ssh = SshBench::seeded(&[("a.yaml", "a: 1\n")]);
    let (_, mut store, tip) = ssh.fetched();

    // How much a whole push carries, each way.
    let whole = Wire::to(address(ssh.host.port()), |_| None).unwrap();
    let (first, mut base) = attempt(&store, Some(&tip), &[write("first.yaml", "1\n")]);
    let mut remote = ssh.remote_at(&ssh.endpoint_at(whole.port()));
    assert_landed(&remote.push(&request(&first)), &base);
    store.accept(first).unwrap();
    drop(remote);
    let total = [whole.carried(Way::ToServer), whole.carried(Way::ToClient)];
    println!("a push carries {total:?} bytes");

    let mut outcomes = std::collections::BTreeMap::<&str, usize>::new();
    let mut commits = 2;
    for round in 0..24 {
        let way = [Way::ToServer, Way::ToClient][random.random_range(0..2)];
        let how = [Break::Cut, Break::Cut, Break::Cut, Break::Stall][random.random_range(0..4)];
        // Half of them where the push itself goes, behind the handshake and the login.
        let most = total[usize::from(way == Way::ToClient)] + 200;
        let least = [0, most * 3 / 5][random.random_range(0..2)];
        let at = random.random_range(least..most);
        let wire = Wire::to(address(ssh.host.port()), move |_| Some((way, at, how))).unwrap();
        let content = format!("round: {round}\n");
        let (next, commit) = attempt(&store, Some(&base), &[write("a.yaml", &content)]);
        let mut broken = ssh.remote_at(&hasty(ssh.endpoint_at(wire.port())));
        let outcome = broken.push(&request(&next));
        let what = format!("round {round}: {way:?} at {at}, {how:?}: {outcome:?}");
        let mut whole = ssh.remote();
        let word = match &outcome {
            PushOutcome::Landed { .. } => {
                assert_eq!(tip_of(&whole.look().unwrap(), "main"), commit, "{what}");
                "landed"
            }
            PushOutcome::Failed(_) => {
                assert_eq!(tip_of(&whole.look().unwrap(), "main"), base, "{what}");
                "failed"
            }
            PushOutcome::Ambiguous { sent, .. } => {
                assert_eq!(*sent, commit, "{what}");
                "ambiguous"
            }
            PushOutcome::Moved { .. } | PushOutcome::Refused { .. } | PushOutcome::Transient(_) => {
                panic!("{what}")
            }
        };
        *outcomes.entry(word).or_default() += 1;
        drop((broken, wire));
        // The same commit again settles it, whatever happened; a lost session may still hold the lock.
        let settled = || match whole.push(&request(&next)) {
            PushOutcome::Landed { tip } => Some(tip),
            PushOutcome::Transient(_) => None,
            PushOutcome::Moved { now, .. } => now.filter(|now| *now == commit),
            other => panic!("{what}, then {other:?}"),
        };
        let tip = testkit::wait::until("the push", testkit::wait::GENEROUS, settled).unwrap();
        assert_eq!(tip, commit);
        store.accept(next).unwrap();
        base = commit;
        commits += 1;
        assert_eq!(
            ssh.bench.origin.commits("main").unwrap().len(),
            commits,
            "{what}"
        );
    }
    println!("{outcomes:?}");
    let clone = ssh.host.clone("app").unwrap();
    clone.git(&["fsck", "--full", "--strict"]).unwrap();
    assert_eq!(
        ssh.bench.origin.file("main", "a.yaml").unwrap(),
        "round: 23\n"
    );
    ssh.bench.check_objects();
}

#[test]
fn a_fetch_over_a_broken_wire_leaves_the_store_as_it_was() {
    let ssh = SshBench::seeded(&[("a.yaml", "a: 1\n")]);
    let (_, mut store, first) = ssh.fetched();
    let clone = ssh.host.clone("app").unwrap();
    let mut random = StdRng::seed_from_u64(7);
    let lines = (0..10_000).map(|_| format!("line: {}\n", random.random_range(0..u64::MAX)));
    clone.write("big.yaml", &lines.collect::<String>()).unwrap();
    let tip = support::commit_id(&clone.commit("more").unwrap());
    clone.push().unwrap();
    for at in [500, 1_500, 2_500, 20_000, 60_000] {
        let wire = Wire::to(address(ssh.host.port()), move |_| {
            Some((Way::ToClient, at, Break::Cut))
        })
        .unwrap();
        let mut broken = ssh.remote_at(&ssh.endpoint_at(wire.port()));
        let error = broken.fetch(&mut store, &tip, Some(&first)).unwrap_err();
        assert_eq!(error.retry(), Retry::AfterBackoff, "{at}: {error:?}");
        assert!(!store.has(&tip).unwrap(), "{at}");
    }
    ssh.remote().fetch(&mut store, &tip, Some(&first)).unwrap();
    ssh.bench.check_objects();
}
