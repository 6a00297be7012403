//! The direction of dependencies, read from `cargo metadata`. `docs/architecture.md` says why.

#![allow(clippy::unwrap_used, reason = "a test reports a failure by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, PackageId};

/// Which of our crates each of our crates may use. A crate that is not listed may not exist.
const ALLOWED: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("policy", &["model"]),
    ("sealing", &["model"]),
    ("manifests", &["model", "sealing"]),
    ("repository", &["model"]),
    ("board", &["model"]),
    // `sealing` for sensitive content in the journal.
    (
        "branch",
        &["model", "sealing", "manifests", "repository", "board"],
    ),
    ("source", &["model", "policy", "board"]),
    // `manifests` for the catalog of kinds that a source hands to a branch writer.
    (
        "fleet",
        &["model", "manifests", "board", "branch", "source"],
    ),
    ("crds", &[]),
    (
        "reconcilers",
        &[
            "model",
            "manifests",
            "sealing",
            "policy",
            "crds",
            "board",
            "branch",
            "source",
            "repository",
            "fleet",
        ],
    ),
    ("aggregation", &[]),
    ("views", &["model", "board", "aggregation"]),
    ("apiservice", &["model"]),
    (
        "operator",
        &[
            "model",
            "manifests",
            "sealing",
            "policy",
            "repository",
            "board",
            "branch",
            "source",
            "fleet",
            "reconcilers",
            "crds",
            "aggregation",
            "views",
            "apiservice",
        ],
    ),
];

/// Crates that speak with a Kubernetes API server, or describe its objects. For all others that protocol does
/// not exist.
const SPEAK_KUBERNETES: &[&str] = &[
    "source",
    "reconcilers",
    "aggregation",
    "apiservice",
    "crds",
    "operator",
];

/// Crates that decide and therefore reach nothing that acts.
const PURE: &[&str] = &["model", "policy", "sealing", "manifests"];

/// Libraries that draw randomness themselves, with the one pure crate that may use each. `age` makes the
/// ephemeral keys of a wrapped data key; what it reaches is its own affair.
const DRAWS_ITSELF: &[(&str, &str)] = &[("age", "sealing")];

/// Libraries whose way to a random number generator is a feature that somebody else in the workspace switches
/// on, the SSH library here; what the pure crates use of them draws nothing.
const OFFERS_RANDOMNESS: &[&str] = &["crypto-common"];

/// What a pure crate must not reach, also through others.
const IMPURE: &[&str] = &[
    "async-std",
    "chrono",
    "fastrand",
    "getrandom",
    "gix",
    "gix-transport",
    "h2",
    "hyper",
    "jiff",
    "k8s-openapi",
    "kube",
    "kube-client",
    "mio",
    "rand",
    "reqwest",
    "smol",
    "socket2",
    "tempfile",
    "time",
    "tokio",
    "ureq",
];

/// What a pure crate must not call in the standard library.
const IMPURE_CALLS: &[&str] = &[
    "std::fs",
    "std::net",
    "std::env",
    "std::process",
    "std::thread",
    "SystemTime::now",
    "Instant::now",
    "std::io::stdin",
];

/// Words of our domain that the generic API server must not know.
const DOMAIN_WORDS: &[&str] = &[
    "gitops",
    "gitbranch",
    "gittarget",
    "gitprovider",
    "kubeprovider",
    "watchrule",
    "reverser",
    "configbutler",
    "branchstatus",
];

fn metadata() -> Metadata {
    MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .exec()
        .unwrap()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .unwrap()
        .to_owned()
}

fn product_crates() -> BTreeMap<&'static str, BTreeSet<&'static str>> {
    ALLOWED
        .iter()
        .map(|(name, uses)| (*name, uses.iter().copied().collect()))
        .collect()
}

#[test]
fn product_crates_use_only_what_lies_below_them() {
    let metadata = metadata();
    let allowed = product_crates();
    let root = root();
    let mut wrong = Vec::new();
    for package in metadata.workspace_packages() {
        let name = package.name.as_str();
        if package
            .manifest_path
            .as_std_path()
            .starts_with(root.join("tests"))
        {
            continue;
        }
        let Some(uses) = allowed.get(name) else {
            wrong.push(format!("{name} has no place in the architecture"));
            continue;
        };
        for dependency in &package.dependencies {
            let ours = dependency.path.is_some() && dependency.kind == DependencyKind::Normal;
            if ours && !uses.contains(dependency.name.as_str()) {
                wrong.push(format!("{name} must not use {}", dependency.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn only_the_edges_use_a_kubernetes_client() {
    let metadata = metadata();
    let mut use_it = BTreeSet::new();
    for name in product_crates().keys() {
        let package = metadata
            .packages
            .iter()
            .find(|package| package.name.as_str() == *name)
            .unwrap();
        let uses = package.dependencies.iter().any(|dependency| {
            let client = dependency.name == "kube" || dependency.name.starts_with("kube-");
            client && dependency.kind == DependencyKind::Normal
        });
        if uses {
            use_it.insert(*name);
        }
    }
    let allowed: BTreeSet<&str> = SPEAK_KUBERNETES.iter().copied().collect();
    let wrong: Vec<_> = use_it.difference(&allowed).collect();
    assert!(
        wrong.is_empty(),
        "{wrong:?} must not use a Kubernetes client"
    );
    assert!(!use_it.is_empty(), "the check looks for the wrong name");
}

#[test]
fn the_document_draws_every_allowed_edge_and_no_other() {
    let text = std::fs::read_to_string(root().join("docs/architecture.md")).unwrap();
    let drawn: BTreeSet<(&str, &str)> = text
        .lines()
        .flat_map(|line| line.split(';'))
        .filter_map(|edge| edge.trim().split_once(" --> "))
        .flat_map(|(user, used)| used.split(" & ").map(move |used| (user, used)))
        .collect();
    let allowed: BTreeSet<(&str, &str)> = ALLOWED
        .iter()
        .flat_map(|(user, uses)| uses.iter().map(move |used| (*user, *used)))
        .collect();
    assert_eq!(drawn, allowed);
}

#[test]
fn pure_crates_reach_no_runtime_client_network_or_clock() {
    let metadata = metadata();
    let resolve = metadata.resolve.as_ref().unwrap();
    let nodes: BTreeMap<&PackageId, Vec<&PackageId>> = resolve
        .nodes
        .iter()
        .map(|node| {
            let normal = |dependency: &&cargo_metadata::NodeDep| {
                dependency
                    .dep_kinds
                    .iter()
                    .any(|kind| kind.kind == DependencyKind::Normal)
            };
            (
                &node.id,
                node.deps
                    .iter()
                    .filter(normal)
                    .map(|dependency| &dependency.pkg)
                    .collect(),
            )
        })
        .collect();
    for pure in PURE {
        let start = metadata
            .packages
            .iter()
            .find(|package| package.name.as_str() == *pure)
            .unwrap();
        let mut reached = BTreeSet::new();
        let mut open = vec![&start.id];
        while let Some(id) = open.pop() {
            let name = metadata[id].name.as_str();
            let is_passed = OFFERS_RANDOMNESS.contains(&name)
                || DRAWS_ITSELF.iter().any(|(library, _)| *library == name);
            if reached.insert(id) && !is_passed {
                open.extend(nodes[id].iter().copied());
            }
        }
        let names: BTreeSet<&str> = reached
            .iter()
            .map(|id| metadata[*id].name.as_str())
            .collect();
        let wrong: Vec<_> = IMPURE
            .iter()
            .filter(|name| names.contains(**name))
            .collect();
        assert!(wrong.is_empty(), "{pure} reaches {wrong:?}");
    }
}

#[test]
fn a_library_that_draws_randomness_itself_has_one_user() {
    let metadata = metadata();
    for (library, user) in DRAWS_ITSELF {
        let users: BTreeSet<&str> = metadata
            .workspace_packages()
            .into_iter()
            .filter(|package| {
                package
                    .dependencies
                    .iter()
                    .any(|used| used.name == *library)
            })
            .map(|package| package.name.as_str())
            .collect();
        assert_eq!(users, BTreeSet::from([*user]));
    }
}

#[test]
fn pure_crates_call_nothing_that_acts() {
    for pure in PURE {
        for (path, text) in sources(&format!("controllers/{pure}/src")) {
            for call in IMPURE_CALLS {
                assert!(!text.contains(call), "{} calls {call}", path.display());
            }
        }
    }
}

#[test]
fn the_generic_api_server_knows_no_word_of_our_domain() {
    for (path, text) in sources("apiserver/aggregation/src") {
        let text = text.to_lowercase();
        for word in DOMAIN_WORDS {
            assert!(!text.contains(word), "{} says {word:?}", path.display());
        }
    }
}

/// Reads every Rust source below a folder of the repository.
fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut open = vec![root().join(folder)];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push((path.clone(), std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    assert!(!found.is_empty(), "{folder} holds no sources");
    found
}
