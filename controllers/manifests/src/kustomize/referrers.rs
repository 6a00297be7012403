//! Fields that refer to other objects by name, which kustomize looks at in every build.
//!
//! Their values never change in what is modelled. But kustomize gives up on an object in which the way to one of
//! them is blocked by a value of another shape, and so does this model.

use serde_json::Value;

use super::field_spec::{Make, WrongShape, walk, walk_on};
use super::node::{Content, Node};
use super::object::{Object, Trail};

/// Where the kinds with pods have them.
const PODS: [(&str, &str); 8] = [
    ("Pod", "spec"),
    ("PodTemplate", "template/spec"),
    ("Deployment", "spec/template/spec"),
    ("ReplicaSet", "spec/template/spec"),
    ("DaemonSet", "spec/template/spec"),
    ("StatefulSet", "spec/template/spec"),
    ("Job", "spec/template/spec"),
    ("CronJob", "spec/jobTemplate/spec/template/spec"),
];

/// What refers to ConfigMaps and Secrets in a pod.
const IN_PODS: [&str; 13] = [
    "containers/env/valueFrom/configMapKeyRef/name",
    "containers/env/valueFrom/secretKeyRef/name",
    "containers/envFrom/configMapRef/name",
    "containers/envFrom/secretRef/name",
    "imagePullSecrets/name",
    "initContainers/env/valueFrom/configMapKeyRef/name",
    "initContainers/env/valueFrom/secretKeyRef/name",
    "initContainers/envFrom/configMapRef/name",
    "initContainers/envFrom/secretRef/name",
    "volumes/configMap/name",
    "volumes/projected/sources/configMap/name",
    "volumes/projected/sources/secret/name",
    "volumes/secret/secretName",
];

/// The kinds in whose pods kustomize looks for the other references.
const RUNNERS: [(&str, &str); 7] = [
    ("Pod", "spec"),
    ("ReplicationController", "spec/template/spec"),
    ("Deployment", "spec/template/spec"),
    ("DaemonSet", "spec/template/spec"),
    ("StatefulSet", "spec/template/spec"),
    ("Job", "spec/template/spec"),
    ("CronJob", "spec/jobTemplate/spec/template/spec"),
];

const IN_RUNNERS: [&str; 3] = [
    "priorityClassName",
    "serviceAccountName",
    "volumes/persistentVolumeClaim/claimName",
];

/// The references of other kinds: group (nothing for every one), kind, path.
const OTHERS: [(&str, &str, &str); 26] = [
    ("", "ClusterRole", "rules/resourceNames"),
    ("", "HorizontalPodAutoscaler", "spec/scaleTargetRef/name"),
    ("", "Ingress", "spec/backend/serviceName"),
    ("", "Ingress", "spec/defaultBackend/service/name"),
    ("", "Ingress", "spec/rules/http/paths/backend/service/name"),
    ("", "Ingress", "spec/rules/http/paths/backend/serviceName"),
    ("", "Ingress", "spec/tls/secretName"),
    ("", "Ingress", "spec/ingressClassName"),
    ("", "Node", "spec/configSource/configMap"),
    ("", "PersistentVolume", "spec/azureFile/secretName"),
    ("", "PersistentVolume", "spec/storageClassName"),
    ("", "PersistentVolumeClaim", "spec/storageClassName"),
    ("", "PersistentVolumeClaim", "spec/volumeName"),
    ("", "Role", "rules/resourceNames"),
    ("", "ServiceAccount", "imagePullSecrets/name"),
    (
        "",
        "StatefulSet",
        "spec/volumeClaimTemplates/spec/storageClassName",
    ),
    ("", "StorageClass", "parameters/adminSecretName"),
    ("", "StorageClass", "parameters/secretName"),
    ("", "StorageClass", "parameters/secretRef"),
    ("", "StorageClass", "parameters/userSecretName"),
    (
        "admissionregistration.k8s.io",
        "ValidatingAdmissionPolicyBinding",
        "spec/policyName",
    ),
    ("apiregistration.k8s.io", "APIService", "spec/service/name"),
    ("apps", "StatefulSet", "spec/serviceName"),
    (
        "rbac.authorization.k8s.io",
        "ClusterRoleBinding",
        "roleRef/name",
    ),
    ("rbac.authorization.k8s.io", "RoleBinding", "roleRef/name"),
    (
        "serving.knative.dev",
        "Service",
        "spec/template/spec/containers/env/valueFrom/secretKeyRef/name",
    ),
];

/// Checks that kustomize can look at all references of an object.
pub(crate) fn check(object: &mut Object) -> Result<(), WrongShape> {
    for (pods, below) in [(&PODS[..], &IN_PODS[..]), (&RUNNERS, &IN_RUNNERS)] {
        if let Some((_, pod)) = pods.iter().find(|(kind, _)| *kind == object.kind()) {
            let mut check_pod = |node: &mut Node, trail: Trail<'_>| {
                let mut below = below.iter();
                below.try_for_each(|path| {
                    walk_on(node, path, trail, &Make::Nothing, &mut check_reference)
                })
            };
            walk(&mut object.node, pod, &Make::Nothing, &mut check_pod)?;
        }
    }
    let of_kind = OTHERS.iter().filter(|(_, kind, _)| *kind == object.kind());
    let of_group =
        of_kind.filter(|(group, ..)| group.is_empty() || *group == object.group_version().0);
    let paths: Vec<&str> = of_group.map(|(.., path)| *path).collect();
    let mut paths = paths.into_iter();
    paths.try_for_each(|path| walk(&mut object.node, path, &Make::Nothing, &mut check_reference))
}

fn check_reference(node: &mut Node, trail: Trail<'_>) -> Result<(), WrongShape> {
    let is_reference = |node: &Node| match &node.content {
        Content::Scalar(_) => true,
        Content::Mapping(fields) => fields.contains_key("name"),
        Content::Sequence(_) => false,
    };
    let is_list = matches!(&node.content, Content::Sequence(items) if items.iter().all(|item| {
        matches!(item.content, Content::Scalar(Value::Null)) || is_reference(item)
    }));
    if is_list || is_reference(node) {
        Ok(())
    } else {
        Err(WrongShape::at(trail, "a name"))
    }
}
