//! Git over SSH, with a real `sshd` and judged by real Git.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test ends at the first surprise, also in its helpers, and prints what it counts"
)]

mod support;

use model::CommitId;
use repository::{
    DefaultBranch, Endpoint, ObjectFormat, PushOutcome, Remote, RemoteError, Retry, Store,
};
use support::ssh::{SshBench, key, secret};
use support::{Bench, assert_landed, attempt, branch, commit_id, folder, request, tip_of, write};
use testkit::{GitServer, SshSetup};

#[test]
fn commits_land_and_the_next_builds_on_them_over_one_connection() {
    let ssh = SshBench::seeded(&[("a.yaml", "a: 1\n"), ("keep.yaml", "keep\n")]);
    let (mut remote, mut store, tip) = ssh.fetched();
    assert_eq!(tip_of(&remote.prove_push().unwrap(), "main"), tip);
    let mut base = tip;
    for round in 0..3 {
        let edits = [write("a.yaml", &format!("round: {round}\n"))];
        let (attempt, commit) = attempt(&store, Some(&base), &edits);
        assert_landed(&remote.push(&request(&attempt)), &commit);
        store.accept(attempt).unwrap();
        base = commit;
    }
    let origin = &ssh.bench.origin;
    assert_eq!(origin.branch("main").as_deref(), Some(base.as_str()));
    assert_eq!(origin.file("main", "a.yaml").unwrap(), "round: 2\n");
    assert_eq!(origin.commits("main").unwrap().len(), 4);
    ssh.bench.check_objects();
    let log = ssh.host.log();
    assert_eq!(log.matches("Accepted publickey").count(), 1, "{log}");
    assert!(!log.contains("hung up"), "{log}");
}

#[test]
fn what_others_pushed_is_fetched_and_builds_on_what_is_here() {
    let ssh = SshBench::seeded(&[("a.yaml", "a: 1\n")]);
    let (mut remote, mut store, first) = ssh.fetched();
    let clone = ssh.host.clone("app").unwrap();
    for round in 0..3 {
        clone.write("a.yaml", &format!("round: {round}\n")).unwrap();
        clone.commit(&format!("round {round}")).unwrap();
    }
    clone.push().unwrap();
    let (stale, _) = attempt(&store, Some(&first), &[write("b.yaml", "b\n")]);
    let PushOutcome::Moved { now, .. } = remote.push(&request(&stale)) else {
        panic!("a lost race was not noticed");
    };
    let tip = now.unwrap();
    remote.fetch(&mut store, &tip, Some(&first)).unwrap();
    let history = store.history_between(&tip, &first, 10).unwrap();
    assert_eq!((history.commits.len(), history.complete), (3, true));
    let (again, commit) = attempt(&store, Some(&tip), &[write("b.yaml", "b\n")]);
    assert_landed(&remote.push(&request(&again)), &commit);
    ssh.bench.check_objects();
}

#[test]
fn an_old_protocol_host_sends_one_commit_too() {
    // The first word about a variable wins, and this one lets none of ours in.
    let deaf = SshSetup {
        configuration: "AcceptEnv NOTHING".to_owned(),
        ..SshSetup::default()
    };
    let ssh = SshBench::with(&[("a.yaml", "a: 1\n")], &deaf);
    ssh.host.before_each_command("unset GIT_PROTOCOL").unwrap();
    let clone = ssh.host.clone("app").unwrap();
    for round in 0..5 {
        clone.write("a.yaml", &format!("round: {round}\n")).unwrap();
        clone.commit("more").unwrap();
    }
    clone.push().unwrap();
    let (mut remote, mut store, tip) = ssh.fetched();
    let commits = ssh.bench.origin.commits("main").unwrap();
    assert!(
        !store.has(&commit_id(&commits[1])).unwrap(),
        "all history came"
    );
    clone.write("a.yaml", "last\n").unwrap();
    let last = commit_id(&clone.commit("last").unwrap());
    clone.push().unwrap();
    remote.fetch(&mut store, &last, Some(&tip)).unwrap();
    let history = store.history_between(&last, &tip, 9).unwrap();
    assert_eq!(history.commits, [last]);
    ssh.bench.check_objects();
}

#[test]
fn an_empty_and_a_sha256_repository_take_a_first_commit() {
    for format in [ObjectFormat::Sha1, ObjectFormat::Sha256] {
        let server = GitServer::start().unwrap();
        let kind = match format {
            ObjectFormat::Sha1 => testkit::ObjectFormat::Sha1,
            ObjectFormat::Sha256 => testkit::ObjectFormat::Sha256,
        };
        let origin = server.create_repository_of("app", kind).unwrap();
        let ssh = SshBench::of(Bench::with(server, origin), &SshSetup::default());
        let mut remote = ssh.remote();
        let empty = remote.look().unwrap();
        assert!(empty.is_empty());
        assert!(matches!(
            empty.default_branch(),
            DefaultBranch::Unborn { .. }
        ));
        assert_eq!(empty.object_format, format);
        let store = Store::create(&ssh.bench.store_dir(), format).unwrap();
        let (first, commit) = attempt(&store, None, &[write("a.yaml", "a\n")]);
        let mut request = request(&first);
        request.must_be_empty = true;
        assert_landed(&remote.push(&request), &commit);
        let mut other = ssh.bench.dir_store("second", format);
        remote.fetch(&mut other, &commit, None).unwrap();
        assert!(
            !other
                .snapshot(&commit, &folder("."))
                .unwrap()
                .files
                .is_empty()
        );
        ssh.bench
            .origin
            .git(&["fsck", "--full", "--strict"])
            .unwrap();
    }
}

#[test]
fn b028_every_kind_and_form_of_key_opens_a_session() {
    let ssh = SshBench::seeded(&[("a.yaml", "a: 1\n")]);
    let kinds = ["ed25519", "ecdsa", "rsa"];
    let keys: Vec<_> = kinds
        .iter()
        .map(|kind| ssh.host.generate_key(kind, kind, "").unwrap())
        .collect();
    ssh.host.authorize(&keys).unwrap();
    for key in &keys {
        // ed25519 keys exist in OpenSSH's form only.
        let forms: &[&str] = match key.public().starts_with("ssh-ed25519") {
            true => &["RFC4716"],
            false => &["RFC4716", "PEM", "PKCS8"],
        };
        for form in forms {
            for phrase in ["", "a phrase"] {
                let old_encryption = *form == "PEM" && key.public().starts_with("ecdsa");
                if old_encryption && !phrase.is_empty() {
                    let pem = key.private_as(form, phrase).unwrap();
                    let entries = [("identity", pem.as_str()), ("password", phrase)];
                    let refused = secret(&entries).unwrap_err().to_string();
                    assert!(refused.contains("rewrite the key"), "{refused}");
                    continue;
                }
                let pem = key.private_as(form, phrase).unwrap();
                let crlf = pem.replace('\n', "\r\n");
                for (pem, at, word) in [
                    (&pem, "ssh-privatekey", "ssh-password"),
                    (&crlf, "identity", "password"),
                ] {
                    let entries = [(at, pem.as_str()), (word, phrase)];
                    let what = format!("{} {form} {phrase:?}", key.public());
                    let credential = secret(&entries).unwrap_or_else(|e| panic!("{what}: {e}"));
                    let endpoint = Endpoint {
                        credential,
                        ..ssh.endpoint()
                    };
                    let looked = ssh.remote_at(&endpoint).look();
                    assert!(looked.is_ok(), "{what}: {looked:?}");
                }
                if !phrase.is_empty() {
                    let none = secret(&[("sshPrivateKey", &pem)]).unwrap_err().to_string();
                    assert!(none.contains("no passphrase: add ssh-password"), "{none}");
                    let wrong = secret(&[("identity", &pem), ("password", "hunter2")]);
                    let wrong = wrong.unwrap_err().to_string();
                    assert!(
                        wrong.contains("does not open the SSH key in identity"),
                        "{wrong}"
                    );
                    assert!(!wrong.contains("hunter2"), "{wrong}");
                } else {
                    let unneeded = [("identity", pem.as_str()), ("password", "unneeded")];
                    assert!(secret(&unneeded).is_ok());
                }
            }
        }
    }
    let token = ssh.host.generate_key("public", "ed25519", "").unwrap();
    let public = secret(&[("ssh-privatekey", token.public())]).unwrap_err();
    assert!(public.to_string().contains("not the .pub file"), "{public}");
}

#[test]
fn a_key_that_is_not_known_is_named_and_a_user_comes_from_the_url() {
    let ssh = SshBench::seeded(&[("a.yaml", "a: 1\n")]);
    let stranger = ssh.host.generate_key("stranger", "rsa", "").unwrap();
    let with_stranger = Endpoint {
        credential: key(&stranger),
        ..ssh.endpoint()
    };
    let error = ssh.remote_at(&with_stranger).look().unwrap_err();
    assert!(
        matches!(error, RemoteError::SshKeyRefused { .. }),
        "{error:?}"
    );
    assert_eq!(error.retry(), Retry::AfterChange);
    assert!(error.to_string().contains("SHA256:"), "{error}");
    let nobody = ssh.host.url("app").replace("//", "//nobody-here-");
    let as_nobody = Endpoint {
        url: support::endpoint(&nobody).url,
        ..ssh.endpoint()
    };
    let error = ssh.remote_at(&as_nobody).look().unwrap_err().to_string();
    assert!(error.contains("for user nobody-here-"), "{error}");
    // A key that is let in meanwhile works with the same remote.
    let mut remote = ssh.remote_at(&with_stranger);
    assert!(remote.look().is_err());
    ssh.host.authorize(std::slice::from_ref(&stranger)).unwrap();
    assert!(remote.look().is_ok());
}

#[test]
fn an_rsa_key_never_signs_with_sha1() {
    let old = SshSetup {
        configuration: "PubkeyAcceptedAlgorithms ssh-rsa,ssh-ed25519".to_owned(),
        ..SshSetup::default()
    };
    let ssh = SshBench::with(&[("a.yaml", "a: 1\n")], &old);
    let rsa = ssh.host.generate_key("rsa", "rsa", "").unwrap();
    ssh.host.authorize(std::slice::from_ref(&rsa)).unwrap();
    let endpoint = Endpoint {
        credential: key(&rsa),
        ..ssh.endpoint()
    };
    let error = ssh.remote_at(&endpoint).look().unwrap_err();
    assert_eq!(error.retry(), Retry::AfterChange, "{error:?}");
    // This server says that it knows the newer ways, and then takes the oldest only.
    let log = ssh.host.log();
    assert!(
        log.contains("rsa-sha2-512 not in PubkeyAcceptedAlgorithms"),
        "{log}"
    );
    assert!(!log.contains("Accepted publickey"), "{log}");
}

#[test]
fn a_connection_that_died_is_replaced_before_anything_is_sent() {
    let ssh = SshBench::seeded(&[("a.yaml", "a: 1\n")]);
    let (mut remote, store, tip) = ssh.fetched();
    ssh.host.stop();
    ssh.host.resume().unwrap();
    // Kills the sessions too, which `stop` lets live.
    let one_channel = "kill -9 $PPID; exit 1";
    ssh.host.before_each_command(one_channel).unwrap();
    let error = remote.look().unwrap_err();
    assert_eq!(error.retry(), Retry::AfterBackoff, "{error:?}");
    ssh.host.before_each_command("").unwrap();
    let (next, commit) = attempt(&store, Some(&tip), &[write("b.yaml", "b\n")]);
    assert_landed(&remote.push(&request(&next)), &commit);
    assert_eq!(tip_of(&remote.look().unwrap(), "main"), commit);
    ssh.bench.check_objects();
}

#[test]
fn a_new_branch_is_created_once() {
    let ssh = SshBench::seeded(&[("a.yaml", "a: 1\n")]);
    let (mut remote, store, tip) = ssh.fetched();
    let (next, commit): (_, CommitId) = attempt(&store, Some(&tip), &[write("b.yaml", "b\n")]);
    let mut create = request(&next);
    create.branch = branch("live");
    create.expected = None;
    create.parent_check = Some((branch("main"), tip));
    assert_landed(&remote.push(&create), &commit);
    // The same request again finds itself done.
    assert_landed(&remote.push(&create), &commit);
    assert_eq!(
        ssh.bench.origin.branch("live").as_deref(),
        Some(commit.as_str())
    );
}

#[test]
fn ten_branches_push_at_once_without_a_thread_for_each_channel() {
    const BRANCHES: usize = 10;
    let ssh = SshBench::seeded(&[("a.yaml", "a: 1\n")]);
    let (_, store, tip) = ssh.fetched();
    let threads = || {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("Threads:"));
        line.unwrap().trim().parse::<usize>().unwrap()
    };
    let pushes: Vec<_> = (0..BRANCHES)
        .map(|number| {
            let content = format!("{number}\n");
            let (attempt, commit) = attempt(&store, Some(&tip), &[write("b.yaml", &content)]);
            let mut create = request(&attempt);
            create.branch = branch(&format!("live-{number}"));
            create.expected = None;
            (create, commit)
        })
        .collect();
    let pushed = std::sync::Barrier::new(BRANCHES + 1);
    let counted = std::sync::Barrier::new(BRANCHES + 1);
    let before = threads();
    let during = std::thread::scope(|scope| {
        for (create, commit) in &pushes {
            let (ssh, pushed, counted) = (&ssh, &pushed, &counted);
            scope.spawn(move || {
                let mut remote = ssh.remote();
                let outcome = remote.push(create);
                pushed.wait();
                counted.wait();
                assert_landed(&outcome, commit);
            });
        }
        pushed.wait();
        let during = threads();
        counted.wait();
        during
    });
    println!("{before} threads before, {during} with {BRANCHES} open connections");
    // Other tests of this process come and go, each with a few of its own.
    assert!(during <= before + BRANCHES + 30, "{before} to {during}");
    for (create, commit) in &pushes {
        let branch = ssh.bench.origin.branch(create.branch.as_str());
        assert_eq!(branch.as_deref(), Some(commit.as_str()));
    }
}
