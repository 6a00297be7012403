//! The demo as a person runs it: alone, and in somebody else's cluster until Ctrl-C.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test reports a failure by panicking, and runs the command that it tests"
)]

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use testkit::{ControlPlane, Controllers, Kubectl, wait};

/// Returns the demo, which puts whatever it makes into that folder.
///
/// It does not build, because whoever runs tests has built everything and may be building already.
fn demo(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command
        .args(["demo", "--no-build"])
        .env("TMPDIR", folder)
        .stdin(Stdio::null());
    command
}

fn assert_empty(folder: &Path) {
    let left: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert!(left.is_empty(), "the demo left {left:?}");
}

#[test]
fn it_checks_itself_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let output = demo(folder.path()).arg("--once").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}\n{complaint}");
    let shown = [
        "-  logLevel: info",
        "+  logLevel: debug",
        "kubectl get branchstatuses",
        "ended with 0",
    ];
    for line in shown {
        assert!(text.contains(line), "no {line} in:\n{text}");
    }
    assert_empty(folder.path());
}

/// Returns the names of everything that the demo could leave in a cluster.
fn inventory(admin: &Kubectl) -> String {
    let kinds = "namespaces,crds,clusterroles,clusterrolebindings,apiservices";
    let mut names = admin.run(&["get", kinds, "-o", "name"]).unwrap();
    let kinds = "rolebindings,roles,configmaps,secrets,leases,events";
    names.push_str(&admin.run(&["get", kinds, "-A", "-o", "name"]).unwrap());
    // The controllers make these whenever they like to.
    let ours = |line: &&str| !line.contains("kube-root-ca.crt");
    names.lines().filter(ours).collect::<Vec<_>>().join("\n")
}

/// A demo that does not outlive a test that fails.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Runs the demo in the cluster until it prints `line`, lets `act` happen, and returns how it ended and
/// what it printed.
fn in_cluster(
    cluster: &ControlPlane,
    line: &str,
    act: impl Fn(&Path, i32),
) -> (ExitStatus, String) {
    let folder = tempfile::tempdir().unwrap();
    let output_folder = tempfile::tempdir().unwrap();
    let output = output_folder.path().join("output");
    let file = File::create(&output).unwrap();
    let demo = demo(folder.path())
        .arg("--kubeconfig")
        .arg(cluster.admin().path())
        .stdout(file.try_clone().unwrap())
        .stderr(file)
        .spawn();
    let mut demo = Running(demo.unwrap());
    let text = || fs::read_to_string(&output).unwrap();
    wait::until(format!("the demo to print {line}"), wait::GENEROUS, || {
        let ended = demo.0.try_wait().unwrap();
        assert!(ended.is_none(), "it ended with {ended:?}:\n{}", text());
        text().contains(line).then_some(())
    })
    .unwrap();
    act(folder.path(), i32::try_from(demo.0.id()).unwrap());
    let ended = demo.0.wait().unwrap();
    assert_empty(folder.path());
    (ended, text())
}

fn interrupt(_: &Path, demo: i32) {
    kill_process(Pid::from_raw(demo).unwrap(), Signal::INT).unwrap();
}

/// Kills the process that keeps its data in that folder.
fn kill_operator(folder: &Path, _: i32) {
    let is_operator = |id: &i32| {
        let words = fs::read_to_string(format!("/proc/{id}/cmdline")).unwrap_or_default();
        words.contains("--data-dir=") && words.contains(&folder.display().to_string())
    };
    let processes = fs::read_dir("/proc").unwrap();
    let operator = processes
        .filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok())
        .find(is_operator)
        .unwrap();
    kill_process(Pid::from_raw(operator).unwrap(), Signal::KILL).unwrap();
}

#[test]
fn a_cluster_of_somebody_else_is_left_as_it_was() {
    let cluster = ControlPlane::builder()
        .controllers(Controllers::Cluster)
        .start()
        .unwrap();
    let admin = cluster.as_admin().unwrap();
    let before = inventory(&admin);
    assert_refused_beside_a_namespace(&cluster, &admin);

    let (ended, text) = in_cluster(&cluster, "Up until Ctrl-C", interrupt);
    assert!(ended.success(), "{ended}:\n{text}");
    assert_eq!(inventory(&admin), before, "{text}");

    let (ended, text) = in_cluster(&cluster, "   operator", kill_operator);
    assert_eq!(ended.code(), Some(1), "{text}");
    assert!(text.contains("operator-1 ended with signal: 9"), "{text}");
    assert_eq!(inventory(&admin), before, "{text}");
}

/// Makes a namespace that the demo would make, and looks whether that keeps the demo away.
fn assert_refused_beside_a_namespace(cluster: &ControlPlane, admin: &Kubectl) {
    admin.run(&["create", "namespace", "team-a"]).unwrap();
    let before = inventory(admin);
    let folder = tempfile::tempdir().unwrap();
    let output = demo(folder.path())
        .arg("--kubeconfig")
        .arg(cluster.admin().path())
        .output()
        .unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(complaint.contains("namespace team-a exists"), "{complaint}");
    assert_eq!(complaint.lines().count(), 1, "{complaint}");
    assert_eq!(inventory(admin), before);
    assert_empty(folder.path());
    admin.run(&["delete", "namespace", "team-a"]).unwrap();
}

#[test]
fn what_is_missing_is_told_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let cases: [(&str, &[&str], &str); 3] = [
        ("/nonexistent", &[], "Go is not installed"),
        ("", &["--kubeconfig", "/nonexistent"], "/nonexistent"),
        ("", &["--first-port", &port], "in use"),
    ];
    for (path, arguments, wanted) in cases {
        let mut command = demo(folder.path());
        command.args(arguments);
        if !path.is_empty() {
            command.env("PATH", path);
        }
        let output = command.output().unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success());
        assert_eq!(complaint.lines().count(), 1, "{complaint}");
        assert!(complaint.contains(wanted), "{complaint}");
        assert!(output.stdout.is_empty());
    }
    assert_empty(folder.path());
}
