//! Label selectors in one canonical form, so that equal selections compare equal.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

/// A selector that Kubernetes would not parse.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("label selector is not valid: {0}")]
pub struct InvalidSelector(pub String);

/// One requirement of a selector, as `matchExpressions` writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// The label key.
    pub key: String,
    /// `In`, `NotIn`, `Exists` or `DoesNotExist`.
    pub operator: String,
    /// The values, empty for the last two operators.
    pub values: Vec<String>,
}

/// A label selector, kept as the text that the API server takes. The empty one selects everything.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Selector(String);

impl Selector {
    /// Returns the selector that selects every object.
    pub fn everything() -> Self {
        Self(String::new())
    }

    /// Says whether nothing is filtered out.
    pub fn selects_all(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the text for the `labelSelector` parameter.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Normalises the two halves of a Kubernetes `LabelSelector`.
    ///
    /// # Errors
    /// Returns what Kubernetes would refuse: an unknown operator, values where none belong or none where
    /// some do, and malformed keys or values.
    pub fn new(
        match_labels: &BTreeMap<String, String>,
        match_expressions: &[Requirement],
    ) -> Result<Self, InvalidSelector> {
        let mut terms = BTreeSet::new();
        for (key, value) in match_labels {
            terms.insert(term(key, "In", std::slice::from_ref(value))?);
        }
        for requirement in match_expressions {
            terms.insert(term(
                &requirement.key,
                &requirement.operator,
                &requirement.values,
            )?);
        }
        Ok(Self(terms.into_iter().collect::<Vec<_>>().join(",")))
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn term(key: &str, operator: &str, values: &[String]) -> Result<String, InvalidSelector> {
    check_key(key)?;
    for value in values {
        check_value(value)?;
    }
    let sorted: BTreeSet<&str> = values.iter().map(String::as_str).collect();
    let listed = sorted.iter().copied().collect::<Vec<_>>().join(",");
    match (operator, sorted.len()) {
        ("In" | "NotIn", 0) => Err(InvalidSelector(format!(
            "{operator} on {key:?} needs at least one value"
        ))),
        ("In", 1) => Ok(format!("{key}={listed}")),
        ("In", _) => Ok(format!("{key} in ({listed})")),
        ("NotIn", 1) => Ok(format!("{key}!={listed}")),
        ("NotIn", _) => Ok(format!("{key} notin ({listed})")),
        ("Exists", 0) => Ok(key.to_owned()),
        ("DoesNotExist", 0) => Ok(format!("!{key}")),
        ("Exists" | "DoesNotExist", _) => Err(InvalidSelector(format!(
            "{operator} on {key:?} takes no values"
        ))),
        _ => Err(InvalidSelector(format!(
            "operator {operator:?} on {key:?} is none of In, NotIn, Exists, DoesNotExist"
        ))),
    }
}

/// Says whether Kubernetes takes the text as the key of a label.
pub fn is_label_key(key: &str) -> bool {
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    let prefix_ok = prefix.is_none_or(|prefix| {
        !prefix.is_empty()
            && prefix.len() <= 253
            && prefix.split('.').all(|label| {
                !label.is_empty()
                    && !label.starts_with('-')
                    && !label.ends_with('-')
                    && label
                        .bytes()
                        .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
            })
    });
    prefix_ok && !name.is_empty() && is_label_text(name)
}

fn check_key(key: &str) -> Result<(), InvalidSelector> {
    if is_label_key(key) {
        Ok(())
    } else {
        Err(InvalidSelector(format!("{key:?} is not a label key")))
    }
}

fn check_value(value: &str) -> Result<(), InvalidSelector> {
    if is_label_text(value) {
        Ok(())
    } else {
        Err(InvalidSelector(format!("{value:?} is not a label value")))
    }
}

/// The grammar that label names and values share; only a value may be empty.
fn is_label_text(text: &str) -> bool {
    let edge = |c: char| c.is_ascii_alphanumeric();
    text.len() <= 63
        && text.chars().all(|c| edge(c) || "-_.".contains(c))
        && text.chars().next().is_none_or(edge)
        && text.chars().last().is_none_or(edge)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requirement(key: &str, operator: &str, values: &[&str]) -> Requirement {
        Requirement {
            key: key.to_owned(),
            operator: operator.to_owned(),
            values: values.iter().map(ToString::to_string).collect(),
        }
    }

    #[test]
    fn equivalent_selectors_are_equal() {
        let labels = BTreeMap::from([("team".to_owned(), "a".to_owned())]);
        let by_label = Selector::new(&labels, &[]).unwrap();
        let by_expression =
            Selector::new(&BTreeMap::new(), &[requirement("team", "In", &["a"])]).unwrap();
        assert_eq!(by_label, by_expression);
        let ab = Selector::new(&BTreeMap::new(), &[requirement("t", "In", &["b", "a"])]).unwrap();
        assert_eq!(ab.as_str(), "t in (a,b)");
        assert!(Selector::new(&BTreeMap::new(), &[]).unwrap().selects_all());
    }

    #[test]
    fn what_kubernetes_refuses_is_refused() {
        for bad in [
            requirement("team", "In", &[]),
            requirement("team", "Exists", &["x"]),
            requirement("team", "Gt", &["1"]),
            requirement("-team", "Exists", &[]),
            requirement("a/b/c", "Exists", &[]),
            requirement("team", "In", &["-x"]),
        ] {
            assert!(
                Selector::new(&BTreeMap::new(), std::slice::from_ref(&bad)).is_err(),
                "{bad:?}"
            );
        }
    }
}
