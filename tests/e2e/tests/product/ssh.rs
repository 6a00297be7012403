//! A repository over SSH: what is missing or wrong is told where `kubectl` shows it, and what is right works.

use e2e::stage::{FOLDER, OPERATOR_NAMESPACE, REPOSITORY, Setting, Stage, TEAM};
use serde_json::json;
use testkit::{SshKey, SshServer, wait};

#[test]
fn a_repository_over_ssh_is_mirrored_once_its_host_and_our_key_are_known() {
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
    apply_host_keys(&stage, &host.known_hosts_line(&other));
    stage
        .admin
        .run(&[
            "patch",
            "gitprovider",
            "platform",
            "-n",
            TEAM,
            "--type=merge",
            "-p",
            r#"{"spec":{"knownHostsRef":{"name":"hosts"}}}"#,
        ])
        .unwrap();
    wait_provider(
        &stage,
        "False ConnectionFailed",
        &format!("not the key in line 1 of known_hosts of ConfigMap {TEAM}/hosts"),
    );
    apply_host_keys(&stage, &host.known_hosts());
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
    apply_key(&stage, &next, "");
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

fn apply_key(stage: &Stage, key: &SshKey, passphrase: &str) {
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "git-credential", "namespace": TEAM},
        "stringData": {"ssh-privatekey": key.private(), "ssh-password": passphrase},
    });
    stage.admin.apply(&secret.to_string()).unwrap();
}

fn apply_host_keys(stage: &Stage, lines: &str) {
    let map = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "hosts", "namespace": TEAM},
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
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": TEAM}});
    stage.admin.apply(&namespace.to_string()).unwrap();
    apply_key(stage, key, "a phrase");
    stage
        .admin
        .apply(&format!(
            r#"
apiVersion: configbutler.ai/v1alpha3
kind: GitProvider
metadata: {{name: platform, namespace: {TEAM}}}
spec:
  url: {url}
  secretRef: {{name: git-credential}}
  allowedGitBranches:
    - consumerNamespaces: {{from: Same}}
      branchPatterns: ["*"]
---
apiVersion: configbutler.ai/v1alpha3
kind: GitBranch
metadata: {{name: main, namespace: {TEAM}}}
spec:
  gitProviderRef: {{name: platform}}
  branch: main
---
apiVersion: configbutler.ai/v1alpha3
kind: GitTarget
metadata: {{name: demo, namespace: {TEAM}}}
spec:
  gitBranchRef: {{name: main}}
  kubeProviderRef: {{name: local, namespace: {OPERATOR_NAMESPACE}}}
  path: {FOLDER}
  commit: {{window: {{idleTimeout: "1s"}}}}
---
apiVersion: configbutler.ai/v1alpha3
kind: WatchRule
metadata: {{name: configmaps, namespace: {TEAM}}}
spec:
  gitTargetRef: {{name: demo}}
  rules:
    - apiGroups: [""]
      resources: [configmaps]
"#
        ))
        .unwrap();
}
