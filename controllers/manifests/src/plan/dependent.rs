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
        let is_pod = type_id.group.is_empty() && &*type_id.resource == "pods";
        let is_job = &*type_id.group == "batch" && &*type_id.resource == "jobs";
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
        match shape.split_once('.')?.0 {
            "core" => core(shape, field, live)
                .or_else(|| self.is_pod.then(|| self.pod(shape, field, live)).flatten()),
            "batch" if self.is_job => job(shape, field, live),
            _ => other_groups(shape, field, live),
        }
    }

    /// Returns what fills a field of a Pod that is no template: some defaults are set only there, and admission
    /// and the scheduler set more.
    fn pod(self, shape: &str, field: &str, live: &Map<String, Value>) -> Option<Filled> {
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

fn core(shape: &str, field: &str, live: &Map<String, Value>) -> Option<Filled> {
    let value = match (shape, field) {
        ("core.v1.Container" | "core.v1.EphemeralContainer", "imagePullPolicy") => {
            pull_policy(live.get("image"))
        }
        ("core.v1.ImageVolumeSource", "pullPolicy") => pull_policy(live.get("reference")),
        ("core.v1.LimitRangeItem", "default") => {
            return container_limits(live).map(Filled::Entries);
        }
        ("core.v1.LimitRangeItem", "defaultRequest") => {
            return container_requests(live).map(Filled::Entries);
        }
        ("core.v1.NodeSpec", "podCIDR") => live.get("podCIDRs")?.get(0)?.clone(),
        // The older name of the same field.
        ("core.v1.PodSpec", "serviceAccount") => live.get("serviceAccountName")?.clone(),
        ("core.v1.ReplicationControllerSpec", "selector") => {
            live.get("template")?.pointer("/metadata/labels")?.clone()
        }
        ("core.v1.ServicePort", "targetPort") => live.get("port")?.clone(),
        ("core.v1.ServiceSpec", "clusterIPs") => json!([live.get("clusterIP")?]),
        ("core.v1.ServiceSpec", "sessionAffinityConfig")
            if live.get("sessionAffinity")? == "ClientIP" =>
        {
            json!({"clientIP": {"timeoutSeconds": 10800}})
        }
        _ => return None,
    };
    Some(Filled::Value(value))
}

fn other_groups(shape: &str, field: &str, live: &Map<String, Value>) -> Option<Filled> {
    let value = match (shape, field) {
        ("apiextensions.v1.CustomResourceDefinitionNames", "listKind") => {
            json!(format!("{}List", live.get("kind")?.as_str()?))
        }
        ("apiextensions.v1.CustomResourceDefinitionNames", "singular") => {
            json!(live.get("kind")?.as_str()?.to_lowercase())
        }
        ("networking.v1.NetworkPolicySpec", "policyTypes") if live.contains_key("egress") => {
            json!(["Ingress", "Egress"])
        }
        ("networking.v1.NetworkPolicySpec", "policyTypes") => json!(["Ingress"]),
        ("rbac.v1.Subject", "apiGroup") if live.get("kind")? != "ServiceAccount" => {
            json!("rbac.authorization.k8s.io")
        }
        ("rbac.v1.ClusterRole", "rules") if live.contains_key("aggregationRule") => {
            return Some(Filled::Kept);
        }
        // The time of the request.
        ("resource.v1.DeviceTaint", "timeAdded") => return Some(Filled::Anything),
        _ => return None,
    };
    Some(Filled::Value(value))
}

/// Returns what fills a field of a Job; in the template of a CronJob they stay empty.
fn job(shape: &str, field: &str, live: &Map<String, Value>) -> Option<Filled> {
    let has = |key: &str| live.contains_key(key);
    let value = match (shape, field) {
        ("batch.v1.JobSpec", "backoffLimit") if has("backoffLimitPerIndex") => json!(i32::MAX),
        ("batch.v1.JobSpec", "backoffLimit") => json!(6),
        // Filled only together with `parallelism`.
        ("batch.v1.JobSpec", "completions") if *live.get("parallelism")? == 1 => json!(1),
        ("batch.v1.JobSpec", "podReplacementPolicy") if has("podFailurePolicy") => json!("Failed"),
        ("batch.v1.JobSpec", "podReplacementPolicy") => json!("TerminatingOrFailed"),
        _ => return None,
    };
    Some(Filled::Value(value))
}

/// Always for an image that may change under its name, which `latest` and no tag at all may.
fn pull_policy(image: Option<&Value>) -> Value {
    let image = image.and_then(Value::as_str).unwrap_or_default();
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
        (&*type_id.group, &*type_id.resource),
        ("batch", "jobs") | ("", "replicationcontrollers")
    );
    takes_them
        .then(|| value.pointer("/spec/template/metadata/labels"))
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fills(resource: &str, shape: &str, field: &str, live: &Value) -> Option<Filled> {
        let group = if resource == "jobs" { "batch" } else { "" };
        let whole = Whole::of(
            &TypeId::new(group, resource),
            &json!({"spec": {"hostNetwork": true}}),
        );
        whole.fills(shape, field, live.as_object().unwrap())
    }

    #[test]
    fn d27_the_pull_policy_follows_the_tag() {
        let of = |image: &str| {
            let live = json!({"image": image});
            match fills("deployments", "core.v1.Container", "imagePullPolicy", &live) {
                Some(Filled::Value(Value::String(policy))) => policy,
                other => panic!("{other:?}"),
            }
        };
        for image in [
            "web",
            "web:latest",
            "registry:5000/web",
            "r.example.com/a/web:latest",
        ] {
            assert_eq!(of(image), "Always", "{image}");
        }
        for image in [
            "web:1",
            "registry:5000/web:1",
            "web@sha256:00",
            "web:latest@sha256:00",
            "",
        ] {
            assert_eq!(of(image), "IfNotPresent", "{image}");
        }
    }

    #[test]
    fn d27_some_defaults_are_those_of_one_kind_only() {
        let limits = json!({"limits": {"cpu": "1"}});
        let requests = |resource| {
            fills(
                resource,
                "core.v1.ResourceRequirements",
                "requests",
                &limits,
            )
        };
        assert!(requests("pods").is_some());
        assert!(requests("deployments").is_none());
        let port = json!({"containerPort": 80});
        let host_port = |resource| fills(resource, "core.v1.ContainerPort", "hostPort", &port);
        assert_eq!(host_port("pods"), Some(Filled::Value(json!(80))));
        assert!(host_port("deployments").is_none());
        let backoff = |resource| fills(resource, "batch.v1.JobSpec", "backoffLimit", &json!({}));
        assert_eq!(backoff("jobs"), Some(Filled::Value(json!(6))));
        assert!(backoff("cronjobs").is_none());
    }

    #[test]
    fn d27_completions_are_filled_only_together_with_parallelism() {
        let completions = |parallelism: u32| {
            let live = json!({"parallelism": parallelism, "completions": 1});
            fills("jobs", "batch.v1.JobSpec", "completions", &live)
        };
        assert_eq!(completions(1), Some(Filled::Value(json!(1))));
        assert_eq!(completions(3), None);
    }

    #[test]
    fn d27_the_rules_of_an_aggregated_role_are_the_controllers() {
        let rules = |live: Value| fills("clusterroles", "rbac.v1.ClusterRole", "rules", &live);
        assert_eq!(
            rules(json!({"aggregationRule": {}, "rules": []})),
            Some(Filled::Kept)
        );
        assert_eq!(rules(json!({"rules": []})), None);
    }
}
