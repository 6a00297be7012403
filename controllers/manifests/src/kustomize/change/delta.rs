//! In what an object differs from what is wanted, value by value.

use serde_json::{Map, Value};

use crate::kustomize::node::{Content, Node};
use crate::yaml::{FieldPath, Step, counterparts, same};

/// A way to a value in an object.
pub(super) type Steps = Vec<Step>;

/// One difference.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Delta<'n> {
    /// Where.
    pub(super) way: Steps,
    /// Which.
    pub(super) difference: Difference<'n>,
}

/// How a value differs.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Difference<'n> {
    /// It says something else.
    Other(&'n Node, &'n Value),
    /// A field is not there.
    Added(&'n Value),
    /// A field is too much.
    Removed(&'n Node),
    /// A list has other items, or has them in another order.
    Items(&'n Node, Vec<Item<'n>>),
}

/// An item of a list as it is wanted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Item<'n> {
    /// It is in the list, here. What it says differently is a difference of its own.
    Kept(usize),
    /// It is new.
    New(&'n Value),
}

/// Compares an object with what is wanted.
pub(super) fn deltas<'n>(node: &'n Node, wanted: &'n Value) -> Vec<Delta<'n>> {
    let mut found = Vec::new();
    compare(node, wanted, &mut Vec::new(), &mut found);
    found
}

/// Writes a way as people do.
pub(super) fn spelled(way: &[Step]) -> String {
    FieldPath::of_steps(way.to_vec()).to_string()
}

fn compare<'n>(node: &'n Node, wanted: &'n Value, way: &mut Steps, found: &mut Vec<Delta<'n>>) {
    match (&node.content, wanted) {
        (Content::Mapping(_), Value::Object(wanted)) => fields(node, wanted, way, found),
        (Content::Sequence(nodes), Value::Array(wanted)) => items(node, nodes, wanted, way, found),
        (Content::Scalar(value), _) if same(value, wanted) => {}
        _ => found.push(Delta {
            way: way.clone(),
            difference: Difference::Other(node, wanted),
        }),
    }
}

fn fields<'n>(
    node: &'n Node,
    wanted: &'n Map<String, Value>,
    way: &mut Steps,
    found: &mut Vec<Delta<'n>>,
) {
    for (key, node) in node.fields().into_iter().flatten() {
        way.push(Step::Key(key.clone()));
        match wanted.get(key) {
            Some(wanted) => compare(node, wanted, way, found),
            None => found.push(Delta {
                way: way.clone(),
                difference: Difference::Removed(node),
            }),
        }
        way.pop();
    }
    for (key, value) in wanted {
        if node.get(key).is_none() {
            let mut way = way.clone();
            way.push(Step::Key(key.clone()));
            found.push(Delta {
                way,
                difference: Difference::Added(value),
            });
        }
    }
}

fn items<'n>(
    node: &'n Node,
    nodes: &'n [Node],
    wanted: &'n [Value],
    way: &mut Steps,
    found: &mut Vec<Delta<'n>>,
) {
    let old: Vec<Value> = nodes.iter().map(Node::to_value).collect();
    let from = counterparts(&old, wanted);
    for (at, wanted) in from.iter().zip(wanted) {
        if let Some(at) = at {
            way.push(Step::Item(*at));
            compare(&nodes[*at], wanted, way, found);
            way.pop();
        }
    }
    let stays = from.iter().copied().eq((0..nodes.len()).map(Some));
    if !stays {
        let item = |(at, value): (&Option<usize>, &'n Value)| match at {
            Some(at) => Item::Kept(*at),
            None => Item::New(value),
        };
        let items = from.iter().zip(wanted).map(item).collect();
        found.push(Delta {
            way: way.clone(),
            difference: Difference::Items(node, items),
        });
    }
}
