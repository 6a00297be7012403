//! The reconcilers with a real fleet, a real API server and a real Git host: objects are applied in any
//! order, and every wrong thing says so and recovers by itself.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use board::DirectoryWriter;
use board::metrics::Registrar;
use branch::SystemClock;
use fleet::Fleet;
use kube::Client;
use kube::config::{Config, KubeConfigOptions, Kubeconfig};
use policy::InClusterConsent;
use reconcilers::{KubeConfigPolicy, Reconcilers, Settings, Stop};
use repository::{Limits, ProxyPolicy};
use serde_json::Value;
use testkit::{Access, ControlPlane, GitServer, Kubectl, wait};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// A control plane with our kinds, a Git host, and the operator's controllers between them.
struct Stage {
    /// First, so that it is dropped before the programs that it talks to.
    _operator: Operator,
    kubectl: Kubectl,
    git: GitServer,
    _control_plane: ControlPlane,
    _data: tempfile::TempDir,
}

struct Operator {
    runtime: Runtime,
    fleet: JoinSet<()>,
    reconcilers: JoinSet<()>,
    stop: Stop,
}

impl Drop for Operator {
    fn drop(&mut self) {
        self.stop.orders.cancel();
        self.runtime
            .block_on(async { while self.fleet.join_next().await.is_some() {} });
        self.stop.reports.cancel();
        self.runtime
            .block_on(async { while self.reconcilers.join_next().await.is_some() {} });
    }
}

impl Stage {
    fn set() -> Result<Self> {
        let control_plane = ControlPlane::start()?;
        let git = GitServer::builder()
            .access(Access::basic("bot", "right"))
            .start()?;
        git.create_repository("config")?;
        let kubectl = control_plane.as_admin()?;
        for crd in crds::all() {
            kubectl.apply(&serde_json::to_string(&crd)?)?;
        }
        kubectl.run(&[
            "wait",
            "crd",
            "--all",
            "--for=condition=Established",
            "--timeout=60s",
        ])?;
        let data = tempfile::tempdir()?;
        let operator = Operator::start(&control_plane, data.path())?;
        Ok(Self {
            kubectl,
            git,
            _operator: operator,
            _control_plane: control_plane,
            _data: data,
        })
    }

    /// Waits until a condition of an object reads `Status Reason`.
    fn expect(&self, object: &str, type_: &str, wanted: &str) -> Result<()> {
        wait::until_ok(
            format!("{object} to have {type_} {wanted}"),
            wait::GENEROUS,
            || {
                let found = self.condition(object, type_)?;
                if found == wanted {
                    Ok(())
                } else {
                    bail!("it has {found}")
                }
            },
        )
    }

    fn condition(&self, object: &str, type_: &str) -> Result<String> {
        let read = self.kubectl.json(&["get", object])?;
        let conditions = read["status"]["conditions"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let condition = conditions
            .iter()
            .find(|condition| condition["type"] == type_);
        let condition = condition.with_context(|| format!("{object} has no condition {type_}"))?;
        let text = |field: &str| condition[field].as_str().unwrap_or_default().to_owned();
        Ok(format!("{} {}", text("status"), text("reason")))
    }

    fn apply_secret(&self, password: &str) -> Result<()> {
        self.kubectl.apply(&format!(
            "{{apiVersion: v1, kind: Secret, metadata: {{name: git-creds}}, \
             stringData: {{username: bot, password: {password}}}}}"
        ))?;
        Ok(())
    }

    fn apply_provider(&self, patterns: &str) -> Result<()> {
        let url = self.git.url("config");
        self.kubectl.apply(&format!(
            "apiVersion: configbutler.ai/v1alpha3\nkind: GitProvider\nmetadata: {{name: repo}}\nspec:\n  \
             url: {url}\n  secretRef: {{name: git-creds}}\n  allowedGitBranches:\n  - \
             consumerNamespaces: {{from: Same}}\n    branchPatterns: {patterns}\n"
        ))?;
        Ok(())
    }

    fn apply_branch(&self, name: &str) -> Result<()> {
        self.kubectl.apply(&format!(
            "{{apiVersion: configbutler.ai/v1alpha3, kind: GitBranch, metadata: {{name: {name}}}, \
             spec: {{gitProviderRef: {{name: repo}}, branch: main}}}}"
        ))?;
        Ok(())
    }

    fn apply_target(&self) -> Result<()> {
        self.kubectl.apply(
            "{apiVersion: configbutler.ai/v1alpha3, kind: GitTarget, metadata: {name: apps}, spec: \
             {gitBranchRef: {name: live}, kubeProviderRef: {name: local}, path: apps, commit: {window: \
             {idleTimeout: 0s}}}}",
        )?;
        self.kubectl.apply(
            "{apiVersion: configbutler.ai/v1alpha3, kind: WatchRule, metadata: {name: all}, spec: \
             {gitTargetRef: {name: apps}, rules: [{apiGroups: [''], resources: [configmaps]}]}}",
        )?;
        Ok(())
    }

    fn apply_kube_provider(&self, name: &str) -> Result<()> {
        self.kubectl.apply(&format!(
            "{{apiVersion: configbutler.ai/v1alpha3, kind: KubeProvider, metadata: {{name: {name}}}, \
             spec: {{inCluster: {{}}}}}}"
        ))?;
        Ok(())
    }

    fn events(&self) -> Result<Vec<String>> {
        let list = self.kubectl.json(&["get", "events"])?;
        let items = list["items"].as_array().cloned().unwrap_or_default();
        let text = |event: &Value| {
            let (about, reason) = (&event["involvedObject"], &event["reason"]);
            format!(
                "{}/{} {}",
                about["kind"].as_str().unwrap_or_default(),
                about["name"].as_str().unwrap_or_default(),
                reason.as_str().unwrap_or_default()
            )
        };
        Ok(items.iter().map(text).collect())
    }
}

impl Operator {
    fn start(control_plane: &ControlPlane, data: &std::path::Path) -> Result<Self> {
        // A second test in this process finds it installed.
        let _installed = rustls::crypto::ring::default_provider().install_default();
        let runtime = Runtime::new()?;
        let stop = Stop::default();
        let (mut fleet_tasks, mut reconciler_tasks) = (JoinSet::new(), JoinSet::new());
        let kubeconfig = Kubeconfig::from_yaml(&control_plane.admin().text()?)?;
        runtime.block_on(async {
            let config =
                Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
            let client = Client::try_from(config)?;
            let clock: Arc<dyn branch::Clock> = Arc::new(SystemClock::start());
            let (occurrences, announced) = mpsc::channel(64);
            let directory = DirectoryWriter::new();
            let mut registrar = Registrar::new("test");
            let reader = directory.reader();
            let (fleet, handle) = Fleet::new(
                fleet::Settings {
                    data_dir: data.to_owned(),
                    branch: branch_settings(),
                    source: source::Settings::documented(model::Sensitivity::default(), Vec::new()),
                    clock: Arc::clone(&clock),
                    occurrences,
                    branch_metrics: branch::metrics::Metrics::register(&mut registrar, &reader)?,
                    source_metrics: source::Metrics::register(&mut registrar, &reader)?,
                    recorder: None,
                    shutdown_budget: Duration::from_secs(10),
                },
                directory,
            );
            let settings = settings();
            let reconcilers =
                Reconcilers::new(client, handle, settings, clock, announced, &mut registrar)?;
            fleet_tasks.spawn(fleet.run(stop.orders.clone()));
            reconciler_tasks.spawn(reconcilers.run(stop.clone()));
            anyhow::Ok(())
        })?;
        Ok(Self {
            runtime,
            fleet: fleet_tasks,
            reconcilers: reconciler_tasks,
            stop,
        })
    }
}

fn settings() -> Settings {
    Settings {
        steady: Duration::from_secs(300),
        converging: Duration::from_secs(1),
        in_cluster: InClusterConsent::parse("default/local").expect("because the entry is exact"),
        kubeconfig: KubeConfigPolicy::default(),
        sensitivity: model::Sensitivity::default(),
        allow_git_http: true,
        default_known_hosts: None,
        allow_missing_known_hosts: false,
        git_proxy: ProxyPolicy::Direct,
        git_limits: Limits::RECOMMENDED,
        namespace: model::Namespace::new("ops").expect("because the name is valid"),
        instance: "test".to_owned(),
    }
}

fn branch_settings() -> branch::Settings {
    branch::Settings {
        buffer_limit: 8 << 20,
        item_charge: 1024,
        push_cooldown: 0,
        retry_first: 500,
        retry_longest: 2_000,
        refresh_interval: None,
        cycle_budget: 20_000,
        jitter_seed: 1,
    }
}

#[test]
fn everything_that_is_wrong_says_so_and_recovers_by_itself() -> Result<()> {
    let stage = Stage::set()?;
    stage.apply_target()?;
    stage.expect("gittarget/apps", "Validated", "False GitBranchNotFound")?;
    stage.expect(
        "watchrule/all",
        "SourceNamespaceAuthorized",
        "Unknown KubeProviderNotFound",
    )?;
    stage.apply_branch("live")?;
    stage.expect("gitbranch/live", "Ready", "False GitProviderNotFound")?;
    stage.expect("gittarget/apps", "Validated", "False KubeProviderNotFound")?;

    stage.apply_kube_provider("unlisted")?;
    stage.expect(
        "kubeprovider/unlisted",
        "Stalled",
        "True InClusterNotAuthorized",
    )?;
    stage.apply_kube_provider("local")?;
    stage.expect("kubeprovider/local", "Ready", "True Succeeded")?;
    stage.expect(
        "gittarget/apps",
        "GitBranchReady",
        "False GitBranchNotReady",
    )?;

    stage.apply_provider("[other]")?;
    stage.expect("gitprovider/repo", "Ready", "False SecretNotFound")?;
    stage.expect("gitbranch/live", "Ready", "False BranchNotAllowed")?;
    stage.apply_provider("[main]")?;
    stage.expect("gitbranch/live", "Ready", "False GitProviderNotReady")?;
    stage.apply_secret("wrong")?;
    stage.expect("gitprovider/repo", "Ready", "False ConnectionFailed")?;
    stage.apply_secret("right")?;
    stage.expect("gitprovider/repo", "Ready", "True Succeeded")?;
    stage.expect("gitbranch/live", "Ready", "True Succeeded")?;
    stage.expect("gittarget/apps", "Ready", "True Succeeded")?;
    stage.expect("watchrule/all", "Ready", "True Succeeded")?;

    // A grant that shrinks takes the branch away, and restoring it is enough.
    stage.apply_provider("[other]")?;
    stage.expect("gitbranch/live", "Stalled", "True BranchNotAllowed")?;
    stage.expect("gittarget/apps", "Ready", "False GitBranchNotReady")?;
    stage.apply_provider("[main]")?;
    stage.expect("gitbranch/live", "Ready", "True Succeeded")?;
    stage.expect("gittarget/apps", "Ready", "True Succeeded")?;

    let request = format!("{}=today", crds::REQUESTED_AT);
    for object in [
        "gitprovider/repo",
        "gitbranch/live",
        "kubeprovider/local",
        "gittarget/apps",
        "watchrule/all",
    ] {
        stage.kubectl.run(&["annotate", object, &request])?;
        wait::until_ok(
            format!("{object} to answer a request"),
            wait::GENEROUS,
            || {
                let answered =
                    stage.kubectl.json(&["get", object])?["status"]["lastHandledReconcileAt"]
                        .clone();
                if answered == "today" {
                    Ok(())
                } else {
                    bail!("it answered {answered}")
                }
            },
        )?;
    }

    let missing = stage.events()?;
    assert!(
        missing.contains(&"GitTarget/apps GitBranchNotFound".to_owned()),
        "{missing:?}"
    );
    assert!(
        missing.contains(&"GitTarget/apps Succeeded".to_owned()),
        "{missing:?}"
    );
    Ok(())
}

#[test]
fn a_change_lands_in_git_and_a_branch_has_one_holder_at_a_time() -> Result<()> {
    let stage = Stage::set()?;
    stage.apply_secret("right")?;
    stage.apply_provider("[main]")?;
    stage.apply_kube_provider("local")?;
    stage.apply_branch("live")?;
    stage.apply_target()?;
    stage.expect("gittarget/apps", "Ready", "True Succeeded")?;
    stage.expect("gittarget/apps", "LayoutResolved", "True None")?;
    stage
        .kubectl
        .run(&["create", "configmap", "hello", "--from-literal=greeting=hi"])?;
    let repository = stage.git.repository("config")?;
    wait::until_ok("the ConfigMap to land in Git", wait::GENEROUS, || {
        repository
            .file("main", "apps/default/configmaps/hello.yaml")
            .or_else(|error| {
                bail!(
                    "{error}; the branch holds {:?}",
                    repository.files("main").unwrap_or_default()
                )
            })
    })?;
    wait::until_ok("an Event about the commit", wait::GENEROUS, || {
        let events = stage.events()?;
        if events.contains(&"GitTarget/apps Committed".to_owned()) {
            Ok(())
        } else {
            bail!("{events:?}")
        }
    })?;

    stage.apply_branch("second")?;
    stage.expect("gitbranch/second", "Stalled", "True BranchConflict")?;
    let live = stage.kubectl.json(&["get", "gitbranch/live"])?;
    assert_eq!(
        live["metadata"]["finalizers"][0],
        crds::GIT_BRANCH_FINALIZER
    );
    assert_eq!(live["status"]["gitTargetCount"], 1);
    stage
        .kubectl
        .run(&["delete", "gitbranch/live", "--timeout=100s"])?;
    stage.expect("gitbranch/second", "Ready", "True Succeeded")?;
    stage.expect("gittarget/apps", "Validated", "False GitBranchNotFound")?;
    Ok(())
}

#[test]
fn rf_5_a_layout_keeps_its_commit_while_the_folder_changes() -> Result<()> {
    let stage = Stage::set()?;
    stage.apply_secret("right")?;
    stage.apply_provider("[main]")?;
    stage.apply_kube_provider("local")?;
    stage.apply_branch("live")?;
    stage.apply_target()?;
    stage.expect("gittarget/apps", "LayoutResolved", "True None")?;
    let status = || -> Result<serde_json::Value> {
        let target = stage.kubectl.json(&["get", "gittarget/apps"])?;
        Ok(target["status"].clone())
    };
    let create = |name: &str| -> Result<()> {
        stage
            .kubectl
            .run(&["create", "configmap", name, "--from-literal=a=b"])?;
        Ok(())
    };
    create("first")?;
    let resolved = wait::until_ok("a layout of the first commit", wait::GENEROUS, || {
        let placement = status()?["placement"].clone();
        match placement["resolvedAtCommit"].is_string() {
            true => Ok(placement),
            false => bail!("{placement}"),
        }
    })?;
    assert_eq!(resolved["mode"], "Plain");
    create("second")?;
    wait::until_ok("another commit", wait::GENEROUS, || {
        let status = status()?;
        assert_eq!(status["placement"], resolved);
        match status["commit"] == resolved["resolvedAtCommit"] {
            true => bail!("the commit is the first one"),
            false => Ok(()),
        }
    })
}
