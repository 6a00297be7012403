//! Secrets reach Git encrypted, for the people who were named, and are quiet while nothing changes.

use std::fs;
use std::process::Command;

use e2e::stage::{FOLDER, Setting, Stage, TEAM};
use serde_json::{Value, json};
use testkit::{Tool, Tools, wait};

use crate::needles::Needles;

const USER: &str = "marigold-user-41c7";
const PASSWORD: &str = "heliotrope-password-8e02";
const NEXT_PASSWORD: &str = "cornflower-password-55d9";
const FILE: &str = "team-a/secrets/database.sops.yaml";

const MIRRORED: &str = r#"
apiVersion: configbutler.ai/v1alpha3
kind: WatchRule
metadata: {name: secrets, namespace: team-a}
spec:
  gitTargetRef: {name: demo}
  rules:
    - {apiGroups: [""], resources: [secrets], objectSelector: {matchLabels: {mirrored: "true"}}}
"#;

/// The Secret, as a person applies it.
fn database(password: &str) -> String {
    json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "database", "namespace": TEAM, "labels": {"mirrored": "true"}},
        "stringData": {"user": USER, "password": password, "empty": ""},
    })
    .to_string()
}

fn encrypt_with(stage: &Stage, recipients: Value) {
    let age = json!({"enabled": true, "recipients": recipients});
    let spec = json!({"encryption": {"secretRef": {"name": "sops-age-key"}, "age": age}});
    let patch = json!({"spec": spec}).to_string();
    let target = ["patch", "gittarget", "demo", "-n", TEAM, "--type=merge"];
    stage
        .admin
        .run(&[&target[..], &["-p", &patch]].concat())
        .unwrap();
}

/// Returns the private key that the operator made.
fn private_key(stage: &Stage) -> String {
    let template = "go-template={{range $name, $value := .data}}{{$value | base64decode}}{{end}}";
    let get = ["get", "secret", "sops-age-key", "-n", TEAM, "-o", template];
    stage.admin.run(&get).unwrap()
}

/// Decrypts a text with the real tool.
fn decrypted(stage: &Stage, text: &str, key: &str) -> Value {
    let folder = stage.logs().join("..").join("decrypted");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("database.sops.yaml");
    fs::write(&file, text).unwrap();
    let tools = Tools::ensure(&[Tool::Sops]).unwrap();
    let output = Command::new(tools.path(Tool::Sops).unwrap())
        .args(["decrypt", "--output-type", "json"])
        .arg(&file)
        .env("SOPS_AGE_KEY", key)
        .output()
        .unwrap();
    fs::remove_dir_all(&folder).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn line<'a>(text: &'a str, key: &str) -> &'a str {
    let found = text.lines().find(|line| line.trim_start().starts_with(key));
    found.unwrap_or_else(|| panic!("no {key} in {text}"))
}

fn condition(stage: &Stage, type_: &str) -> Value {
    let get = ["get", "gittarget", "demo", "-n", TEAM, "-o", "json"];
    let target: Value = serde_json::from_str(&stage.admin.run(&get).unwrap()).unwrap();
    let conditions = target["status"]["conditions"].as_array().unwrap();
    let found = conditions.iter().find(|one| one["type"] == type_);
    found.cloned().unwrap_or_default()
}

fn commits(stage: &Stage) -> usize {
    stage.repository.commits("main").unwrap().len()
}

#[test]
fn d22_a_secret_is_sealed_for_the_key_that_was_made_and_stays_quiet() {
    let mut stage = Stage::start(Setting::default()).unwrap();
    stage.wait_current("demo").unwrap();
    let plain = [
        "create",
        "configmap",
        "plain",
        "-n",
        TEAM,
        "--from-literal=a=b",
    ];
    stage.admin.run(&plain).unwrap();
    stage.admin.apply(&database(PASSWORD)).unwrap();
    stage.admin.apply(MIRRORED).unwrap();
    wait::until("the refusal to be told", wait::GENEROUS, || {
        let events = stage.admin.run(&["get", "events", "-n", TEAM]).ok()?;
        (events.contains("EncryptionNotConfigured") && events.contains("database")).then_some(())
    })
    .unwrap();
    let files = stage.repository.files("main").unwrap();
    assert!(
        !files.iter().any(|file| file.contains("database")),
        "{files:?}"
    );

    // Turning encryption on is enough: nobody has to touch the Secret again.
    let made = json!({"extractFromSecret": true, "generateWhenMissing": true});
    encrypt_with(&stage, made);
    let sealed = stage.wait_file(FILE, |text| text.contains("ENC[")).unwrap();
    stage.wait_ready("demo").unwrap();
    let configured = condition(&stage, "EncryptionConfigured");
    assert_eq!(configured["status"], "True", "{configured}");
    assert!(
        configured["message"]
            .as_str()
            .unwrap()
            .contains("only copy"),
        "{configured}"
    );
    let rules = stage
        .repository
        .file("main", &format!("{FOLDER}/.sops.yaml"))
        .unwrap();
    assert!(rules.contains("age1"), "{rules}");
    let key = private_key(&stage);
    let opened = decrypted(&stage, &sealed, &key);
    let base64 = |value: &Value| value.as_str().unwrap().to_owned();
    assert_eq!(base64(&opened["data"]["user"]), "bWFyaWdvbGQtdXNlci00MWM3");
    assert_eq!(opened["data"]["empty"], "");
    assert_eq!(opened["metadata"]["labels"]["mirrored"], "true");

    // One value changes, and the others keep their ciphertext.
    stage.admin.apply(&database(NEXT_PASSWORD)).unwrap();
    let before = line(&sealed, "password:").to_owned();
    let changed = stage
        .wait_file(FILE, |text| line(text, "password:") != before)
        .unwrap();
    assert_eq!(line(&changed, "user:"), line(&sealed, "user:"));
    let opened = decrypted(&stage, &changed, &key);
    assert_ne!(
        opened["data"]["password"],
        decrypted(&stage, &sealed, &key)["data"]["password"]
    );

    check_counted(&stage);
    // Neither a new process nor one that cannot open the file writes it again.
    let quiet = commits(&stage);
    stage.stop_operator().unwrap();
    stage.start_operator().unwrap();
    stage.wait_current("demo").unwrap();
    assert_eq!(commits(&stage), quiet);
    let recipient = line(&rules, "- \"age1").trim_matches([' ', '-', '"']);
    let off = json!([{"op": "remove", "path": "/spec/encryption/secretRef"},
        {"op": "replace", "path": "/spec/encryption/age/recipients", "value": {"publicKeys": [recipient]}}]);
    let target = [
        "patch",
        "gittarget",
        "demo",
        "-n",
        TEAM,
        "--type=json",
        "-p",
    ];
    stage
        .admin
        .run(&[&target[..], &[off.to_string().as_str()]].concat())
        .unwrap();
    stage.stop_operator().unwrap();
    stage.start_operator().unwrap();
    stage.wait_current("demo").unwrap();
    assert_eq!(
        commits(&stage),
        quiet,
        "the fingerprint says that nothing changed"
    );

    check_nothing_leaked(&mut stage, &key);
}

/// Each encryption is counted once, by its reason.
fn check_counted(stage: &Stage) {
    let metrics = Command::new("curl")
        .args([
            "--silent",
            &format!("http://127.0.0.1:{}/metrics", stage.metrics_port),
        ])
        .output()
        .unwrap();
    let metrics = String::from_utf8(metrics.stdout).unwrap();
    let counted: Vec<&str> = metrics
        .lines()
        .filter(|line| line.starts_with("gitopsreverser_secret_encryptions_total"))
        .collect();
    let is_one = |reason: &str| {
        let label = format!("reason=\"{reason}\"");
        counted
            .iter()
            .any(|line| line.contains(&label) && line.ends_with(" 1"))
    };
    assert!(
        is_one("new") && is_one("changed") && counted.len() == 2,
        "{counted:#?}"
    );
}

fn check_nothing_leaked(stage: &mut Stage, key: &str) {
    let mut needles = Needles::default();
    for secret in [USER, PASSWORD, NEXT_PASSWORD] {
        needles.add(secret);
    }
    let private = line(key, "AGE-SECRET-KEY-").trim().to_owned();
    needles.add(&private);
    for resource in ["events", "branchstatuses", "gittargets", "gitbranches"] {
        let get = ["get", resource, "-A", "-o", "yaml"];
        let text = stage.admin.run(&get).unwrap();
        needles.check(&format!("kubectl get {resource}"), text.as_bytes());
    }
    stage.stop_operator().unwrap();
    needles.check_folder(stage.logs());
    let stores = needles.check_objects_below(&stage.data_folder());
    assert!(stores > 0, "the operator keeps a store");
    needles.check_objects(stage.repository.path());
}

#[test]
fn se_1_a_key_secret_that_cannot_be_used_says_why_and_recovers_by_itself() {
    let stage = Stage::start(Setting::default()).unwrap();
    stage.wait_current("demo").unwrap();
    encrypt_with(&stage, json!({"extractFromSecret": true}));
    let reason = |wanted: &str| {
        wait::until(format!("the reason {wanted}"), wait::GENEROUS, || {
            let configured = condition(&stage, "EncryptionConfigured");
            (configured["reason"] == wanted).then_some(configured)
        })
        .unwrap_or_else(|error| panic!("{error}: {}", stage.explain("demo")))
    };
    let missing = reason("SecretCreateDisabled");
    let message = missing["message"].as_str().unwrap();
    assert!(
        message.contains("team-a/sops-age-key does not exist"),
        "{message}"
    );
    let entry = ["create", "secret", "generic", "sops-age-key", "-n", TEAM];
    let bad = ["--from-literal=age.agekey=hunter2-is-no-key"];
    stage.admin.run(&[&entry[..], &bad].concat()).unwrap();
    let malformed = reason("InvalidConfig");
    let message = malformed["message"].as_str().unwrap();
    assert!(
        message.contains("age.agekey") && !message.contains("hunter2"),
        "{message}"
    );
    let delete = ["delete", "secret", "sops-age-key", "-n", TEAM];
    stage.admin.run(&delete).unwrap();
    encrypt_with(
        &stage,
        json!({"extractFromSecret": true, "generateWhenMissing": true}),
    );
    reason("Succeeded");
    stage.wait_ready("demo").unwrap();
}
