//! For whom a new document is sealed.
#![allow(clippy::unwrap_used, reason = "a test reports a failure by panicking")]

mod support;

use std::collections::BTreeSet;

use model::RepoPath;
use sealing::sops_config::{bootstrap, bootstrapped_for, config_paths};
use sealing::{Creation, Recipient, SopsConfig};
use support::Person;

fn path(text: &str) -> RepoPath {
    RepoPath::new(text).unwrap()
}

fn keys() -> [Recipient; 3] {
    let mut keys = [(); 3].map(|()| Person::new().key.recipient());
    keys.sort();
    keys
}

fn set<'a>(recipients: impl IntoIterator<Item = &'a Recipient>) -> BTreeSet<Recipient> {
    recipients.into_iter().cloned().collect()
}

/// Asks a configuration at `apps/.sops.yaml` for `apps/live/a.sops.yaml`.
fn ask(text: &str, target: &BTreeSet<Recipient>) -> Result<Creation, String> {
    let config = SopsConfig::read(&path("apps/.sops.yaml"), text).map_err(|e| e.to_string())?;
    config
        .creation(&path("apps/live/a.sops.yaml"), target)
        .map_err(|error| error.to_string())
}

#[test]
fn d22b_the_first_matching_rule_names_the_recipients() {
    let [a, b, c] = keys();
    let target = set([&a]);
    for (text, expected) in [
        (
            format!("creation_rules: [{{age: '{a},{b}'}}]"),
            set([&a, &b]),
        ),
        (
            format!("creation_rules: [{{age: '{a}, {b},'}}]"),
            set([&a, &b]),
        ),
        (
            format!("creation_rules: [{{age: [{a}, {c}]}}]"),
            set([&a, &c]),
        ),
        (
            format!("creation_rules: [{{key_groups: [{{age: [{a}, {b}]}}]}}]"),
            set([&a, &b]),
        ),
        (
            format!("creation_rules: [{{key_groups: [{{merge: [{{age: [{b}]}}], age: [{a}]}}]}}]"),
            set([&a, &b]),
        ),
        (
            format!("keys: [&me {a}, &you {b}]\ncreation_rules: [{{age: [*me, *you]}}]"),
            set([&a, &b]),
        ),
        (
            format!("creation_rules: [{{path_regex: ^live/, age: '{a},{b}'}}, {{age: '{a},{c}'}}]"),
            set([&a, &b]),
        ),
        (
            format!(
                "creation_rules: [{{path_regex: ^apps/live/, age: '{a},{b}'}}, {{age: '{a},{c}'}}]"
            ),
            set([&a, &c]),
        ),
        (
            format!("creation_rules: [{{path_regex: 'other', age: '{b}'}}]"),
            target.clone(),
        ),
        ("creation_rules: []".to_owned(), target.clone()),
        ("stores: {yaml: {indent: 2}}".to_owned(), target.clone()),
        (String::new(), target.clone()),
    ] {
        assert_eq!(ask(&text, &target).unwrap().recipients, expected, "{text}");
    }
    let text = format!("creation_rules: [{{age: '{a}', mac_only_encrypted: true}}]");
    assert!(ask(&text, &target).unwrap().mac_only_encrypted);
}

#[test]
fn d22b_a_rule_that_cannot_be_followed_is_refused_by_name() {
    let [a, b, _] = keys();
    let target = set([&a]);
    let lacks = format!("apps/.sops.yaml: creation rule 1 lacks {a}, a recipient of the target");
    for (text, message) in [
        (format!("creation_rules: [{{age: '{b}'}}]"), lacks.as_str()),
        (
            "creation_rules: [{unencrypted_suffix: x}]".to_owned(),
            lacks.as_str(),
        ),
        (
            format!("creation_rules: [{{age: '{a}', pgp: FBC7}}]"),
            "apps/.sops.yaml: creation rule 1 encrypts with PGP, and only age is supported",
        ),
        (
            format!(
                "creation_rules: [{{path_regex: no}}, {{key_groups: [{{age: ['{a}'], kms: [{{arn: x}}]}}]}}]"
            ),
            "apps/.sops.yaml: creation rule 2 encrypts with AWS KMS, and only age is supported",
        ),
        (
            format!("creation_rules: [{{key_groups: [{{age: ['{a}']}}, {{age: ['{b}']}}]}}]"),
            "apps/.sops.yaml: creation rule 1 splits the data key between key groups (Shamir), which is not supported",
        ),
        (
            "creation_rules: [{age: age1pq1xyz}]".to_owned(),
            "apps/.sops.yaml: creation rule 1: the post-quantum recipient age1pq1xyz is not supported; use a recipient of the form age1…",
        ),
        (
            "creation_rules: [{path_regex: '('}]".to_owned(),
            "apps/.sops.yaml: creation rule 1: path_regex has another form than sops reads",
        ),
        (
            "creation_rules: [{age: {a: b}}]".to_owned(),
            "apps/.sops.yaml: creation rule 1: age has another form than sops reads",
        ),
        (
            "creation_rules: [\n".to_owned(),
            "apps/.sops.yaml: line 2: did not find expected node content",
        ),
    ] {
        assert_eq!(ask(&text, &target).unwrap_err(), message, "{text}");
    }
}

#[test]
fn se_8_the_configuration_that_we_write_follows_the_target() {
    let [a, b, c] = keys();
    let ours = bootstrap(&set([&b, &a]));
    assert!(ours.contains("    encrypted_regex: ^(data|stringData)$\n"));
    assert!(ours.ends_with(&format!(
        "      - age:\n          - \"{a}\"\n          - \"{b}\"\n"
    )));
    assert_eq!(bootstrapped_for(&ours), Some(set([&a, &b])));
    assert_eq!(ask(&ours, &set([&c])).unwrap().recipients, set([&c]));
    let edited = ours.replace("stringData", "stringData|other");
    assert_eq!(bootstrapped_for(&edited), None);
    assert!(ask(&edited, &set([&c])).unwrap_err().contains("lacks"));
    let config = SopsConfig::read(&path("apps/.sops.yaml"), &ours).unwrap();
    assert!(config.is_ours());
    assert!(config.covers(&path("apps/x/a.sops.yml")).unwrap());
    assert!(!config.covers(&path("apps/x/a.yaml")).unwrap());
}

#[test]
fn d22b_the_nearest_configuration_counts() {
    let found = config_paths(&path("apps/live/a.sops.yaml"));
    let expected = ["apps/live/.sops.yaml", "apps/.sops.yaml", ".sops.yaml"].map(path);
    assert_eq!(found, expected);
    assert_eq!(config_paths(&path("a.sops.yaml")), [path(".sops.yaml")]);
}
