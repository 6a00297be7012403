use model::ServedType;
use serde_json::json;

use super::*;

fn served(group: &str, resource: &str, version: &str) -> ServedType {
    ServedType {
        type_id: TypeId::new(group, resource),
        version: version.to_owned(),
        kind: String::new(),
        namespaced: true,
        sensitive: false,
    }
}

/// Returns what is known at a path, as the record writes paths.
fn at<'a>(shape: &'a Shape, path: &str) -> Option<&'a Slot> {
    let (step, rest) = path.split_once('.').unwrap_or((path, ""));
    let slot = match step {
        record::ITEMS => shape.items.as_ref()?,
        record::ENTRIES => shape.entries.as_ref()?,
        key => shape.fields.get(key)?,
    };
    if rest.is_empty() {
        Some(slot)
    } else {
        at(slot.below.as_ref()?, rest)
    }
}

fn default(shape: &Shape, path: &str) -> Value {
    at(shape, path).unwrap().default.clone().unwrap()
}

#[test]
fn d27_every_kind_with_a_pod_knows_the_defaults_of_pods() {
    let defaults = Defaults::builtin();
    let template = "spec.template.spec";
    let kinds = [
        ("apps", "deployments", template),
        ("apps", "statefulsets", template),
        ("apps", "daemonsets", template),
        ("apps", "replicasets", template),
        ("batch", "jobs", template),
        ("batch", "cronjobs", "spec.jobTemplate.spec.template.spec"),
        ("", "replicationcontrollers", template),
        ("", "podtemplates", "template.spec"),
        ("", "pods", "spec"),
    ];
    for (group, resource, pod) in kinds {
        let shape = defaults.of(&served(group, resource, "v1")).unwrap();
        let container = |path: &str| format!("{pod}.containers.[].{path}");
        let default = |path: &str| default(shape, path);
        assert_eq!(default(&container("livenessProbe.timeoutSeconds")), 1);
        assert_eq!(default(&container("ports.[].protocol")), "TCP");
        let field = container("env.[].valueFrom.fieldRef.apiVersion");
        assert_eq!(default(&field), "v1");
        assert_eq!(
            default(&format!("{pod}.volumes.[].secret.defaultMode")),
            420
        );
        let limit = at(shape, &container("resources.limits.{}")).unwrap();
        assert_eq!(limit.spelling, Spelling::Quantity, "{resource}");
    }
}

#[test]
fn d27_a_version_has_its_own_defaults() {
    let defaults = Defaults::builtin();
    let of = |version| defaults.of(&served("autoscaling", "horizontalpodautoscalers", version));
    let percentage = "spec.targetCPUUtilizationPercentage";
    assert!(at(of("v1").unwrap(), percentage).is_some());
    assert!(at(of("v2").unwrap(), percentage).is_none());
    assert!(of("v3").is_none());
    assert!(defaults.of(&served("example.com", "pods", "v1")).is_none());
}

#[test]
fn d27_a_crd_gives_each_served_version_its_defaults() {
    let schema = |size: u32| {
        json!({"openAPIV3Schema": {"type": "object", "properties": {
            "metadata": {"type": "object", "default": {}},
            "spec": {"type": "object", "properties": {
                "size": {"type": "integer", "default": size},
                "paint": {"type": "object", "default": {}, "properties": {"colour": {"default": "green"}}},
                "parts": {"items": {"properties": {"count": {"default": 1}}}},
                "spares": {"additionalProperties": {"properties": {"shelf": {"default": "top"}}}},
            }},
        }}})
    };
    let crd = json!({
        "kind": "CustomResourceDefinition",
        "spec": {
            "group": "example.com", "names": {"plural": "widgets"},
            "versions": [
                {"name": "v1", "served": true, "schema": schema(1)},
                {"name": "v2", "served": true, "schema": schema(2)},
                {"name": "v0", "served": false, "schema": schema(0)},
            ],
        },
    });
    let mut defaults = Defaults::default();
    defaults.add_crd(&crd);
    let of = |version| defaults.of(&served("example.com", "widgets", version));
    assert_eq!(default(of("v1").unwrap(), "spec.size"), 1);
    assert_eq!(default(of("v2").unwrap(), "spec.size"), 2);
    assert!(of("v0").is_none());
    let shape = of("v1").unwrap();
    assert_eq!(default(shape, "spec.paint"), json!({"colour": "green"}));
    assert_eq!(default(shape, "spec.paint.colour"), "green");
    assert_eq!(default(shape, "spec.parts.[].count"), 1);
    assert_eq!(default(shape, "spec.spares.{}.shelf"), "top");
    assert!(at(shape, "metadata").is_none());
    let mut gone = defaults.clone();
    gone.remove(&TypeId::new("example.com", "widgets"));
    assert_eq!(gone, Defaults::default());
    gone.add_crd(&json!({"kind": "ConfigMap"}));
    assert_eq!(gone, Defaults::default());
}

#[test]
fn a_record_that_is_broken_is_refused_with_its_place() {
    let message = |text: &str| record::read(text).unwrap_err().to_string();
    assert_eq!(
        message("{\"of\":\"v1 pods\"}\nx"),
        "line 2 of the record of defaults cannot be read"
    );
    assert_eq!(
        message(
            "{\"of\":\"v1 pods\",\"shape\":\"Pod\"}\n{\"of\":\"Pod\",\"at\":\"x\",\"shape\":\"Pod\"}"
        ),
        "the record of defaults has no shape Pod, or it contains itself"
    );
}
