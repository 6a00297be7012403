//! Faults that users of encrypted manifests reported, each tried with the real `sops`: `b084_…` proves the entry
//! B084 of `docs/rules.md`.
#![allow(clippy::unwrap_used, reason = "a test reports a failure by panicking")]

mod support;

use std::sync::Arc;

use manifests::folder::built_in_types;
use manifests::{
    Encryption, FileContent, Folder, Intent, Mode, Outcome, Policy, Sealing, TypeCatalog, plan,
};
use model::sanitize::sanitize;
use model::{FilesInMemory, FolderPath, LiveObject, RepoPath, Sensitivity, ServedType};
use sealing::SealedDocument;
use serde_json::{Map, Value, json};
use support::real::RealSops;
use support::{NOW, Person, fingerprint_key, map, secret_id, vault_id};

/// A repository whose target seals for one person, who holds the key.
struct Bed {
    files: FilesInMemory,
    encryption: Encryption,
    draws: u8,
}

impl Bed {
    fn new(person: &Person) -> Self {
        Self {
            files: FilesInMemory::default(),
            encryption: Encryption {
                recipients: person.recipients(),
                identities: Arc::new(person.identities()),
                fingerprint_key: Some(fingerprint_key()),
            },
            draws: 0,
        }
    }

    fn plan(&mut self, objects: &[Value]) -> Outcome {
        let types = built_in_types(&Sensitivity::default());
        let catalog = types.iter().collect::<TypeCatalog>();
        let policy = Policy::new(FolderPath::new("apps").unwrap(), catalog);
        let intents: Vec<Intent> = objects
            .iter()
            .map(|object| upsert(&types, object))
            .collect();
        let mut draws = self.draws;
        let mut random = |bytes: &mut [u8]| {
            for byte in bytes {
                draws = draws.wrapping_mul(37).wrapping_add(11);
                *byte = draws;
            }
        };
        let sealing = Sealing {
            encryption: &self.encryption,
            random: &mut random,
            now: NOW,
        };
        let mut folder = Folder::new(policy.folder.clone());
        let tree = self.files.tree();
        let outcome = plan(
            &mut folder,
            tree,
            &intents,
            &policy,
            Mode::Apply,
            Some(sealing),
        );
        self.draws = draws;
        outcome.unwrap()
    }

    /// Plans and commits.
    fn apply(&mut self, objects: &[Value]) -> Outcome {
        let outcome = self.plan(objects);
        assert_eq!(outcome.refusals().count(), 0);
        for edit in &outcome.edits {
            match &edit.content {
                FileContent::Plain(bytes) => self.files.put(&edit.path, bytes.as_slice()),
                FileContent::Sealed(bytes) => self.files.put(&edit.path, bytes.as_bytes()),
                FileContent::Removed => self.files.remove(&edit.path),
            }
        }
        outcome
    }

    fn put(&mut self, path: &str, text: &str) {
        self.files
            .put(&RepoPath::new(path).unwrap(), text.as_bytes());
    }

    fn text(&self, path: &str) -> String {
        let bytes = self.files.bytes(&RepoPath::new(path).unwrap()).unwrap();
        String::from_utf8(bytes.to_vec()).unwrap()
    }
}

fn upsert(types: &[ServedType], object: &Value) -> Intent {
    let served = types.iter().find(|served| served.kind == object["kind"]);
    let live = LiveObject {
        served: Arc::new(served.unwrap().clone()),
        value: object.as_object().unwrap().clone(),
    };
    Intent::Upsert(Arc::new(sanitize(&live).unwrap()))
}

fn secret(name: &str, data: &Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
        "metadata": {"name": name, "namespace": "team-a", "resourceVersion": "7"}, "data": data,
    })
}

fn path(name: &str) -> String {
    format!("apps/team-a/secrets/{name}.sops.yaml")
}

#[test]
fn b078_the_real_tool_opens_every_file() {
    let person = Person::new();
    let sops = RealSops::new(&person.key);
    let mut bed = Bed::new(&person);
    let names = ["one", "two", "three"];
    let data = |name: &str| json!({"who": name});
    let objects = names.map(|name| secret(name, &data(name)));
    bed.apply(&objects);
    for name in names {
        assert_eq!(sops.decrypt(&bed.text(&path(name)))["data"], data(name));
    }
    // What a person makes of it by adding a plain document is a file that the tool cannot open either.
    let plain =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: team-a}\ndata: {a: b}\n";
    let mixed = format!("{}---\n{plain}", bed.text(&path("one")));
    sops.write("mixed.yaml", &mixed);
    assert!(!sops.succeeds(&["decrypt", "mixed.yaml"]));
    bed.put(&path("one"), &mixed);
    let changed = secret("one", &json!({"who": "else"}));
    let outcome = bed.plan(&[changed]);
    assert!(outcome.is_empty());
    assert_eq!(outcome.refusals().count(), 1);
}

/// A sensitive object with comments where they were seen to break the message authentication code.
const COMMENTED: &str = "\
apiVersion: example.org/v1
kind: Vault
metadata:
    name: login
    namespace: team-a
# Above what is encrypted.
spec:
    # Above a key.
    user: first-user # behind a value
    list:
        # Above the first item.
        - one-item
        # Above an item.
        - two-item
";

#[test]
fn b080_comments_on_list_items_and_encrypted_ones_break_nothing() {
    let mut person = Person::new();
    let sops = RealSops::new(&person.key);
    let recipient = person.key.recipient();
    sops.write("vault.yaml", COMMENTED);
    let rule = ["--age", recipient.as_str(), "--encrypted-regex", "^spec$"];
    let theirs = sops.run(&[&["encrypt"], &rule[..], &["vault.yaml"]].concat());
    assert!(theirs.contains("#ENC["), "{theirs}");
    let object = person.open(&theirs);
    assert_eq!(object["spec"]["list"], json!(["one-item", "two-item"]));
    assert_eq!(person.change(&vault_id(), &theirs, &object), None);

    let mut wanted = object.clone();
    wanted["spec"]["list"] = json!(["one-item", "other-item"]);
    let ours = person.change(&vault_id(), &theirs, &wanted).unwrap();
    assert_eq!(
        Value::Object(sops.decrypt(&ours)),
        Value::Object(wanted.clone())
    );
    sops.write("ours.yaml", &ours);
    let plain = sops.run(&["decrypt", "ours.yaml"]);
    // The comments of list items are items to the tool, and go with our first write.
    for (comment, stays) in [
        ("# Above what is encrypted.", true),
        ("# Above a key.", true),
        ("# behind a value", true),
        ("# Above the first item.", false),
        ("# Above an item.", false),
    ] {
        assert_eq!(plain.contains(comment), stays, "{comment} in\n{plain}");
    }
    // And once more by the real tool, on what we wrote.
    sops.run(&["set", "ours.yaml", "[\"spec\"][\"user\"]", "\"third-user\""]);
    let again = person.open(&sops.read("ours.yaml"));
    assert_eq!(again["spec"]["user"], "third-user");
    assert_eq!(again["spec"]["list"], wanted["spec"]["list"]);
}

#[test]
fn b081_after_an_edit_by_the_real_tool_an_unchanged_secret_is_left_alone() {
    let person = Person::new();
    let sops = RealSops::new(&person.key);
    let mut bed = Bed::new(&person);
    let five = |c: &str| json!({"a": "QQ==", "b": "Qg==", "c": c, "d": "RA==", "e": "RQ=="});
    bed.apply(&[secret("s", &five("Qw=="))]);
    sops.write("s.yaml", &bed.text(&path("s")));
    sops.run(&["set", "s.yaml", "[\"data\"][\"c\"]", "\"ZWxzZQ==\""]);
    let edited = sops.read("s.yaml");
    bed.put(&path("s"), &edited);
    assert!(bed.plan(&[secret("s", &five("ZWxzZQ=="))]).is_empty());
    bed.apply(&[secret("s", &five("TmV3"))]);
    let after = bed.text(&path("s"));
    assert_eq!(sops.decrypt(&after)["data"], five("TmV3"));
    for key in ["  a:", "  b:", "  d:", "  e:", "enc: |"] {
        let line = |text: &str| {
            text.lines()
                .find(|line| line.contains(key))
                .map(str::to_owned)
        };
        assert_eq!(line(&edited), line(&after), "{key}");
    }
}

#[test]
fn b084_the_bytes_of_every_value_come_back_as_they_were() {
    let person = Person::new();
    let sops = RealSops::new(&person.key);
    let mut bed = Bed::new(&person);
    let data = json!({
        // The start of a Java key store, text that is base64 itself, nothing, and a line with its end.
        "k.jks": "/u3+7QAAAAIAAAAB", "b": "YUdWc2JHOD0=", "e": "", "line": "b25lIGxpbmUK", "n": "MDA3",
    });
    let live = secret("b", &data);
    bed.apply(std::slice::from_ref(&live));
    let opened = sops.decrypt(&bed.text(&path("b")));
    assert_eq!(opened["data"], data);
    assert_eq!(opened.get("stringData"), None);
    assert!(bed.plan(&[live]).is_empty());
}

#[test]
fn b084_a_file_keeps_the_form_that_it_has() {
    let mut person = Person::new();
    let sops = RealSops::new(&person.key);
    let mut bed = Bed::new(&person);
    let written: Map<String, Value> = map(json!({
        "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
        "metadata": {"name": "login", "namespace": "team-a"},
        "data": {"binary": "/u3+7Q=="}, "stringData": {"password": "aGVsbG8=", "line": "one\n"},
    }));
    let text = person.seal_new(&secret_id(), &written);
    bed.put(&path("login"), &text);
    // The server holds all of it under data.
    let live = |password: &str| {
        secret(
            "login",
            &json!({"binary": "/u3+7Q==", "password": password, "line": "b25lCg=="}),
        )
    };
    assert!(bed.plan(&[live("YUdWc2JHOD0=")]).is_empty());
    bed.apply(&[live("b3RoZXI=")]);
    let opened = sops.decrypt(&bed.text(&path("login")));
    assert_eq!(opened["stringData"]["line"], "one\n");
    let mut held = opened["data"].as_object().unwrap().clone();
    let stated = opened["stringData"].as_object().unwrap();
    assert_eq!(held.remove("binary"), Some(json!("/u3+7Q==")));
    let password = stated.get("password").cloned();
    assert_eq!(password, Some(json!("other")), "{opened:?}");
    assert!(held.is_empty(), "{held:?}");
    let document = bed.text(&path("login"));
    assert!(SealedDocument::read(&document).is_ok());
}
