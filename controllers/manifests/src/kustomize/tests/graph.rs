//! Which kustomization reads what.

use std::sync::atomic::{AtomicUsize, Ordering};

use model::files::{Content, Contents, FileEntry, ReadError};
use model::{ContentId, FileTree};

use super::*;
use crate::kustomize::{Cache, build_with, graph};

const LAYERS: [(&str, &str); 5] = [
    (
        "apps/x/kustomization.yaml",
        "resources: [../../base, r.yaml]\n",
    ),
    ("apps/x/r.yaml", CONFIG_MAP),
    ("base/kustomization.yaml", "resources: [d.yaml]\n"),
    ("base/d.yaml", DEPLOYMENT),
    ("base/parked.yaml", "a: [\n"),
];

fn graph_of(files: &[(&str, &str)], path: &str) -> graph::Graph {
    graph::graph(repository(files).tree(), &folder(path)).unwrap()
}

#[test]
fn sc_18_only_what_a_build_reaches_is_read() {
    let render = rendered(&LAYERS, "apps/x");
    let kinds: Vec<_> = render
        .objects
        .iter()
        .map(|object| object.id.kind.as_str())
        .collect();
    assert_eq!(kinds, ["Deployment", "ConfigMap"]);
    let read: Vec<_> = render.reads.files().map(RepoPath::as_str).collect();
    assert_eq!(
        read,
        [
            "apps/x/kustomization.yaml",
            "apps/x/r.yaml",
            "base/d.yaml",
            "base/kustomization.yaml"
        ]
    );
    // The same is read until something that was looked at changes, be it something that was not there.
    let mut files = repository(&LAYERS);
    assert!(render.reads.hold_for(&files.files));
    files.put(&RepoPath::new("base/parked.yaml").unwrap(), b"b".to_vec());
    assert!(render.reads.hold_for(&files.files));
    files.put(
        &RepoPath::new("base/kustomization.yml").unwrap(),
        b"b".to_vec(),
    );
    assert!(!render.reads.hold_for(&files.files));
}

#[test]
fn sc_18_a_graph_knows_what_is_built_and_what_that_reads() {
    let graph = graph_of(&LAYERS, "apps");
    let below = folder("apps");
    assert_eq!(graph.roots(&below), [&folder("apps/x")]);
    let root = folder("apps/x");
    assert_eq!(graph.reached_from(&root), [&root, &folder("base")]);
    assert!(graph.issues(&below).is_empty());
    let both = graph_of(&LAYERS, ".");
    assert_eq!(both.roots(&folder(".")), [&root]);
}

#[test]
fn sc_18_files_that_argo_cd_would_not_read_are_known() {
    let files = [
        (
            "app/kustomization.yaml",
            "resources: [../base, ../x/r.yaml, s/r.yaml]\npatches: [{path: ../p.yaml}]\ngeneratorOptions: {disableNameSuffixHash: true}\nconfigMapGenerator: [{name: g, envs: [../e.env], files: [f.txt, k=../f.txt]}]\n",
        ),
        ("app/s/r.yaml", CONFIG_MAP),
        ("app/f.txt", ""),
        ("base/kustomization.yaml", "resources: []\n"),
        ("x/r.yaml", CONFIG_MAP),
        ("p.yaml", CONFIG_MAP),
        ("e.env", ""),
        ("f.txt", ""),
    ];
    let graph = graph_of(&files, ".");
    let reader = graph.get(&folder("app")).unwrap();
    let outside: Vec<_> = reader
        .unrestricted()
        .into_iter()
        .map(RepoPath::as_str)
        .collect();
    assert_eq!(outside, ["x/r.yaml", "p.yaml", "e.env", "f.txt"]);
    assert!(
        graph
            .get(&folder("base"))
            .unwrap()
            .unrestricted()
            .is_empty()
    );
}

#[test]
fn ga_2_a_circle_is_reported_at_one_file_wherever_one_starts() {
    let circle = [
        ("a/kustomization.yaml", "resources:\n- ../b\n"),
        ("b/kustomization.yaml", "namespace: x\nresources: [../c]\n"),
        ("c/kustomization.yaml", "resources: [../a]\n"),
        ("d/kustomization.yaml", "resources: [../c]\n"),
    ];
    for root in ["a", "b", "c", "d"] {
        let issues = refused(&circle, root);
        assert_eq!(
            told(&issues),
            ["render-failed a/kustomization.yaml:2"],
            "{root}"
        );
    }
    // Also one that nothing outside of it reads.
    let issues = graph_of(&circle[..3], ".").issues(&folder("."));
    assert_eq!(told(&issues), ["render-failed a/kustomization.yaml:2"]);
    let itself = [
        ("a/kustomization.yaml", "resources:\n- r.yaml\n- .\n"),
        ("a/r.yaml", CONFIG_MAP),
    ];
    assert_eq!(
        told(&refused(&itself, "a")),
        ["render-failed a/kustomization.yaml:3"]
    );
    let above = [
        ("kustomization.yaml", "resources: []\n"),
        ("a/b/kustomization.yaml", "resources: [../../c]\n"),
        ("c/kustomization.yaml", "resources: [..]\n"),
    ];
    assert_eq!(
        told(&refused(&above, "a/b")),
        [
            "render-failed a/b/kustomization.yaml:1",
            "render-failed c/kustomization.yaml:1"
        ]
    );
}

#[test]
fn ga_3_what_stands_outside_is_named_as_the_overlay_spells_it() {
    let mut files = LAYERS;
    files[2].1 = "resources: [d.yaml]\nnamePrefix: x\n";
    let issues = refused(&files, "apps/x");
    assert_eq!(told(&issues), ["namePrefix base/kustomization.yaml:2"]);
    assert!(
        issues[0].message.contains("../../base/kustomization.yaml"),
        "{}",
        issues[0]
    );
    // Also what only the build itself finds.
    files[2].1 = "resources: [d.yaml]\nreplicas: [{name: x, count: 1}]\n";
    let issues = refused(&files, "apps/x");
    assert_eq!(told(&issues), ["render-failed base/kustomization.yaml:2"]);
    assert!(issues[0].message.contains("../../base"), "{}", issues[0]);
}

#[test]
fn sc_19_nothing_leaves_the_repository_or_follows_a_link() {
    for (entry, expected) in [
        ("../../x", "leads out of the repository"),
        ("/etc/x.yaml", "leads out of the repository"),
        ("nowhere", "neither a file nor a folder"),
        ("' r.yaml'", "neither a file nor a folder"),
        ("''", "neither a file nor a folder"),
        ("sub", "no kustomization"),
        ("link.yaml", "a link or a submodule"),
        ("far/r.yaml", "a link or a submodule"),
    ] {
        let text = format!("resources:\n- {entry}\n");
        let mut files = repository(&[
            ("app/kustomization.yaml", &text),
            ("app/r.yaml", CONFIG_MAP),
            ("app/sub/r.yaml", CONFIG_MAP),
        ]);
        for link in ["app/link.yaml", "app/far"] {
            files.put_entry(&RepoPath::new(link).unwrap(), FileEntry::Symlink);
        }
        let Err(BuildError::Refused(issues)) = build(files.tree(), &folder("app")) else {
            panic!("{entry} is built");
        };
        assert_eq!(
            told(&issues),
            ["render-failed app/kustomization.yaml:2"],
            "{entry}"
        );
        assert!(issues[0].message.contains(expected), "{}", issues[0]);
    }
    let mut linked = repository(&[]);
    let path = RepoPath::new("app/kustomization.yaml").unwrap();
    linked.put_entry(&path, FileEntry::Symlink);
    assert!(matches!(
        build(linked.tree(), &folder("app")),
        Err(BuildError::Refused(_))
    ));
}

/// Content that nobody can read, or that nobody thought of.
struct Broken(AtomicUsize);

impl Contents for Broken {
    fn read(&self, id: &ContentId) -> Result<Content, ReadError> {
        match self.0.fetch_add(1, Ordering::Relaxed) {
            0 => Err(ReadError {
                id: *id,
                source: "the disk is gone".into(),
            }),
            _ => panic!("nobody thought of this"),
        }
    }
}

#[test]
fn ga_1_a_panic_refuses_and_what_cannot_be_read_is_tried_again() {
    let files = repository(&LAYERS);
    let broken = Broken(AtomicUsize::new(0));
    let tree = FileTree {
        files: &files.files,
        contents: &broken,
    };
    assert!(matches!(
        build(tree, &folder("base")),
        Err(BuildError::Unreadable(_))
    ));
    let Err(BuildError::Refused(issues)) = build(tree, &folder("base")) else {
        panic!("it is built");
    };
    assert_eq!(told(&issues), ["render-failed base/kustomization.yaml:1"]);
}

#[test]
fn sc_18_what_stays_the_same_is_parsed_once() {
    /// Counts what is read.
    struct Counting<'f>(&'f FilesInMemory, AtomicUsize);
    impl Contents for Counting<'_> {
        fn read(&self, id: &ContentId) -> Result<Content, ReadError> {
            self.1.fetch_add(1, Ordering::Relaxed);
            self.0.read(id)
        }
    }
    let quoted = DEPLOYMENT.replace("replicas: 1", "replicas: '1'");
    let patch =
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 2}\n";
    let mut files = repository(&LAYERS);
    let put = |files: &mut FilesInMemory, path: &str, text: &str| {
        files.put(&RepoPath::new(path).unwrap(), text.as_bytes().to_vec());
    };
    put(&mut files, "base/d.yaml", &quoted);
    put(&mut files, "apps/x/p.yaml", patch);
    let text = format!("{}patches: [{{path: p.yaml}}]\n", LAYERS[0].1);
    put(&mut files, LAYERS[0].0, &text);
    let mut cache = Cache::default();
    let read = |files: &FilesInMemory, cache: &mut Cache| {
        let counting = Counting(files, AtomicUsize::new(0));
        let tree = FileTree {
            files: &files.files,
            contents: &counting,
        };
        let render = build_with(tree, &folder("apps/x"), cache).unwrap();
        let afresh = build(files.tree(), &folder("apps/x")).unwrap();
        let values = |render: &Render| -> Vec<Value> {
            let objects = render.objects.iter();
            objects.map(|object| object.node.to_value()).collect()
        };
        assert_eq!(values(&render), values(&afresh));
        assert_eq!(render.reads, afresh.reads);
        // What stood in quotes stays in quotes, also where only a text of before says so.
        assert_eq!(values(&render)[0]["spec"]["replicas"], "2");
        counting.1.into_inner()
    };
    assert_eq!(read(&files, &mut cache), 5);
    // Only the patch and what it lies over are looked at again, for how they are written.
    assert_eq!(read(&files, &mut cache), 2);
    put(
        &mut files,
        "apps/x/r.yaml",
        &CONFIG_MAP.replace(": c", ": e"),
    );
    assert_eq!(read(&files, &mut cache), 3);
    cache.retain(|path| path.as_str() == "base/d.yaml");
    assert_eq!(read(&files, &mut cache), 5);
}
