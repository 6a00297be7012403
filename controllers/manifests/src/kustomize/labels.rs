//! `labels:` and `commonLabels:`.

use super::field_spec::{FieldSpec, WrongShape};
use super::node::{FileId, Site, Supplier};
use super::object::Object;
use super::pairs;
use super::parse::Pairs;

/// Which labels of an object are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Those of its metadata.
    Metadata,
    /// Those of what it makes objects from, too.
    Templates,
    /// Those that it selects by, too.
    Selectors,
}

const fn found(group: &'static str, kind: &'static str, path: &'static str) -> FieldSpec {
    FieldSpec {
        group,
        version: "",
        kind,
        path,
        create: false,
    }
}

const TEMPLATE: &str = "spec/template/metadata/labels";
const SELECTOR: &str = "spec/selector/matchLabels";

/// Where kustomize 5.8.1 writes labels of metadata.
const METADATA: [FieldSpec; 1] = [FieldSpec::made("", "", "", "metadata/labels")];

/// Where it writes labels of templates.
const TEMPLATES: [FieldSpec; 9] = [
    FieldSpec::made("", "v1", "ReplicationController", TEMPLATE),
    FieldSpec::made("", "", "Deployment", TEMPLATE),
    FieldSpec::made("", "", "ReplicaSet", TEMPLATE),
    FieldSpec::made("", "", "DaemonSet", TEMPLATE),
    FieldSpec::made("apps", "", "StatefulSet", TEMPLATE),
    FieldSpec::made(
        "apps",
        "",
        "StatefulSet",
        "spec/volumeClaimTemplates[]/metadata/labels",
    ),
    FieldSpec::made("batch", "", "Job", TEMPLATE),
    FieldSpec::made("batch", "", "CronJob", "spec/jobTemplate/metadata/labels"),
    FieldSpec::made(
        "batch",
        "",
        "CronJob",
        "spec/jobTemplate/spec/template/metadata/labels",
    ),
];

/// Where it writes what objects select by: some selectors are made, others only extended.
const SELECTORS: [FieldSpec; 12] = [
    FieldSpec::made("", "v1", "Service", "spec/selector"),
    FieldSpec::made("", "v1", "ReplicationController", "spec/selector"),
    FieldSpec::made("", "", "Deployment", SELECTOR),
    FieldSpec::made("", "", "ReplicaSet", SELECTOR),
    FieldSpec::made("", "", "DaemonSet", SELECTOR),
    FieldSpec::made("apps", "", "StatefulSet", SELECTOR),
    found("batch", "Job", SELECTOR),
    found(
        "batch",
        "CronJob",
        "spec/jobTemplate/spec/selector/matchLabels",
    ),
    found("policy", "PodDisruptionBudget", SELECTOR),
    found(
        "networking.k8s.io",
        "NetworkPolicy",
        "spec/podSelector/matchLabels",
    ),
    found(
        "networking.k8s.io",
        "NetworkPolicy",
        "spec/ingress/from/podSelector/matchLabels",
    ),
    found(
        "networking.k8s.io",
        "NetworkPolicy",
        "spec/egress/to/podSelector/matchLabels",
    ),
];

/// The selectors in the scheduling of a pod, of Deployments and StatefulSets only.
const SCHEDULING: [FieldSpec; 10] = [
    found(
        "apps",
        "Deployment",
        "spec/template/spec/affinity/podAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels",
    ),
    found(
        "apps",
        "Deployment",
        "spec/template/spec/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels",
    ),
    found(
        "apps",
        "Deployment",
        "spec/template/spec/affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels",
    ),
    found(
        "apps",
        "Deployment",
        "spec/template/spec/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels",
    ),
    found(
        "apps",
        "Deployment",
        "spec/template/spec/topologySpreadConstraints/labelSelector/matchLabels",
    ),
    found(
        "apps",
        "StatefulSet",
        "spec/template/spec/affinity/podAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels",
    ),
    found(
        "apps",
        "StatefulSet",
        "spec/template/spec/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels",
    ),
    found(
        "apps",
        "StatefulSet",
        "spec/template/spec/affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels",
    ),
    found(
        "apps",
        "StatefulSet",
        "spec/template/spec/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels",
    ),
    found(
        "apps",
        "StatefulSet",
        "spec/template/spec/topologySpreadConstraints/labelSelector/matchLabels",
    ),
];

/// Adds labels to an object.
pub(crate) fn label(
    object: &mut Object,
    labels: &Pairs,
    reach: Reach,
    file: FileId,
) -> Result<(), WrongShape> {
    if labels.is_empty() {
        return Ok(());
    }
    let what = object.type_of();
    let selectors = (reach == Reach::Selectors).then(|| SELECTORS.iter().chain(&SCHEDULING));
    let templates = (reach != Reach::Metadata).then_some(&TEMPLATES);
    let fields: Vec<&FieldSpec> = METADATA
        .iter()
        .chain(templates.into_iter().flatten())
        .chain(selectors.into_iter().flatten())
        .filter(|field| field.is_for(what))
        .collect();
    for (key, text) in labels {
        let supplier = Supplier::Label(Site { file, at: text.at });
        pairs::set(object, &fields, key, text, &supplier)?;
    }
    Ok(())
}
