//! Fields that stay in the value although no person wrote them.

use serde_json::{Map, Value};

use super::managers::{Step, owners, scaled};
use crate::object::{FilledField, Filler};
use crate::resource::ServedType;

/// What the API server puts into a Service by the address families of its cluster.
const ADDRESS_FAMILIES: [&str; 2] = ["ipFamilies", "ipFamilyPolicy"];

/// Finds the fields of the sanitised value that nobody wrote.
pub(super) fn find(
    served: &ServedType,
    metadata: &Map<String, Value>,
    value: &Map<String, Value>,
) -> Vec<FilledField> {
    let mut filled = Vec::new();
    if served.type_id.group.is_empty() && served.kind == "Service" {
        for field in ADDRESS_FAMILIES {
            let present = value
                .get("spec")
                .is_some_and(|spec| spec.get(field).is_some());
            let path = [Step::Field("spec"), Step::Field(field)];
            if present && owners(metadata, &path).is_empty() {
                filled.push(FilledField {
                    path: vec!["spec".to_owned(), field.to_owned()],
                    by: Filler::ApiServer,
                });
            }
        }
    }
    for (path, manager) in scaled(metadata) {
        filled.push(FilledField {
            path,
            by: Filler::Autoscaler {
                manager: manager.to_owned(),
            },
        });
    }
    filled
}
