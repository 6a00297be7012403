use std::collections::BTreeMap;

use crds::GitTarget;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use policy::EncryptionProblem;
use sealing::NewIdentity;
use serde_json::{Value, json};

use super::Fault;
use super::asked::{self, Asked};
use super::keys::{self, Found, Keys};
use crate::fixtures::{object, place};

fn asked(encryption: Value) -> Result<Option<Asked>, Fault> {
    let spec = json!({
        "gitBranchRef": {"name": "live"}, "path": "apps",
        "kubeProviderRef": {"name": "local"}, "encryption": encryption,
    });
    let target: GitTarget = object("GitTarget", "team-a/apps", spec, json!({}));
    asked::read(&place("team-a/apps"), &target)
}

/// What is asked for with a Secret `keys` and these recipients.
fn with_secret(recipients: Value) -> Asked {
    let age = json!({"enabled": true, "recipients": recipients});
    let encryption = json!({"provider": "sops", "secretRef": {"name": "keys"}, "age": age});
    asked(encryption).unwrap().unwrap()
}

fn secret(entries: &[(&str, &[u8])]) -> Secret {
    let entries = entries
        .iter()
        .map(|(name, content)| ((*name).to_owned(), ByteString(content.to_vec())));
    Secret {
        data: Some(entries.collect::<BTreeMap<_, _>>()),
        ..Secret::default()
    }
}

fn found(asked: &Asked, secret: Option<&Secret>) -> Found {
    keys::read(asked, &place("team-a/keys"), secret)
}

fn usable(asked: &Asked, secret: &Secret) -> Keys {
    match found(asked, Some(secret)) {
        Found::Keys(keys) => *keys,
        other => panic!("{other:?}"),
    }
}

fn fault(asked: &Asked, secret: Option<&Secret>) -> (EncryptionProblem, String) {
    match found(asked, secret) {
        Found::Faulty(fault) => (fault.kind, fault.message),
        other => panic!("{other:?}"),
    }
}

fn text(identity: &NewIdentity) -> String {
    identity.entry().expose().to_string()
}

#[test]
fn only_age_that_is_enabled_turns_encryption_on() {
    let secret = json!({"name": "keys"});
    for off in [
        json!(null),
        json!({"secretRef": secret}),
        json!({"secretRef": secret, "age": {"enabled": false, "recipients": {"extractFromSecret": true}}}),
    ] {
        assert_eq!(asked(off).unwrap(), None);
    }
    let on = with_secret(json!({"extractFromSecret": true, "generateWhenMissing": true}));
    assert!(on.extract && on.make);
    assert_eq!(on.secret, Some(place("team-a/keys")));
}

#[test]
fn what_cannot_work_names_its_field() {
    let enabled = |recipients: Value| json!({"age": {"enabled": true, "recipients": recipients}});
    for (encryption, expected) in [
        (
            enabled(json!({"generateWhenMissing": true})),
            "needs extractFromSecret",
        ),
        (
            enabled(json!({"extractFromSecret": true})),
            "needs spec.encryption.secretRef",
        ),
        (
            enabled(json!({"publicKeys": ["", "age1nonsense"]})),
            "publicKeys[1]: ",
        ),
    ] {
        let fault = asked(encryption).unwrap_err();
        assert_eq!(fault.kind, EncryptionProblem::InvalidConfig);
        assert!(fault.message.contains(expected), "{}", fault.message);
    }
    let nobody = asked(enabled(json!({"publicKeys": ["  "]})))
        .unwrap()
        .unwrap();
    let fault = keys::without_secret(&nobody).unwrap_err();
    assert!(fault.message.contains("names no recipient"), "{fault:?}");
}

#[test]
fn public_keys_and_the_keys_of_the_secret_are_put_together() {
    let (ours, theirs) = (NewIdentity::generate(), NewIdentity::generate());
    let public = format!(" {} ", theirs.recipient());
    let both = with_secret(json!({"publicKeys": [public, public], "extractFromSecret": true}));
    let keys = usable(&both, &secret(&[("age.agekey", text(&ours).as_bytes())]));
    assert_eq!(
        keys.recipients,
        [ours.recipient(), theirs.recipient()].into()
    );
    assert_eq!(keys.identities.recipients(), [ours.recipient()].into());
    assert!(keys.message().contains("2 recipients"));
    assert_eq!(keys.reminder, None);
    // Without extraction the keys only open what is there.
    let opened = with_secret(json!({"publicKeys": [public]}));
    let keys = usable(&opened, &secret(&[("age.agekey", text(&ours).as_bytes())]));
    assert_eq!(keys.recipients, [theirs.recipient()].into());
    assert_eq!(keys.identities.recipients(), [ours.recipient()].into());
}

#[test]
fn b083_every_agekey_entry_counts_whatever_its_name_with_comments_and_crlf() {
    let asked = with_secret(json!({"extractFromSecret": true}));
    let keys: Vec<_> = (0..4).map(|_| NewIdentity::generate()).collect();
    let two =
        format!("# old\r\n{}\r\n\r\n{}", text(&keys[0]), text(&keys[1])).replace('\n', "\r\n");
    let secret = secret(&[
        ("age.agekey", two.as_bytes()),
        ("identity.agekey", text(&keys[2]).as_bytes()),
        ("20251102.agekey", text(&keys[3]).as_bytes()),
        ("sops.pub", b"not a key"),
    ]);
    let expected = keys.iter().map(NewIdentity::recipient).collect();
    assert_eq!(usable(&asked, &secret).recipients, expected);
}

#[test]
fn a_missing_key_is_made_only_where_the_target_says_so() {
    let make = with_secret(json!({"extractFromSecret": true, "generateWhenMissing": true}));
    assert!(matches!(found(&make, None), Found::NoKey));
    assert!(matches!(found(&make, Some(&secret(&[]))), Found::NoKey));
    let extract = with_secret(json!({"extractFromSecret": true}));
    let (kind, message) = fault(&extract, None);
    assert_eq!(kind, EncryptionProblem::SecretCreateDisabled);
    assert!(message.contains("team-a/keys does not exist"), "{message}");
    let (kind, message) = fault(&extract, Some(&secret(&[("key.txt", b"x")])));
    assert_eq!(kind, EncryptionProblem::InvalidConfig);
    assert!(
        message.contains("no entry that ends in .agekey"),
        "{message}"
    );
    let key = NewIdentity::generate().recipient().to_string();
    let (kind, _) = fault(&with_secret(json!({"publicKeys": [key]})), None);
    assert_eq!(kind, EncryptionProblem::MissingSecret);
}

#[test]
fn what_is_no_key_is_named_and_not_shown() {
    let asked = with_secret(json!({"extractFromSecret": true, "generateWhenMissing": true}));
    let contents: [&[u8]; 4] = [
        b"hunter2",
        b"AGE-SECRET-KEY-1HUNTER2",
        b"AGE-PLUGIN-HUNTER2",
        &[0xff, 0xfe],
    ];
    for content in contents {
        let (kind, message) = fault(&asked, Some(&secret(&[("bad.agekey", content)])));
        assert_eq!(kind, EncryptionProblem::InvalidConfig);
        assert!(message.contains("entry bad.agekey"), "{message}");
        assert!(!message.to_uppercase().contains("HUNTER2"), "{message}");
    }
}

#[test]
fn a_key_without_a_copy_is_told_until_its_annotation_is_gone() {
    let asked = with_secret(json!({"extractFromSecret": true}));
    let mut secret = secret(&[("a.agekey", text(&NewIdentity::generate()).as_bytes())]);
    secret.metadata.annotations = Some(
        [(
            keys::BACKUP_WARNING.to_owned(),
            keys::REMOVE_AFTER_BACKUP.to_owned(),
        )]
        .into(),
    );
    let message = usable(&asked, &secret).message();
    assert!(message.contains("only copy"), "{message}");
    secret.metadata.annotations = None;
    let plain = usable(&asked, &secret);
    assert_eq!(
        plain.message(),
        "sensitive objects are encrypted for one recipient"
    );
}

#[test]
fn stamps_tell_keys_apart_and_show_no_private_one() {
    let asked = with_secret(json!({"extractFromSecret": true}));
    let of = |identity: &NewIdentity| {
        usable(&asked, &secret(&[("a.agekey", text(identity).as_bytes())])).stamp()
    };
    let (one, other) = (NewIdentity::generate(), NewIdentity::generate());
    assert_eq!(of(&one), of(&one));
    assert_ne!(of(&one), of(&other));
    assert!(!of(&one).contains("SECRET"));
}

#[test]
fn a_private_key_among_the_recipients_is_shown_nowhere() {
    let key = text(&NewIdentity::generate());
    for pasted in [
        key.clone(),
        format!("# public key: age1x\n{key}"),
        "AGE-PLUGIN-YUBIKEY-1HUNTER2".to_owned(),
        "age1 hunter2".to_owned(),
    ] {
        let encryption = json!({"age": {"enabled": true, "recipients": {"publicKeys": [pasted]}}});
        let message = asked(encryption).unwrap_err().message;
        let upper = message.to_uppercase();
        assert!(
            !upper.contains("AGE-SECRET-KEY-1") && !upper.contains("HUNTER2"),
            "{message}"
        );
    }
}
