//! What must be found nowhere, and where it is looked for.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use testkit::Kubeconfig;

/// Texts that must be found nowhere, each also in the spellings in which it travels.
#[derive(Default)]
pub(crate) struct Needles(Vec<String>);

impl Needles {
    /// Adds a text, and the middle of its base64 for each of the three places where it may begin.
    pub(crate) fn add(&mut self, text: &str) {
        assert!(text.len() > 15, "too short to be found for a reason");
        self.0.push(text.to_owned());
        for before in 0..3 {
            let encoded = base64(&format!("{}{text}", "x".repeat(before)));
            // The first and the last group hold neighbours too.
            let inner = &encoded[4..encoded.len() - 4];
            self.0.push(inner.to_owned());
        }
    }

    /// Adds the token or the private key of a kubeconfig.
    pub(crate) fn add_kubeconfig(&mut self, kubeconfig: &Kubeconfig) {
        let text = kubeconfig.text().unwrap();
        let config: Value = serde_yaml::from_str(&text).unwrap();
        let user = &config["users"][0]["user"];
        if let Some(token) = user["token"].as_str() {
            self.add(token);
            return;
        }
        let encoded = user["client-key-data"].as_str().unwrap();
        self.add(encoded);
        let pem = decoded(encoded);
        let lines: Vec<&str> = pem.lines().filter(|line| !line.contains("-----")).collect();
        // The last line may be short; one line of a key is as telling as all of them.
        self.add(lines[0]);
    }

    /// Fails when one of them is in these bytes.
    pub(crate) fn check(&self, place: &str, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        for needle in &self.0 {
            assert!(
                !text.contains(needle.as_str()),
                "{place} holds a secret that starts with {:?}",
                &needle[..6]
            );
        }
    }

    /// Searches every file below: logs, data, temporary files.
    pub(crate) fn check_folder(&self, folder: &Path) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                self.check_folder(&path);
            } else if let Ok(bytes) = std::fs::read(&path) {
                // A file may go away while the operator runs; what stays is searched when it has stopped.
                self.check(&path.display().to_string(), &bytes);
            }
        }
    }

    /// Searches the objects of every Git repository below, and returns how many there are.
    pub(crate) fn check_objects_below(&self, folder: &Path) -> usize {
        if folder.join("HEAD").is_file() && folder.join("objects").is_dir() {
            self.check_objects(folder);
            return 1;
        }
        let folders = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        folders
            .filter(|path| path.is_dir())
            .map(|path| self.check_objects_below(&path))
            .sum()
    }

    /// Searches every object of a repository as it was before it was compressed, whether anything refers to it
    /// or not.
    pub(crate) fn check_objects(&self, repository: &Path) {
        let output = Command::new("git")
            .arg("--git-dir")
            .arg(repository)
            .args(["cat-file", "--batch", "--batch-all-objects", "--unordered"])
            .output()
            .unwrap();
        let place = format!("an object of {}", repository.display());
        assert!(output.status.success(), "{place}: {output:?}");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("kind: ConfigMap"), "{place}: nothing to find");
        self.check(&place, &output.stdout);
    }
}

fn base64(text: &str) -> String {
    piped(&["base64", "-w0"], text)
}

fn decoded(text: &str) -> String {
    piped(&["base64", "-d"], text)
}

fn piped(command: &[&str], text: &str) -> String {
    let script = format!("printf %s \"$1\" | {}", command.join(" "));
    let output = Command::new("sh")
        .args(["-c", &script, "sh", text])
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}
