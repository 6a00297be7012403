//! A host as people run it, Gitea, from an empty repository on: what it refuses is told in its own words, and lands by
//! itself once it may.

use std::time::Instant;

use e2e::stage::{FOLDER, REPOSITORY, Setting, Stage, TEAM};
use serde_json::{Value, json};
use testkit::git::Account;
use testkit::{GitClone, Gitea, wait};

/// The account that pushes.
const BOT: &str = "reverser";
const PROTECTED: &str = "Not allowed to push to protected branch main";

#[test]
#[ignore = "takes minutes when Gitea has to be built"]
fn gitea_over_http_takes_a_first_branch_signed_commits_and_a_new_token() {
    let gitea = Gitea::start().unwrap();
    let bot = gitea.create_account(BOT).unwrap();
    gitea.create_repository(REPOSITORY, &bot).unwrap();
    let token = |name: &str, scope: &str| gitea.create_token(&bot, name, scope).unwrap();
    let first = json!({"username": BOT, "password": token("first", "write:repository")});
    let mut mirror = Mirror::of(&gitea, &gitea.url(REPOSITORY), &first);
    mirror.sign_as(&bot);
    mirror.stage.start_operator().unwrap();

    // The repository has no branch yet.
    mirror.paint("green");
    mirror.wait_color("green");
    mirror.stage.wait_ready("demo").unwrap();
    mirror.make_verified(&bot);
    refuse_for_a_while(&gitea, &mirror);

    // Reading is enough to open a session, so it is the push that is refused.
    gitea.let_in(REPOSITORY, &bot, "read").unwrap();
    mirror.paint("blue");
    let denied = "User permission denied for writing";
    mirror.wait_state("gitbranch/main", "False PushRefused", denied);
    gitea.let_in(REPOSITORY, &bot, "write").unwrap();
    mirror.wait_color("blue");

    // A token that is gone, one that may only read, and one that may write: no edit comes after the first.
    gitea.delete_token(&bot, "first").unwrap();
    mirror.paint("amber");
    let gone = "does not accept the credential (HTTP 401)";
    mirror.wait_state("gitbranch/main", "False PushSessionFailed", gone);
    mirror.look_at_provider();
    mirror.wait_state("gitprovider/platform", "False ConnectionFailed", gone);
    mirror.apply_credential(&json!({"password": token("reader", "read:repository")}));
    let denied = "not allowed to do this (HTTP 403)";
    mirror.wait_state("gitbranch/main", "False PushSessionFailed", denied);
    mirror.apply_credential(&json!({"bearerToken": token("second", "write:repository")}));
    mirror.wait_color("amber");
    mirror.wait_state("gitprovider/platform", "True Succeeded", "can be read");
    mirror.stage.wait_ready("demo").unwrap();
    mirror.stage.stop_operator().unwrap();

    let clone = gitea.clone(REPOSITORY, gitea.owner()).unwrap();
    judge(&clone, &["green", "red", "violet", "blue", "amber"]);
    for commit in clone.log("%H").unwrap() {
        let said = gitea.verification(REPOSITORY, &commit).unwrap();
        assert!(said.verified, "{commit}: {said:?}");
        assert_eq!(said.signer, bot.address());
    }
}

#[test]
#[ignore = "takes minutes when Gitea has to be built"]
fn gitea_over_ssh_waits_for_a_deploy_key_that_may_write() {
    let gitea = Gitea::start().unwrap();
    let bot = gitea.create_account(BOT).unwrap();
    gitea.create_repository(REPOSITORY, &bot).unwrap();
    let key = gitea.generate_key("deploy").unwrap();
    let number = gitea
        .add_deploy_key(REPOSITORY, key.public(), false)
        .unwrap();
    let credential = json!({
        "ssh-privatekey": key.private(),
        "known_hosts": gitea.known_hosts(),
    });
    let mut mirror = Mirror::of(&gitea, &gitea.ssh_url(REPOSITORY), &credential);
    mirror.stage.start_operator().unwrap();
    mirror.paint("green");
    mirror.wait_state("gitprovider/platform", "True Succeeded", "can be read");
    let words = format!("is not authorized to write to keeper/{REPOSITORY}");
    mirror.wait_state("gitbranch/main", "False PushSessionFailed", &words);
    gitea.remove_deploy_key(REPOSITORY, number).unwrap();
    gitea
        .add_deploy_key(REPOSITORY, key.public(), true)
        .unwrap();
    mirror.wait_color("green");
    mirror.stage.wait_ready("demo").unwrap();

    gitea.protect_branch(REPOSITORY, "main").unwrap();
    mirror.paint("red");
    mirror.wait_state("gitbranch/main", "False PushRefused", PROTECTED);
    gitea.unprotect_branch(REPOSITORY, "main").unwrap();
    mirror.wait_color("red");
    mirror.stage.wait_ready("demo").unwrap();
    let log = mirror.stage.operator().unwrap().log();
    assert!(!log.contains("PRIVATE KEY"), "a key is in the log");
    mirror.stage.stop_operator().unwrap();
    judge(
        &gitea.clone_over_ssh(REPOSITORY, &key).unwrap(),
        &["green", "red"],
    );
}

/// Protects the branch, has two colors refused without a storm of pushes, and lifts the protection.
fn refuse_for_a_while(gitea: &Gitea, mirror: &Mirror<'_>) {
    let (before, start) = (gitea.pushes(REPOSITORY), Instant::now());
    gitea.protect_branch(REPOSITORY, "main").unwrap();
    mirror.paint("red");
    mirror.wait_state("gitbranch/main", "False PushRefused", PROTECTED);
    // A further change does not hurry what is waited out.
    mirror.paint("violet");
    let pushes = || u64::try_from(gitea.pushes(REPOSITORY) - before).unwrap();
    wait::until("another attempt", wait::GENEROUS, || {
        (pushes() >= 2).then_some(())
    })
    .unwrap();
    let (made, seconds) = (pushes(), start.elapsed().as_secs());
    assert!(made <= 2 + seconds / 9, "{made} pushes in {seconds} s");
    gitea.unprotect_branch(REPOSITORY, "main").unwrap();
    mirror.wait_color("violet");
    mirror.stage.wait_ready("demo").unwrap();
}

/// A mirror of one namespace into a repository of the host.
struct Mirror<'a> {
    stage: Stage,
    gitea: &'a Gitea,
}

impl<'a> Mirror<'a> {
    fn of(gitea: &'a Gitea, url: &str, credential: &Value) -> Self {
        let setting = Setting::default();
        let control_plane = setting.control_plane.clone().start().unwrap();
        let stage = Stage::prepare(&setting, control_plane).unwrap();
        stage.apply_mirror_of(&setting, url).unwrap();
        let mirror = Self { stage, gitea };
        mirror.apply_credential(credential);
        mirror
    }

    /// Replaces the Secret as a whole.
    fn apply_credential(&self, entries: &Value) {
        let secret = ["delete", "secret", "git-credential", "-n", TEAM];
        self.stage.admin.run(&secret).unwrap();
        let secret = json!({
            "apiVersion": "v1", "kind": "Secret",
            "metadata": {"name": "git-credential", "namespace": TEAM},
            "stringData": entries,
        });
        self.stage.admin.apply(&secret.to_string()).unwrap();
    }

    /// Has every commit signed with a key that the operator makes, in the name of that account.
    fn sign_as(&self, account: &Account) {
        let commit = json!({"spec": {"commit": {
            "committer": {"name": account.name(), "email": account.address()},
            "signing": {"secretRef": {"name": "signing"}, "generateWhenMissing": true},
        }}});
        let provider = ["patch", "gitprovider", "platform", "-n", TEAM];
        let patch = ["--type=merge", "-p", &commit.to_string()];
        let arguments = [provider.as_slice(), &patch].concat();
        self.stage.admin.run(&arguments).unwrap();
    }

    /// Registers the key with the account, step by step, until the host calls the newest commit verified.
    fn make_verified(&self, account: &Account) {
        let tip = || {
            let repository = self.gitea.repository(REPOSITORY).unwrap();
            repository.branch("main").unwrap()
        };
        let verification = || self.gitea.verification(REPOSITORY, &tip()).unwrap();
        assert!(!verification().verified);
        let public = self.value("gitprovider/platform", "{.status.signingPublicKey}");
        let fingerprint = self.gitea.register_key(account, &public).unwrap();
        assert!(!verification().verified, "the host has no proof yet");
        let template = "go-template={{index .data \"signing.key\" | base64decode}}";
        let secret = ["get", "secret", "signing", "-n", TEAM, "-o", template];
        let private = self.stage.admin.run(&secret).unwrap();
        self.gitea
            .prove_key(account, &fingerprint, &private)
            .unwrap();
        let said = verification();
        assert!(said.verified, "{said:?}");
        assert_eq!(said.signer, account.address());
    }

    fn paint(&self, color: &str) {
        let object = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "paint", "namespace": TEAM}, "data": {"color": color},
        });
        self.stage.admin.apply(&object.to_string()).unwrap();
    }

    fn wait_color(&self, color: &str) {
        let repository = self.gitea.repository(REPOSITORY).unwrap();
        let path = format!("{FOLDER}/{TEAM}/configmaps/paint.yaml");
        let line = format!("color: {color}\n");
        wait::until(format!("{color} at the host"), wait::GENEROUS, || {
            let text = repository.file("main", &path).ok()?;
            text.contains(&line).then_some(())
        })
        .unwrap_or_else(|error| panic!("{error}\n{}", self.stage.explain("demo")));
    }

    /// Waits until an object's `Ready` has that status and reason, and a message with these words.
    fn wait_state(&self, object: &str, state: &str, words: &str) {
        let path =
            r#"{range .status.conditions[?(@.type=="Ready")]}{.status} {.reason} {.message}{end}"#;
        let mut last = String::new();
        wait::until(format!("{object} {state}: {words}"), wait::GENEROUS, || {
            last = self.value(object, path);
            (last.starts_with(state) && last.contains(words)).then_some(())
        })
        .unwrap_or_else(|error| panic!("{error}: {last}\n{}", self.stage.explain("demo")));
        eprintln!("{object}: {last}");
    }

    /// Asks for a look that would come by itself within the steady interval.
    fn look_at_provider(&self) {
        let now = jiff::Timestamp::now();
        let when = format!("reconcile.configbutler.ai/requestedAt={now}");
        let provider = ["annotate", "gitprovider/platform", "-n", TEAM];
        let arguments = [provider.as_slice(), &["--overwrite", &when]].concat();
        self.stage.admin.run(&arguments).unwrap();
    }

    fn value(&self, object: &str, path: &str) -> String {
        let path = format!("jsonpath={path}");
        let arguments = ["get", object, "-n", TEAM, "-o", &path];
        self.stage.admin.run(&arguments).unwrap()
    }
}

/// Judges a fresh clone: whole, one line of history, and each color in it once and in its order.
fn judge(clone: &GitClone, colors: &[&str]) {
    clone.fsck().unwrap();
    let merges = ["rev-list", "--merges", "--count", "HEAD"];
    assert_eq!(clone.git(&merges).unwrap().trim(), "0");
    let log = [
        "log",
        "--reverse",
        "--format=",
        "--patch",
        "--unified=0",
        "--",
        "*/paint.yaml",
    ];
    let patches = clone.git(&log).unwrap();
    let written: Vec<&str> = patches
        .lines()
        .filter_map(|line| line.strip_prefix('+')?.trim().strip_prefix("color: "))
        .collect();
    assert_eq!(written, colors);
}
