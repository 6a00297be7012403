//! Lists that are merged element by element.
//!
//! Kustomize looks elements up by the text of their keys, and its rules for elements that lack one of several keys
//! (a port without a protocol) have surprising ends: such an element of the base replaces the one of the patch. They
//! are followed to the letter here, because what an applier applies is what kustomize says.

use super::directive::DIRECTIVE;
use super::shape::{Fields, Shape};
use super::text::text;
use super::{MergeError, MergeProblem, Merger, Over, is_empty};
use crate::kustomize::node::{Content, Node};

/// The texts of some keys of an element, in the order of the keys.
type Texts = Vec<String>;

/// Some of the keys of a list with the texts that are looked for.
struct Wanted<'k> {
    keys: &'k [&'k str],
    texts: Texts,
}

impl Merger<'_> {
    /// Merges the elements of a patch into those of a base: the patch's first, then what else the base has.
    pub(super) fn keyed(
        &mut self,
        mut base: Vec<Node>,
        over: Over<'_>,
        keys: &[String],
        element: Option<&'static Fields>,
    ) -> Result<Vec<Node>, MergeError> {
        let patch: &[Node] = match over {
            Over::Patch(patch) => patch.items().unwrap_or_default(),
            Over::Nothing | Over::Itself => &[],
        };
        for element in patch.iter().chain(&base) {
            self.check_key(element, keys)?;
        }
        let mut looked_for = distinct(patch.iter().chain(&base), keys);
        if keys.len() > 1 {
            unify(&mut looked_for);
        }
        let used = used_keys(&looked_for, keys);
        let names: Vec<&str> = used.iter().map(|&at| keys[at].as_str()).collect();
        let mut merged = Vec::new();
        for texts in looked_for {
            let wanted = Wanted {
                keys: &names,
                texts: used.iter().map(|&at| texts[at].clone()).collect(),
            };
            let found = wanted.find(&base);
            let patched = wanted.find(patch).map(|at| &patch[at]);
            let over = match (over, patched) {
                (Over::Itself, _) => Over::Itself,
                (_, Some(patched)) => Over::Patch(patched),
                (_, None) => Over::Nothing,
            };
            let before = found.map(|at| base[at].clone());
            let replaces = over.replaces();
            let result = self.walk(before, over, element.map(Shape::Object))?;
            let Some(result) = result.filter(|result| !is_empty(result)) else {
                wanted.remove(&mut base);
                continue;
            };
            if let Some(at) = found.filter(|_| !replaces) {
                base[at] = result.clone();
            }
            wanted.set(&mut merged, result);
        }
        for element in base {
            append(&mut merged, element, &names);
        }
        Ok(merged)
    }

    /// Refuses an element that nothing tells apart, which kustomize would lose or give to another one.
    fn check_key(&self, element: &Node, keys: &[String]) -> Result<(), MergeError> {
        let is_missing = |key: &String| match element.get(key) {
            Some(value) => value.is_null() || (keys.first() == Some(key) && text(value).is_empty()),
            None => keys.first() == Some(key),
        };
        let Some(key) = keys.iter().find(|key| is_missing(key)) else {
            return Ok(());
        };
        let problem = match element.get(DIRECTIVE) {
            Some(_) => MergeProblem::NotHonoured(DIRECTIVE.to_owned()),
            None => MergeProblem::NoKey(key.clone()),
        };
        Err(self.fail(element, problem))
    }
}

impl Wanted<'_> {
    /// Finds the first element that has each text that is not empty.
    fn find(&self, elements: &[Node]) -> Option<usize> {
        let pairs = self.keys.iter().zip(&self.texts);
        let all_empty = self.texts.iter().all(String::is_empty);
        let pairs: Vec<_> = pairs
            .filter(|(_, wanted)| all_empty || !wanted.is_empty())
            .collect();
        elements.iter().position(|element| {
            let agrees = |key: &str, wanted: &str| {
                element.get(key).is_some_and(|value| text(value) == *wanted)
            };
            pairs.iter().all(|(key, wanted)| agrees(key, wanted))
        })
    }

    /// Whether an element has every key with the text that is looked for, or any text where that is empty. What is
    /// looked for may end before the keys do.
    fn covers(&self, element: &Node) -> bool {
        self.keys.iter().zip(&self.texts).all(|(key, wanted)| {
            element
                .get(key)
                .is_some_and(|value| wanted.is_empty() || text(value) == *wanted)
        })
    }

    /// Takes out the elements that are looked for.
    fn remove(&self, elements: &mut Vec<Node>) {
        elements.retain(|element| !self.covers(element));
    }

    /// Puts an element in the place of those that are looked for, or at the end.
    fn set(&self, elements: &mut Vec<Node>, element: Node) {
        let mut found = false;
        for present in elements.iter_mut().filter(|present| self.covers(present)) {
            *present = element.clone();
            found = true;
        }
        if !found {
            elements.push(element);
        }
    }
}

/// Puts an element of the base behind those that are merged, or in the place of the one that it became.
fn append(merged: &mut Vec<Node>, element: Node, keys: &[&str]) {
    let mut texts = Texts::new();
    for key in keys {
        match element.get(key) {
            Some(value) => texts.push(text(value)),
            None => merged.push(element.clone()),
        }
    }
    let wanted = Wanted { keys, texts };
    if keys.len() > 1 {
        wanted.remove(merged);
    }
    wanted.set(merged, element);
}

/// Returns the texts of the keys of each element, the same ones once.
fn distinct<'n>(elements: impl Iterator<Item = &'n Node>, keys: &[String]) -> Vec<Texts> {
    let mut found: Vec<Texts> = Vec::new();
    for element in elements {
        let texts: Texts = keys
            .iter()
            .map(|key| element.get(key).map(text).unwrap_or_default())
            .collect();
        if !found.contains(&texts) {
            found.push(texts);
        }
    }
    found
}

/// Makes texts equal that differ only in what one of them lacks.
fn unify(found: &mut [Texts]) {
    for one in 0..found.len() {
        for other in 0..found.len() {
            if let Some(joined) = joined(&found[one], &found[other]) {
                found[one].clone_from(&joined);
                found[other] = joined;
            }
        }
    }
}

fn joined(one: &[String], other: &[String]) -> Option<Texts> {
    let pairs = || one.iter().zip(other);
    let agree = pairs().all(|(a, b)| a == b || a.is_empty() || b.is_empty());
    let share = pairs().any(|(a, b)| a == b);
    let longer = |(a, b): (&String, &String)| if a.is_empty() { b.clone() } else { a.clone() };
    (agree && share).then(|| pairs().map(longer).collect())
}

/// Returns which keys any element has a text for, or all where none has.
fn used_keys(found: &[Texts], keys: &[String]) -> Vec<usize> {
    let is_used = |at: &usize| found.iter().any(|texts| !texts[*at].is_empty());
    let used: Vec<usize> = (0..keys.len()).filter(is_used).collect();
    if used.is_empty() {
        (0..keys.len()).collect()
    } else {
        used
    }
}

/// Merges two lists of scalars that hold each only once: the patch's first, then what else the base has.
pub(super) fn set(base: Vec<Node>, patch: &[Node]) -> Result<Vec<Node>, MergeProblem> {
    let mut merged: Vec<Node> = Vec::new();
    let from_base = base.iter().map(|element| (element, true));
    for (element, of_base) in patch
        .iter()
        .map(|element| (element, false))
        .chain(from_base)
    {
        if !matches!(element.content, Content::Scalar(_)) || element.is_null() {
            return Err(MergeProblem::Element);
        }
        let same = merged.iter_mut().find(|known| text(known) == text(element));
        match same {
            Some(known) if of_base => *known = element.clone(),
            Some(_) => {}
            None => merged.push(element.clone()),
        }
    }
    Ok(merged)
}
