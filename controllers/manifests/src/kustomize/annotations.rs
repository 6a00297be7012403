//! `commonAnnotations:`.

use super::field_spec::{FieldSpec, WrongShape};
use super::node::{FileId, Site, Supplier};
use super::object::Object;
use super::pairs;
use super::parse::Pairs;

const TEMPLATE: &str = "spec/template/metadata/annotations";

/// Where kustomize 5.8.1 writes annotations.
const FIELDS: [FieldSpec; 9] = [
    FieldSpec::made("", "", "", "metadata/annotations"),
    FieldSpec::made("", "v1", "ReplicationController", TEMPLATE),
    FieldSpec::made("", "", "Deployment", TEMPLATE),
    FieldSpec::made("", "", "ReplicaSet", TEMPLATE),
    FieldSpec::made("", "", "DaemonSet", TEMPLATE),
    FieldSpec::made("", "", "StatefulSet", TEMPLATE),
    FieldSpec::made("batch", "", "Job", TEMPLATE),
    FieldSpec::made(
        "batch",
        "",
        "CronJob",
        "spec/jobTemplate/metadata/annotations",
    ),
    FieldSpec::made(
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
