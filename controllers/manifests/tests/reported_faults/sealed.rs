//! Secrets.

use manifests::{Decision, FileContent, Intent, Mode, Placement, PruneMode};
use model::{IssueKind, RefusalCode, RefusalScope, Sensitivity};
use sealing::{Identities, NewIdentity, SealedDocument};

use crate::support::{Bed, changed_lines, decision, encryption, id, path_of};

const PLAIN: [&str; 3] = [
    "hunter2-hunter2",
    "aHVudGVyMi1odW50ZXIy",
    "c2Vjb25kLXZhbHVl",
];

fn secret(name: &str, data: &[(&str, &str)]) -> String {
    let data: String = data
        .iter()
        .map(|(key, value)| format!("  {key}: {value}\n"))
        .collect();
    format!(
        "apiVersion: v1\nkind: Secret\ntype: Opaque\nmetadata:\n  name: {name}\n  namespace: demo\ndata:\n{data}"
    )
}

fn login() -> String {
    secret("login", &[("password", PLAIN[1]), ("user", PLAIN[2])])
}

fn config_map(name: &str, value: &str) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  namespace: demo\ndata:\n  a: {value}\n"
    )
}

const LOGIN: &str = "apps/demo/secrets/login.sops.yaml";

#[test]
fn b078_a_template_that_bundles_secrets_is_refused_with_its_text() {
    let secrets = Sensitivity::default();
    for template in [
        "secrets.sops.yaml",
        "{namespace}/secrets.sops.yaml",
        "{name}.sops.yaml",
    ] {
        let read = Placement::read([("v1/secrets", template)], None, None, &secrets);
        let problems = read.unwrap_err();
        assert_eq!(problems[0].field, "spec.placement.byType[v1/secrets]");
        assert!(problems[0].message.contains(template), "{}", problems[0]);
    }
    assert!(Placement::read([], Some("all.yaml"), None, &secrets).is_err());
    let route = [("v1/secrets", "{namespace}/{name}.sops.yaml")];
    assert!(Placement::read(route, Some("all.yaml"), None, &secrets).is_ok());
}

#[test]
fn b078_each_secret_has_a_file_of_its_own() {
    let key = NewIdentity::generate();
    let mut bed = Bed::new().sealed_for(&key);
    let intents = [
        bed.upsert(&login()),
        bed.upsert(&secret("token", &[("t", PLAIN[2])])),
    ];
    bed.apply(&intents);
    assert_eq!(bed.paths(), [LOGIN, "apps/demo/secrets/token.sops.yaml"]);
    for path in bed.paths() {
        assert_eq!(bed.text(&path).matches("\nsops:").count(), 1);
        assert!(!bed.text(&path).contains("\n---\n"));
    }
}

#[test]
fn b078_a_file_that_mixes_sealed_and_plain_documents_is_left_as_it_is() {
    let key = NewIdentity::generate();
    let mut bed = Bed::new().sealed_for(&key);
    bed.mirror(&login());
    let mixed = format!("{}---\n{}", bed.text(LOGIN), config_map("conf", "one"));
    bed.put(LOGIN, &mixed);
    // Nothing to write, nothing to refuse.
    assert_eq!(bed.mirror(&config_map("conf", "one")), Vec::<String>::new());
    for live in [
        secret("login", &[("password", PLAIN[2])]),
        config_map("conf", "two"),
    ] {
        let refusal = bed.refused(&live);
        assert_eq!(refusal.scope, RefusalScope::Object, "{refusal}");
        assert_eq!(refusal.at.as_ref().unwrap().path.as_str(), LOGIN);
        assert!(refusal.message.contains("document"), "{refusal}");
        assert!(refusal.remedy.contains("file"), "{refusal}");
    }
    let removal = |group, resource, name| Intent::Remove {
        id: id(group, resource, name),
    };
    let outcome = bed.apply(&[removal("", "secrets", "login")]);
    assert!(matches!(decision(&outcome), Decision::Refused(_)));
    assert_eq!(bed.text(LOGIN), mixed);
    // Without the plain document the file is what it was.
    bed.apply(&[removal("", "configmaps", "conf")]);
    assert_eq!(bed.mirror(&login()), Vec::<String>::new());
}

#[test]
fn b081_what_did_not_change_is_not_sealed_again() {
    let key = NewIdentity::generate();
    let mut bed = Bed::new().sealed_for(&key);
    let lives: Vec<String> = (0..30)
        .map(|index| {
            secret(
                &format!("s{index}"),
                &[("password", PLAIN[1]), ("user", PLAIN[2])],
            )
        })
        .collect();
    let intents: Vec<Intent> = lives.iter().map(|live| bed.upsert(live)).collect();
    bed.apply(&intents);
    assert_eq!(bed.paths().len(), 30);
    // Restarts and resyncs, with the private key, and with the fingerprint key alone.
    for round in 0..4 {
        if round == 2 {
            let known = bed.encryption.as_mut().unwrap();
            known.identities = std::sync::Arc::default();
        }
        assert!(bed.plan(&intents, Mode::Apply).is_empty(), "round {round}");
    }
}

#[test]
fn b081_one_value_that_changes_leaves_the_others_and_the_data_key() {
    let key = NewIdentity::generate();
    let names = ["a", "b", "c", "d", "e"];
    let live = |c: &str| {
        let data = names.map(|name| (name, if name == "c" { c } else { PLAIN[1] }));
        secret("login", &data)
    };
    for fingerprint in [false, true] {
        let mut bed = Bed::new().sealed_for(&key);
        if !fingerprint {
            bed.encryption.as_mut().unwrap().fingerprint_key = None;
        }
        bed.mirror(&live(PLAIN[1]));
        let lines = bed.mirror(&live(PLAIN[2]));
        let mut keys: Vec<&str> = lines
            .iter()
            .map(|line| line[1..].trim().split(':').next().unwrap())
            .collect();
        keys.sort_unstable();
        keys.dedup();
        let own: &[&str] = if fingerprint {
            &["gitops_reverser"]
        } else {
            &[]
        };
        assert_eq!(keys, [&["c"], own, &["lastmodified", "mac"]].concat());
        assert_eq!(lines.len(), 2 * keys.len());
    }
}

#[test]
fn b083_an_entry_of_keys_may_hold_several_with_comments_and_any_line_end() {
    let [first, second] = [(); 2].map(|()| NewIdentity::generate());
    let entry = |key: &NewIdentity| key.entry().expose().to_string();
    let text = format!(
        "# created by somebody\n\n{}# the older one\n{}",
        entry(&first),
        entry(&second)
    );
    for text in [text.clone(), text.replace('\n', "\r\n")] {
        let identities = Identities::parse(&text).unwrap();
        let recipients = identities.recipients();
        assert_eq!(recipients, [first.recipient(), second.recipient()].into());
        // What is sealed for either of them is opened, and no other key gets into the file.
        let mut bed = Bed::new().sealed_for(&second);
        bed.encryption.as_mut().unwrap().identities = std::sync::Arc::new(identities);
        bed.mirror(&login());
        let document = SealedDocument::read(bed.text(LOGIN)).unwrap();
        let found: Vec<&str> = document.recipients().collect();
        assert_eq!(found, [second.recipient().as_str()]);
        assert_eq!(bed.mirror(&login()), Vec::<String>::new());
    }
    for broken in ["", "# nothing\n", "age1abc\n", "AGE-SECRET-KEY-1BROKEN\n"] {
        let error = Identities::parse(broken).unwrap_err().to_string();
        assert!(!error.contains("BROKEN") && !error.is_empty());
    }
}

#[test]
fn b085_the_first_rule_that_matches_says_for_whom_and_a_conflict_is_refused_by_name() {
    let [team, everybody, target] = [(); 3].map(|()| NewIdentity::generate());
    let rules = |first: &str, second: &str| {
        format!(
            "creation_rules:\n  - path_regex: apps/.*\\.sops\\.yaml$\n    age: {first}\n  - age: {second}\n"
        )
    };
    let name = |key: &NewIdentity| key.recipient().as_str().to_owned();
    let both = format!("{},{}", name(&team), name(&target));
    let mut bed = Bed::new()
        .sealed_for(&target)
        .with(".sops.yaml", &rules(&both, &name(&everybody)));
    bed.mirror(&login());
    let text = bed.text(LOGIN);
    assert!(text.contains(&name(&team)) && text.contains(&name(&target)));
    assert!(!text.contains(&name(&everybody)));

    let mut bed = Bed::new()
        .sealed_for(&target)
        .with(".sops.yaml", &rules(&name(&team), &name(&everybody)));
    let refusal = bed.refused(&login());
    assert_eq!(refusal.code, RefusalCode::EncryptionNotConfigured);
    for part in [".sops.yaml", "rule 1", &name(&target)] {
        assert!(refusal.message.contains(part), "{refusal}");
    }
}

#[test]
fn b086_conflict_markers_refuse_the_folder_and_leave_the_file() {
    let key = NewIdentity::generate();
    let mut bed = Bed::new().sealed_for(&key);
    bed.mirror(&login());
    let text = bed.text(LOGIN);
    let line = text
        .lines()
        .find(|line| line.contains("password:"))
        .unwrap();
    let conflict = format!("<<<<<<< HEAD\n{line}\n=======\n{line}x\n>>>>>>> theirs");
    let broken = text.replace(line, &conflict);
    bed.put(LOGIN, &broken);
    let refusal = bed.refused(&secret("login", &[("password", PLAIN[2])]));
    assert_eq!(refusal.scope, RefusalScope::Folder);
    assert_eq!(refusal.issue, Some(IssueKind::InvalidYaml));
    let at = refusal.at.as_ref().unwrap();
    assert_eq!(at.path.as_str(), LOGIN);
    assert!(at.line.is_some());
    let removal = Intent::Remove {
        id: id("", "secrets", "login"),
    };
    assert!(bed.plan(&[removal], Mode::Apply).is_empty());
}

#[test]
fn b086_values_of_two_versions_are_refused_until_a_person_decides() {
    let key = NewIdentity::generate();
    let mut bed = Bed::new().sealed_for(&key);
    bed.mirror(&login());
    let ours = bed.text(LOGIN).to_owned();
    bed.mirror(&secret(
        "login",
        &[("password", PLAIN[2]), ("user", PLAIN[1])],
    ));
    let theirs = bed.text(LOGIN).to_owned();
    let value = |text: &str| {
        let found = text.lines().find(|line| line.contains("password:"));
        found.unwrap().to_owned()
    };
    let mixed = ours.replace(&value(&ours), &value(&theirs));
    assert_ne!(mixed, ours);
    bed.put(LOGIN, &mixed);
    let mut known = vec![encryption(&key); 3];
    known[1].identities = std::sync::Arc::default();
    known[2] = known[1].clone();
    known[2].fingerprint_key = None;
    for encryption in known {
        bed.encryption = Some(encryption);
        let live = secret("login", &[("password", PLAIN[2]), ("user", PLAIN[2])]);
        let refusal = bed.refused(&live);
        assert_eq!(refusal.at.as_ref().unwrap().path.as_str(), LOGIN);
        assert!(
            refusal.message.contains("changed without sops"),
            "{refusal}"
        );
        let remedy = "delete it so that it is written again";
        assert!(refusal.remedy.contains(remedy), "{refusal}");
    }
    // A person asks for it: the file goes, and comes again from the cluster.
    bed.encryption = Some(encryption(&key));
    bed.remove(LOGIN);
    bed.mirror(&login());
    assert!(
        SealedDocument::read(bed.text(LOGIN))
            .unwrap()
            .open(&key.identities())
            .is_ok()
    );
}

#[test]
fn b087_without_a_key_nothing_is_plain_nothing_goes_and_the_rest_is_written() {
    let key = NewIdentity::generate();
    let mut bed = Bed::new().sealed_for(&key);
    bed.mirror(&login());
    let sealed = bed.text(LOGIN).to_owned();
    bed.encryption = None;
    bed.policy.prune = PruneMode::Always;
    let changed = secret("login", &[("password", PLAIN[2])]);
    let intents = [
        bed.upsert(&changed),
        bed.upsert(&secret("fresh", &[("p", PLAIN[1])])),
        bed.upsert(&config_map("z", "one")),
    ];
    let outcome = bed.apply(&intents);
    assert_eq!(outcome.refusals().count(), 2);
    for refusal in outcome.refusals() {
        assert_eq!(refusal.code, RefusalCode::EncryptionNotConfigured);
        assert_eq!(refusal.issue, Some(IssueKind::PlaintextSensitive));
        assert!(
            refusal.message.contains("no encryption is configured"),
            "{refusal}"
        );
    }
    assert_eq!(bed.text(LOGIN), sealed);
    assert_eq!(bed.paths(), ["apps/demo/configmaps/z.yaml", LOGIN]);
    for path in bed.paths() {
        assert!(!PLAIN.iter().any(|plain| bed.text(&path).contains(plain)));
    }
    // The key returns: what waited is written.
    bed.encryption = Some(encryption(&key));
    let before = bed.clone();
    bed.apply(&intents);
    assert_eq!(bed.paths().len(), 3);
    assert!(!changed_lines(&before, &bed).is_empty());
    let opened = SealedDocument::read(bed.text(LOGIN)).unwrap();
    let opened = opened.open(&key.identities()).unwrap();
    assert_eq!(opened.plaintext().expose()["data"]["password"], PLAIN[2]);
}

fn tenant_secret(version: &str, password: &str) -> String {
    format!(
        "apiVersion: core.cozystack.io/{version}\nkind: TenantSecret\nmetadata:\n  name: t\n  namespace: demo\ndata:\n  password: {password}\n"
    )
}

const LISTED: [&str; 1] = ["core.cozystack.io/tenantsecrets"];

#[test]
fn b089_a_listed_kind_is_sealed_in_every_version() {
    let key = NewIdentity::generate();
    for version in ["v1alpha1", "v1"] {
        let mut bed = Bed::with_sensitive(&LISTED).sealed_for(&key);
        let intent = bed.upsert(&tenant_secret(version, PLAIN[1]));
        let outcome = bed.apply(&[intent]);
        let [edit] = &outcome.edits[..] else {
            panic!("{outcome:?}");
        };
        assert!(matches!(edit.content, FileContent::Sealed(_)));
        let path = "apps/demo/core.cozystack.io/tenantsecrets/t.sops.yaml";
        assert_eq!(edit.path, path_of(path));
        assert!(!PLAIN.iter().any(|plain| bed.text(path).contains(plain)));
    }
    for typo in ["core.cozystack.io/tenant/secrets", "/tenantsecrets", ""] {
        assert_eq!(Sensitivity::parse([typo]).unwrap_err(), [typo]);
    }
}

#[test]
fn b089_a_kind_that_is_no_longer_listed_is_not_decrypted() {
    let key = NewIdentity::generate();
    let mut listed = Bed::with_sensitive(&LISTED).sealed_for(&key);
    listed.mirror(&tenant_secret("v1", PLAIN[1]));
    let mut bed = Bed::new().sealed_for(&key);
    bed.files = listed.files;
    for password in [PLAIN[1], PLAIN[2]] {
        let refusal = bed.refused(&tenant_secret("v1", password));
        assert!(refusal.message.contains("encrypted"), "{refusal}");
        assert!(refusal.remedy.contains("sensitive"), "{refusal}");
    }
    // A removal needs no key.
    let removal = Intent::Remove {
        id: id("core.cozystack.io", "tenantsecrets", "t"),
    };
    let outcome = bed.apply(&[removal]);
    assert!(matches!(decision(&outcome), Decision::Removed { .. }));
}
