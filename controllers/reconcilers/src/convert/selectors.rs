//! Label selectors of the CRD types.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use model::Selector;
use model::selector::{InvalidSelector, Requirement};
use policy::NamespaceSelector;

/// Reads the selector of a rule's item; an absent one selects everything.
pub(crate) fn objects(selector: Option<&LabelSelector>) -> Result<Selector, InvalidSelector> {
    match selector {
        None => Ok(Selector::everything()),
        Some(selector) => {
            let (labels, expressions) = halves(selector);
            Selector::new(&labels, &expressions)
        }
    }
}

/// Reads the selector of a grant.
pub(crate) fn namespaces(selector: &LabelSelector) -> Result<NamespaceSelector, InvalidSelector> {
    let (labels, expressions) = halves(selector);
    NamespaceSelector::new(&labels, &expressions)
}

fn halves(selector: &LabelSelector) -> (BTreeMap<String, String>, Vec<Requirement>) {
    let labels = selector.match_labels.clone().unwrap_or_default();
    let expressions = selector.match_expressions.iter().flatten();
    let requirements = expressions.map(|expression| Requirement {
        key: expression.key.clone(),
        operator: expression.operator.clone(),
        values: expression.values.clone().unwrap_or_default(),
    });
    (labels, requirements.collect())
}
