use std::collections::BTreeSet;
use std::sync::Arc;

use model::{
    Actor, FileEntry, FileTree, FilesInMemory, FolderPath, IssueKind, RepoPath, ResourceId,
    ServedType, TypeId,
};

use super::{AcceptedFolder, Document, Folder, Join, Joining, TypeCatalog};

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

#[derive(Clone)]
enum Entry {
    Text(String),
    Other(FileEntry),
}

const LINK: Entry = Entry::Other(FileEntry::Symlink);
const MODULE: Entry = Entry::Other(FileEntry::Submodule);

fn regular(text: &str) -> Entry {
    Entry::Text(text.to_owned())
}

fn in_memory(files: &[(&str, Entry)]) -> FilesInMemory {
    let mut made = FilesInMemory::default();
    for (path, entry) in files {
        let path = RepoPath::new(*path).unwrap();
        match entry {
            Entry::Text(text) => made.put(&path, text.as_bytes()),
            Entry::Other(entry) => made.put_entry(&path, entry.clone()),
        }
    }
    made
}

fn joining() -> Joining {
    Joining {
        catalog: Arc::new(catalog()),
        namespace: None,
    }
}

fn read(files: &[(&str, Entry)]) -> Folder {
    let mut folder = Folder::new(FolderPath::new("live").unwrap());
    folder.update(in_memory(files).tree(), &joining()).unwrap();
    folder
}

fn document(folder: &Folder, path: &str) -> Document {
    let path = RepoPath::new(path).unwrap();
    folder.accept().unwrap().documents_of(&path).unwrap()[0].clone()
}

/// Returns the issues as `kind path:line`.
fn issues(files: &[(&str, Entry)]) -> Vec<String> {
    issues_of(&read(files))
}

fn issues_of(folder: &Folder) -> Vec<String> {
    let Err(issues) = folder.accept() else {
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
        ("live/notes.txt", LINK),
        ("live/LICENSE", LINK),
        ("elsewhere/kustomization.yaml", regular("resources: []\n")),
    ];
    assert_eq!(issues(&harmless), Vec::<String>::new());
    assert_eq!(read(&harmless).accept().unwrap().facts().documents, 1);
}

#[test]
fn a4_1_every_issue_is_reported_at_once_and_in_order() {
    let files = [
        ("live/.gittargetignore", regular("# comment\n\n*.yaml\n")),
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
        (
            "live/k/kustomization.yaml",
            regular("resources: []\nnamePrefix: dev-\n"),
        ),
        ("live/link.yaml", LINK),
        (
            "live/list.yaml",
            regular("apiVersion: v1\nkind: List\nitems: []\n"),
        ),
        ("live/other", LINK),
        ("live/sub", MODULE),
        ("live/values.yaml", regular("replicas: 1\n")),
        ("live/x.sops.yaml", regular(&config_map("z"))),
    ];
    assert_eq!(
        issues(&files),
        [
            "ignore-shadows-managed live/.gittargetignore:3",
            "foreign-file live/a/.gittargetignore",
            "invalid-yaml live/bad.yaml:3",
            "duplicate-identity live/dup.yaml:10",
            "impure-managed-file live/impure.yaml:6",
            "impure-managed-file live/impure.yaml:9",
            "unsupported-kustomize live/k/kustomization.yaml:2",
            "foreign-symlink live/link.yaml",
            "non-krm-yaml live/list.yaml:3",
            "foreign-symlink live/other",
            "foreign-submodule live/sub",
            "non-krm-yaml live/values.yaml:1",
            "invalid-yaml live/x.sops.yaml:1",
        ]
    );
}

#[test]
fn a4_1_an_issue_that_names_a_field_names_its_line() {
    let list = "apiVersion: v1\nkind: ConfigMapList\n# objects\nitems:\n- kind: ConfigMap\n";
    let nameless = "---\nkind: ConfigMap\napiVersion: v1\nmetadata: # generateName is no name\n  generateName: x-\n";
    let kindless = "# of a chart\n\nimage: x\nmetadata:\n  name: n\n";
    let pair = format!(
        "{}---\n# again\n{}data: {{}}\n",
        config_map("x"),
        config_map("other").replace("  name: other\n", "  labels:\n    name: y\n  name: x\n")
    );
    for (text, field, content) in [
        (list, "items", "items:"),
        (nameless, "metadata.name", "metadata: #"),
        (kindless, "apiVersion", "image: x"),
        (pair.as_str(), "metadata.name", "  name: x"),
    ] {
        let issues = read(&[("live/x.yaml", regular(text))])
            .accept()
            .unwrap_err();
        assert_eq!(issues.len(), 1);
        let at = issues[0].at.as_ref().unwrap();
        assert_eq!(at.field.as_deref(), Some(field), "{}", issues[0]);
        let line = text
            .lines()
            .rev()
            .position(|line| line.starts_with(content));
        let line = text.lines().count() - line.unwrap();
        assert_eq!(at.line, u32::try_from(line).ok(), "{}", issues[0]);
    }
}

#[test]
fn a4_2_a_kustomization_is_refused_by_what_it_holds_and_accepted_without() {
    let kustomization = |text: &str| [("live/Kustomization", regular(text))];
    let hashed = "configMapGenerator:\n- name: a\n  literals: [b=c]\n";
    let plain = format!("generatorOptions: {{disableNameSuffixHash: true}}\n{hashed}");
    for (text, feature, actor) in [
        (
            "resources: []\ncomponents: [../c]\n",
            "components",
            Actor::Nobody,
        ),
        ("resources: [gone.yaml]\n", "render-failed", Actor::Author),
        (hashed, "configMapGenerator", Actor::Author),
    ] {
        let issues = read(&kustomization(text)).accept().unwrap_err();
        assert_eq!(issues.len(), 1, "{text}");
        assert_eq!(issues[0].issue, Some(IssueKind::UnsupportedKustomize));
        assert_eq!(issues[0].actor, actor, "{text}");
        assert!(issues[0].message.starts_with(feature), "{}", issues[0]);
    }
    for text in ["resources: []\n", &plain] {
        assert_eq!(issues(&kustomization(text)), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn a4_1_an_object_in_a_kustomization_is_refused_and_a_name_for_it_is_not() {
    let own = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nmetadata: {name: a}\nresources: []\n";
    assert_eq!(
        issues(&[("live/kustomization.yaml", regular(own))]),
        Vec::<String>::new()
    );
    let both = format!("{own}---\n{}", config_map("x"));
    let issues = issues(&[("live/kustomization.yaml", regular(&both))]);
    assert!(
        issues.contains(&"mixed-managed-allowlisted live/kustomization.yaml:6".to_owned()),
        "{issues:?}"
    );
}

#[test]
fn ix_3_identity_is_free_of_the_version_and_of_the_file() {
    let old = "apiVersion: apps/v1beta1\nkind: Deployment\nmetadata: {name: d, namespace: a}\n";
    let new = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d, namespace: a}\n";
    assert_eq!(
        issues(&[("live/a.yaml", regular(old)), ("live/b.yaml", regular(new))]),
        ["duplicate-identity live/b.yaml:3"]
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
fn md_2_a_document_behind_a_gap_keeps_its_position() {
    let gap = format!(
        "{}---\n# nothing\n---\n{}",
        config_map("x"),
        config_map("why")
    );
    assert_eq!(
        issues(&[
            ("live/a.yaml", regular(&gap)),
            ("live/b.yaml", regular(&config_map("why")))
        ]),
        [
            "impure-managed-file live/a.yaml:6",
            "duplicate-identity live/b.yaml:4"
        ]
    );
}

#[test]
fn ix_6_a_document_that_cannot_be_edited_claims_its_identity() {
    let twice = format!("{}data: {{}}\ndata: {{}}\n", config_map("x"));
    let folder = read(&[("live/a.yaml", regular(&twice))]);
    let document = document(&folder, "live/a.yaml");
    assert!(document.id().is_some());
    assert_eq!(document.problem.as_ref().unwrap().0, 7);
    let copy = [
        ("live/a.yaml", regular(&twice)),
        ("live/b.yaml", regular(&config_map("x"))),
    ];
    assert_eq!(issues(&copy), ["duplicate-identity live/b.yaml:4"]);
}

#[test]
fn ix_10_ns_4_documents_without_an_object_are_accepted_and_belong_to_none() {
    let folder = read(&[
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
    let join = |path| document(&folder, path).join;
    assert_eq!(join("live/a.yaml"), Join::UnknownKind);
    assert_eq!(join("live/b.yaml"), Join::NoNamespace);
    assert!(matches!(join("live/c.yaml"), Join::Object(id) if id.namespace.is_none()));
    let accepted = folder.accept().unwrap();
    let facts = accepted.facts();
    assert_eq!((facts.unknown_kinds, facts.without_namespace), (1, 1));
}

#[test]
fn se_9_a_document_whose_identity_is_encrypted_belongs_to_no_object() {
    let sealed = config_map("\"ENC[AES256_GCM,data:aa]\"")
        .replace("namespace: a\n", "namespace: a\nsops: {mac: m}\n");
    let folder = read(&[("live/a.sops.yaml", regular(&sealed))]);
    let document = document(&folder, "live/a.sops.yaml");
    assert_eq!(document.join, Join::NoObject);
    assert!(document.encrypted);
}

#[test]
fn sc_7_a_folder_behind_a_link_is_refused() {
    assert_eq!(issues(&[("live", LINK)]), ["foreign-symlink live"]);
}

#[test]
fn pi_8_a_missing_folder_is_an_empty_one() {
    assert!(read(&[]).accept().unwrap().is_empty());
    let elsewhere = read(&[("elsewhere/a.yaml", regular(""))]);
    assert!(elsewhere.accept().unwrap().is_empty());
    // What stands outside is neither read nor judged, also after the ignore rules start everything anew.
    let nothing = FilesInMemory::default();
    let mut folder = Folder::new(FolderPath::new("live").unwrap());
    for outside in [
        "elsewhere/a.yaml",
        "live.yaml",
        "livestock/.gittargetignore",
    ] {
        let files = in_memory(&[
            (outside, regular("a: [\n")),
            ("live/.gittargetignore", regular("")),
        ]);
        let rules = in_memory(&[("live/.gittargetignore", regular(""))]);
        let tree = FileTree {
            files: &files.files,
            contents: &rules,
        };
        folder.update(tree, &joining()).unwrap();
        folder.accept().unwrap();
        let tree = FileTree {
            files: &nothing.files,
            contents: &nothing,
        };
        folder.update(tree, &joining()).unwrap();
    }
}

#[test]
fn pi_8_content_that_cannot_be_read_is_an_error_and_is_read_at_the_next_try() {
    let files = in_memory(&[("live/a.yaml", regular(&config_map("x")))]);
    let nothing = FilesInMemory::default();
    let without_content = |files| FileTree {
        files,
        contents: &nothing,
    };
    let mut folder = Folder::new(FolderPath::new("live").unwrap());
    folder.update(files.tree(), &joining()).unwrap();
    folder
        .update(without_content(&files.files), &joining())
        .unwrap();

    let mut changed = files.clone();
    changed.put(
        &RepoPath::new("live/a.yaml").unwrap(),
        config_map("second").as_bytes(),
    );
    let unreadable = without_content(&changed.files);
    assert!(folder.update(unreadable, &joining()).is_err());
    folder.update(changed.tree(), &joining()).unwrap();
    let accepted = folder.accept().unwrap();
    assert_eq!(accepted.objects().next().unwrap().name.as_str(), "second");
}

/// Every step from one random folder to the next gives what reading afresh gives.
#[test]
fn pi_1_a_folder_that_is_kept_is_the_folder_read_afresh() {
    let texts = [
        config_map("x"),
        config_map("second"),
        format!("{}---\n{}", config_map("x"), config_map("z")),
        format!("{}sops: {{mac: m}}\n", config_map("second")),
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n".to_owned(),
        "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\n".to_owned(),
        "a: [\n".to_owned(),
        "# nothing\n".to_owned(),
    ];
    let paths = [
        "live/a.yaml",
        "live/b/c.yaml",
        "live/b/d.yaml",
        "live/.gittargetignore",
        "other/x.yaml",
    ];
    let mut state = 1_u64;
    let mut next = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    let mut kept = Folder::new(FolderPath::new("live").unwrap());
    let mut files = FilesInMemory::default();
    for step in 0..2000 {
        let path = RepoPath::new(paths[next(paths.len())]).unwrap();
        match next(10) {
            0..3 => files.remove(&path),
            3 => files.put_entry(&path, FileEntry::Symlink),
            _ => files.put(&path, texts[next(texts.len())].as_bytes()),
        }
        let mut joining = joining();
        if next(5) == 0 {
            joining.namespace = Some(model::Namespace::new("a").unwrap());
        }
        if next(7) == 0 {
            joining.catalog = Arc::default();
        }
        kept.update(files.tree(), &joining).unwrap();
        let mut fresh = Folder::new(FolderPath::new("live").unwrap());
        fresh.update(files.tree(), &joining).unwrap();
        assert_eq!(issues_of(&kept), issues_of(&fresh), "step {step}");
        if let (Ok(kept), Ok(fresh)) = (kept.accept(), fresh.accept()) {
            assert_eq!(kept.facts(), fresh.facts(), "step {step}");
            let sorted = |folder: &AcceptedFolder<'_>| -> BTreeSet<ResourceId> {
                folder.objects().cloned().collect()
            };
            assert_eq!(sorted(&kept), sorted(&fresh), "step {step}");
            for id in fresh.objects() {
                assert_eq!(kept.find(id), fresh.find(id), "step {step}");
            }
        }
    }
}

#[test]
fn sc_5_sc_6_what_the_rules_hide_is_not_there_and_some_names_cannot_be_hidden() {
    let hidden = [
        (
            "live/.gittargetignore",
            regular("/values.yaml\nlegacy/\n*.lnk\nkustomization.yaml\n"),
        ),
        ("live/a.yaml", regular(&config_map("x"))),
        ("live/values.yaml", regular("replicas: 1\n")),
        ("live/legacy/x.yaml", regular("a: [\n")),
        ("live/legacy/kustomization.yaml", regular("resources: []\n")),
        ("live/b.lnk", MODULE),
    ];
    assert_eq!(issues(&hidden), Vec::<String>::new());
    let mut shown = hidden.to_vec();
    shown.push(("live/kustomization.yaml", regular("vars: [{name: a}]\n")));
    shown.push(("live/sub/values.yaml", regular("replicas: 1\n")));
    assert_eq!(
        issues(&shown),
        [
            "unsupported-kustomize live/kustomization.yaml:1",
            "non-krm-yaml live/sub/values.yaml:1"
        ]
    );
}

#[test]
fn sc_13_a_values_file_that_a_document_names_has_a_role() {
    let release = |names: &str| {
        format!(
            "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: web, namespace: a}}\nspec:\n  chart:\n    spec:\n      chart: ./chart\n      sourceRef: {{kind: GitRepository, name: this}}\n      valuesFiles: [{names}]\n"
        )
    };
    let values = "replicas: 1\n---\nmore: true\n";
    let named = release("live/values.yaml, live/missing.yaml");
    let files = |release: &str, values: &str| {
        in_memory(&[
            ("live/web.yaml", regular(release)),
            ("live/values.yaml", regular(values)),
        ])
    };
    let mut folder = Folder::new(FolderPath::new("live").unwrap());
    folder
        .update(files(&named, values).tree(), &joining())
        .unwrap();
    assert_eq!(issues_of(&folder), [""; 0]);
    let path = RepoPath::new("live/values.yaml").unwrap();
    assert_eq!(folder.accept().unwrap().documents_of(&path), None);
    // Whoever named it may stop to do so.
    let unnamed = files(&release("live/other.yaml"), values);
    folder.update(unnamed.tree(), &joining()).unwrap();
    let alone = [
        "non-krm-yaml live/values.yaml:1",
        "non-krm-yaml live/values.yaml:3",
    ];
    assert_eq!(issues_of(&folder), alone);
    folder
        .update(files(&named, values).tree(), &joining())
        .unwrap();
    assert_eq!(issues_of(&folder), [""; 0]);
    // A name excuses no text that does not parse, no list, and nothing beside a document.
    for (values, wanted) in [
        ("a: [\n", "invalid-yaml live/values.yaml:2"),
        (
            "apiVersion: v1\nkind: List\nitems: []\n",
            "non-krm-yaml live/values.yaml:3",
        ),
        (
            &format!("{}---\na: 1\n", config_map("x")),
            "impure-managed-file live/values.yaml:7",
        ),
    ] {
        folder
            .update(files(&named, values).tree(), &joining())
            .unwrap();
        assert_eq!(issues_of(&folder), [wanted]);
    }
    // What it names may be a document, which is then one of the mirror.
    let document = files(&named, &config_map("x"));
    folder.update(document.tree(), &joining()).unwrap();
    let documents = folder.accept().unwrap().documents_of(&path).unwrap().len();
    assert_eq!(documents, 1);
}
