//! The order of system calls: what is accepted was synced first.

use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use testkit::{GitServer, Workbench, wait};

/// How many edits are looked at.
const EDITS: usize = 40;

/// Runs in `cargo xtask test --long`, which sets `JOURNAL_TRACE`, because not every machine lets a process be traced.
#[test]
fn d33_the_kernel_has_synced_what_is_accepted() {
    if std::env::var_os("JOURNAL_TRACE").is_none() {
        eprintln!("not traced: JOURNAL_TRACE is not set");
        return;
    }
    let server = GitServer::start().unwrap();
    let repository = server.create_repository("platform").unwrap();
    repository.seed(&[("README.md", "a platform\n")]).unwrap();
    let bench = Workbench::new("trace").unwrap();
    let (data, trace) = (bench.path("data"), bench.path("trace"));
    std::fs::create_dir(&data).unwrap();
    let role = format!(
        "{} {} 1000000 2000000",
        data.display(),
        server.url("platform")
    );
    let mut traced = Command::new("strace")
        .args([
            "-f",
            "-y",
            "-s",
            "200000",
            "-e",
            "trace=pwrite64,write,fdatasync",
            "-o",
        ])
        .arg(&trace)
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "kills::writer_process", "--nocapture"])
        .env(crate::kills::ROLE, role)
        .stdout(Stdio::null())
        .process_group(0)
        .spawn()
        .expect("strace can be started");
    let enough = wait::until("edits to be accepted", wait::GENEROUS, || {
        let seen = std::fs::read_to_string(&trace).ok()?;
        (seen.matches(", \"accepted ").count() > EDITS).then_some(seen)
    });
    // What is traced would go on without its tracer.
    let group = format!("-{}", traced.id());
    Command::new("kill")
        .args(["-9", "--", &group])
        .status()
        .unwrap();
    traced.wait().unwrap();
    judge(&enough.unwrap());
}

fn judge(trace: &str) {
    let lines: Vec<&str> = trace.lines().collect();
    let mut looked_at = 0;
    for (accepted, line) in lines.iter().enumerate() {
        let Some((_, told)) = line.split_once(", \"accepted ") else {
            continue;
        };
        let number: String = told
            .split(' ')
            .nth(1)
            .unwrap()
            .chars()
            .take_while(char::is_ascii_digit)
            .collect();
        let record = format!("e{number}\\\"");
        let is_record = |line: &&str| line.contains("pwrite64(") && line.contains(&record);
        let written = lines.iter().position(is_record);
        let written = written.unwrap_or_else(|| panic!("edit {number} was never written"));
        let is_synced =
            |line: &&str| line.contains("fdatasync") && line.trim_end().ends_with("= 0");
        let synced = lines[written..].iter().position(is_synced);
        let synced = written + synced.unwrap_or_else(|| panic!("edit {number} was never synced"));
        assert!(
            synced < accepted,
            "edit {number}: synced at {synced}, accepted at {accepted}"
        );
        looked_at += 1;
        if looked_at == EDITS {
            return;
        }
    }
    panic!("only {looked_at} edits");
}
