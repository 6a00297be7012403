//! `namespace:`.

use serde_json::Value;

use super::field_spec::{FieldSpec, Make, WrongShape};
use super::node::{Content, Node, Supplier};
use super::object::{Object, Step, Trail};

/// The kinds that kustomize 5.8.1 knows to live in no namespace. The list is frozen with its release: kinds that
/// came later get a namespace that they must not have.
const CLUSTER_SCOPED: [(&str, &str); 36] = [
    (
        "admissionregistration.k8s.io/v1",
        "MutatingWebhookConfiguration",
    ),
    (
        "admissionregistration.k8s.io/v1",
        "ValidatingWebhookConfiguration",
    ),
    (
        "admissionregistration.k8s.io/v1beta1",
        "MutatingWebhookConfiguration",
    ),
    (
        "admissionregistration.k8s.io/v1beta1",
        "ValidatingWebhookConfiguration",
    ),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
    ("apiextensions.k8s.io/v1beta1", "CustomResourceDefinition"),
    ("apiregistration.k8s.io/v1", "APIService"),
    ("apiregistration.k8s.io/v1beta1", "APIService"),
    ("certificates.k8s.io/v1", "CertificateSigningRequest"),
    ("certificates.k8s.io/v1beta1", "CertificateSigningRequest"),
    ("flowcontrol.apiserver.k8s.io/v1beta1", "FlowSchema"),
    (
        "flowcontrol.apiserver.k8s.io/v1beta1",
        "PriorityLevelConfiguration",
    ),
    ("networking.k8s.io/v1", "IngressClass"),
    ("networking.k8s.io/v1beta1", "IngressClass"),
    ("node.k8s.io/v1", "RuntimeClass"),
    ("node.k8s.io/v1beta1", "RuntimeClass"),
    ("policy/v1beta1", "PodSecurityPolicy"),
    ("rbac.authorization.k8s.io/v1", "ClusterRole"),
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"),
    ("rbac.authorization.k8s.io/v1beta1", "ClusterRole"),
    ("rbac.authorization.k8s.io/v1beta1", "ClusterRoleBinding"),
    ("scheduling.k8s.io/v1", "PriorityClass"),
    ("scheduling.k8s.io/v1beta1", "PriorityClass"),
    ("storage.k8s.io/v1", "CSIDriver"),
    ("storage.k8s.io/v1", "CSINode"),
    ("storage.k8s.io/v1", "StorageClass"),
    ("storage.k8s.io/v1", "VolumeAttachment"),
    ("storage.k8s.io/v1beta1", "CSIDriver"),
    ("storage.k8s.io/v1beta1", "CSINode"),
    ("storage.k8s.io/v1beta1", "StorageClass"),
    ("storage.k8s.io/v1beta1", "VolumeAttachment"),
    ("v1", "ComponentStatus"),
    ("v1", "Namespace"),
    ("v1", "Node"),
    ("v1", "NodeProxyOptions"),
    ("v1", "PersistentVolume"),
];

/// Says whether kustomize knows that objects of a kind live in no namespace.
pub(crate) fn is_cluster_scoped(api_version: &str, kind: &str) -> bool {
    let is_this = |known: &(&str, &str)| *known == (api_version, kind);
    CLUSTER_SCOPED.iter().any(is_this)
}

const OWN: FieldSpec = FieldSpec {
    group: "",
    version: "",
    kind: "",
    path: "metadata/namespace",
    create: true,
};

/// The other fields that hold the namespace. An object of the kind Namespace is renamed.
const FIELDS: [FieldSpec; 3] = [
    FieldSpec {
        group: "",
        version: "v1",
        kind: "Namespace",
        path: "metadata/name",
        create: true,
    },
    FieldSpec {
        group: "apiregistration.k8s.io",
        version: "",
        kind: "APIService",
        path: "spec/service/namespace",
        create: true,
    },
    FieldSpec {
        group: "apiextensions.k8s.io",
        version: "",
        kind: "CustomResourceDefinition",
        path: "spec/conversion/webhook/clientConfig/service/namespace",
        create: false,
    },
];

/// Puts an object into a namespace. What it was known by before is kept.
pub(crate) fn relocate(
    object: &mut Object,
    namespace: &str,
    supplier: &Supplier,
) -> Result<(), WrongShape> {
    object.previous.push(object.id());
    let mut visit = |node: &mut Node, trail: Trail<'_>| match &node.content {
        Content::Scalar(_) => {
            *node = Node::scalar(namespace, supplier.clone());
            Ok(())
        }
        Content::Sequence(_) | Content::Mapping(_) => Err(WrongShape::at(trail, "a text")),
    };
    let make = Make::Scalar(supplier);
    if !object.is_cluster_scoped() {
        OWN.walk(&mut object.node, &make, &mut visit)?;
    }
    if matches!(object.kind(), "RoleBinding" | "ClusterRoleBinding") {
        subjects(&mut object.node, namespace, supplier)?;
    }
    for field in &FIELDS {
        let is_core = field.kind != "Namespace" || object.api_version() == "v1";
        if is_core && field.is_for(object.type_of()) {
            field.walk(&mut object.node, &make, &mut visit)?;
        }
    }
    Ok(())
}

/// Writes the namespace of every subject that is called `default`, whatever its kind.
fn subjects(node: &mut Node, namespace: &str, supplier: &Supplier) -> Result<(), WrongShape> {
    let Some(subjects) = node
        .get_mut("subjects")
        .filter(|subjects| !subjects.is_null())
    else {
        return Ok(());
    };
    let way = vec![Step::Key("subjects".to_owned())];
    let Content::Sequence(subjects) = &mut subjects.content else {
        return Err(WrongShape::of(&way, "a list"));
    };
    for (index, subject) in subjects.iter_mut().enumerate() {
        if subject.is_null() {
            continue;
        }
        let Some(fields) = subject.fields_mut() else {
            let item = Step::Item(index);
            return Err(WrongShape::of(&[way, vec![item]].concat(), "a mapping"));
        };
        if fields.get("name").and_then(Node::as_str) != Some("default") {
            continue;
        }
        let is_text = |node: &Node| matches!(node.content, Content::Scalar(_));
        if !fields.get("namespace").is_none_or(is_text) {
            let item = Step::Item(index);
            return Err(WrongShape::of(
                &[way, vec![item]].concat(),
                "a text as namespace",
            ));
        }
        let value = Node::scalar(Value::from(namespace), supplier.clone());
        fields.insert("namespace".to_owned(), value);
    }
    Ok(())
}
