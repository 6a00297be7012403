//! The pages of the reference, and the kinds inside the chart, are what the program and the types print.

use std::path::{Path, PathBuf};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compares a page, or writes it where `UPDATE_GENERATED` is set.
fn check(path: &str, content: &str) {
    let file = repository().join(path);
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        std::fs::write(&file, content).expect("the file is writable");
    }
    let on_disk = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        on_disk == content,
        "{path} is stale: run `cargo xtask generate`"
    );
}

#[test]
fn the_page_about_flags_is_current() {
    check("docs/flags.md", &operator::docs::flags());
}

#[test]
fn the_page_about_metrics_is_current() {
    let page = operator::docs::metrics().expect("every family can be registered");
    check("docs/metrics.md", &page);
}

#[test]
fn the_chart_installs_the_kinds_as_they_are_generated() {
    // The kind for source clusters is the same as the one of its plural, under a name of its own.
    for (path, content) in crds::files() {
        if !path.ends_with("/commitrequest-crd.yaml") {
            let name = path.rsplit('/').next().expect("a path has a last part");
            check(&format!("charts/gitops-reverser/crds/{name}"), &content);
        }
    }
}
