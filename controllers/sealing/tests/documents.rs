//! Sealing, opening and sealing again, without the real tool.
#![allow(clippy::unwrap_used, reason = "a test reports a failure by panicking")]

mod support;

use std::collections::BTreeSet;

use sealing::{
    Creation, Identities, Layout, OpenError, RuleError, SealError, SealedDocument, Sealer, Standing,
};
use serde_json::{Map, Value, json};
use support::{Person, ProductLayout, fingerprint_key, map, plaintexts, secret_id, vault_id};

fn secret() -> Map<String, Value> {
    map(json!({
        "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
        "metadata": {"name": "login", "namespace": "team-a", "labels": {"app": "shop", "data": "hidden-label"}},
        "data": {"user": "YWRtaW4tdXNlcg==", "password": "aHVudGVyMi1odW50ZXIy", "empty": "", "none": null},
    }))
}

fn with(mut object: Map<String, Value>, pointer: &str, value: Value) -> Map<String, Value> {
    let mut whole = Value::Object(std::mem::take(&mut object));
    *whole.pointer_mut(pointer).unwrap() = value;
    map(whole)
}

/// The lines of the second text that the first one does not have.
fn new_lines<'a>(before: &str, after: &'a str) -> Vec<&'a str> {
    let known: BTreeSet<&str> = before.lines().collect();
    after.lines().filter(|line| !known.contains(line)).collect()
}

#[test]
fn d24_a_new_document_looks_like_every_other_one_and_its_block_is_last() {
    let mut person = Person::new();
    let text = person.seal_new(&secret_id(), &secret());
    let heads: Vec<&str> = text
        .lines()
        .filter(|line| !line.starts_with([' ', '-']))
        .collect();
    assert_eq!(
        heads,
        [
            "apiVersion: v1",
            "kind: Secret",
            "metadata:",
            "data:",
            "type: Opaque",
            "sops:"
        ]
    );
    assert!(text.contains("\n  name: login\n  namespace: team-a\n  labels:\n    app: shop\n"));
    assert!(text.contains("\n  empty: \"\"\n  none: null\n"));
    assert!(text.contains("\n  encrypted_regex: ^(data|stringData)$\n"));
    assert!(text.contains(&format!("recipient: {}\n", person.key.recipient())));
}

#[test]
fn d22_the_plaintext_is_in_no_text_error_or_debug_output() {
    let mut person = Person::new();
    let object = secret();
    let text = person.seal_new(&secret_id(), &object);
    let document = SealedDocument::read(&text).unwrap();
    let open = document.open(&person.identities()).unwrap();
    let clear = with(object.clone(), "/metadata/labels/data", json!({"x": 1}));
    let refused = person
        .seal(None, |sealer| sealer.change(&vault_id(), &open, &clear))
        .unwrap_err();
    let shown = format!(
        "{text} {document:?} {open:?} {:?} {refused} {refused:?} {}",
        open.plaintext(),
        refused.remedy()
    );
    let hidden = [&object["data"], &json!("hidden-label")];
    for secret in hidden.into_iter().flat_map(plaintexts) {
        assert!(!shown.contains(&secret), "{secret} is in {shown}");
    }
    assert_eq!(open.plaintext().expose(), &object);
}

#[test]
fn se_3_a_changed_value_leaves_the_data_key_and_all_other_ciphertext_alone() {
    let mut person = Person::new();
    let before = person.seal_new(&secret_id(), &secret());
    let wanted = with(secret(), "/data/password", json!("bmV3LXBhc3N3b3Jk"));
    let after = person.change(&secret_id(), &before, &wanted).unwrap();
    let changed: Vec<&str> = new_lines(&before, &after)
        .into_iter()
        .map(|line| line.trim().split(':').next().unwrap())
        .collect();
    assert_eq!(
        changed,
        ["password", "gitops_reverser", "lastmodified", "mac"]
    );
    assert_eq!(person.open(&after), wanted);
}

#[test]
fn se_3_a_file_keeps_its_own_line_breaks_and_comments() {
    let mut person = Person::new();
    let new = person.seal_new(&secret_id(), &secret());
    let before =
        format!("# ours\n{}", new.replace("  user:", "  # who\n  user:")).replace('\n', "\r\n");
    let wanted = with(secret(), "/data/password", json!("bmV3LXBhc3N3b3Jk"));
    let changed = person.change(&secret_id(), &before, &wanted).unwrap();
    let rewritten = person.rewrite(&secret_id(), &changed, &secret());
    for (text, object) in [(&changed, &wanted), (&rewritten, &secret())] {
        assert!(text.starts_with("# ours\r\n") && text.contains("  # who\r\n"));
        assert_eq!(text.matches('\n').count(), text.matches("\r\n").count());
        assert_eq!(&person.open(text), object);
    }
}

#[test]
fn se_4_unchanged_content_is_not_sealed_again() {
    let mut person = Person::new();
    for (id, object) in [(secret_id(), secret()), (vault_id(), vault())] {
        let text = person.seal_new(&id, &object);
        assert_eq!(person.change(&id, &text, &object), None);
        let document = SealedDocument::read(&text).unwrap();
        let standing = document.standing(&id, &object, &fingerprint_key());
        assert_eq!(standing, Standing::Unchanged);
    }
}

fn vault() -> Map<String, Value> {
    map(json!({
        "apiVersion": "example.org/v1", "kind": "Vault", "metadata": {"name": "login", "namespace": "team-a"},
        "spec": {
            "kind": "hidden-kind", "metadata": {"name": "hidden-name"}, "flag": true, "off": false, "count": -7,
            "ratio": 0.25, "whole": 3.0, "big": 9_007_199_254_740_993_i64,
            "items": ["first-item", {"deep": [1, "second-item", [], {}]}, null, ""],
            "text": "line one\nline two\n", "like": ["1", "true", "null", "1e3", "0x10", "2024-01-01", "~"],
        },
        "extra": "hidden-extra",
    }))
}

#[test]
fn d22a_another_type_hides_everything_but_which_object_it_is() {
    let mut person = Person::new();
    let object = vault();
    let text = person.seal_new(&vault_id(), &object);
    for secret in [&object["spec"], &object["extra"]]
        .into_iter()
        .flat_map(plaintexts)
    {
        assert!(!text.contains(&secret), "{secret} is in {text}");
    }
    assert!(text.contains("encrypted_regex: ^(extra|spec)$"));
    assert_eq!(person.open(&text)["spec"]["like"], object["spec"]["like"]);
}

#[test]
fn d22a_a_type_that_no_rule_fits_is_refused_by_name() {
    let mut person = Person::new();
    let creation = Creation::for_recipients(person.recipients());
    let object = map(
        json!({"apiVersion": "v1", "kind": "Vault", "metadata": {"name": "login"}, "labels": {"a": "b"}}),
    );
    let refused = person.seal(None, |sealer| {
        sealer.new_document(&vault_id(), &object, &creation)
    });
    let expected = RuleError::ReservedKey {
        key: "labels".to_owned(),
    };
    assert_eq!(refused.unwrap_err(), SealError::Rule(expected));
}

#[test]
fn d22b_without_a_recipient_nothing_is_sealed() {
    let mut person = Person::new();
    let creation = Creation::for_recipients(BTreeSet::new());
    let refused = person.seal(None, |sealer| {
        sealer.new_document(&secret_id(), &secret(), &creation)
    });
    assert_eq!(refused.unwrap_err(), SealError::NoRecipients);
}

#[test]
fn d22b_a_document_keeps_its_own_recipients_and_rule() {
    let mut person = Person::new();
    let mut other = Person::new();
    let both: BTreeSet<_> = [person.key.recipient(), other.key.recipient()].into();
    let creation = Creation {
        recipients: both.clone(),
        mac_only_encrypted: true,
    };
    let sealed = person.seal(None, |sealer| {
        sealer.new_document(&secret_id(), &secret(), &creation)
    });
    let before = support::text(sealed.unwrap());
    let wanted = with(secret(), "/data/password", json!("bmV3LXBhc3N3b3Jk"));
    let changed = person.change(&secret_id(), &before, &wanted).unwrap();
    let rewritten = person.rewrite(&secret_id(), &changed, &wanted);
    for text in [&before, &changed, &rewritten] {
        let document = SealedDocument::read(text).unwrap();
        let expected: Vec<&str> = both.iter().map(sealing::Recipient::as_str).collect();
        assert_eq!(document.recipients().collect::<Vec<_>>(), expected);
        assert!(text.contains("mac_only_encrypted: true"));
    }
    assert_eq!(other.open(&rewritten), wanted);
    let again = other.change(&secret_id(), &rewritten, &secret()).unwrap();
    assert_eq!(person.open(&again), secret());
}

#[test]
fn d22b_a_recipient_that_we_cannot_seal_for_stops_only_what_needs_a_new_data_key() {
    let mut person = Person::new();
    let text = person.seal_new(&secret_id(), &secret()).replacen(
        "  age:\n",
        "  age:\n    - enc: x\n      recipient: ssh-ed25519 AAAA\n",
        1,
    );
    let wanted = with(secret(), "/data/password", json!("bmV3LXBhc3N3b3Jk"));
    let changed = person.change(&secret_id(), &text, &wanted).unwrap();
    assert!(changed.contains("ssh-ed25519 AAAA"));
    let document = SealedDocument::read(&changed).unwrap();
    let refused = person.seal(None, |sealer| {
        sealer.rewrite(&secret_id(), &document, &wanted)
    });
    assert_eq!(
        refused.unwrap_err().to_string(),
        "the SSH key ssh-ed25519 … is not supported; use a recipient of the form age1…"
    );
}

#[test]
fn d22c_without_a_private_key_the_fingerprint_tells_what_changed() {
    let mut person = Person::new();
    let text = person.seal_new(&secret_id(), &secret());
    let key = fingerprint_key();
    let standing = |text: &str, object: &Map<String, Value>| {
        let document = SealedDocument::read(text).unwrap();
        document.standing(&secret_id(), object, &key)
    };
    assert_eq!(standing(&text, &secret()), Standing::Unchanged);
    let wanted = with(secret(), "/data/password", json!("bmV3LXBhc3N3b3Jk"));
    assert_eq!(standing(&text, &wanted), Standing::Changed);
    let relabelled = with(secret(), "/metadata/labels/app", json!("other"));
    assert_eq!(standing(&text, &relabelled), Standing::Changed);

    let rewritten = person.rewrite(&secret_id(), &text, &wanted);
    assert_eq!(standing(&rewritten, &wanted), Standing::Unchanged);
    let salt = |text: &str| {
        text.lines()
            .find(|line| line.contains("gitops_reverser"))
            .unwrap()
            .to_owned()
    };
    assert_ne!(salt(&text), salt(&rewritten));

    let dropped: String = text
        .lines()
        .filter(|line| !line.contains("gitops_reverser"))
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(standing(&dropped, &secret()), Standing::Unknown);
    let relabelled = text.replace("app: shop", "app: else");
    assert_eq!(standing(&relabelled, &secret()), Standing::Changed);
    let password = |text: &str| {
        text.lines()
            .find(|line| line.starts_with("  password:"))
            .unwrap()
            .to_owned()
    };
    let merged = rewritten.replace(&password(&rewritten), &password(&text));
    assert_eq!(standing(&merged, &wanted), Standing::Changed);
}

#[test]
fn d22_a_flipped_byte_fails() {
    let mut person = Person::new();
    let text = person.seal_new(&secret_id(), &secret());
    let opens = |text: &str| {
        let document = SealedDocument::read(text).ok();
        document.is_some_and(|document| document.open(&person.identities()).is_ok())
    };
    assert!(opens(&text));
    let mut line_start = 0;
    for line in text.split_inclusive('\n') {
        let sealed = line
            .find("ENC[")
            .map(|at| line_start + at..line_start + line.len() - 1);
        for at in sealed.into_iter().flatten().step_by(5) {
            let mut broken = text.clone().into_bytes();
            broken[at] = if broken[at] == b'q' { b'r' } else { b'q' };
            let broken = String::from_utf8(broken).unwrap();
            assert!(!opens(&broken), "byte {at} of {line}");
        }
        line_start += line.len();
    }
    for (before, after) in [
        ("app: shop", "app: else"),
        ("type: Opaque", "type: Other"),
        ("  user:", "  other:"),
        ("empty: \"\"", "empty: more"),
        ("lastmodified: \"2026", "lastmodified: \"2025"),
    ] {
        assert!(text.contains(before));
        assert!(!opens(&text.replace(before, after)), "{before}");
    }
    let relabelled = text.replace("app: shop", "app: else");
    let document = SealedDocument::read(&relabelled).unwrap();
    assert_eq!(
        document.open(&person.identities()).unwrap_err(),
        OpenError::MacMismatch
    );
}

#[test]
fn d22b_a_stranger_opens_nothing() {
    let mut person = Person::new();
    let text = person.seal_new(&secret_id(), &secret());
    let document = SealedDocument::read(&text).unwrap();
    for identities in [Identities::default(), Person::new().identities()] {
        assert_eq!(
            document.open(&identities).unwrap_err(),
            OpenError::NoIdentity
        );
    }
}

#[test]
fn a_number_that_sops_cannot_hold_is_refused_by_its_path() {
    let mut person = Person::new();
    let creation = Creation::for_recipients(person.recipients());
    let object = with(vault(), "/spec/count", json!(u64::MAX));
    let refused = person.seal(None, |sealer| {
        sealer.new_document(&vault_id(), &object, &creation)
    });
    let expected = SealError::Number {
        path: "spec.count".to_owned(),
    };
    assert_eq!(refused.unwrap_err(), expected);
}

/// A layout that does something else than it is asked for.
struct Wrong(fn(String) -> String);

impl Layout for Wrong {
    fn write(&self, mapping: &Map<String, Value>) -> String {
        (self.0)(ProductLayout.write(mapping))
    }

    fn edit(&self, text: &str, value: &Value) -> Option<String> {
        ProductLayout.edit(text, value).map(self.0)
    }
}

#[test]
fn d22_a_text_counts_as_sealed_only_if_it_reads_back_as_what_was_sealed() {
    let person = Person::new();
    let creation = Creation::for_recipients(person.recipients());
    let seal = |layout: &dyn Layout| {
        let mut sealer = Sealer {
            layout,
            random: &mut |bytes: &mut [u8]| bytes.fill(1),
            now: support::NOW,
            fingerprint_key: None,
        };
        sealer.new_document(&secret_id(), &secret(), &creation)
    };
    assert!(seal(&ProductLayout).is_ok());
    for wrong in [
        |_| String::new(),
        |text: String| text.replace("app: shop", "app: else"),
        |text: String| text.replace("  user:", "  other:"),
        |text: String| text.replace("type: Opaque", "type: &anchor Opaque"),
        |text: String| text.replace("^(data|stringData)$", "^stringData$"),
        |text: String| text.replace("AGE ENCRYPTED FILE", "FILE"),
        |text: String| text.replace("data:\n", "data:\n  added: cleartext\n"),
        |text: String| format!("{text}---\n"),
    ] {
        assert_eq!(seal(&Wrong(wrong)).unwrap_err(), SealError::NotExpressible);
    }
}
