//! Secrets on disk: sealed by `plan` without any program, and read by the real sops.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test reports a failure by panicking, and runs the commands that it tests"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use sealing::NewIdentity;
use serde_json::Value;
use tempfile::TempDir;
use testkit::{Tool, Tools};

const PASSWORD: &str = "correct-horse-battery";
const ENCODED: &str = "Y29ycmVjdC1ob3JzZS1iYXR0ZXJ5";
const FILE: &str = "apps/team-a/secrets/login.sops.yaml";

struct Person {
    dir: TempDir,
    recipient: String,
}

impl Person {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let key = NewIdentity::generate();
        fs::write(dir.path().join("key.txt"), key.entry().expose().as_bytes()).unwrap();
        Self {
            dir,
            recipient: key.recipient().as_str().to_owned(),
        }
    }

    fn path(&self, file: &str) -> PathBuf {
        self.dir.path().join(file)
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path(file)).unwrap()
    }

    fn put(&self, file: &str, text: &str) {
        let path = self.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Plans the upsert of the objects in `live.yaml`, and checks that no plaintext is printed.
    fn plan(&self, more: &[&str]) -> (i32, Value) {
        let output = Command::new(env!("CARGO_BIN_EXE_gitops-reverser"))
            .args([
                "plan",
                "--path",
                "apps",
                "--upsert",
                "live.yaml",
                "-o",
                "json",
            ])
            .args(more)
            .current_dir(self.dir.path())
            .env("PATH", "/nonexistent")
            .output()
            .unwrap();
        let printed = format!("{}{}", text(&output.stdout), text(&output.stderr));
        assert_hidden(&printed);
        let report = serde_json::from_slice(&output.stdout);
        assert!(report.is_ok(), "{printed}");
        (output.status.code().unwrap(), report.unwrap())
    }

    fn sops(&self, words: &[&str]) -> Output {
        let tools = Tools::ensure(&[Tool::Sops]).unwrap();
        let output = Command::new(tools.path(Tool::Sops).unwrap())
            .args(words)
            .current_dir(self.dir.path())
            .env("SOPS_AGE_KEY_FILE", self.path("key.txt"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        output
    }

    fn decrypted(&self) -> Value {
        let output = self.sops(&["decrypt", "--output-type", "json", FILE]);
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn assert_hidden(text: &str) {
    assert!(
        !text.contains(PASSWORD) && !text.contains(ENCODED),
        "{text}"
    );
}

fn assert_hidden_below(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            assert_hidden_below(&path);
        } else {
            assert_hidden(&fs::read_to_string(path).unwrap());
        }
    }
}

fn secret(data: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Secret\ntype: Opaque\nmetadata:\n  name: login\n  namespace: team-a\n  resourceVersion: \"7\"\ndata:\n  password: {ENCODED}\n{data}"
    )
}

#[test]
fn d22_se_3_a_secret_is_sealed_read_by_sops_and_left_alone_until_it_changes() {
    let person = Person::new();
    let keys = ["--age-recipient", person.recipient.as_str()];
    let identity = ["--age-identity", "key.txt"];
    person.put("live.yaml", &secret("  user: YWRtaW4=\n  empty: \"\"\n"));
    let (code, report) = person.plan(&[&keys[..], &["--write"]].concat());
    assert_eq!(code, 0, "{report}");
    assert_eq!(report["edits"][0]["path"], FILE);
    assert!(
        report["edits"][0]["diff"]
            .as_str()
            .unwrap()
            .contains("Encrypted content")
    );
    assert_hidden_below(&person.path("apps"));
    let open = person.decrypted();
    assert_eq!(open["data"]["password"], ENCODED);
    assert_eq!(open["data"]["empty"], "");
    assert_eq!(open["metadata"]["name"], "login");

    let (code, report) = person.plan(&identity);
    assert_eq!((code, &report["edits"]), (0, &Value::Array(Vec::new())));

    person.sops(&["set", FILE, "[\"data\"][\"user\"]", "\"cm9vdA==\""]);
    person.put("live.yaml", &secret("  user: cm9vdA==\n  empty: \"\"\n"));
    let (code, report) = person.plan(&identity);
    assert_eq!((code, &report["edits"]), (0, &Value::Array(Vec::new())));

    let before = person.read(FILE);
    person.put("live.yaml", &secret("  user: b3RoZXI=\n  empty: \"\"\n"));
    assert_eq!(person.plan(&[&identity[..], &["--write"]].concat()).0, 0);
    assert_eq!(person.decrypted()["data"]["user"], "b3RoZXI=");
    let line = |text: &str| {
        let found = text.lines().find(|line| line.contains("password:"));
        found.unwrap().to_owned()
    };
    assert_eq!(
        line(&before),
        line(&person.read(FILE)),
        "what stays keeps its ciphertext"
    );
}

#[test]
fn d57_se_1_without_a_key_the_secret_is_refused_and_the_rest_lands() {
    let person = Person::new();
    let app = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: app, namespace: team-a}\ndata: {a: \"1\"}\n";
    person.put("live.yaml", &format!("{}{app}", secret("")));
    let (code, report) = person.plan(&["--write"]);
    assert_eq!(code, 3);
    assert_eq!(report["refusals"][0]["code"], "EncryptionNotConfigured");
    assert!(person.path("apps/team-a/configmaps/app.yaml").exists());
    assert!(!person.path("apps/team-a/secrets").exists());
}

#[test]
fn se_7_a_plain_secret_in_git_is_replaced_by_an_encrypted_file() {
    let person = Person::new();
    let app = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: app\n  namespace: team-a\n";
    let plain = secret("").replace("  resourceVersion: \"7\"\n", "");
    person.put("apps/all.yaml", &format!("{app}---\n{plain}"));
    person.put("live.yaml", &secret(""));
    let keys = ["--age-recipient", person.recipient.as_str(), "--write"];
    let (code, report) = person.plan(&keys);
    assert_eq!(code, 0, "{report}");
    assert_eq!(person.read("apps/all.yaml"), app);
    assert_hidden_below(&person.path("apps"));
    assert_eq!(person.decrypted()["data"]["password"], ENCODED);
}

#[test]
fn d22b_a_rule_above_the_folder_says_for_whom_a_new_file_is() {
    let person = Person::new();
    let other = NewIdentity::generate().recipient().as_str().to_owned();
    let rule = format!("creation_rules:\n  - age: {},{other}\n", person.recipient);
    person.put(".sops.yaml", &rule);
    person.put("live.yaml", &secret(""));
    let keys = ["--age-recipient", person.recipient.as_str(), "--write"];
    assert_eq!(person.plan(&keys).0, 0);
    let sealed = person.read(FILE);
    assert!(
        sealed.contains(&other) && sealed.contains(&person.recipient),
        "{sealed}"
    );

    person.put(
        ".sops.yaml",
        &format!("creation_rules:\n  - age: {other}\n"),
    );
    fs::remove_file(person.path(FILE)).unwrap();
    let (code, report) = person.plan(&keys);
    assert_eq!(code, 3);
    let message = report["refusals"][0]["message"].as_str().unwrap();
    assert!(message.contains(&person.recipient), "{message}");
}
