//! Lists with other items than before.

use super::delta::Item;
use super::refuse;
use super::route::{Route, Stop};
use super::target::{Part, Placed, Says};
use crate::kustomize::node::{Node, Supplier};
use crate::yaml::Step;

impl Route<'_, '_> {
    /// Changes which items the document writes. What a patch puts into a list or takes out of it is left to the patch.
    pub(super) fn items(
        &mut self,
        way: &[Step],
        list: &Node,
        items: &[Item<'_>],
    ) -> Result<(), Stop> {
        let nodes = list.items().unwrap_or_default();
        let (file, mut target) = self.target(way)?;
        let Some(written) = self.exact(list, way).cloned() else {
            return Err(self.foreign(&list.supplier, way)?);
        };
        let own: Vec<Option<usize>> = nodes
            .iter()
            .enumerate()
            .map(|(at, node)| self.own_item(&written, node, [way, &[Step::Item(at)]].concat()))
            .collect();
        let is_kept = |at: usize| items.contains(&Item::Kept(at));
        let mut removed = Vec::new();
        for (at, node) in nodes.iter().enumerate().filter(|(at, _)| !is_kept(*at)) {
            let way = [way, &[Step::Item(at)]].concat();
            self.check_owned(node, &way, true)?;
            match (own[at], &node.supplier) {
                (Some(own), _) => removed.push(own),
                (None, Supplier::Document(site)) => {
                    let at = self.router.location(*site, &way)?;
                    return Err(refuse::unplaceable(at).into());
                }
                (None, supplier) => return Err(self.foreign(supplier, &way)?),
            }
        }
        let count = self
            .in_source(&written)
            .and_then(Node::items)
            .map_or(0, <[Node]>::len);
        let present = (0..count).filter(|at| !removed.contains(at));
        let items = arranged(items, &own, present.collect());
        target.part = Part::Items;
        self.say((file, target), Says::Items(items));
        Ok(())
    }

    /// Returns where the list of the document has an item of the build.
    fn own_item(&self, written: &[Step], node: &Node, way: Vec<Step>) -> Option<usize> {
        match self.exact(node, &way)?.split_last()? {
            (Step::Item(at), list) if list == written => Some(*at),
            _ => None,
        }
    }
}

/// Puts new items among those that a document has: behind the one they follow, or before the one they precede. Where
/// the order is another one than in the build, it is written as wanted.
fn arranged(items: &[Item<'_>], own: &[Option<usize>], present: Vec<usize>) -> Vec<Placed> {
    let kept = items.iter().filter_map(|item| match item {
        Item::Kept(at) => Some(*at),
        Item::New(_) => None,
    });
    let own_of = |item: &Item<'_>| match item {
        Item::Kept(at) => own[*at],
        Item::New(_) => None,
    };
    if !kept.is_sorted() {
        let mentioned: Vec<usize> = items.iter().filter_map(own_of).collect();
        let wanted = items.iter().filter_map(|item| match item {
            Item::Kept(at) => own[*at].map(Placed::Kept),
            Item::New(value) => Some(Placed::New((*value).clone())),
        });
        let others = present.into_iter().filter(|at| !mentioned.contains(at));
        return wanted.chain(others.map(Placed::Kept)).collect();
    }
    let mut placed: Vec<Placed> = present.into_iter().map(Placed::Kept).collect();
    let position = |placed: &[Placed], own: usize| {
        let same = |item: &Placed| *item == Placed::Kept(own);
        placed.iter().position(same)
    };
    let mut behind = items
        .iter()
        .find_map(own_of)
        .and_then(|own| position(&placed, own))
        .unwrap_or(placed.len());
    for item in items {
        match item {
            Item::Kept(at) => {
                let found = own[*at].and_then(|own| position(&placed, own));
                behind = found.map_or(behind, |at| at + 1);
            }
            Item::New(value) => {
                placed.insert(behind, Placed::New((*value).clone()));
                behind += 1;
            }
        }
    }
    placed
}
