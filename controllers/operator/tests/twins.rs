//! What `plan --write` does to a folder on disk is what the branch writer pushes, on cases of every rule of plain folders
//! and of those that kustomize builds.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a test reports a failure by panicking, and runs the command that it compares with"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use board::DirectoryWriter;
use board::metrics::Registrar;
use branch::cycle::{Catalogs, Keyring, Workshop};
use branch::metrics::Metrics;
use branch::shell::Surroundings;
use branch::{
    BranchActor, BranchIdentity, BranchMessage, CommitWindow, SystemClock, TargetConfig, Turns,
};
use manifests::plan::Policy;
use manifests::{Encryption, Intent, PruneMode, TypeCatalog};
use model::{
    Author, BranchName, Change, Collection, Delivery, GitBranchKey, GitProviderKey, Namespace,
    ObjectName, Operation, RepositoryUrl, ResourceId, Scope, Selector, ServedType, Signature,
    Snapshot, TargetKey,
};
use proof::built;
use proof::dice::Dice;
use proof::rows::case::{Case, FOLDER};
use proof::rows::{self, Proof, Row, keyring};
use repository::{Credential, Endpoint, HostKeyTrust, Limits, ProxyPolicy, Remote, TlsTrust};
use sealing::SealedDocument;
use serde_json::{Value, json};
use testkit::GitServer;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

/// Cases of each row unless `TWIN_CASES` says another number; the judge of the rows looks at many more.
const CASES: usize = 1;
/// What the operator brings into a new folder and `plan` does not (D57).
const BOOTSTRAP: [&str; 3] = ["README.md", ".gittargetignore", ".sops.yaml"];

/// The kinds of the rows that Kubernetes does not have.
const DEFINITIONS: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions:
  - {name: v1alpha1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tenantsecrets.core.cozystack.io}
spec:
  group: core.cozystack.io
  scope: Namespaced
  names: {kind: TenantSecret, plural: tenantsecrets}
  versions:
  - {name: v1alpha1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: rollouts.argoproj.io}
spec:
  group: argoproj.io
  scope: Namespaced
  names: {kind: Rollout, plural: rollouts}
  versions:
  - {name: v1alpha1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: zones.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {kind: Zone, plural: zones}
  versions:
  - {name: v1alpha1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
";

/// The files of a tree by their paths.
type Tree = BTreeMap<String, Vec<u8>>;

#[test]
fn preview_deed_and_branch_writer_make_the_same_tree() {
    let all: [(&str, Vec<Row>); 11] = [
        ("editing", rows::editing()),
        ("placing", rows::placing()),
        ("namespaces", rows::namespaces()),
        ("deleting", rows::deleting()),
        ("sharing", rows::sharing()),
        ("tokens", rows::tokens()),
        ("templates", rows::templates()),
        ("sealed-new", rows::sealed_and_new()),
        ("sealed-held", rows::sealed_and_held()),
        ("style", rows::style()),
        ("repeating", rows::repeating()),
    ];
    let wanted = wanted();
    let drawn = all.into_iter().flat_map(|(section, rows)| {
        let rows = rows.into_iter().enumerate();
        rows.map(move |(number, row)| (format!("{section}-{number}"), cases(&row, wanted)))
    });
    compare_all(drawn);
}

#[test]
fn preview_deed_and_branch_writer_make_the_same_tree_of_what_is_built() {
    let all: [(&str, Vec<built::Row>); 8] = [
        ("images", built::images()),
        ("replicas", built::replicas()),
        ("generators", built::generators()),
        ("context", built::context()),
        ("namespaces", built::namespaces()),
        ("listing", built::listing()),
        ("absence", built::absence()),
        ("mixed", built::mixed()),
    ];
    let wanted = wanted();
    let drawn = all.into_iter().flat_map(|(section, rows)| {
        let rows = rows.into_iter().enumerate();
        rows.map(move |(number, row)| (format!("{section}-{number}"), built_cases(&row, wanted)))
    });
    compare_all(drawn);
}

fn wanted() -> usize {
    std::env::var("TWIN_CASES").map_or(CASES, |text| text.parse().unwrap())
}

/// Compares what both make of cases, each of which has a title.
fn compare_all(drawn: impl Iterator<Item = (String, Vec<Case>)>) {
    let branch = Writer::start();
    let (mut compared, mut changed) = (0, 0);
    for (title, cases) in drawn {
        for (at, case) in cases.iter().enumerate() {
            let title = format!("{title}-{at}");
            let before = tree_of(case);
            let on_disk = written_by_plan(case, &before, &title);
            let pushed = branch.push(case, &before, &title);
            compare(&title, &on_disk, &pushed);
            compared += 1;
            changed += usize::from(pushed != before);
        }
    }
    println!("{compared} cases, {changed} of them with a change");
    assert!(changed * 2 > compared, "most cases change something");
}

/// Draws the cases of a row of folders that are built.
fn built_cases(row: &built::Row, wanted: usize) -> Vec<Case> {
    let mut dice = Dice::of(row.rules.as_bytes());
    let drawn = (0..200).filter_map(|_| (row.draw)(&mut Dice::new(dice.number())));
    let cases = drawn.map(|case| case.told().unwrap());
    cases.take(wanted).collect()
}

/// Draws the cases of a row whose intents can be told from outside.
fn cases(row: &Row, wanted: usize) -> Vec<Case> {
    let Proof::Drawn(draw) = row.proof else {
        return Vec::new();
    };
    let mut dice = Dice::of(row.rules.as_bytes());
    let mut found = Vec::new();
    for _ in 0..200 {
        if found.len() == wanted {
            break;
        }
        let case = draw(&mut Dice::new(dice.number()));
        let told = |case: &Case| {
            // What is protected is left out before a plan, for reasons that an identity does not tell.
            let tells = |intent: &Intent| match intent {
                Intent::Upsert(_) | Intent::Remove { .. } => true,
                Intent::Sweep { protected, .. } => protected.is_empty(),
                Intent::Replay(_) => false,
            };
            case.intents.iter().all(tells) && case.policy.applier.is_none()
        };
        found.extend(case.filter(told));
    }
    found
}

fn tree_of(case: &Case) -> Tree {
    let mut tree = Tree::from([("above.txt".to_owned(), b"not ours\n".to_vec())]);
    let files = case.before.tree().files;
    for path in files.paths() {
        if let Some(bytes) = case.before.bytes(&path) {
            tree.insert(path.to_string(), bytes.to_vec());
        }
    }
    tree
}

/// Fails where two trees differ; what is sealed is opened first.
fn compare(title: &str, on_disk: &Tree, pushed: &Tree) {
    let paths = |tree: &Tree| tree.keys().cloned().collect::<Vec<_>>();
    assert_eq!(paths(on_disk), paths(pushed), "{title}: the files");
    for (path, ours) in on_disk {
        let theirs = &pushed[path];
        assert!(
            ours == theirs || opened(ours).is_some_and(|ours| Some(ours) == opened(theirs)),
            "{title}: {path}\n--- plan --write\n{}\n--- the branch\n{}",
            String::from_utf8_lossy(ours),
            String::from_utf8_lossy(theirs),
        );
    }
}

fn opened(bytes: &[u8]) -> Option<Value> {
    let document = SealedDocument::read(std::str::from_utf8(bytes).ok()?).ok()?;
    let open = document.open(&keyring::identities()).ok()?;
    Some(Value::Object(open.plaintext().expose().clone()))
}

/// Lets the command change a copy of the tree, one call for each batch, and returns the copy.
fn written_by_plan(case: &Case, before: &Tree, title: &str) -> Tree {
    let place = tempfile::tempdir().unwrap();
    let repository = place.path().join("repository");
    for (path, bytes) in before {
        let file = repository.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, bytes).unwrap();
    }
    let put = |name: &str, text: &str| fs::write(place.path().join(name), text).unwrap();
    put("crds.yaml", DEFINITIONS);
    put("target.json", &target(&case.policy).to_string());
    put("key.txt", &keyring::entry());
    for batch in batches(&case.intents) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gitops-reverser"));
        command
            .current_dir(place.path())
            .env("PATH", "/nonexistent")
            .args(["plan", "--repository", "repository", "--path", FOLDER])
            .args(["--crds", "crds.yaml", "--target", "target.json", "--write"]);
        // Named only where there is one: a target without routes for them is refused beside a path of many.
        if holds_custom_secrets(case) {
            command.args(["--sensitive", "core.cozystack.io/tenantsecrets"]);
        }
        if keyring::encryption(case.keys).is_some() {
            command.args(["--age-identity", "key.txt"]);
        }
        match batch {
            Batch::Window(intents) => {
                let (mut live, mut gone) = (Vec::new(), Vec::new());
                for intent in intents {
                    match intent {
                        Intent::Upsert(object) => live.push(Value::Object(object.value().clone())),
                        Intent::Remove { id } => gone.push(remains(&case.policy.catalog, id)),
                        Intent::Sweep { .. } | Intent::Replay(_) => {}
                    }
                }
                put("live.json", &list(live));
                put("gone.json", &list(gone));
                command.args(["--upsert", "live.json", "--remove", "gone.json"]);
            }
            Batch::Sweep(collection, intent) => {
                let Intent::Sweep { objects, .. } = intent else {
                    continue;
                };
                let objects = objects
                    .iter()
                    .map(|object| Value::Object(object.value().clone()));
                put("seen.json", &list(objects.collect()));
                let collection = spelled(collection);
                command.args(["--snapshot", "seen.json", "--collection", &collection]);
            }
        }
        let output = command.output().unwrap();
        let code = output.status.code().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!([0, 3].contains(&code), "{title}: {code}: {errors}");
    }
    let mut after = Tree::new();
    read_below(&repository, &repository, &mut after);
    after
}

fn holds_custom_secrets(case: &Case) -> bool {
    let is_one = |id: &ResourceId| &*id.type_id.resource == "tenantsecrets";
    let told = case.intents.iter().any(|intent| match intent {
        Intent::Upsert(object) => is_one(object.id()),
        Intent::Remove { id } => is_one(id),
        Intent::Sweep { collection, .. } => &*collection.type_id.resource == "tenantsecrets",
        Intent::Replay(_) => false,
    });
    told || case
        .values
        .values()
        .any(|value| value["kind"] == "TenantSecret")
}

/// What reaches the planner in one call.
enum Batch<'a> {
    Window(Vec<&'a Intent>),
    Sweep(&'a Collection, &'a Intent),
}

fn batches(intents: &[Intent]) -> Vec<Batch<'_>> {
    let mut batches = Vec::new();
    for intent in intents {
        match (intent, batches.last_mut()) {
            (Intent::Sweep { collection, .. }, _) => batches.push(Batch::Sweep(collection, intent)),
            (_, Some(Batch::Window(window))) => window.push(intent),
            _ => batches.push(Batch::Window(vec![intent])),
        }
    }
    batches
}

fn list(items: Vec<Value>) -> String {
    json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string()
}

/// Returns what tells which object is gone.
fn remains(catalog: &TypeCatalog, id: &ResourceId) -> Value {
    let served = served(catalog, id);
    json!({
        "apiVersion": served.api_version(), "kind": served.kind,
        "metadata": {"name": id.name, "namespace": id.namespace},
    })
}

fn served(_: &TypeCatalog, id: &ResourceId) -> ServedType {
    let kinds = rows::objects::Kind::ALL.iter().map(|kind| kind.served());
    let found = kinds
        .into_iter()
        .find(|served| served.type_id == id.type_id);
    found.unwrap_or_else(|| panic!("{id} is of no kind of the rows"))
}

fn spelled(collection: &Collection) -> String {
    let kind = &collection.type_id;
    let mut text = kind.resource.to_string();
    if !kind.group.is_empty() {
        text = format!("{text}.{}", kind.group);
    }
    if let Scope::Namespace(namespace) = &collection.scope {
        text = format!("{text}@{namespace}");
    }
    text
}

/// Returns the settings of a policy as a GitTarget.
fn target(policy: &Policy) -> Value {
    let placement = serde_json::to_value(&policy.placement).unwrap();
    let mut spec = json!({"path": FOLDER, "prune": {"mode": prune(policy.prune)}, "placement": {}});
    for (field, name) in [("by_type", "byType"), ("default", "default")] {
        if !placement[field].is_null() {
            spec["placement"][name] = placement[field].clone();
        }
    }
    if let Some(use_kustomize) = policy.placement.use_kustomize() {
        spec["placement"]["useKustomize"] = use_kustomize.into();
    }
    if let Some(serialize) = policy.serialize_namespace {
        spec["serializeNamespace"] = serialize.into();
    }
    json!({
        "apiVersion": "configbutler.ai/v1alpha3", "kind": "GitTarget",
        "metadata": {"name": "apps"}, "spec": spec,
    })
}

fn prune(mode: PruneMode) -> &'static str {
    match mode {
        PruneMode::Never => "Never",
        PruneMode::OnEvent => "OnEvent",
        PruneMode::Always => "Always",
    }
}

fn read_below(root: &Path, folder: &Path, into: &mut Tree) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.ends_with(".git") {
            continue;
        }
        if path.is_dir() {
            read_below(root, &path, into);
        } else {
            let name = path
                .strip_prefix(root)
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned();
            into.insert(name, fs::read(&path).unwrap());
        }
    }
}

/// A Git server, and branch writers that push to it.
struct Writer {
    git: GitServer,
    runtime: Runtime,
    metrics: Metrics,
}

/// What a target has beside its settings.
struct Around {
    catalog: Arc<TypeCatalog>,
    encryption: Option<Arc<Encryption>>,
}

impl Catalogs for Around {
    fn of(&self, _: &TargetKey) -> Arc<TypeCatalog> {
        Arc::clone(&self.catalog)
    }
}

impl Keyring for Around {
    fn encryption(&self, _: &TargetKey) -> Option<Arc<Encryption>> {
        self.encryption.clone()
    }
}

fn name(text: &str) -> (Namespace, ObjectName) {
    (
        Namespace::new("team-a").unwrap(),
        ObjectName::new(text).unwrap(),
    )
}

impl Writer {
    fn start() -> Self {
        let _installed = rustls::crypto::ring::default_provider().install_default();
        let mut registrar = Registrar::new("test");
        let metrics = Metrics::register(&mut registrar, &DirectoryWriter::new().reader()).unwrap();
        Self {
            git: GitServer::start().unwrap(),
            runtime: Runtime::new().unwrap(),
            metrics,
        }
    }

    /// Lets a branch writer do what happened, and returns what is on its branch then.
    fn push(&self, case: &Case, before: &Tree, title: &str) -> Tree {
        let repository = self.git.create_repository(title).unwrap();
        let files: Vec<(&str, &str)> = before
            .iter()
            .map(|(path, bytes)| (path.as_str(), std::str::from_utf8(bytes).unwrap()))
            .collect();
        repository.seed(&files).unwrap();
        let unpublished = self.runtime.block_on(self.write(case, title));
        assert_eq!(unpublished, 0, "{title}");
        let clone = self.git.clone(title).unwrap();
        let mut tree = Tree::new();
        read_below(clone.path(), clone.path(), &mut tree);
        tree.retain(|path, _| {
            let brought = BOOTSTRAP
                .iter()
                .any(|name| *path == format!("{FOLDER}/{name}"));
            !brought || before.contains_key(path)
        });
        tree
    }

    async fn write(&self, case: &Case, title: &str) -> usize {
        let data = tempfile::tempdir().unwrap();
        let url = RepositoryUrl::new(&self.git.url(title)).unwrap();
        let (namespace, branch) = name("main");
        let key = GitBranchKey::new(namespace.clone(), branch);
        let identity = BranchIdentity {
            key: key.clone(),
            repository: url.id(),
            branch: BranchName::new("main").unwrap(),
            parent: None,
        };
        let endpoint = Endpoint {
            url,
            credential: Credential::Anonymous,
            trust: TlsTrust::System,
            host_keys: HostKeyTrust::Nobody,
            proxy: ProxyPolicy::Direct,
            limits: Limits::RECOMMENDED,
        };
        let handle = tokio::runtime::Handle::current();
        let remote: Box<dyn Remote> = endpoint.remote(handle, CancellationToken::new()).unwrap();
        let around = Arc::new(Around {
            catalog: Arc::clone(&case.policy.catalog),
            encryption: keyring::encryption(case.keys).map(Arc::new),
        });
        let catalogs: Arc<dyn Catalogs> = Arc::clone(&around) as _;
        let store = data.path().join("store");
        let workshop = Workshop::new(identity.clone(), remote, catalogs, around, &store);
        let (occurrences, _announced) = tokio::sync::mpsc::channel(1024);
        let provider = GitProviderKey::new(namespace, name("platform").1);
        let (actor, branch, _view) = BranchActor::new(
            identity,
            settings(),
            Signature::default(),
            workshop,
            Surroundings {
                clock: Arc::new(SystemClock::start()),
                occurrences,
                metrics: self.metrics.of(&key, &provider),
                recorder: None,
                journal: None,
                disk_patience: 30_000,
                sensitivity: model::Sensitivity::default(),
                turns: Arc::new(Turns::new(1, branch::turns::LONGEST)),
                spare: Box::new(|| None),
            },
        );
        let stop = CancellationToken::new();
        let mut actors = tokio::task::JoinSet::new();
        actors.spawn(actor.run(stop.clone()));
        let configure = BranchMessage::ConfigureTarget(Box::new(config(&case.policy)));
        branch.tell(configure).await.unwrap();
        for intent in &case.intents {
            tell(&branch, case, intent).await;
        }
        stop.cancel();
        actors.join_next().await.unwrap().unwrap()
    }
}

async fn tell(branch: &branch::BranchHandle, case: &Case, intent: &Intent) {
    let target = config(&case.policy).key;
    let deliver = |id: &ResourceId, change| Delivery {
        target: target.clone(),
        collection: Collection {
            type_id: id.type_id.clone(),
            scope: Scope::Cluster,
            selector: Selector::everything(),
        },
        change,
        author: Author::Operator,
    };
    match intent {
        Intent::Upsert(object) => {
            let change = Change::Upsert {
                object: Arc::clone(object),
                operation: Operation::Update,
            };
            branch.offer(deliver(object.id(), change)).await.unwrap();
        }
        Intent::Remove { id } => {
            let change = Change::Remove {
                id: id.clone(),
                served: Arc::new(served(&case.policy.catalog, id)),
                resource_version: "9".to_owned(),
            };
            branch.offer(deliver(id, change)).await.unwrap();
        }
        Intent::Sweep {
            collection,
            objects,
            protected,
        } => {
            let kinds = rows::objects::Kind::ALL.iter().map(|kind| kind.served());
            let served = kinds
                .into_iter()
                .find(|served| served.type_id == collection.type_id)
                .unwrap();
            let snapshot = Snapshot {
                target,
                collection: collection.clone(),
                served: Arc::new(served),
                objects: objects.clone(),
                protected: protected.clone(),
                resource_version: "9".to_owned(),
            };
            branch.snapshot(snapshot).await.unwrap();
        }
        Intent::Replay(_) => {}
    }
}

fn config(policy: &Policy) -> TargetConfig {
    let (namespace, name) = name("apps");
    TargetConfig {
        key: TargetKey::new(namespace, name),
        folder: policy.folder.clone(),
        window: CommitWindow {
            idle: 60_000,
            longest: 60_000,
        },
        prune: policy.prune,
        serialize_namespace: policy.serialize_namespace,
        placement: policy.placement.clone(),
        wording: branch::message_text::Wording::default(),
        encryption: None,
        suspended: false,
    }
}

fn settings() -> branch::Settings {
    branch::Settings {
        buffer_limit: 64 << 20,
        item_charge: 1024,
        push_cooldown: 0,
        retry_first: 500,
        retry_longest: 2_000,
        refresh_interval: None,
        cycle_budget: 60_000,
        jitter_seed: 1,
    }
}
