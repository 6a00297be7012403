//! What a host shows, against lines that a person or a tool wrote.

use russh::keys::ssh_key::certificate::{Builder, CertType};
use russh::keys::ssh_key::private::Ed25519Keypair;
use russh::keys::{Certificate, PrivateKey, PublicKey};

use super::*;

const NOW: u64 = 1_761_038_050;
const ECDSA: &str = "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBBuuzQ5iOVO7sE5fD/Jq7fEtZygPOWiwcmBTd43ktfUOmSJ+tktKOOcSlDu85EUiyVSh2+2Pkw13HvfTb8PQT/Q=";

fn private(seed: u8) -> PrivateKey {
    PrivateKey::from(Ed25519Keypair::from_seed(&[seed; 32]))
}

fn public(seed: u8) -> PublicKey {
    private(seed).public_key().clone()
}

/// Writes lines; `{1}` stands for the key of seed 1, and so on.
fn text(lines: &str) -> String {
    (1..=4).fold(lines.to_owned(), |text, seed| {
        text.replace(&format!("{{{seed}}}"), &public(seed).to_openssh().unwrap())
    })
}

fn known(lines: &str) -> KnownHosts {
    KnownHosts::parse(text(lines).as_bytes(), "Secret ns/git-creds").unwrap()
}

fn at(url: &str) -> HostAddress {
    HostAddress::of(&RepositoryUrl::new(url).unwrap())
}

/// Says in a word how the host with the key of seed 1 is judged.
fn verdict(lines: &str, url: &str) -> String {
    let key = public(1);
    word(known(lines).check(&at(url), &Shown::Key(&key), NOW))
}

fn word(result: Result<(), HostKeyFault>) -> String {
    match result {
        Ok(()) => "accepted".to_owned(),
        Err(HostKeyFault::NothingKnown { .. }) => "nothing known".to_owned(),
        Err(HostKeyFault::Unknown { .. }) => "unknown".to_owned(),
        Err(HostKeyFault::Changed { line, .. }) => format!("changed {line}"),
        Err(HostKeyFault::Revoked { line, .. }) => format!("revoked {line}"),
        Err(HostKeyFault::Certificate { problem, .. }) => problem,
    }
}

#[test]
fn b026_a_bare_key_is_judged_by_the_lines_about_its_host() {
    let host = "git@git.example.com:o/r";
    let other_port = "ssh://git@git.example.com:2222/o/r";
    let ipv6 = "ssh://git@[::1]/o/r";
    let cases = [
        (host, "git.example.com {1}", "accepted"),
        (host, "git.example.com {1} a comment\n", "accepted"),
        (host, "\tgit.example.com\t \t{1}\r\n", "accepted"),
        (
            host,
            "# git.example.com {2}\n\ngit.example.com {1}",
            "accepted",
        ),
        (host, "\u{feff}git.example.com {1}", "accepted"),
        (host, "GIT.Example.com {1}", "accepted"),
        (
            host,
            "other.example.com,git.example.com,10.0.0.1 {1}",
            "accepted",
        ),
        (host, "[git.example.com]:22 {1}", "accepted"),
        (host, "*.example.com {1}", "accepted"),
        (host, "g?t.example.com {1}", "accepted"),
        (host, "*.example.org {1}", "unknown"),
        (host, "*.example.com,!git.example.com {1}", "unknown"),
        (host, "!git.example.com,*.example.com {1}", "unknown"),
        (host, "!other.example.com,*.example.com {1}", "accepted"),
        (host, "!other.example.com {1}", "unknown"),
        (host, "git.example.com.evil.org {1}", "unknown"),
        (host, "", "unknown"),
        (host, "other.example.com {1}", "unknown"),
        (host, "git.example.com {2}", "changed 1"),
        (host, "git.example.com {2}\ngit.example.com {1}", "accepted"),
        (host, "git.example.com {1}\n@revoked * {1}", "revoked 2"),
        (
            host,
            "@revoked git.example.com {1}\ngit.example.com {1}",
            "revoked 1",
        ),
        (
            host,
            "@revoked other.example.com {1}\ngit.example.com {1}",
            "accepted",
        ),
        (host, "@revoked * {2}\ngit.example.com {1}", "accepted"),
        (host, "@cert-authority * {1}", "unknown"),
        (host, "garbage\ngit.example.com {1}", "accepted"),
        (
            host,
            "git.example.com ssh-ed25519 AAAA\ngit.example.com {1}",
            "accepted",
        ),
        (
            host,
            "@unheard-of git.example.com {2}\ngit.example.com {1}",
            "accepted",
        ),
        (
            host,
            "|1|F37G0G2/iHxwcHVMo2cg5sMDpb0=|7wzoV2u7QJk5rawBskKwYteNSrs= {1}",
            "accepted",
        ),
        (
            host,
            "|1|F37G0G2/iHxwcHVMo2cg5sMDpb0=|8wzoV2u7QJk5rawBskKwYteNSrs= {1}",
            "unknown",
        ),
        (
            other_port,
            "|1|C+wrjH5jrBV7eJWGMYzD1CMoLBU=|lx5cu3EnP28UabIMwwavTDmZiik= {1}",
            "accepted",
        ),
        (other_port, "[git.example.com]:2222 {1}", "accepted"),
        (other_port, "[*.example.com]:2222 {1}", "accepted"),
        (other_port, "[git.example.com]:2223 {1}", "unknown"),
        (other_port, "git.example.com {1}", "unknown"),
        (other_port, "git.example.com {2}", "unknown"),
        (
            other_port,
            "[git.example.com]:2222 {1}\n@revoked git.example.com {1}",
            "revoked 2",
        ),
        (ipv6, "::1 {1}", "accepted"),
        (ipv6, "[::1]:22 {1}", "accepted"),
        (ipv6, "::2 {1}", "unknown"),
        ("ssh://[::1]:2222/o/r", "[::1]:2222 {1}", "accepted"),
        ("ssh://[::1]:2222/o/r", "::1 {1}", "unknown"),
        (
            "ssh://Git.Example.COM/o/r",
            "git.example.com {1}",
            "accepted",
        ),
    ];
    for (url, lines, expected) in cases {
        assert_eq!(verdict(lines, url), expected, "{url} {lines:?}");
    }
}

#[test]
fn a_text_that_says_nothing_reliable_is_refused() {
    let parse = |text: &[u8]| KnownHosts::parse(text, "o").map(|known| known.skipped().to_vec());
    let origin = || "o".to_owned();
    assert_eq!(parse(b"# nothing\n\n"), Ok(vec![]));
    assert_eq!(
        parse(text("x\n\ngit {1}\n@cert-authority y").as_bytes()),
        Ok(vec![1, 4])
    );
    assert_eq!(
        parse(b"hello world"),
        Err(KnownHostsError::Nothing { origin: origin() })
    );
    assert_eq!(
        parse(b"\xff"),
        Err(KnownHostsError::NotText { origin: origin() })
    );
    for bad in [
        "@revoked",
        "@revoked *",
        "@revoked * ssh-ed25519",
        "@revoked * ssh-ed25519 AAAA",
        "@revoked |1|x ssh-ed25519 AAAA",
        "@REVOKED * {2}",
    ] {
        let lines = text(&format!("git {{1}}\n{bad}\n"));
        let refused = KnownHostsError::Revocation {
            origin: origin(),
            line: 2,
        };
        assert_eq!(parse(lines.as_bytes()), Err(refused), "{bad}");
    }
}

/// Makes a certificate for the key of seed 1, signed by the key of seed 3.
fn certificate(kind: CertType, principals: &[&str], valid: (u64, u64)) -> Certificate {
    let mut builder = Builder::new([7; 16], public(1), valid.0, valid.1).unwrap();
    builder.cert_type(kind).unwrap();
    for principal in principals {
        builder.valid_principal(*principal).unwrap();
    }
    if principals.is_empty() {
        builder.all_principals_valid().unwrap();
    }
    builder.sign(&private(3)).unwrap()
}

#[test]
fn a_certificate_is_good_for_its_host_its_time_and_its_authority() {
    let (host, user) = (CertType::Host, CertType::User);
    let now = (NOW - 10, NOW + 10);
    let name: &[&str] = &["git.example.com"];
    let authority = "@cert-authority *.example.com {3}";
    let cases: [(&str, Certificate, &str); 13] = [
        (authority, certificate(host, name, now), "accepted"),
        (
            authority,
            certificate(host, &["*.example.com"], now),
            "accepted",
        ),
        (
            authority,
            certificate(host, &["a.example.com", "b.example.com"], now),
            "it is not for git.example.com, but for [a.example.com, b.example.com]",
        ),
        (
            authority,
            certificate(host, &[], now),
            "it is not for git.example.com, but for []",
        ),
        (
            authority,
            certificate(user, name, now),
            "it is a certificate for users",
        ),
        (
            authority,
            certificate(host, name, (NOW + 1, NOW + 2)),
            "it is not valid yet",
        ),
        (
            authority,
            certificate(host, name, (NOW - 2, NOW)),
            "it has expired",
        ),
        (
            "@cert-authority *.example.com {4}",
            certificate(host, name, now),
            "unknown",
        ),
        (
            "@cert-authority *.example.org {3}",
            certificate(host, name, now),
            "unknown",
        ),
        (
            "@cert-authority *.example.com {4}\ngit.example.com {1}",
            certificate(host, name, now),
            "accepted",
        ),
        (
            "@cert-authority * {3}\n@revoked * {3}",
            certificate(host, name, now),
            "revoked 2",
        ),
        (
            "@cert-authority * {3}\n@revoked * {1}",
            certificate(host, name, now),
            "revoked 2",
        ),
        (
            "git.example.com {3}",
            certificate(host, name, now),
            "changed 1",
        ),
    ];
    for (lines, certificate, expected) in cases {
        let shown = Shown::Certificate(&certificate);
        for url in ["git@git.example.com:r", "ssh://git.example.com:22/r"] {
            let judged = known(lines).check(&at(url), &shown, NOW);
            assert_eq!(word(judged), expected, "{url} {lines}");
        }
    }
}

#[test]
fn a_certificate_that_was_tampered_with_is_refused() {
    let good = certificate(CertType::Host, &["git.example.com"], (NOW - 1, NOW + 1));
    let mut bytes = good.to_bytes().unwrap();
    let at_name = bytes
        .windows(15)
        .position(|window| window == b"git.example.com")
        .unwrap();
    bytes[at_name..at_name + 3].copy_from_slice(b"own");
    let forged = Certificate::from_bytes(&bytes).unwrap();
    let judged = known("@cert-authority * {3}").check(
        &at("git@own.example.com:r"),
        &Shown::Certificate(&forged),
        NOW,
    );
    assert_eq!(word(judged), "its signature is wrong");
}

#[test]
fn a_host_is_asked_for_a_kind_of_key_that_is_known() {
    let first = |lines: &str| {
        let preference = known(lines).preference(&at("git@git.example.com:r"));
        assert_eq!(preference.keys.len(), 6, "nothing is left out");
        assert!(
            preference
                .keys
                .iter()
                .all(|key| *key != russh::keys::Algorithm::Rsa { hash: None })
        );
        (
            preference.keys[0].as_str().to_owned(),
            preference.certificates.len(),
        )
    };
    let ed25519 = "ssh-ed25519".to_owned();
    assert_eq!(first("other {1}"), (ed25519.clone(), 0));
    assert_eq!(first("@cert-authority * {1}"), (ed25519.clone(), 6));
    assert_eq!(first("@cert-authority other {1}"), (ed25519, 0));
    let ecdsa = format!("git.example.com {ECDSA}");
    assert_eq!(first(&ecdsa).0, "ecdsa-sha2-nistp256");
    let key = public(1);
    let known = known(&ecdsa);
    let judged = known.check(&at("git@git.example.com:r"), &Shown::Key(&key), NOW);
    let message = judged.unwrap_err().to_string();
    assert!(
        message.contains("knows only its ecdsa-sha2-nistp256 key"),
        "{message}"
    );
}

#[test]
fn a_refusal_tells_what_to_do() {
    let message = |lines: &str, url: &str| {
        let key = public(1);
        let judged = known(lines).check(&at(url), &Shown::Key(&key), NOW);
        judged.unwrap_err().to_string()
    };
    let without_port = message("git.example.com {1}", "ssh://git.example.com:2222/r");
    assert!(
        without_port.contains("[git.example.com]:2222"),
        "{without_port}"
    );
    assert!(
        without_port.contains("only without the port"),
        "{without_port}"
    );
    let changed = message("\ngit.example.com {2}", "git@git.example.com:r");
    assert!(
        changed.contains("line 2 of known_hosts of Secret ns/git-creds"),
        "{changed}"
    );
    let unknown = message("nonsense\nother {1}", "git@git.example.com:r");
    assert!(unknown.contains("SHA256:"), "{unknown}");
    assert!(unknown.contains("(line 1 cannot be read)"), "{unknown}");
}
