//! A repository over SSH: what is missing or wrong is told where `kubectl` shows it, and what is right works.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::{SystemTime, UNIX_EPOCH};

use e2e::judge::Judge;
use e2e::mirror::Mirror;
use e2e::stage::{FOLDER, REPOSITORY, Setting, Stage, TEAM};
use serde_json::json;
use testkit::wire::{Break, Way, Wire};
use testkit::{SshKey, SshServer, wait};

use crate::dice::{Dice, from_environment};

#[test]
fn b024_b027_b028_a_repository_over_ssh_is_mirrored_once_its_host_and_our_key_are_known() {
    let setting = Setting::default();
    let control_plane = setting.control_plane.clone().start().unwrap();
    let mut stage = Stage::prepare(&setting, control_plane).unwrap();
    let host = SshServer::serving(&stage.git).unwrap();
    let locked = host.generate_key("locked", "ecdsa", "a phrase").unwrap();
    host.authorize(std::slice::from_ref(&locked)).unwrap();
    apply_mirror(&stage, &host.url(REPOSITORY), &locked);
    stage.start_operator().unwrap();

    // No host key, then another host's, then the right one.
    wait_provider(&stage, "False ConnectionFailed", "no host key is known");
    let other = host.generate_key("other", "ed25519", "").unwrap();
    apply_host_keys(&stage, TEAM, &host.known_hosts_line(&other));
    believe_host_keys(&stage, TEAM);
    wait_provider(
        &stage,
        "False ConnectionFailed",
        &format!("not the key in line 1 of known_hosts of ConfigMap {TEAM}/hosts"),
    );
    apply_host_keys(&stage, TEAM, &host.known_hosts());
    wait_provider(&stage, "True Succeeded", "can be read");
    stage.wait_ready("demo").unwrap();
    let color = |color: &'static str| move |text: &str| text.contains(color);
    let edit = |color: &str| {
        let object = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "paint", "namespace": TEAM}, "data": {"color": color},
        });
        stage.admin.apply(&object.to_string()).unwrap();
    };
    edit("green");
    let file = mirrored_path(&stage, "paint");
    stage.wait_file(&file, color("green")).unwrap();

    // A key that the host does not know any more, told and repaired without a restart.
    let next = host.generate_key("next", "ed25519", "").unwrap();
    apply_key(&stage, TEAM, &next, "");
    ask_again(&stage);
    wait_provider(
        &stage,
        "False ConnectionFailed",
        "does not accept the SSH key SHA256:",
    );
    host.authorize(&[locked, next]).unwrap();
    ask_again(&stage);
    wait_provider(&stage, "True Succeeded", "can be read");
    edit("blue");
    stage.wait_file(&file, color("blue")).unwrap();

    // A deploy key that may only read: the host's words, and what waited lands once it may write.
    let words = "ERROR: The key you are authenticating with has been marked as read only.";
    host.before_each_command(&format!(
        "case $SSH_ORIGINAL_COMMAND in git-receive-pack*) echo '{words}' >&2; exit 1;; esac"
    ))
    .unwrap();
    edit("red");
    wait::until("the words of the host", wait::GENEROUS, || {
        let shown = stage
            .admin
            .run(&["get", "gitbranches,gittargets", "-n", TEAM, "-o", "yaml"]);
        shown
            .ok()
            .filter(|text| text.contains("marked as read only"))
    })
    .unwrap();
    host.before_each_command("").unwrap();
    stage.wait_file(&file, color("red")).unwrap();
    stage
        .repository
        .git(&["fsck", "--full", "--strict"])
        .unwrap();
    let log = stage.operator().unwrap().log();
    assert!(
        !log.contains("PRIVATE KEY") && !log.contains("a phrase"),
        "a key is in the log"
    );
    stage.stop_operator().unwrap();
}

/// How many connections break before the wire holds.
const BREAKS: usize = 6;
const EDITS: usize = 8;

#[test]
fn an_ssh_wire_that_breaks_anywhere_loses_no_edit_and_doubles_none() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let seed = from_environment("SSH_SEED", now.as_secs());
    eprintln!("SSH_SEED={seed}");
    let mut dice = Dice(seed);
    // A whole push carries about this much each way.
    let fates: Vec<_> = (0..BREAKS)
        .map(|_| {
            let way = [Way::ToServer, Way::ToClient][usize::from(dice.below(2) == 1)];
            let how =
                [Break::Cut, Break::Cut, Break::Stall][usize::try_from(dice.below(3)).unwrap()];
            (way, usize::try_from(dice.below(6_000)).unwrap(), how)
        })
        .collect();
    eprintln!("{fates:?}");

    let setting = Setting::default();
    let control_plane = setting.control_plane.clone().start().unwrap();
    let mut stage = Stage::prepare(&setting, control_plane).unwrap();
    let host = SshServer::serving(&stage.git).unwrap();
    let (here, port) = (Ipv4Addr::LOCALHOST, host.port());
    // Whole connections in between keep the waits of the writer short.
    let wire = Wire::to(SocketAddr::from((here, port)), move |number| {
        let breaks = number % 3 == 2;
        fates.get(number / 3).copied().filter(|_| breaks)
    })
    .unwrap();
    let through = |text: String| text.replace(&port.to_string(), &wire.port().to_string());
    apply_mirror(&stage, &through(host.url(REPOSITORY)), host.client_key());
    apply_host_keys(&stage, TEAM, &through(host.known_hosts()));
    believe_host_keys(&stage, TEAM);
    let bounded = ["--git-call-timeout=5s".to_owned()];
    stage.start_operator_with(&bounded).unwrap();
    // Each edit is waited for, so that there are as many pushes to break.
    for round in 0..EDITS {
        let object = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "paint", "namespace": TEAM},
            "data": {"round": round.to_string()},
        });
        stage.admin.apply(&object.to_string()).unwrap();
        let value = format!("round: \"{round}\"");
        wait::until(format!("{value} on the branch"), 2 * wait::GENEROUS, || {
            let files = stage.repository.files("main").ok()?;
            let file = files.iter().find(|file| file.ends_with("paint.yaml"))?;
            let text = stage.repository.file("main", file).ok()?;
            text.contains(&value).then_some(())
        })
        .unwrap_or_else(|error| panic!("{error}\n{}", stage.explain("demo")));
    }
    stage.stop_operator().unwrap();

    let judge = Judge::of(host.clone(REPOSITORY).unwrap(), "main").unwrap();
    // Each edit is in history once and in its order.
    let expected: Vec<String> = (0..EDITS).map(|round| round.to_string()).collect();
    assert_eq!(judge.values("*/paint.yaml", "round").unwrap(), expected);
}

/// Finds where the mirror wrote the ConfigMap, below the folder.
fn mirrored_path(stage: &Stage, name: &str) -> String {
    let below = format!("{FOLDER}/");
    wait::until("the file", wait::GENEROUS, || {
        let files = stage.repository.files("main").ok()?;
        let file = files
            .iter()
            .find(|file| file.ends_with(&format!("{name}.yaml")))?;
        file.strip_prefix(&below).map(str::to_owned)
    })
    .unwrap()
}

pub(crate) fn apply_key(stage: &Stage, namespace: &str, key: &SshKey, passphrase: &str) {
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "git-credential", "namespace": namespace},
        "stringData": {"ssh-privatekey": key.private(), "ssh-password": passphrase},
    });
    stage.admin.apply(&secret.to_string()).unwrap();
}

pub(crate) fn believe_host_keys(stage: &Stage, namespace: &str) {
    let patch = r#"{"spec":{"knownHostsRef":{"name":"hosts"}}}"#;
    let provider = ["patch", "gitprovider", "platform", "-n", namespace];
    let patched = [provider.as_slice(), &["--type=merge", "-p", patch]].concat();
    stage.admin.run(&patched).unwrap();
}

pub(crate) fn apply_host_keys(stage: &Stage, namespace: &str, lines: &str) {
    let map = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "hosts", "namespace": namespace},
        "data": {"known_hosts": lines},
    });
    stage.admin.apply(&map.to_string()).unwrap();
}

/// Asks for a fresh look, which would come by itself within the steady interval.
fn ask_again(stage: &Stage) {
    let when = format!(
        "reconcile.configbutler.ai/requestedAt={}",
        jiff::Timestamp::now()
    );
    for object in ["gitprovider/platform", "gitbranch/main"] {
        let arguments = ["annotate", object, "-n", TEAM, "--overwrite", &when];
        stage.admin.run(&arguments).unwrap();
    }
}

fn wait_provider(stage: &Stage, state: &str, words: &str) {
    let path = r#"jsonpath={range .status.conditions[?(@.type=="Ready")]}{.status} {.reason} {.message}{end}"#;
    let arguments = ["get", "gitprovider", "platform", "-n", TEAM, "-o", path];
    let mut last = String::new();
    let reached = wait::until(format!("{state}: {words}"), wait::GENEROUS, || {
        last = stage.admin.run(&arguments).unwrap_or_default();
        (last.starts_with(state) && last.contains(words)).then_some(())
    });
    assert!(reached.is_ok(), "{last}\n{}", stage.explain("demo"));
}

fn apply_mirror(stage: &Stage, url: &str, key: &SshKey) {
    stage.start_mirror(&Mirror::at(url)).unwrap();
    apply_key(stage, TEAM, key, "a phrase");
}
