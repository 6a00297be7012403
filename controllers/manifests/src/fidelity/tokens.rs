//! Substitution tokens in a document, against the live object.

use serde_json::Value;

use crate::yaml::{self, FieldPath, Way};

/// One token whose place holds something else in the live object, or nothing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Divergence<'a> {
    /// The field of the document.
    pub(crate) field: FieldPath,
    /// What the document says there.
    pub(crate) held: &'a Value,
    /// What the live object holds there.
    pub(crate) live: Option<&'a Value>,
}

/// Returns the tokens of a document that the live object does not hold literally, in the order of the fields.
pub(crate) fn divergences<'a>(document: &'a Value, live: &'a Value) -> Vec<Divergence<'a>> {
    let mut found = Vec::new();
    compare(document, Some(live), Way::default(), &mut found);
    found
}

fn compare<'a>(
    held: &'a Value,
    live: Option<&'a Value>,
    way: Way<'_>,
    found: &mut Vec<Divergence<'a>>,
) {
    match held {
        Value::String(text) => {
            if has_token(text) && live.and_then(Value::as_str) != Some(text) {
                let field = way.path();
                found.push(Divergence { field, held, live });
            }
        }
        Value::Array(items) => {
            let live = live
                .and_then(Value::as_array)
                .map_or(&[][..], Vec::as_slice);
            // By their key where the items have one, and by alignment otherwise.
            let counterparts = yaml::counterparts(live, items);
            for (index, (item, counterpart)) in items.iter().zip(counterparts).enumerate() {
                let live = counterpart.and_then(|at| live.get(at));
                compare(item, live, way.item(index), found);
            }
        }
        Value::Object(map) => {
            for (key, held) in map {
                let way = way.key(key);
                let live = live.and_then(|live| live.get(key));
                if has_token(key) && live.is_none() {
                    let field = way.path();
                    found.push(Divergence { field, held, live });
                } else {
                    compare(held, live, way, found);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Says whether a text holds `${…}`, without braces in between. `$(…)` is none: Kubernetes expands that itself.
fn has_token(text: &str) -> bool {
    text.match_indices("${").any(|(at, _)| {
        let inside = &text[at + 2..];
        let end = inside.find(['{', '}']);
        end.is_some_and(|end| inside[end..].starts_with('}'))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fields(document: Value, live: Value) -> Vec<String> {
        divergences(&document, &live)
            .into_iter()
            .map(|divergence| divergence.field.to_string())
            .collect()
    }

    #[test]
    fn rt_1_a_token_that_is_not_literally_live_diverges() {
        assert_eq!(
            fields(
                json!({"data": {"host": "a.${DOMAIN}", "b": "${X}"}}),
                json!({"data": {"host": "a.example.com"}})
            ),
            ["data.b", "data.host"]
        );
        assert_eq!(
            fields(
                json!({"spec": {"replicas": "${COUNT}"}}),
                json!({"spec": {"replicas": 3}})
            ),
            ["spec.replicas"]
        );
        assert_eq!(
            fields(
                json!({"metadata": {"labels": {"app.kubernetes.io/name": "${NAME}"}}}),
                json!({})
            ),
            ["metadata.labels[\"app.kubernetes.io/name\"]"]
        );
    }

    #[test]
    fn rt_2_a_literal_token_and_other_expansions_do_not() {
        for text in ["${X}", "$(HOME)", "$X", "${", "${a{b}", "$ {x}"] {
            let same = json!({"data": {"a": text}});
            assert_eq!(fields(same.clone(), same), [""; 0]);
        }
        for text in ["$(HOME)", "$X", "${", "${a{b}", "$ {x}"] {
            let other = json!({"data": {"a": "other"}});
            assert_eq!(fields(json!({"data": {"a": text}}), other), [""; 0]);
        }
    }

    #[test]
    fn rt_2_lists_are_compared_by_their_keys_and_otherwise_by_position() {
        let document =
            json!({"c": [{"name": "a", "image": "x:${TAG}"}, {"name": "b", "image": "y:1"}]});
        let turned =
            json!({"c": [{"name": "b", "image": "y:1"}, {"name": "a", "image": "x:${TAG}"}]});
        assert_eq!(fields(document.clone(), turned), [""; 0]);
        let filled = json!({"c": [{"name": "b", "image": "y:1"}, {"name": "a", "image": "x:1"}]});
        assert_eq!(fields(document, filled), ["c[0].image"]);
        assert_eq!(
            fields(json!({"args": ["a", "${B}"]}), json!({"args": ["a", "b"]})),
            ["args[1]"]
        );
        assert_eq!(
            fields(json!({"args": [["${B}"]]}), json!({"args": []})),
            ["args[0][0]"]
        );
    }
}
