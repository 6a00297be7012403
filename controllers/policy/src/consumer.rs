//! Who asks for access, and which namespaces a grant speaks of.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use model::selector::{InvalidSelector, Requirement};
use model::{Namespace, ObjectName, Selector};

use crate::wording::joined;

/// The labels of a Namespace of the control cluster.
pub type Labels = BTreeMap<String, String>;

/// The object that asks for access: a GitBranch, a GitTarget or an applier claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consumer {
    /// The namespace it lives in. It is what bounds: creating something there takes permission.
    pub namespace: Namespace,
    /// Its name, which its creator chose freely.
    pub name: ObjectName,
    /// The labels of its namespace; empty when the namespace could not be read, so that nothing is admitted
    /// by a label that nobody saw.
    pub namespace_labels: Labels,
}

/// The namespaces of the control cluster whose consumers a grant admits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConsumerNamespaces {
    /// The namespace of the object that holds the grant.
    Same,
    /// Exactly these.
    Names(BTreeSet<Namespace>),
    /// Those whose labels match.
    Selector(NamespaceSelector),
    /// Every one.
    All,
}

impl ConsumerNamespaces {
    /// Says whether a grant held in namespace `owner` admits the consumer.
    pub fn admits(&self, consumer: &Consumer, owner: &Namespace) -> bool {
        match self {
            Self::Same => consumer.namespace == *owner,
            Self::Names(names) => names.contains(&consumer.namespace),
            Self::Selector(selector) => selector.matches(&consumer.namespace_labels),
            Self::All => true,
        }
    }

    /// Returns the words for a message, where the grant is held in namespace `owner`.
    pub fn describe(&self, owner: &Namespace) -> String {
        match self {
            Self::Same => owner.to_string(),
            Self::Names(names) => joined(names),
            Self::Selector(selector) => format!("namespaces labelled {selector}"),
            Self::All => "every namespace".to_owned(),
        }
    }
}

/// A label selector that is matched here, because the labels are those of the control cluster's Namespaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamespaceSelector {
    requirements: Vec<LabelRequirement>,
    text: Selector,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum LabelRequirement {
    In(String, BTreeSet<String>),
    NotIn(String, BTreeSet<String>),
    Exists(String),
    DoesNotExist(String),
}

impl NamespaceSelector {
    /// Takes the two halves of a Kubernetes `LabelSelector`.
    ///
    /// # Errors
    /// Returns what Kubernetes would refuse, and refuses a selector without requirements: it would admit
    /// every namespace, which takes the word `All`.
    pub fn new(
        match_labels: &BTreeMap<String, String>,
        match_expressions: &[Requirement],
    ) -> Result<Self, InvalidSelector> {
        let text = Selector::new(match_labels, match_expressions)?;
        if text.selects_all() {
            return Err(InvalidSelector(
                "an empty selector would admit every namespace, which takes from: All".to_owned(),
            ));
        }
        let labels = match_labels
            .iter()
            .map(|(key, value)| LabelRequirement::In(key.clone(), BTreeSet::from([value.clone()])));
        let expressions = match_expressions
            .iter()
            .map(LabelRequirement::from_expression);
        let requirements = labels
            .map(Ok)
            .chain(expressions)
            .collect::<Result<_, _>>()?;
        Ok(Self { requirements, text })
    }

    /// Says whether all requirements hold for the labels.
    pub fn matches(&self, labels: &Labels) -> bool {
        self.requirements
            .iter()
            .all(|requirement| requirement.holds(labels))
    }
}

impl fmt::Display for NamespaceSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}

impl LabelRequirement {
    fn from_expression(expression: &Requirement) -> Result<Self, InvalidSelector> {
        let key = expression.key.clone();
        let values = || expression.values.iter().cloned().collect();
        match expression.operator.as_str() {
            "In" => Ok(Self::In(key, values())),
            "NotIn" => Ok(Self::NotIn(key, values())),
            "Exists" => Ok(Self::Exists(key)),
            "DoesNotExist" => Ok(Self::DoesNotExist(key)),
            other => Err(InvalidSelector(format!(
                "operator {other:?} on {key:?} is none of In, NotIn, Exists, DoesNotExist"
            ))),
        }
    }

    /// Follows Kubernetes: a missing label satisfies `NotIn`.
    fn holds(&self, labels: &Labels) -> bool {
        match self {
            Self::In(key, values) => labels.get(key).is_some_and(|value| values.contains(value)),
            Self::NotIn(key, values) => labels.get(key).is_none_or(|value| !values.contains(value)),
            Self::Exists(key) => labels.contains_key(key),
            Self::DoesNotExist(key) => !labels.contains_key(key),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(pairs: &[(&str, &str)]) -> Labels {
        let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        pairs.iter().map(owned).collect()
    }

    fn expression(key: &str, operator: &str, values: &[&str]) -> NamespaceSelector {
        let requirement = Requirement {
            key: key.to_owned(),
            operator: operator.to_owned(),
            values: values.iter().map(ToString::to_string).collect(),
        };
        NamespaceSelector::new(&Labels::new(), &[requirement]).unwrap()
    }

    #[test]
    fn operators_match_as_kubernetes_matches_them() {
        let prod = labels(&[("env", "prod")]);
        let bare = Labels::new();
        for (selector, matches_prod, matches_bare) in [
            (expression("env", "In", &["prod", "test"]), true, false),
            (expression("env", "In", &["test"]), false, false),
            (expression("env", "NotIn", &["prod"]), false, true),
            (expression("env", "NotIn", &["test"]), true, true),
            (expression("env", "Exists", &[]), true, false),
            (expression("env", "DoesNotExist", &[]), false, true),
        ] {
            assert_eq!(selector.matches(&prod), matches_prod, "{selector} on prod");
            assert_eq!(selector.matches(&bare), matches_bare, "{selector} on bare");
        }
    }

    #[test]
    fn all_requirements_must_hold_and_an_empty_selector_is_refused() {
        let two =
            NamespaceSelector::new(&labels(&[("env", "prod"), ("tenant", "true")]), &[]).unwrap();
        assert!(!two.matches(&labels(&[("env", "prod")])));
        assert!(two.matches(&labels(&[("env", "prod"), ("tenant", "true"), ("x", "y")])));
        assert!(NamespaceSelector::new(&Labels::new(), &[]).is_err());
    }
}
