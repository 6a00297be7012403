//! Our files in the hands of the real tool, and its files in ours.
#![allow(clippy::unwrap_used, reason = "a test reports a failure by panicking")]

mod support;

use std::collections::BTreeSet;

use model::ResourceId;
use proptest::prelude::*;
use sealing::sops_config::bootstrap;
use sealing::{SealedDocument, Standing};
use serde_json::{Map, Value, json};
use support::chance;
use support::real::RealSops;
use support::{Person, fingerprint_key, map, plaintexts, secret_id, vault_id};

/// Every kind of value that a Secret can have.
fn secret() -> Map<String, Value> {
    map(json!({
        "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
        "metadata": {
            "name": "login", "namespace": "team-a",
            "labels": {"data": "label-of-that-name", "app": "shop", "on": "yes"},
            "annotations": {"date": "2024-01-02", "octal": "0644", "octal-new": "0o17", "number": "1e3", "text": "two\nlines\n", "empty": ""},
        },
        "data": {"user": "YWRtaW4tdXNlcg==", "binary": "AAECAwT/gIGCg4SF", "empty": "", "none": null, "1": "b25lLWtleQ==", "true": "dHJ1ZS1rZXk="},
        "stringData": {
            "password": "hunter2-hunter2", "like-number": "0123456", "like-bool": "true", "like-null": "null",
            "text": "first line\n  second line\n\nlast line\n", "no-end": "one line\ntwo line", "unicode": "Grüße, 世界 😀",
            "quotes": "it's \"quoted\": yes #no", "spaces": "  around  ", "tab": "a\tb\r\nc",
        },
    }))
}

/// Every kind of value that another type can have.
fn vault() -> Map<String, Value> {
    map(json!({
        "apiVersion": "example.org/v1", "kind": "Vault", "metadata": {"name": "login", "namespace": "team-a", "labels": {"spec": "label-of-that-name"}},
        "spec": {
            "flag": true, "off": false, "count": -7, "ratio": 0.25, "whole": 3.0, "tiny": 1e-7, "huge": 1e21,
            "big": 9_007_199_254_740_993_i64, "none": null, "empty": "", "list": ["first-item", {"deep": [1, "second-item", [], {}]}, null, "", "first-item"],
            "kind": "hidden-kind", "metadata": {"name": "hidden-name"}, "emptyList": [], "emptyMap": {},
        },
        "extra": "hidden-extra",
    }))
}

fn objects() -> [(ResourceId, Map<String, Value>); 2] {
    [(secret_id(), secret()), (vault_id(), vault())]
}

/// Says whether two objects are the same to Kubernetes.
#[track_caller]
fn assert_same(found: &Map<String, Value>, expected: &Map<String, Value>) {
    let (found, expected) = (
        Value::Object(found.clone()),
        Value::Object(expected.clone()),
    );
    assert!(
        manifests::yaml::same(&found, &expected),
        "{found:#}\n{expected:#}"
    );
}

fn with(object: &Map<String, Value>, pointer: &str, value: Value) -> Map<String, Value> {
    let mut whole = Value::Object(object.clone());
    *whole.pointer_mut(pointer).unwrap() = value;
    map(whole)
}

#[test]
fn d22_the_real_tool_reads_what_we_seal() {
    let mut person = Person::new();
    let sops = RealSops::new(&person.key);
    for (id, object) in objects() {
        let new = person.seal_new(&id, &object);
        assert_same(&sops.decrypt(&new), &object);
        let wanted = with(&object, "/metadata/namespace", json!("team-b"));
        let changed = person.change(&id, &new, &wanted).unwrap();
        assert_same(&sops.decrypt(&changed), &wanted);
        let rewritten = person.rewrite(&id, &changed, &object);
        assert_same(&sops.decrypt(&rewritten), &object);
        for secret in ["data", "stringData", "spec", "extra"]
            .iter()
            .filter_map(|key| object.get(*key))
            .flat_map(plaintexts)
        {
            assert!(
                ![&new, &changed, &rewritten]
                    .iter()
                    .any(|text| text.contains(&secret))
            );
        }
    }
}

/// What a person does to a file with the real tool, and what the file holds then.
struct Deed {
    name: &'static str,
    act: fn(&RealSops, &str),
    /// The pointer and the new value, where the deed changes one.
    changes: Option<(&'static str, Value)>,
}

fn deeds() -> Vec<Deed> {
    let deed = |name, act, changes| Deed { name, act, changes };
    vec![
        deed(
            "set",
            |sops, file| {
                sops.run(&[
                    "set",
                    file,
                    r#"["stringData"]["password"]"#,
                    r#""set-by-hand""#,
                ]);
            },
            Some(("/stringData/password", json!("set-by-hand"))),
        ),
        deed(
            "edit",
            |sops, file| sops.edit(file, "s/hunter2-hunter2/edited-by-hand/"),
            Some(("/stringData/password", json!("edited-by-hand"))),
        ),
        deed(
            "rotate",
            |sops, file| {
                sops.run(&["rotate", "--in-place", file]);
            },
            None,
        ),
        deed(
            "updatekeys",
            |sops, file| {
                sops.run(&["updatekeys", "--yes", file]);
            },
            None,
        ),
    ]
}

#[test]
fn d22c_whatever_the_real_tool_does_the_same_plaintext_changes_nothing() {
    for deed in deeds() {
        for (id, object) in objects() {
            let expected = match &deed.changes {
                Some((pointer, value)) if object.contains_key("stringData") => {
                    with(&object, pointer, value.clone())
                }
                Some(_) => continue,
                None => object.clone(),
            };
            do_and_look_again(&deed, &id, &object, &expected);
        }
    }
}

fn do_and_look_again(
    deed: &Deed,
    id: &ResourceId,
    object: &Map<String, Value>,
    expected: &Map<String, Value>,
) {
    let mut person = Person::new();
    let friend = Person::new();
    let sops = RealSops::new(&person.key);
    let both: BTreeSet<_> = [person.key.recipient(), friend.key.recipient()].into();
    sops.write(".sops.yaml", &bootstrap(&both));
    sops.write("login.sops.yaml", &person.seal_new(id, object));
    (deed.act)(&sops, "login.sops.yaml");
    let after = sops.read("login.sops.yaml");
    assert_same(&person.open(&after), expected);
    let name = deed.name;
    assert_eq!(person.change(id, &after, expected), None, "{name}");

    let standing = |text: &str| {
        let document = SealedDocument::read(text).unwrap();
        document.standing(id, expected, &fingerprint_key())
    };
    assert_eq!(standing(&after), Standing::Unknown, "{name}");
    let rewritten = person.rewrite(id, &after, expected);
    assert_eq!(standing(&rewritten), Standing::Unchanged, "{name}");
    assert_same(&sops.decrypt(&rewritten), expected);

    let wanted = with(expected, "/metadata/namespace", json!("team-b"));
    let changed = person.change(id, &after, &wanted).unwrap();
    assert_same(&sops.decrypt(&changed), &wanted);
    if name == "updatekeys" {
        assert_same(&friend.open(&changed), &wanted);
    }
}

/// A file as a person writes it: own order, comments, quotes, four spaces, spellings that two readers may take
/// for different values.
const HUMAN: &str = "\
# Owned by the shop team.
kind: Secret
apiVersion: v1
metadata:
    namespace: team-a # the shop
    name: login
    annotations:
        since: 2024-01-02
        mode: 0644
        rate: 1e3
        flag: yes
        sure: True
        hex: 0x1F
        big: 1_000
        nothing: ~
        when: 2024-01-02T03:04:05.250+02:00
stringData:
    # The password of the database.
    password: \"hunter2-hunter2\"
    user: 'admin-user' # never root
    text: |
        first line
        second line
    empty: \"\"
    folded: >-
        folded
        together
type: Opaque
";

/// Encrypts the file with the real tool under a rule, given as fields of a creation rule.
fn encrypted_by_a_person(sops: &RealSops, person: &Person, rule: &str) -> String {
    let recipient = person.key.recipient();
    let config = format!("creation_rules:\n  - age: {recipient}\n{rule}");
    sops.write(".sops.yaml", &config);
    sops.write("human.yaml", HUMAN);
    sops.run(&["encrypt", "human.yaml"])
}

const RULE: &str = "    encrypted_regex: ^(data|stringData)$\n";

#[test]
fn d22_a_file_of_the_real_tool_opens_under_every_rule() {
    let person = Person::new();
    let sops = RealSops::new(&person.key);
    for rule in [
        RULE,
        "    encrypted_regex: ^(data|stringData)$\n    mac_only_encrypted: true\n",
        "    unencrypted_regex: ^(metadata|kind|apiVersion)$\n",
        "    encrypted_suffix: Data\n",
        "    unencrypted_suffix: _clear\n",
        "",
    ] {
        let text = encrypted_by_a_person(&sops, &person, rule);
        let opened = person.open(&text);
        assert_eq!(
            opened["stringData"]["password"], "hunter2-hunter2",
            "{rule}"
        );
        assert_eq!(opened["stringData"]["folded"], "folded together");
        assert_eq!(opened["metadata"]["annotations"]["mode"], 420);
        assert_eq!(opened["metadata"]["annotations"]["flag"], "yes");
    }
}

fn lines_that_differ(before: &str, after: &str) -> Vec<String> {
    let known: BTreeSet<&str> = before.lines().collect();
    let new = after.lines().filter(|line| !known.contains(line));
    new.map(|line| line.trim().split(':').next().unwrap().to_owned())
        .collect()
}

#[test]
fn se_3_a_file_of_a_person_keeps_its_order_and_its_comments() {
    let mut person = Person::new();
    let sops = RealSops::new(&person.key);
    let before = encrypted_by_a_person(&sops, &person, RULE);
    let object = person.open(&before);
    assert_eq!(person.change(&secret_id(), &before, &object), None);

    let wanted = with(&object, "/stringData/user", json!("other-user"));
    let after = person.change(&secret_id(), &before, &wanted).unwrap();
    assert_eq!(
        lines_that_differ(&before, &after),
        ["user", "gitops_reverser", "lastmodified", "mac"]
    );
    sops.write("after.yaml", &after);
    let plain = sops.run(&["decrypt", "after.yaml"]);
    for kept in [
        "# Owned by the shop team.\nkind: Secret\n",
        "# the shop",
        "# The password of the database.",
        "# never root",
    ] {
        assert!(plain.contains(kept), "{plain}");
    }
    assert!(plain.contains("user: other-user"));

    let mut grown = wanted.clone();
    grown["stringData"]["added"] = json!("added-value");
    grown["stringData"].as_object_mut().unwrap().remove("text");
    let after = person.change(&secret_id(), &after, &grown).unwrap();
    assert!(after.contains("# Owned by the shop team.\nkind: Secret\n"));
    let found = sops.decrypt(&after);
    assert_eq!(found["stringData"]["added"], "added-value");
    assert_eq!(found["stringData"].get("text"), None);
}

#[test]
fn d22c_a_file_of_a_person_is_sealed_again_without_a_private_key() {
    let mut person = Person::new();
    let sops = RealSops::new(&person.key);
    let before = encrypted_by_a_person(&sops, &person, RULE);
    let mut object = person.open(&before);
    object["stringData"]["user"] = json!("other-user");
    let after = person.rewrite(&secret_id(), &before, &object);
    sops.write("after.yaml", &after);
    let plain = sops.run(&["decrypt", "after.yaml"]);
    assert!(
        plain.contains("# Owned by the shop team.\nkind: Secret\n"),
        "{plain}"
    );
    assert!(plain.contains("user: other-user") && plain.contains("hunter2-hunter2"));
    assert!(!plain.contains("ENC["), "{plain}");
    assert_eq!(person.open(&after), object);
}

#[test]
fn d22_both_refuse_a_file_with_a_flipped_byte() {
    let mut person = Person::new();
    let sops = RealSops::new(&person.key);
    let text = person.seal_new(&secret_id(), &secret());
    let flips = [
        text.find("password: ENC[AES256_GCM,data:").unwrap() + 31,
        text.find("app: shop").unwrap() + 6,
        text.find("type: Opaque").unwrap() + 8,
        text.find("mac: ENC[AES256_GCM,data:").unwrap() + 26,
        text.find("lastmodified: \"2026").unwrap() + 18,
    ];
    for at in flips {
        let mut broken = text.clone().into_bytes();
        broken[at] = if broken[at] == b'5' { b'4' } else { b'5' };
        let broken = String::from_utf8(broken).unwrap();
        sops.write("broken.yaml", &broken);
        assert!(!sops.succeeds(&["decrypt", "broken.yaml"]), "byte {at}");
        let document = SealedDocument::read(&broken).unwrap();
        assert!(document.open(&person.identities()).is_err(), "byte {at}");
    }
}

#[test]
fn se_8_the_real_tool_follows_the_configuration_that_we_write() {
    let person = Person::new();
    let friend = Person::new();
    let sops = RealSops::new(&person.key);
    let both: BTreeSet<_> = [person.key.recipient(), friend.key.recipient()].into();
    sops.write(".sops.yaml", &bootstrap(&both));
    sops.write("human.sops.yaml", HUMAN);
    sops.run(&["encrypt", "--in-place", "human.sops.yaml"]);
    let text = sops.read("human.sops.yaml");
    let document = SealedDocument::read(&text).unwrap();
    let found: BTreeSet<&str> = document.recipients().collect();
    assert_eq!(found, both.iter().map(sealing::Recipient::as_str).collect());
    assert!(text.contains("namespace: team-a"));
    assert_eq!(friend.open(&text), person.open(&text));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn d22_any_object_goes_through_the_real_tool(object in chance::object(), other in chance::object()) {
        let mut person = Person::new();
        let sops = RealSops::new(&person.key);
        let id = vault_id();
        let new = person.seal_new(&id, &object);
        assert_same(&sops.decrypt(&new), &object);
        sops.run(&["rotate", "--in-place", "decrypt.yaml"]);
        let rotated = sops.read("decrypt.yaml");
        assert_eq!(person.change(&id, &rotated, &object), None);
        if let Some(changed) = person.change(&id, &rotated, &other) {
            assert_same(&sops.decrypt(&changed), &other);
        }
    }

    #[test]
    fn d22_any_plain_scalar_means_the_same_to_both(tokens in prop::collection::vec(chance::token(), 20)) {
        let person = Person::new();
        let sops = RealSops::new(&person.key);
        let lines: String = tokens
            .iter()
            .enumerate()
            .map(|(index, token)| format!("  k{index}: {token}\n"))
            .collect();
        sops.write("plain.yaml", &format!("clear:\n{lines}data:\n{lines}"));
        let recipient = person.key.recipient();
        let rule = ["--age", recipient.as_str(), "--encrypted-regex", "^data$"];
        let text = sops.run(&[&["encrypt"], &rule[..], &["plain.yaml"]].concat());
        // The tool spells a negative zero so that it cannot open the file itself any more.
        sops.write("sealed.yaml", &text);
        let document = SealedDocument::read(&text).unwrap();
        let opened = document.open(&person.identities());
        assert_eq!(opened.is_ok(), sops.succeeds(&["decrypt", "sealed.yaml"]), "{text}");
        if let Ok(opened) = opened {
            let opened = opened.plaintext().expose();
            assert!(manifests::yaml::same(&opened["clear"], &opened["data"]), "{text}");
        }
    }
}
