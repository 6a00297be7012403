//! Lists: which items stay, go, come and move.

use std::collections::BTreeMap;

use serde_json::Value;

use super::align::{Step, align, counterparts, is_reordered};
use super::diff::{Differ, NoPlace, Place};
use super::emit::{KeyOrder, Under};
use super::event::Style;
use super::flow;
use super::layout::{ItemStyle, Quote};
use super::splice::{self, Splice};
use super::text::{column, line_start, next_line, skip_trivia, starts_line};
use super::tree::{Kind, Node};

impl Differ<'_> {
    pub(crate) fn sequence(
        &mut self,
        node: &Node,
        items: &[Node],
        flow: bool,
        wanted: &[Value],
        place: Place,
    ) -> Result<(), NoPlace> {
        let old: Vec<Value> = items.iter().map(Node::to_value).collect();
        let steps = align(&old, wanted);
        if !steps.iter().any(|step| matches!(step, Step::Keep(..))) {
            return self.replace(node, &Value::Array(wanted.to_vec()), place);
        }
        let dashes = if flow {
            Vec::new()
        } else {
            self.dashes(node, items)
        };
        let dash_column = column(self.text(), node.start);
        if !flow && starts_line(self.text(), dashes[0]) && is_reordered(&old, wanted) {
            let sources = counterparts(&old, wanted);
            return self.reorder(items, &dashes, &sources, wanted, place);
        }
        for step in &steps {
            match *step {
                Step::Keep(i, j) => {
                    let dash = dashes.get(i).copied();
                    let place = self.item_place(&items[i], dash, dash_column, place);
                    self.node(
                        &items[i],
                        &wanted[j],
                        Place {
                            flow: flow || place.flow,
                            ..place
                        },
                    )?;
                }
                Step::Delete(i) => self.forget(&items[i]),
                Step::Insert(_) => {}
            }
        }
        if flow {
            return flow::sequence(self, node, items, &steps, wanted);
        }
        self.delete_items(items, &dashes, &steps);
        self.insert_items(items, &dashes, &steps, wanted, dash_column);
        Ok(())
    }

    fn item_place(
        &self,
        item: &Node,
        dash: Option<usize>,
        dash_column: usize,
        list: Place,
    ) -> Place {
        let content = column(self.text(), item.outer_start());
        Place {
            under: Under::Dash(dash_column, content.max(dash_column + 2)),
            after: dash.map_or(item.start, |dash| dash + 1),
            order: KeyOrder::Sorted,
            depth: list.depth + 1,
            ..list
        }
    }

    /// Puts items into another order. Each takes its lines with it, and the comments directly above it, and is
    /// edited on the way (ED-8). The comments above an item that goes stay behind the one before it.
    fn reorder(
        &mut self,
        items: &[Node],
        dashes: &[usize],
        sources: &[Option<usize>],
        wanted: &[Value],
        list: Place,
    ) -> Result<(), NoPlace> {
        let dash_column = column(self.text(), dashes[0]);
        let spacing = spacing(self.text(), &items[0], dashes[0]);
        let style = common_style(self.text(), items);
        let ends: Vec<usize> = items
            .iter()
            .zip(dashes)
            .map(|(item, dash)| next_line(self.text(), item.outer_end().max(*dash)))
            .collect();
        let first = self.block_start(list.after, dashes[0]);
        let start_of = |index: usize| if index == 0 { first } else { ends[index - 1] };
        let mut left_behind: BTreeMap<Option<usize>, String> = BTreeMap::new();
        let mut before = None;
        for (index, item) in items.iter().enumerate() {
            if sources.contains(&Some(index)) {
                before = Some(index);
            } else {
                self.forget(item);
                let comments = comments_above(self.text(), start_of(index), dashes[index]);
                left_behind.entry(before).or_default().push_str(&comments);
            }
        }
        let mut text = left_behind.remove(&None).unwrap_or_default();
        for (value, source) in wanted.iter().zip(sources) {
            let Some(index) = *source else {
                text.push_str(&self.writer().item(value, dash_column, spacing, style));
                continue;
            };
            let start = start_of(index);
            let known = self.splices.len();
            let place = self.item_place(&items[index], Some(dashes[index]), dash_column, list);
            self.node(&items[index], value, place)?;
            let own = self.splices.split_off(known);
            text.push_str(&move_block(self.text(), start, ends[index], own).ok_or(NoPlace)?);
            text.push_str(
                left_behind
                    .remove(&Some(index))
                    .as_deref()
                    .unwrap_or_default(),
            );
        }
        self.splice(first..ends[items.len() - 1], text);
        Ok(())
    }

    /// Returns where the lines of the first item start: at the comments right above it, but not above a blank
    /// line, behind which a comment speaks of the whole list.
    fn block_start(&self, after: usize, dash: usize) -> usize {
        let top = next_line(self.text(), after).min(line_start(self.text(), dash));
        let mut start = line_start(self.text(), dash);
        while start > top {
            let line = line_start(self.text(), start - 1);
            if !self.text()[line..start].trim_start().starts_with('#') {
                break;
            }
            start = line;
        }
        start
    }

    /// Returns where the dash of each item stands: it is the first byte after the item before.
    fn dashes(&self, node: &Node, items: &[Node]) -> Vec<usize> {
        let mut dashes = Vec::with_capacity(items.len());
        let mut at = node.start;
        for item in items {
            let dash = skip_trivia(self.text(), at);
            dashes.push(dash);
            at = item.outer_end().max(dash + 1);
        }
        dashes
    }

    fn delete_items(&mut self, items: &[Node], dashes: &[usize], steps: &[Step]) {
        let stays = |index: usize| {
            steps
                .iter()
                .any(|step| matches!(step, Step::Keep(i, _) if *i == index))
        };
        let mut from = 0;
        if !starts_line(self.text(), dashes[0]) {
            from = (0..items.len())
                .find(|index| stays(*index))
                .unwrap_or(items.len());
            if from > 0 && from < items.len() {
                self.pull_up(dashes[0], items[from - 1].outer_end(), dashes[from]);
            }
        }
        for index in from..items.len() {
            if !stays(index) {
                self.delete_lines(dashes[index], items[index].outer_end().max(dashes[index]));
            }
        }
    }

    fn insert_items(
        &mut self,
        items: &[Node],
        dashes: &[usize],
        steps: &[Step],
        wanted: &[Value],
        dash_column: usize,
    ) {
        let style = common_style(self.text(), items);
        let spacing = spacing(self.text(), &items[0], dashes[0]);
        let mut last: Option<usize> = None;
        for step in steps {
            match *step {
                Step::Keep(i, _) | Step::Delete(i) => last = Some(i),
                Step::Insert(j) => {
                    let text = self.writer().item(&wanted[j], dash_column, spacing, style);
                    match last {
                        Some(i) => {
                            let at = next_line(self.text(), items[i].outer_end().max(dashes[i]));
                            self.splice(at..at, text);
                        }
                        // Before the first dash: the indentation that stands there serves the new item.
                        None => {
                            let own = &text[dash_column..];
                            let indent = " ".repeat(dash_column);
                            self.splice(dashes[0]..dashes[0], format!("{own}{indent}"));
                        }
                    }
                }
            }
        }
    }
}

/// Returns what the items of a list in lines have in common.
fn common_style(text: &str, items: &[Node]) -> ItemStyle {
    if let Some(quote) = common_quote(items) {
        return ItemStyle::Quoted(quote);
    }
    let on_one_line = |item: &Node| {
        let own = text.get(item.start..item.end).unwrap_or_default();
        own.starts_with(['{', '[']) && !own.contains('\n')
    };
    let is_json = |item: &Node| match &item.kind {
        Kind::Mapping { entries, .. } => flow::is_json(entries),
        Kind::Scalar { .. } | Kind::Sequence { .. } | Kind::Alias { .. } => false,
    };
    if !items.is_empty() && items.iter().all(on_one_line) {
        ItemStyle::Flow {
            json: items.iter().all(is_json),
        }
    } else {
        ItemStyle::Own
    }
}

/// Returns the quotes that every item of a list is in.
pub(crate) fn common_quote(items: &[Node]) -> Option<Quote> {
    let quote = |item: &Node| match &item.kind {
        Kind::Scalar {
            style: Style::Single,
            ..
        } => Some(Quote::Single),
        Kind::Scalar {
            style: Style::Double,
            ..
        } => Some(Quote::Double),
        _ => None,
    };
    let first = quote(items.first()?)?;
    items
        .iter()
        .all(|item| quote(item) == Some(first))
        .then_some(first)
}

/// Returns the blanks between the first dash and its item.
fn spacing(text: &str, item: &Node, dash: usize) -> usize {
    let between = text.get(dash + 1..item.outer_start()).unwrap_or_default();
    if !between.is_empty() && between.bytes().all(|byte| byte == b' ') {
        between.len()
    } else {
        1
    }
}

/// Returns the comments that stand in lines of their own between the start of an item's lines and its dash.
fn comments_above(text: &str, start: usize, dash: usize) -> String {
    let lines = text.get(start..line_start(text, dash)).unwrap_or_default();
    let is_comment = |line: &&str| line.trim_start().starts_with('#');
    lines.split_inclusive('\n').filter(is_comment).collect()
}

/// Returns the text of some lines with the replacements that fall into them.
fn move_block(text: &str, start: usize, end: usize, splices: Vec<Splice>) -> Option<String> {
    let shifted = splices.into_iter().map(|splice| {
        let range = splice.range.start.checked_sub(start)?..splice.range.end.checked_sub(start)?;
        (range.end <= end - start).then_some(Splice { range, ..splice })
    });
    splice::apply(&text[start..end], shifted.collect::<Option<Vec<_>>>()?)
}
