//! Label and field selectors: parsing and matching.
//!
//! Nothing is ever ignored: a selector that cannot be read, or a field that cannot be selected by, is
//! refused, because ignoring it would return more than was asked for.

use std::collections::BTreeMap;

/// A parsed label selector: all requirements must hold. Empty selects everything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct LabelSelector(pub Vec<LabelRequirement>);

/// One requirement on a label.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LabelRequirement {
    /// The label's key.
    pub key: String,
    /// What must hold.
    pub operator: LabelOperator,
}

/// What must hold for a label.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum LabelOperator {
    /// The label is there and has one of these values.
    In(Vec<String>),
    /// The label is absent or has none of these values.
    NotIn(Vec<String>),
    /// The label is there.
    Exists,
    /// The label is absent.
    DoesNotExist,
    /// The label is a whole number above this one.
    GreaterThan(i64),
    /// The label is a whole number below this one.
    LessThan(i64),
}

/// A parsed field selector: all requirements must hold. Empty selects everything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct FieldSelector(pub Vec<FieldRequirement>);

/// One requirement on a field.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FieldRequirement {
    /// The field's label, such as `metadata.name`.
    pub field: String,
    /// The value it is compared with.
    pub value: String,
    /// Whether it must be equal, or must not be.
    pub equal: bool,
}

/// A selector that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unable to parse selector {text:?}: {problem}")]
pub struct SelectorError {
    text: String,
    problem: String,
}

impl LabelSelector {
    /// Parses the complete grammar: `=`, `==`, `!=`, `in`, `notin`, `<`, `>`, key and `!key`.
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        let fail = |problem: String| SelectorError {
            text: text.to_owned(),
            problem,
        };
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        split_outside_parentheses(text)
            .into_iter()
            .map(|part| parse_label_requirement(part.trim()).map_err(fail))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Tells whether an object with these labels is selected.
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.0.iter().all(|requirement| {
            let value = labels.get(&requirement.key);
            let number = || value.and_then(|value| value.parse::<i64>().ok());
            match &requirement.operator {
                LabelOperator::In(values) => value.is_some_and(|value| values.contains(value)),
                LabelOperator::NotIn(values) => !value.is_some_and(|value| values.contains(value)),
                LabelOperator::Exists => value.is_some(),
                LabelOperator::DoesNotExist => value.is_none(),
                LabelOperator::GreaterThan(bound) => number().is_some_and(|value| value > *bound),
                LabelOperator::LessThan(bound) => number().is_some_and(|value| value < *bound),
            }
        })
    }
}

impl FieldSelector {
    /// Parses comma-separated `field=value`, `field==value` and `field!=value`, with `\` escaping
    /// `\`, `,` and `=`.
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        let fail = |problem: String| SelectorError {
            text: text.to_owned(),
            problem,
        };
        split_escaped(text)
            .into_iter()
            .filter(|term| !term.is_empty())
            .map(|term| parse_field_requirement(&term).map_err(fail))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Returns the one value that a field must equal, if the selector demands one.
    pub fn required(&self, field: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|term| term.equal && term.field == field)
            .map(|term| &*term.value)
    }

    /// Tells whether an object is selected, given the values of its fields.
    pub fn matches(&self, value_of: impl Fn(&str) -> String) -> bool {
        self.0
            .iter()
            .all(|term| (value_of(&term.field) == term.value) == term.equal)
    }
}

fn split_outside_parentheses(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_u32, 0);
    for (at, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn parse_label_requirement(part: &str) -> Result<LabelRequirement, String> {
    let require = |key: &str, operator| {
        valid_key(key)?;
        Ok(LabelRequirement {
            key: key.to_owned(),
            operator,
        })
    };
    if let Some(key) = part.strip_prefix('!') {
        return require(key.trim(), LabelOperator::DoesNotExist);
    }
    if let Some((key, value)) = part.split_once("!=") {
        return require(
            key.trim(),
            LabelOperator::NotIn(vec![valid_value(value.trim())?]),
        );
    }
    if let Some((key, value)) = part.split_once("==").or_else(|| part.split_once('=')) {
        return require(
            key.trim(),
            LabelOperator::In(vec![valid_value(value.trim())?]),
        );
    }
    if let Some((key, bound)) = part.split_once('>') {
        return require(key.trim(), LabelOperator::GreaterThan(whole_number(bound)?));
    }
    if let Some((key, bound)) = part.split_once('<') {
        return require(key.trim(), LabelOperator::LessThan(whole_number(bound)?));
    }
    if let Some((head, rest)) = part.split_once('(') {
        let inside = rest
            .strip_suffix(')')
            .ok_or("a closing parenthesis is missing")?;
        let values: Vec<String> = inside
            .split(',')
            .map(|value| valid_value(value.trim()))
            .collect::<Result<_, _>>()?;
        let (key, operator) = head
            .trim()
            .rsplit_once(char::is_whitespace)
            .ok_or_else(|| format!("{head:?} names no operator"))?;
        return match operator {
            "in" => require(key.trim(), LabelOperator::In(values)),
            "notin" => require(key.trim(), LabelOperator::NotIn(values)),
            other => Err(format!("{other:?} is no operator")),
        };
    }
    require(part, LabelOperator::Exists)
}

fn valid_key(key: &str) -> Result<(), String> {
    let (prefix, name) = key
        .split_once('/')
        .map_or((None, key), |(prefix, name)| (Some(prefix), name));
    let prefix_fits = prefix.is_none_or(|prefix| {
        !prefix.is_empty()
            && prefix.len() <= 253
            && prefix
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || ".-".contains(c))
    });
    if prefix_fits && !name.is_empty() && fits_label(name) {
        Ok(())
    } else {
        Err(format!("{key:?} is no label key"))
    }
}

fn valid_value(value: &str) -> Result<String, String> {
    if fits_label(value) {
        Ok(value.to_owned())
    } else {
        Err(format!("{value:?} is no label value"))
    }
}

fn fits_label(text: &str) -> bool {
    let alphanumeric = |c: Option<char>| c.is_none_or(|c| c.is_ascii_alphanumeric());
    text.len() <= 63
        && alphanumeric(text.chars().next())
        && alphanumeric(text.chars().next_back())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

fn whole_number(text: &str) -> Result<i64, String> {
    text.trim()
        .parse()
        .map_err(|_| format!("{text:?} is no whole number"))
}

fn split_escaped(text: &str) -> Vec<String> {
    let (mut terms, mut term, mut escaped) = (Vec::new(), String::new(), false);
    for character in text.chars() {
        if !escaped && character == ',' {
            terms.push(std::mem::take(&mut term));
            continue;
        }
        escaped = !escaped && character == '\\';
        term.push(character);
    }
    terms.push(term);
    terms
}

fn parse_field_requirement(term: &str) -> Result<FieldRequirement, String> {
    let bytes = term.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let (operator, equal) = match &bytes[at..] {
            [b'\\', ..] => {
                at += 2;
                continue;
            }
            [b'!', b'=', ..] => ("!=", false),
            [b'=', b'=', ..] => ("==", true),
            [b'=', ..] => ("=", true),
            _ => {
                at += 1;
                continue;
            }
        };
        let value = unescape(&term[at + operator.len()..])?;
        return Ok(FieldRequirement {
            field: term[..at].trim().to_owned(),
            value,
            equal,
        });
    }
    Err(format!("{term:?} compares nothing"))
}

fn unescape(text: &str) -> Result<String, String> {
    let mut result = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some(escaped @ ('\\' | ',' | '=')) => result.push(escaped),
                _ => return Err(format!("{text:?} has an escape that means nothing")),
            },
            '=' | ',' => return Err(format!("{text:?} has an unescaped {character:?}")),
            other => result.push(other),
        }
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels() -> BTreeMap<String, String> {
        [("team", "red"), ("example.test/tier", "3"), ("empty", "")]
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into()
    }

    #[test]
    fn label_selectors_select() {
        for (selector, selected) in [
            ("", true),
            ("team", true),
            ("!team", false),
            ("other", false),
            ("!other", true),
            ("team=red", true),
            ("team==red", true),
            ("team=blue", false),
            ("team!=blue", true),
            ("team!=red", false),
            ("other!=red", true),
            ("team in (red,blue)", true),
            ("team in ( green , blue )", false),
            ("team notin (red)", false),
            ("other notin (red)", true),
            ("empty=", true),
            ("team=red,example.test/tier>2", true),
            ("team=red,example.test/tier<3", false),
            ("team in (red),!other, empty", true),
        ] {
            let parsed = LabelSelector::parse(selector).unwrap();
            assert_eq!(parsed.matches(&labels()), selected, "{selector}");
        }
    }

    #[test]
    fn label_selectors_that_cannot_be_read_are_refused() {
        for selector in [
            "=red",
            "team in red",
            "team in (red",
            "team like (red)",
            ",",
            "te am",
            "a=b c",
            "a>x",
            "!",
        ] {
            assert!(LabelSelector::parse(selector).is_err(), "{selector}");
        }
    }

    #[test]
    fn field_selectors_select() {
        let value_of = |field: &str| match field {
            "metadata.name" => "main".to_owned(),
            "spec.path" => "a,b=c".to_owned(),
            _ => String::new(),
        };
        for (selector, selected) in [
            ("", true),
            ("metadata.name=main", true),
            ("metadata.name==main", true),
            ("metadata.name!=main", false),
            ("metadata.name=other", false),
            (r"spec.path=a\,b\=c", true),
            (r"metadata.name=main,spec.path!=a\,b\=c", false),
        ] {
            let parsed = FieldSelector::parse(selector).unwrap();
            assert_eq!(parsed.matches(value_of), selected, "{selector}");
        }
        assert!(FieldSelector::parse("metadata.name").is_err());
        assert!(FieldSelector::parse("a=b=c").is_err());
        let named = FieldSelector::parse("spec.x!=y,metadata.name=main").unwrap();
        assert_eq!(named.required("metadata.name"), Some("main"));
        assert_eq!(named.required("spec.x"), None);
    }
}
