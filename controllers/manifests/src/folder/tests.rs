use std::sync::Arc;

use model::{Actor, FileEntry, Files, FolderPath, IssueKind, RepoPath, ServedType, TypeId};

use super::{AcceptedFolder, Folder, Join, TypeCatalog};

fn served(group: &str, resource: &str, kind: &str, namespaced: bool) -> ServedType {
    ServedType {
        type_id: TypeId::new(group, resource),
        version: "v1".to_owned(),
        kind: kind.to_owned(),
        namespaced,
        sensitive: false,
    }
}

fn catalog() -> TypeCatalog {
    [
        served("", "configmaps", "ConfigMap", true),
        served("apps", "deployments", "Deployment", true),
        served("", "namespaces", "Namespace", false),
    ]
    .iter()
    .collect()
}

fn regular(text: &str) -> FileEntry {
    FileEntry::Regular {
        bytes: Arc::from(text.as_bytes()),
        executable: false,
    }
}

fn read(files: &[(&str, FileEntry)]) -> Folder {
    let files: Files = files
        .iter()
        .map(|(path, entry)| (RepoPath::new(*path).unwrap(), entry.clone()))
        .collect();
    Folder::read(&files, &FolderPath::new("live").unwrap(), &catalog(), None)
}

/// Returns the issues as `kind path:line`.
fn issues(files: &[(&str, FileEntry)]) -> Vec<String> {
    let Err(issues) = read(files).accept() else {
        return Vec::new();
    };
    issues
        .iter()
        .map(|issue| {
            let at = issue.at.as_ref().unwrap();
            let line = at.line.map_or(String::new(), |line| format!(":{line}"));
            assert!(!issue.remedy.is_empty(), "{issue}");
            format!("{} {}{line}", issue.issue.unwrap(), at.path)
        })
        .collect()
}

fn accepted(files: &[(&str, FileEntry)]) -> AcceptedFolder {
    read(files).accept().unwrap()
}

fn config_map(name: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  namespace: a\n")
}

#[test]
fn sc_1_each_entry_has_one_role() {
    let plain = config_map("x");
    let harmless = [
        ("live/a.yaml", regular(&plain)),
        ("live/README.md", regular("# hello")),
        ("live/script.sh", regular("kind: [")),
        ("live/.gittargetignore", regular("# nothing\n\n")),
        ("live/.sops.yaml", regular("creation_rules: []\n")),
        ("live/empty.yaml", regular("# only a comment\n")),
        ("live/notes.txt", FileEntry::Symlink),
        ("live/LICENSE", FileEntry::Symlink),
        ("elsewhere/kustomization.yaml", regular("resources: []\n")),
        ("live/big.bin", FileEntry::TooLarge { size: 1 << 30 }),
    ];
    assert_eq!(issues(&harmless), Vec::<String>::new());
    assert_eq!(accepted(&harmless).facts().documents, 1);
}

#[test]
fn a4_1_every_issue_is_reported_at_once_and_in_order() {
    let files = [
        ("live/.gittargetignore", regular("# comment\n\n*.tmp\n")),
        ("live/a/.gittargetignore", regular("")),
        ("live/bad.yaml", regular("a: [\nb: 1\n")),
        (
            "live/dup.yaml",
            regular(&format!("{}---\n{}", config_map("x"), config_map("x"))),
        ),
        (
            "live/impure.yaml",
            regular(&format!(
                "{}---\n# nothing\n---\nfoo: 1\n",
                config_map("why")
            )),
        ),
        ("live/k/kustomization.yaml", regular("resources: []\n")),
        ("live/link.yaml", FileEntry::Symlink),
        (
            "live/list.yaml",
            regular("apiVersion: v1\nkind: List\nitems: []\n"),
        ),
        ("live/other", FileEntry::Symlink),
        ("live/sub", FileEntry::Submodule),
        ("live/values.yaml", regular("replicas: 1\n")),
        ("live/x.sops.yaml", regular(&config_map("z"))),
    ];
    assert_eq!(
        issues(&files),
        [
            "foreign-file live/.gittargetignore:3",
            "foreign-file live/a/.gittargetignore",
            "invalid-yaml live/bad.yaml:3",
            "duplicate-identity live/dup.yaml:7",
            "impure-managed-file live/impure.yaml:6",
            "impure-managed-file live/impure.yaml:9",
            "unsupported-kustomize live/k/kustomization.yaml",
            "foreign-symlink live/link.yaml",
            "non-krm-yaml live/list.yaml:1",
            "foreign-symlink live/other",
            "foreign-submodule live/sub",
            "non-krm-yaml live/values.yaml:1",
            "invalid-yaml live/x.sops.yaml",
        ]
    );
}

#[test]
fn a4_2_a_kustomization_is_refused_by_name_and_by_nobody_to_blame() {
    let issues = read(&[("live/Kustomization", regular(""))])
        .accept()
        .unwrap_err();
    assert_eq!(issues[0].issue, Some(IssueKind::UnsupportedKustomize));
    assert_eq!(issues[0].actor, Actor::Nobody);
    assert!(
        issues[0].remedy.contains("live/live"),
        "{}",
        issues[0].remedy
    );
}

#[test]
fn ix_3_identity_is_free_of_the_version_and_of_the_file() {
    let old = "apiVersion: apps/v1beta1\nkind: Deployment\nmetadata: {name: d, namespace: a}\n";
    let new = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d, namespace: a}\n";
    assert_eq!(
        issues(&[("live/a.yaml", regular(old)), ("live/b.yaml", regular(new))]),
        ["duplicate-identity live/b.yaml:1"]
    );
    let elsewhere = new.replace("namespace: a", "namespace: b");
    assert!(
        issues(&[
            ("live/a.yaml", regular(old)),
            ("live/b.yaml", regular(&elsewhere))
        ])
        .is_empty()
    );
}

#[test]
fn ix_6_a_document_that_cannot_be_edited_claims_its_identity() {
    let twice = format!("{}data: {{}}\ndata: {{}}\n", config_map("x"));
    let folder = accepted(&[("live/a.yaml", regular(&twice))]);
    let document = folder.documents().next().unwrap();
    assert!(document.id().is_some());
    assert_eq!(document.problem.as_ref().unwrap().0, 7);
    let copy = [
        ("live/a.yaml", regular(&twice)),
        ("live/b.yaml", regular(&config_map("x"))),
    ];
    assert_eq!(issues(&copy), ["duplicate-identity live/b.yaml:1"]);
}

#[test]
fn ix_10_ns_4_documents_without_an_object_are_accepted_and_belong_to_none() {
    let folder = accepted(&[
        (
            "live/a.yaml",
            regular("apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\n"),
        ),
        (
            "live/b.yaml",
            regular("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"),
        ),
        (
            "live/c.yaml",
            regular("apiVersion: v1\nkind: Namespace\nmetadata: {name: ns}\n"),
        ),
    ]);
    let joins: Vec<&Join> = folder.documents().map(|document| &document.join).collect();
    assert_eq!(joins[0], &Join::UnknownKind);
    assert_eq!(joins[1], &Join::NoNamespace);
    assert!(matches!(joins[2], Join::Object(id) if id.namespace.is_none()));
    let facts = folder.facts();
    assert_eq!((facts.unknown_kinds, facts.without_namespace), (1, 1));
}

#[test]
fn se_9_a_document_whose_identity_is_encrypted_belongs_to_no_object() {
    let sealed = config_map("\"ENC[AES256_GCM,data:aa]\"")
        .replace("namespace: a\n", "namespace: a\nsops: {mac: m}\n");
    let folder = accepted(&[("live/a.sops.yaml", regular(&sealed))]);
    let document = folder.documents().next().unwrap();
    assert_eq!(document.join, Join::NoObject);
    assert!(document.encrypted);
}

#[test]
fn sc_7_a_folder_behind_a_link_is_refused() {
    assert_eq!(
        issues(&[("live", FileEntry::Symlink)]),
        ["foreign-symlink live"]
    );
}

#[test]
fn pi_8_a_missing_folder_is_an_empty_one() {
    assert!(accepted(&[]).is_empty());
    assert!(accepted(&[("elsewhere/a.yaml", regular(""))]).is_empty());
}
