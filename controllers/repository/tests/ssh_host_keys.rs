//! Which hosts are believed, beside the `ssh` of the machine: the same server, the same lines, two judges.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test ends at the first surprise, also in its helpers"
)]

mod support;

use repository::{Endpoint, HostKeyFault, HostKeyTrust, KnownHosts, Remote, RemoteError, Retry};
use support::ssh::{SshBench, known};
use testkit::SshSetup;

/// What comes of an SSH session with these lines: `ok`, or the kind of the refusal.
fn ours(ssh: &SshBench, host_keys: HostKeyTrust) -> String {
    let endpoint = Endpoint {
        host_keys,
        ..ssh.endpoint()
    };
    match ssh.remote_at(&endpoint).look() {
        Ok(_) => "ok".to_owned(),
        Err(RemoteError::HostKey(fault)) => match fault {
            HostKeyFault::NothingKnown { .. } => "nothing known".to_owned(),
            HostKeyFault::Unknown { .. } => "unknown".to_owned(),
            HostKeyFault::Changed { .. } => "changed".to_owned(),
            HostKeyFault::Revoked { .. } => "revoked".to_owned(),
            HostKeyFault::Certificate { problem, .. } => problem,
        },
        Err(other) => format!("{other:?}"),
    }
}

fn real_ssh_agrees(ssh: &SshBench, lines: &str) -> bool {
    let key = ssh.host.client_key();
    match ssh.host.clone_as("app", "Alice", key, lines) {
        Ok(_) => true,
        Err(error) => {
            let text = format!("{error:#}");
            let about_host = ["Host key verification failed", "REVOKED", "no host key"];
            assert!(
                about_host.iter().any(|words| text.contains(words)),
                "{text}"
            );
            false
        }
    }
}

/// Whether the two judges must say the same.
#[derive(Clone, Copy, PartialEq)]
enum Ssh {
    Agrees,
    /// Ours is stricter, on purpose.
    Accepts,
}

fn judge(ssh: &SshBench, cases: &[(String, &str, Ssh)]) {
    for (lines, expected, real) in cases {
        // A text that is refused as a whole never reaches a host.
        let verdict = match KnownHosts::parse(lines.as_bytes(), "Secret ns/s") {
            Ok(known) => ours(ssh, HostKeyTrust::Known(known)),
            Err(error) => error.to_string(),
        };
        assert!(
            verdict.contains(expected),
            "{lines}: {verdict}, not {expected}"
        );
        let accepted = verdict == "ok" || *real == Ssh::Accepts;
        assert_eq!(real_ssh_agrees(ssh, lines), accepted, "{lines}");
    }
}

#[test]
fn bare_keys_are_judged_as_openssh_judges_them() {
    let ssh = SshBench::seeded(&[("a.yaml", "a: 1\n")]);
    let other = ssh
        .host
        .generate_key("other", "ed25519", "")
        .unwrap()
        .line();
    let key = ssh.host.host_keys()[0].line();
    let name = format!("[127.0.0.1]:{}", ssh.host.port());
    let port = ssh.host.port();
    let line = |line: &str| {
        line.replace("NAME", &name)
            .replace("OTHER", &other)
            .replace("KEY", &key)
    };
    let cases = [
        (line("NAME KEY"), "ok", Ssh::Agrees),
        (line("\tNAME\tKEY comment\r\n"), "ok", Ssh::Agrees),
        (line("# words\n\nNAME KEY\n"), "ok", Ssh::Agrees),
        (line("x.example.com,NAME KEY"), "ok", Ssh::Agrees),
        (line("[127.*]:* KEY"), "ok", Ssh::Agrees),
        (line("[127.0.0.?]:*,!NAME KEY"), "unknown", Ssh::Agrees),
        (line("NAME OTHER\nNAME KEY"), "ok", Ssh::Agrees),
        (line("NAME OTHER"), "changed", Ssh::Agrees),
        (line("elsewhere.example.com KEY"), "unknown", Ssh::Agrees),
        (line("@revoked * KEY\nNAME KEY"), "revoked", Ssh::Agrees),
        (line("NAME KEY\n@revoked NAME KEY"), "revoked", Ssh::Agrees),
        (line("@revoked NAME OTHER\nNAME KEY"), "ok", Ssh::Agrees),
        (line("@cert-authority NAME KEY"), "unknown", Ssh::Agrees),
        (line("garbage\nNAME KEY"), "ok", Ssh::Agrees),
        (line("127.0.0.1 KEY"), "unknown", Ssh::Accepts),
        (line("@revoked nonsense\nNAME KEY"), "line 1", Ssh::Accepts),
        (
            "garbage".to_owned(),
            "no line that can be read",
            Ssh::Agrees,
        ),
        (String::new(), "unknown", Ssh::Agrees),
    ];
    judge(&ssh, &cases);
    assert_eq!(ours(&ssh, HostKeyTrust::Nobody), "nothing known");
    assert_eq!(ours(&ssh, HostKeyTrust::Anybody), "ok");
    let hashed = hashed(&line("NAME KEY"));
    assert!(!hashed.contains(&port.to_string()), "{hashed}");
    judge(&ssh, &[(hashed, "ok", Ssh::Agrees)]);
}

/// Lets `ssh-keygen` hide the name of a line.
fn hashed(line: &str) -> String {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("known_hosts");
    std::fs::write(&path, format!("{line}\n")).unwrap();
    testkit::hash_known_hosts(&path).unwrap();
    std::fs::read_to_string(&path).unwrap()
}

#[test]
fn a_kind_of_key_that_is_known_is_asked_for() {
    let setup = SshSetup {
        host_keys: vec!["ed25519", "rsa", "ecdsa"],
        ..SshSetup::default()
    };
    let ssh = SshBench::with(&[("a.yaml", "a: 1\n")], &setup);
    for key in ssh.host.host_keys() {
        let line = ssh.host.known_hosts_line(key);
        judge(&ssh, &[(line, "ok", Ssh::Agrees)]);
    }
    // A host that lacks the known kind is refused, and told apart from one that changed its key.
    let only_rsa = SshSetup {
        host_keys: vec!["rsa"],
        ..SshSetup::default()
    };
    let rsa = SshBench::with(&[("a.yaml", "a: 1\n")], &only_rsa);
    judge(&rsa, &[(rsa.host.known_hosts(), "ok", Ssh::Agrees)]);
    let ed25519 = rsa.host.known_hosts_line(&ssh.host.host_keys()[0]);
    judge(&rsa, &[(ed25519, "unknown", Ssh::Agrees)]);
}

/// Starts a server whose host key has a certificate.
fn certified(names: &str, options: &[&'static str]) -> SshBench {
    let setup = SshSetup {
        certified_for: Some(names.to_owned()),
        certificate_options: options.to_vec(),
        ..SshSetup::default()
    };
    SshBench::with(&[("a.yaml", "a: 1\n")], &setup)
}

#[test]
fn certificates_are_judged_as_openssh_judges_them() {
    let ssh = certified("127.0.0.1", &[]);
    let name = format!("[127.0.0.1]:{}", ssh.host.port());
    let (authority, key) = (ssh.host.authority().line(), ssh.host.host_keys()[0].line());
    let other = ssh
        .host
        .generate_key("other", "ed25519", "")
        .unwrap()
        .line();
    let cases = [
        (
            format!("@cert-authority {name} {authority}"),
            "ok",
            Ssh::Agrees,
        ),
        (format!("@cert-authority * {authority}"), "ok", Ssh::Agrees),
        (format!("@cert-authority * {other}"), "unknown", Ssh::Agrees),
        (
            format!("@cert-authority x {authority}"),
            "unknown",
            Ssh::Agrees,
        ),
        (format!("{name} {authority}"), "changed", Ssh::Agrees),
        (
            format!("@cert-authority * {authority}\n@revoked * {authority}"),
            "revoked",
            Ssh::Agrees,
        ),
        (
            format!("@cert-authority * {authority}\n@revoked * {key}"),
            "revoked",
            Ssh::Agrees,
        ),
        // The key under the certificate of a stranger may be known by itself.
        (
            format!("@cert-authority * {other}\n{name} {key}"),
            "ok",
            Ssh::Agrees,
        ),
        (format!("{name} {key}"), "ok", Ssh::Agrees),
    ];
    judge(&ssh, &cases);

    for (names, options, problem) in [
        ("git.example.com", &[][..], "it is not for 127.0.0.1"),
        (
            "127.0.0.1",
            &["-V", "20200101:20210101"][..],
            "it has expired",
        ),
        (
            "127.0.0.1",
            &["-V", "20990101:21000101"][..],
            "it is not valid yet",
        ),
    ] {
        let ssh = certified(names, options);
        let line = format!("@cert-authority * {}", ssh.host.authority().line());
        judge(&ssh, &[(line, problem, Ssh::Agrees)]);
    }
    // An old `ssh` takes a certificate without names for every host, and a new one for none.
    let nameless = certified("", &[]);
    let line = format!("@cert-authority * {}", nameless.host.authority().line());
    let verdict = ours(&nameless, known(&line));
    assert!(
        verdict.contains("it is not for 127.0.0.1, but for []"),
        "{verdict}"
    );
    let for_users = certified("127.0.0.1", &["for-users"]);
    let line = format!("@cert-authority * {}", for_users.host.authority().line());
    assert_ne!(ours(&for_users, known(&line)), "ok");
    // A server without a certificate, where only an authority is known.
    let bare = SshBench::seeded(&[("a.yaml", "a: 1\n")]);
    let line = format!("@cert-authority * {}", bare.host.authority().line());
    judge(&bare, &[(line, "unknown", Ssh::Agrees)]);
}

#[test]
fn a_refused_host_never_sees_the_key_and_says_what_to_do() {
    let ssh = SshBench::seeded(&[("a.yaml", "a: 1\n")]);
    let nobody = known(
        "other.example.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIN+PTrJ24/dDHonrUE5q5Q5+ZicRd/vOnyU4EppZPRTj",
    );
    let endpoint = Endpoint {
        host_keys: nobody,
        ..ssh.endpoint()
    };
    let error = ssh.remote_at(&endpoint).look().unwrap_err();
    assert_eq!(error.retry(), Retry::AfterChange);
    let text = error.to_string();
    assert!(text.contains("Secret ns/git-creds"), "{text}");
    assert!(text.contains("SHA256:"), "{text}");
    let log = ssh.host.log();
    assert!(!log.contains("publickey"), "{log}");
}
