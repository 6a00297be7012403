//! Values as lines of text: whole documents, and the parts that an edit adds.

use std::cmp::Ordering;

use serde_json::{Map, Number, Value};

use super::event::Style;
use super::layout::{ItemStyle, Layout};
use super::quote::{self, Context};
use super::scalar::format_float;

/// Writes a document in the canonical layout: `apiVersion`, `kind`, `metadata`, then the other keys sorted.
pub fn canonical(object: &Map<String, Value>) -> String {
    if object.is_empty() {
        return "{}\n".to_owned();
    }
    Writer::new(Layout::canonical()).entries(object, 0, KeyOrder::Root)
}

/// The order of keys in a mapping that is written new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyOrder {
    /// The top of an object.
    Root,
    /// The metadata of an object.
    Metadata,
    /// Any other mapping: by byte.
    Sorted,
}

impl KeyOrder {
    pub(crate) fn compare(self, a: &str, b: &str) -> Ordering {
        self.rank(a).cmp(&self.rank(b)).then_with(|| a.cmp(b))
    }

    /// Returns the order of the mapping below a key of this one.
    pub(crate) fn below(self, key: &str) -> Self {
        match (self, key) {
            (Self::Root, "metadata") => Self::Metadata,
            _ => Self::Sorted,
        }
    }

    fn rank(self, key: &str) -> usize {
        let first: &[&str] = match self {
            Self::Root => &["apiVersion", "kind", "metadata"],
            Self::Metadata => &["name", "namespace", "labels", "annotations"],
            Self::Sorted => &[],
        };
        first
            .iter()
            .position(|known| *known == key)
            .unwrap_or(first.len())
    }
}

/// A value as it is put behind a key or a dash.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Rendered {
    /// What stands on the line of the key or the dash; may be empty.
    pub(crate) head: String,
    /// The lines below, each with its line break; may be empty.
    pub(crate) body: String,
}

impl Rendered {
    pub(crate) fn inline(head: String) -> Self {
        Self {
            head,
            body: String::new(),
        }
    }

    /// Takes the first line, whose indentation is the line it is put on, apart from the others.
    pub(crate) fn split(lines: &str, indent: usize) -> Self {
        let lines = lines.get(indent..).unwrap_or_default();
        let at = lines.find('\n').map_or(lines.len(), |newline| newline + 1);
        Self {
            head: lines[..at].trim_end_matches(['\n', '\r']).to_owned(),
            body: lines[at..].to_owned(),
        }
    }
}

/// Where a value is put.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Under {
    /// Behind a key in this column.
    Key(usize),
    /// Behind a dash in this column, with the content in the second one.
    Dash(usize, usize),
}

impl Under {
    fn parent(self) -> usize {
        match self {
            Self::Key(column) | Self::Dash(column, _) => column,
        }
    }
}

/// What a value looked like before, where its look is kept.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Had {
    pub(crate) style: Option<Style>,
    /// The column of the content of a block scalar.
    pub(crate) block_column: Option<usize>,
    /// Whether it was text of several lines in quotes.
    pub(crate) quoted_lines: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Writer {
    pub(crate) layout: Layout,
}

impl Writer {
    pub(crate) fn new(layout: Layout) -> Self {
        Self { layout }
    }

    /// Writes the entries of a mapping in lines of their own.
    pub(crate) fn entries(
        &self,
        map: &Map<String, Value>,
        column: usize,
        order: KeyOrder,
    ) -> String {
        let mut keys: Vec<&String> = map.keys().collect();
        keys.sort_by(|a, b| order.compare(a, b));
        keys.into_iter()
            .map(|key| self.entry(key, &map[key], column, order.below(key)))
            .collect()
    }

    /// Writes one entry of a mapping.
    pub(crate) fn entry(&self, key: &str, value: &Value, column: usize, order: KeyOrder) -> String {
        let rendered = self.value(value, Under::Key(column), Had::default(), order);
        let key = self.key(key);
        let space = if rendered.head.is_empty() { "" } else { " " };
        format!(
            "{:column$}{key}:{space}{}{}{}",
            "", rendered.head, self.layout.eol, rendered.body
        )
    }

    /// Writes one item of a list; `spacing` is what stands between the dash and the content.
    pub(crate) fn item(
        &self,
        value: &Value,
        column: usize,
        spacing: usize,
        style: ItemStyle,
    ) -> String {
        let rendered = match (value, style) {
            (Value::String(text), ItemStyle::Quoted(quote)) if !text.contains('\n') => {
                Rendered::inline(quote::quoted(text, quote))
            }
            (Value::Object(_) | Value::Array(_), ItemStyle::Flow { json }) if !has_lines(value) => {
                Rendered::inline(self.flow(value, json))
            }
            _ => {
                let under = Under::Dash(column, column + 1 + spacing);
                self.value(value, under, Had::default(), KeyOrder::Sorted)
            }
        };
        format!(
            "{:column$}-{:spacing$}{}{}{}",
            "", "", rendered.head, self.layout.eol, rendered.body
        )
    }

    pub(crate) fn key(&self, key: &str) -> String {
        quote::write(key, None, self.layout.quote, Context::Block)
    }

    /// Writes a value for the place behind a key or a dash.
    pub(crate) fn value(&self, value: &Value, under: Under, had: Had, order: KeyOrder) -> Rendered {
        match value {
            Value::String(text) => self.string(text, under, had),
            Value::Object(map) if !map.is_empty() => match under {
                Under::Key(column) => Rendered {
                    head: String::new(),
                    body: self.entries(map, column + self.layout.step, order),
                },
                Under::Dash(_, content) => {
                    Rendered::split(&self.entries(map, content, order), content)
                }
            },
            Value::Array(items) if !items.is_empty() => match under {
                Under::Key(column) => Rendered {
                    head: String::new(),
                    body: self.items(items, column + self.layout.list_offset),
                },
                Under::Dash(_, content) => Rendered::split(&self.items(items, content), content),
            },
            other => Rendered::inline(self.flow(other, false)),
        }
    }

    pub(crate) fn items(&self, items: &[Value], column: usize) -> String {
        items
            .iter()
            .map(|item| self.item(item, column, 1, ItemStyle::Own))
            .collect()
    }

    fn string(&self, text: &str, under: Under, had: Had) -> Rendered {
        if self.layout.blocks
            && !had.quoted_lines
            && quote::fits_block(text)
            && let Some(block) = self.block(text, under, had)
        {
            return block;
        }
        Rendered::inline(quote::write(
            text,
            had.style,
            self.layout.quote,
            Context::Block,
        ))
    }

    /// Writes a literal block, in the columns that an old block had.
    fn block(&self, text: &str, under: Under, had: Had) -> Option<Rendered> {
        let parent = under.parent();
        let column = had.block_column.unwrap_or(parent + self.layout.step);
        let needs_indicator = text.starts_with([' ', '\n']);
        let indicator = match (needs_indicator, column.checked_sub(parent)) {
            (false, _) => String::new(),
            (true, Some(width @ 1..=9)) => width.to_string(),
            (true, _) => return None,
        };
        let content = text.trim_end_matches('\n');
        let chomping = match text.len() - content.len() {
            0 => "-",
            1 => "",
            _ => "+",
        };
        let mut body = String::new();
        for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
            if !line.is_empty() {
                body.extend(std::iter::repeat_n(' ', column));
                body.push_str(line);
            }
            body.push_str(self.layout.eol);
        }
        Some(Rendered {
            head: format!("|{indicator}{chomping}"),
            body,
        })
    }

    /// Writes a value on one line, as it stands inside braces or brackets.
    pub(crate) fn flow(&self, value: &Value, json: bool) -> String {
        match value {
            Value::Null => "null".to_owned(),
            Value::Bool(flag) => flag.to_string(),
            Value::Number(number) => write_number(number),
            Value::String(text) => self.flow_string(text, None, json),
            Value::Array(items) => {
                let items: Vec<String> = items.iter().map(|item| self.flow(item, json)).collect();
                format!("[{}]", items.join(", "))
            }
            Value::Object(map) => {
                let mut keys: Vec<&String> = map.keys().collect();
                keys.sort();
                let entries: Vec<String> = keys
                    .into_iter()
                    .map(|key| self.flow_entry(key, &map[key], json))
                    .collect();
                format!("{{{}}}", entries.join(", "))
            }
        }
    }

    /// Writes an entry of a mapping in braces.
    pub(crate) fn flow_entry(&self, key: &str, value: &Value, json: bool) -> String {
        format!(
            "{}: {}",
            self.flow_string(key, None, json),
            self.flow(value, json)
        )
    }

    pub(crate) fn flow_string(&self, text: &str, had: Option<Style>, json: bool) -> String {
        let had = if json { Some(Style::Double) } else { had };
        quote::write(text, had, self.layout.quote, Context::Flow)
    }
}

fn write_number(number: &Number) -> String {
    match number.as_f64() {
        Some(float) if number.is_f64() => format_float(float),
        _ => number.to_string(),
    }
}

/// Says whether a string below has several lines: only a block shows them as lines.
fn has_lines(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\n'),
        Value::Array(items) => items.iter().any(has_lines),
        Value::Object(map) => map.values().any(has_lines),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn emit(value: Value) -> String {
        canonical(value.as_object().unwrap())
    }

    #[test]
    fn ed_9_a_new_document_has_the_canonical_order_and_indentation() {
        let text = emit(json!({
            "spec": {"template": {"containers": [{"name": "a", "image": "b", "args": ["-x", "1"]}]}, "empty": {}, "none": []},
            "kind": "Deployment", "apiVersion": "apps/v1",
            "metadata": {"annotations": {"b": "on", "a10": "1"}, "labels": {"x": "z"}, "namespace": "ns", "name": "d", "finalizers": []},
        }));
        assert_eq!(
            text,
            "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: d\n  namespace: ns\n  labels:\n    x: z\n  annotations:\n    a10: \"1\"\n    b: \"on\"\n  finalizers: []\nspec:\n  empty: {}\n  none: []\n  template:\n    containers:\n      - args:\n          - -x\n          - \"1\"\n        image: b\n        name: a\n"
        );
    }

    #[test]
    fn st_3_text_of_several_lines_is_a_block_that_reads_back() {
        let text = emit(json!({"data": {
            "a": "one\ntwo\n", "b": "one\ntwo", "c": "one\n\n", "d": "  x\ny\n", "e": "x \ny\n", "f": "\n", "g": "a\r\nb",
        }}));
        assert_eq!(
            text,
            "data:\n  a: |\n    one\n    two\n  b: |-\n    one\n    two\n  c: |+\n    one\n\n  d: |2\n      x\n    y\n  e: |\n    x \n    y\n  f: \"\\n\"\n  g: \"a\\r\\nb\"\n"
        );
    }

    #[test]
    fn lists_in_lists_are_compact() {
        assert_eq!(
            emit(json!({"l": [["a", "b"], [], [{"k": 1, "m": [2]}]]})),
            "l:\n  - - a\n    - b\n  - []\n  - - k: 1\n      m:\n        - 2\n"
        );
    }
}
