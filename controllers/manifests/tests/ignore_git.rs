//! Ignore rules against the real `git check-ignore`: random patterns over a folder of awkward names.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test reports a failure by panicking, and asks the real git"
)]

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use manifests::ignore::IgnoreRules;
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};

/// How many sets of patterns git judges in one run.
const COPIES: usize = 50;
/// The folders and files that the patterns are tried on.
const FOLDERS: [&str; 7] = ["a", "a/b", "a/b/a", "b", "b/ab", "[a]", "a b"];
const FILES: [&str; 22] = [
    "c.yaml",
    "ab",
    "a.yaml",
    "a/c.yaml",
    "a/a.yml",
    "a/b/c.yaml",
    "a/b/ab",
    "a/b/a/a",
    "a/b/a/b.yaml",
    "b/a",
    "b/b.yml",
    "b/ab/a",
    "b/ab/c.yaml",
    "[a]/c",
    "a b/c",
    "#c",
    "!c",
    "c ",
    "{a,b}",
    "a-b",
    "é",
    "a/1",
];

fn git(folder: &Path) -> Command {
    let mut command = Command::new("git");
    command
        .current_dir(folder)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    command
}

/// Asks git which paths it ignores in each of the copies of the tree, under the patterns of that copy.
fn ignored_by_git(root: &Path, texts: &[String]) -> Vec<BTreeSet<String>> {
    let mut input = String::new();
    for (copy, text) in texts.iter().enumerate() {
        fs::write(root.join(format!("{copy}/.gitignore")), text).unwrap();
        for path in FOLDERS.iter().chain(&FILES) {
            input.push_str(&format!("{copy}/{path}\0"));
        }
    }
    let mut child = git(root)
        .args(["-c", "core.ignoreCase=false"])
        .args(["check-ignore", "--no-index", "-z", "--stdin"])
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 1)), "{output:?}");
    let mut ignored = vec![BTreeSet::new(); texts.len()];
    let listed = String::from_utf8(output.stdout).unwrap();
    for (copy, path) in listed.split('\0').filter_map(|line| line.split_once('/')) {
        ignored[copy.parse::<usize>().unwrap()].insert(path.to_owned());
    }
    ignored
}

fn ignored_by_us(rules: &IgnoreRules) -> BTreeSet<String> {
    let folders = FOLDERS.iter().map(|path| (*path, true));
    let files = FILES.iter().map(|path| (*path, false));
    folders
        .chain(files)
        .filter(|(path, is_folder)| rules.is_ignored(path, *is_folder))
        .map(|(path, _)| path.to_owned())
        .collect()
}

fn pattern() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a",
        "b",
        "c",
        "a",
        "b",
        "/",
        "/",
        "/",
        "*",
        "*",
        "**",
        "**/",
        "/**",
        "?",
        "?",
        "[ab]",
        "[!a]",
        "[^b-c]",
        "[]a]",
        "[[:alpha:]]",
        "[[:digit:]a]",
        "[[:no:]]",
        "[[:",
        "[a-",
        "[a\\]b]",
        "[\\[-a]",
        "\\a",
        "\\*",
        "\\",
        "\\[",
        "!",
        "#",
        " ",
        "\\ ",
        "{a,b}",
        ".yaml",
        ".y",
        "ml",
        "-",
        "é",
        "1",
        "]",
    ]);
    let negation = prop::sample::select(vec!["", "", "", "!"]);
    let end = prop::sample::select(vec!["", "", "", "/", " ", "\r"]);
    (negation, prop::collection::vec(piece, 1..6), end)
        .prop_map(|(negation, pieces, end)| format!("{negation}{}{end}", pieces.concat()))
}

/// Writes copies of the tree into one repository.
fn repository(copies: usize) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for copy in 0..copies {
        let copy = root.path().join(copy.to_string());
        for path in FOLDERS {
            fs::create_dir_all(copy.join(path)).unwrap();
        }
        for path in FILES {
            fs::write(copy.join(path), "").unwrap();
        }
    }
    let status = git(root.path()).args(["init", "-q"]).status().unwrap();
    assert!(status.success());
    root
}

#[test]
fn sc_16_git_and_we_ignore_the_same_paths() {
    let root = repository(COPIES);
    let config = ProptestConfig {
        cases: 40,
        rng_seed: RngSeed::Fixed(7),
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let patterns = prop::collection::vec(prop::collection::vec(pattern(), 1..5), COPIES);
    let matched = Cell::new(0);
    TestRunner::new(config)
        .run(&patterns, |sets| {
            // What we refuse to read is left out; Git reads the rest.
            let readable = |pattern: &String| IgnoreRules::parse(pattern).is_ok();
            let texts: Vec<String> = sets
                .into_iter()
                .map(|set| {
                    set.into_iter()
                        .filter(readable)
                        .collect::<Vec<_>>()
                        .join("\n")
                })
                .collect();
            for (text, expected) in texts.iter().zip(ignored_by_git(root.path(), &texts)) {
                let rules = IgnoreRules::parse(text).unwrap();
                prop_assert_eq!(ignored_by_us(&rules), expected.clone(), "{:?}", text);
                matched.set(matched.get() + u32::from(!expected.is_empty()));
            }
            Ok(())
        })
        .unwrap();
    let matched = matched.get();
    assert!(matched > 500, "the patterns match too little: {matched}");
}
