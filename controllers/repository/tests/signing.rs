//! Commits that we sign, judged by the real `git` and `ssh-keygen`.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test reports a failure by panicking"
)]

mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

use model::{Secret, Signature};
use repository::{Attempt, CommitText, ObjectFormat, SigningKey, SigningKeyError, Store};
use support::{text, write};
use tempfile::TempDir;

const PASSPHRASE: &str = "open sesame";

/// A key as a person makes it.
struct Kind {
    title: &'static str,
    arguments: &'static [&'static str],
    passphrase: &'static str,
}

const fn kind(
    title: &'static str,
    arguments: &'static [&'static str],
    passphrase: &'static str,
) -> Kind {
    Kind {
        title,
        arguments,
        passphrase,
    }
}

const KINDS: [Kind; 10] = [
    kind("ed25519", &["-t", "ed25519"], ""),
    kind("ed25519, encrypted", &["-t", "ed25519"], PASSPHRASE),
    kind("rsa", &["-t", "rsa", "-b", "2048"], ""),
    kind("rsa, encrypted", &["-t", "rsa", "-b", "2048"], PASSPHRASE),
    kind(
        "rsa in PKCS#1",
        &["-t", "rsa", "-b", "2048", "-m", "PEM"],
        "",
    ),
    kind(
        "rsa in PKCS#8",
        &["-t", "rsa", "-b", "2048", "-m", "PKCS8"],
        "",
    ),
    kind("ecdsa P-256", &["-t", "ecdsa", "-b", "256"], ""),
    kind(
        "ecdsa P-256, encrypted",
        &["-t", "ecdsa", "-b", "256"],
        PASSPHRASE,
    ),
    kind(
        "ecdsa P-256 in SEC1",
        &["-t", "ecdsa", "-b", "256", "-m", "PEM"],
        "",
    ),
    kind("ecdsa P-384", &["-t", "ecdsa", "-b", "384"], ""),
];

fn run(program: &str, arguments: &[&str], dir: &Path, input: &[u8]) -> Output {
    use std::io::Write as _;
    #[allow(clippy::disallowed_methods, reason = "tests judge by other programs")]
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir(dir)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("HOME", dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}

fn succeeds(program: &str, arguments: &[&str], dir: &Path, input: &[u8]) -> String {
    let output = run(program, arguments, dir, input);
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {output:?}"
    );
    String::from_utf8(output.stdout).unwrap()
}

/// Makes a key with `ssh-keygen` and returns the text of its private half.
fn keygen(dir: &Path, kind: &Kind) -> Secret<String> {
    let file = dir.join("key");
    for old in [&file, &dir.join("key.pub")] {
        fs::remove_file(old).ok();
    }
    let mut arguments = kind.arguments.to_vec();
    arguments.extend([
        "-q",
        "-C",
        "person@host",
        "-N",
        kind.passphrase,
        "-f",
        "key",
    ]);
    succeeds("ssh-keygen", &arguments, dir, b"");
    Secret::new(fs::read_to_string(&file).unwrap())
}

fn read(text: &Secret<String>, passphrase: &str) -> Result<SigningKey, SigningKeyError> {
    let passphrase = Secret::new(passphrase.to_owned());
    SigningKey::read(text, Some(&passphrase))
}

/// One ed25519 key for the cases that are not about keys.
static KEY: LazyLock<SigningKey> =
    LazyLock::new(|| SigningKey::generate(&mut rand::rng(), None).unwrap().key);

/// Makes one signed commit on an empty store, and the file that tells git whom to believe.
fn signed(dir: &Path, format: ObjectFormat, key: &SigningKey, text: &CommitText) -> String {
    let at = dir.join("store");
    let mut store = Store::create(&at, format).unwrap();
    let mut attempt = Attempt::new(&store, None).unwrap();
    let commit = attempt
        .commit_signed(&[write("a.yaml", "a\n")], text, key)
        .unwrap()
        .unwrap();
    store.accept(attempt).unwrap();
    store.write_accepted().unwrap();
    drop(store);
    let allowed = format!("{} {}\n", text.committer.email, key.public_key());
    fs::write(dir.join("allowed"), allowed).unwrap();
    commit.to_string()
}

/// Lets git judge the commit, and ssh-keygen the signature that stands in it.
fn judge(dir: &Path, commit: &str, title: &str) {
    let store = dir.join("store");
    let allowed = dir.join("allowed");
    let option = format!("gpg.ssh.allowedSignersFile={}", allowed.display());
    let verified = run(
        "git",
        &["-c", &option, "verify-commit", commit],
        &store,
        b"",
    );
    let said = String::from_utf8_lossy(&verified.stderr).into_owned();
    assert!(verified.status.success(), "{title}: {verified:?}");
    assert!(
        said.starts_with("Good \"git\" signature for"),
        "{title}: {said}"
    );
    succeeds("git", &["fsck", "--full", "--strict", commit], &store, b"");

    let whole = succeeds("git", &["cat-file", "commit", commit], &store, b"");
    let (signature, signed) = taken_apart(&whole);
    fs::write(dir.join("signature"), signature).unwrap();
    let verify = |verb: &[&str]| {
        let mut arguments = vec!["-Y"];
        arguments.extend(verb);
        arguments.extend(["-n", "git", "-s", "signature"]);
        run("ssh-keygen", &arguments, dir, signed.as_bytes())
    };
    let checked = verify(&["check-novalidate"]);
    assert!(checked.status.success(), "{title}: {checked:?}");
    let identity = fs::read_to_string(&allowed).unwrap();
    let identity = identity.split(' ').next().unwrap();
    let verified = verify(&["verify", "-f", "allowed", "-I", identity]);
    assert!(verified.status.success(), "{title}: {verified:?}");
}

/// Separates a commit into its signature and what was signed.
fn taken_apart(commit: &str) -> (String, String) {
    let (mut signature, mut rest, mut inside) = (String::new(), String::new(), false);
    let (headers, message) = commit.split_once("\n\n").unwrap();
    for line in headers.lines() {
        let begins = line
            .strip_prefix("gpgsig-sha256 ")
            .or(line.strip_prefix("gpgsig "));
        match (begins, line.strip_prefix(' ')) {
            (Some(first), _) => {
                inside = true;
                signature.push_str(&format!("{first}\n"));
            }
            (None, Some(next)) if inside => signature.push_str(&format!("{next}\n")),
            _ => {
                inside = false;
                rest.push_str(&format!("{line}\n"));
            }
        }
    }
    (signature, format!("{rest}\n{message}"))
}

#[test]
fn case_33_git_and_ssh_keygen_accept_every_kind_of_key_in_both_formats() {
    let keys = TempDir::new().unwrap();
    for kind in &KINDS {
        let key = read(&keygen(keys.path(), kind), kind.passphrase).unwrap();
        for format in [ObjectFormat::Sha1, ObjectFormat::Sha256] {
            let dir = TempDir::new().unwrap();
            let commit = signed(dir.path(), format, &key, &text("signed\n\nwith a body"));
            judge(dir.path(), &commit, kind.title);
        }
    }
}

#[test]
fn case_33_equal_commits_have_equal_signatures_with_every_kind_of_key() {
    let keys = TempDir::new().unwrap();
    for kind in &KINDS {
        let pem = keygen(keys.path(), kind);
        let sign = || read(&pem, kind.passphrase).unwrap().sign(b"tree").unwrap();
        assert_eq!(sign(), sign(), "{}", kind.title);
    }
}

#[test]
fn case_33_a_signed_commit_takes_any_name_and_another_author_than_committer() {
    let long = "x".repeat(400);
    for (name, email) in [
        ("Alice", "alice@example.com"),
        ("x> 0 +0000\ncommitter <y", "a\nb<>@example.com"),
        ("tab\tand\u{7f}\u{1b}[31m", "\r\n"),
        ("", ""),
        ("Zoë Ünïcødé 山田", "zoë@example.com"),
        (long.as_str(), long.as_str()),
    ] {
        let text = CommitText {
            author: Signature::cleaned(name, email),
            committer: Signature::cleaned("Bot", "bot@example.com"),
            ..text("by somebody")
        };
        let dir = TempDir::new().unwrap();
        let commit = signed(dir.path(), ObjectFormat::Sha1, &KEY, &text);
        judge(dir.path(), &commit, name);
        let format = "--format=%an|%ae|%cn|%ce";
        let log = succeeds(
            "git",
            &["log", "-1", format, &commit],
            &dir.path().join("store"),
            b"",
        );
        let Signature { name, email } = &text.author;
        assert_eq!(
            log.trim_end(),
            format!("{name}|{email}|Bot|bot@example.com")
        );
    }
}

#[test]
fn another_key_or_another_text_does_not_verify() {
    let dir = TempDir::new().unwrap();
    let commit = signed(dir.path(), ObjectFormat::Sha1, &KEY, &text("signed"));
    let other = SigningKey::generate(&mut rand::rng(), None).unwrap().key;
    let allowed = format!("{} {}\n", text("").committer.email, other.public_key());
    fs::write(dir.path().join("allowed"), allowed).unwrap();
    let option = format!(
        "gpg.ssh.allowedSignersFile={}",
        dir.path().join("allowed").display()
    );
    let store = dir.path().join("store");
    let verified = run(
        "git",
        &["-c", &option, "verify-commit", &commit],
        &store,
        b"",
    );
    assert!(!verified.status.success(), "{verified:?}");
}

#[test]
fn keys_that_a_person_made_are_told_what_is_wrong_with_them() {
    let keys = TempDir::new().unwrap();
    let old = kind("", &["-t", "rsa", "-b", "2048", "-m", "PEM"], PASSPHRASE);
    let encrypted = keygen(keys.path(), &kind("", &["-t", "ed25519"], PASSPHRASE));
    let pkcs1 = keygen(keys.path(), &old);
    let with = |text: &Secret<String>, passphrase: &str| read(text, passphrase).map(drop);
    assert_eq!(with(&encrypted, ""), Err(SigningKeyError::NeedsPassphrase));
    assert_eq!(
        with(&encrypted, "no"),
        Err(SigningKeyError::WrongPassphrase)
    );
    // OpenSSH writes the old form with AES-128, which is understood.
    assert_eq!(with(&pkcs1, ""), Err(SigningKeyError::NeedsPassphrase));
    assert_eq!(with(&pkcs1, PASSPHRASE), Ok(()));
    let foreign = Secret::new(pkcs1.expose().replace("AES-128-CBC", "DES-EDE3-CBC"));
    assert_eq!(
        with(&foreign, PASSPHRASE),
        Err(SigningKeyError::OldEncryption)
    );
}

#[test]
fn the_public_half_is_the_one_that_ssh_keygen_derives() {
    let keys = TempDir::new().unwrap();
    for kind in KINDS.iter().filter(|kind| kind.passphrase.is_empty()) {
        let key = read(&keygen(keys.path(), kind), "").unwrap();
        let derived = succeeds("ssh-keygen", &["-y", "-f", "key"], keys.path(), b"");
        let derived: Vec<_> = derived.split_whitespace().take(2).collect();
        assert_eq!(key.public_key(), derived.join(" "), "{}", kind.title);
    }
}

#[test]
fn a_key_that_we_made_is_opened_by_ssh_keygen() {
    let dir = TempDir::new().unwrap();
    for passphrase in ["", PASSPHRASE] {
        let hidden = Secret::new(passphrase.to_owned());
        let hidden = (!passphrase.is_empty()).then_some(&hidden);
        let made = SigningKey::generate(&mut rand::rng(), hidden).unwrap();
        let file = dir.path().join("made");
        fs::write(&file, made.pem.expose()).unwrap();
        let mode = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o600);
        fs::set_permissions(&file, mode).unwrap();
        let derived = succeeds(
            "ssh-keygen",
            &["-y", "-P", passphrase, "-f", "made"],
            dir.path(),
            b"",
        );
        assert_eq!(derived.trim_end(), made.key.public_key());
        fs::remove_file(&file).unwrap();
    }
}
