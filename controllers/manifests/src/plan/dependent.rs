//! Defaults that depend on other fields, by name (D27).
//!
//! They cannot be recorded as data, so they stand here, and a test compares each with a real API server. The
//! recorder leaves them out of its record and fails when it meets one that has no rule here. What they depend on
//! is read from the live object: the document will hold the same, or is edited until it does.

use model::TypeId;
use serde_json::{Map, Value, json};

/// The fields that have a rule here, by the shape that holds them.
const DEPENDENT: [(&str, &str); 27] = [
    ("apiextensions.v1.CustomResourceDefinitionNames", "listKind"),
    ("apiextensions.v1.CustomResourceDefinitionNames", "singular"),
    ("batch.v1.JobSpec", "backoffLimit"),
    ("batch.v1.JobSpec", "completions"),
    ("batch.v1.JobSpec", "podReplacementPolicy"),
    ("core.v1.Container", "imagePullPolicy"),
    ("core.v1.Container", "volumeMounts"),
    ("core.v1.ContainerPort", "hostPort"),
    ("core.v1.EphemeralContainer", "imagePullPolicy"),
    ("core.v1.ImageVolumeSource", "pullPolicy"),
    ("core.v1.LimitRangeItem", "default"),
    ("core.v1.LimitRangeItem", "defaultRequest"),
    ("core.v1.NodeSpec", "podCIDR"),
    ("core.v1.PodSpec", "nodeName"),
    ("core.v1.PodSpec", "preemptionPolicy"),
    ("core.v1.PodSpec", "priority"),
    ("core.v1.PodSpec", "serviceAccount"),
    ("core.v1.PodSpec", "serviceAccountName"),
    ("core.v1.ReplicationControllerSpec", "selector"),
    ("core.v1.ResourceRequirements", "requests"),
    ("core.v1.ServicePort", "targetPort"),
    ("core.v1.ServiceSpec", "clusterIPs"),
    ("core.v1.ServiceSpec", "sessionAffinityConfig"),
    ("networking.v1.NetworkPolicySpec", "policyTypes"),
    ("rbac.v1.ClusterRole", "rules"),
    ("rbac.v1.Subject", "apiGroup"),
    ("resource.v1.DeviceTaint", "timeAdded"),
];

/// Says whether what fills a field depends on other fields, so that it is no matter of the record.
pub fn depends(shape: &str, field: &str) -> bool {
    DEPENDENT.contains(&(shape, field))
}

/// What the server or a controller puts into a field that is not given.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Filled {
    /// Exactly this.
    Value(Value),
    /// A map, of which each missing entry is filled in by itself.
    Entries(Map<String, Value>),
    /// Whatever it is: nobody else can set it.
    Anything,
    /// Whatever it is, also where something is given: a controller keeps it.
    Kept,
}

/// What of the whole object the fields of its parts depend on.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Whole {
    is_pod: bool,
    is_job: bool,
    host_network: bool,
}

impl Whole {
    pub(super) fn of(type_id: &TypeId, value: &Value) -> Self {
        let is_pod = type_id.group.is_empty() && type_id.resource == "pods";
        let is_job = type_id.group == "batch" && type_id.resource == "jobs";
        let host_network = value.pointer("/spec/hostNetwork") == Some(&Value::Bool(true));
        Self {
            is_pod,
            is_job,
            host_network,
        }
    }

    /// Returns what fills a field of a value of that shape.
    pub(super) fn fills(
        self,
        shape: &str,
        field: &str,
        live: &Map<String, Value>,
    ) -> Option<Filled> {
        let at = |key: &str| live.get(key).cloned().unwrap_or_default();
        let value = match (shape, field) {
            ("core.v1.Container" | "core.v1.EphemeralContainer", "imagePullPolicy") => {
                pull_policy(&at("image"))
            }
            ("core.v1.ImageVolumeSource", "pullPolicy") => pull_policy(&at("reference")),
            ("apiextensions.v1.CustomResourceDefinitionNames", "listKind") => {
                json!(format!("{}List", at("kind").as_str()?))
            }
            ("apiextensions.v1.CustomResourceDefinitionNames", "singular") => {
                json!(at("kind").as_str()?.to_lowercase())
            }
            ("core.v1.NodeSpec", "podCIDR") => live.get("podCIDRs")?.get(0)?.clone(),
            ("core.v1.ServicePort", "targetPort") => at("port"),
            ("core.v1.ServiceSpec", "clusterIPs") => json!([live.get("clusterIP")?]),
            ("core.v1.ServiceSpec", "sessionAffinityConfig") => {
                let by_client =
                    live.get("sessionAffinity").and_then(Value::as_str) == Some("ClientIP");
                by_client.then(|| json!({"clientIP": {"timeoutSeconds": 10800}}))?
            }
            ("core.v1.PodSpec", "serviceAccount") => at("serviceAccountName"),
            ("core.v1.ReplicationControllerSpec", "selector") => template_labels(live),
            ("networking.v1.NetworkPolicySpec", "policyTypes") => match live.get("egress") {
                Some(_) => json!(["Ingress", "Egress"]),
                None => json!(["Ingress"]),
            },
            ("rbac.v1.Subject", "apiGroup") => match live.get("kind").and_then(Value::as_str) {
                Some("User" | "Group") => json!("rbac.authorization.k8s.io"),
                _ => return None,
            },
            ("core.v1.LimitRangeItem", "default") => {
                return container_limits(live).map(Filled::Entries);
            }
            ("core.v1.LimitRangeItem", "defaultRequest") => {
                return container_requests(live).map(Filled::Entries);
            }
            // The time of the request.
            ("resource.v1.DeviceTaint", "timeAdded") => return Some(Filled::Anything),
            ("rbac.v1.ClusterRole", "rules") if live.contains_key("aggregationRule") => {
                return Some(Filled::Kept);
            }
            ("batch.v1.JobSpec", _) if self.is_job => return job(field, live).map(Filled::Value),
            _ if self.is_pod => return self.fills_pod(shape, field, live),
            _ => return None,
        };
        Some(Filled::Value(value))
    }

    /// Returns what fills a field of a Pod that is no template: some defaults are set only there, and admission
    /// and the scheduler set more.
    fn fills_pod(self, shape: &str, field: &str, live: &Map<String, Value>) -> Option<Filled> {
        match (shape, field) {
            ("core.v1.ResourceRequirements", "requests") => {
                let limits = live.get("limits")?.as_object()?;
                Some(Filled::Entries(limits.clone()))
            }
            ("core.v1.ContainerPort", "hostPort") if self.host_network => {
                live.get("containerPort").cloned().map(Filled::Value)
            }
            ("core.v1.PodSpec", "priority" | "preemptionPolicy" | "nodeName") => {
                Some(Filled::Anything)
            }
            ("core.v1.PodSpec", "serviceAccountName") => Some(Filled::Value(json!("default"))),
            _ => None,
        }
    }

    /// Says whether admission adds such an item to a list of a Pod.
    pub(super) fn adds(self, shape: &str, field: &str, item: &Value) -> bool {
        let text = |key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default();
        self.is_pod
            && match (shape, field) {
                ("core.v1.PodSpec", "tolerations") => {
                    let key = text("key");
                    let of_the_node = ["not-ready", "unreachable"]
                        .iter()
                        .any(|state| key.strip_prefix("node.kubernetes.io/") == Some(state));
                    of_the_node
                        && text("operator") == "Exists"
                        && text("effect") == "NoExecute"
                        && item.get("tolerationSeconds") == Some(&json!(300))
                }
                ("core.v1.PodSpec", "volumes") | ("core.v1.Container", "volumeMounts") => {
                    text("name").starts_with("kube-api-access-")
                }
                _ => false,
            }
    }
}

/// Returns what fills a field of a Job; in the template of a CronJob they stay empty.
fn job(field: &str, live: &Map<String, Value>) -> Option<Value> {
    let has = |key: &str| live.contains_key(key);
    Some(match field {
        "backoffLimit" if has("backoffLimitPerIndex") => json!(i32::MAX),
        "backoffLimit" => json!(6),
        "completions" if live.get("parallelism") == Some(&json!(1)) => json!(1),
        "podReplacementPolicy" if has("podFailurePolicy") => json!("Failed"),
        "podReplacementPolicy" => json!("TerminatingOrFailed"),
        _ => return None,
    })
}

/// Always for an image that may change under its name, which `latest` and no tag at all may.
fn pull_policy(image: &Value) -> Value {
    let image = image.as_str().unwrap_or_default();
    let name = image.rsplit('/').next().unwrap_or_default();
    let tag = match name.split_once('@') {
        Some(_) => Some("a digest"),
        None => name.split_once(':').map(|(_, tag)| tag),
    };
    match tag {
        None | Some("latest") if !image.is_empty() => json!("Always"),
        _ => json!("IfNotPresent"),
    }
}

fn template_labels(spec: &Map<String, Value>) -> Value {
    let labels = spec
        .get("template")
        .and_then(|template| template.pointer("/metadata/labels"));
    labels.cloned().unwrap_or_default()
}

/// The default limits of a container are its maximum.
fn container_limits(item: &Map<String, Value>) -> Option<Map<String, Value>> {
    let is_container = item.get("type").and_then(Value::as_str) == Some("Container");
    let max = item.get("max").and_then(Value::as_object);
    is_container.then(|| max.cloned().unwrap_or_default())
}

/// The default requests of a container are its default limits, else its minimum.
fn container_requests(item: &Map<String, Value>) -> Option<Map<String, Value>> {
    let map = |key: &str| item.get(key).and_then(Value::as_object).cloned();
    container_limits(item)?;
    let mut requests = map("min").unwrap_or_default();
    requests.extend(map("default").unwrap_or_default());
    Some(requests)
}

/// Returns the labels that a Job and a ReplicationController without labels take from their template.
pub(super) fn mirrored_labels<'a>(type_id: &TypeId, value: &'a Value) -> Option<&'a Value> {
    let takes_them = matches!(
        (type_id.group.as_str(), type_id.resource.as_str()),
        ("batch", "jobs") | ("", "replicationcontrollers")
    );
    takes_them
        .then(|| value.pointer("/spec/template/metadata/labels"))
        .flatten()
}
