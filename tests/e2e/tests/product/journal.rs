//! What was accepted survives kill -9, no plaintext of a Secret is on the disk, and a disk that fails stops nothing.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use e2e::current::Scrape;
use e2e::stage::{Setting, Stage, TEAM};
use serde_json::{Value, json};
use testkit::wait;

use crate::dice::{Dice, from_environment};
use crate::needles::Needles;

const KILLS: u32 = 5;

const SECRETS: &str = r#"
apiVersion: configbutler.ai/v1alpha3
kind: WatchRule
metadata: {name: secrets, namespace: team-a}
spec:
  gitTargetRef: {name: demo}
  rules:
    - {apiGroups: [""], resources: [secrets], objectSelector: {matchLabels: {mirrored: "true"}}}
"#;

fn setting() -> Setting {
    Setting {
        idle_timeout: "0s".to_owned(),
        ..Setting::default()
    }
}

fn configmap(name: &str, value: &str) -> String {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": TEAM}, "data": {"value": value},
    })
    .to_string()
}

fn secret(password: &str) -> String {
    json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "database", "namespace": TEAM, "labels": {"mirrored": "true"}},
        "stringData": {"password": password},
    })
    .to_string()
}

fn encrypt(stage: &Stage) {
    let age = json!({"enabled": true, "recipients": {"extractFromSecret": true, "generateWhenMissing": true}});
    let spec = json!({"encryption": {"secretRef": {"name": "sops-age-key"}, "age": age}});
    let patch = json!({"spec": spec}).to_string();
    let target = [
        "patch",
        "gittarget",
        "demo",
        "-n",
        TEAM,
        "--type=merge",
        "-p",
        &patch,
    ];
    stage.admin.run(&target).unwrap();
    stage.admin.apply(SECRETS).unwrap();
}

fn journals(stage: &Stage) -> PathBuf {
    stage.data_folder().join("journals")
}

/// Returns what the journal of the only branch holds.
fn journal(stage: &Stage) -> String {
    let files = fs::read_dir(journals(stage)).unwrap();
    let is_lock = |path: &PathBuf| path.extension().is_some_and(|kind| kind == "lock");
    let mut paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    paths.retain(|path| !is_lock(path));
    assert_eq!(paths.len(), 1, "{paths:?}");
    let bytes = fs::read(&paths[0]).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn kept(stage: &Stage) -> f64 {
    let scrape = Scrape::of(stage.metrics_port).unwrap();
    scrape.sum("journal_writes_total", &["outcome=\"kept\""])
}

#[test]
fn d33_five_kills_lose_no_edit_that_was_overwritten_and_leave_no_plaintext() {
    let seed = from_environment("SEED", 20_261_130);
    eprintln!("seed {seed}");
    let mut dice = Dice(seed);
    let mut stage = Stage::start(setting()).unwrap();
    stage.wait_current("demo").unwrap();
    encrypt(&stage);
    stage
        .admin
        .apply(&secret("daffodil-password-first"))
        .unwrap();
    let file = "team-a/secrets/database.sops.yaml";
    stage.wait_file(file, |text| text.contains("ENC[")).unwrap();
    let mut needles = Needles::default();
    needles.add("daffodil-password-first");
    for round in 0..KILLS {
        // Nothing can be pushed, so that all of it waits when the process is killed.
        stage.git.stop();
        let password = format!("larkspur-password-{round}-{}", dice.below(1 << 30));
        needles.add(&password);
        let before = kept(&stage);
        for edit in ["first", "second"] {
            let value = format!("round{round}{edit}");
            stage.admin.apply(&configmap("settings", &value)).unwrap();
        }
        stage.admin.apply(&secret(&password)).unwrap();
        wait::until("the edits to be accepted", wait::GENEROUS, || {
            (kept(&stage) >= before + 3.0).then_some(())
        })
        .unwrap_or_else(|error| panic!("{error}: {}", stage.explain("demo")));
        assert!(journal(&stage).contains(&format!("round{round}first")));
        std::thread::sleep(Duration::from_millis(dice.below(300)));
        stage.kill_operator();
        needles.check_folder(&stage.data_folder());
        stage.git.resume().unwrap();
        stage.start_operator().unwrap();
        stage.wait_current("demo").unwrap();
    }
    let log = ["log", "-p", "--unified=0", "--format=", "main"];
    let history = stage.repository.git(&log).unwrap();
    for round in 0..KILLS {
        for edit in ["first", "second"] {
            let line = format!("+  value: round{round}{edit}");
            let times = history.lines().filter(|found| **found == line).count();
            assert_eq!(times, 1, "{line} in {history}");
        }
    }
    wait::until("the journal to be empty", wait::GENEROUS, || {
        (!journal(&stage).contains("delivery")).then_some(())
    })
    .unwrap();
    stage.git.clone("platform").unwrap().fsck().unwrap();
    stage.stop_operator().unwrap();
    needles.check_folder(&stage.data_folder());
    needles.check_folder(stage.logs());
}

fn condition(stage: &Stage) -> Option<Value> {
    let branches = stage.admin.json(&["get", "gitbranches", "-A"]).ok()?;
    let conditions = branches["items"][0]["status"]["conditions"]
        .as_array()?
        .clone();
    conditions
        .into_iter()
        .find(|one| one["type"] == "JournalWritten")
}

#[test]
fn d33_a_disk_that_takes_no_journal_is_told_and_changes_go_on() {
    let mut stage = Stage::start(setting()).unwrap();
    stage.wait_current("demo").unwrap();
    let is = |stage: &Stage, status: &str, reason: &str| {
        let found = condition(stage)?;
        (found["status"] == status && found["reason"] == reason).then_some(found)
    };
    wait::until("a journal that works", wait::GENEROUS, || {
        is(&stage, "True", "Succeeded")
    })
    .unwrap();
    // A file where the folder should be: nothing can be made in it, whoever tries.
    fs::remove_dir_all(journals(&stage)).unwrap();
    fs::write(journals(&stage), "in the way").unwrap();
    stage
        .admin
        .apply(&configmap("settings", "unprotected"))
        .unwrap();
    let path = "team-a/configmaps/settings.yaml";
    stage
        .wait_file(path, |text| text.contains("unprotected"))
        .unwrap();
    let told = wait::until("the failure to be told", wait::GENEROUS, || {
        is(&stage, "False", "StorageUnavailable")
    })
    .unwrap_or_else(|error| panic!("{error}: {:?}", condition(&stage)));
    let message = told["message"].as_str().unwrap();
    assert!(message.contains("changes are mirrored"), "{message}");
    let scrape = Scrape::of(stage.metrics_port).unwrap();
    assert_eq!(scrape.sum("journal_failing", &[]), 1.0);
    stage.wait_ready("demo").unwrap();
    fs::remove_file(journals(&stage)).unwrap();
    wait::until("the journal to work again", wait::GENEROUS, || {
        is(&stage, "True", "Succeeded")
    })
    .unwrap_or_else(|error| panic!("{error}: {:?}", condition(&stage)));
    let before = kept(&stage);
    stage.admin.apply(&configmap("settings", "kept")).unwrap();
    stage.wait_file(path, |text| text.contains("kept")).unwrap();
    assert!(kept(&stage) > before);
    stage.stop_operator().unwrap();
}
