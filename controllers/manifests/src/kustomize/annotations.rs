//! `commonAnnotations:`.

use super::field_spec::{FieldSpec, WrongShape};
use super::node::{FileId, Site, Supplier};
use super::object::Object;
use super::pairs;
use super::parse::Pairs;

const fn spec(
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    path: &'static str,
) -> FieldSpec {
    FieldSpec {
        group,
        version,
        kind,
        path,
        create: true,
    }
}

const TEMPLATE: &str = "spec/template/metadata/annotations";

/// Where kustomize 5.8.1 writes annotations.
const FIELDS: [FieldSpec; 9] = [
    spec("", "", "", "metadata/annotations"),
    spec("", "v1", "ReplicationController", TEMPLATE),
    spec("", "", "Deployment", TEMPLATE),
    spec("", "", "ReplicaSet", TEMPLATE),
    spec("", "", "DaemonSet", TEMPLATE),
    spec("", "", "StatefulSet", TEMPLATE),
    spec("batch", "", "Job", TEMPLATE),
    spec(
        "batch",
        "",
        "CronJob",
        "spec/jobTemplate/metadata/annotations",
    ),
    spec(
        "batch",
        "",
        "CronJob",
        "spec/jobTemplate/spec/template/metadata/annotations",
    ),
];

/// Adds annotations to an object.
pub(crate) fn annotate(
    object: &mut Object,
    annotations: &Pairs,
    file: FileId,
) -> Result<(), WrongShape> {
    if annotations.is_empty() {
        return Ok(());
    }
    let what = object.type_of();
    let fields: Vec<&FieldSpec> = FIELDS.iter().filter(|field| field.is_for(what)).collect();
    for (key, text) in annotations {
        let supplier = Supplier::Annotation(Site { file, at: text.at });
        pairs::set(object, &fields, key, text, &supplier)?;
    }
    Ok(())
}
