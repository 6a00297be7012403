use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use manifests::plan::Defaults;
use manifests::{Decision, Folder, Intent, Mode, Policy, TypeCatalog, plan, yaml};
use model::sanitize::sanitize;
use model::{FilesInMemory, FolderPath, LiveObject, RepoPath, ServedType, TypeId};
use serde_json::Value;
use testkit::{ControlPlane, wait};

use super::compare::{is_complete, is_empty};
use super::{Answers, Exchange, PATH};
use crate::repository;

/// What people write of every kind that they write, shared with the tests of `manifests`.
const DOCUMENTS: &str = "controllers/manifests/tests/data/defaults/documents.yaml";

fn file(path: &str) -> String {
    fs::read_to_string(repository::root().join(path)).unwrap()
}

/// Plans objects on one file, and returns what would change: the name and kind of each object that differs, and
/// the diff.
fn differences(
    text: &str,
    objects: &[(ServedType, Value)],
    defaults: Defaults,
) -> (Vec<String>, String) {
    let path = RepoPath::new("live/all.yaml").unwrap();
    let files = FilesInMemory::from_iter([(path, text.as_bytes())]);
    let catalog: TypeCatalog = objects.iter().map(|(served, _)| served).collect();
    let mut policy = Policy::new(FolderPath::new("live").unwrap(), catalog);
    policy.defaults = defaults;
    let intents: Vec<Intent> = objects
        .iter()
        .map(|(served, object)| {
            let live = LiveObject {
                served: Arc::new(served.clone()),
                value: object.as_object().unwrap().clone(),
            };
            Intent::Upsert(Arc::new(sanitize(&live).unwrap()))
        })
        .collect();
    let mut folder = Folder::new(policy.folder.clone());
    let tree = files.tree();
    let outcome = plan(&mut folder, tree, &intents, &policy, Mode::Apply, None).unwrap();
    assert_eq!(outcome.decisions.len(), objects.len());
    let different = outcome
        .decisions
        .iter()
        .filter(|decided| decided.decision != Decision::NoChange)
        .map(|decided| format!("{}: {:?}", decided.id, decided.decision))
        .collect();
    (different, outcome.diff(files.tree()).unwrap())
}

#[test]
fn d27_the_record_is_what_the_api_server_answers() {
    let control_plane = ControlPlane::start().unwrap();
    let answers = Answers::of(&control_plane).unwrap();
    let recorded = answers.record().unwrap();
    let committed = file(PATH);
    let differs: Vec<&str> = recorded
        .lines()
        .filter(|line| !committed.lines().any(|other| other == *line))
        .take(10)
        .collect();
    assert!(
        recorded == committed,
        "run `cargo xtask generate` and look at what it changes: {differs:#?}"
    );
    let mut failed = Vec::new();
    for (kind, exchanges) in &answers.exchanges {
        let served = ServedType {
            type_id: TypeId::new(kind.group.as_str(), kind.resource.as_str()),
            version: kind.version.clone(),
            kind: kind.kind.clone(),
            namespaced: kind.namespaced,
            sensitive: false,
        };
        // What lacks something required, or holds what its other parts exclude, is no object that can exist.
        let possible = |exchange: &&Exchange| {
            is_complete(&exchange.returned) && keeps(&exchange.sent, &exchange.returned)
        };
        for exchange in exchanges.iter().filter(possible) {
            let text = serde_json::to_string(&exchange.sent).unwrap();
            let objects = [(served.clone(), exchange.returned.clone())];
            let (different, diff) = differences(&text, &objects, Defaults::builtin());
            if !different.is_empty() {
                failed.push(format!("{different:?}\n{diff}"));
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// Says whether everything came back that has content.
fn keeps(sent: &Value, returned: &Value) -> bool {
    match (sent, returned) {
        (Value::Object(sent), Value::Object(returned)) => {
            sent.iter().all(|(key, sent)| match returned.get(key) {
                Some(returned) => keeps(sent, returned),
                None => is_empty(sent),
            })
        }
        (Value::Array(sent), Value::Array(returned)) => sent
            .iter()
            .zip(returned)
            .all(|(sent, returned)| keeps(sent, returned)),
        _ => true,
    }
}

#[test]
fn d27_what_people_write_comes_back_without_a_difference() {
    let control_plane = ControlPlane::start().unwrap();
    let kubectl = control_plane.as_admin().unwrap();
    kubectl.run(&["create", "namespace", "team-a"]).unwrap();
    let text = file(DOCUMENTS);
    let (custom, builtin): (Vec<&str>, Vec<&str>) = text
        .split("---\n")
        .partition(|document| document.contains("apiVersion: example.com/"));
    let builtin = builtin.join("---\n");
    let custom = custom.join("---\n");
    kubectl.apply(&builtin).unwrap();
    let established = [
        "wait",
        "crd/widgets.example.com",
        "--for=condition=Established",
    ];
    kubectl.run(&established).unwrap();
    kubectl.apply(&custom).unwrap();
    let get = ["get", "-f", "-", "-o", "json", "--show-managed-fields"];
    let live = kubectl.run_with_input(&get, &text).unwrap();
    let live: Value = serde_json::from_str(&live).unwrap();
    let resources = resources(&kubectl);
    let objects: Vec<(ServedType, Value)> = live["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|object| (resources[&key(object)].clone(), object.clone()))
        .collect();
    assert_eq!(objects.len(), yaml::values(&text).unwrap().len());
    let mut defaults = Defaults::builtin();
    for (_, object) in &objects {
        defaults.add_crd(object);
    }
    let (different, diff) = differences(&text, &objects, defaults.clone());
    assert!(different.is_empty(), "{different:#?}\n{diff}");
    let by_schema = custom_defaults(&kubectl, &resources[&widget()]);
    assert_eq!(by_schema, defaults, "the schema says what the CRD says");
}

fn widget() -> (String, String) {
    ("example.com/v1".to_owned(), "Widget".to_owned())
}

/// Returns the defaults with those of a custom kind, read from the API server's OpenAPI document.
fn custom_defaults(kubectl: &testkit::Kubectl, served: &ServedType) -> Defaults {
    let path = format!("/openapi/v3/apis/{}", served.api_version());
    let document = wait::until("the schema of the kind", wait::GENEROUS, || {
        let document: Value = serde_json::from_str(&kubectl.get_raw(&path).ok()?).ok()?;
        document.pointer("/components/schemas").cloned()
    });
    let schemas = document.unwrap();
    let of_the_kind = |schema: &&Value| {
        schema.pointer("/x-kubernetes-group-version-kind/0/kind")
            == Some(&served.kind.as_str().into())
    };
    let schema = schemas.as_object().unwrap().values().find(of_the_kind);
    let mut defaults = Defaults::builtin();
    defaults.add_schema(&served.type_id, &served.version, schema.unwrap());
    defaults
}

fn key(object: &Value) -> (String, String) {
    let text = |key: &str| object[key].as_str().unwrap().to_owned();
    (text("apiVersion"), text("kind"))
}

/// Returns the types that the API server serves, by API version and kind.
fn resources(kubectl: &testkit::Kubectl) -> BTreeMap<(String, String), ServedType> {
    let printed = kubectl
        .run(&["api-resources", "--no-headers", "--cached=false"])
        .unwrap();
    printed
        .lines()
        .map(|line| {
            let columns: Vec<&str> = line.split_whitespace().collect();
            let [kind, namespaced, api_version] =
                [1, 2, 3].map(|from_end| columns[columns.len() - from_end]);
            let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
            let served = ServedType {
                type_id: TypeId::new(group, columns[0]),
                version: version.to_owned(),
                kind: kind.to_owned(),
                namespaced: namespaced == "true",
                sensitive: false,
            };
            ((api_version.to_owned(), kind.to_owned()), served)
        })
        .collect()
}
