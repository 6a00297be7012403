//! What a patch orders rather than says: `$patch` and its kin.

use super::text::text;
use super::{MergeProblem, is_empty};
use crate::kustomize::node::{Content, Node, Supplier};

/// The key whose value is an order.
pub(super) const DIRECTIVE: &str = "$patch";

/// Orders that the strategic merge of Kubernetes knows and kustomize does not: it writes them into the object.
const NOT_HONOURED: [&str; 3] = [
    "$setElementOrder",
    "$deleteFromPrimitiveList",
    "$retainKeys",
];

/// What is to be done with the value that a patch lies over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Directive {
    /// The two are merged.
    Merge,
    /// Only what the patch says stays.
    Replace,
    /// Nothing stays.
    Delete,
}

impl Directive {
    fn read(order: &str) -> Result<Self, MergeProblem> {
        match order {
            "merge" => Ok(Self::Merge),
            "replace" => Ok(Self::Replace),
            "delete" => Ok(Self::Delete),
            other => Err(MergeProblem::UnknownDirective(other.to_owned())),
        }
    }

    /// Returns what a mapping orders.
    pub(super) fn of_mapping(patch: &Node) -> Result<Self, MergeProblem> {
        match patch.get(DIRECTIVE) {
            Some(order) => Self::read(&text(order)),
            None => Ok(Self::Merge),
        }
    }

    /// Takes the element that is an order, and nothing else, out of a list and returns the order.
    ///
    /// An element with more than the order is about itself, and hides an order for the list that follows it.
    pub(super) fn take_of_list(elements: &mut Vec<Node>) -> Result<Self, MergeProblem> {
        let first = elements.iter().find_map(|element| match &element.content {
            Content::Mapping(fields) => {
                let order = fields.get(DIRECTIVE)?;
                Some((fields.len(), text(order)))
            }
            Content::Scalar(_) | Content::Sequence(_) => None,
        });
        let Some((1, order)) = first else {
            return Ok(Self::Merge);
        };
        let directive = Self::read(&order)?;
        let is_order = |element: &Node| element.get(DIRECTIVE).is_some_and(|is| text(is) == order);
        elements.retain(|element| !is_order(element) && !is_empty(element));
        Ok(directive)
    }
}

/// Finds a directive of a patch that kustomize knows nothing of, and returns its name and what holds it.
pub(super) fn unknown(patch: &Node) -> Option<(String, &Node)> {
    find(patch, &|key, _| {
        let name = key.split('/').next().unwrap_or(key);
        NOT_HONOURED.contains(&name)
    })
}

/// Finds a directive that was taken for content, as it is below a list that is replaced whole.
pub(super) fn leftover(merged: &Node) -> Option<(String, &Node)> {
    find(merged, &|key, value| {
        key == DIRECTIVE && matches!(value.supplier, Supplier::Patch(_))
    })
}

fn find<'n>(node: &'n Node, is_sought: &dyn Fn(&str, &Node) -> bool) -> Option<(String, &'n Node)> {
    match &node.content {
        Content::Scalar(_) => None,
        Content::Sequence(elements) => elements.iter().find_map(|item| find(item, is_sought)),
        Content::Mapping(fields) => fields.iter().find_map(|(key, value)| {
            if is_sought(key, value) {
                return Some((key.clone(), value));
            }
            find(value, is_sought)
        }),
    }
}
