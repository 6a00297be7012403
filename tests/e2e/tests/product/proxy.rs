//! Who may speak for others on the extension API's own port, and that a new front proxy goes unnoticed.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use anyhow::{Context, Result, ensure};
use e2e::stage::{Setting, Stage, TEAM};
use testkit::pki::{Authority, CertifiedKey};
use testkit::{Kubectl, wait};

const CONFIG_MAP: &str = "extension-apiserver-authentication";
/// What the front proxy calls itself, which is the only name that is believed.
const PROXY: &str = "front-proxy-client";
const FORGED: [&str; 2] = ["X-Remote-User: admin", "X-Remote-Group: system:masters"];

#[test]
fn nobody_but_the_front_proxy_is_believed() {
    let mut stage = Stage::start(Setting::default()).unwrap();
    stage.wait_current("demo").unwrap();
    let front_proxy = stage.control_plane.front_proxy();
    let right = front_proxy.issue_client(PROXY).unwrap();
    let (code, body) = ask(&stage, Some(&right), &FORGED).unwrap();
    assert_eq!(code, 200, "{body}");
    assert!(body.contains("pendingObjects"), "{body}");
    let wrong_name = front_proxy.issue_client("somebody-else").unwrap();
    let other_authority = Authority::new("front-proxy")
        .unwrap()
        .issue_client(PROXY, None)
        .unwrap();
    for who in [None, Some(&wrong_name), Some(&other_authority)] {
        for headers in [&FORGED[..], &[]] {
            let (code, body) = ask(&stage, who, headers).unwrap();
            assert!([401, 403].contains(&code), "{code} {body}");
            assert!(
                !body.contains("pendingObjects") && !body.contains("BranchStatus\""),
                "{body}"
            );
        }
    }
    let nobody = ["X-Remote-User: nobody-in-particular"];
    let (code, body) = ask(&stage, Some(&right), &nobody).unwrap();
    assert_eq!(code, 403, "{body}");
    stage.stop_operator().unwrap();
}

#[test]
fn no_call_fails_while_the_front_proxy_is_replaced() {
    let mut stage = Stage::start(Setting::default()).unwrap();
    stage.wait_current("demo").unwrap();
    let old = stage.control_plane.front_proxy().issue_client(PROXY);
    let (over, reads) = (AtomicBool::new(false), AtomicUsize::new(0));
    let rotated = std::thread::scope(|scope| {
        let reading = scope.spawn(|| read_until(&stage.admin, &over, &reads));
        let three_more = || {
            let seen = reads.load(Ordering::SeqCst);
            wait::until("three more reads", wait::GENEROUS, || {
                (reads.load(Ordering::SeqCst) >= seen + 3 || reading.is_finished()).then_some(())
            })
        };
        let rotated = rotate(&stage, three_more);
        over.store(true, Ordering::SeqCst);
        reading.join().unwrap().and(rotated)
    });
    rotated.unwrap();
    eprintln!(
        "{} reads while it was replaced, none failed",
        reads.into_inner()
    );
    // The API server only ever adds authorities to the ConfigMap, until somebody deletes it.
    let arguments = ["delete", "configmap", CONFIG_MAP, "-n", "kube-system"];
    stage.admin.run(&arguments).unwrap();
    let old = old.unwrap();
    wait::until_ok("the old authority to be forgotten", wait::GENEROUS, || {
        let (code, body) = ask(&stage, Some(&old), &FORGED)?;
        ensure!([401, 403].contains(&code), "{code} {body}");
        Ok(())
    })
    .unwrap();
    stage.stop_operator().unwrap();
}

/// Both authorities, then the new proxy's certificate, then the new authority alone.
fn rotate(stage: &Stage, three_more: impl Fn() -> Result<()>) -> Result<()> {
    let front_proxy = stage.control_plane.front_proxy();
    three_more()?;
    front_proxy.trust_new_authority()?;
    wait::until_ok("both authorities to be told", wait::GENEROUS, || {
        let object = stage
            .admin
            .json(&["get", "configmap", CONFIG_MAP, "-n", "kube-system"])?;
        let bundle = object["data"]["requestheader-client-ca-file"]
            .as_str()
            .unwrap_or_default();
        let found = bundle.matches("BEGIN CERTIFICATE").count();
        ensure!(found == 2, "{found} authorities");
        Ok(())
    })?;
    three_more()?;
    front_proxy.switch_certificate()?;
    three_more()?;
    front_proxy.drop_old_authority()?;
    let new = front_proxy.issue_client(PROXY)?;
    wait::until_ok("the new proxy to be believed", wait::GENEROUS, || {
        let (code, body) = ask(stage, Some(&new), &FORGED)?;
        ensure!(code == 200, "{code} {body}");
        Ok(())
    })?;
    three_more()
}

fn read_until(admin: &Kubectl, over: &AtomicBool, reads: &AtomicUsize) -> Result<()> {
    while !over.load(Ordering::SeqCst) {
        let rows = admin.run(&["get", "branchstatuses", "-n", TEAM, "--no-headers"])?;
        ensure!(rows.starts_with("main "), "{rows}");
        reads.fetch_add(1, Ordering::SeqCst);
    }
    Ok(())
}

/// Asks the operator's own port, past the aggregation layer, with a certificate where one is given.
fn ask(stage: &Stage, who: Option<&CertifiedKey>, headers: &[&str]) -> Result<(u16, String)> {
    let path = format!("/apis/views.configbutler.ai/v1alpha1/namespaces/{TEAM}/branchstatuses");
    let url = format!("https://127.0.0.1:{}{path}", stage.api_port);
    let mut command = Command::new("curl");
    command.args(["--silent", "--show-error", "--insecure"]);
    command.args(["--write-out", "\n%{http_code}", &url]);
    for header in headers {
        command.args(["--header", header]);
    }
    if let Some(who) = who {
        let (certificate, key) = write(stage.control_plane.folder(), who)?;
        command.args(["--cert", &certificate, "--key", &key]);
    }
    let output = command.output().context("curl does not start")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(
        output.status.success(),
        "curl: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let (body, code) = text.rsplit_once('\n').context("no code in the answer")?;
    Ok((code.parse()?, body.to_owned()))
}

fn write(folder: &Path, who: &CertifiedKey) -> Result<(String, String)> {
    let place = |name: &str| folder.join(name).display().to_string();
    let (certificate, key) = (place("asking.crt"), place("asking.key"));
    std::fs::write(&certificate, &who.certificate)?;
    std::fs::write(&key, &who.key)?;
    Ok((certificate, key))
}
