//! Which item of a list became which: so that comments stay with what they were written for (ED-8).

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::scalar::same;

/// The keys by which Kubernetes tells the items of a list apart, most telling first.
const MERGE_KEYS: [&str; 9] = [
    "name",
    "mountPath",
    "containerPort",
    "port",
    "key",
    "ip",
    "devicePath",
    "topologyKey",
    "id",
];

/// Comparing more pairs than this is not worth it; such lists are paired from both ends.
const MAX_PAIRS: usize = 4_000_000;

/// One step from the old list to the new one, in the order of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// The old item at the first index becomes the new one at the second.
    Keep(usize, usize),
    /// The old item goes.
    Delete(usize),
    /// The new item comes.
    Insert(usize),
}

/// Aligns two lists.
pub(crate) fn align(old: &[Value], new: &[Value]) -> Vec<Step> {
    let shorter = old.len().min(new.len());
    let head = (0..shorter)
        .take_while(|i| same(&old[*i], &new[*i]))
        .count();
    let tail = (0..shorter - head)
        .take_while(|i| same(&old[old.len() - 1 - i], &new[new.len() - 1 - i]))
        .count();
    let (old_end, new_end) = (old.len() - tail, new.len() - tail);
    let key = merge_key(old, new);
    let pairs = longest(&old[head..old_end], &new[head..new_end], key);
    let mut steps: Vec<Step> = (0..head).map(|i| Step::Keep(i, i)).collect();
    let (mut i, mut j) = (head, head);
    let middle = pairs.into_iter().map(|(a, b)| (a + head, b + head));
    for (a, b) in middle.chain([(old_end, new_end)]) {
        fill_gap(&mut steps, old, new, (i, a), (j, b), key);
        if a < old_end {
            steps.push(Step::Keep(a, b));
        }
        (i, j) = (a + 1, b + 1);
    }
    steps.extend((0..tail).map(|i| Step::Keep(old_end + i, new_end + i)));
    steps
}

/// Returns, for each item of the new list, the position of the item of the old one that it came from: by its
/// key where the items have one, wherever it stands now; else by being the same where some stand in another
/// order, and by alignment where none do.
pub(crate) fn counterparts(old: &[Value], new: &[Value]) -> Vec<Option<usize>> {
    if let Some(key) = merge_key(old, new) {
        let positions: HashMap<String, usize> = old
            .iter()
            .enumerate()
            .map(|(index, item)| (item[key].to_string(), index))
            .collect();
        let position = |item: &Value| positions.get(&item[key].to_string()).copied();
        return new.iter().map(position).collect();
    }
    if let Some(found) = moved(old, new) {
        return found;
    }
    let mut found = vec![None; new.len()];
    for step in align(old, new) {
        if let Step::Keep(i, j) = step {
            found[j] = Some(i);
        }
    }
    found
}

/// Finds items without a key again by what they are; nothing where those that both lists have once stand in the
/// same order. The others are paired in their order.
fn moved(old: &[Value], new: &[Value]) -> Option<Vec<Option<usize>>> {
    let (known, wanted) = (positions(old), positions(new));
    let mut found: Vec<Option<usize>> = vec![None; new.len()];
    for (item, position) in &wanted {
        if let (Some(at), Some(Some(from))) = (position, known.get(item)) {
            found[*at] = Some(*from);
        }
    }
    if found.iter().flatten().is_sorted() {
        return None;
    }
    let taken: HashSet<usize> = found.iter().flatten().copied().collect();
    let mut free = (0..old.len()).filter(|index| !taken.contains(index));
    for (slot, item) in found.iter_mut().zip(new) {
        if slot.is_none() {
            *slot = free
                .next()
                .filter(|from| are_alike(&old[*from], item, None));
        }
    }
    Some(found)
}

/// Returns where each item stands, or nothing for one that is there more than once.
fn positions(items: &[Value]) -> HashMap<String, Option<usize>> {
    let mut positions = HashMap::new();
    for (index, item) in items.iter().enumerate() {
        positions
            .entry(item.to_string())
            .and_modify(|position| *position = None)
            .or_insert(Some(index));
    }
    positions
}

/// Says whether items that both lists have stand in another order.
pub(crate) fn is_reordered(old: &[Value], new: &[Value]) -> bool {
    let sources: Vec<usize> = counterparts(old, new).into_iter().flatten().collect();
    !sources.is_sorted()
}

/// Returns the key that every item of both lists has, with a value of its own.
pub(crate) fn merge_key(old: &[Value], new: &[Value]) -> Option<&'static str> {
    let tells = |items: &[Value], key: &str| {
        let mut seen = HashSet::new();
        items.iter().all(|item| {
            let value = item
                .get(key)
                .filter(|value| value.is_string() || value.is_number());
            value.is_some_and(|value| seen.insert(value.to_string()))
        })
    };
    MERGE_KEYS
        .into_iter()
        .find(|key| tells(old, key) && tells(new, key))
}

/// Pairs what lies between two matches: in place, where the kinds agree and the items are alike. Where as many items come
/// as go, one that turns into something else leaves the places of those behind it as they were.
fn fill_gap(
    steps: &mut Vec<Step>,
    old: &[Value],
    new: &[Value],
    (old_from, old_to): (usize, usize),
    (new_from, new_to): (usize, usize),
    key: Option<&str>,
) {
    let (mut i, mut j) = (old_from, new_from);
    let keeps_places = old_to - old_from == new_to - new_from;
    while i < old_to && j < new_to {
        if are_alike(&old[i], &new[j], key) {
            steps.push(Step::Keep(i, j));
        } else if keeps_places {
            steps.extend([Step::Delete(i), Step::Insert(j)]);
        } else {
            break;
        }
        (i, j) = (i + 1, j + 1);
    }
    steps.extend((i..old_to).map(Step::Delete));
    steps.extend((j..new_to).map(Step::Insert));
}

/// Says whether one item may turn into the other: a renamed container that keeps most of its fields may, two
/// items that merely share a kind of key may not.
fn are_alike(old: &Value, new: &Value, key: Option<&str>) -> bool {
    match (old, new) {
        (Value::Object(a), Value::Object(b)) => {
            if key.is_none() {
                return true;
            }
            let equal = a
                .iter()
                .filter(|(key, value)| b.get(*key).is_some_and(|other| same(value, other)))
                .count();
            equal * 2 >= a.len().max(b.len())
        }
        (Value::Array(_), Value::Array(_)) => true,
        (Value::Object(_) | Value::Array(_), _) | (_, Value::Object(_) | Value::Array(_)) => false,
        _ => true,
    }
}

fn score(old: &Value, new: &Value, key: Option<&str>) -> u32 {
    if same(old, new) {
        return 3;
    }
    let keyed = key.is_some_and(|key| match (old.get(key), new.get(key)) {
        (Some(a), Some(b)) => same(a, b),
        _ => false,
    });
    if keyed { 2 } else { 0 }
}

/// Returns the pairs of a heaviest common subsequence.
fn longest(old: &[Value], new: &[Value], key: Option<&str>) -> Vec<(usize, usize)> {
    if old.is_empty() || new.is_empty() || old.len() * new.len() > MAX_PAIRS {
        return Vec::new();
    }
    let width = new.len() + 1;
    let mut best = vec![0_u32; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            let skip = best[(i + 1) * width + j].max(best[i * width + j + 1]);
            let paired = match score(&old[i], &new[j], key) {
                0 => 0,
                score => best[(i + 1) * width + j + 1] + score,
            };
            best[i * width + j] = skip.max(paired);
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut pairs = Vec::new();
    while i < old.len() && j < new.len() {
        let here = best[i * width + j];
        let score = score(&old[i], &new[j], key);
        if score > 0 && here == best[(i + 1) * width + j + 1] + score {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if here == best[(i + 1) * width + j] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn steps(old: Value, new: Value) -> Vec<Step> {
        align(old.as_array().unwrap(), new.as_array().unwrap())
    }

    #[test]
    fn ed_8_items_are_matched_by_value_then_by_key() {
        use Step::{Delete, Insert, Keep};
        assert_eq!(
            steps(json!(["b", "c"]), json!(["a", "b", "c"])),
            [Insert(0), Keep(0, 1), Keep(1, 2)]
        );
        assert_eq!(
            steps(json!(["a", "b"]), json!(["a", "x"])),
            [Keep(0, 0), Keep(1, 1)]
        );
        assert_eq!(
            steps(
                json!([{"name": "a", "v": 1}, {"name": "b", "v": 1}]),
                json!([{"name": "new", "v": 9}, {"name": "b", "v": 2}])
            ),
            [Delete(0), Insert(0), Keep(1, 1)]
        );
        assert_eq!(
            steps(
                json!([{"name": "a", "v": 1, "w": 2, "x": 3}]),
                json!([{"name": "b", "v": 1, "w": 2, "x": 3}])
            ),
            [Keep(0, 0)]
        );
        assert_eq!(
            steps(json!([1, 2, 3]), json!([])),
            [Delete(0), Delete(1), Delete(2)]
        );
    }

    #[test]
    fn ed_8_an_item_that_turns_into_something_else_leaves_those_behind_it_in_place() {
        let old = json!([{"name": "a", "weight": 1}, {"name": "b", "weight": 1}]);
        let new = json!(["text", {"name": "b", "weight": 2}]);
        let steps = steps(old, new);
        assert_eq!(steps, [Step::Delete(0), Step::Insert(0), Step::Keep(1, 1)]);
    }

    #[test]
    fn ed_8_items_without_a_key_are_found_again_where_they_moved() {
        let found =
            |old: Value, new: Value| counterparts(old.as_array().unwrap(), new.as_array().unwrap());
        let (a, b, c) = (
            json!({"host": "a"}),
            json!({"host": "b"}),
            json!({"host": "c"}),
        );
        assert_eq!(found(json!([a, b]), json!([b, a])), [Some(1), Some(0)]);
        assert_eq!(
            found(json!([a, b, c]), json!([c, {"host": "d"}, a])),
            [Some(2), Some(1), Some(0)]
        );
        assert_eq!(
            found(json!([1, 1, 2]), json!([2, 1, 1])),
            [None, Some(0), Some(1)]
        );
        assert_eq!(
            found(json!([a, b]), json!([c, a, b])),
            [None, Some(0), Some(1)]
        );
    }
}
