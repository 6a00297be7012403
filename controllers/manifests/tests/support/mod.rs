//! A folder and a cluster to try things on: files by path, live objects as YAML, and what a plan makes of them.
#![allow(dead_code, reason = "each test program uses a part")]

use std::collections::BTreeSet;
use std::sync::Arc;

use manifests::folder::built_in_types;
use manifests::plan::ObjectDecision;
use manifests::{
    Decision, Encryption, FileContent, Folder, Intent, Mode, Outcome, Placement, Policy, Sealing,
    TypeCatalog, plan,
};
use model::sanitize::sanitize;
use model::{
    Collection, DesiredObject, FileEntry, FilesInMemory, FolderPath, LeftOut, LiveObject,
    Namespace, ObjectName, Refusal, RepoPath, ResourceId, Scope, Selector, Sensitivity, ServedType,
    TypeId,
};
use sealing::{FingerprintKey, NewIdentity};

/// The folder of every test.
pub(crate) const FOLDER: &str = "apps";

/// A repository with one folder, and how its target wants it.
#[derive(Clone)]
pub(crate) struct Bed {
    pub(crate) files: FilesInMemory,
    pub(crate) policy: Policy,
    pub(crate) encryption: Option<Encryption>,
    pub(crate) types: Vec<ServedType>,
    draws: u64,
}

impl Bed {
    /// An empty repository; Secrets are the only sensitive type.
    pub(crate) fn new() -> Self {
        Self::with_sensitive(&[])
    }

    /// An empty repository whose operator knows more sensitive types.
    pub(crate) fn with_sensitive(entries: &[&str]) -> Self {
        let sensitivity = Sensitivity::parse(entries.iter().copied()).unwrap();
        let mut types = built_in_types(&sensitivity);
        types.push(custom("example.org", "widgets", "Widget", &sensitivity));
        types.push(custom(
            "core.cozystack.io",
            "tenantsecrets",
            "TenantSecret",
            &sensitivity,
        ));
        let catalog = types.iter().collect::<TypeCatalog>();
        Self {
            files: FilesInMemory::default(),
            policy: Policy::new(FolderPath::new(FOLDER).unwrap(), catalog),
            encryption: None,
            types,
            draws: 0,
        }
    }

    pub(crate) fn put(&mut self, path: &str, text: &str) {
        self.files.put(&path_of(path), text.as_bytes());
    }

    pub(crate) fn put_entry(&mut self, path: &str, entry: FileEntry) {
        self.files.put_entry(&path_of(path), entry);
    }

    pub(crate) fn remove(&mut self, path: &str) {
        self.files.remove(&path_of(path));
    }

    pub(crate) fn with(mut self, path: &str, text: &str) -> Self {
        self.put(path, text);
        self
    }

    /// Declares templates by type.
    pub(crate) fn placed<const N: usize>(mut self, by_type: [(&str, &str); N]) -> Self {
        let read = Placement::read(by_type, None, None, &Sensitivity::default());
        self.policy.placement = read.unwrap();
        self
    }

    /// Seals for the person, who also holds the private key.
    pub(crate) fn sealed_for(mut self, key: &NewIdentity) -> Self {
        self.encryption = Some(encryption(key));
        self
    }

    /// Returns the text of a file.
    pub(crate) fn text(&self, path: &str) -> &str {
        self.find(path).unwrap()
    }

    pub(crate) fn find(&self, path: &str) -> Option<&str> {
        let bytes = self.files.bytes(&path_of(path))?;
        Some(std::str::from_utf8(bytes).unwrap())
    }

    /// Returns every path.
    pub(crate) fn paths(&self) -> Vec<String> {
        let paths = self.files.files.paths();
        paths.iter().map(ToString::to_string).collect()
    }

    /// Reads a live object as a watch delivers it.
    pub(crate) fn live(&self, yaml: &str) -> LiveObject {
        let value = manifests::yaml::values(yaml).unwrap().remove(0);
        let api_version = value["apiVersion"].as_str().unwrap();
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        let kind = value["kind"].as_str().unwrap();
        let served = self
            .types
            .iter()
            .find(|served| *served.type_id.group == *group && served.kind == kind)
            .unwrap();
        let mut served = served.clone();
        served.version = api_version.rsplit('/').next().unwrap().to_owned();
        LiveObject {
            served: Arc::new(served),
            value: value.as_object().unwrap().clone(),
        }
    }

    pub(crate) fn desired(&self, yaml: &str) -> Arc<DesiredObject> {
        Arc::new(sanitize(&self.live(yaml)).unwrap())
    }

    pub(crate) fn left_out(&self, yaml: &str) -> LeftOut {
        sanitize(&self.live(yaml)).unwrap_err()
    }

    pub(crate) fn upsert(&self, yaml: &str) -> Intent {
        Intent::Upsert(self.desired(yaml))
    }

    /// The whole collection of a namespace, as a snapshot tells it.
    pub(crate) fn sweep(
        &self,
        type_id: TypeId,
        objects: &[&str],
        protected: Vec<ResourceId>,
    ) -> Intent {
        Intent::Sweep {
            collection: Collection {
                type_id,
                scope: Scope::Namespace(Namespace::new("demo").unwrap()),
                selector: Selector::everything(),
            },
            objects: objects.iter().map(|yaml| self.desired(yaml)).collect(),
            protected,
        }
    }

    pub(crate) fn plan(&mut self, intents: &[Intent], mode: Mode) -> Outcome {
        self.draws += 1;
        let mut state = self.draws << 32;
        let mut random = move |bytes: &mut [u8]| {
            for byte in bytes {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                *byte = state.to_be_bytes()[0];
            }
        };
        let sealing = self.encryption.as_ref().map(|encryption| Sealing {
            encryption,
            random: &mut random,
            now: 1_795_996_800_000 + self.draws * 1000,
        });
        let mut folder = Folder::new(self.policy.folder.clone());
        plan(
            &mut folder,
            self.files.tree(),
            intents,
            &self.policy,
            mode,
            sealing,
        )
        .unwrap()
    }

    /// Plans and commits. A preview decides the same, and a second application changes nothing.
    pub(crate) fn apply(&mut self, intents: &[Intent]) -> Outcome {
        let preview = self.plan(intents, Mode::Preview);
        let outcome = self.plan(intents, Mode::Apply);
        assert_eq!(preview.decisions, outcome.decisions);
        for edit in &outcome.edits {
            match &edit.content {
                FileContent::Plain(bytes) => self.files.put(&edit.path, bytes.as_slice()),
                FileContent::Sealed(bytes) => self.files.put(&edit.path, bytes.as_bytes()),
                FileContent::Removed => self.files.remove(&edit.path),
            }
        }
        let again = self.plan(intents, Mode::Apply);
        assert!(
            again.is_empty(),
            "{}",
            again.diff(self.files.tree()).unwrap()
        );
        outcome
    }

    /// Mirrors one live object and returns the lines that go and come, marked as in a diff.
    pub(crate) fn mirror(&mut self, yaml: &str) -> Vec<String> {
        let before = self.clone();
        let intent = self.upsert(yaml);
        let outcome = self.apply(&[intent]);
        let refusal = outcome.refusals().next();
        assert!(refusal.is_none(), "{}", refusal.unwrap());
        changed_lines(&before, self)
    }

    /// Mirrors one live object that is refused, and proves that no byte changed.
    pub(crate) fn refused(&mut self, yaml: &str) -> Refusal {
        let before = self.clone();
        let intent = self.upsert(yaml);
        let outcome = self.apply(&[intent]);
        assert_eq!(changed_lines(&before, self), Vec::<String>::new());
        let mut refusals = outcome.refusals();
        let refusal = refusals.next().unwrap().clone();
        assert_eq!(refusals.next(), None);
        assert!(!refusal.message.is_empty() && !refusal.remedy.is_empty());
        refusal
    }
}

/// Seals for the person, who also holds the private key; the operator has its fingerprint key.
pub(crate) fn encryption(key: &NewIdentity) -> Encryption {
    Encryption {
        recipients: BTreeSet::from([key.recipient()]),
        identities: Arc::new(key.identities()),
        fingerprint_key: FingerprintKey::new(&[7; FingerprintKey::BYTES]),
    }
}

fn custom(group: &str, resource: &str, kind: &str, sensitivity: &Sensitivity) -> ServedType {
    let type_id = TypeId::new(group, resource);
    ServedType {
        sensitive: sensitivity.is_sensitive(&type_id),
        type_id,
        version: "v1".to_owned(),
        kind: kind.to_owned(),
        namespaced: true,
    }
}

pub(crate) fn path_of(path: &str) -> RepoPath {
    RepoPath::new(path).unwrap()
}

pub(crate) fn id(group: &str, resource: &str, name: &str) -> ResourceId {
    ResourceId {
        type_id: TypeId::new(group, resource),
        namespace: Some(Namespace::new("demo").unwrap()),
        name: ObjectName::new(name).unwrap(),
    }
}

/// Returns the only decision.
pub(crate) fn decision(outcome: &Outcome) -> &Decision {
    let [ObjectDecision { decision, .. }] = outcome.decisions.as_slice() else {
        panic!("{:?}", outcome.decisions);
    };
    decision
}

/// Returns the lines that go and come between two states of all files, marked as in a diff.
pub(crate) fn changed_lines(before: &Bed, after: &Bed) -> Vec<String> {
    let paths: BTreeSet<String> = before.paths().into_iter().chain(after.paths()).collect();
    let mut lines = Vec::new();
    for path in paths {
        let old = before.find(&path).unwrap_or_default();
        let new = after.find(&path).unwrap_or_default();
        let diff = similar::TextDiff::from_lines(old, new);
        lines.extend(
            diff.iter_all_changes()
                .filter(|change| change.tag() != similar::ChangeTag::Equal)
                .map(|change| {
                    format!(
                        "{}{}",
                        change.tag(),
                        change.value().trim_end_matches(['\n', '\r'])
                    )
                }),
        );
    }
    lines
}

/// Returns the line of a text that holds the words, counted from 1.
pub(crate) fn line_of(text: &str, words: &str) -> u32 {
    let found = text.lines().position(|line| line.contains(words));
    u32::try_from(found.unwrap()).unwrap() + 1
}
