//! Branch patterns: `*`, two variables, and nothing else.

use std::fmt;

use model::BranchName;

use crate::consumer::Consumer;

/// A pattern that is matched against the whole name of a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchPattern {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Literal(String),
    /// `*`: any characters, slashes and none included.
    Anything,
    ConsumerNamespace,
    ConsumerName,
}

/// A pattern that means nothing, or less than it seems to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPattern {
    /// No branch has an empty name.
    #[error("branch pattern is empty; write \"*\" for every branch")]
    Empty,
    /// There are two variables, and this is neither.
    #[error(
        "branch pattern {pattern} references unknown variable {variable}; the variables are \
         {{consumer.namespace}} and {{consumer.name}}"
    )]
    UnknownVariable {
        /// The pattern as it was written.
        pattern: String,
        /// The variable with its braces.
        variable: String,
    },
    /// A closing brace without an opening one.
    #[error("branch pattern {pattern} has a closing brace without a variable")]
    StrayBrace {
        /// The pattern as it was written.
        pattern: String,
    },
    /// Glued to other characters, a variable would also match the neighbours' names.
    #[error(
        "branch pattern {pattern} holds {variable} beside other characters; a variable must be a whole \
         path segment"
    )]
    NotWholeSegment {
        /// The pattern as it was written.
        pattern: String,
        /// The variable with its braces.
        variable: &'static str,
    },
    /// A name is whatever its creator typed, so it bounds nothing.
    #[error(
        "branch pattern {pattern} needs {{consumer.namespace}} beside {{consumer.name}}; a name alone \
         bounds nothing"
    )]
    NameWithoutNamespace {
        /// The pattern as it was written.
        pattern: String,
    },
    /// `?`, classes and escapes of other pattern languages.
    #[error("branch pattern {pattern} holds {character:?}; the only wildcard is *")]
    OtherWildcard {
        /// The pattern as it was written.
        pattern: String,
        /// The character that has no meaning here.
        character: char,
    },
}

const NAMESPACE: &str = "{consumer.namespace}";
const NAME: &str = "{consumer.name}";

impl BranchPattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// Returns the first thing that is wrong with it.
    pub fn parse(text: &str) -> Result<Self, InvalidPattern> {
        let pattern = || text.to_owned();
        if text.is_empty() {
            return Err(InvalidPattern::Empty);
        }
        if let Some(character) = text.chars().find(|c| "?[\\".contains(*c)) {
            return Err(InvalidPattern::OtherWildcard {
                pattern: pattern(),
                character,
            });
        }
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(next) = rest.chars().next() {
            let (part, used) = match next {
                '*' => (Part::Anything, 1),
                '{' => variable(rest).ok_or_else(|| InvalidPattern::UnknownVariable {
                    pattern: pattern(),
                    variable: shown_variable(rest),
                })?,
                '}' => return Err(InvalidPattern::StrayBrace { pattern: pattern() }),
                _ => {
                    let end = rest.find(['*', '{', '}']).unwrap_or(rest.len());
                    (Part::Literal(rest[..end].to_owned()), end)
                }
            };
            parts.push(part);
            rest = &rest[used..];
        }
        check_segments(&parts).map_err(|variable| InvalidPattern::NotWholeSegment {
            pattern: pattern(),
            variable,
        })?;
        if parts.contains(&Part::ConsumerName) && !parts.contains(&Part::ConsumerNamespace) {
            return Err(InvalidPattern::NameWithoutNamespace { pattern: pattern() });
        }
        Ok(Self { parts })
    }

    /// Says whether the pattern gives this branch to the consumer.
    pub fn matches(&self, branch: &BranchName, consumer: &Consumer) -> bool {
        let pieces: Vec<Piece<'_>> = self.parts.iter().map(|part| part.piece(consumer)).collect();
        matches_pieces(&pieces, branch.as_str())
    }

    /// Returns the pattern with the consumer's values in place of the variables.
    pub fn expand(&self, consumer: &Consumer) -> String {
        let text = |part: &Part| match part.piece(consumer) {
            Piece::Text(text) => text.to_owned(),
            Piece::Anything => "*".to_owned(),
        };
        self.parts.iter().map(text).collect()
    }
}

impl fmt::Display for BranchPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in &self.parts {
            f.write_str(match part {
                Part::Literal(text) => text,
                Part::Anything => "*",
                Part::ConsumerNamespace => NAMESPACE,
                Part::ConsumerName => NAME,
            })?;
        }
        Ok(())
    }
}

/// A part with its variable replaced. A value stays text: nothing in it can become a wildcard.
enum Piece<'a> {
    Text(&'a str),
    Anything,
}

impl Part {
    fn piece<'a>(&'a self, consumer: &'a Consumer) -> Piece<'a> {
        match self {
            Self::Literal(text) => Piece::Text(text),
            Self::Anything => Piece::Anything,
            Self::ConsumerNamespace => Piece::Text(consumer.namespace.as_str()),
            Self::ConsumerName => Piece::Text(consumer.name.as_str()),
        }
    }

    fn variable(&self) -> Option<&'static str> {
        match self {
            Self::ConsumerNamespace => Some(NAMESPACE),
            Self::ConsumerName => Some(NAME),
            Self::Literal(_) | Self::Anything => None,
        }
    }
}

fn variable(rest: &str) -> Option<(Part, usize)> {
    if rest.starts_with(NAMESPACE) {
        Some((Part::ConsumerNamespace, NAMESPACE.len()))
    } else if rest.starts_with(NAME) {
        Some((Part::ConsumerName, NAME.len()))
    } else {
        None
    }
}

/// Returns `{...}` as it was written, or all that follows an opening brace that is never closed.
fn shown_variable(rest: &str) -> String {
    let end = rest.find('}').map_or(rest.len(), |brace| brace + 1);
    rest[..end].to_owned()
}

fn check_segments(parts: &[Part]) -> Result<(), &'static str> {
    for (index, part) in parts.iter().enumerate() {
        let Some(variable) = part.variable() else {
            continue;
        };
        let before = index.checked_sub(1).and_then(|before| parts.get(before));
        let opens = before
            .is_none_or(|before| matches!(before, Part::Literal(text) if text.ends_with('/')));
        let after = parts.get(index + 1);
        let closes =
            after.is_none_or(|after| matches!(after, Part::Literal(text) if text.starts_with('/')));
        if !opens || !closes {
            return Err(variable);
        }
    }
    Ok(())
}

/// Matches the pieces against the whole text. Only the last `*` seen is ever taken back, so the time is at
/// most the product of the two lengths.
fn matches_pieces(pieces: &[Piece<'_>], text: &str) -> bool {
    let (mut piece, mut at) = (0, 0);
    let mut last_star: Option<(usize, usize)> = None;
    loop {
        let advanced = match pieces.get(piece) {
            Some(Piece::Anything) => {
                last_star = Some((piece + 1, at));
                piece += 1;
                true
            }
            Some(Piece::Text(expected)) if text[at..].starts_with(expected) => {
                piece += 1;
                at += expected.len();
                true
            }
            Some(Piece::Text(_)) => false,
            None if at == text.len() => return true,
            None => false,
        };
        if advanced {
            continue;
        }
        let Some((after_star, from)) = last_star else {
            return false;
        };
        let Some(skipped) = text[from..].chars().next() else {
            return false;
        };
        let next = from + skipped.len_utf8();
        last_star = Some((after_star, next));
        (piece, at) = (after_star, next);
    }
}

#[cfg(test)]
mod tests {
    use model::{Namespace, ObjectName};
    use proptest::prelude::*;

    use super::*;

    fn consumer(namespace: &str, name: &str) -> Consumer {
        Consumer {
            namespace: Namespace::new(namespace).unwrap(),
            name: ObjectName::new(name).unwrap(),
            namespace_labels: Default::default(),
        }
    }

    fn matches(pattern: &str, branch: &str) -> bool {
        let branch = BranchName::new(branch).unwrap();
        BranchPattern::parse(pattern)
            .unwrap()
            .matches(&branch, &consumer("team-a", "live"))
    }

    #[test]
    fn a_star_crosses_slashes_and_matches_nothing_too() {
        for (pattern, branch, expected) in [
            ("feature/*", "feature/checkout/v2", true),
            ("*", "any/thing", true),
            ("main", "main", true),
            ("main", "main-old", false),
            ("main*", "main", true),
            ("*/live", "a/b/live", true),
            ("*-v*-x", "a-v1-v2-x", true),
            ("*a*b", "aabab", true),
            ("*a*b", "aaba", false),
            ("release/**", "release/1", true),
            ("teams/{consumer.namespace}/*", "teams/team-a/live", true),
            ("teams/{consumer.namespace}/*", "teams/team-ab/live", false),
            ("teams/{consumer.namespace}/*", "teams/team-a", false),
            (
                "teams/{consumer.namespace}/{consumer.name}",
                "teams/team-a/live",
                true,
            ),
            (
                "teams/{consumer.namespace}/{consumer.name}",
                "teams/team-a/other",
                false,
            ),
            ("{consumer.namespace}", "team-a", true),
        ] {
            assert_eq!(matches(pattern, branch), expected, "{pattern} on {branch}");
        }
    }

    #[test]
    fn a_variable_is_a_whole_segment_and_the_only_special_thing() {
        for (pattern, message) in [
            (
                "teams/{namespace}/*",
                "branch pattern teams/{namespace}/* references unknown variable {namespace}; the \
                 variables are {consumer.namespace} and {consumer.name}",
            ),
            (
                "teams/{consumer.namespace}*",
                "branch pattern teams/{consumer.namespace}* holds {consumer.namespace} beside other \
                 characters; a variable must be a whole path segment",
            ),
            (
                "env/{consumer.name}",
                "branch pattern env/{consumer.name} needs {consumer.namespace} beside {consumer.name}; \
                 a name alone bounds nothing",
            ),
            (
                "a}b",
                "branch pattern a}b has a closing brace without a variable",
            ),
            ("a?", "branch pattern a? holds '?'; the only wildcard is *"),
            ("", "branch pattern is empty; write \"*\" for every branch"),
        ] {
            assert_eq!(
                BranchPattern::parse(pattern).unwrap_err().to_string(),
                message
            );
        }
        for bad in [
            "{consumer.namespace}-{consumer.name}",
            "x{consumer.namespace}",
            "{oops",
            "a[b]",
            "a\\*",
        ] {
            assert!(BranchPattern::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_value_never_becomes_a_wildcard() {
        let pattern = BranchPattern::parse("{consumer.namespace}/{consumer.name}").unwrap();
        let odd = consumer("team-a", "*");
        assert!(!pattern.matches(&BranchName::new("team-a/main").unwrap(), &odd));
    }

    proptest! {
        /// The matcher agrees with the obvious recursive definition.
        #[test]
        fn matching_equals_its_definition(pattern in "[ab/*]{1,8}", branch in "[ab]{1,3}(/[ab]{1,3}){0,2}") {
            fn defined(pattern: &[u8], text: &[u8]) -> bool {
                match pattern.split_first() {
                    None => text.is_empty(),
                    Some((b'*', rest)) => (0..=text.len()).any(|skip| defined(rest, &text[skip..])),
                    Some((byte, rest)) => text.split_first().is_some_and(|(t, more)| t == byte && defined(rest, more)),
                }
            }
            prop_assert_eq!(matches(&pattern, &branch), defined(pattern.as_bytes(), branch.as_bytes()));
        }

        #[test]
        fn a_parsed_pattern_prints_as_it_was_written(pattern in "[a-c/*]{1,12}") {
            prop_assert_eq!(BranchPattern::parse(&pattern).unwrap().to_string(), pattern);
        }
    }
}
