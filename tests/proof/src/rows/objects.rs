//! Objects that people keep in Git, and what a cluster makes of them.

use std::sync::Arc;

use manifests::TypeCatalog;
use model::sanitize::sanitize;
use model::{DesiredObject, LiveObject, Namespace, ObjectName, ResourceId, ServedType, TypeId};
use serde_json::{Map, Value, json};

use crate::change::{AWKWARD, LINES};
use crate::dice::Dice;

/// The namespace that most objects are in.
pub const TEAM: &str = "team-a";

/// A kind of object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Text by key.
    ConfigMap,
    /// What is encrypted.
    Secret,
    /// Custom, and encrypted because the operator was told so.
    TenantSecret,
    /// Ports.
    Service,
    /// Fields at the top level.
    ServiceAccount,
    /// Containers.
    Deployment,
    /// Containers and a count.
    StatefulSet,
    /// Containers without a count.
    DaemonSet,
    /// Containers and a count, from before there were Deployments.
    ReplicationController,
    /// Custom, with containers and a count.
    Rollout,
    /// Containers further down.
    CronJob,
    /// Lists in lists.
    Ingress,
    /// Without a namespace.
    ClusterRole,
    /// Custom, of any shape.
    Widget,
    /// Custom, without a namespace.
    Zone,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 15] = [
        Self::ConfigMap,
        Self::Secret,
        Self::TenantSecret,
        Self::Service,
        Self::ServiceAccount,
        Self::Deployment,
        Self::StatefulSet,
        Self::DaemonSet,
        Self::ReplicationController,
        Self::Rollout,
        Self::CronJob,
        Self::Ingress,
        Self::ClusterRole,
        Self::Widget,
        Self::Zone,
    ];

    /// The kinds that are written as they are, in a namespace.
    pub const PLAIN: [Self; 7] = [
        Self::ConfigMap,
        Self::Service,
        Self::ServiceAccount,
        Self::Deployment,
        Self::CronJob,
        Self::Ingress,
        Self::Widget,
    ];

    /// Draws a kind that is written as it is, in a namespace or without.
    pub fn draw(dice: &mut Dice) -> Self {
        if dice.once_in(6) {
            dice.one(&[Self::ClusterRole, Self::Zone])
        } else {
            dice.one(&Self::PLAIN)
        }
    }

    /// Returns group, version, resource and name of the kind.
    fn names(self) -> [&'static str; 4] {
        match self {
            Self::ConfigMap => ["", "v1", "configmaps", "ConfigMap"],
            Self::Secret => ["", "v1", "secrets", "Secret"],
            Self::TenantSecret => [
                "core.cozystack.io",
                "v1alpha1",
                "tenantsecrets",
                "TenantSecret",
            ],
            Self::Service => ["", "v1", "services", "Service"],
            Self::ServiceAccount => ["", "v1", "serviceaccounts", "ServiceAccount"],
            Self::Deployment => ["apps", "v1", "deployments", "Deployment"],
            Self::StatefulSet => ["apps", "v1", "statefulsets", "StatefulSet"],
            Self::DaemonSet => ["apps", "v1", "daemonsets", "DaemonSet"],
            Self::ReplicationController => {
                ["", "v1", "replicationcontrollers", "ReplicationController"]
            }
            Self::Rollout => ["argoproj.io", "v1alpha1", "rollouts", "Rollout"],
            Self::CronJob => ["batch", "v1", "cronjobs", "CronJob"],
            Self::Ingress => ["networking.k8s.io", "v1", "ingresses", "Ingress"],
            Self::ClusterRole => [
                "rbac.authorization.k8s.io",
                "v1",
                "clusterroles",
                "ClusterRole",
            ],
            Self::Widget => ["example.com", "v1alpha1", "widgets", "Widget"],
            Self::Zone => ["example.com", "v1alpha1", "zones", "Zone"],
        }
    }

    /// Says whether its objects live in namespaces.
    pub fn is_namespaced(self) -> bool {
        !matches!(self, Self::ClusterRole | Self::Zone)
    }

    /// Returns the type as a server serves it.
    pub fn served(self) -> ServedType {
        let [group, version, resource, kind] = self.names();
        ServedType {
            type_id: TypeId::new(group, resource),
            version: version.to_owned(),
            kind: kind.to_owned(),
            namespaced: self.is_namespaced(),
            sensitive: matches!(self, Self::Secret | Self::TenantSecret),
        }
    }

    /// Returns the kind of an object.
    pub fn of(value: &Value) -> Self {
        let name = value["kind"].as_str();
        let found = Self::ALL.iter().find(|kind| Some(kind.names()[3]) == name);
        *found.expect("every object is made here")
    }
}

/// Returns the catalog with every kind.
pub fn catalog() -> TypeCatalog {
    let served: Vec<ServedType> = Kind::ALL.iter().map(|kind| kind.served()).collect();
    served.iter().collect()
}

/// Returns the identity of an object.
pub fn id_of(value: &Value) -> ResourceId {
    let kind = Kind::of(value);
    let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str);
    let namespace = text("/metadata/namespace").unwrap_or(TEAM);
    let name = text("/metadata/name").unwrap_or_default();
    ResourceId {
        type_id: kind.served().type_id,
        namespace: kind
            .is_namespaced()
            .then(|| Namespace::new(namespace).expect("a name that is made here is one")),
        name: ObjectName::new(name).expect("a name that is made here is one"),
    }
}

/// Makes an object of a kind.
pub fn object(kind: Kind, name: &str, dice: &mut Dice) -> Value {
    let mut metadata = Map::new();
    metadata.insert("name".to_owned(), name.into());
    if kind.is_namespaced() {
        metadata.insert("namespace".to_owned(), TEAM.into());
    }
    if !dice.once_in(3) {
        let labels = json!({"app.kubernetes.io/name": word(dice), "team": word(dice)});
        metadata.insert("labels".to_owned(), labels);
    }
    if dice.once_in(3) {
        let annotations = json!({"example.com/owner": sentence(dice), "example.com/rank": number(dice).to_string()});
        metadata.insert("annotations".to_owned(), annotations);
    }
    let served = kind.served();
    let mut value = json!({
        "apiVersion": served.api_version(), "kind": served.kind, "metadata": metadata,
    });
    if let (Some(map), Value::Object(body)) = (value.as_object_mut(), body(kind, dice)) {
        map.extend(body);
    }
    value
}

fn body(kind: Kind, dice: &mut Dice) -> Value {
    match kind {
        Kind::ConfigMap => json!({"data": data(dice)}),
        Kind::Secret => json!({"type": "Opaque", "data": {
            "password": base64(dice), "token": base64(dice), "user": base64(dice),
        }}),
        Kind::TenantSecret => json!({"data": {"token": base64(dice), "user": base64(dice)}}),
        Kind::Service => json!({"spec": {
            "selector": {"app": word(dice)},
            "ports": [port("http", dice), port("metrics", dice)],
        }}),
        Kind::ServiceAccount => json!({
            "automountServiceAccountToken": dice.once_in(2),
            "imagePullSecrets": [{"name": word(dice)}, {"name": word(dice)}],
        }),
        Kind::Deployment => {
            let app = word(dice);
            json!({"spec": {
                "replicas": 2 + dice.below(40),
                "selector": {"matchLabels": {"app": app}},
                "template": {"metadata": {"labels": {"app": app}}, "spec": pod(dice)},
            }})
        }
        Kind::StatefulSet => {
            let app = word(dice);
            json!({"spec": {
                "serviceName": word(dice),
                "replicas": 2 + dice.below(40),
                "selector": {"matchLabels": {"app": app}},
                "template": {"metadata": {"labels": {"app": app}}, "spec": pod(dice)},
            }})
        }
        Kind::DaemonSet => {
            let app = word(dice);
            json!({"spec": {
                "selector": {"matchLabels": {"app": app}},
                "template": {"metadata": {"labels": {"app": app}}, "spec": pod(dice)},
            }})
        }
        Kind::Rollout => {
            let app = word(dice);
            json!({"spec": {
                "replicas": 2 + dice.below(40),
                "selector": {"matchLabels": {"app": app}},
                "template": {"metadata": {"labels": {"app": app}}, "spec": pod(dice)},
            }})
        }
        Kind::ReplicationController => {
            let app = word(dice);
            json!({"spec": {
                "replicas": 2 + dice.below(40),
                "selector": {"app": app},
                "template": {"metadata": {"labels": {"app": app}}, "spec": pod(dice)},
            }})
        }
        Kind::CronJob => json!({"spec": {
            "schedule": format!("{} * * * *", dice.below(60)),
            "suspend": dice.once_in(2),
            "jobTemplate": {"spec": {"template": {"spec": {
                "restartPolicy": "OnFailure", "containers": [container("job", dice)],
            }}}},
        }}),
        Kind::Ingress => json!({"spec": {
            "ingressClassName": word(dice),
            "rules": [rule(dice), rule(dice)],
        }}),
        Kind::ClusterRole => json!({"rules": [
            {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get", "list"]},
            {"apiGroups": [""], "resources": [word(dice), "configmaps"], "verbs": ["watch", "get"]},
        ]}),
        Kind::Widget | Kind::Zone => json!({"spec": {
            "size": number(dice), "ratio": 0.5, "enabled": dice.once_in(2), "title": sentence(dice),
            "items": [word(dice), word(dice), word(dice)],
            "parts": [{"name": word(dice), "weight": number(dice)}, {"name": word(dice), "weight": number(dice)}],
            "deep": {"er": {"value": word(dice), "mode": 420}},
        }}),
    }
}

fn pod(dice: &mut Dice) -> Value {
    let mut containers = vec![container("app", dice)];
    if dice.once_in(2) {
        containers.push(container("sidecar", dice));
    }
    json!({"serviceAccountName": word(dice), "containers": containers, "volumes": [
        {"name": "scratch", "emptyDir": {}}, {"name": "config", "configMap": {"name": word(dice)}},
    ]})
}

/// Makes a container.
pub fn container(name: &str, dice: &mut Dice) -> Value {
    json!({
        "name": name, "image": image(dice), "args": [format!("--{}", word(dice)), word(dice)],
        "env": [{"name": "MODE", "value": word(dice)}, {"name": "LEVEL", "value": number(dice).to_string()}],
        "ports": [{"name": "http", "containerPort": 1 + dice.below(60_000)}],
        "resources": {"limits": {"cpu": "500m", "memory": "64Mi"}},
    })
}

/// Makes the port of a Service.
pub fn port(name: &str, dice: &mut Dice) -> Value {
    json!({"name": name, "port": 1 + dice.below(30_000), "targetPort": 30_001 + dice.below(30_000)})
}

/// Makes a rule of an Ingress.
pub fn rule(dice: &mut Dice) -> Value {
    json!({"host": format!("{}.example.com", word(dice)), "http": {"paths": [{
        "path": "/", "pathType": "Prefix",
        "backend": {"service": {"name": word(dice), "port": {"number": 1 + dice.below(60_000)}}},
    }]}})
}

fn data(dice: &mut Dice) -> Map<String, Value> {
    let mut data = Map::new();
    for index in 0..2 + dice.below(4) {
        data.insert(format!("key-{index}"), text(dice));
    }
    data
}

/// Returns a text of any kind.
pub fn text(dice: &mut Dice) -> Value {
    match dice.below(6) {
        0 => dice.one(&AWKWARD).into(),
        1 => dice.one(&LINES).into(),
        2 => sentence(dice).into(),
        3 => format!("first line {}\nsecond: line\n", dice.below(1000)).into(),
        _ => word(dice).into(),
    }
}

/// Returns a word that is hardly ever drawn twice.
pub fn word(dice: &mut Dice) -> String {
    let stem = dice.one(&["cart", "mail", "auth", "search", "pay"]);
    format!("{stem}-{}", dice.below(1_000_000))
}

/// Returns some words.
pub fn sentence(dice: &mut Dice) -> String {
    format!(
        "{} goes to {} by way of {}",
        word(dice),
        word(dice),
        word(dice)
    )
}

/// Returns a number that is hardly ever drawn twice.
pub fn number(dice: &mut Dice) -> u64 {
    100 + dice.number() % 1_000_000
}

/// Returns the name of an image.
pub fn image(dice: &mut Dice) -> String {
    let tag = dice.below(1_000_000);
    match dice.below(4) {
        0 => format!("registry.example.com:5000/shop/{}:{tag}", word(dice)),
        1 => format!("quay.io/shop/{}@sha256:{tag:064x}", word(dice)),
        _ => format!("{}:1.{tag}", word(dice)),
    }
}

/// Returns random bytes as Secrets hold them.
pub fn base64(dice: &mut Dice) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    (0..24).map(|_| char::from(dice.one(DIGITS))).collect()
}

/// Makes the live object: what the cluster adds to what a person wrote.
pub fn live(value: &Value, dice: &mut Dice) -> Arc<DesiredObject> {
    let mut value = value.clone();
    if !dice.once_in(3) {
        value = filled(&value);
        if let Some(metadata) = value.pointer_mut("/spec/template/metadata") {
            add(metadata, "creationTimestamp", Value::Null);
        }
    }
    kept(&value, dice)
}

/// Fills in what a server does where a person wrote nothing.
pub fn filled(value: &Value) -> Value {
    let mut value = value.clone();
    let kind = Kind::of(&value);
    add_defaults(&mut value, kind);
    value
}

/// Makes the live object of exactly this, with nothing but what a server keeps for itself.
pub fn kept(value: &Value, dice: &mut Dice) -> Arc<DesiredObject> {
    let kind = Kind::of(value);
    let mut value = value.clone();
    add_bookkeeping(&mut value, kind, dice);
    let value = value.as_object().cloned().unwrap_or_default();
    let live = LiveObject {
        served: Arc::new(kind.served()),
        value,
    };
    Arc::new(sanitize(&live).expect("what is made here is mirrored"))
}

fn add_bookkeeping(value: &mut Value, kind: Kind, dice: &mut Dice) {
    let metadata = &mut value["metadata"];
    if kind.is_namespaced() {
        add(metadata, "namespace", json!(TEAM));
    }
    metadata["uid"] = json!(format!(
        "00000000-0000-0000-0000-{:012}",
        dice.below(1_000_000)
    ));
    metadata["resourceVersion"] = json!(dice.below(1_000_000).to_string());
    metadata["generation"] = json!(1 + dice.below(9));
    metadata["creationTimestamp"] = json!("2026-01-02T03:04:05Z");
    if dice.once_in(2) {
        let last = json!("{\"apiVersion\":\"v1\"}\n");
        add(metadata, "annotations", json!({}));
        metadata["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] = last;
    }
    if kind == Kind::Service {
        add(&mut value["spec"], "clusterIP", json!("10.96.12.7"));
        add(&mut value["spec"], "clusterIPs", json!(["10.96.12.7"]));
    }
    if !matches!(
        kind,
        Kind::ConfigMap | Kind::Secret | Kind::TenantSecret | Kind::ClusterRole
    ) {
        value["status"] = json!({"observedGeneration": 1, "phase": "Ready"});
    }
}

fn add_defaults(value: &mut Value, kind: Kind) {
    match kind {
        Kind::Deployment => {
            let spec = &mut value["spec"];
            add(spec, "progressDeadlineSeconds", json!(600));
            add(spec, "revisionHistoryLimit", json!(10));
            let rolling = json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}});
            add(spec, "strategy", rolling);
            add_pod_defaults(&mut spec["template"]["spec"], "Always");
        }
        Kind::CronJob => {
            let spec = &mut value["spec"];
            add(spec, "concurrencyPolicy", json!("Allow"));
            add(spec, "successfulJobsHistoryLimit", json!(3));
            add(spec, "failedJobsHistoryLimit", json!(1));
            add_pod_defaults(
                &mut spec["jobTemplate"]["spec"]["template"]["spec"],
                "Always",
            );
        }
        Kind::Service => {
            let spec = &mut value["spec"];
            add(spec, "type", json!("ClusterIP"));
            add(spec, "sessionAffinity", json!("None"));
            add(spec, "internalTrafficPolicy", json!("Cluster"));
            for port in spec["ports"].as_array_mut().into_iter().flatten() {
                add(port, "protocol", json!("TCP"));
            }
        }
        _ => {}
    }
}

fn add_pod_defaults(pod: &mut Value, restart: &str) {
    add(pod, "restartPolicy", json!(restart));
    add(pod, "dnsPolicy", json!("ClusterFirst"));
    add(pod, "schedulerName", json!("default-scheduler"));
    add(pod, "terminationGracePeriodSeconds", json!(30));
    add(pod, "securityContext", json!({}));
    if let Some(account) = pod.get("serviceAccountName").cloned() {
        add(pod, "serviceAccount", account);
    }
    for container in pod["containers"].as_array_mut().into_iter().flatten() {
        add(
            container,
            "terminationMessagePath",
            json!("/dev/termination-log"),
        );
        add(container, "terminationMessagePolicy", json!("File"));
        add(container, "imagePullPolicy", json!("IfNotPresent"));
        for port in container["ports"].as_array_mut().into_iter().flatten() {
            add(port, "protocol", json!("TCP"));
        }
    }
    for volume in pod["volumes"].as_array_mut().into_iter().flatten() {
        if let Some(config) = volume.get_mut("configMap") {
            add(config, "defaultMode", json!(420));
        }
    }
}

fn add(to: &mut Value, key: &str, value: Value) {
    if let Some(map) = to.as_object_mut() {
        map.entry(key).or_insert(value);
    }
}
