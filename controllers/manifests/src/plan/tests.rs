use std::sync::Arc;

use model::sanitize::sanitize;
use model::{
    Collection, DesiredObject, FilesInMemory, FolderPath, IssueKind, LiveObject, Namespace,
    ObjectName, RefusalCode, RefusalScope, RepoPath, ResourceId, Scope, Selector, ServedType,
    TypeId,
};
use serde_json::{Value, json};

use super::*;
use crate::TypeCatalog;

fn served(group: &str, resource: &str, kind: &str) -> ServedType {
    ServedType {
        type_id: TypeId::new(group, resource),
        version: "v1".to_owned(),
        kind: kind.to_owned(),
        namespaced: !matches!(kind, "Namespace" | "ClusterRole"),
        sensitive: kind == "Secret",
    }
}

fn types() -> Vec<ServedType> {
    vec![
        served("", "configmaps", "ConfigMap"),
        served("", "secrets", "Secret"),
        served("", "services", "Service"),
        served("apps", "deployments", "Deployment"),
        served("rbac.authorization.k8s.io", "clusterroles", "ClusterRole"),
    ]
}

pub(super) fn policy() -> Policy {
    Policy::new(
        FolderPath::new("live").unwrap(),
        types().iter().collect::<TypeCatalog>(),
    )
}

pub(super) fn files(entries: &[(&str, &str)]) -> FilesInMemory {
    entries
        .iter()
        .map(|(path, text)| (RepoPath::new(*path).unwrap(), text.as_bytes()))
        .collect()
}

/// Plans on a folder that was never read before.
pub(super) fn plan(
    files: &FilesInMemory,
    intents: &[Intent],
    policy: &Policy,
    mode: Mode,
) -> Outcome {
    let mut folder = Folder::new(policy.folder.clone());
    super::plan(&mut folder, files.tree(), intents, policy, mode, None).unwrap()
}

/// Sanitises a live object.
pub(super) fn object(value: Value) -> Arc<DesiredObject> {
    let kind = value["kind"].as_str().unwrap();
    let served = types()
        .into_iter()
        .find(|served| served.kind == kind)
        .unwrap();
    let live = LiveObject {
        served: Arc::new(served),
        value: value.as_object().unwrap().clone(),
    };
    Arc::new(sanitize(&live).unwrap())
}

pub(super) fn config_map(name: &str, data: Value) -> Arc<DesiredObject> {
    object(json!({
        "apiVersion": "v1", "kind": "ConfigMap", "data": data,
        "metadata": {"name": name, "namespace": "team-a", "uid": "u", "resourceVersion": "1"},
    }))
}

fn id(name: &str) -> ResourceId {
    ResourceId {
        type_id: TypeId::new("", "configmaps"),
        namespace: Some(Namespace::new("team-a").unwrap()),
        name: ObjectName::new(name).unwrap(),
    }
}

fn collection() -> Collection {
    Collection {
        type_id: TypeId::new("", "configmaps"),
        scope: Scope::Namespace(Namespace::new("team-a").unwrap()),
        selector: Selector::everything(),
    }
}

pub(super) fn document(name: &str, rest: &str) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  namespace: team-a\n{rest}"
    )
}

/// Returns the line of a text that holds this, counted from 1.
pub(super) fn line_with(text: &str, content: &str) -> Option<u32> {
    let at = text.lines().position(|line| line.contains(content))?;
    u32::try_from(at + 1).ok()
}

/// Applies an outcome, as a commit would.
pub(super) fn committed(files: &FilesInMemory, outcome: &Outcome) -> FilesInMemory {
    let mut files = files.clone();
    for edit in &outcome.edits {
        match &edit.content {
            FileContent::Plain(bytes) => files.put(&edit.path, bytes.as_slice()),
            FileContent::Sealed(bytes) => files.put(&edit.path, bytes.as_bytes()),
            FileContent::Removed => files.remove(&edit.path),
        }
    }
    files
}

fn text<'a>(files: &'a FilesInMemory, path: &str) -> Option<&'a str> {
    let bytes = files.bytes(&RepoPath::new(path).unwrap())?;
    Some(std::str::from_utf8(bytes).unwrap())
}

/// Plans, proves that a second application changes nothing and that a replay gives the same bytes, and returns
/// the tree as it is committed.
fn applied(files: &FilesInMemory, intents: &[Intent], policy: &Policy) -> (Outcome, FilesInMemory) {
    let mut folder = Folder::new(policy.folder.clone());
    let outcome = super::plan(
        &mut folder,
        files.tree(),
        intents,
        policy,
        Mode::Apply,
        None,
    )
    .unwrap();
    let after = committed(files, &outcome);
    let again = super::plan(
        &mut folder,
        after.tree(),
        intents,
        policy,
        Mode::Apply,
        None,
    )
    .unwrap();
    assert_eq!(
        again,
        plan(&after, intents, policy, Mode::Apply),
        "what is kept of a folder"
    );
    assert!(
        again.is_empty(),
        "st-10: not settled:\n{}",
        again.diff(after.tree()).unwrap()
    );
    assert!(again.decided.is_empty());
    let json = serde_json::to_string(&outcome.decided).unwrap();
    let decided: DecidedActions = serde_json::from_str(&json).unwrap();
    let replayed = plan(files, &[Intent::Replay(decided)], policy, Mode::Apply);
    let beside = |edits: &[FileEdit]| {
        edits
            .iter()
            .map(|edit| edit.path.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(beside(&replayed.edits), beside(&outcome.edits), "rp-1");
    assert_eq!(committed(files, &replayed), after, "rp-1");
    assert_eq!(
        plan(files, intents, policy, Mode::Preview),
        outcome,
        "e6: preview is the deed"
    );
    (outcome, after)
}

pub(super) fn upsert(object: &Arc<DesiredObject>) -> Intent {
    Intent::Upsert(object.clone())
}

fn only_refusal(outcome: &Outcome) -> model::Refusal {
    let mut refusals = outcome.refusals();
    let refusal = refusals.next().unwrap().clone();
    assert_eq!(refusals.next(), None);
    refusal
}

#[test]
fn ed_1_an_object_is_edited_where_its_document_is_and_one_line_changes() {
    let before = document("app", "# why\ndata:\n  a: \"1\" # first\n  b: two\n");
    let files = files(&[("live/anywhere/x.yaml", &before)]);
    let wish = config_map("app", json!({"a": "2", "b": "two"}));
    let (outcome, after) = applied(&files, &[upsert(&wish)], &policy());
    assert_eq!(
        text(&after, "live/anywhere/x.yaml").unwrap(),
        before.replace("\"1\" # first", "\"2\" # first")
    );
    let path = RepoPath::new("live/anywhere/x.yaml").unwrap();
    assert_eq!(outcome.decisions[0].decision, Decision::Edited { path });
    assert!(
        outcome
            .diff(files.tree())
            .unwrap()
            .contains("-  a: \"1\" # first\n+  a: \"2\" # first\n")
    );
}

#[test]
fn pl_4_a_new_object_goes_to_the_built_in_path_in_the_canonical_form() {
    let wish = config_map("app", json!({"b": "on", "a": "x\ny\n"}));
    let (outcome, after) = applied(&FilesInMemory::default(), &[upsert(&wish)], &policy());
    assert_eq!(
        text(&after, "live/team-a/configmaps/app.yaml").unwrap(),
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: app\n  namespace: team-a\ndata:\n  a: |\n    x\n    y\n  b: \"on\"\n"
    );
    assert_eq!(after.files.len(), 1, "d57: nothing else is written");
    assert!(matches!(
        &outcome.decisions[0].decision,
        Decision::Created {
            source: PlacementSource::Builtin,
            ..
        }
    ));
}

#[test]
fn d57_bootstrap_files_come_only_with_a_first_write_into_no_folder() {
    let mut policy = policy();
    policy.bootstrap = true;
    let wish = [upsert(&config_map("app", json!({"a": "1"})))];
    let (_, after) = applied(&FilesInMemory::default(), &wish, &policy);
    let paths = after.files.paths();
    let paths: Vec<&str> = paths.iter().map(RepoPath::as_str).collect();
    assert_eq!(
        paths,
        [
            "live/.gittargetignore",
            "live/README.md",
            "live/team-a/configmaps/app.yaml"
        ]
    );
    assert!(plan(&FilesInMemory::default(), &[], &policy, Mode::Apply).is_empty());
    let adopted = files(&[("live/x.yaml", &document("old", ""))]);
    let (_, after) = applied(&adopted, &wish, &policy);
    assert_eq!(after.files.len(), 2);
}

#[test]
fn d20_what_sanitising_takes_out_is_neither_added_nor_removed() {
    let before = "apiVersion: v1\nkind: Service\nmetadata:\n  name: s\n  namespace: team-a\n  uid: mine\n  creationTimestamp: null\n  labels:\n    kro.run/owned: \"x\"\n    app: a\nspec:\n  ports:\n    - port: 80\n      nodePort: 30001 # ours\n    - port: 81\nstatus:\n  loadBalancer: {}\n";
    let files = files(&[("live/s.yaml", before)]);
    let live = |node_port: u64, app: &str| {
        object(json!({
            "apiVersion": "v1", "kind": "Service", "status": {"x": 1},
            "metadata": {"name": "s", "namespace": "team-a", "uid": "server", "labels": {"app": app}, "finalizers": ["a/b"]},
            "spec": {"clusterIP": "10.0.0.1", "ports": [{"port": 81, "nodePort": 30009}, {"port": 80, "nodePort": node_port}]},
        }))
    };
    // The live ports stand in another order, so the list differs; nothing else does.
    let (_, after) = applied(&files, &[upsert(&live(30002, "b"))], &policy());
    let after = text(&after, "live/s.yaml").unwrap();
    for kept in [
        "  uid: mine\n",
        "creationTimestamp: null",
        "kro.run/owned: \"x\"",
        "    app: b\n",
        "nodePort: 30002",
        "status:\n  loadBalancer: {}\n",
    ] {
        assert!(after.contains(kept), "{kept} is not in\n{after}");
    }
    for absent in ["clusterIP", "30009", "finalizers", "server"] {
        assert!(!after.contains(absent), "{absent} is in\n{after}");
    }
}

#[test]
fn pj_4_spellings_of_nothing_are_no_difference() {
    let before = document("app", "  labels: {}\n  annotations:\ndata: {}\n");
    let files = files(&[("live/x.yaml", &before)]);
    let wish = object(
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "app", "namespace": "team-a"}}),
    );
    assert!(plan(&files, &[upsert(&wish)], &policy(), Mode::Apply).is_empty());
}

#[test]
fn d27_a_default_that_the_document_does_not_write_out_is_not_added() {
    let before = "apiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: team-a}\nspec:\n  ports:\n    - port: 80\n";
    let files = files(&[("live/s.yaml", before)]);
    let policy = policy();
    let live = |protocol: &str| {
        object(json!({
            "apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "namespace": "team-a"},
            "spec": {"type": "ClusterIP", "ports": [{"port": 80, "protocol": protocol}]},
        }))
    };
    assert!(plan(&files, &[upsert(&live("TCP"))], &policy, Mode::Apply).is_empty());
    let (_, after) = applied(&files, &[upsert(&live("UDP"))], &policy);
    assert_eq!(
        text(&after, "live/s.yaml").unwrap(),
        format!("{before}      protocol: UDP\n")
    );
}

#[test]
fn se_1_a_sensitive_object_is_refused_and_the_others_land() {
    let secret = object(json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "team-a"}, "data": {"p": "aHVudGVyMg=="},
    }));
    let wishes = [
        upsert(&secret),
        upsert(&config_map("app", json!({"a": "1"}))),
    ];
    let (outcome, after) = applied(&FilesInMemory::default(), &wishes, &policy());
    let refusal = only_refusal(&outcome);
    assert_eq!(refusal.code, RefusalCode::EncryptionNotConfigured);
    assert_eq!(refusal.issue, Some(IssueKind::PlaintextSensitive));
    assert_eq!(after.files.len(), 1);
    assert!(!format!("{outcome:?}").contains("aHVudGVyMg"));
}

#[test]
fn d51_a_refused_folder_refuses_each_object_and_writes_nothing() {
    let files = files(&[
        ("live/kustomization.yaml", "resources: [.]\n"),
        ("live/values.yaml", "a: 1\n"),
    ]);
    let outcome = plan(
        &files,
        &[upsert(&config_map("app", json!({})))],
        &policy(),
        Mode::Apply,
    );
    assert!(outcome.is_empty() && !outcome.folder.is_accepted());
    assert_eq!(outcome.folder.issues().len(), 2);
    let refusal = only_refusal(&outcome);
    assert_eq!(refusal.scope, RefusalScope::Folder);
    assert_eq!(refusal.object, Some(id("app")));
    assert!(
        plan(&files, &[], &policy(), Mode::Inspect)
            .decisions
            .is_empty()
    );
}

#[test]
fn dl_1_prune_modes_decide_what_an_absence_removes() {
    let files = files(&[
        ("live/x.yaml", &document("app", "")),
        ("live/keep.txt", "mine"),
    ]);
    let event = [Intent::Remove { id: id("app") }];
    let sweep = [Intent::Sweep {
        collection: collection(),
        objects: Vec::new(),
        protected: Vec::new(),
    }];
    let cases = [
        (PruneMode::Never, &event, false),
        (PruneMode::Never, &sweep, false),
        (PruneMode::OnEvent, &event, true),
        (PruneMode::OnEvent, &sweep, false),
        (PruneMode::Always, &event, true),
        (PruneMode::Always, &sweep, true),
    ];
    for (prune, intents, removed) in cases {
        let mut policy = policy();
        policy.prune = prune;
        let (outcome, after) = applied(&files, intents, &policy);
        assert_eq!(
            text(&after, "live/x.yaml").is_none(),
            removed,
            "{prune:?} {intents:?}"
        );
        assert_eq!(outcome.retained.is_empty(), removed);
        assert_eq!(text(&after, "live/keep.txt"), Some("mine"));
    }
}

#[test]
fn dl_3_a_sweep_covers_its_type_and_scope_and_spares_what_is_protected() {
    let elsewhere = document("app", "").replace("team-a", "team-b");
    let widget =
        "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w, namespace: team-a}\n";
    let bare = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bare}\n";
    let files = files(&[
        ("live/a.yaml", &document("gone", "")),
        ("live/b.yaml", &document("derived", "")),
        ("live/c.yaml", &document("app", "data: {a: '1'}\n")),
        ("live/d.yaml", &elsewhere),
        ("live/e.yaml", widget),
        ("live/f.yaml", bare),
    ]);
    let mut policy = policy();
    policy.prune = PruneMode::Always;
    let sweep = Intent::Sweep {
        collection: collection(),
        objects: vec![config_map("app", json!({"a": "1"}))],
        protected: vec![id("derived")],
    };
    let (outcome, after) = applied(&files, &[sweep], &policy);
    assert_eq!(after.files.len(), 5);
    assert!(text(&after, "live/a.yaml").is_none());
    assert_eq!(
        outcome.decided.removals,
        [DecidedRemoval {
            id: id("gone"),
            cause: RemovalCause::Sweep
        }]
    );
}

#[test]
fn dl_4_removing_what_is_not_there_is_nothing() {
    let outcome = plan(
        &FilesInMemory::default(),
        &[Intent::Remove { id: id("app") }],
        &policy(),
        Mode::Apply,
    );
    assert_eq!(outcome.decisions[0].decision, Decision::NoChange);
    assert!(outcome.is_empty() && outcome.decided.is_empty());
}

#[test]
fn md_3_one_file_takes_edits_and_removals_and_keeps_the_rest() {
    let three = format!(
        "{}---\n# two\n{}---\n{}",
        document("one", "data:\n  a: x # c\n"),
        document("two", "data: {k: v}\n"),
        document("three", "data:\n  a: x\n")
    );
    let files = files(&[("live/all.yaml", &three)]);
    let wishes = [
        Intent::Remove { id: id("one") },
        upsert(&config_map("three", json!({"a": "why"}))),
        upsert(&config_map("two", json!({"k": "v"}))),
    ];
    let (_, after) = applied(&files, &wishes, &policy());
    assert_eq!(
        text(&after, "live/all.yaml").unwrap(),
        format!(
            "# two\n{}---\n{}",
            document("two", "data: {k: v}\n"),
            document("three", "data:\n  a: why\n")
        )
    );
}

#[test]
fn dl_6_a_file_goes_with_its_last_document() {
    let two = format!("{}---\n{}", document("one", ""), document("two", ""));
    let files = files(&[("live/all.yaml", &two)]);
    let (_, after) = applied(
        &files,
        &[
            Intent::Remove { id: id("one") },
            Intent::Remove { id: id("two") },
        ],
        &policy(),
    );
    assert!(after.files.is_empty());
}

#[test]
fn d53_a_document_that_cannot_be_edited_refuses_its_object_alone() {
    let twice = document("bad", "data: {a: '1'}\ndata: {a: '1'}\n");
    let text_before = format!("{twice}---\n{}", document("good", "data: {a: '1'}\n"));
    let files = files(&[("live/x.yaml", &text_before)]);
    let wishes = [
        upsert(&config_map("bad", json!({"a": "2"}))),
        upsert(&config_map("good", json!({"a": "2"}))),
    ];
    let (outcome, after) = applied(&files, &wishes, &policy());
    let refusal = only_refusal(&outcome);
    assert_eq!(refusal.issue, Some(IssueKind::NonEditableDocument));
    let at = refusal.at.unwrap();
    assert_eq!((at.line, at.field.as_deref()), (Some(7), Some("data")));
    assert_eq!(
        text(&after, "live/x.yaml").unwrap(),
        format!("{twice}---\n{}", document("good", "data: {a: '2'}\n"))
    );
    // Nothing to edit, nothing to refuse.
    let same = plan(
        &files,
        &[upsert(&config_map("bad", json!({"a": "1"})))],
        &policy(),
        Mode::Apply,
    );
    assert_eq!(same.refusals().count(), 0);
}

#[test]
fn d58_another_version_is_refused_only_when_an_edit_is_needed() {
    let old = "kind: Deployment\napiVersion: apps/v1beta2 # old\nmetadata: {name: d, namespace: team-a}\nspec: {replicas: 1}\n";
    let files = files(&[("live/d.yaml", old)]);
    let live = |replicas: u64| {
        object(json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d", "namespace": "team-a"}, "spec": {"replicas": replicas},
        }))
    };
    assert_eq!(
        plan(&files, &[upsert(&live(1))], &policy(), Mode::Apply)
            .refusals()
            .count(),
        0
    );
    let outcome = plan(&files, &[upsert(&live(2))], &policy(), Mode::Apply);
    let refusal = only_refusal(&outcome);
    assert!(refusal.message.contains("apps/v1beta2"), "{refusal}");
    let at = refusal.at.unwrap();
    assert_eq!(at.field.as_deref(), Some("apiVersion"));
    assert_eq!(at.line, line_with(old, "# old"));
}

#[test]
fn ns_4_a_document_without_namespace_belongs_to_nobody_until_the_target_says_so() {
    let bare = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: app\ndata:\n  a: x\n";
    let files = files(&[("live/x.yaml", bare)]);
    let wish = [upsert(&config_map("app", json!({"a": "z"})))];
    let (_, after) = applied(&files, &wish, &policy());
    assert_eq!(text(&after, "live/x.yaml"), Some(bare));
    assert_eq!(after.files.len(), 2);
    let mut policy = policy();
    policy.serialize_namespace = Some(false);
    let (_, after) = applied(&files, &wish, &policy);
    assert_eq!(
        text(&after, "live/x.yaml"),
        Some(bare.replace("a: x", "a: z").as_str())
    );
    assert_eq!(after.files.len(), 1);
}

#[test]
fn ns_6_documents_without_namespace_come_from_one_namespace() {
    let mut policy = policy();
    policy.serialize_namespace = Some(false);
    let other = object(
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": "team-b"}}),
    );
    let outcome = plan(
        &FilesInMemory::default(),
        &[upsert(&config_map("app", json!({}))), upsert(&other)],
        &policy,
        Mode::Apply,
    );
    assert!(outcome.is_empty());
    assert!(
        outcome
            .refusals()
            .all(|refusal| refusal.code == RefusalCode::MultipleSourceNamespaces)
    );
    assert_eq!(outcome.refusals().count(), 2);
}

#[test]
fn pl_16_a_taken_path_is_joined_or_refused() {
    let path = "live/team-a/configmaps/app.yaml";
    let wish = [upsert(&config_map("app", json!({"a": "1"})))];
    let joined = files(&[(path, &document("other", ""))]);
    let (_, after) = applied(&joined, &wish, &policy());
    assert_eq!(
        text(&after, path).unwrap(),
        format!(
            "{}---\n{}",
            document("other", ""),
            document("app", "data:\n  a: \"1\"\n")
        )
    );
    let folder_there = files(&[("live/team-a/configmaps/app.yaml/note.txt", "")]);
    let file_above = files(&[("live/team-a", "")]);
    let sealed = files(&[(path, &document("other", "sops: {mac: x}\n"))]);
    let unending = files(&[(path, &document("other", "data:\n  a: |\n    x"))]);
    let cases = [
        (folder_there, RefusalCode::InvalidPath),
        (file_above, RefusalCode::InvalidPath),
        (sealed, RefusalCode::PlaintextOntoEncrypted),
        (unending, RefusalCode::MultiDocumentTarget),
    ];
    for (files, code) in cases {
        let outcome = plan(&files, &wish, &policy(), Mode::Apply);
        let refusal = only_refusal(&outcome);
        assert_eq!(
            (refusal.code, refusal.scope),
            (code, RefusalScope::Placement)
        );
        assert!(outcome.is_empty());
    }
}

#[test]
fn pi_7_d53_an_upsert_beats_a_removal_and_the_last_upsert_counts() {
    let files = files(&[("live/x.yaml", &document("app", "data:\n  a: x\n"))]);
    let wishes = [
        Intent::Remove { id: id("app") },
        upsert(&config_map("app", json!({"a": "one"}))),
        upsert(&config_map("app", json!({"a": "two"}))),
    ];
    let (_, after) = applied(&files, &wishes, &policy());
    assert_eq!(
        text(&after, "live/x.yaml").unwrap(),
        document("app", "data:\n  a: two\n")
    );
}

#[test]
fn rp_2_a_replay_judges_the_new_tip_and_sweeps_nothing_else() {
    let mut policy = policy();
    policy.prune = PruneMode::Always;
    let old = files(&[("live/a.yaml", &document("gone", ""))]);
    let sweep = Intent::Sweep {
        collection: collection(),
        objects: vec![config_map("app", json!({"a": "1"}))],
        protected: Vec::new(),
    };
    let decided = plan(&old, &[sweep], &policy, Mode::Apply).decided;
    // Somebody moved the swept document beside another one, added a third, and wrote the new object by hand.
    let moved = format!("{}---\n{}", document("stays", ""), document("gone", ""));
    let tip = files(&[
        ("live/moved.yaml", &moved),
        ("live/new.yaml", &document("new", "")),
        ("live/hand.yaml", &document("app", "data: {a: '0'}\n")),
    ]);
    let replayed = plan(
        &tip,
        &[Intent::Replay(decided.clone())],
        &policy,
        Mode::Apply,
    );
    let after = committed(&tip, &replayed);
    assert_eq!(
        text(&after, "live/moved.yaml").unwrap(),
        document("stays", "")
    );
    assert!(text(&after, "live/new.yaml").is_some());
    assert_eq!(
        text(&after, "live/hand.yaml").unwrap(),
        document("app", "data: {a: '1'}\n")
    );
    // Tightened meanwhile: the sweep is no longer allowed.
    policy.prune = PruneMode::OnEvent;
    let replayed = plan(&tip, &[Intent::Replay(decided)], &policy, Mode::Apply);
    assert_eq!(replayed.retained.len(), 1);
}

#[test]
fn rp_3_a_save_keeps_every_object_it_captured() {
    let wishes = [
        upsert(&config_map("app", json!({}))),
        Intent::Remove { id: id("x") },
    ];
    let kept = DecidedActions::capturing(&wishes);
    assert_eq!((kept.upserts.len(), kept.removals.len()), (1, 1));
}

#[test]
fn d56_a_substitution_token_is_never_overwritten_and_its_neighbours_land() {
    let templated = document("app", "data:\n  host: a.${DOMAIN}\n  count: \"1\"\n");
    let files = files(&[
        ("live/x.yaml", &templated),
        ("live/y.yaml", &document("other", "data:\n  a: \"1\"\n")),
    ]);
    let wishes = [
        upsert(&config_map(
            "app",
            json!({"host": "a.example.com", "count": "2"}),
        )),
        upsert(&config_map("other", json!({"a": "2"}))),
    ];
    let (outcome, after) = applied(&files, &wishes, &policy());
    let refusal = only_refusal(&outcome);
    assert_eq!(refusal.code, RefusalCode::RenderDoesNotMatchLive);
    let at = refusal.at.unwrap();
    assert_eq!(at.field.as_deref(), Some("data.host"));
    assert_eq!(at.line, line_with(&templated, "${DOMAIN}"));
    assert!(!refusal.message.contains("example.com"));
    assert_eq!(text(&after, "live/x.yaml"), Some(&*templated));
    assert!(text(&after, "live/y.yaml").unwrap().contains("a: \"2\""));

    let literal = config_map("app", json!({"host": "a.${DOMAIN}", "count": "2"}));
    let (_, after) = applied(&files, &[upsert(&literal)], &policy());
    assert_eq!(
        text(&after, "live/x.yaml").unwrap(),
        templated.replace("\"1\"", "\"2\"")
    );
}

#[test]
fn sc_6_a_path_that_the_rules_hide_is_not_written() {
    let files = files(&[("live/.gittargetignore", "# ours\nteam-a/\n")]);
    let wish = config_map("app", json!({"a": "1"}));
    let (outcome, after) = applied(&files, &[upsert(&wish)], &policy());
    assert_eq!(after, files);
    let refusal = only_refusal(&outcome);
    assert_eq!(refusal.code, RefusalCode::IgnoreShadowsManagedPath);
    assert!(
        refusal.message.contains("line 2 of live/.gittargetignore"),
        "{refusal}"
    );
}

#[test]
fn pl_1_pl_2_pl_15_a_declared_path_takes_all_new_objects_and_no_old_one() {
    let mut policy = policy();
    let templates = [("v1/configmaps", "{namespace}/all.yaml")];
    policy.placement =
        crate::Placement::read(templates, None, None, &model::Sensitivity::default()).unwrap();
    let old = document("old", "data:\n  a: \"1\"\n");
    let files = files(&[("live/elsewhere.yaml", &old)]);
    let wishes = [
        upsert(&config_map("zeta", json!({"a": "1"}))),
        upsert(&config_map("alpha", json!({"a": "1"}))),
        upsert(&config_map("old", json!({"a": "2"}))),
    ];
    let (outcome, after) = applied(&files, &wishes, &policy);
    let all = text(&after, "live/team-a/all.yaml").unwrap();
    let (alpha, zeta) = (
        all.find("name: alpha").unwrap(),
        all.find("name: zeta").unwrap(),
    );
    assert!(alpha < zeta && all.matches("---").count() == 1, "{all}");
    assert_eq!(
        text(&after, "live/elsewhere.yaml").unwrap(),
        old.replace("\"1\"", "\"2\"")
    );
    assert!(outcome.decisions.iter().any(|one| matches!(
        &one.decision,
        Decision::Created {
            source: PlacementSource::ByType,
            ..
        }
    )));
    // PL-17: what is placed stays, whatever the templates say later.
    policy.placement = crate::Placement::default();
    let (_, later) = applied(
        &after,
        &[upsert(&config_map("zeta", json!({"a": "2"})))],
        &policy,
    );
    assert!(
        text(&later, "live/team-a/all.yaml")
            .unwrap()
            .contains("a: \"2\"")
    );
}

#[test]
fn pj_9_an_object_of_another_applier_is_neither_written_nor_swept() {
    let owned = |kustomization: &str| {
        object(json!({
            "apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "2"},
            "metadata": {"name": "app", "namespace": "team-a", "labels": {
                "kustomize.toolkit.fluxcd.io/name": kustomization,
                "kustomize.toolkit.fluxcd.io/namespace": "flux-system",
            }},
        }))
    };
    let mut policy = policy();
    policy.prune = PruneMode::Always;
    policy.applier = Some(Applier::parse("Kustomization/flux-system/apps").unwrap());
    let files = files(&[("live/x.yaml", &document("app", "data:\n  a: \"1\"\n"))]);
    let snapshot = |object| Intent::Sweep {
        collection: collection(),
        objects: vec![object],
        protected: Vec::new(),
    };
    let (outcome, after) = applied(&files, &[snapshot(owned("other"))], &policy);
    assert_eq!(after, files);
    assert!(matches!(
        outcome.decisions[0].decision,
        Decision::LeftOut { .. }
    ));
    let (_, after) = applied(&files, &[snapshot(owned("apps"))], &policy);
    assert!(text(&after, "live/x.yaml").unwrap().contains("a: \"2\""));
}

#[test]
fn sc_13_no_document_joins_a_values_file() {
    let application = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: web, namespace: argocd}\nspec:\n  source:\n    path: live\n    helm: {valueFiles: [values.yaml]}\n";
    let files = files(&[
        ("live/web.yaml", application),
        ("live/values.yaml", "replicas: 1\n"),
    ]);
    let mut policy = policy();
    let templates = [("v1/configmaps", "values.yaml")];
    policy.placement =
        crate::Placement::read(templates, None, None, &model::Sensitivity::default()).unwrap();
    let wish = [upsert(&config_map("app", json!({"a": "1"})))];
    let (outcome, after) = applied(&files, &wish, &policy);
    assert_eq!(
        only_refusal(&outcome).code,
        RefusalCode::MultiDocumentTarget
    );
    assert_eq!(after, files);
}
