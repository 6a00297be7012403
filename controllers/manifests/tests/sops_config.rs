//! The `.sops.yaml` that the operator brings: whom it names, and when it is left alone.

#![allow(clippy::unwrap_used, reason = "a test reports a failure by panicking")]

use std::sync::Arc;

use manifests::plan::{FileContent, Intent, Mode, Outcome, Policy, SealReason};
use manifests::{Encryption, Folder, Sealing, TypeCatalog};
use model::sanitize::sanitize;
use model::{FilesInMemory, FolderPath, LiveObject, RepoPath, ServedType, TypeId};
use sealing::NewIdentity;
use serde_json::json;

const CONFIG: &str = "live/.sops.yaml";

fn served() -> ServedType {
    ServedType {
        type_id: TypeId::new("", "secrets"),
        version: "v1".to_owned(),
        kind: "Secret".to_owned(),
        namespaced: true,
        sensitive: true,
    }
}

fn secret(name: &str) -> Intent {
    let value = json!({
        "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
        "metadata": {"name": name, "namespace": "team"}, "data": {"password": "b3JjaGlk"},
    });
    let live = LiveObject {
        served: Arc::new(served()),
        value: value.as_object().unwrap().clone(),
    };
    Intent::Upsert(Arc::new(sanitize(&live).unwrap()))
}

/// A repository that is written by one target after another.
#[derive(Default)]
struct Repository(FilesInMemory);

impl Repository {
    fn seal(&mut self, name: &str, keys: &[&NewIdentity]) -> Outcome {
        let types = [served()];
        let folder = FolderPath::new("live").unwrap();
        let mut policy = Policy::new(folder.clone(), types.iter().collect::<TypeCatalog>());
        policy.bootstrap = true;
        let encryption = Encryption {
            recipients: keys.iter().map(|key| key.recipient()).collect(),
            ..Encryption::default()
        };
        let mut next = 0_u8;
        let mut random = |bytes: &mut [u8]| {
            for byte in bytes {
                next = next.wrapping_mul(41).wrapping_add(7);
                *byte = next;
            }
        };
        let sealing = Sealing {
            encryption: &encryption,
            random: &mut random,
            now: 0,
        };
        let mut folder = Folder::new(folder);
        let outcome = manifests::plan(
            &mut folder,
            self.0.tree(),
            &[secret(name)],
            &policy,
            Mode::Apply,
            Some(sealing),
        )
        .unwrap();
        for edit in &outcome.edits {
            match &edit.content {
                FileContent::Plain(bytes) => self.0.put(&edit.path, bytes.as_slice()),
                FileContent::Sealed(bytes) => self.0.put(&edit.path, bytes.as_bytes()),
                FileContent::Removed => self.0.remove(&edit.path),
            }
        }
        outcome
    }

    fn config(&self) -> String {
        let bytes = self.0.bytes(&RepoPath::new(CONFIG).unwrap()).unwrap();
        String::from_utf8(bytes.to_vec()).unwrap()
    }
}

#[test]
fn d22b_the_configuration_that_we_brought_follows_the_target() {
    let (one, two) = (NewIdentity::generate(), NewIdentity::generate());
    let mut repository = Repository::default();
    repository.seal("first", &[&one]);
    assert!(repository.config().contains(&one.recipient().to_string()));
    repository.seal("second", &[&one, &two]);
    assert!(repository.config().contains(&two.recipient().to_string()));
    repository.seal("third", &[&two]);
    assert!(!repository.config().contains(&one.recipient().to_string()));
    let quiet = repository.seal("fourth", &[&two]);
    let reasons: Vec<_> = quiet.sealed.iter().map(|one| one.reason).collect();
    assert_eq!(reasons, [SealReason::New]);
    assert!(quiet.edits.iter().all(|edit| edit.path.as_str() != CONFIG));
}

#[test]
fn d22b_a_configuration_that_a_person_edited_is_theirs() {
    let (one, two) = (NewIdentity::generate(), NewIdentity::generate());
    let mut repository = Repository::default();
    repository.seal("first", &[&one]);
    let edited = format!("{}# ours now\n", repository.config());
    let path = RepoPath::new(CONFIG).unwrap();
    repository.0.put(&path, edited.as_bytes());
    let outcome = repository.seal("second", &[&one, &two]);
    let told: Vec<_> = outcome.refusals().map(ToString::to_string).collect();
    assert_eq!(told.len(), 1, "the rule lacks a recipient of the target");
    assert!(told[0].contains(&two.recipient().to_string()), "{told:?}");
    assert_eq!(repository.config(), edited);
    let outcome = repository.seal("second", &[&one]);
    assert_eq!(outcome.refusals().count(), 0);
    assert_eq!(repository.config(), edited);
}

#[test]
fn d22c_what_is_written_because_nothing_proves_it_is_counted_apart() {
    let (one, two) = (NewIdentity::generate(), NewIdentity::generate());
    let mut repository = Repository::default();
    repository.seal("first", &[&one]);
    let again = repository.seal("first", &[&two]);
    let reasons: Vec<_> = again.sealed.iter().map(|one| one.reason).collect();
    assert_eq!(
        reasons,
        [SealReason::Unproven],
        "neither a key nor a fingerprint"
    );
    assert_eq!(again.counts().sealed, 1);
    let mut plain = Repository::default();
    let path = RepoPath::new("live/team/secrets/first.yaml").unwrap();
    let text = "apiVersion: v1\nkind: Secret\nmetadata: {name: first, namespace: team}\ndata: {password: b2xk}\n";
    plain.0.put(&path, text.as_bytes());
    let replaced = plain.seal("first", &[&one]);
    let reasons: Vec<_> = replaced.sealed.iter().map(|one| one.reason).collect();
    assert_eq!(reasons, [SealReason::Replaced]);
}

#[test]
fn d22b_a_configuration_that_cannot_be_read_is_not_taken_for_none() {
    let one = NewIdentity::generate();
    let texts: [&[u8]; 3] = [
        b"creation_rules: {}\n",
        b"creation_rules: [\n",
        &[0xff, 0xfe],
    ];
    for text in texts {
        let mut repository = Repository::default();
        repository
            .0
            .put(&RepoPath::new(".sops.yaml").unwrap(), text);
        let outcome = repository.seal("first", &[&one]);
        let told: Vec<_> = outcome.refusals().map(ToString::to_string).collect();
        assert!(
            told.len() == 1 && told[0].contains(".sops.yaml"),
            "{told:?}"
        );
        assert!(outcome.edits.is_empty());
    }
}
