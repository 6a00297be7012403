//! Pages that must stay true: the rules that tests cite, and the list of dependencies.
#![allow(clippy::unwrap_used, reason = "a test reports a failure by panicking")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The letters that begin the ids of rules with a number behind them.
const FAMILIES: [&str; 22] = [
    "pi", "sc", "ix", "ga", "rf", "pj", "ed", "pl", "rg", "ns", "ov", "cg", "ro", "dp", "dl", "md",
    "se", "rv", "rt", "st", "rp", "a4",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .unwrap()
        .to_owned()
}

#[test]
fn every_rule_that_a_test_cites_is_listed_and_every_listed_one_is_cited() {
    let page = std::fs::read_to_string(root().join("docs/rules.md")).unwrap();
    let listed: BTreeSet<String> = rows(&page)
        .map(|id| id.to_lowercase().replace('-', "_"))
        .collect();
    let mut cited = BTreeSet::new();
    for folder in ["crds", "controllers", "apiserver", "apiservice", "tests"] {
        for path in sources(&root().join(folder)) {
            let text = std::fs::read_to_string(&path).unwrap();
            cited.extend(text.lines().filter_map(function_name).filter_map(rule_id));
        }
    }
    assert!(cited.len() > 30, "{cited:?}");
    let unlisted: Vec<_> = cited.difference(&listed).collect();
    let uncited: Vec<_> = listed.difference(&cited).collect();
    assert!(
        unlisted.is_empty() && uncited.is_empty(),
        "not listed: {unlisted:?}; not cited: {uncited:?}"
    );
}

#[test]
fn every_dependency_is_listed_and_every_listed_one_is_used() {
    let page = std::fs::read_to_string(root().join("docs/dependencies.md")).unwrap();
    let listed: BTreeSet<String> = rows(&page)
        .flat_map(|cell| {
            cell.split(',')
                .map(|name| name.trim().trim_matches('`').to_owned())
                .collect::<Vec<_>>()
        })
        .collect();
    let metadata = cargo_metadata::MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .exec()
        .unwrap();
    let packages = metadata.workspace_packages();
    let used: BTreeSet<String> = packages
        .iter()
        .flat_map(|package| &package.dependencies)
        .filter(|dependency| dependency.path.is_none())
        .map(|dependency| dependency.name.clone())
        .collect();
    let unlisted: Vec<_> = used.difference(&listed).collect();
    let unused: Vec<_> = listed.difference(&used).collect();
    assert!(
        unlisted.is_empty() && unused.is_empty(),
        "not listed: {unlisted:?}; not used: {unused:?}"
    );
}

/// Returns the first cell of each row of a page's table.
fn rows(page: &str) -> impl Iterator<Item = &str> {
    page.lines()
        .filter_map(|line| line.strip_prefix("| ")?.split(" |").next())
        .filter(|cell| !matches!(*cell, "Id" | "Crate"))
}

fn function_name(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix("fn ")?.split('(').next()
}

/// Reads the rule id at the start of a test's name: `b045_…`, `d20_…`, `e6_…` or a family and a number.
fn rule_id(name: &str) -> Option<String> {
    let mut parts = name.split('_');
    let first = parts.next()?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if FAMILIES.contains(&first) {
        let number = parts.next().filter(|part| is_number(part))?;
        return Some(format!("{first}_{number}"));
    }
    let digits = first
        .strip_prefix(['b', 'd', 'e'])?
        .trim_end_matches(|c: char| c.is_ascii_lowercase());
    is_number(digits).then(|| first.to_owned())
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found
}
