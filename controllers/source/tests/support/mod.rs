//! A source in front of a real API server, and a branch that notes what it is given.
#![allow(dead_code, reason = "each test program uses the part that it needs")]

pub(crate) mod recorder;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use board::metrics::Registrar;
use board::{Publisher, Reader, SourceView, StreamState, TargetStreams};
use kube::config::{KubeConfigOptions, Kubeconfig as ClientConfig};
use kube::{Client, Config};
use model::{
    KubeProviderKey, Namespace, Now, ObjectName, RuleKey, Scope, Selector, Sensitivity, TargetKey,
};
use prometheus::Registry;
use serde_json::Value;
use source::{
    Connection, ItemDeclaration, Metrics, Publishers, RuleDeclaration, Settings, Source,
    SourceHandle, TargetDeclaration, TypeCatalogView,
};
use testkit::{ControlPlane, Kubeconfig, Kubectl, Person};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use recorder::Recorder;

/// How long anything may take before a test gives up.
const PATIENCE: Duration = Duration::from_secs(120);

/// The control plane that tests share that do not break it. It records audit events.
pub(crate) fn shared() -> &'static ControlPlane {
    static SHARED: OnceLock<ControlPlane> = OnceLock::new();
    SHARED.get_or_init(|| ControlPlane::builder().audit_log().start().unwrap())
}

/// Waits until the probe answers.
pub(crate) async fn eventually<T>(what: &str, mut probe: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = probe() {
            return found;
        }
        assert!(started.elapsed() < PATIENCE, "gave up waiting for {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Returns a client for that user, through another address where one is given.
pub(crate) async fn client(kubeconfig: &Kubeconfig, through: Option<String>) -> Client {
    let text = kubeconfig.text().unwrap();
    let parsed = ClientConfig::from_yaml(&text).unwrap();
    let options = KubeConfigOptions::default();
    let mut config = Config::from_custom_kubeconfig(parsed, &options)
        .await
        .unwrap();
    config.proxy_url = None;
    if let Some(url) = through {
        config.cluster_url = url.parse().unwrap();
    }
    Client::try_from(config).unwrap()
}

/// Settings with short pauses, so that tests end soon.
pub(crate) fn settings() -> Settings {
    Settings {
        refresh_interval: Duration::from_millis(500),
        removal_grace: Duration::from_secs(1),
        reconnect_delay: Duration::from_millis(200),
        ..Settings::documented(
            Sensitivity::default(),
            vec!["views.configbutler.ai".to_owned()],
        )
    }
}

/// A namespace with an administrator who writes to it and a user of our own who may read it.
pub(crate) struct Corner {
    pub(crate) control_plane: &'static ControlPlane,
    pub(crate) namespace: String,
    pub(crate) admin: Kubectl,
    pub(crate) user: String,
}

impl Corner {
    /// Creates the namespace. `purpose` has to differ between tests that share a control plane.
    pub(crate) fn new(control_plane: &'static ControlPlane, purpose: &str) -> Self {
        let admin = control_plane.as_admin().unwrap();
        admin.run(&["create", "namespace", purpose]).unwrap();
        Self {
            control_plane,
            namespace: purpose.to_owned(),
            admin,
            user: format!("watcher-{purpose}"),
        }
    }

    /// Lets our user read and watch those resources in the namespace, whatever their group.
    pub(crate) fn grant(&self, resources: &str) {
        self.apply(&format!(
            "{{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {{name: watcher}}, \
             rules: [{{apiGroups: ['*'], resources: [{resources}], verbs: [list, watch]}}]}}"
        ));
        let user = format!("--user={}", self.user);
        self.run(&["create", "rolebinding", "watcher", "--role=watcher", &user]);
    }

    /// Runs kubectl in the namespace.
    pub(crate) fn run(&self, arguments: &[&str]) -> String {
        let namespace = ["--namespace", &self.namespace];
        self.admin.run(&[arguments, &namespace].concat()).unwrap()
    }

    /// Creates a config map or changes what it holds.
    pub(crate) fn write(&self, name: &str, content: &str) {
        self.apply(&format!(
            "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}}}, data: {{content: {content:?}}}}}"
        ));
    }

    /// Applies a manifest in the namespace.
    pub(crate) fn apply(&self, manifest: &str) {
        let arguments = ["apply", "--namespace", &self.namespace, "-f", "-"];
        self.admin.run_with_input(&arguments, manifest).unwrap();
    }

    /// Returns a client for our user.
    pub(crate) async fn client(&self, through: Option<String>) -> Client {
        let kubeconfig = self
            .control_plane
            .person(&Person::named(&self.user))
            .unwrap();
        client(&kubeconfig, through).await
    }

    /// An item that selects resources of the namespace.
    pub(crate) fn item(&self, resources: &[&str]) -> ItemDeclaration {
        ItemDeclaration {
            resources: resources.iter().map(ToString::to_string).collect(),
            api_groups: None,
            api_versions: None,
            scope: Scope::Namespace(Namespace::new(self.namespace.as_str()).unwrap()),
            selector: Selector::everything(),
        }
    }

    /// Returns the requests of our user for objects of that resource, as `verb` each.
    pub(crate) fn requests(&self, resource: &str) -> Vec<String> {
        let is_ours = |event: &Value| {
            event["user"]["username"] == self.user.as_str()
                && event["objectRef"]["resource"] == resource
        };
        let events = self.control_plane.audit_events().unwrap();
        let started = events.iter().filter(|event| {
            // A watch is recorded when it begins and when it ends.
            is_ours(event) && (event["verb"] != "watch" || event["stage"] == "ResponseStarted")
        });
        started
            .map(|event| event["verb"].as_str().unwrap().to_owned())
            .collect()
    }
}

/// Narrows an item to objects with a label.
pub(crate) fn labelled(mut item: ItemDeclaration, key: &str, value: &str) -> ItemDeclaration {
    let labels = BTreeMap::from([(key.to_owned(), value.to_owned())]);
    item.selector = Selector::new(&labels, &[]).unwrap();
    item
}

pub(crate) fn rule(name: &str, items: Vec<ItemDeclaration>) -> RuleDeclaration {
    RuleDeclaration {
        rule: RuleKey::new(namespace("team-a"), ObjectName::new(name).unwrap()),
        created_at: 1,
        items,
    }
}

pub(crate) fn target(name: &str) -> TargetKey {
    TargetKey::new(namespace("team-a"), ObjectName::new(name).unwrap())
}

fn namespace(name: &str) -> Namespace {
    Namespace::new(name).unwrap()
}

/// A source that runs.
pub(crate) struct RunningSource {
    pub(crate) handle: SourceHandle,
    pub(crate) view: Reader<SourceView>,
    pub(crate) catalog: Reader<TypeCatalogView>,
    pub(crate) metrics: Registry,
    cancel: CancellationToken,
    task: JoinSet<()>,
}

impl RunningSource {
    pub(crate) fn start(client: Client, settings: Settings) -> Self {
        let (handle, inbox) = source::channel();
        let publishers = Publishers {
            view: Publisher::new(SourceView::default()),
            catalog: Publisher::new(TypeCatalogView::default()),
        };
        let view = publishers.view.reader();
        let catalog = publishers.catalog.reader();
        let mut registrar = Registrar::new("test");
        let directory = board::DirectoryWriter::new().reader();
        let counters = Metrics::register(&mut registrar, &directory).unwrap();
        let (metrics, _) = registrar.finish();
        let started = Instant::now();
        let source = Source {
            key: KubeProviderKey::new(namespace("team-a"), ObjectName::new("local").unwrap()),
            connection: Connection::new(client),
            settings,
            publishers,
            clock: Arc::new(move || Now {
                monotonic: millis(started.elapsed()),
                wall: millis(SystemTime::now().duration_since(UNIX_EPOCH).unwrap()),
            }),
            metrics: counters,
        };
        let cancel = CancellationToken::new();
        let mut task = JoinSet::new();
        task.spawn(source.run(inbox, cancel.clone()));
        Self {
            handle,
            view,
            catalog,
            metrics,
            cancel,
            task,
        }
    }

    /// Declares a target, and returns when the source has answered.
    pub(crate) async fn declare(
        &self,
        name: &str,
        generation: u64,
        sink: &Arc<Recorder>,
        rules: Vec<RuleDeclaration>,
    ) {
        let declaration = TargetDeclaration {
            target: target(name),
            generation,
            sink: Arc::clone(sink) as Arc<dyn source::Sink>,
            rules,
        };
        self.handle.declare(declaration).await.unwrap();
        eventually("the declaration to be answered", || {
            (self.streams(name)?.generation == generation).then_some(())
        })
        .await;
    }

    pub(crate) fn streams(&self, name: &str) -> Option<TargetStreams> {
        self.view.now().targets.get(&target(name)).cloned()
    }

    /// Returns the streams of a target as `collection: state`.
    pub(crate) fn states(&self, name: &str) -> Vec<String> {
        let Some(streams) = self.streams(name) else {
            return Vec::new();
        };
        let shown = streams.streams.iter().map(|(collection, stream)| {
            let state = match &stream.state {
                StreamState::Pending => "pending",
                StreamState::Replaying { .. } => "replaying",
                StreamState::Streaming => "streaming",
                StreamState::Blocked { reason, .. } => reason,
            };
            format!("{collection}: {state}")
        });
        shown.collect()
    }

    /// Waits until the streams of a target are in these states.
    pub(crate) async fn until(&self, name: &str, wanted: &[&str]) {
        let what = format!("{name} to have {wanted:?}");
        eventually(&what, || (self.states(name) == wanted).then_some(())).await;
    }

    /// Returns a counter, summed over everything but one of its labels.
    pub(crate) fn counted(&self, family: &str, label: &str) -> f64 {
        let families = self.metrics.gather();
        let family = format!("test_{family}");
        let family = families.iter().find(|found| found.name() == family);
        let metrics = family.map(|family| family.get_metric()).unwrap_or_default();
        metrics
            .iter()
            .filter(|metric| metric.get_label().iter().any(|pair| pair.value() == label))
            .map(|metric| metric.get_counter().get_value())
            .sum()
    }

    /// Stops the source and waits for it.
    pub(crate) async fn stop(mut self) {
        self.cancel.cancel();
        while let Some(ended) = self.task.join_next().await {
            ended.unwrap();
        }
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap()
}
