//! The offline commands as a person runs them: on files, without a cluster.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test reports a failure by panicking, and runs the command that it tests"
)]

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

const APP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: app\n  namespace: team-a\ndata:\n  level: info # ask before you change it\n";

/// Makes a repository of these files.
fn repository(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

fn run(dir: &Path, words: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_gitops-reverser"))
        .args(words)
        .current_dir(dir)
        .env("PATH", "/nonexistent")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A command that refuses its arguments may end before it reads.
    drop(stdin.write_all(input.as_bytes()));
    drop(stdin);
    child.wait_with_output().unwrap()
}

fn json(output: &Output) -> Value {
    let value = serde_json::from_slice(&output.stdout);
    assert!(
        value.is_ok(),
        "{}{}",
        text(&output.stdout),
        text(&output.stderr)
    );
    value.unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// An object as kubectl prints it.
fn live(level: &str) -> String {
    format!(
        "{{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": [{{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {{\"name\": \"app\", \"namespace\": \"team-a\", \"uid\": \"1\", \"resourceVersion\": \"7\"}}, \"data\": {{\"level\": \"{level}\"}}}}]}}"
    )
}

#[test]
fn plan_prints_the_change_of_one_line_and_writes_it_only_when_told() {
    let dir = repository(&[("apps/x.yaml", APP), ("other/y.yaml", "a: 1\n")]);
    let words = ["plan", "--path", "apps", "--upsert", "-"];
    let output = run(dir.path(), &words, &live("debug"));
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    assert_eq!(
        text(&output.stdout).lines().skip(2).collect::<Vec<_>>(),
        [
            "@@ -4,4 +4,4 @@",
            "   name: app",
            "   namespace: team-a",
            " data:",
            "-  level: info # ask before you change it",
            "+  level: debug # ask before you change it"
        ]
    );
    let file = dir.path().join("apps/x.yaml");
    assert_eq!(fs::read_to_string(&file).unwrap(), APP);

    let write = [&words[..], &["--write"]].concat();
    assert_eq!(code(&run(dir.path(), &write, &live("debug"))), 0);
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        APP.replace("info", "debug")
    );
    let again = run(dir.path(), &words, &live("debug"));
    assert_eq!((code(&again), text(&again.stdout)), (0, String::new()));
}

#[test]
fn plan_tells_programs_where_an_object_would_land() {
    let dir = repository(&[]);
    let words = ["plan", "--path", "apps", "--upsert", "-", "-o", "json"];
    let output = run(dir.path(), &words, &live("info"));
    let report = json(&output);
    assert_eq!(code(&output), 0);
    assert_eq!(report["folder"]["accepted"], true);
    assert_eq!(
        report["edits"][0]["path"],
        "apps/team-a/configmaps/app.yaml"
    );
    assert_eq!(report["edits"][0]["action"], "create");
    assert_eq!(report["decisions"][0]["placement"], "builtin");
    assert!(!dir.path().join("apps").exists(), "nothing was written");
}

#[test]
fn d59_plan_removes_and_keeps_by_the_prune_mode() {
    let dir = repository(&[("apps/x.yaml", APP)]);
    let object = dir.path().join("gone.json");
    fs::write(&object, live("info")).unwrap();
    let target = |mode: &str| {
        let file = dir.path().join("target.yaml");
        let spec = format!("spec:\n  path: apps\n  prune: {{mode: {mode}}}\n");
        fs::write(&file, format!("kind: GitTarget\n{spec}")).unwrap();
    };
    let remove = [
        "plan",
        "--target",
        "target.yaml",
        "--remove",
        "gone.json",
        "-o",
        "json",
    ];
    let sweep = [
        "plan",
        "--target",
        "target.yaml",
        "--snapshot",
        "-",
        "--collection",
        "configmaps@team-a",
        "-o",
        "json",
    ];
    for (mode, removed, swept) in [
        ("Never", false, false),
        ("OnEvent", true, false),
        ("Always", true, true),
    ] {
        target(mode);
        for (words, gone) in [(&remove[..], removed), (&sweep[..], swept)] {
            let output = run(dir.path(), words, "");
            let report = json(&output);
            assert_eq!(code(&output), 0, "{report}");
            assert_eq!(
                report["edits"].as_array().unwrap().len(),
                usize::from(gone),
                "{mode}"
            );
            assert_eq!(
                report["retained"].as_array().unwrap().len(),
                usize::from(!gone)
            );
        }
    }
    let write = [&remove[..], &["--write"]].concat();
    run(dir.path(), &write, "");
    assert!(!dir.path().join("apps").exists(), "no empty folder is left");
    assert!(dir.path().exists());
}

#[test]
fn what_is_wrong_with_the_input_is_told_and_ends_with_2() {
    let target = "kind: GitTarget\nspec: {path: apps, placement: {default: ../x.yaml}}\n";
    let dir = repository(&[("apps/x.yaml", APP), ("target.yaml", target)]);
    let cases: [(&[&str], &str); 8] = [
        (
            &["plan", "--target", "target.yaml"],
            "spec.placement.default",
        ),
        (&["plan", "--upsert", "-"], "--path is missing"),
        (&["plan", "--path", "../x"], "--path"),
        (
            &["plan", "--path", "a", "--upsert", "missing.yaml"],
            "missing.yaml cannot be read",
        ),
        (&["plan", "--path", "a", "--snapshot", "-"], "pair up"),
        (
            &[
                "plan",
                "--path",
                "a",
                "--snapshot",
                "-",
                "--collection",
                "widgets.example.com",
            ],
            "--crds",
        ),
        (&["plan", "--path", "a", "--sensitive", "a/b/c"], "a/b/c"),
        (&["analyze", "nowhere"], "no such folder"),
    ];
    for (words, wanted) in cases {
        let output = run(dir.path(), words, "");
        let complaint = text(&output.stderr);
        assert_eq!(code(&output), 2, "{words:?}: {complaint}");
        assert!(complaint.contains(wanted), "{words:?}: {complaint}");
        assert!(output.stdout.is_empty());
    }
    let broken = run(
        dir.path(),
        &["plan", "--path", "apps", "--upsert", "-"],
        "a: [\n",
    );
    assert_eq!(code(&broken), 2);
    assert!(
        text(&broken.stderr).contains("line "),
        "{}",
        text(&broken.stderr)
    );
}

#[test]
fn d58a_an_unknown_kind_is_refused_until_its_definition_is_given() {
    let dir = repository(&[]);
    let widget = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w, namespace: team-a}\nspec: {size: 1}\n";
    let crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: widgets.example.com}\nspec:\n  group: example.com\n  scope: Namespaced\n  names: {plural: widgets, kind: Widget}\n  versions: [{name: v1, served: true, storage: true}]\n";
    fs::write(dir.path().join("crd.yaml"), crd).unwrap();
    let words = ["plan", "--path", ".", "--upsert", "-", "-o", "json"];
    let output = run(dir.path(), &words, widget);
    let report = json(&output);
    assert_eq!(code(&output), 3);
    assert_eq!(report["refusals"][0]["code"], "UnknownType");
    let known = [&words[..], &["--crds", "crd.yaml"]].concat();
    let output = run(dir.path(), &known, widget);
    let report = json(&output);
    assert_eq!(code(&output), 0, "{report}");
    let path = &report["edits"][0]["path"];
    assert_eq!(path, "team-a/example.com/widgets/w.yaml");
}

#[test]
fn analyze_judges_the_folder_and_finds_the_ones_that_would_do() {
    let dir = repository(&[
        ("staging/app.yaml", APP),
        ("production/app.yaml", APP),
        ("chart/values.yaml", "replicas: 1\n"),
        ("README.md", "# Ours\n"),
    ]);
    let output = run(dir.path(), &["analyze", ".", "-o", "json"], "");
    let report = json(&output);
    assert_eq!(code(&output), 3);
    assert_eq!(report["folder"]["accepted"], false);
    let issues: Vec<&str> = report["folder"]["issues"]
        .as_array()
        .unwrap()
        .iter()
        .map(|issue| issue["issue"].as_str().unwrap())
        .collect();
    assert_eq!(issues, ["non-krm-yaml", "duplicate-identity"]);
    let suggested: Vec<&str> = report["suggestedGitTargets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|target| target["spec"]["path"].as_str().unwrap())
        .collect();
    assert_eq!(suggested, ["production", "staging"]);
    assert_eq!(report["inventory"]["v1 ConfigMap"], 2);

    let one = run(dir.path(), &["analyze", "staging"], "");
    assert_eq!(code(&one), 0);
    assert!(text(&one.stdout).contains(".: accepted, 1 documents in 1 files"));
    let yaml = run(dir.path(), &["analyze", "staging", "-o", "yaml"], "");
    assert!(text(&yaml.stdout).contains("accepted: true"));
}

#[test]
fn sc_7_links_and_other_repositories_are_not_followed() {
    let dir = repository(&[
        ("real/x.yaml", APP),
        ("module/.git", "gitdir: elsewhere\n"),
        ("module/x.yaml", APP),
    ]);
    std::os::unix::fs::symlink("real", dir.path().join("linked")).unwrap();
    let output = run(dir.path(), &["analyze", ".", "-o", "json"], "");
    let report = json(&output);
    let issues: Vec<&str> = report["folder"]["issues"]
        .as_array()
        .unwrap()
        .iter()
        .map(|issue| issue["issue"].as_str().unwrap())
        .collect();
    assert_eq!(issues, ["foreign-symlink", "foreign-submodule"]);
    for (path, file) in [("linked", "real/x.yaml"), ("module", "module/x.yaml")] {
        let words = ["plan", "--path", path, "--upsert", "-", "--write"];
        let output = run(dir.path(), &words, &live("debug"));
        assert_eq!(code(&output), 3, "{path}");
        let held = fs::read_to_string(dir.path().join(file)).unwrap();
        assert_eq!(held, APP, "{path}");
    }
}

/// Returns the line of a text that holds this, counted from 1.
fn line_with(text: &str, content: &str) -> usize {
    text.lines()
        .position(|line| line.contains(content))
        .unwrap()
        + 1
}

#[test]
fn e5_plan_explains_a_refusal_down_to_the_line_and_the_change_that_lifts_it() {
    let templated = APP.replace("info #", "${LEVEL} #");
    let dir = repository(&[("apps/x.yaml", &templated)]);
    let words = ["plan", "--path", "apps", "--upsert", "-"];
    let output = run(
        dir.path(),
        &[&words[..], &["-o", "json"]].concat(),
        &live("debug"),
    );
    let report = json(&output);
    assert_eq!(code(&output), 3, "{report}");
    let refusal = &report["refusals"][0];
    let line = line_with(&templated, "${LEVEL}");
    assert_eq!(refusal["code"], "RenderDoesNotMatchLive");
    assert_eq!(refusal["file"], "apps/x.yaml");
    assert_eq!(refusal["line"], line);
    assert_eq!(refusal["field"], "data.level");
    assert_eq!(refusal["expected"], "${LEVEL}");
    assert_eq!(refusal["live"], "debug");
    let supplier = serde_json::json!({
        "kind": "document", "file": "apps/x.yaml", "line": line, "field": "data.level",
    });
    assert_eq!(refusal["supplier"], supplier);
    let fix = &refusal["fix"];
    assert_eq!(
        fix["action"],
        format!("write the live value out in line {line} of apps/x.yaml")
    );
    assert!(
        fix["diff"]
            .as_str()
            .unwrap()
            .ends_with("-  level: ${LEVEL} # ask before you change it\n+  level: debug # ask before you change it\n"),
        "{fix}"
    );

    let output = run(dir.path(), &words, &live("debug"));
    let told = text(&output.stderr);
    assert!(output.stdout.is_empty());
    let wanted = format!(
        "  data.level (apps/x.yaml:{line}): the folder says \"${{LEVEL}}\", the object \"debug\"\n  fix: write the live value out in line {line} of apps/x.yaml\n    --- a/apps/x.yaml\n"
    );
    assert!(told.contains(&wanted), "{told}");
}

#[test]
fn e5_plan_tells_nothing_of_a_secret() {
    let dir = repository(&[]);
    let secret = "{\"apiVersion\": \"v1\", \"kind\": \"Secret\", \"metadata\": {\"name\": \"s\", \"namespace\": \"team-a\"}, \"data\": {\"p\": \"aHVudGVyMg==\"}}";
    for held in [None, Some("apps/s.yaml")] {
        if let Some(path) = held {
            fs::create_dir_all(dir.path().join("apps")).unwrap();
            fs::write(dir.path().join(path), secret.replace("aHVudGVyMg", "b2xk")).unwrap();
        }
        let words = ["plan", "--path", "apps", "--upsert", "-", "-o", "json"];
        let output = run(dir.path(), &words, secret);
        let report = json(&output);
        let refusal = &report["refusals"][0];
        assert_eq!(code(&output), 3, "{report}");
        let told = held.map(|_| "(withheld)");
        assert_eq!(refusal["expected"].as_str(), told);
        assert_eq!(refusal["live"].as_str(), told);
        assert_eq!(refusal["fix"]["setting"], "spec.encryption.age.enabled");
        let all = text(&output.stdout) + &text(&output.stderr);
        assert!(
            !all.contains("aHVudGVyMg") && !all.contains("b2xk"),
            "{all}"
        );
    }
}

#[test]
fn e5_plan_gives_each_issue_of_a_folder_its_line_and_its_fix() {
    let dir = repository(&[
        ("apps/a.yaml", APP),
        ("apps/copy.yaml", APP),
        ("apps/values.yaml", "replicas: 1\n"),
    ]);
    let words = ["plan", "--path", "apps", "--upsert", "-", "-o", "json"];
    let output = run(dir.path(), &words, &live("debug"));
    let report = json(&output);
    assert_eq!(code(&output), 3);
    let issues = &report["folder"]["issues"];
    assert_eq!(issues[0]["file"], "apps/copy.yaml");
    assert_eq!(issues[0]["line"], line_with(APP, "name: app"));
    assert_eq!(issues[0]["field"], "metadata.name");
    assert_eq!(issues[0]["fix"]["action"], "remove apps/copy.yaml");
    assert_eq!(
        issues[1]["fix"]["diff"],
        "--- /dev/null\n+++ b/apps/.gittargetignore\n@@ -0,0 +1 @@\n+/values.yaml\n"
    );
    assert_eq!(report["refusals"][0]["scope"], "folder");
    assert_eq!(report["refusals"][0]["fix"], issues[0]["fix"]);

    let output = run(dir.path(), &words[..5], &live("debug"));
    let told = text(&output.stderr);
    assert_eq!(told.matches("fix: ").count(), 2, "{told}");
    assert!(
        told.starts_with("issue: duplicate-identity: apps/copy.yaml:4: "),
        "{told}"
    );
}

#[test]
fn d27a_plan_shows_the_replicas_that_an_autoscaler_has_taken_over() {
    let written = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  namespace: team-a\nspec:\n  replicas: 2\n";
    let dir = repository(&[("apps/web.yaml", written)]);
    let live = "{\"apiVersion\": \"apps/v1\", \"kind\": \"Deployment\", \"metadata\": {\"name\": \"web\", \"namespace\": \"team-a\", \"managedFields\": [{\"manager\": \"kube-controller-manager\", \"operation\": \"Update\", \"subresource\": \"scale\", \"fieldsV1\": {\"f:spec\": {\"f:replicas\": {}}}}]}, \"spec\": {\"replicas\": 5}}";
    let words = ["plan", "--path", "apps", "--upsert", "-"];
    let output = run(dir.path(), &[&words[..], &["-o", "json"]].concat(), live);
    let report = json(&output);
    assert_eq!(code(&output), 0, "{report}");
    assert_eq!(report["edits"].as_array().unwrap().len(), 0);
    let kept = &report["retained"][0];
    assert_eq!(kept["reason"], "autoscaler");
    assert_eq!(kept["file"], "apps/web.yaml");
    let field = serde_json::json!({
        "name": "spec.replicas", "manager": "kube-controller-manager", "expected": 2, "live": 5,
    });
    assert_eq!(kept["field"], field);
    assert_eq!(report["counts"]["scaled"], 1);
    assert_eq!(report["counts"]["unchanged"], 1);
    let output = run(dir.path(), &words, live);
    assert_eq!(
        text(&output.stderr),
        "kept: deployments web in apps/web.yaml (autoscaler: spec.replicas is 2 here, and kube-controller-manager made it 5)\n"
    );
}
