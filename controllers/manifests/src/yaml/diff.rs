//! From one document and the value it should have to the smallest replacements that get there.
//!
//! Only what differs is touched: equal values keep their spelling, mappings are entered here, lists in
//! `sequence`, and values that change their kind are replaced in `replace`. Nothing here proves that the result
//! is right; [`mod@super::edit`] reads it again.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Map, Value};

use super::emit::{KeyOrder, Under, Writer};
use super::flow;
use super::layout::Layout;
use super::scalar::same;
use super::splice::Splice;
use super::text::{column, line_end, line_start, next_line, starts_line, trim_blanks_before};
use super::tree::{Entry, Kind, Node};

/// A place where no edit keeps what is around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the change has no place in the text")]
pub(crate) struct NoPlace;

/// Collects the replacements of one document.
pub(crate) struct Differ<'a> {
    text: &'a str,
    writer: Writer,
    /// From this depth on, a value that differs is replaced whole.
    depth: usize,
    pub(crate) splices: Vec<Splice>,
    /// The new value of every anchor that has been passed; `None` where the anchor is gone.
    anchors: BTreeMap<String, Option<Value>>,
}

/// Where a node stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) under: Under,
    /// The byte after the colon or the dash.
    pub(crate) after: usize,
    pub(crate) flow: bool,
    pub(crate) order: KeyOrder,
    pub(crate) depth: usize,
}

impl<'a> Differ<'a> {
    pub(crate) fn new(text: &'a str, layout: Layout, depth: usize) -> Self {
        Self {
            text,
            writer: Writer::new(layout),
            depth,
            splices: Vec::new(),
            anchors: BTreeMap::new(),
        }
    }

    /// Changes a whole document.
    pub(crate) fn document(&mut self, root: &Node, wanted: &Value) -> Result<(), NoPlace> {
        let place = Place {
            under: Under::Key(0),
            after: root.start,
            flow: false,
            order: KeyOrder::Root,
            depth: 0,
        };
        self.node(root, wanted, place)
    }

    pub(crate) fn splice(&mut self, range: std::ops::Range<usize>, text: impl Into<String>) {
        let text = text.into();
        if !range.is_empty() || !text.is_empty() {
            self.splices.push(Splice { range, text });
        }
    }

    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    pub(crate) fn writer(&self) -> Writer {
        self.writer
    }

    pub(crate) fn node(
        &mut self,
        node: &Node,
        wanted: &Value,
        place: Place,
    ) -> Result<(), NoPlace> {
        let equal = !node.has_alias && node.equals(wanted);
        let whole = place.depth >= self.depth && !node.has_alias;
        match (&node.kind, wanted) {
            _ if equal => self.pass(node),
            (Kind::Alias { name, .. }, _) => {
                let kept = self.anchors.get(name).and_then(Option::as_ref);
                if !kept.is_some_and(|value| same(value, wanted)) {
                    self.replace(node, wanted, place)?;
                }
            }
            (Kind::Mapping { entries, flow }, Value::Object(map))
                if !whole && self.shares_key(entries, map) =>
            {
                self.mapping(node, entries, *flow, map, place)?;
            }
            (Kind::Sequence { items, flow }, Value::Array(values))
                if !whole && !items.is_empty() && !values.is_empty() =>
            {
                self.sequence(node, items, *flow, values, place)?;
            }
            _ => self.replace(node, wanted, place)?,
        }
        if let Some(anchor) = &node.anchor {
            self.anchors.insert(anchor.clone(), Some(wanted.clone()));
        }
        Ok(())
    }

    /// Notes the anchors below a node that stays as it is.
    fn pass(&mut self, node: &Node) {
        if let Some(anchor) = &node.anchor {
            self.anchors.insert(anchor.clone(), Some(node.to_value()));
        }
        self.each_child(node, Self::pass);
    }

    /// Notes that the anchors of a node and below it are gone.
    pub(crate) fn forget(&mut self, node: &Node) {
        if let Some(anchor) = &node.anchor {
            self.anchors.insert(anchor.clone(), None);
        }
        self.each_child(node, Self::forget);
    }

    pub(crate) fn each_child(&mut self, node: &Node, visit: fn(&mut Self, &Node)) {
        match &node.kind {
            Kind::Mapping { entries, .. } => entries.iter().for_each(|entry| {
                visit(self, &entry.key);
                visit(self, &entry.value);
            }),
            Kind::Sequence { items, .. } => items.iter().for_each(|item| visit(self, item)),
            Kind::Scalar { .. } | Kind::Alias { .. } => {}
        }
    }

    /// Says whether entering a mapping keeps anything of it, and can express the wanted one: what a merge key
    /// brings in cannot be left out again.
    fn shares_key(&self, entries: &[Entry], wanted: &Map<String, Value>) -> bool {
        let mut merges = entries.iter().filter(|entry| entry.merge);
        merges.all(|entry| self.still_merges(&entry.value))
            && self
                .merged(entries)
                .keys()
                .all(|key| wanted.contains_key(key))
            && entries
                .iter()
                .any(|entry| entry.merge || wanted.contains_key(entry.name()))
    }

    /// Says whether the value of a merge key can still be merged: its anchors may be gone by now.
    fn still_merges(&self, node: &Node) -> bool {
        match &node.kind {
            Kind::Mapping { .. } => true,
            Kind::Sequence { items, .. } => items.iter().all(|item| self.still_merges(item)),
            Kind::Alias { name, .. } => {
                matches!(self.anchors.get(name), Some(Some(Value::Object(_))))
            }
            Kind::Scalar { .. } => false,
        }
    }

    /// Returns what the merge keys bring in, with the values that the anchors have by now.
    fn merged(&self, entries: &[Entry]) -> Map<String, Value> {
        let mut merged = Map::new();
        for entry in entries.iter().filter(|entry| entry.merge) {
            self.merge_node(&entry.value, &mut merged);
        }
        merged
    }

    fn merge_node(&self, node: &Node, merged: &mut Map<String, Value>) {
        let value = match &node.kind {
            Kind::Sequence { items, .. } => {
                items.iter().for_each(|item| self.merge_node(item, merged));
                return;
            }
            Kind::Alias { name, .. } => self
                .anchors
                .get(name)
                .cloned()
                .flatten()
                .unwrap_or_default(),
            Kind::Mapping { .. } | Kind::Scalar { .. } => node.to_value(),
        };
        if let Value::Object(map) = value {
            for (key, value) in map {
                merged.entry(key).or_insert(value);
            }
        }
    }

    fn mapping(
        &mut self,
        node: &Node,
        entries: &[Entry],
        flow: bool,
        wanted: &Map<String, Value>,
        place: Place,
    ) -> Result<(), NoPlace> {
        let column = column(self.text, node.start);
        for entry in entries {
            match wanted.get(entry.name()) {
                _ if entry.merge => self.pass(&entry.value),
                Some(value) => self.entry(entry, value, column, flow, place)?,
                None => {
                    self.forget(&entry.key);
                    self.forget(&entry.value);
                }
            }
        }
        let added = self.added(entries, wanted, place.order);
        let kept: Vec<bool> = entries
            .iter()
            .map(|entry| entry.merge || wanted.contains_key(entry.name()))
            .collect();
        if flow {
            return flow::mapping(self, node, entries, &kept, &added, wanted);
        }
        self.delete_entries(entries, &kept);
        for key in added {
            let at = self.insertion_point(entries, &kept, key, place.order)?;
            let text = self
                .writer
                .entry(key, &wanted[key], column, place.order.below(key));
            self.splice(at..at, text);
        }
        Ok(())
    }

    /// Changes the value of an entry that stays.
    fn entry(
        &mut self,
        entry: &Entry,
        value: &Value,
        column: usize,
        flow: bool,
        mapping: Place,
    ) -> Result<(), NoPlace> {
        let Some(after) = entry.colon else {
            if !entry.value.equals(value) {
                let text = self.writer.flow(value, false);
                self.splice(entry.key.end..entry.key.end, format!(": {text}"));
            }
            return Ok(());
        };
        let place = Place {
            under: Under::Key(column),
            after,
            flow: flow || mapping.flow,
            order: mapping.order.below(entry.name()),
            depth: mapping.depth + 1,
        };
        self.node(&entry.value, value, place)
    }

    /// Returns the keys that neither an entry nor a merge key brings, in their order.
    fn added<'w>(
        &self,
        entries: &[Entry],
        wanted: &'w Map<String, Value>,
        order: KeyOrder,
    ) -> Vec<&'w String> {
        let merged = self.merged(entries);
        let own: HashSet<&str> = entries
            .iter()
            .filter(|entry| !entry.merge)
            .map(|entry| entry.name())
            .collect();
        let mut added: Vec<&String> = wanted
            .iter()
            .filter(|(key, value)| {
                !own.contains(key.as_str())
                    && !merged.get(*key).is_some_and(|other| same(other, value))
            })
            .map(|(key, _)| key)
            .collect();
        added.sort_by(|a, b| order.compare(a, b));
        added
    }

    /// Deletes entries of a block mapping with their lines. The first key behind a dash shares its line with the
    /// dash, so the next key is pulled up instead.
    fn delete_entries(&mut self, entries: &[Entry], kept: &[bool]) {
        let mut from = 0;
        if !starts_line(self.text, entries[0].start()) {
            from = kept.iter().position(|kept| *kept).unwrap_or(entries.len());
            if from > 0 && from < entries.len() {
                self.pull_up(
                    entries[0].start(),
                    entries[from - 1].end(),
                    entries[from].start(),
                );
            }
        }
        for (entry, kept) in entries.iter().zip(kept).skip(from) {
            if !kept {
                self.delete_lines(entry.start(), entry.end());
            }
        }
    }

    /// Deletes from the middle of a line to the start of what comes next, unless full-line comments stand
    /// between, which stay on their lines.
    pub(crate) fn pull_up(&mut self, start: usize, end: usize, next: usize) {
        let rest = line_end(self.text, end);
        if rest < next && self.text[rest..next].contains('#') {
            self.splice(trim_blanks_before(self.text, start)..rest, "");
        } else {
            self.splice(start..next, "");
        }
    }

    pub(crate) fn delete_lines(&mut self, start: usize, end: usize) {
        self.splice(line_start(self.text, start)..next_line(self.text, end), "");
    }

    /// Finds the line where a new key goes: behind its predecessor in a sorted mapping, else behind the last
    /// entry that stays. Never before the first entry, whose comment stands above it.
    fn insertion_point(
        &self,
        entries: &[Entry],
        kept: &[bool],
        key: &str,
        order: KeyOrder,
    ) -> Result<usize, NoPlace> {
        let own: Vec<&Entry> = entries.iter().filter(|entry| !entry.merge).collect();
        let sorted = |order: KeyOrder| {
            own.windows(2)
                .all(|pair| order.compare(pair[0].name(), pair[1].name()).is_lt())
        };
        let order = [order, KeyOrder::Sorted]
            .into_iter()
            .find(|order| sorted(*order));
        let stays = || {
            entries
                .iter()
                .zip(kept)
                .filter(|(_, kept)| **kept)
                .map(|(entry, _)| entry)
        };
        let before = order.and_then(|order| {
            stays().rfind(|entry| !entry.merge && order.compare(entry.name(), key).is_lt())
        });
        let entry = before.or_else(|| stays().next_back()).ok_or(NoPlace)?;
        Ok(next_line(self.text, entry.end()))
    }
}
