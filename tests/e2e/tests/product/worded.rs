//! Commits are signed with the key that the status shows, and say what the target's templates say.

use std::fs;
use std::process::Command;

use e2e::stage::{REPOSITORY, Setting, Stage, TEAM};
use serde_json::{Value, json};
use testkit::{GitClone, wait};

const COMMITTER: &str = "shop-bot@example.com";

fn patch(stage: &Stage, kind: &str, name: &str, spec: &Value) {
    let patch = json!({"spec": spec}).to_string();
    let patch = [
        "patch",
        kind,
        name,
        "-n",
        TEAM,
        "--type=merge",
        "-p",
        &patch,
    ];
    stage.admin.run(&patch).unwrap();
}

fn edit(stage: &Stage, name: &str, value: &str) {
    let object = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": TEAM, "labels": {"team": "red"}},
        "data": {"value": value},
    });
    stage.admin.apply(&object.to_string()).unwrap();
}

/// Edits an object and waits for it to be in Git.
fn publish(stage: &Stage, name: &str, value: &str) {
    edit(stage, name, value);
    let file = format!("{TEAM}/configmaps/{name}.yaml");
    let wanted = format!("value: {value}");
    stage
        .wait_file(&file, |text| text.contains(&wanted))
        .unwrap_or_else(|error| panic!("{error}: {}", stage.explain("demo")));
}

fn status(stage: &Stage, kind: &str, name: &str) -> Value {
    let get = ["get", kind, name, "-n", TEAM, "-o", "json"];
    let object: Value = serde_json::from_str(&stage.admin.run(&get).unwrap()).unwrap();
    object["status"].clone()
}

/// Waits for a condition of an object and returns its message.
fn wait_condition(
    stage: &Stage,
    object: (&str, &str),
    type_: &str,
    wanted: (&str, &str),
) -> String {
    let (status_wanted, reason) = wanted;
    wait::until(reason, wait::GENEROUS, || {
        let status = status(stage, object.0, object.1);
        let conditions = status["conditions"].as_array()?;
        let found = conditions.iter().find(|one| one["type"] == type_)?;
        let holds = found["status"] == status_wanted && found["reason"] == reason;
        holds.then(|| found["message"].as_str().unwrap_or_default().to_owned())
    })
    .unwrap_or_else(|error| panic!("{error}: {}", status(stage, object.0, object.1)))
}

fn public_key(stage: &Stage) -> Option<String> {
    let status = status(stage, "gitprovider", "platform");
    Some(status["signingPublicKey"].as_str()?.to_owned())
}

fn ask_again(stage: &Stage, value: &str) {
    let annotation = format!("reconcile.configbutler.ai/requestedAt={value}");
    let annotate = [
        "annotate",
        "gitprovider",
        "platform",
        "-n",
        TEAM,
        "--overwrite",
        &annotation,
    ];
    stage.admin.run(&annotate).unwrap();
}

/// Clones afresh and believes the keys.
fn believer(stage: &Stage, keys: &[&str]) -> GitClone {
    let clone = stage.git.clone(REPOSITORY).unwrap();
    let allowed: String = keys
        .iter()
        .map(|key| format!("{COMMITTER} {key}\n"))
        .collect();
    let file = clone.path().join(".git/allowed-signers");
    fs::write(&file, allowed).unwrap();
    let file = file.to_str().unwrap();
    clone
        .git(&["config", "gpg.ssh.allowedSignersFile", file])
        .unwrap();
    clone
}

/// Makes a key as a person does and puts it into the Secret; returns its public half.
fn bring_key(stage: &Stage, kind: &str) -> String {
    let folder = stage.logs().join("..").join(format!("key-{kind}"));
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("signing");
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", kind, "-N", "", "-C", "", "-f"])
        .arg(&file)
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    let from = format!("--from-file=signing.key={}", file.display());
    let create = ["create", "secret", "generic", "signing", "-n", TEAM, &from];
    stage.admin.run(&create).unwrap();
    let public = fs::read_to_string(file.with_extension("pub")).unwrap();
    fs::remove_dir_all(&folder).unwrap();
    public
        .split_whitespace()
        .take(2)
        .collect::<Vec<_>>()
        .join(" ")
}

fn delete_key(stage: &Stage) {
    stage
        .admin
        .run(&["delete", "secret", "signing", "-n", TEAM])
        .unwrap();
}

#[test]
fn case_33_commits_are_signed_with_the_key_that_the_status_shows() {
    let stage = Stage::start(Setting::default()).unwrap();
    stage.wait_current("demo").unwrap();
    publish(&stage, "before", "plain");
    let unsigned = stage.repository.branch("main").unwrap();
    let committer = json!({"name": "Shop Bot", "email": COMMITTER});
    let signing = json!({"secretRef": {"name": "signing"}, "generateWhenMissing": true});
    let commit = json!({"commit": {"committer": committer, "signing": signing}});
    patch(&stage, "gitprovider", "platform", &commit);
    let made = wait::until("a key in the status", wait::GENEROUS, || public_key(&stage)).unwrap();
    assert!(made.starts_with("ssh-ed25519 "), "{made}");
    wait_condition(
        &stage,
        ("gitprovider", "platform"),
        "Ready",
        ("True", "Succeeded"),
    );

    // The writer is told after the provider; from its first signed commit on, every one is signed.
    let first = wait::until("a signed commit", wait::GENEROUS, || {
        let round = stage.repository.commits("main").unwrap().len();
        publish(&stage, "first", &format!("round-{round}"));
        let head = stage.repository.branch("main").unwrap();
        let text = stage
            .repository
            .git(&["cat-file", "commit", &head])
            .unwrap();
        text.contains("\ngpgsig -----BEGIN SSH SIGNATURE-----")
            .then_some(head)
    })
    .unwrap();
    publish(&stage, "second", "plain");
    publish(&stage, "third", "plain");
    let clone = believer(&stage, &[&made]);
    let since = format!("{first}^..HEAD");
    let commits = clone.git(&["rev-list", &since]).unwrap();
    assert!(commits.lines().count() >= 3, "{commits}");
    for commit in commits.lines() {
        clone.git(&["verify-commit", commit]).unwrap();
    }
    clone.refused(&["verify-commit", &unsigned]).unwrap();
    let by = clone.git(&["log", "-1", "--format=%cn <%ce> %G?"]).unwrap();
    assert_eq!(by.trim(), format!("Shop Bot <{COMMITTER}> G"));

    // Another key signs the next commit, without anybody saying so.
    delete_key(&stage);
    let brought = bring_key(&stage, "ecdsa");
    publish(&stage, "first", "with-another-key");
    let clone = believer(&stage, &[&brought]);
    clone.git(&["verify-commit", "HEAD"]).unwrap();
    ask_again(&stage, "another-key");
    wait::until("the other key in the status", wait::GENEROUS, || {
        (public_key(&stage)? == brought).then_some(())
    })
    .unwrap();
}

#[test]
fn a_commit_that_is_to_be_signed_waits_for_its_key() {
    let stage = Stage::start(Setting::default()).unwrap();
    stage.wait_current("demo").unwrap();
    let first = bring_key(&stage, "ed25519");
    let commit = json!({
        "committer": {"email": COMMITTER}, "signing": {"secretRef": {"name": "signing"}},
    });
    patch(
        &stage,
        "gitprovider",
        "platform",
        &json!({"commit": commit}),
    );
    wait::until("the key in the status", wait::GENEROUS, || {
        (public_key(&stage)? == first).then_some(())
    })
    .unwrap();
    delete_key(&stage);
    ask_again(&stage, "no-key");
    let provider = ("gitprovider", "platform");
    let message = wait_condition(&stage, provider, "Ready", ("False", "SecretNotFound"));
    assert!(
        message.contains("Secret team-a/signing does not exist"),
        "{message}"
    );
    assert_eq!(public_key(&stage), None);
    let commits = stage.repository.commits("main").unwrap().len();
    edit(&stage, "waits", "for-a-key");
    let branch = ("gitbranch", "main");
    wait::until("the branch to say so", wait::GENEROUS, || {
        let message = wait_condition(&stage, branch, "Ready", ("False", "GitProviderNotReady"));
        message
            .contains("nothing could be published since")
            .then_some(())
    })
    .unwrap();
    assert_eq!(stage.repository.commits("main").unwrap().len(), commits);

    // It lands by itself, signed.
    let second = bring_key(&stage, "ed25519");
    let file = format!("{TEAM}/configmaps/waits.yaml");
    stage
        .wait_file(&file, |text| text.contains("for-a-key"))
        .unwrap();
    believer(&stage, &[&second])
        .git(&["verify-commit", "HEAD"])
        .unwrap();
    wait_condition(&stage, provider, "Ready", ("True", "Succeeded"));
}

fn use_template(stage: &Stage, live: &str) {
    let message = json!({"commit": {"message": {"liveTemplate": live}}});
    patch(stage, "gittarget", "demo", &message);
}

fn last_message(stage: &Stage) -> String {
    let log = ["log", "-1", "--format=%B", "main"];
    stage.repository.git(&log).unwrap().trim().to_owned()
}

#[test]
fn d12_a_template_is_refused_where_kubectl_shows_it_and_words_commits_where_it_holds() {
    let stage = Stage::start(Setting::default()).unwrap();
    stage.wait_current("demo").unwrap();
    use_template(&stage, "by {{html .Author}}");
    let target = ("gittarget", "demo");
    let message = wait_condition(&stage, target, "Validated", ("False", "InvalidConfig"));
    let said =
        "spec.commit.message.liveTemplate, line 1, column 6: the function html is not supported";
    assert!(message.starts_with(said), "{message}");
    let shown = stage
        .admin
        .run(&["get", "gittarget", "demo", "-n", TEAM])
        .unwrap();
    assert!(shown.contains("InvalidConfig"), "{shown}");

    use_template(
        &stage,
        "{{.GitTarget}}: {{.Count}} for {{.LabelValue \"team\"}}\n{{range .Resources}}\n\
         {{.Operation}} {{.Kind}} {{.Namespace}}/{{.Name}}{{end}}",
    );
    wait_condition(&stage, target, "Validated", ("True", "Succeeded"));
    stage.wait_current("demo").unwrap();
    publish(&stage, "worded", "plain");
    let expected = "demo: 1 for red\n\nCREATE ConfigMap team-a/worded";
    assert_eq!(last_message(&stage), expected);

    // No example has two objects, so only this commit finds out.
    use_template(
        &stage,
        "{{if eq .Count 2}}{{.Nothing}}{{end}}{{.Count}} changed",
    );
    stage.wait_current("demo").unwrap();
    let two = ["one", "two"].map(|name| {
        json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": TEAM},
        })
    });
    let list = json!({"apiVersion": "v1", "kind": "List", "items": two});
    stage.admin.apply(&list.to_string()).unwrap();
    let file = format!("{TEAM}/configmaps/two.yaml");
    stage.wait_file(&file, |_| true).unwrap();
    assert!(
        last_message(&stage).starts_with("chore: sync 2 resources"),
        "{}",
        last_message(&stage)
    );
    let metrics = Command::new("curl")
        .args([
            "-sS",
            &format!("http://127.0.0.1:{}/metrics", stage.metrics_port),
        ])
        .output()
        .unwrap();
    let metrics = String::from_utf8(metrics.stdout).unwrap();
    let counted = metrics.lines().find(|line| line.contains("live_fallback"));
    assert!(
        counted.is_some_and(|line| line.ends_with(" 1")),
        "{counted:?}"
    );
}
