//! The path that a document gets when nothing else decides (PL-4).

use model::ResourceId;

use super::segment::{file_name, folder_name, value};
use super::variable::{CLUSTER_SCOPE, suffix};

/// Returns the parts of `{namespace}/{group}/{resource}/{name}` with their suffix, without the group for core
/// types and with a folder that no namespace can be called for objects of the cluster.
pub(crate) fn parts(id: &ResourceId, sensitive: bool) -> Vec<String> {
    let namespace = id
        .namespace
        .as_ref()
        .map_or(CLUSTER_SCOPE, |namespace| namespace.as_str());
    let mut parts = vec![folder_name(&value(namespace))];
    if !id.type_id.group.is_empty() {
        parts.push(folder_name(&value(&id.type_id.group)));
    }
    parts.push(folder_name(&value(&id.type_id.resource)));
    let name = format!("{}{}", value(id.name.as_str()), suffix(sensitive));
    parts.push(file_name(&name, sensitive));
    parts
}
